/* SPDX-License-Identifier: Apache-2.0 */
#include "ofed/request.h"

#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>

#include "ofed/blockers.h"
#include "ofed/policy.h"
#include "ofed/ready_guard.h"

enum { MS = 1000 };

/* One swap that is under way. */
struct under_way {
	const struct driver *d;
	const struct ofed_swap *what;
	struct guard ready;
	const struct guard *guards[2];
	uint64_t first_us;
	int stop_fd; /* our own, so that it can be silenced */
};

static void under_way_clear(struct under_way *u)
{
	closep(&u->stop_fd);
}

static void log_plan(const struct swap_facts *facts, const struct steps *steps)
{
	size_t count[] = { [STEP_UNLOAD] = 0, [STEP_LOAD] = 0, [STEP_BIND] = 0 };

	for (size_t i = 0; i < steps->n; i++) {
		const struct step *s = &steps->s[i];

		count[s->op]++;
		log_debug("planned", "step", step_op_name(s->op), "object",
			  s->m ? s->m->name : s->device, "wave", NUM(s->wave));
	}
	log_info("plan", "from", facts->label[SIDE_FROM], "to", facts->label[SIDE_TO], "unload",
		 NUM(count[STEP_UNLOAD]), "load", NUM(count[STEP_LOAD]), "bind",
		 NUM(count[STEP_BIND]));
}

/* A descriptor that never becomes readable takes the signals' place. */
static void go_to_the_end(const struct under_way *u)
{
	_cleanup_close_ int silent = eventfd(0, EFD_CLOEXEC);

	if (u->stop_fd >= 0 && silent >= 0)
		(void)dup3(silent, u->stop_fd, O_CLOEXEC);
}

static void on_plan(void *data, const struct swap_facts *facts, const struct steps *steps)
{
	struct under_way *u = data;

	log_plan(facts, steps);
	if (u->what->to_the_end)
		go_to_the_end(u);
}

static void on_step(void *data, const struct step *step, uint64_t begin_us, uint64_t end_us,
		    const char *note)
{
	static const char *const events[] = {
		[STEP_UNLOAD] = "module_unloaded",
		[STEP_LOAD] = "module_loaded",
		[STEP_BIND] = "device_probed",
	};
	struct under_way *u = data;

	if (!u->first_us)
		u->first_us = begin_us;
	log_info(events[step->op], step->m ? "module" : "device",
		 step->m ? step->m->name : step->device, "ms", NUM((end_us - begin_us) / MS), "at",
		 NUM(begin_us > u->first_us ? (begin_us - u->first_us) / MS : 0), "note",
		 note && *note ? note : NULL);
}

static void on_undo(void *data, const struct verdicts *why)
{
	(void)data;
	for (const struct verdict *v = why->v; v < why->v + why->n; v++) {
		if (v->state == VERDICT_NO)
			log_warn("undoing", "reason", reason_info(v->why)->code, "object",
				 v->object, "detail", v->detail);
	}
}

static struct swap_request request_of(struct under_way *u, const struct swap_policy *policy,
				      const char *settings)
{
	const struct driver *d = u->d;

	return (struct swap_request){
		.root = d->host,
		.owner = OFED_OWNER,
		.boot_id = d->running.boot_id,
		.goal = u->what->goal,
		.policy = policy,
		.guards = u->guards,
		.judge = blockers_judge,
		.judge_data = (void *)d->host,
		.settings = settings,
		.retry = d->set->retry,
		.stop_fd = u->stop_fd,
		.timeout_ms = d->timeout_ms,
		.stop_after = (unsigned)d->set->stop_after,
		.observer = { on_plan, on_step, on_undo, u },
	};
}

static int under_way_init(struct under_way *u, const struct driver *d, const struct ofed_swap *what)
{
	*u = (struct under_way){ .d = d, .what = what, .stop_fd = -1 };
	u->ready = ready_guard(ofed_path(d->set->ready_path));
	u->guards[0] = &u->ready;
	if (d->stop_fd >= 0)
		u->stop_fd = fcntl(d->stop_fd, F_DUPFD_CLOEXEC, 0);
	return d->stop_fd >= 0 && u->stop_fd < 0 ? -errno : 0;
}

static void log_result(const struct under_way *u, const struct swap_result *res, int error)
{
	if (error == 0 && res->moved)
		log_info("swapped", "to", u->what->goal->state->label, "span_ms",
			 NUM(res->span_us / MS));
	else if (res->undone)
		log_warn("undone", "goal", u->what->goal->state->label);
}

int request_run(const struct driver *d, const struct ofed_swap *what, struct verdicts *why)
{
	struct swap_rule rules[POLICY_RULES];
	const struct swap_policy policy = { .rules = rules, .n = POLICY_RULES };
	_cleanup_(under_way_clear) struct under_way u = { .stop_fd = -1 };
	struct swap_result res = { 0 };
	struct swap_request req;
	char settings[65];
	int r = ofed_settings_digest(d->set, settings);

	if (r == 0)
		r = under_way_init(&u, d, what);
	if (r < 0)
		return r;
	policy_rules(d->set, what->tree, rules);
	req = request_of(&u, &policy, settings);
	r = swap_run(&req, &res, why);
	log_result(&u, &res, r);
	return r;
}

int request_recover(const struct driver *d, struct verdicts *why)
{
	const struct swap_policy policy = { .no_way_back = true };
	const struct goal goal = { .trees = OFED_TREES };
	const struct ofed_swap what = { .goal = &goal };
	_cleanup_(under_way_clear) struct under_way u = { .stop_fd = -1 };
	struct swap_request req;
	bool recovered = false;
	int r = under_way_init(&u, d, &what);

	if (r < 0)
		return r;
	req = request_of(&u, &policy, "");
	r = swap_recover(&req, &recovered, why);
	if (r == 0 && recovered)
		log_warn("recovered", "reason", reason_info(REASON_JOURNAL_RECOVERED)->code,
			 "detail", reason_info(REASON_JOURNAL_RECOVERED)->cause);
	return r;
}

int request_plan(const struct driver *d, const struct ofed_swap *what,
		 struct swap_facts **ret_facts, struct steps *ret, struct verdicts *why)
{
	struct swap_rule rules[POLICY_RULES];
	const struct swap_policy policy = { .rules = rules, .n = POLICY_RULES };
	_cleanup_(swap_facts_freep) struct swap_facts *facts = NULL;
	_cleanup_steps_ struct steps steps = { 0 };
	int r = swap_read(d->host, what->goal, &facts, why);

	policy_rules(d->set, what->tree, rules);
	if (r == 0)
		r = swap_plan(facts, SIDE_TO, &policy, &steps, why);
	if (r == 0)
		r = blockers_judge((void *)d->host, facts, &steps, why);
	if (r < 0)
		return r;
	*ret_facts = TAKE_PTR(facts);
	*ret = steps;
	steps = (struct steps){ 0 };
	return 0;
}
