/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_node.h"

#include <sched.h>

#include "tree/jobs.h"

#define MIB (1ULL << 20)

/* Those this process may use: what a cgroup cannot raise. */
static unsigned cpus(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	return (unsigned)CPU_COUNT(&set);
}

static void takes_the_least_of_cpus_quota_and_memory(void **state)
{
	(void)state;
	assert_int_equal(jobs_decide(8, 0, 0, 0), 8);
	assert_int_equal(jobs_decide(8, 200000, 100000, 0), 2);
	assert_int_equal(jobs_decide(8, 250000, 100000, 0), 3);
	assert_int_equal(jobs_decide(8, 1600000, 100000, 0), 8);
	assert_int_equal(jobs_decide(8, 0, 0, 1024 * MIB), 4);
	assert_int_equal(jobs_decide(8, 200000, 100000, 1024 * MIB), 2);
	assert_int_equal(jobs_decide(8, ~0ULL, 1, ~0ULL), 8);
}

static void is_one_at_least(void **state)
{
	(void)state;
	assert_int_equal(jobs_decide(0, 0, 0, 0), 1);
	assert_int_equal(jobs_decide(8, 1, 100000, 0), 1);
	assert_int_equal(jobs_decide(8, 0, 0, 1), 1);
}

static void is_the_number_of_cpus_where_there_is_no_cgroup(void **state)
{
	assert_int_equal(jobs_count(((struct fake_node *)*state)->root), cpus());
}

static void obeys_the_quota_of_a_cgroup_above_its_own(void **state)
{
	struct fake_node *node = *state;

	fake_file(node, "proc/self/cgroup", "0::/kubepods/pod1/build\n");
	fake_file(node, "sys/fs/cgroup/kubepods/pod1/build/cpu.max", "max 100000\n");
	fake_file(node, "sys/fs/cgroup/kubepods/cpu.max", "max 100000\n");
	assert_int_equal(jobs_count(node->root), cpus());
	fake_file(node, "sys/fs/cgroup/kubepods/pod1/cpu.max", "100000 100000\n");
	assert_int_equal(jobs_count(node->root), 1);
}

static void obeys_the_memory_that_a_cgroup_has_left(void **state)
{
	struct fake_node *node = *state;

	fake_file(node, "proc/self/cgroup", "0::/build\n");
	fake_file(node, "sys/fs/cgroup/build/memory.max", "68719476736\n");
	fake_file(node, "sys/fs/cgroup/build/memory.current", "1000000\n");
	assert_int_equal(jobs_count(node->root), jobs_decide(cpus(), 0, 0, 68718476736));
	fake_file(node, "sys/fs/cgroup/build/memory.current", "68719476736\n");
	assert_int_equal(jobs_count(node->root), 1);
}

static void does_not_count_file_cache_as_memory_in_use(void **state)
{
	struct fake_node *node = *state;

	fake_file(node, "proc/self/cgroup", "0::/build\n");
	fake_file(node, "sys/fs/cgroup/build/memory.max", "68719476736\n");
	fake_file(node, "sys/fs/cgroup/build/memory.current", "68719476736\n");
	fake_file(node, "sys/fs/cgroup/build/memory.stat",
		  "anon 4096\ninactive_file 68000000000\nslab 1\n");
	assert_int_equal(jobs_count(node->root), jobs_decide(cpus(), 0, 0, 68000000000));
}

static void knows_the_first_version_of_cgroups(void **state)
{
	struct fake_node *node = *state;

	fake_file(node, "proc/self/cgroup", "9:cpu,cpuacct:/a\n4:memory:/b\n0::/\n");
	fake_file(node, "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
	fake_file(node, "sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
	fake_file(node, "sys/fs/cgroup/memory/b/memory.limit_in_bytes", "9223372036854771712\n");
	fake_file(node, "sys/fs/cgroup/memory/b/memory.usage_in_bytes", "1000\n");
	assert_int_equal(jobs_count(node->root), cpus());
	fake_file(node, "sys/fs/cgroup/memory/b/memory.limit_in_bytes", "268436456\n");
	assert_int_equal(jobs_count(node->root), 1);
	fake_file(node, "sys/fs/cgroup/memory/b/memory.limit_in_bytes", "9223372036854771712\n");
	fake_file(node, "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n");
	assert_int_equal(jobs_count(node->root), 1);
}

static void passes_over_what_it_cannot_read(void **state)
{
	struct fake_node *node = *state;

	fake_file(node, "proc/self/cgroup", "nonsense\n0::/a/../../b\n1:cpu\n:::\n");
	fake_file(node, "sys/fs/cgroup/cpu.max", "lots\n");
	fake_file(node, "sys/fs/cgroup/memory.max", "-5\n");
	assert_int_equal(jobs_count(node->root), cpus());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_least_of_cpus_quota_and_memory),
		cmocka_unit_test(is_one_at_least),
		on_a_node(is_the_number_of_cpus_where_there_is_no_cgroup),
		on_a_node(obeys_the_quota_of_a_cgroup_above_its_own),
		on_a_node(obeys_the_memory_that_a_cgroup_has_left),
		on_a_node(does_not_count_file_cache_as_memory_in_use),
		on_a_node(knows_the_first_version_of_cgroups),
		on_a_node(passes_over_what_it_cannot_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
