/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_tree.h"

#include <fcntl.h>

#include "tree/cache.h"
#include "tree/folder.h"

#define KERNEL "6.1.0"
#define OTHER "6.2.0"
#define CONFIG "h/.config"
#define SYMVERS "h/Module.symvers"
#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct fake_tree HERE = { "k1", "1.0", KERNEL, "x86_64" };

/* ---- judging */

struct judged {
	struct cache_record was, is;
	const char *what; /* NULL: it is used */
};

static void judges_what_is_recorded_by_what_is_there(void **state)
{
	static const struct judged cases[] = {
		{ { "c", "s", "b" }, { "c", "s", "b" }, NULL },
		/* headers there and different */
		{ { "c", "s", "b" }, { "d", "s", "b" }, ".config" },
		{ { "c", "s", "b" }, { "c", "t", "b" }, "Module.symvers" },
		{ { "c", "s", NULL }, { "c", "", NULL }, "Module.symvers" },
		{ { "c", NULL, NULL }, { "c", "s", NULL }, "Module.symvers" },
		{ { "c", NULL, NULL }, { "c", "", NULL }, NULL },
		/* headers gone */
		{ { "c", "s", "b" }, { NULL, NULL, "b" }, NULL },
		{ { "c", "s", "b" }, { "", "", NULL }, NULL },
		{ { "c", "s", NULL }, { NULL, NULL, "b" }, NULL },
		{ { "c", "s", "b" }, { NULL, NULL, "" }, NULL },
		/* another build-id */
		{ { "c", "s", "b" }, { NULL, NULL, "e" }, "build-id" },
		{ { "c", "s", "b" }, { "c", "s", "e" }, "build-id" },
		/* nothing recorded */
		{ { NULL, NULL, NULL }, { "c", "s", "b" }, NULL },
		{ { NULL, "s", NULL }, { "c", "t", NULL }, "Module.symvers" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *what = NULL;
		int r = cache_judge(&cases[i].was, &cases[i].is, &what);

		assert_int_equal(r, cases[i].what ? -ESTALE : 0);
		if (cases[i].what)
			assert_non_null(strstr(what, cases[i].what));
		else
			assert_null(what);
	}
}

/* ---- finding */

/* A node with headers, and a store with a tree that was built against them. */
struct world {
	struct fake_node *node;
	struct cache_query query;
	struct verdicts why;
	struct tree *tree;
};

static void fake_headers(const struct fake_node *node, const char *config, const char *symvers)
{
	fake_file(node, "h/Makefile", "");
	fake_file(node, CONFIG, config);
	fake_file(node, SYMVERS, symvers);
}

static void fake_built(const struct fake_node *node, const char *build_id)
{
	char config[DIGEST_TEXT], symvers[DIGEST_TEXT];

	assert_int_equal(digest_file(node->root, CONFIG, config), 0);
	assert_int_equal(digest_file(node->root, SYMVERS, symvers), 0);
	fake_tree_with(node, "store/k1", &HERE,
		       &(struct fake_record){ build_id, config, symvers, NULL });
}

static struct world *world_new(struct fake_node *node)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->node = node;
	w->query = (struct cache_query){
		.root = node->root,
		.store = "store",
		.key = "k1",
		.host = node->root,
		.kernel = KERNEL,
		.headers = "h",
		.build_id = "beef",
	};
	fake_headers(node, "CONFIG_X=y\n", "0x1\ta\tb\n");
	fake_built(node, "beef");
	return w;
}

static void world_freep(struct world **w)
{
	tree_free((*w)->tree);
	verdicts_clear(&(*w)->why);
	free(*w);
}
#define _cleanup_world_ _cleanup_(world_freep)

static int find(struct world *w)
{
	w->tree = tree_free(w->tree);
	verdicts_clear(&w->why);
	return cache_find(&w->query, &w->tree, &w->why);
}

/* Not used, and why; nothing refuses. */
static void assert_stale(struct world *w, const char *what)
{
	assert_int_equal(find(w), -ESTALE);
	assert_null(w->tree);
	assert_says(&w->why, VERMAGIC_MISMATCH, "k1", what);
	assert_false(verdicts_refuse(&w->why));
	assert_true(sysroot_exists(w->node->root, "store/k1/manifest.json"));
}

