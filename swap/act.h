/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs steps, wave by wave, the steps of a wave in parallel, each written to the journal first. Idempotent: a module that is gone is unloaded, one that is live and
 * the right build is loaded. One that somebody else slipped in meanwhile is taken out again.
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
	int stop_fd;   /* readable: no further wave is begun (-1: none) */
	bool stubborn; /* the way back: a journal that cannot be written does not stop it */
	void (*done)(void *data, const struct step *step, uint64_t begin_us, uint64_t end_us,
		     const char *note); /* from the calling thread, after each wave */
	void *data;
};

/* 0; -ECANCELED: stopped by stop_fd between two waves; -EIO: a step failed and why says which; JOURNAL_FAILED likewise. */
int swap_act(const struct act *act, const struct steps *steps, struct verdicts *why);
/* Are the side's modules live and its devices bound? VERIFY_FAILED for each that is not. */
int swap_verify(const struct sysroot *root, const struct swap_facts *facts, enum side side,
		struct verdicts *why);
