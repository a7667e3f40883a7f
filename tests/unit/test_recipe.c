/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_tree.h"

#include "tree/recipe.h"

static int read_fixture(const char *path, struct recipe *ret, struct verdicts *why)
{
	_cleanup_(sysroot_freep) struct sysroot *root = NULL;

	assert_int_equal(sysroot_open(FIXTURES "/../..", &root), 0);
	return recipe_read(root, path, ret, why);
}

static void assert_words(char **words, ...)
{
	va_list args;
	const char *word;

	va_start(args, words);
	while ((word = va_arg(args, const char *)) != NULL) {
		assert_non_null(*words);
		assert_string_equal(*words++, word);
	}
	va_end(args);
	assert_null(*words);
}

static void reads_the_recipe_of_the_real_ofed(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_recipe_ struct recipe r = { 0 };

	(void)state;
	assert_int_equal(read_fixture("tests/fixtures/recipe/ofed.conf", &r, &why), 0);
	assert_int_equal(why.n, 0);
	assert_string_equal(r.name, "mlnx-ofed");
	assert_string_equal(r.version, "24.07-0.6.1.0");
	assert_string_equal(r.symvers, "Module.symvers");
	assert_string_equal(r.modules[6], "ib_umad");
	assert_words(r.vendors, "15b3", NULL);
	assert_words(r.optional, "ib_ipoib", NULL);
	assert_words(r.auxiliary, "mlx5_vdpa", "mlx5_fwctl", NULL);
	assert_words(r.include, "include", "compat", NULL);
	assert_words(r.kbuild, NULL);
	assert_words(r.flags, NULL);
	assert_string_equal(r.commands[0][0], "./configure");
	assert_string_equal(r.commands[0][2], "--kernel-sources=%{sources}");
	assert_string_equal(r.commands[0][3], "--with-linux-obj=%{headers}");
	assert_words(r.commands[1], "make", "-j%{jobs}", NULL);
	assert_null(r.commands[2]);
	assert_int_equal(strlen(r.digest), 64);
}

static void reads_the_recipe_of_inbox_rdma(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_recipe_ struct recipe r = { 0 };

	(void)state;
	assert_int_equal(read_fixture("ofed/recipes/inbox-rdma/driver.conf", &r, &why), 0);
	assert_string_equal(r.name, "inbox-rdma");
	assert_string_equal(r.modules[0], "ib_core");
	assert_string_equal(r.kbuild[0], "drivers/infiniband/core");
	assert_null(r.commands[0]);
}

static void reads_the_recipe_of_mlnx_ofa_kernel(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_recipe_ struct recipe r = { 0 };
	int err = read_fixture("ofed/recipes/mlnx-ofa_kernel/driver.conf", &r, &why);

	(void)state;
	verdicts_log(&why, LEVEL_ERROR);
	assert_int_equal(err, 0);
	assert_int_equal(why.n, 0);
	assert_string_equal(r.name, "mlnx-ofa_kernel");
	assert_words(r.vendors, "15b3", NULL);
	assert_words(r.modules, "mlx_compat", "ib_core", "ib_cm", "iw_cm", "rdma_cm", "ib_uverbs",
		     "ib_umad", "rdma_ucm", "mlxfw", "mlx5_core", "mlx5_ib", NULL);
	assert_words(r.optional, "mlxdevm", "ib_ucm", "ib_ipoib", NULL);
	assert_words(r.auxiliary, "mlx5_vdpa", "mlx5_fwctl", "mlx5_dpll", NULL);
	assert_words(r.include, "include", "compat", NULL);
	assert_words(r.kbuild, NULL);
	assert_string_equal(r.commands[0][0], "./configure");
	assert_string_equal(r.commands[1][0], "make");
	assert_null(r.commands[2]);
	assert_string_equal(r.symvers, "Module.symvers");
}

