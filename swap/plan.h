/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From facts to steps, or to everything that refuses: a pure function. Steps come in waves; those
 * of a wave do not depend on each other.
 *   unload   modules that are not the side's, and all that hold them, holders first
 *   load     the side's modules and the host modules they need, what is needed first
 *   bind     devices that were bound, and those of the goal's vendors that are not
 * Refusals: MODULE_IN_USE, the rules' own, UNDO_IMPOSSIBLE, DEPENDENCY_CYCLE, and all of
 * kernel/fit's, both ways.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/verdict.h"
#include "swap/facts.h"

struct step {
	enum step_op { STEP_UNLOAD, STEP_LOAD, STEP_BIND } op;
	unsigned wave;
	const struct swap_module *m; /* UNLOAD, LOAD */
	const char *device;          /* BIND */
};

struct steps {
	struct step *s; /* by wave */
	size_t n;
	enum side side;
};

void steps_clear(struct steps *steps);
#define _cleanup_steps_ _cleanup_(steps_clear)

/*
 * What may happen to a module that holds the goal's and is not of the goal: the first rule that
 * names it; none: MODULE_IN_USE.
 */
struct swap_rule {
	char *const *modules; /* NULL-ended; NULL itself: no module */
	bool may_go;          /* unloaded, and loaded again where its file fits */
	enum reason why;      /* else */
};

struct swap_policy {
	const struct swap_rule *rules;
	size_t n;
	bool no_way_back; /* recovery: there is no other way than on */
};

int swap_plan(const struct swap_facts *facts, enum side side, const struct swap_policy *policy,
	      struct steps *ret, struct verdicts *why);

/* Names of all modules in the steps, NULL-ended. */
int steps_modules(const struct steps *steps, char ***ret);
const char *step_op_name(enum step_op op); /* "unload", "load", "bind" */
/* For people. */
void steps_print(FILE *to, const struct swap_facts *facts, const struct steps *steps);
