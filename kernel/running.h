/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel that runs: release and machine (uname(2)), boot id (proc/sys/kernel/random/boot_id),
 * build-id (the GNU note in sys/kernel/notes), and whether it insists on signatures
 * (sys/module/module/parameters/sig_enforce, sys/kernel/security/lockdown).
 */
#pragma once

#include <stdbool.h>

#include "common/sysroot.h"

struct running {
	char *release, *machine; /* "6.1.0-56-amd64", "x86_64" */
	char *boot_id;
	char *build_id; /* hex; NULL: could not be read */
	bool sig_enforce, lockdown;
	bool lockdown_hidden; /* the kernel may have it, but securityfs is not mounted */
};

int running_read(const struct sysroot *root, struct running *ret);
void running_clear(struct running *r);
#define _cleanup_running_ _cleanup_(running_clear)
