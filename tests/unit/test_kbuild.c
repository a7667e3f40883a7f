/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_tree.h"

#include <fcntl.h>

#include "common/log.h"
#include "tree/kbuild.h"

static void assert_first(const char *output, const char *wanted)
{
	size_t len = 0;
	const char *line = kbuild_first_error(output, &len);

	if (!wanted) {
		assert_null(line);
		return;
	}
	assert_non_null(line);
	assert_int_equal(len, strlen(wanted));
	assert_memory_equal(line, wanted, len);
}

static void finds_the_compilers_first_error(void **state)
{
	(void)state;
	assert_first("  CC [M]  /x/a.o\n"
		     "/x/a.c: In function 'f':\n"
		     "/x/a.c:12:3: warning: unused\n"
		     "/x/a.c:13:9: error: expected ';'\n"
		     "/x/a.c:14:9: error: later\n"
		     "make[2]: *** [scripts/Makefile.build:250: /x/a.o] Error 1\n",
		     "/x/a.c:13:9: error: expected ';'");
	assert_first("a.c:1:10: fatal error: b.h: No such file or directory\n",
		     "a.c:1:10: fatal error: b.h: No such file or directory");
	assert_first("ERROR: modpost: \"x\" [/s/a.ko] undefined!",
		     "ERROR: modpost: \"x\" [/s/a.ko] undefined!");
}

static void prefers_the_cause_to_what_other_jobs_said_before(void **state)
{
	(void)state;
	assert_first("sh: 1: pahole: not found\n"
		     "make[3]: *** [/x/b.o] Error 1\n"
		     "make[3]: *** Waiting for unfinished jobs....\n"
		     "cc1: all warnings being treated as errors\n"
		     "/x/c.c:2:1: error: unknown type name 'foo'\n",
		     "/x/c.c:2:1: error: unknown type name 'foo'");
	assert_first("make: *** Waiting for unfinished jobs....\n"
		     "make[1]: *** [Makefile:2: x] Error 2\nmake: *** later\n",
		     "make[1]: *** [Makefile:2: x] Error 2");
	assert_first("make: *** [y] Error 2\nmake: *** No rule to make target 'x'.  Stop.\n",
		     "make: *** No rule to make target 'x'.  Stop.");
}

static void finds_no_error_where_there_is_none(void **state)
{
	(void)state;
	assert_first("", NULL);
	assert_first("\n\n  CC [M]  error.o\n  LD [M]  x.ko\nwarning: errors may follow\n", NULL);
	assert_first("make: *** Waiting for unfinished jobs....\n", NULL);
}

/* A build of commands in a fake node's src and out; its log in `log`. */
struct fixture {
	const struct fake_node *node;
	struct recipe recipe;
	struct kbuild kbuild;
	char *src, *out;
};

static void fixture_clear(struct fixture *f)
{
	closep(&f->kbuild.log_fd);
	closep(&f->kbuild.stop_fd);
	recipe_clear(&f->recipe);
	free(f->src);
	free(f->out);
}
#define _cleanup_fixture_ _cleanup_(fixture_clear)

static struct fixture set_up(const struct fake_node *node, const char *build)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_free_ char *text = NULL;
	struct fixture f = { .node = node };

	assert_true(asprintf(&text, "name: x\nversion: 1\nmodules: [a]\nbuild: %s\n", build) > 0);
	assert_int_equal(recipe_parse(text, strlen(text), "r", &f.recipe, &why), 0);
	assert_int_equal(sysroot_mkdirs(node->root, "src", 0755), 0);
	assert_int_equal(sysroot_mkdirs(node->root, "out", 0755), 0);
	assert_true(asprintf(&f.src, "%s/src", node->dir) > 0);
	assert_true(asprintf(&f.out, "%s/out", node->dir) > 0);
	f.kbuild = (struct kbuild){
		.scratch = f.src,
		.output = f.out,
		.headers = node->dir,
		.sources = "/the/sources",
		.kernel = "6.1.0",
		.jobs = 3,
		.stop_fd = -1,
		.log_name = "the-log",
	};
	f.kbuild.log_fd = sysroot_openat(node->root, "log", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(f.kbuild.log_fd >= 0);
	return f;
}

static int run(struct fixture *f, struct verdicts *why)
{
	f->kbuild.recipe = &f->recipe;
	return kbuild_run(&f->kbuild, why);
}

static void runs_commands_in_order_in_the_source(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f = set_up(
		*state,
		"{commands: [[sh, -c, \"pwd -P; echo %{kernel} %{sources} -j%{jobs} | tee first\"],"
		" [cp, first, \"%{output}/second\"]]}");
	_cleanup_free_ char *real = realpath(f.src, NULL), *log = NULL;

	assert_int_equal(run(&f, &why), 0);
	assert_file(f.node, "out/second", "6.1.0 /the/sources -j3\n");
	assert_true(asprintf(&log, "%s\n6.1.0 /the/sources -j3\n", real) > 0);
	assert_file(f.node, "log", log);
}

static void keeps_the_environment_out_of_the_build(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f = set_up(*state, "{commands: [[env]]}");
	_cleanup_free_ char *log = NULL;

	assert_int_equal(setenv("MAKEFLAGS", "-j8 --jobserver-auth=3,4", 1), 0);
	assert_int_equal(setenv("KCFLAGS", "-O0", 1), 0);
	assert_int_equal(run(&f, &why), 0);
	assert_int_equal(unsetenv("MAKEFLAGS") | unsetenv("KCFLAGS"), 0);
	assert_int_equal(sysroot_read(f.node->root, "log", 1 << 16, &log, NULL), 0);
	assert_non_null(strstr(log, "LC_ALL=C\n"));
	assert_non_null(strstr(log, "PATH="));
	assert_null(strstr(log, "MAKEFLAGS"));
	assert_null(strstr(log, "KCFLAGS"));
}

