/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_node.h"

#include "kernel/pci.h"

static void fake_device(const struct fake_node *node, const char *address, const char *vendor,
			const char *device, const char *class)
{
	const char *const files[][2] = { { "vendor", vendor },
					 { "device", device },
					 { "class", class } };
	_cleanup_free_ char *link = NULL, *target = NULL;

	for (size_t i = 0; i < 3; i++) {
		_cleanup_free_ char *path = NULL;

		assert_true(asprintf(&path, "sys/devices/pci0000:00/%s/%s", address, files[i][0]) >
			    0);
		fake_file(node, path, files[i][1]);
	}
	assert_true(asprintf(&link, "sys/bus/pci/devices/%s", address) > 0);
	assert_true(asprintf(&target, "../../../devices/pci0000:00/%s", address) > 0);
	assert_int_equal(sysroot_link(node->root, target, link), 0);
}

static void fake_driver(const struct fake_node *node, const char *address, const char *driver,
			const char *module)
{
	_cleanup_free_ char *link = NULL, *target = NULL, *from = NULL, *to = NULL;

	assert_true(asprintf(&link, "sys/devices/pci0000:00/%s/driver", address) > 0);
	assert_true(asprintf(&target, "/sys/bus/pci/drivers/%s", driver) > 0);
	assert_int_equal(sysroot_link(node->root, target, link), 0);
	assert_int_equal(sysroot_mkdirs(node->root, target + 1, 0755), 0);
	if (!module)
		return;
	assert_true(asprintf(&from, "%s/module", target + 1) > 0);
	assert_true(asprintf(&to, "../../../../module/%s", module) > 0);
	assert_int_equal(sysroot_link(node->root, to, from), 0);
}

static void lists_devices_by_address_with_driver_and_module(void **state)
{
	struct fake_node *node = *state;
	_cleanup_pci_ struct pci_devices devs = { 0 };

	fake_device(node, "0000:81:00.1", "0x10de\n", "0x2330\n", "0x030200\n");
	fake_device(node, "0000:01:00.0", "0x15b3\n", "0x1021\n", "0x020700\n");
	fake_device(node, "0000:00:1f.0", "0x8086\n", "0x2918\n", "0x060100\n");
	fake_driver(node, "0000:01:00.0", "mlx5_core", "mlx5_core");
	fake_driver(node, "0000:00:1f.0", "lpc_ich", NULL);
	assert_int_equal(pci_read(node->root, &devs), 0);
	assert_int_equal(devs.n, 3);

	assert_string_equal(devs.d[1].address, "0000:01:00.0");
	assert_int_equal(devs.d[1].vendor, PCI_VENDOR_MELLANOX);
	assert_int_equal(devs.d[1].device, 0x1021);
	assert_int_equal(devs.d[1].class, 0x0207);
	assert_string_equal(devs.d[1].driver, "mlx5_core");
	assert_string_equal(devs.d[1].module, "mlx5_core");

	assert_string_equal(devs.d[0].address, "0000:00:1f.0");
	assert_string_equal(devs.d[0].driver, "lpc_ich"); /* built in */
	assert_null(devs.d[0].module);

	assert_int_equal(devs.d[2].vendor, PCI_VENDOR_NVIDIA);
	assert_null(devs.d[2].driver);
	assert_null(devs.d[2].module);
}

static void a_device_that_goes_away_meanwhile_is_left_out(void **state)
{
	struct fake_node *node = *state;
	_cleanup_pci_ struct pci_devices devs = { 0 };

	fake_device(node, "0000:01:00.0", "0x15b3\n", "0x1021\n", "0x020700\n");
	fake_device(node, "0000:02:00.0", "0x15b3\n", "0x1021\n", "0x020700\n");
	assert_int_equal(sysroot_remove(node->root, "sys/devices/pci0000:00/0000:01:00.0"), 0);
	assert_int_equal(pci_read(node->root, &devs), 0);
	assert_int_equal(devs.n, 1);
	assert_string_equal(devs.d[0].address, "0000:02:00.0");
}

static void a_domain_of_more_than_four_digits_is_kept_whole(void **state)
{
	_cleanup_pci_ struct pci_devices devs = { 0 };
	struct fake_node *node = *state;

	fake_device(node, "10000:e1:00.0", "0x144d\n", "0xa80a\n", "0x010802\n");
	fake_driver(node, "10000:e1:00.0", "nvme", "nvme");
	assert_int_equal(pci_read(node->root, &devs), 0);
	assert_string_equal(devs.d[0].address, "10000:e1:00.0");
	assert_string_equal(devs.d[0].driver, "nvme");
}

static void libpci_never_ends_the_process(void **state)
{
	struct fake_node *node = *state;
	struct pci_devices devs = { 0 };

	assert_int_equal(pci_read(node->root, &devs), -ENOENT);
	assert_int_equal(sysroot_mkdirs(node->root, "sys/bus/pci", 0755), 0);
	assert_int_equal(pci_read(node->root, &devs), -EIO);
	assert_null(devs.d);
}

static void a_bus_without_devices_is_empty(void **state)
{
	_cleanup_pci_ struct pci_devices devs = { 0 };
	struct fake_node *node = *state;

	assert_int_equal(sysroot_mkdirs(node->root, "sys/bus/pci/devices", 0755), 0);
	assert_int_equal(pci_read(node->root, &devs), 0);
	assert_int_equal(devs.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(lists_devices_by_address_with_driver_and_module),
		on_a_node(a_device_that_goes_away_meanwhile_is_left_out),
		on_a_node(a_domain_of_more_than_four_digits_is_kept_whole),
		on_a_node(libpci_never_ends_the_process),
		on_a_node(a_bus_without_devices_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
