/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's lib/modules/RELEASE: where a module's file is and what it needs (modules.dep, man 5
 * modules.dep), and what modprobe.d and the kernel's command line set for it (libkmod). modules.dep
 * is read as text, because libkmod 30 does not check its binary twin against its own length;
 * configuration reaches libkmod through the sysroot, so that no link leads out of it. `install`
 * lines and blacklists are not looked at. Paths that come out are relative to the sysroot and are
 * opened through it.
 */
#pragma once

#include "common/sysroot.h"

struct modtree;

/*
 * -ENOENT: no such directory or no modules.dep there; -ELOOP, -EXDEV: links that loop or leave the
 * root.
 */
int modtree_open(const struct sysroot *root, const char *release, struct modtree **ret);
struct modtree *modtree_free(struct modtree *t);
DEFINE_CLEANUP(struct modtree, modtree_free);

/* "lib/modules/6.1.0-56-amd64/kernel/drivers/infiniband/core/ib_core.ko"; -ENOENT. */
int modtree_path(const struct modtree *t, const char *name, char **ret);
/*
 * Names of hard dependencies (depends:, recursively, deepest first) and of `pre:` soft ones that
 * have a file here, with theirs; NULL-ended. Aliases (softdep pre: crc32c) are left to the kernel,
 * which asks for them itself. -ENOENT: no such module.
 */
int modtree_depends(const struct modtree *t, const char *name, char ***ret);
/*
 * What modprobe would pass: "a=1 b=2" from modprobe.d and the kernel command line; "" if nothing.
 * For modules without a file in this tree too.
 */
int modtree_options(const struct modtree *t, const char *name, char **ret);
