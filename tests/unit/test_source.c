/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fake_node.h"

#include <fcntl.h>

#include "common/digest.h"
#include "tree/source.h"

#define NOTE "src/.gdrkit-source"

static void fake_source(const struct fake_node *node)
{
	fake_file(node, "src/driver.conf", "name: x\n");
	fake_file(node, "src/core/main.c", "int x;\n");
	assert_int_equal(sysroot_replace(node->root, "src/configure", 0755, "#!", 2), 0);
	assert_int_equal(sysroot_link(node->root, "core/main.c", "src/link"), 0);
}

static const char *const PRODUCTS[] = {
	"core/main.o",   "core/.main.o.cmd",    "core/.main.o.d",       "core/x.ko",
	"core/x.mod",    "core/x.mod.c",        "core/.x.ko.cmd",       "modules.order",
	"core/.tmp_x.o", "core/Module.symvers", ".tmp_versions/x.note", ".git/HEAD",
	"sub/.git",      ".gdrkit-source",
};

/* Whose names look like those, and a directory. */
static const char *const SOURCES[] = {
	"core/nv-kernel.o_binary", "core/x.o_shipped",  "core/x.mod.h", "core/cmd",
	"core/main.cmd",           "core/kernel.order", ".gitignore",   "old.o/main.c",
};

#define N(array) (sizeof(array) / sizeof(*(array)))

static void put(const struct fake_node *node, const char *const names[], size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *path = NULL;

		assert_true(asprintf(&path, "src/%s", names[i]) > 0);
		fake_file(node, path, text);
	}
}

static void assert_copied(const struct fake_node *node, const char *name, bool copied)
{
	_cleanup_free_ char *path = NULL;

	assert_true(asprintf(&path, "copy/%s", name) > 0);
	if (sysroot_exists(node->root, path) != copied)
		fail_msg("%s: %s", name, copied ? "not copied" : "copied");
}

static char *digest(const struct fake_node *node)
{
	char *text = malloc(DIGEST_TEXT);

	assert_non_null(text);
	assert_int_equal(source_digest(node->root, "src", text), 0);
	return text;
}

static void copies_all_but_what_a_build_or_git_left(void **state)
{
	const struct fake_node *node = *state;

	fake_source(node);
	put(node, PRODUCTS, N(PRODUCTS), "product");
	put(node, SOURCES, N(SOURCES), "source");
	assert_int_equal(source_copy(node->root, "src", node->root, "copy"), 0);
	for (size_t i = 0; i < N(PRODUCTS); i++)
		assert_copied(node, PRODUCTS[i], false);
	for (size_t i = 0; i < N(SOURCES); i++)
		assert_copied(node, SOURCES[i], true);
	assert_copied(node, ".git", false);
	assert_copied(node, ".tmp_versions", false);
	assert_file(node, "copy/core/main.c", "int x;\n");
	assert_file(node, "copy/link", "int x;\n");
}

