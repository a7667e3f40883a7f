/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs steps in parallel: each begins, written to the journal first, when those that it needs are
 * done. Idempotent: a module that is gone is unloaded, one that is live and the right build is
 * loaded. One that somebody else slipped in meanwhile is taken out again.
 */
#pragma once

#include <stdint.h>

#include "common/sysroot.h"
#include "common/verdict.h"
#include "swap/journal.h"
#include "swap/plan.h"

struct act {
	const struct sysroot *root;
	struct journal *journal;
	int stop_fd;   /* readable: no further step begins (-1: none) */
	bool stubborn; /* the way back: a journal that cannot be written does not stop it */
	void (*done)(void *data, const struct step *step, uint64_t begin_us, uint64_t end_us,
		     const char *note); /* on any thread, one at a time */
	void *data;
};

/*
 * 0; -ECANCELED: stopped by stop_fd; -EIO: a step failed and why says which; JOURNAL_FAILED
 * likewise.
 */
int swap_act(const struct act *act, const struct steps *steps, struct verdicts *why);
/* Are the side's modules live and its devices bound? VERIFY_FAILED for each that is not. */
int swap_verify(const struct sysroot *root, const struct swap_facts *facts, enum side side,
		struct verdicts *why);
