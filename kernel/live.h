/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live modules: proc/modules for the whole set at one moment (kernel/module/procfs.c),
 * sys/module/NAME for one of them (kernel/module/sysfs.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/sysroot.h"
#include "kernel/identity.h"

enum module_state { MODULE_LIVE, MODULE_COMING, MODULE_GOING };

struct live_module {
	char *name;
	/* all references, those of holders too; -1: the module cannot be unloaded ([permanent]) */
	int refcount;
	char **holders; /* modules that use it; NULL-ended, sorted */
	enum module_state state;
};

struct live {
	struct live_module *m; /* sorted by name */
	size_t n;
};

/* -EBADMSG: a line of proc/modules is of another form. */
int live_read(const struct sysroot *root, struct live *ret);
void live_clear(struct live *live);
#define _cleanup_live_ _cleanup_(live_clear)
/* - and _ are the same. */
const struct live_module *live_find(const struct live *live, const char *name);

/*
 * -ENOENT: not live (a module that is coming or going counts as not there:
 * sys/module/NAME/initstate).
 */
int live_identity(const struct sysroot *root, const char *name, struct identity *ret);
/* "O", "OE", ...; -ENOENT. */
int live_taint(const struct sysroot *root, const char *name, char **ret);
/*
 * "name=value" for each readable file in sys/module/NAME/parameters, sorted, NULL-ended. None: an
 * empty array.
 */
int live_parameters(const struct sysroot *root, const char *name, char ***ret);
