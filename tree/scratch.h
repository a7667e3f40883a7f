/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of one build, in the store that its tree goes to, so that the tree gets there by
 * rename: STORE/.build-XXXXXX. It goes with its build, whichever way that ends. A lock (flock) on
 * it tells that its process lives; what a dead one left is removed when the next build begins.
 */
#pragma once

#include "common/sysroot.h"

struct scratch;

/* The store is made if it is not there. */
int scratch_new(const struct sysroot *root, const char *store, struct scratch **ret);
struct scratch *scratch_free(struct scratch *s);
DEFINE_CLEANUP(struct scratch, scratch_free);

const struct sysroot *scratch_root(const struct scratch *s); /* at the directory itself */
const char *scratch_path(const struct scratch *s);           /* below the root of the store */
