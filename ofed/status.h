/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is true of the driver on this node, whichever container asks: a swap that was cut off,
 * the ready file against what is live, and who holds the instance lock. Locks are shared for the
 * moment that it looks, never waited for. Printed as text or JSON.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "common/verdict.h"
#include "kernel/identity.h"
#include "ofed/driver.h"
#include "tree/ready.h"

struct status_module {
	char *name;
	struct identity expected, live; /* live: all empty when it is not */
	bool same;
};

struct status {
	enum status_journal {
		STATUS_NO_SWAP, /* none on this boot */
		STATUS_SWAPPED, /* the last one ended */
		STATUS_MOVING,  /* modules are being moved at this moment */
		STATUS_CUT_OFF, /* the next start recovers */
	} journal;
	char *swap; /* "ofed: inbox-rdma 6.1.192, done"; NULL: none */
	bool has_ready;
	struct ready ready;
	struct verdicts stale;         /* how the ready file differs from what is live */
	struct status_module *modules; /* those of the ready file */
	size_t n_modules;
	char *instance;  /* who holds the instance lock; NULL: nobody */
	char *recover;   /* the command that recovers */
	char *build_log; /* of the build that began last; NULL: none */
	bool building;   /* it is under way */
};

int status_read(const struct driver *d, struct status *ret, struct verdicts *why);
void status_clear(struct status *s);
#define _cleanup_status_ _cleanup_(status_clear)

void status_text(FILE *to, const struct status *s);
void status_json(FILE *to, const struct status *s);
/* Why the answer is no: cut off, not ready, or stale. */
void status_judge(const struct status *s, struct verdicts *why);
