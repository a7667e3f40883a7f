/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a swap would cut off although no module holds it: netdevs that are configured, and mounts
 * that ride on RDMA. The judge that ofed gives to the swap. Until network state is kept across a
 * swap, both refuse.
 */
#pragma once

#include "common/sysroot.h"
#include "swap/plan.h"

/* data: the node's const struct sysroot. As swap_request.judge. */
int blockers_judge(void *data, const struct swap_facts *facts, const struct steps *steps,
		   struct verdicts *why);

/* The same for names of modules that go, NULL-ended. */
int blockers_of_modules(const struct sysroot *root, char *const modules[], struct verdicts *why);
