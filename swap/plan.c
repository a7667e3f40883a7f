/* SPDX-License-Identifier: Apache-2.0 */
#include "swap/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/strv.h"
#include "kernel/fit.h"

/* One mark a module: what the plan does with it. */
struct mark {
	bool out, in; /* is unloaded, is loaded */
	unsigned level_out, level_in;
};

struct planner {
	const struct swap_facts *facts;
	enum side side;
	const struct swap_policy *policy;
	struct mark *mark; /* one for each module of the facts */
	struct exports *world;
	struct verdicts *why;
};

void steps_clear(struct steps *steps)
{
	free(steps->s);
	*steps = (struct steps){ 0 };
}

const char *step_op_name(enum step_op op)
{
	static const char *const names[] = {
		[STEP_UNLOAD] = "unload",
		[STEP_LOAD] = "load",
		[STEP_BIND] = "bind",
	};

	return names[op];
}

static struct mark *mark_of(const struct planner *p, const char *name)
{
	const struct swap_module *m = swap_find(p->facts, name);

	return m ? &p->mark[m - p->facts->m] : NULL;
}

static bool is_right(const struct swap_module *m, enum side side)
{
	return m->live && m->side[side].live && identity_same(&m->id, &m->side[side].id);
}

/* References that no module accounts for: processes, sockets, devices. */
static int foreign_references(const struct swap_module *m)
{
	int holders = 0;

	for (char **h = m->holders; h && *h; h++)
		holders++;
	return m->refcount - holders;
}

/* A host module that came with the goal stays where somebody has begun to use it. */
static bool must_go(const struct planner *p, const struct swap_module *m)
{
	if (!m->live || m->role == ROLE_BYSTANDER || is_right(m, p->side))
		return false;
	return m->role == ROLE_GOAL || (m->refcount == 0 && !m->side[p->side].live);
}

static void mark_holders_out(struct planner *p, const struct swap_module *m, bool *grown)
{
	for (char **h = m->holders; h && *h; h++) {
		struct mark *mark = mark_of(p, *h);

		if (!mark)
			verdicts_no(p->why, REASON_MODULE_IN_USE, m->name,
				    "held by module %s, which came meanwhile", *h);
		else if (!mark->out)
			*grown = mark->out = true;
	}
}

/* Everything that is not the side's, and all that stands on it. */
static void mark_out(struct planner *p)
{
	bool grown = true;

	for (size_t i = 0; i < p->facts->n; i++)
		p->mark[i].out = must_go(p, &p->facts->m[i]);
	while (grown) {
		grown = false;
		for (size_t i = 0; i < p->facts->n; i++)
			if (p->mark[i].out)
				mark_holders_out(p, &p->facts->m[i], &grown);
	}
}

static void mark_in(struct planner *p)
{
	for (size_t i = 0; i < p->facts->n; i++) {
		const struct swap_module *m = &p->facts->m[i];

		p->mark[i].in = m->side[p->side].live && (!m->live || p->mark[i].out);
	}
}

static void judge_bystander(struct planner *p, const struct swap_module *m)
{
	const struct swap_rule *rule = NULL;

	for (size_t i = 0; !rule && i < p->policy->n; i++)
		if (strv_contains(p->policy->rules[i].modules, m->name))
			rule = &p->policy->rules[i];
	if (!rule)
		verdicts_no(p->why, REASON_MODULE_IN_USE, m->name,
			    "stands on modules that have to go and is not part of %s",
			    p->facts->label[p->side]);
	else if (!rule->may_go)
		verdicts_no(p->why, rule->why, m->name, "stands on modules that have to go");
}

static void judge_holders(struct planner *p, const struct swap_module *m)
{
	int foreign = foreign_references(m);

	if (m->state != MODULE_LIVE)
		verdicts_no(p->why, REASON_MODULE_IN_USE, m->name, "is still %s",
			    m->state == MODULE_COMING ? "being loaded" : "being unloaded");
	else if (m->refcount < 0)
		verdicts_no(p->why, REASON_MODULE_IN_USE, m->name,
			    "is permanent: it has no exit function");
	else if (foreign > 0 && !p->policy->no_way_back) /* there, the runner waits for them */
		verdicts_no(p->why, REASON_MODULE_IN_USE, m->name,
			    "%d reference%s that no module holds: processes, sockets or devices",
			    foreign, foreign == 1 ? "" : "s");
}

static void judge_out(struct planner *p)
{
	for (size_t i = 0; i < p->facts->n; i++) {
		const struct swap_module *m = &p->facts->m[i];
		const struct swap_side *from = &m->side[SIDE_FROM];

		if (!p->mark[i].out)
			continue;
		judge_holders(p, m);
		if (m->role == ROLE_BYSTANDER && !p->policy->no_way_back)
			judge_bystander(p, m);
		if (!p->policy->no_way_back && from->live && !from->file)
			verdicts_no(p->why, REASON_UNDO_IMPOSSIBLE, m->name, "%s",
				    from->missing ? from->missing : "no file");
	}
}