static void a_copy_can_be_written_by_its_owner(void **state)
{
	const struct fake_node *node = *state;
	struct stat st;

	assert_int_equal(sysroot_replace(node->root, "src/sub/x.c", 0444, "", 0), 0);
	assert_int_equal(sysroot_replace(node->root, "src/sub/run", 0555, "", 0), 0);
	assert_int_equal(source_copy(node->root, "src", node->root, "copy"), 0);
	assert_int_equal(sysroot_stat(node->root, "copy/sub/x.c", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(sysroot_stat(node->root, "copy/sub/run", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
	assert_int_equal(sysroot_stat(node->root, "copy/sub", &st), 0);
	assert_int_equal(st.st_mode & 0700, 0700);
}

static void a_directory_that_is_read_only_is_copied_with_all_in_it(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_close_ int dir = -1;
	struct stat st;

	fake_file(node, "src/sub/x.c", "x");
	dir = sysroot_openat(node->root, "src/sub", O_RDONLY | O_DIRECTORY, 0);
	assert_int_equal(fchmod(dir, 0555), 0);
	assert_int_equal(source_copy(node->root, "src", node->root, "copy"), 0);
	assert_int_equal(fchmod(dir, 0755), 0);
	assert_file(node, "copy/sub/x.c", "x");
	assert_int_equal(sysroot_stat(node->root, "copy/sub", &st), 0);
	assert_int_equal(st.st_mode & 0700, 0700);
}

static void has_the_same_digest_before_and_after_a_build(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_free_ char *before = NULL, *after = NULL, *plain = malloc(DIGEST_TEXT);

	fake_source(node);
	before = digest(node);
	assert_int_equal(digest_dir(node->root, "src", plain), 0);
	assert_string_equal(before, plain);
	put(node, PRODUCTS, N(PRODUCTS), "product");
	after = digest(node);
	assert_string_equal(after, before);
}

static void has_another_digest_with_another_file(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_free_ char *before = NULL;

	fake_source(node);
	before = digest(node);
	for (size_t i = 0; i < N(SOURCES); i++) {
		_cleanup_free_ char *after = NULL;

		put(node, &SOURCES[i], 1, "source");
		after = digest(node);
		assert_string_not_equal(after, before);
		free(before);
		before = TAKE_PTR(after);
	}
}

/* The note says this digest, whatever the files hold: who returns it has not read them. */
static void claim(const struct fake_node *node, const char *digest_text)
{
	_cleanup_free_ char *text = NULL;

	assert_int_equal(sysroot_read(node->root, NOTE, 4096, &text, NULL), 0);
	memcpy(strrchr(text, ' ') + 1, digest_text, 64);
	fake_file(node, NOTE, text);
}

static const char CLAIM[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static bool is_believed(const struct fake_node *node)
{
	_cleanup_free_ char *there = digest(node);

	return !strcmp(there, CLAIM);
}

static void believes_a_note_while_nothing_has_changed(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_free_ char *read = NULL, *noted = NULL;
	char text[DIGEST_TEXT];

	fake_source(node);
	read = digest(node);
	assert_int_equal(source_note(node->root, "src", text), 0);
	assert_string_equal(text, read);
	noted = digest(node);
	assert_string_equal(noted, read);
	claim(node, CLAIM);
	assert_true(is_believed(node));
	put(node, PRODUCTS, N(PRODUCTS) - 1, "product"); /* not the note itself */
	assert_true(is_believed(node));
	assert_int_equal(source_note(node->root, "src", text), 0);
	assert_string_equal(text, read);
}

static void note_all(const struct fake_node *node)
{
	char text[DIGEST_TEXT];

	assert_int_equal(source_note(node->root, "src", text), 0);
	claim(node, CLAIM);
	assert_true(is_believed(node));
}

static void touch(const struct fake_node *node, const char *path, time_t s, long ns)
{
	_cleanup_close_ int fd = sysroot_openat(node->root, path, O_RDONLY, 0);

	assert_int_equal(futimens(fd, (struct timespec[]){ { s, ns }, { s, ns } }), 0);
}

static void believes_no_note_once_a_file_has_changed(void **state)
{
	const struct fake_node *node = *state;
	struct stat st;

	fake_source(node);
	note_all(node);
	fake_file(node, "src/core/main.c", "int y;\n");
	assert_false(is_believed(node));
	note_all(node);
	assert_int_equal(sysroot_stat(node->root, "src/core/main.c", &st), 0);
	touch(node, "src/core/main.c", st.st_mtim.tv_sec, (st.st_mtim.tv_nsec + 1) % 1000000000);
	assert_false(is_believed(node));
	note_all(node);
	fake_file(node, "src/new.c", "");
	assert_false(is_believed(node));
	note_all(node);
	assert_int_equal(sysroot_remove(node->root, "src/new.c"), 0);
	assert_false(is_believed(node));
	note_all(node);
	assert_int_equal(sysroot_link(node->root, "driver.conf", "src/link"), 0);
	assert_false(is_believed(node));
	note_all(node);
	assert_int_equal(sysroot_rename(node->root, "src/core", "src/cores"), 0);
	assert_false(is_believed(node));
}

static void believes_no_note_once_a_mode_has_changed(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_close_ int fd = -1;

	fake_source(node);
	note_all(node);
	fd = sysroot_openat(node->root, "src/driver.conf", O_RDONLY, 0);
	assert_int_equal(fchmod(fd, 0600), 0);
	assert_false(is_believed(node));
	assert_int_equal(fchmod(fd, 0644), 0);
	assert_true(is_believed(node));
}

static const char *const FILES[] = { "src/driver.conf", "src/core/main.c", "src/configure" };

static void believes_a_note_that_came_through_a_layer_without_fractions_of_seconds(void **state)
{
	const struct fake_node *node = *state;

	fake_source(node);
	for (size_t i = 0; i < N(FILES); i++)
		touch(node, FILES[i], 1000, 7);
	note_all(node);
	for (size_t i = 0; i < N(FILES); i++)
		touch(node, FILES[i], 1000, 0);
	assert_true(is_believed(node));
	touch(node, FILES[0], 1000, 8);
	assert_false(is_believed(node));
	touch(node, FILES[0], 1001, 0);
	assert_false(is_believed(node));
}

static void reads_when_the_note_is_none(void **state)
{
	static const char *const notes[] = {
		"", "\n", "1", "2 a b c\n", "1 a b c\n", "1 a b c d\n", "\xff\xfe",
	};
	const struct fake_node *node = *state;
	_cleanup_free_ char *read = NULL, *text = NULL, *other = NULL;

	fake_source(node);
	read = digest(node);
	for (size_t i = 0; i < N(notes); i++) {
		_cleanup_free_ char *there = NULL;

		fake_file(node, NOTE, notes[i]);
		there = digest(node);
		assert_string_equal(there, read);
	}
	note_all(node);
	assert_int_equal(sysroot_read(node->root, NOTE, 4096, &text, NULL), 0);
	*text = '2'; /* of a later version */
	fake_file(node, NOTE, text);
	other = digest(node);
	assert_string_equal(other, read);
}

static void says_that_there_is_no_source(void **state)
{
	const struct fake_node *node = *state;
	char text[DIGEST_TEXT];

	assert_int_equal(source_digest(node->root, "src", text), -ENOENT);
	assert_int_equal(source_note(node->root, "src", text), -ENOENT);
	assert_int_equal(source_copy(node->root, "src", node->root, "copy"), -ENOENT);
	assert_false(sysroot_exists(node->root, "src"));
	assert_false(sysroot_exists(node->root, "copy"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(copies_all_but_what_a_build_or_git_left),
		on_a_node(a_copy_can_be_written_by_its_owner),
		on_a_node(a_directory_that_is_read_only_is_copied_with_all_in_it),
		on_a_node(has_the_same_digest_before_and_after_a_build),
		on_a_node(has_another_digest_with_another_file),
		on_a_node(believes_a_note_while_nothing_has_changed),
		on_a_node(believes_no_note_once_a_file_has_changed),
		on_a_node(believes_no_note_once_a_mode_has_changed),
		on_a_node(believes_a_note_that_came_through_a_layer_without_fractions_of_seconds),
		on_a_node(reads_when_the_note_is_none),
		on_a_node(says_that_there_is_no_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