static void finds_a_tree_that_was_built_against_these_headers(void **state)
{
	_cleanup_world_ struct world *w = world_new(*state);

	assert_int_equal(find(w), 0);
	assert_string_equal(w->tree->manifest.key, "k1");
	assert_int_equal(w->why.n, 0);
}

static void finds_nothing_where_there_is_nothing(void **state)
{
	_cleanup_world_ struct world *w = world_new(*state);

	w->query.key = "k2";
	assert_int_equal(find(w), -ENOENT);
	w->query.store = "none";
	assert_int_equal(find(w), -ENOENT);
	assert_int_equal(w->why.n, 0);
	assert_null(w->tree);
	assert_false(sysroot_exists(w->node->root, "none"));
	assert_false(sysroot_exists(w->node->root, "store/.seen-k2"));
}

static void uses_no_tree_once_the_headers_are_different(void **state)
{
	_cleanup_world_ struct world *w = world_new(*state);

	assert_int_equal(find(w), 0);
	fake_headers(w->node, "CONFIG_X=m\n", "0x1\ta\tb\n");
	assert_stale(w, ".config");
	fake_headers(w->node, "CONFIG_X=y\n", "0x2\ta\tb\n");
	assert_stale(w, "Module.symvers");
	assert_int_equal(sysroot_remove(w->node->root, SYMVERS), 0);
	assert_stale(w, "Module.symvers");
	fake_headers(w->node, "CONFIG_X=y\n", "0x1\ta\tb\n");
	assert_int_equal(find(w), 0);
}

static void uses_a_tree_whose_headers_are_gone_for_the_same_kernel(void **state)
{
	_cleanup_world_ struct world *w = world_new(*state);

	assert_int_equal(sysroot_remove(w->node->root, "h"), 0);
	assert_int_equal(find(w), 0);
	w->query.build_id = NULL;
	assert_int_equal(find(w), 0);
	w->query.build_id = "dead";
	assert_stale(w, "build-id");
}

static void uses_no_tree_of_a_kernel_of_the_same_release_with_another_build_id(void **state)
{
	_cleanup_world_ struct world *w = world_new(*state);

	w->query.build_id = "dead";
	assert_stale(w, "build-id");
	fake_built(w->node, NULL);
	assert_int_equal(find(w), 0);
}

static void assert_damaged(struct world *w, const char *object)
{
	assert_int_equal(find(w), -EBADMSG);
	assert_null(w->tree);
	assert_says(&w->why, TREE_INVALID, object, NULL);
	assert_false(verdicts_refuse(&w->why));
}

static void uses_no_tree_that_is_damaged(void **state)
{
	_cleanup_world_ struct world *w = world_new(*state);

	fake_file(w->node, "store/k1/lib/modules/K/x/ib_core.ko", "damaged");
	assert_int_equal(find(w), 0); /* as long as nobody looks */
	w->query.check = true;
	assert_damaged(w, "ib_core.ko");
	fake_built(w->node, "beef");
	assert_int_equal(find(w), 0);
	w->query.check = false;
	assert_int_equal(sysroot_remove(w->node->root, "store/k1/lib/modules/K/x/ib_core.ko"), 0);
	assert_damaged(w, "store/k1");
	fake_file(w->node, "store/k1/manifest.json", "{");
	assert_damaged(w, "store/k1/manifest.json");
	fake_tree(w->node, "store/k1", &(struct fake_tree){ "k9", "1.0", KERNEL, "x86_64" });
	assert_damaged(w, "store/k1");
}

static void set_used(const struct fake_node *node, const char *path, time_t when)
{
	_cleanup_close_ int fd = sysroot_openat(node->root, path, O_RDONLY, 0);

	assert_true(fd >= 0);
	assert_int_equal(futimens(fd, (struct timespec[]){ { when, 0 }, { when, 0 } }), 0);
}

static time_t used(const struct fake_node *node, const char *path)
{
	struct stat st;

	assert_int_equal(sysroot_stat(node->root, path, &st), 0);
	return st.st_mtim.tv_sec;
}

static void notes_when_a_tree_was_last_used(void **state)
{
	_cleanup_world_ struct world *w = world_new(*state);

	set_used(w->node, "store/k1", 1000);
	w->query.build_id = "dead";
	assert_stale(w, NULL);
	assert_int_equal(used(w->node, "store/k1"), 1000);
	w->query.build_id = "beef";
	assert_int_equal(find(w), 0);
	assert_true(used(w->node, "store/k1") > 1000);
}

