/* SPDX-License-Identifier: Apache-2.0 */
#include "swap/swap.h"

#include <errno.h>
#include <string.h>

#include "swap/act.h"

/* One run of the transaction. */
struct transaction {
	const struct swap_request *req;
	struct journal *journal;
	struct swap_facts *facts;
	struct steps steps;
	struct swap_result result;
	uint64_t first_us, last_us;
	struct verdicts *why;
};

static void transaction_clear(struct transaction *t)
{
	steps_clear(&t->steps);
	swap_facts_free(t->facts);
	journal_free(t->journal);
}

static int journal_verdict(struct transaction *t, int err)
{
	if (err)
		verdicts_no(t->why, REASON_JOURNAL_FAILED, "run/gdrkit/journal", "%s",
			    strerror(-err));
	return err;
}

static int lock_verdict(struct transaction *t, int err)
{
	if (err == -ECANCELED)
		verdicts_no(t->why, REASON_INTERRUPTED, "run/gdrkit/journal",
			    "while waiting for the module lock");
	else if (err == -ETIMEDOUT)
		verdicts_no(t->why, REASON_WAIT_TIMEOUT, "run/gdrkit/journal",
			    "another swap holds the module lock");
	else
		return journal_verdict(t, err);
	return err;
}

static int take_journal(struct transaction *t)
{
	int err = journal_open(t->req->root, t->req->boot_id, &t->journal);

	if (err)
		return journal_verdict(t, err);
	journal_stop_after(t->journal, t->req->stop_after);
	return lock_verdict(t, journal_lock(t->journal, t->req->stop_fd, t->req->timeout_ms));
}

static void on_step(void *data, const struct step *step, uint64_t begin_us, uint64_t end_us,
		    const char *note)
{
	struct transaction *t = data;
	const struct swap_observer *o = &t->req->observer;

	if (step->op == STEP_UNLOAD && (!t->first_us || begin_us < t->first_us))
		t->first_us = begin_us;
	if (step->op == STEP_LOAD && end_us > t->last_us)
		t->last_us = end_us;
	if (o->step)
		o->step(o->data, step, begin_us, end_us, note);
}

static int act(struct transaction *t, bool forward)
{
	const struct act a = {
		.root = t->req->root,
		.journal = t->journal,
		.stop_fd = forward ? t->req->stop_fd : -1,
		.stubborn = !forward,
		.done = on_step,
		.data = t,
	};

	return swap_act(&a, &t->steps, t->why);
}

/* The caller's guards stand inside those of every swap: saved after them, put back before. */
static int for_each_guard(struct transaction *t, bool save, char *const modules[])
{
	const struct guard *const *lists[] = { guards_of_every_swap, t->req->guards };
	const struct guard *all[32];
	size_t n = 0;
	int err = 0;

	for (size_t l = 0; l < 2; l++)
		for (const struct guard *const *g = lists[l]; g && *g && n < 32; g++)
			all[n++] = *g;
	for (size_t i = 0; i < n && !(save && err); i++) {
		const struct guard *g = all[save ? i : n - 1 - i];
		int one = journal_guard(t->journal, save ? "save" : "restore", g->name);

		if (save && one)
			return journal_verdict(t, one);
		one = save ? guard_save(g, t->req->root, modules, t->why)
			   : guard_restore(g, t->req->root, t->why);
		err = err ? err : one;
	}
	return err;
}

static int save_guards(struct transaction *t)
{
	_cleanup_strv_ char **modules = NULL;
	int err = steps_modules(&t->steps, &modules);

	return err ? err : for_each_guard(t, true, modules);
}

static int restore_guards(struct transaction *t)
{
	return for_each_guard(t, false, NULL);
}

/* Reads again, plans for `side`, acts and verifies: undo and recovery are this. */
static int reach(struct transaction *t, enum side side)
{
	static const struct swap_policy onward = { .no_way_back = true };
	_cleanup_verdicts_ struct verdicts why = { 0 };
	int err;

	steps_clear(&t->steps);
	err = swap_read_again(t->req->root, t->facts);
	if (!err)
		err = swap_plan(t->facts, side, &onward, &t->steps, &why);
	if (!err && verdicts_refuse(&why))
		err = -EBUSY;
	for (size_t i = 0; err && i < why.n; i++)
		verdicts_add(t->why, why.v[i].why, why.v[i].state, why.v[i].object, "%s",
			     why.v[i].detail ? why.v[i].detail : "");
	if (!err)
		err = act(t, false);
	return err ? err : swap_verify(t->req->root, t->facts, side, t->why);
}

/*
 * Back to where it began. What fails here leaves the journal open, so that the next start tries
 * again.
 */
static void undo(struct transaction *t, bool interrupted)
{
	const struct swap_observer *o = &t->req->observer;
	int err;

	if (o->undo)
		o->undo(o->data, t->why);
	(void)journal_undo(t->journal, !interrupted); /* the way back does not wait for a disk */
	err = reach(t, SIDE_FROM);
	if (restore_guards(t) && !err)
		err = -EIO;
	if (!err)
		err = journal_end(t->journal, interrupted ? "interrupted" : "undone", false);
	t->result.undone = !err;
	if (err)
		verdicts_no(t->why, REASON_UNDO_FAILED, t->facts->label[SIDE_TO], "%s",
			    strerror(-err));
}

