/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_tree.h"

#include <fcntl.h>

#include "common/events.h"
#include "common/log.h"
#include "tree/kbuild.h"

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

static int chmod_file(const struct fake_node *node, const char *path)
{
	_cleanup_free_ char *full = NULL;

	assert_true(asprintf(&full, "%s/%s", node->dir, path) > 0);
	return chmod(full, 0755);
}

static void looks_for_programs_in_the_tools_first(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f = set_up(
		*state, "{commands: [[gcc, x], [sh, -c, \"gcc y; echo $HOME $TMPDIR [$LLVM]\"]]}");
	_cleanup_free_ char *tools = NULL, *wanted = NULL;

	fake_file(f.node, "tools/gcc", "#!/bin/sh\necho ours $1\n");
	assert_int_equal(chmod_file(f.node, "tools/gcc"), 0);
	assert_true(asprintf(&tools, "%s/tools", f.node->dir) > 0);
	f.kbuild.tools = tools;
	f.kbuild.tmp = f.out;
	assert_int_equal(run(&f, &why), 0);
	assert_true(asprintf(&wanted, "ours x\nours y\n%s %s []\n", f.out, f.out) > 0);
	assert_file(f.node, "log", wanted);
}

static void tells_make_and_its_environment_of_llvm(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f = set_up(*state, "{kbuild: [one]}");
	_cleanup_fixture_ struct fixture g = set_up(*state, "{commands: [[env]]}");
	_cleanup_free_ char *log = NULL;

	fake_file(f.node, "Makefile", "modules:\n\t@echo '$(origin LLVM) $(LLVM)'\n");
	assert_int_equal(sysroot_mkdirs(f.node->root, "src/one", 0755), 0);
	f.kbuild.llvm = g.kbuild.llvm = true;
	assert_int_equal(run(&f, &why), 0);
	assert_int_equal(run(&g, &why), 0);
	assert_int_equal(sysroot_read(f.node->root, "log", 1 << 16, &log, NULL), 0);
	assert_non_null(strstr(log, "LLVM=1\n"));
}

static void refuses_a_directory_that_a_link_leads_out_of_the_source(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f = set_up(*state, "{kbuild: [within, out/of/it]}");

	fake_file(f.node, "Makefile", "modules:\n\t@touch $(M)/built\n");
	fake_file(f.node, "outside/of/it/x.c", "");
	fake_file(f.node, "src/real/x.c", "");
	assert_int_equal(sysroot_link(f.node->root, "real", "src/within"), 0);
	assert_int_equal(sysroot_link(f.node->root, "../outside", "src/out"), 0);
	assert_int_equal(run(&f, &why), -ENOEXEC);
	assert_int_equal(why.n, 1);
	assert_says(&why, BUILD_FAILED, "out/of/it", "a link leads out of the source");
	assert_true(sysroot_exists(f.node->root, "src/real/built"));
	assert_false(sysroot_exists(f.node->root, "outside/of/it/built"));
}

