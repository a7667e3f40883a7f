/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source and its recipe into a tree in a store: copied, built in a cage against the node's
 * headers, stripped (debug sections only, by strip(1)), read back by kernel/module, described, put
 * in place by rename. The build's output stays in STORE/.log-KEY.
 *
 * A module that can do nothing (it exports nothing, answers to no device and uses nothing of the
 * kernel but its log: the OFED's dummies, which only stand in the way of the inbox ones) is left
 * out, and said.
 */
#pragma once

#include "common/sysroot.h"
#include "common/verdict.h"
#include "tree/recipe.h"
#include "tree/store.h"

enum build_event {
	BUILD_FINDS,   /* the tree is there: nothing is built */
	BUILD_WAITS,   /* somebody else builds the same tree */
	BUILD_REJECTS, /* the tree in the store is not used; detail: why */
	BUILD_BEGINS,  /* detail: the compiler */
	BUILD_LEAVES,  /* a dummy module is left out; detail: its name */
	BUILD_DROPS,   /* trees went to keep the store's size; detail: how many */
};

struct build {
	const struct sysroot *root; /* source, recipe and store are below it */
	const struct sysroot *host; /* the node's: headers */
	const char *source;         /* directory with the source */
	const char *recipe;         /* driver.conf; NULL: SOURCE/driver.conf */
	const char *headers; /* the kernel's build directory, below host; NULL: headers_find */
	const char *kernel, *arch;
	const char *build_id; /* of the kernel that runs, if it is `kernel`; else NULL */
	const char *running;  /* release of the kernel that runs; NULL: not known */
	const char *store;    /* where the tree goes: STORE/KEY; not in the source */
	uint64_t store_bytes; /* what the store may grow to; 0: no bound */
	unsigned jobs;        /* 0: jobs_count() */
	int stop_fd;          /* readable: stop (-1: none) */
	uint64_t timeout_ms;  /* for all of it; 0: none */
	bool looks;           /* build_find writes nothing, not even that the tree was used */
	void (*note)(void *data, enum build_event event, const char *key, const char *detail);
	void *data;
};

/*
 * A tree that can be used is there already: opened and returned, nothing is built. On failure why
 * says all that is known; -ECANCELED: stopped, no verdict. Nothing but the log is left in the store.
 */
int build_tree(const struct build *b, struct tree **ret, struct verdicts *why);
/*
 * The same without the building: -ENOENT, TREE_MISSING. check: every file's digest too.
 * ret_recipe (may be NULL) is filled as soon as it has been read.
 */
int build_find(const struct build *b, bool check, struct tree **ret, struct recipe *ret_recipe,
	       struct verdicts *why);
/* The key from its inputs (amendment 11). */
int build_key(const char *kernel, const char *arch, const char *source_digest,
	      const struct recipe *r, char ret[static 65]);