static int begin(struct transaction *t)
{
	const struct swap_request *req = t->req;
	_cleanup_state_ struct state from = { 0 }, to = { 0 };
	_cleanup_state_ struct state before = { 0 };
	int err = swap_state(t->facts, SIDE_FROM, NULL, &from);

	if (!err)
		err = swap_state(t->facts, SIDE_TO, req->goal->state->digest, &to);
	if (!err && state_read_before(req->root, req->owner, req->boot_id, &before))
		err = state_write_before(req->root, req->owner, &from);
	if (!err)
		err = journal_begin(t->journal, req->owner, &from, &to, req->settings);
	return journal_verdict(t, err);
}

/*
 * Nothing has moved when this fails: the guards go back and the journal is closed without a memory.
 */
static int prepare(struct transaction *t)
{
	int err = begin(t);

	if (err)
		return err;
	err = save_guards(t);
	if (!err)
		return 0;
	if (!restore_guards(t))
		(void)journal_end(t->journal, "interrupted", false);
	return err;
}

static int move(struct transaction *t)
{
	int err = prepare(t);

	if (err)
		return err;
	t->result.moved = true;
	err = act(t, true);
	if (!err)
		err = swap_verify(t->req->root, t->facts, SIDE_TO, t->why);
	if (err) {
		if (err == -ECANCELED)
			verdicts_no(t->why, REASON_INTERRUPTED, t->facts->label[SIDE_TO], NULL);
		undo(t, err == -ECANCELED);
		return err;
	}
	t->result.span_us = t->last_us > t->first_us && t->first_us ? t->last_us - t->first_us : 0;
	err = restore_guards(t);
	return err ? err : journal_verdict(t, journal_end(t->journal, "done", false));
}

static int plan(struct transaction *t)
{
	const struct swap_request *req = t->req;
	int err = swap_read(req->root, req->goal, &t->facts, t->why);

	if (!err)
		err = swap_plan(t->facts, SIDE_TO, req->policy, &t->steps, t->why);
	if (!err && req->judge)
		err = req->judge(req->judge_data, t->facts, &t->steps, t->why);
	if (!err && verdicts_refuse(t->why))
		err = -EPERM;
	if (!err && req->observer.plan)
		req->observer.plan(req->observer.data, t->facts, &t->steps);
	return err;
}

static int refuse_failed_before(struct transaction *t)
{
	const struct swap_request *req = t->req;

	if (req->retry ||
	    !journal_failed_before(t->journal, req->owner, req->goal->state->digest, req->settings))
		return 0;
	verdicts_no(t->why, REASON_FAILED_BEFORE, req->goal->state->label, NULL);
	return -EPERM;
}

int swap_run(const struct swap_request *req, struct swap_result *ret, struct verdicts *why)
{
	_cleanup_(transaction_clear) struct transaction t = { .req = req, .why = why };
	int err = take_journal(&t);

	if (!err && journal_last(t.journal) && journal_last(t.journal)->open) {
		verdicts_no(why, REASON_UNDO_FAILED, "run/gdrkit/journal",
			    "another swap was cut off meanwhile");
		return -EAGAIN;
	}
	if (!err && !state_is_live(req->root, req->goal->state)) {
		err = refuse_failed_before(&t);
		if (!err)
			err = plan(&t);
		if (!err)
			err = move(&t);
	}
	*ret = t.result;
	return err;
}

/*
 * The crash's goal, if it was reached and only the guards are missing; else what was there before
 * it.
 */
static int finish(struct transaction *t, const struct journal_swap *last)
{
	const struct state *state =
		state_is_live(t->req->root, &last->to) ? &last->to : &last->from;
	const struct goal goal = { .state = state, .trees = t->req->goal->trees };
	_cleanup_verdicts_ struct verdicts unused = { 0 };
	int err = swap_read(t->req->root, &goal, &t->facts, &unused);

	if (!err)
		err = reach(t, SIDE_TO);
	if (restore_guards(t) && !err)
		err = -EIO;
	if (err)
		return err;
	if (state == &last->to)
		return journal_end(t->journal, "done", true);
	return journal_end(t->journal, last->failed || last->crashes ? "undone" : "interrupted",
			   true);
}

int swap_recover(const struct swap_request *req, bool *ret_recovered, struct verdicts *why)
{
	_cleanup_(transaction_clear) struct transaction t = { .req = req, .why = why };
	int err = take_journal(&t);
	const struct journal_swap *last;

	if (err)
		return err;
	last = journal_last(t.journal);
	if (!last || !last->open || (req->own_only && strcmp(last->owner, req->owner))) {
		*ret_recovered = false;
		return 0;
	}
	err = finish(&t, last);
	if (err) {
		verdicts_no(why, REASON_UNDO_FAILED, "run/gdrkit/journal", "recovery: %s",
			    strerror(-err));
		return err;
	}
	*ret_recovered = true;
	return 0;
}
