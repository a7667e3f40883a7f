/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.conf (YAML, by libyaml): what a driver is and how its source is built. It lies beside the
 * source, only `build` reads it, and its digest is part of the tree's key. What a node may do is a
 * setting, never here.
 *
 *   name: inbox-rdma                   [a-z0-9_-]+
 *   version: "6.1.192"                 [A-Za-z0-9.+~_-]+
 *   vendors: ["15b3"]                  PCI vendors whose devices it drives
 *   modules: [ib_core, ib_uverbs]      loaded, always
 *   optional: [ib_ipoib]               built if the source makes them; loaded if they were live
 *                                      before
 *   auxiliary: [mlx5_vdpa]             not in the tree: the host's modules that stand on it,
 *                                      unloaded before and loaded again after, where they fit
 *   include: [include, compat]         directories with headers that others build against, exposed
 *                                      under the same paths beside Module.symvers (the OFED's
 *                                      include/linux/x.h includes "../../compat/config.h")
 *   build:
 *     kbuild: [drivers/infiniband/core, ...]   external-module directories in order; each sees the
 *                                              symbols of those before it
 *     flags: ["KCFLAGS=-I%{source}/include/trace"]      added to make's command line
 *   or
 *   build:
 *     commands: [[./configure, "--kernel-version=%{kernel}", ...], [make, "-j%{jobs}"]]
 *                                              no shell; run in the source
 *     symvers: Module.symvers                  where the commands leave the symbols
 *
 * In flags and commands: %{kernel} the release, %{headers} its build directory, %{sources} the
 * kernel's source that belongs to it (Debian's headers: the -common package; else often the same),
 * %{jobs}, %{source} the scratch copy of the driver's, %{output} an empty directory for what the
 * commands install, %% a percent sign. So Debian's kernels have an OFED's
 *   ./configure --kernel-sources=%{sources} --with-linux-obj=%{headers}
 * Modules are taken from %{output} if they are there, else from where their sources are.
 */
#pragma once

#include "common/sysroot.h"
#include "common/verdict.h"

struct recipe {
	char *name, *version;
	char **vendors;                          /* four hex digits, lower case */
	char **modules, **optional, **auxiliary; /* with underscores; no name twice in all three */
	char **include;
	char **kbuild, **flags; /* kbuild empty: commands */
	char ***commands;       /* NULL-ended list of NULL-ended argv */
	char *symvers;          /* of commands; NULL */
	char digest[65];        /* of the file's bytes */
};

/*
 * All lists are there, if empty. What is wrong: RECIPE_INVALID with object "NAME:LINE:COLUMN" for
 * each, -EINVAL. -ENOENT: no such file (verdict too).
 */
int recipe_read(const struct sysroot *root, const char *path, struct recipe *ret,
		struct verdicts *why);
int recipe_parse(const char *text, size_t len, const char *name, struct recipe *ret,
		 struct verdicts *why);
void recipe_clear(struct recipe *r);
#define _cleanup_recipe_ _cleanup_(recipe_clear)

struct recipe_values {
	const char *kernel, *headers, *sources, *source, *output;
	unsigned jobs;
};

/* One word with its %{...} filled in; -EINVAL for a name that is none of the above. */
int recipe_expand(const char *word, const struct recipe_values *values, char **ret);
