/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_tree.h"

#include "tree/ready.h"

#define PATH "run/mellanox/drivers/.driver-ready"
#define BOOT "0b6e1f00-0000-4000-8000-000000000000"

/* The ready file of fake_tree's two modules, of which those that the node has are live. */
static struct ready ready_now(const struct fake_node *node)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_(tree_freep) struct tree *t = NULL;
	struct ready r;

	fake_tree(node, "tree", &(struct fake_tree){ "k", "1.2", "6.1.0", "x86_64" });
	assert_int_equal(tree_open(node->root, "tree", &t, &why), 0);
	assert_int_equal(ready_of(node->root, &t->manifest, t->digest, BOOT, "rev1",
				  "2026-01-02T03:04:05Z", &r),
			 0);
	return r;
}

static void says_what_is_live_and_reads_it_again(void **state)
{
	struct fake_node *node = *state;
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_ready_ struct ready r = { 0 }, again = { 0 };
	_cleanup_free_ char *text = NULL;

	fake_module(node, "ib_core", "533BB7E5866E52F63B9ACCB");
	r = ready_now(node);
	assert_int_equal(r.n_modules, 1);
	assert_int_equal(ready_write(node->root, PATH, &r), 0);
	assert_int_equal(sysroot_read(node->root, PATH, 1 << 16, &text, NULL), 0);
	assert_non_null(strstr(text, "BOOT_ID=" BOOT "\nKERNEL=6.1.0\nDRIVER=x\n"
				     "DRIVER_VERSION=1.2\nREVISION=rev1\nTREE_DIGEST="));
	assert_non_null(strstr(text, "\nSTARTED=2026-01-02T03:04:05Z\nREADY=20"));
	assert_non_null(strstr(text, "\nSRCVERSION_ib_core=533BB7E5866E52F63B9ACCB\n"));
	assert_int_equal(ready_read(node->root, PATH, &again), 0);
	assert_string_equal(again.ready, r.ready);
	assert_string_equal(again.modules[0].name, "ib_core");
	assert_true(identity_same(&again.modules[0].id, &r.modules[0].id));
	assert_int_equal(ready_check_live(node->root, &again, &why), 0);
	ready_judge(&again, BOOT, "6.1.0", &why);
	assert_int_equal(why.n, 0);
}

static void tells_modules_without_srcversion_by_their_build_id(void **state)
{
	struct fake_node *node = *state;
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_ready_ struct ready r = { 0 };

	fake_file(node, PATH,
		  "BOOT_ID=b\nKERNEL=k\nSRCVERSION_ib_core=build-id:0a0b0c0d\nLATER=x\n");
	assert_int_equal(ready_read(node->root, PATH, &r), 0);
	assert_string_equal(r.modules[0].id.build_id, "0a0b0c0d");
	assert_string_equal(r.modules[0].id.srcversion, "");
	assert_null(r.revision);
	fake_module_file(node, "ib_core", "initstate", "live\n");
	assert_int_equal(ready_check_live(node->root, &r, &why), 0);
	assert_says(&why, STALE_READY, "ib_core", "build-id 0a0b0c0d");
	assert_int_equal(ready_write(node->root, "again", &r), 0);
	assert_file(node, "again", "BOOT_ID=b\nKERNEL=k\nSRCVERSION_ib_core=build-id:0a0b0c0d\n");
}

static void is_stale_in_another_boot_or_kernel(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_ready_ struct ready r = { 0 };

	r = ready_now(*state);
	ready_judge(&r, "another", "6.1.0", &why);
	assert_int_equal(why.n, 1);
	assert_says(&why, STALE_READY, "BOOT_ID", "another");
	verdicts_clear(&why);
	ready_judge(&r, BOOT, "6.2.0", &why);
	assert_int_equal(why.n, 1);
	assert_says(&why, STALE_READY, "KERNEL", "6.2.0");
}

static void is_stale_when_a_module_went_or_changed(void **state)
{
	struct fake_node *node = *state;
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_ready_ struct ready r = { 0 };

	fake_module(node, "ib_core", "AAAA");
	fake_module(node, "rdma_rxe", "BBBB");
	r = ready_now(node);
	fake_module(node, "ib_core", "CCCC");
	fake_unload(node, "rdma_rxe");
	assert_int_equal(ready_check_live(node->root, &r, &why), 0);
	assert_int_equal(why.n, 2);
	assert_says(&why, STALE_READY, "ib_core", "live: srcversion CCCC");
	assert_says(&why, STALE_READY, "rdma_rxe", "live: not at all");
}

static void refuses_what_is_no_ready_file(void **state)
{
	static const char *const cases[] = {
		"",
		"KERNEL=k\n",
		"BOOT_ID=a\n",
		"BOOT_ID=a\nBOOT_ID=b\nKERNEL=k\n",
		"BOOT_ID=a\nKERNEL=k\nnonsense\n",
		"BOOT_ID=a\nKERNEL=k\nSRCVERSION_x=\n",
		"BOOT_ID=a\nKERNEL=k\nSRCVERSION_x=0123456789012345678901234567890123456789\n",
	};
	struct fake_node *node = *state;
	struct ready r;

	assert_int_equal(ready_read(node->root, PATH, &r), -ENOENT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fake_file(node, PATH, cases[i]);
		assert_int_equal(ready_read(node->root, PATH, &r), -EBADMSG);
	}
}

static void writes_no_value_that_would_be_two_lines(void **state)
{
	struct fake_node *node = *state;
	struct ready r = { .boot_id = "b", .kernel = "k", .revision = "x\nKERNEL=other" };

	assert_int_equal(ready_write(node->root, PATH, &r), -EINVAL);
	assert_false(sysroot_exists(node->root, PATH));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(says_what_is_live_and_reads_it_again),
		on_a_node(tells_modules_without_srcversion_by_their_build_id),
		on_a_node(is_stale_in_another_boot_or_kernel),
		on_a_node(is_stale_when_a_module_went_or_changed),
		on_a_node(refuses_what_is_no_ready_file),
		on_a_node(writes_no_value_that_would_be_two_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
