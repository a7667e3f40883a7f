/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A swap as ofed asks for it: its policy and judge, the timeline in the log, and the ready file,
 * which goes right before the first step and comes back as it was when the swap was undone.
 */
#pragma once

#include "ofed/driver.h"
#include "swap/swap.h"

struct ofed_swap {
	const struct goal *goal;
	const struct manifest *tree; /* whose auxiliary modules may go; NULL */
	bool to_the_end;             /* once modules move, a signal no longer turns it round */
};

int request_run(const struct driver *d, const struct ofed_swap *what, struct verdicts *why);
/*
 * A crash of an earlier swap comes first, whatever the verb; peermem's too, whose pod may be
 * gone.
 */
int request_recover(const struct driver *d, struct verdicts *why);

/*
 * The planner's answer without a swap: nothing moves, nothing is written. Steps point into
 * facts.
 */
int request_plan(const struct driver *d, const struct ofed_swap *what,
		 struct swap_facts **ret_facts, struct steps *ret, struct verdicts *why);
