/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict says of one object (a module, a symbol, a file, a netdev) why something cannot be, or
 * that it could not be seen. Planners and judges collect all of them before anything moves: a user
 * learns everything that refuses at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "common/reason.h"

struct verdict {
	enum reason why;
	enum verdict_state {
		VERDICT_NO,
		VERDICT_UNKNOWN
	} state;               /* UNKNOWN: could not see; never refuses by itself */
	char *object, *detail; /* detail may be NULL */
};

struct verdicts {
	struct verdict *v;
	size_t n;
};

/*
 * Appends a copy; a verdict equal to one that is there is not added again. detail: a printf format,
 * or NULL. Never fails: out of memory ends the process (a lost verdict would be a yes).
 */
void verdicts_add(struct verdicts *vs, enum reason why, enum verdict_state state,
		  const char *object, const char *detail, ...)
	__attribute__((format(printf, 5, 6)));
#define verdicts_no(vs, why, object, ...) verdicts_add(vs, why, VERDICT_NO, object, __VA_ARGS__)
#define verdicts_unknown(vs, why, object, ...) \
	verdicts_add(vs, why, VERDICT_UNKNOWN, object, __VA_ARGS__)

void verdicts_clear(struct verdicts *vs);
#define _cleanup_verdicts_ _cleanup_(verdicts_clear)

bool verdicts_refuse(const struct verdicts *vs); /* is there a NO */
/* The exit code that the first NO calls for; 0 if none. */
int verdicts_exit(const struct verdicts *vs);
/* A line for each, NO at `level`, UNKNOWN at WARN: reason, object, detail, cause, remedy. */
void verdicts_log(const struct verdicts *vs, enum log_level level);