/*
 * What will be exported when the side is live: its own files first, then the kernel and what stays
 * as it is.
 */
static int build_world(struct planner *p, enum side side)
{
	int err;

	p->world = exports_free(p->world);
	err = exports_layer(p->facts->base, &p->world);
	for (size_t i = 0; !err && i < p->facts->n; i++) {
		const struct swap_module *m = &p->facts->m[i];

		err = exports_drop(p->world, m->name);
		if (!err && m->side[side].live && m->side[side].file)
			err = exports_add_module(p->world, m->side[side].file);
	}
	return err;
}

static struct fit_world world_of(const struct planner *p)
{
	return (struct fit_world){
		.kernel = &p->facts->kernel,
		.vermagic = p->facts->vermagic,
		.exports = p->world,
	};
}

/*
 * A bystander that does not fit the new stack is left out, and said so; everything else has to fit.
 */
static void judge_in(struct planner *p)
{
	struct fit_world world = world_of(p);

	for (size_t i = 0; i < p->facts->n; i++) {
		const struct swap_module *m = &p->facts->m[i];
		const struct swap_side *side = &m->side[p->side];
		_cleanup_verdicts_ struct verdicts misfits = { 0 };

		if (!p->mark[i].in)
			continue;
		if (!side->file && side->missing)
			verdicts_no(&misfits, REASON_UNDO_IMPOSSIBLE, m->name, "%s", side->missing);
		else if (side->file)
			fit_judge(side->file, &world,
				  m->role == ROLE_BYSTANDER ? &misfits : p->why);
		if (!verdicts_refuse(&misfits))
			continue;
		if (m->role == ROLE_BYSTANDER) {
			p->mark[i].in = false;
			verdicts_unknown(
				p->why, misfits.v[0].why, m->name, "will not be loaded again: %s",
				misfits.v[0].detail ? misfits.v[0].detail : misfits.v[0].object);
		} else {
			verdicts_no(p->why, misfits.v[0].why, m->name, "%s", misfits.v[0].detail);
		}
	}
}

/* The way back has to fit as well: a node that can only go forward is not swapped. */
static int judge_way_back(struct planner *p)
{
	struct fit_world world;
	int err;

	if (p->side == SIDE_FROM || p->policy->no_way_back)
		return 0;
	err = build_world(p, SIDE_FROM);
	if (err)
		return err;
	world = world_of(p);
	for (size_t i = 0; i < p->facts->n; i++)
		if (p->mark[i].out && p->facts->m[i].side[SIDE_FROM].file)
			fit_judge(p->facts->m[i].side[SIDE_FROM].file, &world, p->why);
	return 0;
}

static bool raise_level(unsigned *level, unsigned above)
{
	if (*level > above)
		return false;
	*level = above + 1;
	return true;
}

static bool raise_out(struct planner *p, size_t i)
{
	bool changed = false;

	for (char **h = p->facts->m[i].holders; p->mark[i].out && h && *h; h++) {
		const struct mark *above = mark_of(p, *h);

		if (above && above->out)
			changed |= raise_level(&p->mark[i].level_out, above->level_out);
	}
	return changed;
}

static bool raise_in(struct planner *p, size_t i)
{
	const struct module *file = p->facts->m[i].side[p->side].file;
	bool changed = false;

	if (!p->mark[i].in || !file)
		return false;
	for (int soft = 0; soft < 2; soft++) {
		char **d = soft ? module_info(file)->softdeps : module_info(file)->depends;

		for (; *d; d++) {
			const struct mark *below = mark_of(p, *d);

			if (below && below->in)
				changed |= raise_level(&p->mark[i].level_in, below->level_in);
		}
	}
	return changed;
}

/* Longest paths by relaxation: after n rounds only a circle still changes. */
static void find_levels(struct planner *p, bool (*raise)(struct planner *, size_t))
{
	bool changed = true;

	for (size_t round = 0; changed && round <= p->facts->n; round++) {
		changed = false;
		for (size_t i = 0; i < p->facts->n; i++)
			changed |= raise(p, i);
	}
	for (size_t i = 0; changed && i < p->facts->n; i++)
		if (raise(p, i))
			verdicts_no(p->why, REASON_DEPENDENCY_CYCLE, p->facts->m[i].name, NULL);
}

static void add_step(struct steps *steps, struct step step)
{
	steps->s[steps->n++] = step; /* there is room: see make_steps() */
}

