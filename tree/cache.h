/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store as the cache of built trees. An entry is found by its key (kernel, architecture, source,
 * recipe: known without headers or compiler) and records what it was built against (manifest:
 * digests of the headers' .config and Module.symvers, compiler, the kernel's build-id):
 *
 *   headers there and different             not used: built again
 *   headers gone                            used if the build-id is the running kernel's or one of
 *                                           both is not known
 *   another build-id, same release          not used
 *   a file that is not as it was written    not used, never loaded: built again
 *
 * What is not recorded, as by an older gdrkit, is not compared. The headers are read again only
 * when stat(2) says something else of them than the note .seen-KEY in the store.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/sysroot.h"
#include "common/verdict.h"
#include "tree/store.h"

struct cache_query {
	const struct sysroot *root; /* the store is below it */
	const char *store, *key;
	const struct sysroot *host; /* the node's: headers */
	const char *kernel;
	const char *headers;  /* below host; NULL: where they usually are */
	const char *build_id; /* of the running kernel, if that is `kernel`; else NULL */
	bool check;           /* every file by its digest too (tree_check) */
	bool looks;           /* nothing is written: neither note nor last use */
};

/*
 * 0: use it; its last use is noted (the directory's mtime; where that cannot be written, it is
 * not). -ENOENT: there is none; -ESTALE: what it was built against is no longer there;
 * -EBADMSG: damaged. why gets what is the matter as UNKNOWN, never a refusal: it is built again.
 */
int cache_find(const struct cache_query *q, struct tree **ret, struct verdicts *why);

/*
 * What is recorded against what is there (empty or NULL: not known; symvers where a config is:
 * there was none). 0, or -ESTALE and what is different. Pure.
 */
struct cache_record {
	const char *config, *symvers, *build_id;
};
int cache_judge(const struct cache_record *was, const struct cache_record *is,
		const char **ret_what);

/*
 * Takes away least recently used trees until those left fit into max_bytes (0: no bound); first
 * those for other kernels than `running`, then others. Never `keep`, never the most recently used
 * for `running`. What is damaged is for no kernel and was never used; if its name is no key either
 * (64 hex digits), it is somebody else's, and stays. One that is used meanwhile stays too. With a
 * tree go its log (.log-KEY) and its note; of logs without a tree the newest 8 stay. ret_dropped
 * (may be NULL): how many trees.
 */
int cache_trim(const struct sysroot *root, const char *store, uint64_t max_bytes,
	       const char *running, const char *keep, unsigned *ret_dropped);
