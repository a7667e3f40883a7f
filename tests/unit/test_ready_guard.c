/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_node.h"

#include "ofed/ready_guard.h"

#define READY "run/mellanox/drivers/.driver-ready"
#define TEXT                                                                             \
	"BOOT_ID=b\nKERNEL=6.1\nDRIVER=d\nDRIVER_VERSION=1\nREVISION=r\nTREE_DIGEST=t\n" \
	"STARTED=2026-01-01T00:00:00Z\nREADY=2026-01-01T00:00:01Z\nSRCVERSION_ib_core=AAAA\n"

static void put_up(const struct fake_node *node)
{
	const struct guard g = ready_guard(READY);
	_cleanup_verdicts_ struct verdicts why = { 0 };
	char *const modules[] = { NULL };

	fake_module(node, "ib_core", "AAAA");
	fake_file(node, READY, TEXT);
	assert_int_equal(guard_save(&g, node->root, modules, &why), 0);
	assert_false(sysroot_exists(node->root, READY));
}

static void take_down(const struct fake_node *node)
{
	const struct guard g = ready_guard(READY);
	_cleanup_verdicts_ struct verdicts why = { 0 };

	assert_int_equal(guard_restore(&g, node->root, &why), 0);
	assert_int_equal(why.n, 0);
	assert_false(sysroot_exists(node->root, "run/gdrkit/saved/ready"));
}

static void is_back_byte_for_byte_where_what_it_describes_is_live(void **state)
{
	put_up(*state);
	take_down(*state);
	assert_file(*state, READY, TEXT);
}

static void stays_away_where_another_stack_is_live(void **state)
{
	const struct fake_node *node = *state;

	put_up(node);
	fake_module(node, "ib_core", "BBBB");
	take_down(node);
	assert_false(sysroot_exists(node->root, READY));
}

static void does_nothing_where_there_was_none(void **state)
{
	const struct fake_node *node = *state;
	const struct guard g = ready_guard(READY);
	_cleanup_verdicts_ struct verdicts why = { 0 };
	char *const modules[] = { NULL };

	assert_int_equal(guard_save(&g, node->root, modules, &why), 0);
	take_down(node);
	assert_false(sysroot_exists(node->root, READY));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_node_make, fake_node_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_back_byte_for_byte_where_what_it_describes_is_live),
		TEST(stays_away_where_another_stack_is_live),
		TEST(does_nothing_where_there_was_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
