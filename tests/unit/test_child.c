/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common/child.h"

#define SH(script) .argv = (const char *const[]){ "sh", "-c", script, NULL }, .stop_fd = -1

struct lines {
	FILE *f;
	char *text;
	size_t len, longest, n;
	int stop; /* written to once a line has come; -1: never */
};

static void take_line(void *data, const char *line)
{
	struct lines *l = data;

	l->n++;
	if (strlen(line) > l->longest)
		l->longest = strlen(line);
	(void)fprintf(l->f, "%s\n", line);
	if (l->stop >= 0)
		assert_int_equal(write(l->stop, "x", 1), 1);
}

static void run(struct child_spec spec, struct lines *l, struct child_result *res)
{
	l->f = open_memstream(&l->text, &l->len);
	assert_non_null(l->f);
	spec.line = take_line;
	spec.data = l;
	assert_int_equal(child_run(&spec, res), 0);
	assert_int_equal(fclose(l->f), 0);
}

static void output_comes_line_by_line_and_the_exit_code_with_it(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	struct lines l = { .stop = -1 };

	(void)state;
	run((struct child_spec){ SH("echo one; echo two >&2; printf 'th\\0ree'; exit 7") }, &l,
	    &res);
	assert_string_equal(l.text, "one\ntwo\nth ree\n");
	assert_int_equal(l.n, 3);
	assert_string_equal(res.tail, l.text);
	assert_int_equal(res.status, 7);
	assert_false(res.stopped || res.timed_out);
	assert_true(res.max_rss > 4096);
	free(l.text);
}

static void a_program_that_is_not_there_is_an_error(void **state)
{
	const char *const argv[] = { "no-such-program-of-gdrkit", NULL };
	struct child_spec spec = { .argv = argv, .stop_fd = -1 };
	struct child_result res = { .status = 77 };

	(void)state;
	assert_int_equal(child_run(&spec, &res), -ENOENT);
	assert_int_equal(res.status, 77);
}

static void death_by_a_signal_is_128_and_its_number(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	struct child_spec spec = { SH("kill -KILL $$") };

	(void)state;
	assert_int_equal(child_run(&spec, &res), 0);
	assert_int_equal(res.status, 128 + SIGKILL);
	assert_string_equal(res.tail, "");
}

static void the_tail_keeps_the_last_lines_only(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	struct child_spec spec = { SH("seq 1 100000"), .tail = 3 };

	(void)state;
	assert_int_equal(child_run(&spec, &res), 0);
	assert_string_equal(res.tail, "99998\n99999\n100000\n");
}

static void a_line_without_an_end_is_cut_and_nothing_of_it_lost(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	struct lines l = { .stop = -1 };

	(void)state;
	run((struct child_spec){ SH("head -c 200000 /dev/zero | tr '\\0' x") }, &l, &res);
	assert_int_equal(l.longest, 65536);
	assert_int_equal(l.n, 4);
	assert_int_equal(l.len, 200000 + 4);
	free(l.text);
}

static void stdin_is_empty_and_directory_and_environment_are_as_asked(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	const char *const env[] = { "PATH=/usr/bin:/bin", "X=set", NULL };
	struct child_spec spec = { SH("cat; pwd; echo $X"), .dir = "/proc", .env = env };

	(void)state;
	assert_int_equal(child_run(&spec, &res), 0);
	assert_string_equal(res.tail, "/proc\nset\n");
}

static void signals_are_neither_blocked_nor_ignored(void **state)
{
	_cleanup_child_result_ struct child_result ignored = { 0 }, blocked = { 0 };
	struct child_spec pipe_to_self = { SH("kill -PIPE $$; echo ignored") };
	struct child_spec term_to_self = { SH("kill -TERM $$; echo blocked") };
	sigset_t set, before;

	(void)state;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, &before);
	(void)signal(SIGPIPE, SIG_IGN);
	assert_int_equal(child_run(&pipe_to_self, &ignored), 0);
	assert_int_equal(child_run(&term_to_self, &blocked), 0);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(ignored.status, 128 + SIGPIPE);
	assert_int_equal(blocked.status, 128 + SIGTERM);
}

static void a_stop_is_a_sigterm_to_the_whole_group(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	struct lines l = { 0 };
	int stop[2];

	(void)state;
	assert_int_equal(pipe(stop), 0);
	l.stop = stop[1];
	run((struct child_spec){ .argv = (const char *const[]){ "sh", "-c",
								"trap 'exit 3' TERM; echo up; "
								"sleep 1000 & wait",
								NULL },
				 .stop_fd = stop[0] },
	    &l, &res);
	assert_true(res.stopped);
	assert_false(res.timed_out);
	assert_int_equal(res.status, 3);
	assert_string_equal(l.text, "up\n");
	free(l.text);
	(void)close(stop[0]);
	(void)close(stop[1]);
}

static void a_deadline_kills_what_does_not_listen(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	struct child_spec spec = { SH("trap '' TERM; while :; do sleep 1000; done"),
				   .timeout_ms = 50, .grace_ms = 50 };

	(void)state;
	assert_int_equal(child_run(&spec, &res), 0);
	assert_true(res.timed_out);
	assert_int_equal(res.status, 128 + SIGKILL);
	assert_in_range(res.ms, 90, 5000);
}

static void a_grandchild_that_keeps_the_pipe_is_not_waited_for_but_killed(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	struct child_spec spec = { SH("sleep 1000 & echo last words") };
	int status = 0;

	(void)state;
	/* so that the grandchild, when its parent is gone, is ours to look at */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(child_run(&spec, &res), 0);
	assert_string_equal(res.tail, "last words\n");
	assert_in_range(res.ms, 0, 5000);
	assert_true(wait(&status) > 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void with_inherited_output_nothing_is_captured(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	struct child_spec spec = { SH("test -t 1; exit 5"), .inherit = true };

	(void)state;
	assert_int_equal(child_run(&spec, &res), 0);
	assert_int_equal(res.status, 5);
	assert_string_equal(res.tail, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_comes_line_by_line_and_the_exit_code_with_it),
		cmocka_unit_test(a_program_that_is_not_there_is_an_error),
		cmocka_unit_test(death_by_a_signal_is_128_and_its_number),
		cmocka_unit_test(the_tail_keeps_the_last_lines_only),
		cmocka_unit_test(a_line_without_an_end_is_cut_and_nothing_of_it_lost),
		cmocka_unit_test(stdin_is_empty_and_directory_and_environment_are_as_asked),
		cmocka_unit_test(signals_are_neither_blocked_nor_ignored),
		cmocka_unit_test(a_stop_is_a_sigterm_to_the_whole_group),
		cmocka_unit_test(a_deadline_kills_what_does_not_listen),
		cmocka_unit_test(a_grandchild_that_keeps_the_pipe_is_not_waited_for_but_killed),
		cmocka_unit_test(with_inherited_output_nothing_is_captured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