static void refuses_a_link_to_a_directory_whose_name_begins_like_the_sources(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f = set_up(*state, "{kbuild: [out]}");

	fake_file(f.node, "Makefile", "modules:\n\t@touch $(M)/built\n");
	fake_file(f.node, "src-2/x.c", "");
	assert_int_equal(sysroot_link(f.node->root, "../src-2", "src/out"), 0);
	assert_int_equal(run(&f, &why), -ENOEXEC);
	assert_says(&why, BUILD_FAILED, "out", "a link leads out of the source");
	assert_false(sysroot_exists(f.node->root, "src-2/built"));
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

static void shows_the_lines_of_a_command_until_it_compiles(void **state)
{
	_cleanup_fixture_ struct fixture f =
		set_up(*state, "{commands: [[sh, ./configure], [make, -f, ../two.mk]]}");
	_cleanup_free_ char *said = NULL;

	fake_file(f.node, "src/configure",
		  "echo 'checking for a'\necho '  checking for b  '\necho 'creating c'\n");
	fake_file(f.node, "two.mk",
		  "all:\n\t@echo Kernel; echo '  CC [M]  a.o'; echo '  LD [M]  x.ko'; "
		  "echo '  CC [M]  /x/.module-common.o'; echo end\n");
	said = progress_of(&f);
	assert_non_null(strstr(said, "\"what\":\"sh\",\"done\":\"3\",\"seconds\""));
	assert_non_null(strstr(said, "\"what\":\"make\",\"done\":\"1\",\"seconds\""));
	assert_null(strstr(said, "total"));
}

/* stderr is a terminal: what is on it. */
static void shows_a_commands_name_and_its_line_trimmed(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f = set_up(*state, "{commands: [[./configure, x]]}");
	_cleanup_close_ int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	_cleanup_close_ int saved = dup(STDERR_FILENO), slave = -1;
	char text[4096] = "";
	ssize_t n;
	int r;

	fake_file(f.node, "src/configure",
		  "#!/bin/sh\nprintf ' \\t checking\\033[2J for a  \\n'\n");
	assert_int_equal(chmod_file(f.node, "src/configure"), 0);
	assert_int_equal(grantpt(master) | unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(slave >= 0 && dup2(slave, STDERR_FILENO) >= 0);
	log_setup(NULL, LOG_AUTO, LEVEL_INFO);
	r = run(&f, &why);
	log_setup(stderr, LOG_TEXT, LEVEL_ERROR);
	(void)dup2(saved, STDERR_FILENO);
	n = read(master, text, sizeof(text) - 1);
	assert_int_equal(r, 0);
	assert_true(n > 0);
	assert_non_null(strstr(text, "configure 1 00:00 checking?[2J for a\r"));
	assert_null(strstr(text, "./configure"));
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

static void ends_with_its_deadline(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f =
		set_up(*state, "{commands: [[sleep, \"100\"], [touch, \"%{output}/late\"]]}");

	f.kbuild.deadline_ms = events_now() + 1100;
	assert_int_equal(run(&f, &why), -ETIMEDOUT);
	assert_true(events_now() < f.kbuild.deadline_ms + 5000);
	assert_int_equal(why.n, 1);
	assert_says(&why, WAIT_TIMEOUT, "sleep", "not done after 1 s; all of it in the-log");
	assert_false(sysroot_exists(f.node->root, "out/late"));
}

static void starts_nothing_after_its_deadline(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f =
		set_up(*state, "{commands: [[touch, \"%{output}/late\"]]}");

	f.kbuild.deadline_ms = events_now();
	assert_int_equal(run(&f, &why), -ETIMEDOUT);
	assert_int_equal(why.n, 1);
	assert_says(&why, WAIT_TIMEOUT, "touch", "not begun in time");
	assert_false(sysroot_exists(f.node->root, "out/late"));
}

static void tells_a_full_disk_from_a_source_that_does_not_build(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f =
		set_up(*state, "{commands: [[sh, -c, \"cat Makefile >/dev/full\"]]}");
	_cleanup_fixture_ struct fixture g = set_up(
		*state,
		"{commands: [[sh, -c, \"echo 'cannot touch x: Read-only file system'; false\"]]}");
	_cleanup_fixture_ struct fixture h =
		set_up(*state, "{commands: [[sh, -c, \"echo x: No space left on device\"]]}");

	fake_file(f.node, "src/Makefile", "x\n");
	assert_int_equal(run(&f, &why), -ENOSPC);
	assert_int_equal(why.n, 1);
	assert_says(&why, STORE_UNUSABLE, "sh", "No space left on device; all of it in the-log");
	assert_int_equal(run(&g, &why), -EROFS);
	assert_int_equal(why.n, 2);
	assert_says(&why, STORE_UNUSABLE, "sh", "cannot touch x: Read-only file system; all of");
	assert_int_equal(run(&h, &why), 0);
	assert_int_equal(why.n, 2);
}

static void says_that_a_compiler_was_killed(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_fixture_ struct fixture f = set_up(
		*state,
		"{commands: [[sh, -c, "
		"\"echo 'gcc: fatal error: Killed signal terminated program cc1'; exit 2\"]]}");
	_cleanup_fixture_ struct fixture g =
		set_up(*state, "{commands: [[sh, -c, \"kill -9 $$\"]]}");

	assert_int_equal(run(&f, &why), -ENOEXEC);
	assert_says(
		&why, BUILD_FAILED, "sh",
		"exit 2: gcc: fatal error: Killed signal terminated program cc1 (out of memory?); "
		"all of it in the-log");
	assert_int_equal(run(&g, &why), -ENOEXEC);
	assert_says(&why, BUILD_FAILED, "sh", "exit 137: without saying why (out of memory?)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(runs_commands_in_order_in_the_source),
		on_a_node(keeps_the_environment_out_of_the_build),
		on_a_node(looks_for_programs_in_the_tools_first),
		on_a_node(tells_make_and_its_environment_of_llvm),
		on_a_node(refuses_a_directory_that_a_link_leads_out_of_the_source),
		on_a_node(refuses_a_link_to_a_directory_whose_name_begins_like_the_sources),
		on_a_node(gives_make_the_kernels_directory_flags_and_symbols_chained),
		on_a_node(counts_compiled_files_of_those_below_the_directory),
		on_a_node(shows_the_lines_of_a_command_until_it_compiles),
		on_a_node(shows_a_commands_name_and_its_line_trimmed),
		on_a_node(counts_what_commands_compile_without_a_total),
		on_a_node(names_directory_first_error_and_log_when_make_fails),
		on_a_node(names_what_the_source_or_the_machine_lacks),
		on_a_node(stops_when_it_is_told_to),
		on_a_node(ends_with_its_deadline),
		on_a_node(starts_nothing_after_its_deadline),
		on_a_node(tells_a_full_disk_from_a_source_that_does_not_build),
		on_a_node(says_that_a_compiler_was_killed),
	};

	log_setup(stderr, LOG_TEXT, LEVEL_ERROR); /* no progress */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
