/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper forks, so each test keeps in a child of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "entrypoints/keeper.h"
#include "entrypoints/stop_signals.h"

/* What parent and children tell each other. */
struct board {
	volatile pid_t worker, grandchild;
	volatile int cleaned, signo;
};

static struct board *new_board(void)
{
	struct board *b =
		mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(b != MAP_FAILED);
	*b = (struct board){ 0 };
	return b;
}

static void clean_up(void *data, int signo)
{
	struct board *b = data;

	b->signo = signo;
	b->cleaned = 1 + (kill(b->grandchild, 0) < 0); /* 2: nothing of it lived then */
}

static int end_with_7(void *data)
{
	(void)data;
	return 7;
}

/* Has a child in a process group of its own, as a build has, and waits to be told. */
static int wait_with_a_child(void *data)
{
	struct board *b = data;
	sigset_t set;
	int signo;
	pid_t pid = fork();

	if (pid == 0) {
		(void)setpgid(0, 0);
		(void)fork();
		for (;;)
			pause();
	}
	(void)setpgid(pid, 0); /* whoever comes first */
	b->grandchild = pid;
	b->worker = getpid();
	stop_signals(&set);
	(void)sigwait(&set, &signo);
	(void)kill(-b->grandchild, SIGKILL);
	return 128 + signo;
}

/* As a daemon does: in a session of its own, and nobody waits for it. */
static int leave_a_daemon(void *data)
{
	struct board *b = data;
	pid_t pid = fork();

	if (pid == 0) {
		(void)setsid();
		for (;;)
			pause();
	}
	b->grandchild = pid;
	return 7;
}

static pid_t start(struct board *b, int (*run)(void *data))
{
	const struct keeper_work work = { run, clean_up, b };
	pid_t pid = fork();
	sigset_t set;

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	stop_signals(&set);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	_exit(keeper_run(&work));
}

/* No event tells it: the other side is another process, and it takes milliseconds. */
static void wait_until_set(const volatile pid_t *pid)
{
	while (!*pid)
		usleep(1000);
}

static void wait_until_gone(pid_t pid)
{
	while (kill(pid, 0) == 0)
		usleep(1000);
}

static int status_of(pid_t keeper)
{
	int status;

	assert_int_equal(waitpid(keeper, &status, 0), keeper);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void ends_with_the_code_of_its_work(void **state)
{
	struct board *b = new_board();

	(void)state;
	assert_int_equal(status_of(start(b, end_with_7)), 7);
	assert_int_equal(b->cleaned, 0);
}

static void passes_a_signal_on(void **state)
{
	struct board *b = new_board();
	pid_t keeper = start(b, wait_with_a_child);

	(void)state;
	wait_until_set(&b->worker);
	assert_int_equal(kill(keeper, SIGTERM), 0);
	assert_int_equal(status_of(keeper), 128 + SIGTERM);
	assert_int_equal(b->signo, 0);
}

static void ends_what_a_killed_worker_has_left_before_it_cleans_up(void **state)
{
	struct board *b = new_board();
	pid_t keeper = start(b, wait_with_a_child);

	(void)state;
	wait_until_set(&b->worker);
	assert_int_equal(kill(b->worker, SIGKILL), 0);
	assert_int_equal(status_of(keeper), 128 + SIGKILL);
	assert_int_equal(b->cleaned, 2);
	assert_int_equal(b->signo, SIGKILL);
}

static void what_its_work_has_left_goes_when_it_ends_by_itself_too(void **state)
{
	struct board *b = new_board();

	(void)state;
	assert_int_equal(status_of(start(b, leave_a_daemon)), 7);
	assert_int_equal(b->cleaned, 2);
	assert_int_equal(b->signo, 0);
}

static void its_work_hears_a_signal_when_it_is_killed_itself(void **state)
{
	struct board *b = new_board();
	pid_t keeper = start(b, wait_with_a_child);

	(void)state;
	wait_until_set(&b->worker);
	assert_int_equal(kill(keeper, SIGKILL), 0);
	assert_int_equal(status_of(keeper), 128 + SIGKILL);
	wait_until_gone(b->worker);
	wait_until_gone(b->grandchild);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_with_the_code_of_its_work),
		cmocka_unit_test(passes_a_signal_on),
		cmocka_unit_test(ends_what_a_killed_worker_has_left_before_it_cleans_up),
		cmocka_unit_test(what_its_work_has_left_goes_when_it_ends_by_itself_too),
		cmocka_unit_test(its_work_hears_a_signal_when_it_is_killed_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
