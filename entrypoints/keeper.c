/* SPDX-License-Identifier: Apache-2.0 */
#include "entrypoints/keeper.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "common/cleanup.h"
#include "common/parse.h"
#include "common/sysroot.h"
#include "entrypoints/stop_signals.h"

/* Whoever has no parent left below us is ours: we are their subreaper. */
static int kill_children(void)
{
	_cleanup_(sysroot_freep) struct sysroot *root = NULL;
	_cleanup_strv_ char **pids = NULL;
	_cleanup_free_ char *text = NULL, *path = NULL;
	int r = sysroot_open("/", &root);

	if (r == 0 && asprintf(&path, "proc/self/task/%d/children", (int)getpid()) < 0)
		r = -ENOMEM;
	if (r == 0)
		r = sysroot_read_attr(root, path, &text);
	if (r == 0)
		r = parse_words(text, " \n", &pids);
	for (char **pid = pids; r == 0 && *pid; pid++) {
		uint64_t n;

		if (parse_u64(*pid, 10, 1, INT32_MAX, &n) == 0)
			(void)kill((pid_t)n, SIGKILL);
	}
	return r;
}

/* Each that goes may leave children of its own to us. Returns whether there was one. */
static bool end_descendants(void)
{
	bool any = false;

	while (kill_children() == 0 && waitpid(-1, NULL, 0) > 0)
		any = true;
	return any;
}

/* It may have to do without its keeper: then what it has started is its own to end. */
static int work_alone(const struct keeper_work *work, pid_t parent)
{
	int code;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent) /* it has gone already */
		return 128 + SIGKILL;
	code = work->run(work->data);
	if (end_descendants())
		work->clean_up(work->data, 0);
	(void)fflush(NULL);
	return code;
}

/* 0: goes on; 1: ended. Orphans are reaped too. */
static int has_ended(pid_t child, int *ret_status)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == child) {
			*ret_status = status;
			return 1;
		}
	}
	return 0;
}

static int wait_for(pid_t child)
{
	sigset_t set;
	int status, signo;

	stop_signals(&set);
	(void)sigaddset(&set, SIGCHLD);
	for (;;) {
		if (has_ended(child, &status))
			return status;
		signo = sigwaitinfo(&set, NULL);
		if (signo > 0 && signo != SIGCHLD)
			(void)kill(child, signo);
	}
}

int keeper_run(const struct keeper_work *work)
{
	pid_t parent = getpid(), child;
	sigset_t chld, old;
	int status, signo;

	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &chld, &old);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -errno;
	child = fork();
	if (child < 0)
		return -errno;
	if (child == 0) {
		(void)sigprocmask(SIG_SETMASK, &old, NULL);
		_exit(work_alone(work, parent));
	}
	status = wait_for(child);
	signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (end_descendants() || signo)
		work->clean_up(work->data, signo);
	return signo ? 128 + signo : WEXITSTATUS(status);
}
