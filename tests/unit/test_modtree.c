/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_node.h"

#include "kernel/modtree.h"

#define TREE "lib/modules/6.1/"

static const char dep[] =
	"kernel/drivers/infiniband/core/ib_core.ko.xz: kernel/lib/dimlib.ko.xz\n"
	"kernel/drivers/infiniband/core/ib_uverbs.ko.xz: "
	"kernel/drivers/infiniband/core/ib_core.ko.xz kernel/lib/dimlib.ko.xz\n"
	"kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko.xz: "
	"kernel/drivers/infiniband/core/ib_uverbs.ko.xz kernel/net/ipv4/udp-tunnel.ko.xz "
	"kernel/drivers/infiniband/core/ib_core.ko.xz kernel/lib/dimlib.ko.xz\n"
	"kernel/net/ipv4/udp-tunnel.ko.xz:\n"
	"kernel/lib/dimlib.ko.xz:\n"
	"kernel/lib/crc32c.ko.xz:\n"
	"/opt/driver/outside.ko:\n"
	"kernel/a.ko: kernel/b.ko\n"
	"kernel/b.ko: kernel/a.ko";

static struct modtree *open_tree(struct fake_node *node)
{
	struct modtree *t = NULL;

	fake_file(node, TREE "modules.dep", dep);
	assert_int_equal(modtree_open(node->root, "6.1", &t), 0);
	return t;
}

static void assert_path(const struct modtree *t, const char *name, const char *want)
{
	_cleanup_free_ char *path = NULL;

	assert_int_equal(modtree_path(t, name, &path), 0);
	assert_string_equal(path, want);
}

static void tells_where_a_modules_file_is(void **state)
{
	_cleanup_(modtree_freep) struct modtree *t = open_tree(*state);
	char *path;

	assert_path(t, "ib_core", TREE "kernel/drivers/infiniband/core/ib_core.ko.xz");
	assert_path(t, "udp_tunnel", TREE "kernel/net/ipv4/udp-tunnel.ko.xz");
	assert_path(t, "udp-tunnel", TREE "kernel/net/ipv4/udp-tunnel.ko.xz");
	assert_path(t, "outside", "opt/driver/outside.ko");
	assert_int_equal(modtree_path(t, "nothing", &path), -ENOENT);
}

static void assert_depends(const struct modtree *t, const char *name, const char *want)
{
	_cleanup_strv_ char **names = NULL;
	char all[256] = "";

	assert_int_equal(modtree_depends(t, name, &names), 0);
	for (char **n = names; *n; n++) {
		size_t len = strlen(all);

		(void)snprintf(all + len, sizeof(all) - len, "%s ", *n);
	}
	assert_string_equal(all, want);
}

static void lists_what_a_module_needs_deepest_first(void **state)
{
	_cleanup_(modtree_freep) struct modtree *t = open_tree(*state);
	char **names;

	assert_depends(t, "rdma-rxe", "dimlib ib_core ib_uverbs udp_tunnel ");
	assert_depends(t, "dimlib", "");
	assert_int_equal(modtree_depends(t, "nothing", &names), -ENOENT);
}

static void soft_dependencies_count_if_they_have_a_file(void **state)
{
	_cleanup_(modtree_freep) struct modtree *t = NULL;

	fake_file(*state, TREE "modules.softdep",
		  "# from the modules\nsoftdep ib_core pre: crc32c nowhere post: udp_tunnel\n");
	fake_file(*state, "etc/modprobe.d/x.conf", "softdep ib_uverbs pre: udp_tunnel\n");
	t = open_tree(*state);
	assert_depends(t, "ib_core", "crc32c dimlib ");
	assert_depends(t, "ib_uverbs", "udp_tunnel crc32c dimlib ib_core ");
}

static void a_circle_of_dependencies_ends(void **state)
{
	_cleanup_(modtree_freep) struct modtree *t = open_tree(*state);

	assert_depends(t, "a", "b ");
	assert_depends(t, "b", "a ");
}

static void assert_options(const struct modtree *t, const char *name, const char *want)
{
	_cleanup_free_ char *options = NULL;

	assert_int_equal(modtree_options(t, name, &options), 0);
	assert_string_equal(options, want);
}

