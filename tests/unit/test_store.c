/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_tree.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/wait.h>

static const struct fake_tree HERE = { "k1", "1.9", "6.1.0", "x86_64" };

static int find(const struct fake_node *node, const char *path, struct tree **ret,
		struct verdicts *why)
{
	return store_find(node->root, path, "6.1.0", "x86_64", ret, why);
}

static void opens_a_tree(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_(tree_freep) struct tree *t = NULL;
	struct fake_node *node = *state;

	fake_tree(node, "tree", &HERE);
	assert_int_equal(tree_open(node->root, "tree", &t, &why), 0);
	assert_string_equal(t->manifest.kernel, "6.1.0");
	assert_int_equal(strlen(t->digest), 64);
	assert_true(sysroot_exists(t->root, t->manifest.modules[0].path));
}

static void opens_no_tree_outside_of_its_root(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_(tree_freep) struct tree *t = NULL;
	struct fake_node *node = *state;

	fake_tree(node, "trees/real", &HERE);
	assert_int_equal(sysroot_link(node->root, "/trees/real", "inside"), 0);
	assert_int_equal(sysroot_link(node->root, "loop", "loop"), 0);
	assert_int_equal(tree_open(node->root, "inside", &t, &why), 0);
	t = tree_free(t);
	assert_int_equal(tree_open(node->root, "loop", &t, &why), -ELOOP);
	assert_null(t);
	assert_says(&why, SYSTEM, "loop", NULL);
}

static void says_what_is_wrong_with_a_tree(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	struct fake_node *node = *state;
	struct tree *t = NULL;

	assert_int_equal(tree_open(node->root, "none", &t, &why), -ENOENT);
	assert_says(&why, TREE_MISSING, "none", NULL);
	verdicts_clear(&why);
	assert_int_equal(sysroot_mkdirs(node->root, "empty", 0755), 0);
	assert_int_equal(tree_open(node->root, "empty", &t, &why), -EBADMSG);
	assert_says(&why, TREE_INVALID, "empty/manifest.json", NULL);
	verdicts_clear(&why);
	fake_file(node, "bad/manifest.json", "{}");
	assert_int_equal(tree_open(node->root, "bad", &t, &why), -EBADMSG);
	assert_says(&why, TREE_INVALID, "bad/manifest.json", "modules: missing");
	verdicts_clear(&why);
	fake_tree(node, "cut", &HERE);
	assert_int_equal(sysroot_remove(node->root, "cut/lib/modules/K/x/rdma_rxe.ko"), 0);
	assert_int_equal(sysroot_mkdirs(node->root, "cut/lib/modules/K/x/rdma_rxe.ko", 0755), 0);
	assert_int_equal(tree_open(node->root, "cut", &t, &why), -EBADMSG);
	assert_says(&why, TREE_INVALID, "cut", "rdma_rxe.ko: not a file");
	assert_null(t);
}

static void finds_the_newest_tree_for_this_kernel(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_(tree_freep) struct tree *t = NULL;
	struct fake_node *node = *state;

	fake_tree(node, "store/k1", &HERE);
	fake_tree(node, "store/k2", &(struct fake_tree){ "k2", "1.10", "6.1.0", "x86_64" });
	fake_tree(node, "store/k3", &(struct fake_tree){ "k3", "9.0", "6.2.0", "x86_64" });
	fake_tree(node, "store/k4", &(struct fake_tree){ "k4", "9.0", "6.1.0", "aarch64" });
	fake_tree(node, "store/.build-x", &(struct fake_tree){ "k5", "9", "6.1.0", "x86_64" });
	fake_file(node, "store/broken/manifest.json", "{");
	fake_file(node, "store/a-file", "");
	assert_int_equal(find(node, "store", &t, &why), 0);
	assert_string_equal(t->manifest.version, "1.10");
	assert_int_equal(why.n, 0);
}

static void of_equal_versions_finds_the_one_written_last(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_(tree_freep) struct tree *t = NULL;
	_cleanup_close_ int fd = -1;
	struct fake_node *node = *state;

	fake_tree(node, "store/k1", &HERE);
	fake_tree(node, "store/k2", &(struct fake_tree){ "k2", "1.9", "6.1.0", "x86_64" });
	fd = sysroot_openat(node->root, "store/k2/manifest.json", O_RDONLY, 0);
	assert_int_equal(futimens(fd, (struct timespec[]){ { 1, 0 }, { 1, 0 } }), 0);
	assert_int_equal(find(node, "store", &t, &why), 0);
	assert_string_equal(t->manifest.key, "k1");
}

