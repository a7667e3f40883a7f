/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan: what load would do, or everything that refuses it. Nothing moves, and nothing is written
 * on the node.
 */
#include <jansson.h>
#include <string.h>

#include "ofed/request.h"
#include "swap/history.h"

enum { MAX_JOURNAL = 64 << 20 };

struct answer {
	char *label;
	bool nothing_to_do;
	struct swap_facts *facts;
	struct steps steps;
};

static void answer_clear(struct answer *a)
{
	steps_clear(&a->steps);
	swap_facts_free(a->facts);
	free(a->label);
}

static void print_text(const struct answer *a, const struct verdicts *why)
{
	if (verdicts_refuse(why))
		printf("%s: refused\n", a->label ? a->label : "no tree");
	else if (a->nothing_to_do)
		printf("%s: live already, nothing to do\n", a->label);
	else
		steps_print(stdout, a->facts, &a->steps);
	for (const struct verdict *v = why->v; v < why->v + why->n; v++) {
		const struct reason_info *info = reason_info(v->why);

		printf("%-9s %s %s%s%s\n", v->state == VERDICT_NO ? "refused" : "unknown",
		       info->code, v->object, v->detail ? ": " : "", v->detail ? v->detail : "");
		if (v->state == VERDICT_NO)
			printf("%-9s %s\n", "", info->remedy);
	}
}

static json_t *steps_json(const struct steps *steps)
{
	json_t *list = json_array();

	for (size_t i = 0; i < steps->n; i++) {
		const struct step *s = &steps->s[i];

		(void)json_array_append_new(
			list, json_pack("{s:s, s:s, s:i}", "step", step_op_name(s->op), "object",
					s->m ? s->m->name : s->device, "wave", (int)s->wave));
	}
	return list;
}

static json_t *verdicts_json(const struct verdicts *why)
{
	json_t *list = json_array();

	for (const struct verdict *v = why->v; v < why->v + why->n; v++) {
		const struct reason_info *info = reason_info(v->why);

		(void)json_array_append_new(list, json_pack("{s:s, s:b, s:s, s:s?, s:s, s:s}",
							    "reason", info->code, "refuses",
							    v->state == VERDICT_NO, "object",
							    v->object, "detail", v->detail, "cause",
							    info->cause, "remedy", info->remedy));
	}
	return list;
}

static void print_json(const struct answer *a, const struct verdicts *why)
{
	json_t *o = json_pack("{s:s?, s:b, s:b, s:o, s:o}", "goal", a->label, "goes",
			      !verdicts_refuse(why), "nothing_to_do", a->nothing_to_do, "steps",
			      steps_json(&a->steps), "verdicts", verdicts_json(why));

	if (o)
		(void)json_dumpf(o, stdout, JSON_INDENT(2));
	printf("\n");
	json_decref(o);
}

/* What the journal remembers, read without its lock: a swap that is under way is not held up. */
static int judge_history(const struct driver *d, const struct state *goal, struct verdicts *why)
{
	_cleanup_history_ struct history h = { 0 };
	_cleanup_free_ char *text = NULL;
	const struct journal_swap *last;
	char settings[65];
	size_t len, valid;
	int r = sysroot_read(d->host, "run/gdrkit/journal", MAX_JOURNAL, &text, &len);

	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = history_init(&h, d->running.boot_id);
	if (r == 0)
		r = history_parse(&h, text, len, &valid);
	if (r == 0)
		r = ofed_settings_digest(d->set, settings);
	if (r < 0)
		return driver_error(why, "run/gdrkit/journal", r);
	last = history_last(&h);
	if (last && last->open)
		verdicts_unknown(why, REASON_JOURNAL_RECOVERED, "run/gdrkit/journal",
				 "a swap is under way or was cut off: load recovers that first");
	if (!d->set->retry && history_failed_before(&h, OFED_OWNER, goal->digest, settings))
		verdicts_no(why, REASON_FAILED_BEFORE, goal->label, NULL);
	return 0;
}

static int plan(const struct driver *d, struct answer *a, struct verdicts *why)
{
	_cleanup_(tree_freep) struct tree *tree = NULL;
	_cleanup_state_ struct state state = { 0 };
	struct goal goal = { .state = &state, .trees = OFED_TREES };
	int r = driver_find_tree(d, &tree, NULL, why);

	if (r < 0)
		return r;
	r = driver_goal(d, tree, &state);
	if (r < 0)
		return driver_error(why, "sys/module", r);
	a->label = strdup(state.label);
	if (!a->label)
		return -ENOMEM;
	a->nothing_to_do = state_is_live(d->host, &state);
	if (a->nothing_to_do)
		return 0;
	r = judge_history(d, &state, why);
	goal.tree = tree;
	if (r == 0)
		r = request_plan(d, &(struct ofed_swap){ &goal, &tree->manifest, false }, &a->facts,
				 &a->steps, why);
	return r;
}

int verb_plan(struct driver *d)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_(answer_clear) struct answer a = { 0 };
	int r = plan(d, &a, &why);

	if (r < 0 && !verdicts_refuse(&why))
		(void)driver_error(&why, "plan", r);
	if (d->set->json)
		print_json(&a, &why);
	else
		print_text(&a, &why);
	(void)fflush(stdout);
	return driver_end(d, "plan", r, &why);
}
