/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other builds need of the loaded tree, shown to the node: <mount>/usr/src/ofa_kernel is a
 * relative link, flipped by rename, to a directory that is complete before (ofa_kernel.<digest>):
 * <arch>/<kernel>/{Module.symvers, manifest.json, what its recipe calls include}, with links
 * <kernel> and default beside <arch>. <mount> and <mount>/usr/src keep their inodes for ever
 * (others bind-mount them). The replaced directory goes at the next expose, not at this one: a
 * build may be using it. Copies: a pod that is not privileged cannot propagate mounts.
 */
#pragma once

#include "common/sysroot.h"
#include "tree/store.h"

/* mount: "run/mellanox/drivers" (MLX_DRIVERS_MOUNT). Exposed already: nothing changes. */
int expose_tree(const struct sysroot *root, const char *mount, const struct tree *tree);
/* Nothing of any tree stays; <mount>/usr/src does. */
int expose_remove(const struct sysroot *root, const char *mount);
/*
 * Spelling of directories under ofa_kernel: aarch64 for arm64, ppc64le for powerpc, else uname's.
 */
const char *expose_arch(const char *machine);