static void lists_what_is_there_when_nothing_fits(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	struct fake_node *node = *state;
	struct tree *t = NULL;

	assert_int_equal(find(node, "store", &t, &why), -ENOENT);
	assert_says(&why, TREE_MISSING, "store", "none at all");
	fake_tree(node, "store/k3", &(struct fake_tree){ "k3", "9.0", "6.2.0", "x86_64" });
	fake_file(node, "store/broken/manifest.json", "{");
	assert_int_equal(find(node, "store", &t, &why), -ENOENT);
	assert_says(&why, TREE_MISSING, "store", "x 9.0 for 6.2.0 x86_64");
	assert_says(&why, TREE_INVALID, "store/broken", NULL);
	assert_null(t);
}

static void refuses_a_tree_for_another_kernel_or_architecture(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	struct fake_node *node = *state;
	struct tree *t = NULL;

	fake_tree(node, "a", &(struct fake_tree){ "k", "1", "6.2.0", "x86_64" });
	fake_tree(node, "b", &(struct fake_tree){ "k", "1", "6.1.0", "aarch64" });
	assert_int_equal(find(node, "a", &t, &why), -ENOEXEC);
	assert_says(&why, VERMAGIC_MISMATCH, "a", "6.2.0");
	assert_int_equal(find(node, "b", &t, &why), -ENOEXEC);
	assert_says(&why, ARCH_MISMATCH, "b", "aarch64");
	assert_null(t);
}

