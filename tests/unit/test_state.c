/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fake_node.h"

#include "swap/state.h"

#define BOOT "boot-1"
#define DEVICE "0000:01:00.0"

static char *const rdma[] = { "ib_core", "mlx5_core", "mlx5_ib", NULL };

static struct state captured(const struct fake_node *node)
{
	struct state s;

	assert_int_equal(state_capture(node->root, rdma, BOOT, "what was there", &s), 0);
	return s;
}

static void assert_module(const struct state *s, const char *name, const char *srcversion,
			  const char *params)
{
	const struct state_module *m = state_find(s, name);

	assert_non_null(m);
	assert_true(m->live);
	assert_string_equal(m->id.srcversion, srcversion);
	assert_string_equal(m->params, params);
}

static void assert_not_live(const struct state *s, const char *name)
{
	assert_non_null(state_find(s, name));
	assert_false(state_find(s, name)->live);
}

static void captures_the_build_and_the_parameters_of_what_is_live(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state s = { 0 };

	fake_module(node, "ib_core", "AAAA");
	fake_module_file(node, "ib_core", "parameters/netns_mode", "Y\n");
	fake_module_file(node, "ib_core", "parameters/send_queue_depth", "512\n");
	fake_module(node, "mlx5_core", "BBBB");
	s = captured(node);
	assert_string_equal(s.boot_id, BOOT);
	assert_string_equal(s.label, "what was there");
	assert_string_equal(s.digest, "");
	assert_int_equal(s.n, 3);
	assert_module(&s, "ib_core", "AAAA", "netns_mode=Y send_queue_depth=512");
	assert_module(&s, "mlx5_core", "BBBB", "");
	assert_not_live(&s, "mlx5_ib");
}

static void quotes_parameters_with_blanks_and_leaves_out_what_cannot_be_given_back(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state s = { 0 };

	fake_module(node, "ib_core", "AAAA");
	fake_module_file(node, "ib_core", "parameters/a_null", "(null)\n");
	fake_module_file(node, "ib_core", "parameters/b_empty", "\n");
	fake_module_file(node, "ib_core", "parameters/c_lines", "one\ntwo\n");
	fake_module_file(node, "ib_core", "parameters/d_quote", "say \"so\"\n");
	fake_module_file(node, "ib_core", "parameters/e_bytes", "\xff\xfe\n");
	fake_module_file(node, "ib_core", "parameters/f_words", "two words\n");
	fake_module_file(node, "ib_core", "parameters/g_list", "1,2,a=3\n");
	s = captured(node);
	assert_module(&s, "ib_core", "AAAA", "f_words=\"two words\" g_list=1,2,a=3");
}

static void takes_a_module_that_comes_or_goes_as_not_live(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state s = { 0 };

	fake_module(node, "ib_core", "AAAA");
	fake_module_file(node, "ib_core", "initstate", "going\n");
	s = captured(node);
	assert_not_live(&s, "ib_core");
}

static void fake_device(const struct fake_node *node, const char *driver)
{
	_cleanup_free_ char *dir = NULL, *target = NULL;

	fake_file(node, "sys/bus/pci/devices/" DEVICE "/vendor", "0x15b3\n");
	fake_file(node, "sys/bus/pci/devices/" DEVICE "/device", "0x101b\n");
	fake_file(node, "sys/bus/pci/devices/" DEVICE "/class", "0x020700\n");
	fake_file(node, "sys/bus/pci/devices/" DEVICE "/irq", "0\n");
	fake_file(node, "sys/bus/pci/devices/" DEVICE "/resource", "");
	fake_file(node, "sys/bus/pci/devices/" DEVICE "/config", "");
	assert_true(asprintf(&dir, "sys/bus/pci/drivers/%s/module", driver) > 0);
	assert_true(asprintf(&target, "/sys/module/%s", driver) > 0);
	assert_int_equal(sysroot_link(node->root, target, dir), 0);
	*strrchr(dir, '/') = '\0';
	free(target);
	assert_true(asprintf(&target, "/%s", dir) > 0);
	assert_int_equal(sysroot_link(node->root, target, "sys/bus/pci/devices/" DEVICE "/driver"),
			 0);
}

static void captures_the_devices_that_its_modules_drive(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state s = { 0 };

	fake_module(node, "mlx5_core", "BBBB");
	fake_device(node, "mlx5_core");
	s = captured(node);
	assert_int_equal(s.n_b, 1);
	assert_string_equal(s.b[0].device, DEVICE);
	assert_string_equal(s.b[0].module, "mlx5_core");
}

static void leaves_the_devices_of_others_alone(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state s = { 0 };

	fake_device(node, "vfio_pci");
	s = captured(node);
	assert_int_equal(s.n_b, 0);
}

