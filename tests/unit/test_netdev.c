/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_node.h"

#include "kernel/netdev.h"

static void attr(const struct fake_node *node, const char *name, const char *file, const char *text)
{
	_cleanup_free_ char *path = NULL;

	assert_true(asprintf(&path, "sys/class/net/%s/%s", name, file) > 0);
	fake_file(node, path, text);
}

static void link_to(const struct fake_node *node, const char *name, const char *link,
		    const char *target)
{
	_cleanup_free_ char *path = NULL;

	assert_true(asprintf(&path, "sys/class/net/%s/%s", name, link) > 0);
	assert_int_equal(sysroot_link(node->root, target, path), 0);
}

/* type: "1" for Ethernet, "32" for InfiniBand */
static void fake_netdev(const struct fake_node *node, const char *name, const char *module,
			const char *type, const char *flags)
{
	_cleanup_free_ char *target = NULL;

	attr(node, name, "type", type);
	attr(node, name, "flags", flags);
	assert_true(asprintf(&target, "../../../../module/%s", module) > 0);
	link_to(node, name, "device/driver/module", target);
}

static char *const mlx5[] = { (char[]){ "mlx5_core" }, (char[]){ "ib_ipoib" }, NULL };

static struct netdevs read_node(const struct fake_node *node)
{
	struct netdevs devs = { 0 };

	assert_int_equal(netdevs_read(node->root, mlx5, &devs), 0);
	return devs;
}

static void lists_netdevs_of_the_modules_asked_for(void **state)
{
	_cleanup_netdevs_ struct netdevs devs = { 0 };

	fake_netdev(*state, "gdr-a", "mlx5_core", "1\n", "0x1002\n");
	fake_netdev(*state, "gdr-b", "e1000e", "1\n", "0x1003\n");
	attr(*state, "lo", "type", "772\n");
	devs = read_node(*state);
	assert_int_equal(devs.n, 1);
	assert_string_equal(devs.d[0].name, "gdr-a");
	assert_string_equal(devs.d[0].module, "mlx5_core");
	assert_null(devs.d[0].use);
}

static void an_ipoib_device_is_ib_ipoibs_whatever_its_pci_driver(void **state)
{
	_cleanup_netdevs_ struct netdevs devs = { 0 };

	fake_netdev(*state, "ibp1", "mlx5_core", "32\n", "0x1002\n");
	devs = read_node(*state);
	assert_int_equal(devs.n, 1);
	assert_string_equal(devs.d[0].module, "ib_ipoib");
}

static void says_who_uses_it(void **state)
{
	_cleanup_netdevs_ struct netdevs devs = { 0 };

	fake_netdev(*state, "gdr-a", "mlx5_core", "1\n", "0x1003\n");
	link_to(*state, "gdr-a", "master", "../bond0");
	link_to(*state, "gdr-a", "upper_bond0", "../bond0");
	link_to(*state, "gdr-a", "upper_vlan5", "../vlan5");
	devs = read_node(*state);
	assert_string_equal(devs.d[0].use, "up, member of bond0, below vlan5");
}

/* The only netdev that every machine has up and with an address. */
static void an_address_is_a_use(void **state)
{
	_cleanup_netdevs_ struct netdevs devs = { 0 };

	fake_netdev(*state, "lo", "mlx5_core", "1\n", "0x9\n");
	devs = read_node(*state);
	assert_int_equal(strncmp(devs.d[0].use, "up, 127.0.0.1/8", 15), 0);
}

static void without_netdevs_at_all_there_is_no_answer(void **state)
{
	struct netdevs devs = { 0 };

	assert_int_equal(netdevs_read(((struct fake_node *)*state)->root, mlx5, &devs), -ENOENT);
	assert_null(devs.d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(lists_netdevs_of_the_modules_asked_for),
		on_a_node(an_ipoib_device_is_ib_ipoibs_whatever_its_pci_driver),
		on_a_node(says_who_uses_it),
		on_a_node(an_address_is_a_use),
		on_a_node(without_netdevs_at_all_there_is_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