static void copies_a_tree_with_modes_and_links(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_(tree_freep) struct tree *from = NULL, *t = NULL;
	_cleanup_free_ char *target = NULL;
	struct fake_node *node = *state;
	struct stat st;

	fake_tree(node, "image", &HERE);
	assert_int_equal(sysroot_replace(node->root, "image/usr/src/tool", 0755, "x", 1), 0);
	assert_int_equal(sysroot_link(node->root, "../src/tool", "image/usr/src/link"), 0);
	assert_int_equal(tree_open(node->root, "image", &from, &why), 0);
	assert_int_equal(store_put(node->root, "run/gdrkit/trees", from, &t), 0);
	assert_string_equal(t->digest, from->digest);
	assert_file(node, "run/gdrkit/trees/k1/lib/modules/K/x/ib_core.ko", "not really");
	assert_int_equal(sysroot_stat(node->root, "run/gdrkit/trees/k1/usr/src/tool", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
	assert_int_equal(sysroot_readlink(node->root, "run/gdrkit/trees/k1/usr/src/link", &target),
			 0);
	assert_string_equal(target, "../src/tool");
}

static void copies_nothing_that_is_there_already(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_(tree_freep) struct tree *from = NULL;
	_cleanup_strv_ char **names = NULL;
	struct fake_node *node = *state;
	struct stat before, after;

	fake_tree(node, "image", &HERE);
	assert_int_equal(tree_open(node->root, "image", &from, &why), 0);
	assert_int_equal(store_put(node->root, "store", from, NULL), 0);
	assert_int_equal(sysroot_stat(node->root, "store/k1/manifest.json", &before), 0);
	assert_int_equal(store_put(node->root, "store", from, NULL), 0);
	assert_int_equal(sysroot_stat(node->root, "store/k1/manifest.json", &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	/* a damaged copy is made again */
	assert_int_equal(sysroot_remove(node->root, "store/k1/lib/modules/K/x/ib_core.ko"), 0);
	assert_int_equal(store_put(node->root, "store", from, NULL), 0);
	assert_file(node, "store/k1/lib/modules/K/x/ib_core.ko", "not really");
	assert_int_equal(sysroot_list(node->root, "store", &names), 0);
	assert_string_equal(names[0], "k1");
	assert_null(names[1]);
}

static void lists_opens_and_drops_by_key(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_strv_ char **keys = NULL, **none = NULL;
	struct fake_node *node = *state;
	struct tree *t = NULL;

	assert_int_equal(store_list(node->root, "store", &none), 0);
	assert_null(none[0]);
	fake_tree(node, "store/k1", &HERE);
	fake_tree(node, "store/k2", &HERE);
	fake_file(node, "store/.log-k1", "");
	assert_int_equal(store_list(node->root, "store", &keys), 0);
	assert_string_equal(keys[0], "k1");
	assert_string_equal(keys[1], "k2");
	assert_null(keys[2]);
	assert_int_equal(store_open(node->root, "store", "k2", &t, &why), -EBADMSG);
	assert_says(&why, TREE_INVALID, "store/k2", "its key is k1");
	assert_int_equal(store_drop(node->root, "store", "k2"), 0);
	assert_false(sysroot_exists(node->root, "store/k2"));
	assert_int_equal(store_drop(node->root, "store", "k2"), 0);
	assert_int_equal(store_open(node->root, "store", "k1", &t, &why), 0);
	tree_free(t);
}

static void adopts_a_finished_directory_once(void **state)
{
	struct fake_node *node = *state;

	fake_tree(node, "store/.build-1/tree", &HERE);
	assert_int_equal(store_adopt(node->root, "store", "store/.build-1/tree", "k1"), 0);
	assert_false(sysroot_exists(node->root, "store/.build-1/tree"));
	fake_tree(node, "store/.build-2/tree", &HERE);
	assert_int_equal(store_adopt(node->root, "store", "store/.build-2/tree", "k1"), 0);
	assert_true(sysroot_exists(node->root, "store/.build-2/tree"));
	assert_int_equal(sysroot_remove(node->root, "store/k1/manifest.json"), 0);
	assert_int_equal(store_adopt(node->root, "store", "store/.build-2/tree", "k1"), 0);
	assert_true(sysroot_exists(node->root, "store/k1/manifest.json"));
}

static int check(const struct fake_node *node, struct verdicts *why)
{
	_cleanup_(tree_freep) struct tree *t = NULL;

	verdicts_clear(why);
	assert_int_equal(tree_open(node->root, "tree", &t, why), 0);
	return tree_check(t, why);
}

static void checks_every_file_that_a_digest_is_recorded_of(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	struct fake_node *node = *state;
	char exposed[DIGEST_TEXT];

	fake_file(node, "tree/usr/src/x.h", "x");
	assert_int_equal(digest_dir(node->root, "tree/usr", exposed), 0);
	fake_tree_with(node, "tree", &HERE, &(struct fake_record){ .exposed = exposed });
	assert_int_equal(check(node, &why), 0);
	fake_file(node, "tree/lib/modules/K/x/ib_core.ko", "not reallY");
	fake_file(node, "tree/lib/modules/K/x/rdma_rxe.ko", "");
	fake_file(node, "tree/usr/src/x.h", "y");
	assert_int_equal(check(node, &why), -EBADMSG);
	assert_says(&why, TREE_INVALID, "ib_core.ko", "sha256");
	assert_says(&why, TREE_INVALID, "rdma_rxe.ko", "sha256");
	assert_says(&why, TREE_INVALID, "usr", "sha256");
	assert_int_equal(why.n, 3);
	fake_tree_with(node, "tree", &HERE, &(struct fake_record){ .exposed = exposed });
	assert_int_equal(sysroot_remove(node->root, "tree/usr"), 0);
	assert_int_equal(check(node, &why), -EBADMSG);
	assert_says(&why, TREE_INVALID, "usr", "No such file");
}

static void checks_no_file_that_no_digest_is_recorded_of(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	struct fake_node *node = *state;

	fake_tree(node, "tree", &HERE);
	fake_file(node, "tree/usr/src/x.h", "x");
	assert_int_equal(check(node, &why), 0);
	assert_int_equal(why.n, 0);
}

static void adopts_in_the_place_of_one_that_is_damaged_or_another(void **state)
{
	struct fake_node *node = *state;
	_cleanup_strv_ char **names = NULL;

	fake_tree(node, "store/k1", &HERE);
	fake_file(node, "store/k1/lib/modules/K/x/ib_core.ko", "damaged");
	fake_tree(node, "store/.build-1/tree", &HERE);
	assert_int_equal(store_adopt(node->root, "store", "store/.build-1/tree", "k1"), 0);
	assert_file(node, "store/k1/lib/modules/K/x/ib_core.ko", "not really");
	/* the same key, built against other headers */
	fake_tree_with(node, "store/.build-1/tree", &HERE,
		       &(struct fake_record){ .build_id = "abcd" });
	fake_file(node, "store/.build-1/tree/new", "");
	assert_int_equal(store_adopt(node->root, "store", "store/.build-1/tree", "k1"), 0);
	assert_true(sysroot_exists(node->root, "store/k1/new"));
	assert_int_equal(sysroot_list(node->root, "store", &names), 0);
	assert_string_equal(names[0], ".build-1");
	assert_string_equal(names[1], "k1");
	assert_null(names[2]);
}

static void clears_up_what_a_killed_one_left(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_(tree_freep) struct tree *from = NULL;
	_cleanup_strv_ char **names = NULL;
	struct fake_node *node = *state;

	fake_tree(node, "image", &HERE);
	fake_tree(node, "store/.new-k7", &HERE);
	fake_tree(node, "store/.old-k1", &HERE);
	fake_file(node, "store/.log-k7", "");
	assert_int_equal(tree_open(node->root, "image", &from, &why), 0);
	assert_int_equal(store_put(node->root, "store", from, NULL), 0);
	fake_tree(node, "store/.old-k8", &HERE);
	assert_int_equal(store_drop(node->root, "store", "k9"), 0);
	assert_int_equal(sysroot_list(node->root, "store", &names), 0);
	assert_string_equal(names[0], ".log-k7");
	assert_string_equal(names[1], "k1");
	assert_null(names[2]);
}

/* Ends with 0 if `ends` ends before the path is absent. */
static pid_t watch(const struct sysroot *root, const char *path, int ends)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	while (poll(&(struct pollfd){ .fd = ends, .events = POLLIN }, 1, 0) == 0)
		if (!sysroot_exists(root, path))
			_exit(1);
	_exit(0);
}

static void assert_ends_well(pid_t pid)
{
	int status;

	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void replaces_a_tree_that_is_never_absent(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_(tree_freep) struct tree *a = NULL, *b = NULL, *t = NULL;
	struct fake_node *node = *state;
	int ends[2];
	pid_t watcher;

	fake_tree(node, "a", &HERE);
	fake_tree(node, "b", &(struct fake_tree){ "k1", "1.10", "6.1.0", "x86_64" });
	assert_int_equal(tree_open(node->root, "a", &a, &why), 0);
	assert_int_equal(tree_open(node->root, "b", &b, &why), 0);
	assert_int_equal(store_put(node->root, "store", a, NULL), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	watcher = watch(node->root, "store/k1", ends[0]);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(store_put(node->root, "store", b, NULL), 0);
		assert_int_equal(store_put(node->root, "store", a, NULL), 0);
	}
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_ends_well(watcher);
	closep(&ends[0]);
	closep(&ends[1]);
	assert_int_equal(store_open(node->root, "store", "k1", &t, &why), 0);
	assert_string_equal(t->digest, a->digest);
}

static void adopts_one_of_two_that_come_at_once(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_(tree_freep) struct tree *t = NULL;
	_cleanup_strv_ char **names = NULL;
	struct fake_node *node = *state;
	const char *const froms[] = { "store/.build-1/tree", "store/.build-2/tree" };
	_cleanup_close_ int lock = -1;
	pid_t pids[2];

	fake_tree(node, froms[0], &HERE);
	fake_tree(node, froms[1], &HERE);
	lock = store_lock(node->root, "store");
	assert_true(lock >= 0);
	for (size_t i = 0; i < 2; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			closep(&lock);
			_exit(store_adopt(node->root, "store", froms[i], "k1") != 0);
		}
	}
	assert_int_equal(flock(lock, LOCK_UN), 0);
	assert_ends_well(pids[0]);
	assert_ends_well(pids[1]);
	assert_int_equal(
		sysroot_exists(node->root, froms[0]) + sysroot_exists(node->root, froms[1]), 1);
	assert_int_equal(store_open(node->root, "store", "k1", &t, &why), 0);
	assert_int_equal(sysroot_list(node->root, "store", &names), 0);
	assert_string_equal(names[2], "k1");
	assert_null(names[3]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(opens_a_tree),
		on_a_node(opens_no_tree_outside_of_its_root),
		on_a_node(says_what_is_wrong_with_a_tree),
		on_a_node(finds_the_newest_tree_for_this_kernel),
		on_a_node(of_equal_versions_finds_the_one_written_last),
		on_a_node(lists_what_is_there_when_nothing_fits),
		on_a_node(refuses_a_tree_for_another_kernel_or_architecture),
		on_a_node(copies_a_tree_with_modes_and_links),
		on_a_node(copies_nothing_that_is_there_already),
		on_a_node(lists_opens_and_drops_by_key),
		on_a_node(adopts_a_finished_directory_once),
		on_a_node(checks_every_file_that_a_digest_is_recorded_of),
		on_a_node(checks_no_file_that_no_digest_is_recorded_of),
		on_a_node(adopts_in_the_place_of_one_that_is_damaged_or_another),
		on_a_node(clears_up_what_a_killed_one_left),
		on_a_node(replaces_a_tree_that_is_never_absent),
		on_a_node(adopts_one_of_two_that_come_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
