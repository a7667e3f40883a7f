/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver tree is a directory with manifest.json, its modules and what others build against; a
 * store is a directory of trees, each under its key. An image carries a store, the build cache
 * and /run/gdrkit/trees are stores. A tree appears by rename, whole or not at all; names that
 * start with a dot are not trees.
 */
#pragma once

#include "common/sysroot.h"
#include "kernel/module.h"
#include "tree/manifest.h"

struct tree {
	struct sysroot *root; /* at the tree's directory: module paths resolve in it */
	struct manifest manifest;
	char digest[65];
};

/*
 * TREE_INVALID (empty, no manifest, damaged, modules that are not there or have no order) or
 * TREE_MISSING (no such directory) in why. Modules are not opened: a tree that is live already
 * need not be read.
 */
int tree_open(const struct sysroot *root, const char *path, struct tree **ret,
	      struct verdicts *why);
struct tree *tree_free(struct tree *t);
DEFINE_CLEANUP(struct tree, tree_free);
/* Opened and held against the manifest (sha256, name, identity): -EBADMSG, TREE_INVALID. */
int tree_open_module(const struct tree *t, const struct manifest_module *mm, struct module **ret,
		     struct verdicts *why);

/*
 * Every file that the manifest has a digest of, read and compared: TREE_INVALID for each that is
 * damaged, -EBADMSG.
 */
int tree_check(const struct tree *t, struct verdicts *why);

/*
 * The tree in `path` itself, or, if that is a store, its tree for this kernel and architecture
 * (the newest by version and mtime if there are several; a damaged one is an error only if no
 * other fits). None: -ENOENT, TREE_MISSING that lists what is there. `path` itself a tree for
 * another kernel or architecture: -ENOEXEC, VERMAGIC_MISMATCH or ARCH_MISMATCH.
 */
int store_find(const struct sysroot *root, const char *path, const char *kernel, const char *arch,
	       struct tree **ret, struct verdicts *why);

/*
 * A descriptor that holds the store's lock (flock on its directory) until it is closed; puts,
 * adopts and drops are made under it. Waits: whoever has it is quick.
 */
int store_lock(const struct sysroot *root, const char *path);

/*
 * Copies a tree into the store `path` under root as <path>/<key>, by rename; there already with the
 * same digest: nothing to do. ret may be NULL. One that is replaced is there until the new one is,
 * where the file system can exchange names (renameat2(2)). What a killed one left goes with the
 * next that puts, adopts or drops.
 */
int store_put(const struct sysroot *root, const char *path, const struct tree *tree,
	      struct tree **ret);
/*
 * The same for a directory that is finished, on the same file system: it is moved. One that is
 * there goes, if it is damaged (tree_check) or has another manifest (it was built against other
 * headers); else it stays, and `from` too.
 */
int store_adopt(const struct sysroot *root, const char *path, const char *from, const char *key);
int store_drop(const struct sysroot *root, const char *path, const char *key);
/* As tree_open; -EBADMSG, TREE_INVALID too if the tree there has another key. */
int store_open(const struct sysroot *root, const char *path, const char *key, struct tree **ret,
	       struct verdicts *why);
/* Keys of the trees in a store; none or no store: an empty array. */
int store_list(const struct sysroot *root, const char *path, char ***ret_keys);
