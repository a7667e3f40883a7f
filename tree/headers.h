/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel's build directory: what `make -C` is given to build modules for it, and what it says
 * of the compiler that made that kernel.
 */
#pragma once

#include "common/sysroot.h"
#include "common/verdict.h"

struct headers {
	char *path;     /* absolute, without links */
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
