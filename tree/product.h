/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a build has made of its scratch directory (source/, output/ in it) becomes a tree (tree/):
 * the recipe's modules, symbols and headers that others build against, and the manifest that
 * describes all of it. Modules are taken from output/ if they are there, else from source/.
 *
 * Left out are dummies: modules that export nothing, use nothing of the kernel but its log, and
 * call themselves dummy (or are optional). The OFED makes them for what it was not asked for; they
 * only stand in the way of the inbox modules of that name. An optional module that another one of
 * the tree depends on is not optional.
 */
#pragma once

#include "common/sysroot.h"
#include "common/verdict.h"
#include "tree/manifest.h"
#include "tree/recipe.h"

struct product {
	const struct recipe *recipe;
	const char *kernel, *arch;
	const struct sysroot *scratch; /* with source/ and output/ */
	const struct sysroot *tree;    /* tree/ in it */
	const char *source;            /* source/, absolute: taken out of the symbols' paths */
	void (*left_out)(void *data, const char *name);
	void *data;
};

/* The files into the tree, and ret's modules with name, path and optional. BUILD_FAILED. */
int product_take(const struct product *p, struct manifest *ret, struct verdicts *why);
/*
 * The rest of what the files themselves tell, in load order, and without dummies. Of the wrong
 * kernel, architecture or name: VERMAGIC_MISMATCH, ARCH_MISMATCH, BUILD_FAILED.
 */
int product_describe(const struct product *p, struct manifest *m, struct verdicts *why);
/* usr/src/ofa_kernel/ARCH/KERNEL/{Module.symvers, the recipe's include}, and its digest. */
int product_expose(const struct product *p, struct manifest *m, struct verdicts *why);
