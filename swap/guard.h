/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is not a module but has to survive a swap: saved before, put back after, whichever way the swap went, and by recovery too. save() first writes what is there to fd
 * (run/gdrkit/saved/NAME), then sets what the swap needs; restore() reads fd. A guard whose file is empty was cut off before it changed anything.
 * restore() may run twice.
 */
#pragma once

#include "common/sysroot.h"
#include "common/verdict.h"

struct guard {
	const char *name;
	/* modules: all that the swap moves, NULL-ended */
	int (*save)(const struct sysroot *root, int fd, char *const modules[]);
	int (*restore)(const struct sysroot *root, int fd, struct verdicts *why);
};

extern const struct guard guard_install;       /* `install NAME /bin/false` in run/modprobe.d: new modprobe processes load none of them */
extern const struct guard guard_autoprobe;     /* sys/bus/pci/drivers_autoprobe 0: nothing binds, so nothing is autoloaded, until all modules are in */
extern const struct guard guard_rcu_expedited; /* sys/kernel/rcu_expedited 1: unloading is mostly waiting for RCU */

/* The three above, in that order; NULL-ended. */
extern const struct guard *const guards_of_every_swap[];

int guard_save(const struct guard *g, const struct sysroot *root, char *const modules[], struct verdicts *why);
/* Not saved: nothing to do. */
int guard_restore(const struct guard *g, const struct sysroot *root, struct verdicts *why);
