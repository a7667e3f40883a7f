/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The swap as a transaction: read, plan, act, verify, and the way back when any of it fails after
 * the first step. Guards around it, a journal beneath it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/sysroot.h"
#include "common/verdict.h"
#include "swap/facts.h"
#include "swap/guard.h"
#include "swap/journal.h"
#include "swap/plan.h"

struct swap_observer {
	void (*plan)(void *data, const struct swap_facts *facts, const struct steps *steps);
	void (*step)(void *data, const struct step *step, uint64_t begin_us, uint64_t end_us,
		     const char *note);
	void (*undo)(void *data, const struct verdicts *why); /* why the way back is taken */
	void *data;
};

struct swap_request {
	const struct sysroot *root;
	const char *owner; /* "ofed", "peermem" */
	const char *boot_id;
	const struct goal *goal;
	const struct swap_policy *policy;
	const struct guard *const *guards; /* NULL-ended, besides guards_of_every_swap */
	/* More that refuses, of the caller's domain, once it is known what moves. May be NULL. */
	int (*judge)(void *data, const struct swap_facts *facts, const struct steps *steps,
		     struct verdicts *why);
	void *judge_data;
	const char *settings; /* digest of the settings that bear on a failure */
	bool retry;           /* FAILED_BEFORE does not count */
	bool own_only;        /* swap_recover(): another owner's crash is left to its owner */
	int stop_fd;
	uint64_t timeout_ms; /* for the module lock */
	unsigned stop_after; /* journal_stop_after() */
	struct swap_observer observer;
};

struct swap_result {
	bool moved;       /* false: the goal was live already */
	bool undone;      /* what was there before is back */
	uint64_t span_us; /* first unload to last init */
};

/*
 * With the module lock held: 0 when the goal is live and everything is put back. Else -errno and
 * verdicts: nothing has moved (a refusal), or ret->undone, or UNDO_FAILED with the journal left
 * open. A signal: -ECANCELED, undone.
 */
int swap_run(const struct swap_request *req, struct swap_result *ret, struct verdicts *why);

/*
 * The first thing that any verb does. A crash of this boot's: if its goal is live the guards are
 * put back, else `from` is the goal. ret_recovered tells whether there was one; why has UNDO_FAILED
 * when it could not be recovered.
 */
int swap_recover(const struct swap_request *req, bool *ret_recovered, struct verdicts *why);
