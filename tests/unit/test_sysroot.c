/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "common/resolve.h"
#include "common/sysroot.h"

struct world {
	char *dir;
	int fd; /* of dir */
	struct sysroot *root;
};

static void make_file(const struct world *w, const char *path, const char *text)
{
	_cleanup_close_ int fd = openat(w->fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void make_link(const struct world *w, const char *target, const char *path)
{
	assert_int_equal(symlinkat(target, w->fd, path), 0);
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->dir = strdup("/tmp/gdrkit-sysroot.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	w->fd = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->fd >= 0);
	assert_int_equal(sysroot_open(w->dir, &w->root), 0);
	*state = w;
	return 0;
}

static int end_world(void **state)
{
	struct world *w = *state;
	_cleanup_(sysroot_freep) struct sysroot *tmp = NULL;

	assert_int_equal(sysroot_open("/tmp", &tmp), 0);
	assert_int_equal(sysroot_remove(tmp, strrchr(w->dir, '/') + 1), 0);
	sysroot_free(w->root);
	(void)close(w->fd);
	free(w->dir);
	free(w);
	return 0;
}

static void assert_text(const struct world *w, const char *path, const char *text)
{
	_cleanup_free_ char *got = NULL;

	assert_int_equal(sysroot_read(w->root, path, 1 << 20, &got, NULL), 0);
	assert_string_equal(got, text);
}

static void assert_only(const struct world *w, const char *dir, const char *name)
{
	_cleanup_strv_ char **names = NULL;

	assert_int_equal(sysroot_list(w->root, dir, &names), 0);
	assert_string_equal(names[0], name);
	assert_null(names[1]);
}

struct resolve_case {
	const char *path;
	int flags;
	int error;
	const char *is; /* what is opened, by its path without links */
};

static const struct resolve_case cases[] = {
	{ "etc/real", O_RDONLY, 0, "etc/real" },
	{ "/etc/real", O_RDONLY, 0, "etc/real" },
	{ "//etc//./real", O_RDONLY, 0, "etc/real" },
	{ "etc/abs", O_RDONLY, 0, "etc/real" },
	{ "etc/rel", O_RDONLY, 0, "etc/real" },
	{ "etc/up", O_RDONLY, 0, "etc/real" },
	{ "dir/real", O_RDONLY, 0, "etc/real" },
	{ "absdir/rel", O_RDONLY, 0, "etc/real" },
	{ "absdir/../dir/abs", O_RDONLY, 0, "etc/real" },
	{ "etc/../etc/real", O_RDONLY, 0, "etc/real" },
	{ "../../etc/real", O_RDONLY, 0, "etc/real" },
	{ "..", O_RDONLY, 0, "." },
	{ "/", O_PATH, 0, "." },
	{ ".", O_PATH | O_DIRECTORY, 0, "." },
	{ "dir/..", O_PATH, 0, "." },
	{ "etc/sub/..", O_PATH, 0, "etc" },
	{ "slashed", O_PATH, 0, "etc" },
	{ "etc/real/x", O_RDONLY, ENOTDIR, NULL },
	{ "etc/real/", O_RDONLY, ENOTDIR, NULL },
	{ "etc/real/..", O_RDONLY, ENOTDIR, NULL },
	{ "etc/abs/x", O_RDONLY, ENOTDIR, NULL },
	{ "", O_RDONLY, ENOENT, NULL },
	{ "none", O_RDONLY, ENOENT, NULL },
	{ "none/x", O_RDONLY, ENOENT, NULL },
	{ "none/../etc/real", O_RDONLY, ENOENT, NULL },
	{ "none/", O_WRONLY | O_CREAT, EISDIR, NULL },
	{ "dangling", O_RDONLY, ENOENT, NULL },
	{ "loop", O_RDONLY, ELOOP, NULL },
	{ "loop/x", O_RDONLY, ELOOP, NULL },
	{ "tick", O_RDONLY, ELOOP, NULL },
	{ "link40", O_RDONLY, 0, "etc/real" },
	{ "link41", O_RDONLY, ELOOP, NULL },
	{ "etc/rel", O_RDONLY | O_NOFOLLOW, ELOOP, NULL },
	{ "etc/rel", O_PATH | O_NOFOLLOW, 0, "etc/rel" },
	{ "dir", O_PATH | O_NOFOLLOW, 0, "dir" },
	{ "dir/", O_PATH | O_NOFOLLOW, 0, "etc" },
	{ "dir/rel", O_PATH | O_NOFOLLOW, 0, "etc/rel" },
	{ "dir", O_RDONLY | O_DIRECTORY, 0, "etc" },
	{ "etc/abs", O_RDONLY | O_DIRECTORY, ENOTDIR, NULL },
	{ "etc/abs", O_PATH | O_DIRECTORY, ENOTDIR, NULL },
	{ "etc", O_WRONLY, EISDIR, NULL },
	{ "etc", O_WRONLY | O_CREAT, EISDIR, NULL },
	{ "etc/", O_WRONLY | O_CREAT, EISDIR, NULL },
	{ "etc/..", O_WRONLY | O_CREAT, EISDIR, NULL },
	{ "etc/abs", O_WRONLY | O_CREAT | O_EXCL, EEXIST, NULL },
	{ "dangling", O_WRONLY | O_CREAT | O_EXCL, EEXIST, NULL },
	{ "dangling", O_WRONLY | O_CREAT | O_NOFOLLOW, ELOOP, NULL },
	{ "dangling", O_WRONLY | O_CREAT, 0, "nowhere" },
	{ "escape", O_WRONLY | O_CREAT, 0, "outside" },
	{ "etc/new", O_WRONLY | O_CREAT | O_EXCL, 0, "etc/new" },
	{ "dangling-dir", O_WRONLY | O_CREAT, ENOENT, NULL },
};

static void make_cases(const struct world *w)
{
	char name[16], target[16];

	assert_int_equal(sysroot_mkdirs(w->root, "etc/sub", 0755), 0);
	make_file(w, "etc/real", "real");
	make_link(w, "/etc/real", "etc/abs");
	make_link(w, "real", "etc/rel");
	make_link(w, "../../../../etc/real", "etc/up");
	make_link(w, "etc", "dir");
	make_link(w, "/etc", "absdir");
	make_link(w, "etc/", "slashed");
	make_link(w, "loop", "loop");
	make_link(w, "tock", "tick");
	make_link(w, "/tick", "tock");
	make_link(w, "nowhere", "dangling");
	make_link(w, "/nodir/new", "dangling-dir");
	make_link(w, "../../../../../../../outside", "escape");
	make_link(w, "etc/real", "link1");
	for (int i = 2; i <= 41; i++) {
		(void)snprintf(name, sizeof(name), "link%d", i);
		(void)snprintf(target, sizeof(target), "link%d", i - 1);
		make_link(w, target, name);
	}
}

static void check_cases(const struct world *w,
			int (*resolve)(int root, const char *path, int flags, mode_t mode))
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct resolve_case *c = &cases[i];
		_cleanup_close_ int fd = resolve(w->fd, c->path, c->flags, 0600);
		struct stat got, want;

		if ((fd < 0 ? -fd : 0) != c->error)
			fail_msg("\"%s\" (flags %#x): %d, not %d", c->path, (unsigned int)c->flags,
				 fd < 0 ? -fd : 0, c->error);
		if (!c->is)
			continue;
		assert_int_equal(fstat(fd, &got), 0);
		assert_int_equal(fstatat(w->fd, c->is, &want, AT_SYMLINK_NOFOLLOW), 0);
		if (got.st_ino != want.st_ino || got.st_dev != want.st_dev)
			fail_msg("\"%s\" is not %s", c->path, c->is);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	}
}

static void the_kernel_resolves_inside_the_root(void **state)
{
	struct world *w = *state;
	int probe = resolve_openat2(w->fd, ".", O_PATH, 0);

	if (probe == -ENOSYS || probe == -EPERM)
		skip();
	(void)close(probe);
	make_cases(w);
	check_cases(w, resolve_openat2);
	assert_int_not_equal(access("/outside", F_OK), 0);
}

static void the_walk_resolves_as_the_kernel_does(void **state)
{
	struct world *w = *state;

	make_cases(w);
	check_cases(w, resolve_walk);
	assert_int_not_equal(access("/outside", F_OK), 0);
}

static void a_path_that_is_too_long_is_refused_both_ways(void **state)
{
	struct world *w = *state;
	char path[PATH_MAX + 1];

	memset(path, 'x', PATH_MAX);
	path[PATH_MAX] = '\0';
	assert_int_equal(resolve_walk(w->fd, path, O_PATH, 0), -ENAMETOOLONG);
	assert_int_equal(sysroot_openat(w->root, path, O_PATH, 0), -ENAMETOOLONG);
}

static void check_procfs(int (*resolve)(int root, const char *path, int flags, mode_t mode))
{
	_cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int status = resolve(root, "proc/self/status", O_RDONLY, 0);
	_cleanup_close_ int thread = resolve(root, "proc/thread-self/comm", O_RDONLY, 0);
	_cleanup_close_ int mounts = resolve(root, "proc/mounts", O_RDONLY, 0);

	assert_true(status >= 0);
	assert_true(thread >= 0);
	assert_true(mounts >= 0);
	assert_int_equal(resolve(root, "proc/self/exe", O_PATH, 0), -ELOOP);
	assert_int_equal(resolve(root, "proc/self/root/etc", O_PATH, 0), -ELOOP);
	assert_int_equal(resolve(root, "proc/self/fd/0", O_PATH, 0), -ELOOP);
	assert_int_equal(resolve(root, "proc/self/ns/net", O_PATH, 0), -ELOOP);
}

static void links_of_procfs_that_jump_are_not_followed(void **state)
{
	(void)state;
	check_procfs(resolve_walk);
	check_procfs(resolve_openat2);
}

static void links_of_procfs_that_jump_are_read(void **state)
{
	_cleanup_(sysroot_freep) struct sysroot *root = NULL;
	_cleanup_free_ char *exe = NULL;

	(void)state;
	assert_int_equal(sysroot_open("/", &root), 0);
	assert_int_equal(sysroot_readlink(root, "proc/self/exe", &exe), 0);
	assert_non_null(strstr(exe, "test_sysroot"));
}

static void opening_what_is_no_directory_fails(void **state)
{
	struct sysroot *root = NULL;

	(void)state;
	assert_int_equal(sysroot_open("/dev/null", &root), -ENOTDIR);
	assert_int_equal(sysroot_open("/nonexistent", &root), -ENOENT);
	assert_null(root);
	assert_null(sysroot_free(NULL));
}

static void reads_whole_files_or_fails(void **state)
{
	struct world *w = *state;
	char *text = NULL;
	size_t len = 0;

	make_file(w, "file", "0123456789");
	assert_int_equal(sysroot_read(w->root, "file", 9, &text, &len), -EFBIG);
	assert_null(text);
	assert_int_equal(sysroot_read(w->root, "file", 10, &text, &len), 0);
	assert_string_equal(text, "0123456789");
	assert_int_equal(len, 10);
	free(text);
	make_file(w, "file", "");
	assert_int_equal(sysroot_read(w->root, "file", 0, &text, &len), 0);
	assert_string_equal(text, "");
	assert_int_equal(len, 0);
	free(text);
	assert_int_equal(sysroot_read(w->root, ".", 10, &text, &len), -EISDIR);
}

static void reads_a_file_that_says_it_has_no_size(void **state)
{
	_cleanup_(sysroot_freep) struct sysroot *root = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len;

	(void)state;
	assert_int_equal(sysroot_open("/", &root), 0);
	assert_int_equal(sysroot_read(root, "proc/self/smaps", 64 << 20, &text, &len), 0);
	assert_true(len > 4096);
	assert_int_equal(text[len - 1], '\n');
}

static void a_fifo_is_refused_and_does_not_block(void **state)
{
	struct world *w = *state;
	char *text = NULL;

	assert_int_equal(mkfifoat(w->fd, "fifo", 0600), 0);
	assert_int_equal(sysroot_read(w->root, "fifo", 10, &text, NULL), -EINVAL);
	assert_int_equal(sysroot_write_attr(w->root, "fifo", "1"), -ENXIO);
}

static void an_attribute_is_read_without_its_newline(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *one = NULL, *two = NULL, *none = NULL;

	make_file(w, "one", "Y\n");
	make_file(w, "two", "a\nb\n\n");
	make_file(w, "none", "");
	assert_int_equal(sysroot_read_attr(w->root, "one", &one), 0);
	assert_int_equal(sysroot_read_attr(w->root, "two", &two), 0);
	assert_int_equal(sysroot_read_attr(w->root, "none", &none), 0);
	assert_string_equal(one, "Y");
	assert_string_equal(two, "a\nb\n");
	assert_string_equal(none, "");
}

static void an_attribute_is_written_only_where_it_exists(void **state)
{
	struct world *w = *state;

	make_file(w, "attr", "something longer");
	assert_int_equal(sysroot_write_attr(w->root, "attr", "0"), 0);
	assert_text(w, "attr", "0");
	assert_int_equal(sysroot_write_attr(w->root, "new", "0"), -ENOENT);
	assert_false(sysroot_exists(w->root, "new"));
}

static void names_come_sorted_and_without_dots(void **state)
{
	struct world *w = *state;
	_cleanup_strv_ char **names = NULL, **none = NULL;

	make_file(w, "b", "");
	make_file(w, "a", "");
	make_file(w, ".c", "");
	assert_int_equal(mkdirat(w->fd, "B", 0755), 0);
	assert_int_equal(sysroot_list(w->root, ".", &names), 0);
	assert_string_equal(names[0], ".c");
	assert_string_equal(names[1], "B");
	assert_string_equal(names[2], "a");
	assert_string_equal(names[3], "b");
	assert_null(names[4]);
	assert_int_equal(sysroot_list(w->root, "B", &none), 0);
	assert_null(none[0]);
}

static void a_link_is_read_at_any_length(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *target = NULL;
	char longest[PATH_MAX];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	make_link(w, longest, "link");
	assert_int_equal(sysroot_readlink(w->root, "link", &target), 0);
	assert_string_equal(target, longest);
}

static void replace_makes_parents_sets_the_mode_and_leaves_no_temporary(void **state)
{
	struct world *w = *state;
	struct stat st;

	assert_int_equal(sysroot_replace(w->root, "run/gdrkit/file", 0640, "one", 3), 0);
	assert_text(w, "run/gdrkit/file", "one");
	assert_int_equal(sysroot_replace(w->root, "run/gdrkit/file", 0600, "three", 5), 0);
	assert_text(w, "run/gdrkit/file", "three");
	assert_int_equal(sysroot_stat(w->root, "run/gdrkit/file", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_only(w, "run/gdrkit", "file");
}

static void a_failed_replace_leaves_what_was_there_and_no_temporary(void **state)
{
	struct world *w = *state;

	assert_int_equal(sysroot_mkdirs(w->root, "dir/is/full", 0755), 0);
	assert_int_equal(sysroot_replace(w->root, "dir/is", 0600, "x", 1), -EISDIR);
	assert_only(w, "dir", "is");
	assert_only(w, "dir/is", "full");
	make_file(w, "file", "x");
	assert_int_equal(sysroot_replace(w->root, "file/below", 0600, "x", 1), -ENOTDIR);
	assert_int_equal(sysroot_replace(w->root, "..", 0600, "x", 1), -EINVAL);
}

static void replace_puts_a_file_where_a_link_was(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *target = NULL;

	make_file(w, "target", "target");
	make_link(w, "target", "link");
	assert_int_equal(sysroot_replace(w->root, "link", 0600, "new", 3), 0);
	assert_text(w, "link", "new");
	assert_text(w, "target", "target");
	assert_int_equal(sysroot_readlink(w->root, "link", &target), -EINVAL);
}

static void a_link_is_put_over_another_one(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *target = NULL;

	assert_int_equal(sysroot_link(w->root, "a", "usr/src/link"), 0);
	assert_int_equal(sysroot_link(w->root, "../b", "usr/src/link"), 0);
	assert_int_equal(sysroot_readlink(w->root, "usr/src/link", &target), 0);
	assert_string_equal(target, "../b");
	assert_only(w, "usr/src", "link");
}

static void rename_moves_between_directories_of_the_root(void **state)
{
	struct world *w = *state;

	assert_int_equal(sysroot_mkdirs(w->root, "a", 0755), 0);
	assert_int_equal(sysroot_mkdirs(w->root, "b", 0755), 0);
	make_file(w, "a/f", "f");
	make_link(w, "/b", "to");
	assert_int_equal(sysroot_rename(w->root, "a/f", "to/g"), 0);
	assert_text(w, "b/g", "f");
	assert_int_equal(sysroot_rename(w->root, "a/f", "b/h"), -ENOENT);
}

static void directories_are_made_through_links_and_stay_in_the_root(void **state)
{
	struct world *w = *state;
	struct stat st;

	assert_int_equal(sysroot_mkdirs(w->root, "run", 0755), 0);
	make_link(w, "../../../../../run", "var");
	assert_int_equal(sysroot_mkdirs(w->root, "var/a/./b/../c/", 0700), 0);
	assert_int_equal(sysroot_stat(w->root, "run/a/c", &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(sysroot_mkdirs(w->root, "run/a/c", 0755), 0);
	assert_int_equal(sysroot_mkdirs(w->root, "/", 0755), 0);
}

static void directories_are_not_made_below_files_and_dangling_links(void **state)
{
	struct world *w = *state;

	make_file(w, "file", "");
	make_link(w, "nowhere", "dangling");
	assert_int_equal(sysroot_mkdirs(w->root, "file", 0755), -ENOTDIR);
	assert_int_equal(sysroot_mkdirs(w->root, "file/a", 0755), -ENOTDIR);
	assert_int_equal(sysroot_mkdirs(w->root, "dangling", 0755), -ENOENT);
	assert_int_equal(sysroot_mkdirs(w->root, "dangling/a", 0755), -ENOENT);
	assert_false(sysroot_exists(w->root, "nowhere"));
}

static void remove_takes_all_below_and_never_follows_links(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *kept = NULL;

	assert_int_equal(sysroot_mkdirs(w->root, "keep", 0755), 0);
	make_file(w, "keep/file", "kept");
	assert_int_equal(sysroot_mkdirs(w->root, "gone/deep/er", 0755), 0);
	make_file(w, "gone/file", "");
	make_file(w, "gone/deep/file", "");
	make_link(w, "../keep", "gone/link");
	make_link(w, "gone", "link");
	assert_int_equal(sysroot_remove(w->root, "gone"), 0);
	assert_false(sysroot_exists(w->root, "gone"));
	assert_text(w, "keep/file", "kept");
	assert_int_equal(sysroot_readlink(w->root, "link", &kept), 0);
	assert_int_equal(sysroot_remove(w->root, "link"), 0);
	assert_only(w, ".", "keep");
}

static void removing_what_is_not_there_is_fine(void **state)
{
	struct world *w = *state;

	assert_int_equal(sysroot_remove(w->root, "none"), 0);
	assert_int_equal(sysroot_remove(w->root, "none/below"), 0);
	assert_int_equal(sysroot_remove(w->root, "."), -EINVAL);
	assert_int_equal(sysroot_remove(w->root, "a/.."), -EINVAL);
}

#define IN_WORLD(f) cmocka_unit_test_setup_teardown(f, make_world, end_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(the_kernel_resolves_inside_the_root),
		IN_WORLD(the_walk_resolves_as_the_kernel_does),
		IN_WORLD(a_path_that_is_too_long_is_refused_both_ways),
		cmocka_unit_test(links_of_procfs_that_jump_are_not_followed),
		cmocka_unit_test(links_of_procfs_that_jump_are_read),
		cmocka_unit_test(opening_what_is_no_directory_fails),
		IN_WORLD(reads_whole_files_or_fails),
		cmocka_unit_test(reads_a_file_that_says_it_has_no_size),
		IN_WORLD(a_fifo_is_refused_and_does_not_block),
		IN_WORLD(an_attribute_is_read_without_its_newline),
		IN_WORLD(an_attribute_is_written_only_where_it_exists),
		IN_WORLD(names_come_sorted_and_without_dots),
		IN_WORLD(a_link_is_read_at_any_length),
		IN_WORLD(replace_makes_parents_sets_the_mode_and_leaves_no_temporary),
		IN_WORLD(a_failed_replace_leaves_what_was_there_and_no_temporary),
		IN_WORLD(replace_puts_a_file_where_a_link_was),
		IN_WORLD(a_link_is_put_over_another_one),
		IN_WORLD(rename_moves_between_directories_of_the_root),
		IN_WORLD(directories_are_made_through_links_and_stay_in_the_root),
		IN_WORLD(directories_are_not_made_below_files_and_dangling_links),
		IN_WORLD(remove_takes_all_below_and_never_follows_links),
		IN_WORLD(removing_what_is_not_there_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