static void gives_make_the_kernels_directory_flags_and_symbols_chained(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f =
		set_up(*state, "{kbuild: [one, two], flags: [\"KCFLAGS=-I%{source}/x -g0\"]}");
	_cleanup_free_ char *log = NULL, *wanted = NULL;

	fake_file(
		f.node, "Makefile",
		"modules:\n\t@echo '  LD [M]  $(M)/x.ko' '$(KCFLAGS) <$(KBUILD_EXTRA_SYMBOLS)>'\n");
	assert_int_equal(sysroot_mkdirs(f.node->root, "src/one", 0755), 0);
	assert_int_equal(sysroot_mkdirs(f.node->root, "src/two", 0755), 0);
	assert_int_equal(run(&f, &why), 0);
	assert_int_equal(sysroot_read(f.node->root, "log", 1 << 16, &log, NULL), 0);
	assert_true(asprintf(&wanted, "  LD [M]  %s/two/x.ko -I%s/x -g0 <%s/one/Module.symvers>\n",
			     f.src, f.src, f.src) > 0);
	assert_non_null(strstr(log, "-g0 <>\n"));
	assert_non_null(strstr(log, wanted));
}

/* What the log says of progress while this is built. */
static char *progress_of(struct fixture *f)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	char *said;
	size_t len;
	FILE *to = open_memstream(&said, &len);

	assert_non_null(to);
	log_setup(to, LOG_JSON, LEVEL_INFO);
	assert_int_equal(run(f, &why), 0);
	log_setup(stderr, LOG_TEXT, LEVEL_ERROR);
	assert_int_equal(fclose(to), 0);
	return said;
}

static void counts_compiled_files_of_those_below_the_directory(void **state)
{
	_cleanup_fixture_ struct fixture f = set_up(*state, "{kbuild: [one]}");
	_cleanup_free_ char *said = NULL;

	fake_file(f.node, "Makefile",
		  "modules:\n\t@echo '  CC [M]  a.o'; echo '  CC [M]  sub/b.o';"
		  " echo '  LD [M]  x.o'; echo '  CC [M]  x.mod.o'\n");
	fake_file(f.node, "src/one/a.c", "");
	fake_file(f.node, "src/one/sub/b.c", "");
	fake_file(f.node, "src/one/sub/not_configured.S", "");
	fake_file(f.node, "src/one/a.h", "");
	fake_file(f.node, "src/two/c.c", "");
	said = progress_of(&f);
	assert_non_null(strstr(said, "\"one\""));
	assert_non_null(strstr(said, "\"total\":\"3\""));
	assert_non_null(strstr(said, "\"done\":\"3\""));
}

static void counts_what_commands_compile_without_a_total(void **state)
{
	_cleanup_fixture_ struct fixture f =
		set_up(*state, "{commands: [[echo, configure], [echo, \"  CC [M]  a.o\"]]}");
	_cleanup_free_ char *said = NULL;

	fake_file(f.node, "src/a.c", "");
	said = progress_of(&f);
	assert_non_null(strstr(said, "\"done\":\"1\""));
	assert_null(strstr(said, "\"done\":\"0\""));
	assert_null(strstr(said, "total"));
}

static void names_directory_first_error_and_log_when_make_fails(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f = set_up(*state, "{kbuild: [one, two]}");

	fake_file(
		f.node, "Makefile",
		"modules:\n\t@echo 'a.c:1:2: error: no'; for i in $$(seq 200); do echo $$i; done; false\n");
	assert_int_equal(sysroot_mkdirs(f.node->root, "src/one", 0755), 0);
	assert_int_equal(run(&f, &why), -ENOEXEC);
	assert_int_equal(why.n, 1);
	assert_says(&why, BUILD_FAILED, "one", "exit 2: a.c:1:2: error: no; all of it in the-log");
}

static void names_what_the_source_or_the_machine_lacks(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f = set_up(*state, "{kbuild: [drivers/none]}");
	_cleanup_fixture_ struct fixture g =
		set_up(*state, "{commands: [[no-such-program-at-all, x]]}");

	assert_int_equal(run(&f, &why), -ENOEXEC);
	assert_says(&why, BUILD_FAILED, "drivers/none", "no such directory");
	assert_int_equal(run(&g, &why), -ENOENT);
	assert_says(&why, BUILD_FAILED, "no-such-program-at-all", "No such file");
}

static void stops_when_it_is_told_to(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f =
		set_up(*state, "{commands: [[sleep, \"100\"], [touch, \"%{output}/late\"]]}");
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	closep(&ends[1]); /* readable: end of file */
	f.kbuild.stop_fd = ends[0];
	assert_int_equal(run(&f, &why), -ECANCELED);
	assert_int_equal(why.n, 0);
	assert_false(sysroot_exists(f.node->root, "out/late"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_compilers_first_error),
		cmocka_unit_test(prefers_the_cause_to_what_other_jobs_said_before),
		cmocka_unit_test(finds_no_error_where_there_is_none),
		on_a_node(runs_commands_in_order_in_the_source),
		on_a_node(keeps_the_environment_out_of_the_build),
		on_a_node(gives_make_the_kernels_directory_flags_and_symbols_chained),
		on_a_node(counts_compiled_files_of_those_below_the_directory),
		on_a_node(counts_what_commands_compile_without_a_total),
		on_a_node(names_directory_first_error_and_log_when_make_fails),
		on_a_node(names_what_the_source_or_the_machine_lacks),
		on_a_node(stops_when_it_is_told_to),
	};

	log_setup(stderr, LOG_TEXT, LEVEL_ERROR); /* no progress */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