static void says_all_that_is_wrong_with_line_and_column(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	struct recipe r;

	(void)state;
	assert_int_equal(read_fixture("tests/fixtures/recipe/wrong.conf", &r, &why), -EINVAL);
	assert_says(&why, RECIPE_INVALID, "wrong.conf:1:7", "\"Wrong Name\" is not a name");
	assert_says(&why, RECIPE_INVALID, "wrong.conf:2:10", "text is wanted");
	assert_says(&why, RECIPE_INVALID, "wrong.conf:3:19", "four hex digits");
	assert_says(&why, RECIPE_INVALID, "wrong.conf:4:20", "named twice, first at 4:11");
	assert_says(&why, RECIPE_INVALID, "wrong.conf:5:11", "a list is wanted");
	assert_says(&why, RECIPE_INVALID, "wrong.conf:6:1", "did you mean optional?");
	assert_says(&why, RECIPE_INVALID, "wrong.conf:7:11", "\"../etc\" leads out of the source");
	assert_says(&why, RECIPE_INVALID, "wrong.conf:8:1", "key name is there twice");
	assert_says(&why, RECIPE_INVALID, "wrong.conf:10:12", "\"/etc\" leads out of the source");
	assert_says(&why, RECIPE_INVALID, "wrong.conf:11:14",
		    "flags: unknown variable %{nothing}: there are %{kernel}");
	assert_says(&why, RECIPE_INVALID, "wrong.conf:12:14", "the list is empty");
	assert_says(&why, RECIPE_INVALID, "wrong.conf:10:3", "one of kbuild and commands");
	assert_int_equal(why.n, 12);
}

#define HEAD "name: x\nversion: 1\nmodules: [a]\n"

static void refuses_what_is_no_recipe(void **state)
{
	static const struct {
		const char *text, *at, *words;
	} cases[] = {
		{ "", "r:1:1", "empty" },
		{ "name: [", "r:2:1", "did not find expected" },
		{ "\tname: x", "r:1:1", "cannot start any token" },
		{ "- a\n- b\n", "r:1:1", "keys with values" },
		{ HEAD "build: {kbuild: [a]}\n---\nsecond: 1\n", "r:6:1", "second document" },
		{ HEAD "build: {}\n", "r:4:8", "one of kbuild and commands" },
		{ HEAD "build: {commands: [[a]], flags: [B=1]}\n", "r:4:8", "flags belong" },
		{ HEAD "build: {kbuild: [a], symvers: b}\n", "r:4:8", "symvers belongs" },
		{ HEAD "build: {kbuild: []}\n", "r:4:17", "kbuild: the list is empty" },
		{ HEAD "build: {kbuild: [a/../b]}\n", "r:4:18", "out of the source" },
		{ HEAD "build: {kbuild: [a//b]}\n", "r:4:18", "an empty part" },
		{ HEAD "build: {kbuild: [\"\"]}\n", "r:4:18", "kbuild: \"\" is empty" },
		{ HEAD "build: {kbuild: [\"a b\"]}\n", "r:4:18", "make takes" },
		{ HEAD "build: {commands: [make]}\n", "r:4:20", "a list is wanted" },
		{ "name: x\nversion: 1\nmodules: []\nbuild: {kbuild: [a]}\n", "r:3:10", "empty" },
		{ "name: x\nversion: 1\nbuild: {kbuild: [a]}\n", "r:1:1", "modules is missing" },
		{ HEAD "optional: [a]\nbuild: {kbuild: [a]}\n", "r:4:12", "named twice" },
		{ HEAD "include: [.]\nbuild: {kbuild: [a]}\n", "r:4:11", "is the source itself" },
		{ HEAD "build: {kbuild: [\"a\\0b\"]}\n", "r:4:18", "a NUL" },
		{ HEAD "{a: b}: c\nbuild: {kbuild: [a]}\n", "r:4:1", "a key is wanted" },
		{ HEAD "\xff", "r:4:1", "UTF-8" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_verdicts_ struct verdicts why = { 0 };
		const char *text = cases[i].text;
		struct recipe r;

		assert_int_equal(recipe_parse(text, strlen(text), "r", &r, &why), -EINVAL);
		assert_says(&why, RECIPE_INVALID, cases[i].at, cases[i].words);
	}
}

/* flags: one item, written so. */
static void assert_flag_is_refused(const char *item, const char *at, const char *words)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_free_ char *text = NULL;
	struct recipe r;

	assert_true(asprintf(&text, HEAD "build:\n  kbuild: [a]\n  flags:\n    - %s\n", item) > 0);
	assert_int_equal(recipe_parse(text, strlen(text), "r", &r, &why), -EINVAL);
	assert_int_equal(why.n, 1);
	assert_says(&why, RECIPE_INVALID, at, words);
}

