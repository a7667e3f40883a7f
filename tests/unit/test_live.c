/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_node.h"

#include "kernel/live.h"

static const char modules[] = "rdma_rxe 180224 0 - Live 0x0000000000000000\n"
			      "ib_core 450560 2 rdma_rxe,ib_uverbs, Live 0x0000000000000000 (OE)\n"
			      "ib_uverbs 176128 1 rdma_rxe, Live 0xffffffffc0a00000\n"
			      "nfit 77824 1 - Unloading 0x0000000000000000\n"
			      "mlx5_core 2158592 0 - Loading 0x0000000000000000\n"
			      "binfmt 24576 1 [permanent], Live 0x0000000000000000\n"
			      "both 24576 3 rdma_rxe,[permanent], Live 0x0000000000000000\n";

static struct live read_list(struct fake_node *node, const char *text)
{
	struct live live = { 0 };

	fake_file(node, "proc/modules", text);
	assert_int_equal(live_read(node->root, &live), 0);
	return live;
}

static void lists_modules_by_name_with_refcount_and_holders(void **state)
{
	_cleanup_live_ struct live live = read_list(*state, modules);
	const struct live_module *m = live_find(&live, "ib_core");

	assert_int_equal(live.n, 7);
	for (size_t i = 1; i < live.n; i++)
		assert_true(strcmp(live.m[i - 1].name, live.m[i].name) < 0);
	assert_non_null(m);
	assert_int_equal(m->refcount, 2);
	assert_string_equal(m->holders[0], "ib_uverbs");
	assert_string_equal(m->holders[1], "rdma_rxe");
	assert_null(m->holders[2]);
	assert_int_equal(m->state, MODULE_LIVE);
	assert_null(live_find(&live, "rdma_rxe")->holders[0]);
	assert_null(live_find(&live, "nothing"));
}

static void dashes_and_underscores_are_the_same(void **state)
{
	_cleanup_live_ struct live live = read_list(*state, modules);

	assert_ptr_equal(live_find(&live, "ib-core"), live_find(&live, "ib_core"));
}

static void tells_modules_that_come_and_go(void **state)
{
	_cleanup_live_ struct live live = read_list(*state, modules);

	assert_int_equal(live_find(&live, "nfit")->state, MODULE_GOING);
	assert_int_equal(live_find(&live, "mlx5_core")->state, MODULE_COMING);
}

static void a_permanent_module_has_no_refcount_and_that_word_is_no_holder(void **state)
{
	_cleanup_live_ struct live live = read_list(*state, modules);
	const struct live_module *both = live_find(&live, "both");

	assert_int_equal(live_find(&live, "binfmt")->refcount, -1);
	assert_null(live_find(&live, "binfmt")->holders[0]);
	assert_int_equal(both->refcount, -1);
	assert_string_equal(both->holders[0], "rdma_rxe");
	assert_null(both->holders[1]);
}

static void a_kernel_that_cannot_unload_has_permanent_modules_only(void **state)
{
	_cleanup_live_ struct live live =
		read_list(*state, "ib_core 450560 - - Live 0x0000000000000000\n");

	assert_int_equal(live.m[0].refcount, -1);
}

static void no_modules_at_all_are_none(void **state)
{
	_cleanup_live_ struct live live = read_list(*state, "");

	assert_int_equal(live.n, 0);
	assert_null(live_find(&live, "ib_core"));
}

static void refuses_lines_of_another_form(void **state)
{
	static const char *const bad[] = {
		"ib_core\n",
		"ib_core 450560 2 - \n",
		"ib_core 450560 many - Live 0x0\n",
		"ib_core 450560 -2 - Live 0x0\n",
		"ib_core 450560 99999999999 - Live 0x0\n",
		"a 1 0 - Live 0x0\nib_core 450560 2 - Dead 0x0\n",
	};
	struct fake_node *node = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct live live = { 0 };

		fake_file(node, "proc/modules", bad[i]);
		assert_int_equal(live_read(node->root, &live), -EBADMSG);
		assert_null(live.m);
	}
}

