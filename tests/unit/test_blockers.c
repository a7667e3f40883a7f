/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fake_tree.h"

#include <fcntl.h>

#include "ofed/blockers.h"

#define MOUNTS "36 35 98:0 / / rw,noatime shared:1 - ext4 /dev/vda1 rw\n"
#define NFS "40 36 0:50 / /data rw - nfs4 server:/export rw,vers=4.2,proto=rdma,port=20049\n"

static char *const going[] = { "mlx5_core", "rpcrdma", NULL };

/* A PCI NIC whose driver is in mlx5_core, with these flags. */
static void fake_nic(const struct fake_node *node, const char *name, const char *flags)
{
	_cleanup_free_ char *flags_path = NULL, *device = NULL, *type = NULL;

	fake_file(node, "sys/module/mlx5_core/initstate", "live\n");
	fake_file(node, "sys/bus/pci/drivers/mlx5_core/bind", "");
	assert_int_equal(sysroot_link(node->root, "../../../../module/mlx5_core",
				      "sys/bus/pci/drivers/mlx5_core/module"),
			 0);
	fake_file(node, "sys/devices/pci0/vendor", "0x15b3\n");
	assert_int_equal(sysroot_link(node->root, "../../bus/pci/drivers/mlx5_core",
				      "sys/devices/pci0/driver"),
			 0);
	assert_true(asprintf(&flags_path, "sys/class/net/%s/flags", name) > 0);
	assert_true(asprintf(&type, "sys/class/net/%s/type", name) > 0);
	assert_true(asprintf(&device, "sys/class/net/%s/device", name) > 0);
	fake_file(node, flags_path, flags);
	fake_file(node, type, "1\n");
	assert_int_equal(sysroot_link(node->root, "../../../devices/pci0", device), 0);
}

static void names_a_configured_netdev_its_use_and_its_module(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_verdicts_ struct verdicts why = { 0 };

	fake_file(node, "proc/1/mountinfo", MOUNTS);
	fake_nic(node, "ens1np0", "0x1003\n");
	assert_int_equal(blockers_of_modules(node->root, going, &why), 0);
	assert_says(&why, NETWORK_IN_USE, "ens1np0", "up");
	assert_says(&why, NETWORK_IN_USE, "ens1np0", "mlx5_core");
	assert_int_equal(verdicts_exit(&why), 1);
}

static void lets_a_netdev_go_that_nobody_configured(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_verdicts_ struct verdicts why = { 0 };

	fake_file(node, "proc/1/mountinfo", MOUNTS);
	fake_nic(node, "ens1np0", "0x1002\n");
	assert_int_equal(blockers_of_modules(node->root, going, &why), 0);
	assert_int_equal(why.n, 0);
}

static void names_a_mount_that_rides_on_a_module_that_goes(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_verdicts_ struct verdicts why = { 0 };

	fake_file(node, "sys/class/net/unused", "");
	fake_file(node, "proc/1/mountinfo", MOUNTS NFS);
	assert_int_equal(blockers_of_modules(node->root, going, &why), 0);
	assert_says(&why, STORAGE_IN_USE, "/data", "server:/export");
	assert_says(&why, STORAGE_IN_USE, "/data", "rpcrdma");
}

static void lets_a_mount_stay_whose_module_stays(void **state)
{
	const struct fake_node *node = *state;
	char *const other[] = { "rdma_rxe", NULL };
	_cleanup_verdicts_ struct verdicts why = { 0 };

	fake_file(node, "sys/class/net/unused", "");
	fake_file(node, "proc/1/mountinfo", MOUNTS NFS);
	assert_int_equal(blockers_of_modules(node->root, other, &why), 0);
	assert_int_equal(why.n, 0);
}

static void asks_nothing_where_nothing_goes(void **state)
{
	const struct fake_node *node = *state;
	char *const none[] = { NULL };
	_cleanup_verdicts_ struct verdicts why = { 0 };

	assert_int_equal(blockers_of_modules(node->root, none, &why), 0);
	assert_int_equal(why.n, 0);
}

static void judges_only_what_the_steps_unload(void **state)
{
	const struct fake_node *node = *state;
	struct swap_module core = { .name = "mlx5_core" }, xprt = { .name = "rpcrdma" };
	struct step s[] = { { .op = STEP_UNLOAD, .m = &core }, { .op = STEP_LOAD, .m = &xprt } };
	const struct steps steps = { .s = s, .n = 2 };
	_cleanup_verdicts_ struct verdicts why = { 0 };

	fake_file(node, "proc/1/mountinfo", MOUNTS NFS);
	fake_nic(node, "ens1np0", "0x1003\n");
	assert_int_equal(blockers_judge(node->root, NULL, &steps, &why), 0);
	assert_int_equal(why.n, 1);
	assert_says(&why, NETWORK_IN_USE, "ens1np0", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(names_a_configured_netdev_its_use_and_its_module),
		on_a_node(lets_a_netdev_go_that_nobody_configured),
		on_a_node(names_a_mount_that_rides_on_a_module_that_goes),
		on_a_node(lets_a_mount_stay_whose_module_stays),
		on_a_node(asks_nothing_where_nothing_goes),
		on_a_node(judges_only_what_the_steps_unload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
