/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many compilers at once: CPUs by affinity and by the cgroup's cpu.max (rounded up), and no
 * more than its free memory carries (memory.max less what is in use and not mere file cache, at
 * 256 MiB a compiler; fewer jobs, never an OOM kill). cgroup v2
 * (Documentation/admin-guide/cgroup-v2.rst), the whole path up to the root; v1's cpu.cfs_quota_us
 * and memory.limit_in_bytes where there is no v2. At least 1.
 */
#pragma once

#include "common/sysroot.h"

unsigned jobs_count(const struct sysroot *root);
/* The pure part. quota_us 0: no quota; free_bytes 0: no limit. */
unsigned jobs_decide(unsigned cpus, unsigned long long quota_us, unsigned long long period_us,
		     unsigned long long free_bytes);