static void who_only_looks_writes_nothing(void **state)
{
	_cleanup_world_ struct world *w = world_new(*state);

	set_used(w->node, "store/k1", 1000);
	w->query.looks = true;
	assert_int_equal(find(w), 0);
	assert_int_equal(used(w->node, "store/k1"), 1000);
	assert_false(sysroot_exists(w->node->root, "store/.seen-k1"));
}

/* ---- the note of the headers' digests */

static char *note(const struct fake_node *node)
{
	char *text;

	assert_int_equal(sysroot_read(node->root, "store/.seen-k1", 4096, &text, NULL), 0);
	return text;
}

static ino_t note_inode(const struct fake_node *node)
{
	struct stat st;

	assert_int_equal(sysroot_stat(node->root, "store/.seen-k1", &st), 0);
	return st.st_ino;
}

/* Every digest in it becomes another: who believes it has not read the headers. */
static void spoil_note(const struct fake_node *node)
{
	_cleanup_free_ char *text = note(node);

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		memset(strrchr(line, ' ') + 1, 'a', 64);
		line[strlen(line)] = '\n';
	}
	fake_file(node, "store/.seen-k1", text);
}

static void reads_headers_once_while_their_files_are_the_same(void **state)
{
	_cleanup_world_ struct world *w = world_new(*state);
	ino_t before;

	assert_int_equal(find(w), 0);
	before = note_inode(w->node);
	assert_int_equal(find(w), 0);
	assert_int_equal(note_inode(w->node), before);
	spoil_note(w->node);
	assert_stale(w, ".config");
}

static void reads_headers_again_that_were_touched(void **state)
{
	_cleanup_world_ struct world *w = world_new(*state);
	_cleanup_free_ char *first = NULL, *second = NULL;

	assert_int_equal(find(w), 0);
	first = note(w->node);
	spoil_note(w->node);
	set_used(w->node, CONFIG, 1000);
	set_used(w->node, SYMVERS, 1000);
	assert_int_equal(find(w), 0);
	second = note(w->node);
	assert_string_not_equal(first, second);
	spoil_note(w->node);
	set_used(w->node, CONFIG, 1000); /* the same mtime, another ctime */
	set_used(w->node, SYMVERS, 1000);
	assert_int_equal(find(w), 0);
}

static void reads_headers_when_the_note_is_none(void **state)
{
	static const char *const notes[] = { "", "\n\n", "x", "1 2 3 4.5 6.7 a\n", "\xff" };
	_cleanup_world_ struct world *w = world_new(*state);
	_cleanup_free_ char *text = NULL;

	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		fake_file(w->node, "store/.seen-k1", notes[i]);
		assert_int_equal(find(w), 0);
	}
	text = note(w->node);
	text[strlen(text) - 2] = '\0'; /* cut off */
	fake_file(w->node, "store/.seen-k1", text);
	assert_int_equal(find(w), 0);
}

static void needs_no_note_where_none_can_be_written(void **state)
{
	_cleanup_world_ struct world *w = world_new(*state);

	fake_file(w->node, "store/.seen-k1/in/the/way", "");
	assert_int_equal(find(w), 0);
	assert_int_equal(w->why.n, 0);
	fake_headers(w->node, "CONFIG_X=m\n", "");
	assert_stale(w, ".config");
	assert_true(sysroot_exists(w->node->root, "store/.seen-k1/in/the/way"));
}

/* ---- trimming: each tree is 1000 bytes and some */

static void fake_entry(const struct fake_node *node, const char *key, const char *kernel,
		       time_t when)
{
	_cleanup_free_ char *path = NULL, *file = NULL, *log = NULL, *seen = NULL;
	char bytes[1001];

	memset(bytes, 'x', sizeof(bytes) - 1);
	bytes[sizeof(bytes) - 1] = '\0';
	assert_true(asprintf(&path, "store/%s", key) > 0);
	assert_true(asprintf(&file, "store/%s/usr/src/x", key) > 0);
	assert_true(asprintf(&log, "store/.log-%s", key) > 0);
	assert_true(asprintf(&seen, "store/.seen-%s", key) > 0);
	fake_tree(node, path, &(struct fake_tree){ key, "1.0", kernel, "x86_64" });
	fake_file(node, file, bytes);
	fake_file(node, log, "");
	fake_file(node, seen, "");
	set_used(node, path, when);
}

