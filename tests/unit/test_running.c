/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_node.h"

#include <sys/utsname.h>

#include "kernel/running.h"

static const char notes[] = "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\x5e\x1f\x0c\x2d";

static struct running read_node(struct fake_node *node)
{
	struct running k = { 0 };

	assert_int_equal(running_read(node->root, &k), 0);
	return k;
}

static void add_boot_id(struct fake_node *node)
{
	fake_file(node, "proc/sys/kernel/random/boot_id", "4c1d8f0a-0000-0000-0000-000000000001\n");
}

static void tells_release_machine_boot_and_build(void **state)
{
	_cleanup_running_ struct running k = { 0 };
	struct fake_node *node = *state;
	struct utsname un;

	add_boot_id(node);
	assert_int_equal(
		sysroot_replace(node->root, "sys/kernel/notes", 0644, notes, sizeof(notes) - 1), 0);
	assert_int_equal(uname(&un), 0);
	k = read_node(node);
	assert_string_equal(k.release, un.release);
	assert_string_equal(k.machine, un.machine);
	assert_string_equal(k.boot_id, "4c1d8f0a-0000-0000-0000-000000000001");
	assert_string_equal(k.build_id, "5e1f0c2d");
}

static void without_a_boot_id_there_is_no_answer(void **state)
{
	struct running k = { .release = (char *)1 };

	assert_int_equal(running_read(((struct fake_node *)*state)->root, &k), -ENOENT);
	assert_ptr_equal(k.release, (char *)1);
}

static void what_is_not_there_is_not_known(void **state)
{
	_cleanup_running_ struct running k = { 0 };

	add_boot_id(*state);
	k = read_node(*state);
	assert_null(k.build_id);
	assert_false(k.sig_enforce);
	assert_false(k.lockdown);
	assert_false(k.lockdown_hidden);
}

static void tells_whether_signatures_are_enforced(void **state)
{
	static const char *const says[] = { "N\n", "Y\n" };

	add_boot_id(*state);
	for (size_t i = 0; i < 2; i++) {
		_cleanup_running_ struct running k = { 0 };

		fake_file(*state, "sys/module/module/parameters/sig_enforce", says[i]);
		k = read_node(*state);
		assert_int_equal(k.sig_enforce, i);
	}
}

static void tells_whether_the_kernel_is_locked_down(void **state)
{
	static const struct {
		const char *text;
		bool lockdown;
	} cases[] = {
		{ "[none] integrity confidentiality\n", false },
		{ "none [integrity] confidentiality\n", true },
		{ "none integrity [confidentiality]\n", true },
	};

	add_boot_id(*state);
	for (size_t i = 0; i < 3; i++) {
		_cleanup_running_ struct running k = { 0 };

		fake_file(*state, "sys/kernel/security/lockdown", cases[i].text);
		k = read_node(*state);
		assert_false(k.lockdown_hidden);
		assert_int_equal(k.lockdown, cases[i].lockdown);
	}
}

static void a_lockdown_is_hidden_where_securityfs_is_not_mounted(void **state)
{
	_cleanup_running_ struct running unmounted = { 0 }, without = { 0 };
	struct fake_node *node = *state;

	add_boot_id(node);
	assert_int_equal(sysroot_mkdirs(node->root, "sys/kernel/security", 0755), 0);
	unmounted = read_node(node);
	assert_true(unmounted.lockdown_hidden);
	fake_file(node, "sys/kernel/security/lsm", "capability");
	without = read_node(node);
	assert_false(without.lockdown_hidden);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(tells_release_machine_boot_and_build),
		on_a_node(without_a_boot_id_there_is_no_answer),
		on_a_node(what_is_not_there_is_not_known),
		on_a_node(tells_whether_signatures_are_enforced),
		on_a_node(tells_whether_the_kernel_is_locked_down),
		on_a_node(a_lockdown_is_hidden_where_securityfs_is_not_mounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
