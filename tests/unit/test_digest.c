/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "common/digest.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

struct world {
	char dir[32];
	struct sysroot *root;
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	(void)snprintf(w->dir, sizeof(w->dir), "/tmp/gdrkit-digest.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
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
	free(w);
	return 0;
}

static void put(const struct world *w, const char *path, mode_t mode, const char *text)
{
	assert_int_equal(sysroot_replace(w->root, path, mode, text, strlen(text)), 0);
}

static void bytes_give_the_sha256_of_the_standard(void **state)
{
	_cleanup_(digest_freep) struct digest *d = NULL;
	char text[DIGEST_TEXT];

	(void)state;
	assert_int_equal(digest_new(&d), 0);
	digest_bytes(d, "a", 1);
	digest_bytes(d, "bc", 2);
	digest_text(d, text);
	assert_string_equal(text, ABC);
}

static void a_file_gives_the_same_as_its_bytes(void **state)
{
	struct world *w = *state;
	char text[DIGEST_TEXT];

	put(w, "abc", 0644, "abc");
	assert_int_equal(sysroot_link(w->root, "/abc", "link"), 0);
	assert_int_equal(digest_file(w->root, "abc", text), 0);
	assert_string_equal(text, ABC);
	memset(text, 0, sizeof(text));
	assert_int_equal(digest_file(w->root, "link", text), 0);
	assert_string_equal(text, ABC);
	assert_int_equal(digest_file(w->root, "none", text), -ENOENT);
	assert_int_equal(digest_file(w->root, ".", text), -EISDIR);
}

static void parts_split_elsewhere_give_another_digest(void **state)
{
	_cleanup_(digest_freep) struct digest *a = NULL, *b = NULL;
	char one[DIGEST_TEXT], two[DIGEST_TEXT];

	(void)state;
	assert_int_equal(digest_new(&a), 0);
	assert_int_equal(digest_new(&b), 0);
	digest_part(a, "name", "value", 5);
	digest_part(b, "namev", "alue", 4);
	digest_text(a, one);
	digest_text(b, two);
	assert_string_not_equal(one, two);
}

static void fill(const struct world *w, const char *dir)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/sub/file", dir);
	put(w, path, 0644, "text");
	(void)snprintf(path, sizeof(path), "%s/program", dir);
	put(w, path, 0755, "text");
	(void)snprintf(path, sizeof(path), "%s/link", dir);
	assert_int_equal(sysroot_link(w->root, "/sub/file", path), 0);
}

static bool same(const struct world *w)
{
	char one[DIGEST_TEXT], two[DIGEST_TEXT];

	assert_int_equal(digest_dir(w->root, "one", one), 0);
	assert_int_equal(digest_dir(w->root, "other/two", two), 0);
	return strcmp(one, two) == 0;
}

static void equal_directories_are_equal_wherever_they_lie(void **state)
{
	struct world *w = *state;

	fill(w, "one");
	fill(w, "other/two");
	assert_true(same(w));
}

static void a_directory_changes_with_content_name_x_bit_and_target(void **state)
{
	struct world *w = *state;

	fill(w, "one");
	fill(w, "other/two");
	put(w, "one/sub/file", 0644, "other");
	assert_false(same(w));
	put(w, "one/sub/file", 0755, "text");
	assert_false(same(w));
	put(w, "one/sub/file", 0600, "text");
	assert_true(same(w));
	assert_int_equal(sysroot_link(w->root, "sub/file", "one/link"), 0);
	assert_false(same(w));
	assert_int_equal(sysroot_link(w->root, "/sub/file", "one/link"), 0);
	assert_true(same(w));
	assert_int_equal(sysroot_rename(w->root, "one/program", "one/programs"), 0);
	assert_false(same(w));
}

static void what_is_no_file_is_refused(void **state)
{
	struct world *w = *state;
	char text[DIGEST_TEXT], path[64];

	fill(w, "one");
	(void)snprintf(path, sizeof(path), "%s/one/fifo", w->dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(digest_dir(w->root, "one", text), -EINVAL);
	assert_int_equal(digest_file(w->root, "one/fifo", text), -EINVAL);
}

static bool is_kept(const char *name, bool is_dir)
{
	return strcmp(name, is_dir ? "left" : "left.c");
}

static void what_is_not_kept_does_not_count(void **state)
{
	struct world *w = *state;
	char all[DIGEST_TEXT], kept[DIGEST_TEXT], path[64];

	fill(w, "one");
	assert_int_equal(digest_dir(w->root, "one", all), 0);
	put(w, "one/sub/left.c", 0644, "");
	put(w, "one/left/x", 0644, "");
	(void)snprintf(path, sizeof(path), "%s/one/left/fifo", w->dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(digest_dir_kept(w->root, "one", is_kept, kept), 0);
	assert_string_equal(kept, all);
	put(w, "one/left.c/x", 0644, ""); /* a directory */
	assert_int_equal(digest_dir_kept(w->root, "one", is_kept, kept), 0);
	assert_string_not_equal(kept, all);
}

static bool stats_same(const struct world *w, bool whole_seconds)
{
	char one[DIGEST_TEXT], two[DIGEST_TEXT];

	assert_int_equal(digest_dir_stat(w->root, "one", NULL, whole_seconds, one), 0);
	assert_int_equal(digest_dir_stat(w->root, "other/two", NULL, whole_seconds, two), 0);
	return strcmp(one, two) == 0;
}

static void set_time(const struct world *w, const char *path, time_t s, long ns)
{
	int fd = sysroot_openat(w->root, path, O_RDONLY, 0);

	assert_int_equal(futimens(fd, (struct timespec[]){ { s, ns }, { s, ns } }), 0);
	assert_int_equal(close(fd), 0);
}

static void what_stat_says_changes_with_mode_size_and_mtime(void **state)
{
	struct world *w = *state;

	fill(w, "one");
	fill(w, "other/two");
	set_time(w, "one/sub/file", 1, 1);
	set_time(w, "one/program", 1, 1);
	set_time(w, "other/two/sub/file", 1, 1);
	set_time(w, "other/two/program", 1, 1);
	assert_true(stats_same(w, false));
	set_time(w, "one/program", 1, 2);
	assert_false(stats_same(w, false));
	assert_true(stats_same(w, true));
	set_time(w, "one/program", 2, 1);
	assert_false(stats_same(w, true));
	put(w, "one/program", 0711, "text");
	set_time(w, "one/program", 1, 1);
	assert_false(stats_same(w, false));
	put(w, "one/program", 0755, "longer");
	set_time(w, "one/program", 1, 1);
	assert_false(stats_same(w, false));
	put(w, "one/program", 0755, "TEXT");
	set_time(w, "one/program", 1, 1);
	assert_true(stats_same(w, false));
}

#define IN_WORLD(f) cmocka_unit_test_setup_teardown(f, make_world, end_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_give_the_sha256_of_the_standard),
		IN_WORLD(a_file_gives_the_same_as_its_bytes),
		cmocka_unit_test(parts_split_elsewhere_give_another_digest),
		IN_WORLD(equal_directories_are_equal_wherever_they_lie),
		IN_WORLD(a_directory_changes_with_content_name_x_bit_and_target),
		IN_WORLD(what_is_no_file_is_refused),
		IN_WORLD(what_is_not_kept_does_not_count),
		IN_WORLD(what_stat_says_changes_with_mode_size_and_mtime),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