/* The trees that are there: "a b". Each has its log and its note, and none is without a tree. */
static void assert_trees(const struct fake_node *node, const char *wanted)
{
	_cleanup_strv_ char **keys = NULL, **names = NULL;
	_cleanup_free_ char *all = NULL;
	size_t len;
	FILE *to = open_memstream(&all, &len);

	assert_int_equal(store_list(node->root, "store", &keys), 0);
	for (char **key = keys; *key; key++)
		fprintf(to, "%s%s", key == keys ? "" : " ", *key);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(all, wanted);
	assert_int_equal(sysroot_list(node->root, "store", &names), 0);
	assert_int_equal(strv_length(names), 3 * strv_length(keys));
}

static unsigned trim(const struct fake_node *node, uint64_t bytes, const char *keep)
{
	unsigned dropped = 77;

	assert_int_equal(cache_trim(node->root, "store", bytes, KERNEL, keep, &dropped), 0);
	return dropped;
}

static uint64_t size_of_one(void)
{
	void *state;
	struct fake_node *node;
	uint64_t size;

	assert_int_equal(fake_node_make(&state), 0);
	node = state;
	fake_entry(node, "a", KERNEL, 1);
	assert_int_equal(folder_size(node->root, "store/a", &size), 0);
	assert_int_equal(fake_node_end(&state), 0);
	return size;
}

static void takes_the_least_recently_used_until_the_others_fit(void **state)
{
	struct fake_node *node = *state;
	uint64_t one = size_of_one();

	fake_entry(node, "a", OTHER, 4);
	fake_entry(node, "b", OTHER, 1);
	fake_entry(node, "c", OTHER, 3);
	fake_entry(node, "d", OTHER, 2);
	assert_int_equal(trim(node, 4 * one, NULL), 0);
	assert_trees(node, "a b c d");
	assert_int_equal(trim(node, 4 * one - 1, NULL), 1);
	assert_trees(node, "a c d");
	assert_int_equal(trim(node, one, NULL), 2);
	assert_trees(node, "a");
	assert_int_equal(trim(node, 1, NULL), 1);
	assert_trees(node, "");
}

static void takes_trees_of_other_kernels_first(void **state)
{
	struct fake_node *node = *state;
	uint64_t one = size_of_one();

	fake_entry(node, "a", KERNEL, 1);
	fake_entry(node, "b", KERNEL, 2);
	fake_entry(node, "c", OTHER, 3);
	fake_entry(node, "d", OTHER, 4);
	assert_int_equal(trim(node, 3 * one, NULL), 1);
	assert_trees(node, "a b d");
	assert_int_equal(trim(node, 2 * one, NULL), 1);
	assert_trees(node, "a b");
	assert_int_equal(trim(node, one, NULL), 1);
	assert_trees(node, "b");
}

static void keeps_the_most_recent_for_the_kernel_that_runs_and_the_one_named(void **state)
{
	struct fake_node *node = *state;

	fake_entry(node, "a", KERNEL, 3);
	fake_entry(node, "b", KERNEL, 2);
	fake_entry(node, "c", OTHER, 1);
	fake_entry(node, "d", OTHER, 9);
	assert_int_equal(trim(node, 1, "c"), 2);
	assert_trees(node, "a c");
	assert_int_equal(trim(node, 1, "a"), 1);
	assert_trees(node, "a");
}

static void keeps_all_where_there_is_no_bound(void **state)
{
	struct fake_node *node = *state;

	fake_entry(node, "a", OTHER, 1);
	fake_entry(node, "b", OTHER, 2);
	assert_int_equal(trim(node, 0, NULL), 0);
	assert_trees(node, "a b");
	assert_int_equal(cache_trim(node->root, "store", 1, NULL, "b", NULL), 0);
	assert_trees(node, "b");
}

static void takes_a_damaged_tree_before_any_other(void **state)
{
	struct fake_node *node = *state;
	uint64_t one = size_of_one();

	fake_entry(node, "a", OTHER, 1);
	fake_entry(node, KEY, KERNEL, 9);
	fake_file(node, "store/" KEY "/manifest.json", "{");
	fake_entry(node, "c", KERNEL, 3);
	assert_int_equal(trim(node, 2 * one, NULL), 1);
	assert_trees(node, "a c");
}

