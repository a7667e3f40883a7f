/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel's build directory: what `make -C` is given to build modules for it, and what it says
 * of the compiler that made that kernel.
 *
 * Its source is elsewhere if it was configured with O= (Debian: linux-headers-*-common): where its
 * link `source` leads, or the Makefile that its own includes is; else lib/modules/KERNEL/source;
 * else there is one directory for both.
 */
#pragma once

#include "common/sysroot.h"
#include "common/verdict.h"

struct headers {
	char *path;     /* absolute, without links */
	char *sources;  /* as well: the source that it was configured from */
	char *compiler; /* CONFIG_CC_VERSION_TEXT; NULL: not told */
};

/*
 * given: the directory; NULL: lib/modules/KERNEL/build, then usr/src/linux-headers-KERNEL. None
 * with a Makefile: -ENOENT, HEADERS_MISSING with where it was looked for and the package's name.
 */
int headers_find(const struct sysroot *root, const char *kernel, const char *given,
		 struct headers *ret, struct verdicts *why);
void headers_clear(struct headers *h);
#define _cleanup_headers_ _cleanup_(headers_clear)
