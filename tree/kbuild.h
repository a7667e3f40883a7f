/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a recipe's build in a scratch copy of its source: make for each kbuild directory, symbols
 * chained (KBUILD_EXTRA_SYMBOLS), or the recipe's own commands. On failure BUILD_FAILED with the
 * compiler's first error in the detail.
 *
 * Progress: files compiled, counted in kbuild's output, of the sources (*.c, *.S) below the kbuild
 * directory. Of how many is not known for commands: what configure chooses from a source that holds
 * far more is its own. What compiles nothing (configure, strip) shows none.
 *
 * Children get LC_ALL=C, PATH, HOME and TMPDIR: what else the environment holds (MAKEFLAGS of a
 * make that runs us, KCFLAGS, ARCH) is not in the tree's key and must not change the tree.
 */
#pragma once

#include "common/sysroot.h"
#include "common/verdict.h"
#include "tree/recipe.h"

struct kbuild {
	const struct recipe *recipe;
	const char *scratch; /* absolute: the copy of the source, writable */
	const char *output;  /* absolute: an empty directory */
	const char *headers; /* absolute: the kernel's build directory */
	const char *sources; /* absolute: the source that belongs to it */
	const char *kernel;  /* release */
	unsigned jobs;
	int stop_fd;          /* readable: stop (-1: none) */
	int log_fd;           /* the whole output goes here */
	const char *log_name; /* as BUILD_FAILED calls it */
};

/*
 * -ENOEXEC: the build failed; -ENOENT: a program of it is missing; -ECANCELED: stopped, no
 * verdict.
 */
int kbuild_run(const struct kbuild *b, struct verdicts *why);
/* Runs one program of the build, in the same way; `object` is what BUILD_FAILED names. */
int kbuild_child(const struct kbuild *b, const char *object, const char *const argv[],
		 struct verdicts *why);
/*
 * The first line of `output` that says what went wrong: "x.c:12:3: error: ...", "ERROR: modpost:
 * ...", and only if there is none "make: *** ...", which the output of parallel jobs may show
 * before. NULL: none. Points into the text.
 */
const char *kbuild_first_error(const char *output, size_t *ret_len);
