/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ready file (node.md): what is loaded, as KEY=VALUE lines, written by rename. BOOT_ID,
 * KERNEL, DRIVER, DRIVER_VERSION, REVISION, TREE_DIGEST, SRCVERSION_<module> (the build-id where
 * a module has no srcversion, as "build-id:HEX"), STARTED and READY (RFC 3339, UTC).
 */
#pragma once

#include "common/sysroot.h"
#include "common/verdict.h"
#include "kernel/identity.h"
#include "tree/manifest.h"

struct ready_module {
	char *name;
	struct identity id;
};

struct ready {
	char *boot_id, *kernel, *driver, *version, *revision, *tree_digest, *started, *ready;
	struct ready_module *modules;
	size_t n_modules;
};

/* -ENOENT; -EBADMSG: not such a file (BOOT_ID and KERNEL must be there; unknown keys may). */
int ready_read(const struct sysroot *root, const char *path, struct ready *ret);
/* Members that are NULL are left out. -EINVAL: a value with a newline in it. */
int ready_write(const struct sysroot *root, const char *path, const struct ready *r);
void ready_clear(struct ready *r);
#define _cleanup_ready_ _cleanup_(ready_clear)

/*
 * From a tree: its modules that are live now (optional ones may not be), as sys/module tells them.
 * READY is now. revision and started may be NULL.
 */
int ready_of(const struct sysroot *root, const struct manifest *m, const char *tree_digest,
	     const char *boot_id, const char *revision, const char *started, struct ready *ret);
/* Pure part of staleness: another boot or kernel -> STALE_READY naming which. */
void ready_judge(const struct ready *r, const char *boot_id, const char *kernel,
		 struct verdicts *why);
/* And each module against sys/module: STALE_READY naming those that differ. */
int ready_check_live(const struct sysroot *root, const struct ready *r, struct verdicts *why);
