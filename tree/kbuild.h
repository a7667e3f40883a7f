/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a recipe's build in a scratch copy of its source: make for each kbuild directory, symbols
 * chained (KBUILD_EXTRA_SYMBOLS), or the recipe's own commands. On failure BUILD_FAILED with the
 * compiler's first error (complaint.h) in the detail.
 *
 * Progress: files compiled, counted in kbuild's output, of the sources (*.c, *.S) below the kbuild
 * directory. Of how many is not known for commands: what configure chooses from a source that holds
 * far more is its own. A command that compiles nothing (configure runs for minutes) shows the lines
 * it prints.
 *
 * Children get LC_ALL=C, PATH (tools first), HOME and TMPDIR (tmp), and LLVM: what else the
 * environment holds (MAKEFLAGS of a make that runs us, KCFLAGS, ARCH) is not in the tree's key and
 * must not change the tree. A directory of the recipe that leads out of the source by a link is
 * refused.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
	const char *tools;   /* absolute: a directory to look for programs first; NULL */
	const char *tmp;     /* absolute: HOME and TMPDIR of children; NULL: ours */
	bool llvm;           /* LLVM=1: the kernel was built by clang and lld */
	unsigned jobs;
	uint64_t deadline_ms; /* on events_now()'s clock: all of it ends by then; 0: none */
	int stop_fd;          /* readable: stop (-1: none) */
	int log_fd;           /* the whole output goes here */
	const char *log_name; /* as BUILD_FAILED calls it */
};

/*
 * -ENOEXEC, BUILD_FAILED: the build failed; -ENOENT: a program of it is missing; -ECANCELED:
 * stopped, no verdict; -ETIMEDOUT, WAIT_TIMEOUT: the deadline passed; -ENOSPC and -EROFS,
 * STORE_UNUSABLE: it failed, and its output says that the disk is full or not to be written.
 */
int kbuild_run(const struct kbuild *b, struct verdicts *why);
/* Runs one program of the build, in the same way; `object` is what BUILD_FAILED names. */
int kbuild_child(const struct kbuild *b, const char *object, const char *const argv[],
		 struct verdicts *why);
