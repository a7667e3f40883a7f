/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_node.h"

#include "tree/distribution.h"

#define KERNEL "6.1.0-56-none"
#define SLES "6.4.0-150600.21-default"
#define RHEL "5.14.0-503.el9.x86_64"

static void knows_the_package_of_each_distribution(void **state)
{
	static const struct {
		const char *release, *kernel, *package;
	} cases[] = {
		{ "ID=debian\n", KERNEL, "linux-headers-" KERNEL },
		{ "NAME=\"x\"\nID=\"linuxmint\"\nID_LIKE=\"ubuntu debian\"\n", KERNEL,
		  "linux-headers-" KERNEL },
		{ "ID='rocky'\n", RHEL, "kernel-devel-" RHEL },
		{ "ID=\"rhel\"\n", RHEL "+rt", "kernel-rt-devel-" RHEL },
		{ "ID=\"rhel\"\n", RHEL "+64k", "kernel-64k-devel-" RHEL },
		{ "ID=rhel\n", "4.18.0-553.rt7.342.el8_10.x86_64",
		  "kernel-rt-devel-4.18.0-553.rt7.342.el8_10.x86_64" },
		{ "ID=ol\n", "5.15.0-200.el9uek.x86_64",
		  "kernel-uek-devel-5.15.0-200.el9uek.x86_64" },
		{ "ID=\"sles\"\n", SLES, "kernel-default-devel=6.4.0-150600.21" },
		{ "ID=\"opensuse-leap\"\n", SLES, "kernel-default-devel=6.4.0-150600.21" },
		{ "ID=\"rhcos\"\nID_LIKE=\"rhel fedora\"\n", RHEL, "the headers of kernel " RHEL },
		{ "ID=fedora\nVARIANT_ID=coreos\n", RHEL, "the headers of kernel " RHEL },
		{ "ID=bottlerocket\n", KERNEL, "the headers of kernel " KERNEL },
		{ "# ID=debian\nID", KERNEL, "the headers of kernel " KERNEL },
		{ "", KERNEL, "the headers of kernel " KERNEL },
	};
	const struct fake_node *node = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_free_ char *package = NULL;

		fake_file(node, "usr/lib/os-release", cases[i].release);
		assert_int_equal(distribution_package(node->root, cases[i].kernel, &package), 0);
		assert_string_equal(package, cases[i].package);
	}
}

static void reads_etc_before_usr(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_free_ char *none = NULL, *package = NULL;

	assert_int_equal(distribution_package(node->root, KERNEL, &none), 0);
	assert_string_equal(none, "the headers of kernel " KERNEL);
	fake_file(node, "usr/lib/os-release", "ID=fedora\n");
	fake_file(node, "etc/os-release", "ID=debian\n");
	assert_int_equal(distribution_package(node->root, KERNEL, &package), 0);
	assert_string_equal(package, "linux-headers-" KERNEL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(knows_the_package_of_each_distribution),
		on_a_node(reads_etc_before_usr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