static struct manifest_module tree_modules[] = {
	{ .name = "ib_core", .id = { .srcversion = "TREE1" } },
	{ .name = "ib_ipoib", .id = { .srcversion = "TREE2" }, .optional = true },
	{ .name = "ib_srpt", .id = { .srcversion = "TREE3" }, .optional = true },
	{ .name = "ib_iser", .id = { .srcversion = "TREE4" }, .optional = true },
};

static const struct manifest tree = {
	.name = "inbox-rdma",
	.version = "6.1.192",
	.modules = tree_modules,
	.n_modules = 4,
};

static void a_tree_asks_for_optional_modules_only_where_they_are_or_were(void **state)
{
	const struct fake_node *node = *state;
	struct state_module was[] = { { .name = "ib_srpt", .live = true, .params = "" },
				      { .name = "ib_iser", .live = false, .params = "" } };
	const struct state before = { .m = was, .n = 2 };
	_cleanup_state_ struct state s = { 0 };

	fake_module(node, "ib_ipoib", "AAAA");
	assert_int_equal(state_of_tree(node->root, &tree, "D", BOOT, &before, &s), 0);
	assert_string_equal(s.label, "inbox-rdma 6.1.192");
	assert_string_equal(s.digest, "D");
	assert_int_equal(s.n, 3);
	assert_module(&s, "ib_core", "TREE1", "");
	assert_module(&s, "ib_ipoib", "TREE2", "");
	assert_module(&s, "ib_srpt", "TREE3", "");
}

static void a_tree_on_an_empty_node_asks_for_what_is_not_optional(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state s = { 0 };

	assert_int_equal(state_of_tree(node->root, &tree, "D", BOOT, NULL, &s), 0);
	assert_int_equal(s.n, 1);
	assert_module(&s, "ib_core", "TREE1", "");
}

static void is_live_only_with_every_module_of_the_same_build_and_the_others_gone(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state s = { 0 };

	fake_module(node, "ib_core", "AAAA");
	fake_module(node, "mlx5_core", "BBBB");
	s = captured(node);
	assert_true(state_is_live(node->root, &s));

	fake_module(node, "mlx5_ib", "CCCC");
	assert_false(state_is_live(node->root, &s));
	fake_unload(node, "mlx5_ib");
	assert_true(state_is_live(node->root, &s));

	fake_module(node, "mlx5_core", "another build");
	assert_false(state_is_live(node->root, &s));
	fake_unload(node, "mlx5_core");
	assert_false(state_is_live(node->root, &s));
}

static void adopts_what_only_the_other_state_names_as_it_is_there(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state s = { 0 }, other = { 0 };

	fake_module(node, "mlx5_core", "BBBB");
	other = captured(node);
	assert_int_equal(state_adopt(&s, &other), 0);
	assert_true(state_find(&s, "mlx5_core")->live);
	assert_string_equal(state_find(&s, "mlx5_core")->id.srcversion, "BBBB");
	assert_false(state_find(&s, "ib_core")->live);
	fake_module(node, "mlx5_core", "CCCC");
	other.m[0].live = !other.m[0].live;
	assert_int_equal(state_adopt(&s, &other), 0);
	assert_int_equal(s.n, other.n);
}

static void adds_what_only_the_other_state_names_as_not_live(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state s = { 0 }, other = { 0 };

	fake_module(node, "ib_core", "AAAA");
	fake_module(node, "mlx5_core", "BBBB");
	other = captured(node);
	assert_int_equal(state_of_tree(node->root, &tree, "D", BOOT, NULL, &s), 0);
	assert_int_equal(state_extend(&s, &other), 0);
	assert_int_equal(s.n, 3);
	assert_module(&s, "ib_core", "TREE1", "");
	assert_not_live(&s, "mlx5_core");
	assert_not_live(&s, "mlx5_ib");
}

static void comes_back_whole_from_json(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state s = { 0 }, back = { 0 };
	json_auto_t *json = NULL;

	fake_module(node, "ib_core", "AAAA");
	fake_module_file(node, "ib_core", "parameters/words", "two words\n");
	fake_module(node, "mlx5_core", "BBBB");
	fake_device(node, "mlx5_core");
	s = captured(node);
	json = state_to_json(&s);
	assert_non_null(json);
	assert_int_equal(state_from_json(json, &back), 0);
	assert_string_equal(back.boot_id, s.boot_id);
	assert_string_equal(back.label, s.label);
	assert_int_equal(back.n, 3);
	assert_module(&back, "ib_core", "AAAA", "words=\"two words\"");
	assert_not_live(&back, "mlx5_ib");
	assert_int_equal(back.n_b, 1);
	assert_string_equal(back.b[0].device, DEVICE);
	assert_true(state_is_live(node->root, &back));
}

