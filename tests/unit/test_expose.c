/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_tree.h"

#include "tree/expose.h"

#define MOUNT "run/mellanox/drivers"
#define SRC MOUNT "/usr/src"
#define LINK SRC "/ofa_kernel"

static struct tree *make_tree(const struct fake_node *node, const char *path, const char *version)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_free_ char *symvers = NULL, *header = NULL;
	struct tree *t;

	fake_tree(node, path, &(struct fake_tree){ path, version, "6.1.0", "x86_64" });
	assert_true(asprintf(&symvers, "%s/usr/src/ofa_kernel/x86_64/6.1.0/Module.symvers", path) >
		    0);
	assert_true(asprintf(&header, "%s/usr/src/ofa_kernel/x86_64/6.1.0/include/rdma/peer_mem.h",
			     path) > 0);
	fake_file(node, symvers, version);
	fake_file(node, header, "int x;\n");
	assert_int_equal(tree_open(node->root, path, &t, &why), 0);
	return t;
}

static ino_t inode(const struct fake_node *node, const char *path)
{
	struct stat st;

	assert_int_equal(sysroot_stat(node->root, path, &st), 0);
	return st.st_ino;
}

static size_t directories(const struct fake_node *node)
{
	_cleanup_strv_ char **names = NULL;
	size_t n = 0;

	assert_int_equal(sysroot_list(node->root, SRC, &names), 0);
	for (char **name = names; *name; name++)
		n += strcmp(*name, "ofa_kernel") != 0;
	return n;
}

static void shows_symbols_headers_and_manifest_at_all_usual_places(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(tree_freep) struct tree *t = make_tree(node, "a", "1");
	_cleanup_free_ char *target = NULL, *manifest = NULL;

	assert_int_equal(expose_tree(node->root, MOUNT, t), 0);
	assert_file(node, LINK "/x86_64/6.1.0/Module.symvers", "1");
	assert_file(node, LINK "/6.1.0/Module.symvers", "1");
	assert_file(node, LINK "/default/include/rdma/peer_mem.h", "int x;\n");
	assert_int_equal(sysroot_read(t->root, "manifest.json", 1 << 16, &manifest, NULL), 0);
	assert_file(node, LINK "/default/manifest.json", manifest);
	assert_int_equal(sysroot_readlink(node->root, LINK, &target), 0);
	assert_null(strchr(target, '/'));
}

static void changes_nothing_when_it_is_exposed_already(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(tree_freep) struct tree *t = make_tree(node, "a", "1");
	ino_t file;

	assert_int_equal(expose_tree(node->root, MOUNT, t), 0);
	file = inode(node, LINK "/default/Module.symvers");
	assert_int_equal(expose_tree(node->root, MOUNT, t), 0);
	assert_int_equal(inode(node, LINK "/default/Module.symvers"), file);
}

static void keeps_what_it_replaces_until_the_next_time(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(tree_freep) struct tree *a = make_tree(node, "a", "1"),
					  *b = make_tree(node, "b", "2"),
					  *c = make_tree(node, "c", "3");
	_cleanup_free_ char *first = NULL, *old = NULL;
	ino_t src;

	assert_int_equal(expose_tree(node->root, MOUNT, a), 0);
	assert_int_equal(sysroot_readlink(node->root, LINK, &first), 0);
	assert_true(asprintf(&old, SRC "/%s/default/Module.symvers", first) > 0);
	src = inode(node, SRC);
	assert_int_equal(expose_tree(node->root, MOUNT, b), 0);
	assert_file(node, LINK "/default/Module.symvers", "2");
	assert_file(node, old, "1");
	assert_int_equal(expose_tree(node->root, MOUNT, c), 0);
	assert_file(node, LINK "/default/Module.symvers", "3");
	assert_false(sysroot_exists(node->root, old));
	assert_int_equal(directories(node), 2);
	assert_int_equal(inode(node, SRC), src);
}

static void takes_the_place_of_another_systems_directory(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(tree_freep) struct tree *t = make_tree(node, "a", "1");

	fake_file(node, LINK "/x86_64/old", "");
	assert_int_equal(sysroot_mkdirs(node->root, SRC "/ofa_kernel.unfinished/x", 0755), 0);
	assert_int_equal(expose_tree(node->root, MOUNT, t), 0);
	assert_file(node, LINK "/default/Module.symvers", "1");
	assert_false(sysroot_exists(node->root, LINK "/x86_64/old"));
	assert_int_equal(directories(node), 1);
}

static void exposes_a_tree_that_nobody_builds_against(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(tree_freep) struct tree *t = make_tree(node, "a", "1");

	assert_int_equal(sysroot_remove(node->root, "a/usr"), 0);
	assert_int_equal(expose_tree(node->root, MOUNT, t), 0);
	assert_true(sysroot_exists(node->root, LINK "/default/manifest.json"));
	assert_false(sysroot_exists(node->root, LINK "/default/Module.symvers"));
}

static void removes_all_but_the_mount_point(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(tree_freep) struct tree *a = make_tree(node, "a", "1"),
					  *b = make_tree(node, "b", "2");

	assert_int_equal(expose_remove(node->root, MOUNT), 0);
	assert_int_equal(expose_tree(node->root, MOUNT, a), 0);
	assert_int_equal(expose_tree(node->root, MOUNT, b), 0);
	fake_file(node, SRC "/somebody-elses", "");
	assert_int_equal(expose_remove(node->root, MOUNT), 0);
	assert_false(sysroot_exists(node->root, LINK));
	assert_int_equal(directories(node), 1);
	assert_true(sysroot_exists(node->root, SRC "/somebody-elses"));
}

static void spells_architectures_as_ofed_does(void **state)
{
	(void)state;
	assert_string_equal(expose_arch("x86_64"), "x86_64");
	assert_string_equal(expose_arch("arm64"), "aarch64");
	assert_string_equal(expose_arch("aarch64"), "aarch64");
	assert_string_equal(expose_arch("powerpc"), "ppc64le");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(shows_symbols_headers_and_manifest_at_all_usual_places),
		on_a_node(changes_nothing_when_it_is_exposed_already),
		on_a_node(keeps_what_it_replaces_until_the_next_time),
		on_a_node(takes_the_place_of_another_systems_directory),
		on_a_node(exposes_a_tree_that_nobody_builds_against),
		on_a_node(removes_all_but_the_mount_point),
		cmocka_unit_test(spells_architectures_as_ofed_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