/* ---- sys/module */

static void tells_srcversion_and_build_id(void **state)
{
	static const char note[] = "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\x5e\x1f\x0c\x2d";
	struct fake_node *node = *state;
	struct identity id;

	fake_module(node, "ib_core", "533BB7E5866E52F63B9ACCB");
	assert_int_equal(sysroot_replace(node->root, "sys/module/ib_core/notes/.note.gnu.build-id",
					 0400, note, sizeof(note) - 1),
			 0);
	assert_int_equal(live_identity(node->root, "ib_core", &id), 0);
	assert_string_equal(id.srcversion, "533BB7E5866E52F63B9ACCB");
	assert_string_equal(id.build_id, "5e1f0c2d");
}

static void a_module_may_have_neither(void **state)
{
	struct fake_node *node = *state;
	struct identity id;

	fake_file(node, "sys/module/ib_core/initstate", "live\n");
	assert_int_equal(live_identity(node->root, "ib_core", &id), 0);
	assert_false(identity_known(&id));
}

static void what_is_built_in_or_not_yet_or_no_longer_live_is_not_there(void **state)
{
	struct fake_node *node = *state;
	struct identity id;

	fake_file(node, "sys/module/builtin/parameters/x", "1\n");
	fake_file(node, "sys/module/coming/initstate", "coming\n");
	fake_file(node, "sys/module/going/initstate", "going\n");
	assert_int_equal(live_identity(node->root, "builtin", &id), -ENOENT);
	assert_int_equal(live_identity(node->root, "coming", &id), -ENOENT);
	assert_int_equal(live_identity(node->root, "going", &id), -ENOENT);
	assert_int_equal(live_identity(node->root, "nothing", &id), -ENOENT);
}

static void tells_the_taint(void **state)
{
	struct fake_node *node = *state;
	_cleanup_free_ char *taint = NULL;

	fake_file(node, "sys/module/ib_core/taint", "OE\n");
	assert_int_equal(live_taint(node->root, "ib_core", &taint), 0);
	assert_string_equal(taint, "OE");
	assert_int_equal(live_taint(node->root, "nothing", &taint), -ENOENT);
}

static void lists_parameters_that_can_be_read_by_name(void **state)
{
	struct fake_node *node = *state;
	_cleanup_strv_ char **list = NULL;

	fake_file(node, "sys/module/m/parameters/send_queue_size", "128\n");
	fake_file(node, "sys/module/m/parameters/debug", "Y\n");
	assert_int_equal(sysroot_mkdirs(node->root, "sys/module/m/parameters/no_file", 0755), 0);
	assert_int_equal(live_parameters(node->root, "m", &list), 0);
	assert_string_equal(list[0], "debug=Y");
	assert_string_equal(list[1], "send_queue_size=128");
	assert_null(list[2]);
}

static void a_module_without_parameters_has_an_empty_list(void **state)
{
	_cleanup_strv_ char **list = NULL;

	assert_int_equal(live_parameters(((struct fake_node *)*state)->root, "m", &list), 0);
	assert_non_null(list);
	assert_null(list[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(lists_modules_by_name_with_refcount_and_holders),
		on_a_node(dashes_and_underscores_are_the_same),
		on_a_node(tells_modules_that_come_and_go),
		on_a_node(a_permanent_module_has_no_refcount_and_that_word_is_no_holder),
		on_a_node(a_kernel_that_cannot_unload_has_permanent_modules_only),
		on_a_node(no_modules_at_all_are_none),
		on_a_node(refuses_lines_of_another_form),
		on_a_node(tells_srcversion_and_build_id),
		on_a_node(a_module_may_have_neither),
		on_a_node(what_is_built_in_or_not_yet_or_no_longer_live_is_not_there),
		on_a_node(tells_the_taint),
		on_a_node(lists_parameters_that_can_be_read_by_name),
		on_a_node(a_module_without_parameters_has_an_empty_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
