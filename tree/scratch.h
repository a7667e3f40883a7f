/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of one build, in the store that its tree goes to, so that the tree gets there by
 * rename: STORE/.build-KEY. It goes with its build, whichever way that ends. A lock (flock) on it
 * tells that its process lives: who wants to build the same waits for it; what a dead one left is
 * removed when the next build of any tree begins.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/sysroot.h"

struct scratch;

/* The store is made if it is not there. -EBUSY: somebody builds that key; scratch_wait. */
int scratch_new(const struct sysroot *root, const char *store, const char *key,
		struct scratch **ret);
/*
 * Until nobody builds that key; look for its tree then. stop_fd readable: -ECANCELED (-1: none);
 * timeout_ms 0: none, else -ETIMEDOUT.
 */
int scratch_wait(const struct sysroot *root, const char *store, const char *key, int stop_fd,
		 uint64_t timeout_ms);
/* Does somebody build it just now? */
bool scratch_is_busy(const struct sysroot *root, const char *store, const char *key);
/* Removes what dead builds left; what cannot be removed stays for the next. */
int scratch_sweep(const struct sysroot *root, const char *store);
struct scratch *scratch_free(struct scratch *s);
DEFINE_CLEANUP(struct scratch, scratch_free);

const struct sysroot *scratch_root(const struct scratch *s); /* at the directory itself */
const char *scratch_path(const struct scratch *s);           /* below the root of the store */