static void refuses_json_that_is_no_state(void **state)
{
#define AROUND(modules, bound)                                                                     \
	"{\"boot\":\"b\",\"label\":\"l\",\"digest\":\"\",\"modules\":" modules ",\"bound\":" bound \
	"}"
	static const char *const texts[] = {
		"[]",
		"{}",
		"{\"boot\":1,\"label\":\"l\",\"digest\":\"\",\"modules\":[],\"bound\":[]}",
		AROUND("{}", "[]"),
		AROUND("[]", "1"),
		AROUND("[1]", "[]"),
		AROUND("[{\"name\":\"ib_core\"}]", "[]"),
		AROUND("[{\"name\":\"\",\"live\":false}]", "[]"),
		AROUND("[{\"name\":\"../x\",\"live\":false}]", "[]"),
		AROUND("[{\"name\":\"a/b\",\"live\":false}]", "[]"),
		AROUND("[{\"name\":\"x\",\"live\":true,"
		       "\"srcversion\":\"0123456789012345678901234567890123456789\"}]",
		       "[]"),
		AROUND("[]", "[{\"device\":\"x\"}]"),
		AROUND("[]", "[{\"device\":\"../x\",\"module\":\"m\"}]"),
	};
	struct state s = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		json_auto_t *json = json_loads(texts[i], 0, NULL);

		assert_non_null(json);
		assert_int_equal(state_from_json(json, &s), -EBADMSG);
		assert_null(s.m);
	}
}

static void remembers_what_was_before_the_first_swap_and_nothing_later(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state first = { 0 }, later = { 0 }, back = { 0 };

	fake_module(node, "ib_core", "AAAA");
	first = captured(node);
	assert_int_equal(state_write_before(node->root, "ofed", &first), 0);
	fake_module(node, "ib_core", "another build");
	later = captured(node);
	assert_int_equal(state_write_before(node->root, "ofed", &later), 0);
	assert_int_equal(state_read_before(node->root, "ofed", BOOT, &back), 0);
	assert_module(&back, "ib_core", "AAAA", "");
}

static void each_owner_has_its_own_before(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state s = captured(node), back = { 0 };

	assert_int_equal(state_write_before(node->root, "ofed", &s), 0);
	assert_int_equal(state_read_before(node->root, "peermem", BOOT, &back), -ENOENT);
}

static void what_was_before_another_boot_is_void(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state old = { 0 }, now = { 0 }, back = { 0 };

	assert_int_equal(state_capture(node->root, rdma, "boot-0", "", &old), 0);
	assert_int_equal(state_write_before(node->root, "ofed", &old), 0);
	assert_int_equal(state_read_before(node->root, "ofed", BOOT, &back), -ENOENT);
	fake_module(node, "ib_core", "AAAA");
	now = captured(node);
	assert_int_equal(state_write_before(node->root, "ofed", &now), 0);
	assert_int_equal(state_read_before(node->root, "ofed", BOOT, &back), 0);
	assert_module(&back, "ib_core", "AAAA", "");
}

static void a_damaged_before_is_neither_used_nor_overwritten(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_state_ struct state s = captured(node), back = { 0 };

	fake_file(node, "run/gdrkit/before.ofed", "{\"boot\":");
	assert_int_equal(state_read_before(node->root, "ofed", BOOT, &back), -EBADMSG);
	assert_int_equal(state_write_before(node->root, "ofed", &s), -EBADMSG);
	assert_file(node, "run/gdrkit/before.ofed", "{\"boot\":");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(captures_the_build_and_the_parameters_of_what_is_live),
		on_a_node(quotes_parameters_with_blanks_and_leaves_out_what_cannot_be_given_back),
		on_a_node(takes_a_module_that_comes_or_goes_as_not_live),
		on_a_node(captures_the_devices_that_its_modules_drive),
		on_a_node(leaves_the_devices_of_others_alone),
		on_a_node(a_tree_asks_for_optional_modules_only_where_they_are_or_were),
		on_a_node(a_tree_on_an_empty_node_asks_for_what_is_not_optional),
		on_a_node(is_live_only_with_every_module_of_the_same_build_and_the_others_gone),
		on_a_node(adopts_what_only_the_other_state_names_as_it_is_there),
		on_a_node(adds_what_only_the_other_state_names_as_not_live),
		on_a_node(comes_back_whole_from_json),
		cmocka_unit_test(refuses_json_that_is_no_state),
		on_a_node(remembers_what_was_before_the_first_swap_and_nothing_later),
		on_a_node(each_owner_has_its_own_before),
		on_a_node(what_was_before_another_boot_is_void),
		on_a_node(a_damaged_before_is_neither_used_nor_overwritten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
