/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is not a module but has to survive a swap: saved before, put back after, whichever way the
 * swap went, and by recovery too. save() first writes what is there to fd (run/gdrkit/saved/NAME,
 * in one write), then sets what the swap needs; restore() reads fd. A guard whose file is empty was
 * cut off before it changed anything, or found nothing to change. restore() may run twice.
 */
#pragma once

#include "common/sysroot.h"
#include "common/verdict.h"

struct guard {
	const char *name;
	const char *path; /* what it sets, for GUARD_FAILED where restore() does not say better */
	/* modules: all that the swap moves, NULL-ended */
	int (*save)(const struct guard *g, const struct sysroot *root, int fd,
		    char *const modules[]);
	int (*restore)(const struct guard *g, const struct sysroot *root, int fd,
		       struct verdicts *why);
};

/* `install NAME /bin/false` in run/modprobe.d: new modprobe processes load none of the modules */
extern const struct guard guard_install;
/* sys/bus/pci/drivers_autoprobe 0: nothing binds, so nothing is autoloaded, until all are in */
extern const struct guard guard_autoprobe;
/* sys/kernel/rcu_expedited 1: unloading is mostly waiting for RCU */
extern const struct guard guard_rcu_expedited;

/* The three above, in that order; NULL-ended. */
extern const struct guard *const guards_of_every_swap[];

/*
 * What is still saved from an earlier time is put back first. GUARD_FAILED names the path that
 * could not be written; then nothing stays set.
 */
int guard_save(const struct guard *g, const struct sysroot *root, char *const modules[],
	       struct verdicts *why);
/* Not saved: nothing to do. */
int guard_restore(const struct guard *g, const struct sysroot *root, struct verdicts *why);
