/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source and its recipe into a tree in a store: copied, built, stripped (debug sections only, by
 * strip(1), the one child besides make and the recipe's commands), read back by kernel/module,
 * described, put in place by rename. The build's output stays in STORE/.log-KEY.
 */
#pragma once

#include "common/sysroot.h"
#include "common/verdict.h"
#include "tree/store.h"

struct recipe;

struct build {
	const struct sysroot *root; /* paths below are relative to it */
	const char *source;         /* directory with the source */
	const char *recipe;         /* driver.conf; NULL: SOURCE/driver.conf */
	const char *headers;        /* the kernel's build directory; NULL: as headers_find */
	const char *kernel, *arch;
	const char *store; /* where the tree goes: STORE/KEY; not in the source */
	unsigned jobs;     /* 0: jobs_count() */
	int stop_fd;       /* readable: stop (-1: none) */
};

/*
 * The tree is there already: opened and returned, nothing is built. On failure why says all that is
 * known; -ECANCELED: stopped, no verdict. Nothing but the log is left in the store.
 */
int build_tree(const struct build *b, struct tree **ret, struct verdicts *why);
/* The key from its inputs (amendment 11). */
int build_key(const char *kernel, const char *arch, const char *source_digest,
	      const struct recipe *r, char ret[static 65]);
