/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler for a kernel's modules: of the kind and major version that the kernel itself was
 * built with (CONFIG_CC_VERSION_TEXT; before 5.8 CONFIG_GCC_VERSION), among those in PATH and in
 * /opt/rh/gcc-toolset-N/root/usr/bin: gcc, gcc-N, clang, clang-N, TRIPLET-gcc-N. Of several that
 * fit, the one with the same text, then the same version, wins.
 */
#pragma once

#include <stdbool.h>

#include "common/sysroot.h"
#include "common/verdict.h"
#include "tree/headers.h"

struct compiler {
	char *path; /* absolute */
	char *text; /* first line of its --version: what CONFIG_CC_VERSION_TEXT holds */
	bool clang;
	bool llvm;    /* the kernel was linked by lld: make wants LLVM=1 */
	bool toolset; /* of /opt/rh: its own assembler and linker lie beside it */
	char *suffix; /* "-19" of clang-19, for ld.lld-19 and the like; "" */
	/* x86_64-linux-gnu-gcc-12: gcc as the kernel's makefiles may call it; NULL: not told */
	char *called;
};

/* "gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0": kind and version. -EINVAL: neither gcc nor clang. */
struct compiler_version {
	bool clang;
	unsigned major, minor, patch;
};
int compiler_parse(const char *text, struct compiler_version *ret);
/* Do both texts tell of the same build, whatever name it was called by? */
bool compiler_same(const char *a, const char *b);

/*
 * search: PATH's form. No compiler at all: -ENOENT, COMPILER_MISSING; none of that kind and major
 * version: -ENOEXEC, COMPILER_MISMATCH with the one wanted and those that are there. What the
 * kernel was built with is not told: gcc, or clang if that is all there is.
 */
int compiler_choose(const struct headers *h, const char *kernel, const char *search,
		    struct compiler *ret, struct verdicts *why);
/*
 * Links in the directory dir (made) by which whoever asks for gcc, cc, gcc-N (or clang, ld.lld,
 * llvm-*, TRIPLET-gcc-N if the kernel's text begins so) gets this one: to be put first in PATH.
 * Without llvm, make asks for gcc and gets clang, too. A toolset's binutils come along.
 */
int compiler_links(const struct compiler *c, const struct sysroot *dir);
void compiler_clear(struct compiler *c);
#define _cleanup_compiler_ _cleanup_(compiler_clear)