static void takes_nothing_that_is_no_tree_of_ours(void **state)
{
	struct fake_node *node = *state;

	fake_file(node, "store/home/thesis.tex", "years of work");
	fake_file(node, "store/web/manifest.json", "{}");
	fake_entry(node, "a", OTHER, 1);
	assert_int_equal(trim(node, 1, NULL), 1);
	assert_false(sysroot_exists(node->root, "store/a"));
	assert_file(node, "store/home/thesis.tex", "years of work");
	assert_file(node, "store/web/manifest.json", "{}");
}

static void trims_no_store_that_is_not_there(void **state)
{
	struct fake_node *node = *state;

	assert_int_equal(trim(node, 1, NULL), 0);
	assert_false(sysroot_exists(node->root, "store"));
}

static void keeps_the_newest_8_logs_of_builds_that_failed(void **state)
{
	struct fake_node *node = *state;
	_cleanup_strv_ char **names = NULL;

	fake_entry(node, "a", KERNEL, 1);
	set_used(node, "store/.log-a", 1);
	for (int i = 0; i < 10; i++) {
		_cleanup_free_ char *log = NULL;

		assert_true(asprintf(&log, "store/.log-f%d", i) > 0);
		fake_file(node, log, "");
		set_used(node, log, i == 9 ? 10 : 100 - i);
	}
	assert_int_equal(trim(node, 0, NULL), 0);
	assert_int_equal(sysroot_list(node->root, "store", &names), 0);
	assert_int_equal(strv_length(names), 8 + 3);
	assert_true(sysroot_exists(node->root, "store/.log-a"));
	assert_true(sysroot_exists(node->root, "store/.log-f0"));
	assert_true(sysroot_exists(node->root, "store/.log-f7"));
	assert_false(sysroot_exists(node->root, "store/.log-f8"));
	assert_false(sysroot_exists(node->root, "store/.log-f9"));
}

static void takes_notes_without_a_tree_and_nothing_else(void **state)
{
	struct fake_node *node = *state;

	fake_entry(node, "a", KERNEL, 1);
	fake_file(node, "store/.seen-gone", "");
	fake_file(node, "store/.build-b/source/x", "");
	fake_file(node, "store/.other", "");
	assert_int_equal(trim(node, 0, NULL), 0);
	assert_false(sysroot_exists(node->root, "store/.seen-gone"));
	assert_true(sysroot_exists(node->root, "store/.build-b/source/x"));
	assert_true(sysroot_exists(node->root, "store/.other"));
	assert_true(sysroot_exists(node->root, "store/.seen-a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judges_what_is_recorded_by_what_is_there),
		on_a_node(finds_a_tree_that_was_built_against_these_headers),
		on_a_node(finds_nothing_where_there_is_nothing),
		on_a_node(uses_no_tree_once_the_headers_are_different),
		on_a_node(uses_a_tree_whose_headers_are_gone_for_the_same_kernel),
		on_a_node(uses_no_tree_of_a_kernel_of_the_same_release_with_another_build_id),
		on_a_node(uses_no_tree_that_is_damaged),
		on_a_node(notes_when_a_tree_was_last_used),
		on_a_node(who_only_looks_writes_nothing),
		on_a_node(reads_headers_once_while_their_files_are_the_same),
		on_a_node(reads_headers_again_that_were_touched),
		on_a_node(reads_headers_when_the_note_is_none),
		on_a_node(needs_no_note_where_none_can_be_written),
		on_a_node(takes_the_least_recently_used_until_the_others_fit),
		on_a_node(takes_trees_of_other_kernels_first),
		on_a_node(keeps_the_most_recent_for_the_kernel_that_runs_and_the_one_named),
		on_a_node(keeps_all_where_there_is_no_bound),
		on_a_node(takes_a_damaged_tree_before_any_other),
		on_a_node(takes_nothing_that_is_no_tree_of_ours),
		on_a_node(trims_no_store_that_is_not_there),
		on_a_node(keeps_the_newest_8_logs_of_builds_that_failed),
		on_a_node(takes_notes_without_a_tree_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