/* Steps of one kind, by level; returns the wave after the last. */
static unsigned add_wave_steps(const struct planner *p, enum step_op op, unsigned wave,
			       struct steps *steps)
{
	bool any = true;

	for (unsigned level = 0; any; level++) {
		any = false;
		for (size_t i = 0; i < p->facts->n; i++) {
			const struct mark *m = &p->mark[i];
			bool here = op == STEP_UNLOAD ? m->out && m->level_out == level
						      : m->in && m->level_in == level;

			if (here)
				add_step(steps, (struct step){ .op = op,
							       .wave = wave,
							       .m = &p->facts->m[i] });
			any |= here;
		}
		wave += any;
	}
	return wave;
}

static bool bound_there(const struct planner *p, const char *device)
{
	for (size_t i = 0; i < p->facts->n_bound[p->side]; i++)
		if (!strcmp(p->facts->bound[p->side][i].device, device))
			return true;
	return false;
}

static bool of_vendors(const struct planner *p, const struct pci_device *d)
{
	char vendor[8];

	(void)snprintf(vendor, sizeof(vendor), "%04x", d->vendor);
	return p->side == SIDE_TO && strv_contains(p->facts->vendors, vendor);
}

/*
 * Devices without a driver once the modules are in: because theirs goes, or because nothing drove
 * them yet.
 */
static void add_bind_steps(const struct planner *p, unsigned wave, struct steps *steps)
{
	bool loads = steps->n > 0;

	for (size_t i = 0; i < p->facts->pci.n; i++) {
		const struct pci_device *d = &p->facts->pci.d[i];
		const struct mark *driver = d->module ? mark_of(p, d->module) : NULL;
		bool free = !d->driver || (driver && driver->out);

		if (free && (bound_there(p, d->address) || (loads && of_vendors(p, d))))
			add_step(steps, (struct step){ .op = STEP_BIND,
						       .wave = wave,
						       .device = d->address });
	}
}

static int make_steps(const struct planner *p, struct steps *ret)
{
	struct steps steps = { .side = p->side };
	unsigned wave;

	steps.s = calloc(2 * p->facts->n + p->facts->pci.n + 1, sizeof(*steps.s));
	if (!steps.s)
		return -ENOMEM;
	wave = add_wave_steps(p, STEP_UNLOAD, 0, &steps);
	wave = add_wave_steps(p, STEP_LOAD, wave, &steps);
	add_bind_steps(p, wave, &steps);
	*ret = steps;
	return 0;
}

static void planner_clear(struct planner *p)
{
	free(p->mark);
	exports_free(p->world);
}

int swap_plan(const struct swap_facts *facts, enum side side, const struct swap_policy *policy,
	      struct steps *ret, struct verdicts *why)
{
	_cleanup_(planner_clear) struct planner p = {
		.facts = facts,
		.side = side,
		.policy = policy,
		.why = why,
	};
	int err;

	p.mark = calloc(facts->n + 1, sizeof(*p.mark));
	if (!p.mark)
		return -ENOMEM;
	mark_out(&p);
	mark_in(&p);
	judge_out(&p);
	err = build_world(&p, side);
	if (err)
		return err;
	judge_in(&p);
	err = judge_way_back(&p);
	if (err)
		return err;
	find_levels(&p, raise_out);
	find_levels(&p, raise_in);
	return make_steps(&p, ret);
}

int steps_modules(const struct steps *steps, char ***ret)
{
	_cleanup_strv_ char **names = calloc(steps->n + 1, sizeof(*names));
	size_t n = 0;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < steps->n; i++) {
		if (!steps->s[i].m || strv_contains(names, steps->s[i].m->name))
			continue;
		names[n] = strdup(steps->s[i].m->name);
		if (!names[n++])
			return -ENOMEM;
	}
	*ret = TAKE_PTR(names);
	return 0;
}

static const char *step_note(const struct step *s, enum side side, char buf[static 96])
{
	if (s->op == STEP_BIND)
		return "";
	if (s->op == STEP_UNLOAD)
		return identity_text(&s->m->id, buf);
	return s->m->side[side].origin ? s->m->side[side].origin : "";
}

void steps_print(FILE *to, const struct swap_facts *facts, const struct steps *steps)
{
	fprintf(to, "goal: %s, kernel %s\n", facts->label[steps->side], facts->kernel.release);
	fprintf(to, "%5s  %-7s %-20s %s\n", "wave", "step", "object", "which");
	for (size_t i = 0; i < steps->n; i++) {
		const struct step *s = &steps->s[i];
		char buf[96];

		fprintf(to, "%5u  %-7s %-20s %s\n", s->wave, step_op_name(s->op),
			s->m ? s->m->name : s->device, step_note(s, steps->side, buf));
	}
}