static void tells_what_modprobe_would_pass(void **state)
{
	_cleanup_(modtree_freep) struct modtree *t = NULL;

	fake_file(*state, "etc/modprobe.d/b.conf",
		  "options ib_core recv_queue_size=2\n"
		  "install ib_core /bin/false\nblacklist ib_core\n");
	fake_file(*state, "lib/modprobe.d/a.conf",
		  "options ib-core send_queue_size=1\n"
		  "options not_in_the_tree x=y z=\"a b\"\n");
	t = open_tree(*state);
	assert_options(t, "ib_core", "send_queue_size=1 recv_queue_size=2");
	assert_options(t, "not_in_the_tree", "x=y z=\"a b\"");
	assert_options(t, "ib_uverbs", "");
}

static void a_file_of_etc_hides_one_of_lib_with_the_same_name(void **state)
{
	_cleanup_(modtree_freep) struct modtree *t = NULL;

	fake_file(*state, "lib/modprobe.d/x.conf", "options ib_core a=lib\n");
	fake_file(*state, "run/modprobe.d/x.conf", "options ib_core a=run\n");
	fake_file(*state, "etc/modprobe.d/x.conf", "options ib_core a=etc\n");
	fake_file(*state, "etc/modprobe.d/x.conf.bak", "options ib_core a=backup\n");
	fake_file(*state, "etc/modprobe.d/.x.conf", "options ib_core a=hidden\n");
	t = open_tree(*state);
	assert_options(t, "ib_core", "a=etc");
}

/* As Debian's nvidia.conf is one, through /etc/alternatives. */
static void links_in_modprobe_d_stay_in_the_root(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(modtree_freep) struct modtree *t = NULL;

	fake_file(node, "etc/alternatives/nvidia", "options nvidia a=1\n");
	fake_file(node, "lib/modprobe.d/masked.conf", "options nvidia a=2\n");
	assert_int_equal(
		sysroot_link(node->root, "/etc/alternatives/nvidia", "etc/modprobe.d/nvidia.conf"),
		0);
	assert_int_equal(sysroot_link(node->root, "/dev/null", "etc/modprobe.d/masked.conf"), 0);
	assert_int_equal(sysroot_link(node->root, "loop.conf", "etc/modprobe.d/loop.conf"), 0);
	t = open_tree(node);
	assert_options(t, "nvidia", "a=1");
}

static void no_tree_is_no_entry(void **state)
{
	struct fake_node *node = *state;
	struct modtree *t;

	assert_int_equal(modtree_open(node->root, "6.1", &t), -ENOENT);
	assert_int_equal(sysroot_mkdirs(node->root, "lib/modules/6.1", 0755), 0);
	assert_int_equal(modtree_open(node->root, "6.1", &t), -ENOENT);
}

static void links_that_loop_are_named_so_and_others_stay_inside(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(modtree_freep) struct modtree *t = NULL;

	assert_int_equal(sysroot_link(node->root, "loop", "lib/modules/loop"), 0);
	assert_int_equal(modtree_open(node->root, "loop", &t), -ELOOP);
	assert_null(t);
	fake_file(node, "usr/lib/modules/6.1/modules.dep", dep);
	assert_int_equal(
		sysroot_link(node->root, "../../../../usr/lib/modules/6.1", "lib/modules/6.1"), 0);
	assert_int_equal(modtree_open(node->root, "6.1", &t), 0);
	assert_path(t, "ib_core", TREE "kernel/drivers/infiniband/core/ib_core.ko.xz");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(tells_where_a_modules_file_is),
		on_a_node(lists_what_a_module_needs_deepest_first),
		on_a_node(soft_dependencies_count_if_they_have_a_file),
		on_a_node(a_circle_of_dependencies_ends),
		on_a_node(tells_what_modprobe_would_pass),
		on_a_node(a_file_of_etc_hides_one_of_lib_with_the_same_name),
		on_a_node(links_in_modprobe_d_stay_in_the_root),
		on_a_node(no_tree_is_no_entry),
		on_a_node(links_that_loop_are_named_so_and_others_stay_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
