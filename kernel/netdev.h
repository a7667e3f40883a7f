/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netdevs and the module that each stands on (sys/class/net/N/device/driver/module; IPoIB: ib_ipoib
 * by its type 32), and whether anybody uses them: up, an address (of this network namespace), a
 * master, something stacked above.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/sysroot.h"

struct netdev {
	char *name, *module;
	char *use; /* "up, 10.0.0.1/24, member of bond0, below vlan5"; NULL: not configured */
};

struct netdevs {
	struct netdev *d;
	size_t n;
};

/* Those of modules in `modules` (NULL-ended) only. */
int netdevs_read(const struct sysroot *root, char *const modules[], struct netdevs *ret);
void netdevs_clear(struct netdevs *devs);
#define _cleanup_netdevs_ _cleanup_(netdevs_clear)