static void says_which_variable_was_meant_and_where_it_stands(void **state)
{
	(void)state;
	assert_flag_is_refused("A=%{kernle}", "r:7:9",
			       "flags: unknown variable %{kernle}: did you mean %{kernel}?");
	assert_flag_is_refused("\"A=%{kernle}\"", "r:7:10", "did you mean %{kernel}?");
	assert_flag_is_refused("'A=%{kernle}'", "r:7:10", "did you mean %{kernel}?");
	assert_flag_is_refused("\xc3\xa4=%{jbos}%%", "r:7:9", "did you mean %{jobs}?");
	assert_flag_is_refused("A=%{pages}", "r:7:9", "unknown variable %{pages}: there are");
	assert_flag_is_refused("A=%{}", "r:7:9", "unknown variable %{}");
	assert_flag_is_refused("A=%{jobs", "r:7:9", "a variable ends in }");
	assert_flag_is_refused("A=%{jobs}50%", "r:7:18", "a percent sign is written %%");
}

static void says_where_the_word_begins_if_it_is_not_written_as_it_is_read(void **state)
{
	(void)state;
	assert_flag_is_refused("\"\\x41=%{kernle}\"", "r:7:7", "did you mean");
	assert_flag_is_refused("'it''s=%{kernle}'", "r:7:7", "did you mean");
	assert_flag_is_refused("a\n      %{kernle}", "r:7:7", "did you mean");
	assert_flag_is_refused("&x A=%{kernle}", "r:7:7", "did you mean");
	assert_flag_is_refused("|\n      A=%{kernle}", "r:7:7", "did you mean");
}

static void says_all_that_is_wrong_in_one_word(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	const char *text = HEAD "build: {commands: [[a, \"%{x} %% % %{kernels}\"]]}\n";
	struct recipe r;

	(void)state;
	assert_int_equal(recipe_parse(text, strlen(text), "r", &r, &why), -EINVAL);
	assert_int_equal(why.n, 3);
	assert_says(&why, RECIPE_INVALID, "r:4:25", "unknown variable %{x}");
	assert_says(&why, RECIPE_INVALID, "r:4:33", "written %%");
	assert_says(&why, RECIPE_INVALID, "r:4:35", "did you mean %{kernel}?");
}

static void does_not_grow_by_aliases(void **state)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_verdicts_ struct verdicts why = { 0 };
	size_t len;
	FILE *to = open_memstream(&text, &len);
	struct recipe r;

	(void)state;
	fputs(HEAD "build: {commands: [&a [x", to);
	for (int i = 0; i < 5000; i++)
		fputs(",x", to);
	fputs("]", to);
	for (int i = 0; i < 5000; i++)
		fputs(",*a", to);
	fputs("]}\n", to);
	assert_int_equal(fclose(to), 0);
	assert_int_equal(recipe_parse(text, len, "r", &r, &why), -EINVAL);
	assert_says(&why, RECIPE_INVALID, "r:4:19", "more than 512 items");
}

static void names_a_file_that_is_not_there(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	struct recipe r;

	(void)state;
	assert_int_equal(read_fixture("tests/fixtures/recipe/none.conf", &r, &why), -ENOENT);
	assert_says(&why, RECIPE_INVALID, "none.conf", "No such file");
}

static void fills_placeholders_in(void **state)
{
	static const struct recipe_values values = { "6.1.0", "/h", "/c", "/s", "/o", 8 };
	_cleanup_free_ char *text = NULL;
	char *untouched = NULL;

	(void)state;
	assert_int_equal(
		recipe_expand("%{kernel} %{headers} %{sources} %{source} %{output} -j%{jobs} 100%%",
			      &values, &text),
		0);
	assert_string_equal(text, "6.1.0 /h /c /s /o -j8 100%");
	assert_int_equal(recipe_expand("%{jobs", &values, &untouched), -EINVAL);
	assert_int_equal(recipe_expand("%", &values, &untouched), -EINVAL);
	assert_int_equal(recipe_expand("%{Kernel}", &values, &untouched), -EINVAL);
	assert_null(untouched);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_recipe_of_the_real_ofed),
		cmocka_unit_test(reads_the_recipe_of_inbox_rdma),
		cmocka_unit_test(reads_the_recipe_of_mlnx_ofa_kernel),
		cmocka_unit_test(says_all_that_is_wrong_with_line_and_column),
		cmocka_unit_test(refuses_what_is_no_recipe),
		cmocka_unit_test(says_which_variable_was_meant_and_where_it_stands),
		cmocka_unit_test(says_where_the_word_begins_if_it_is_not_written_as_it_is_read),
		cmocka_unit_test(says_all_that_is_wrong_in_one_word),
		cmocka_unit_test(does_not_grow_by_aliases),
		cmocka_unit_test(names_a_file_that_is_not_there),
		cmocka_unit_test(fills_placeholders_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
