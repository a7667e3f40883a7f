/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_node.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "common/child.h"
#include "tree/cage.h"

/* A shell that the caged thread starts; the node's directory "in" is its to write in. */
struct attempt {
	const char *script; /* $1: the node's directory, $2: the caged thread, $3: `argument` */
	const char *dir, *argument;
	int status;
	char *output;
};

static void attempt_clear(struct attempt *a)
{
	free(a->output);
}
#define _cleanup_attempt_ _cleanup_(attempt_clear)

static int shell(void *data)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	struct attempt *a = data;
	char thread[24];
	const char *argv[] = { "sh", "-c", a->script, "sh", a->dir, thread, a->argument, NULL };
	struct child_spec spec = { .argv = argv, .stop_fd = -1 };
	int r;

	(void)snprintf(thread, sizeof(thread), "%ld", syscall(SYS_gettid));
	r = child_run(&spec, &res);
	a->status = res.status;
	a->output = TAKE_PTR(res.tail);
	return r;
}

static struct attempt in_cage(const struct fake_node *node, const char *script,
			      const char *argument)
{
	struct attempt a = {
		.script = script, .dir = node->dir, .argument = argument ?: "", .status = -1
	};
	_cleanup_free_ char *in = NULL;

	assert_int_equal(sysroot_mkdirs(node->root, "in", 0755), 0);
	assert_true(asprintf(&in, "%s/in", node->dir) > 0);
	assert_int_equal(cage_run((const char *const[]){ in, NULL }, shell, &a), 0);
	return a;
}

static bool lacks_abi(int abi)
{
	if (cage_landlock() >= abi)
		return false;
	print_message("this kernel's Landlock has ABI %d, this needs %d\n", cage_landlock(), abi);
	return true;
}

static void writes_only_where_it_may(void **state)
{
	_cleanup_attempt_ struct attempt a = { 0 };
	const struct fake_node *node = *state;

	if (lacks_abi(1))
		skip();
	fake_file(node, "out/kept", "kept");
	a = in_cage(node,
		    "cd \"$1\"; echo made >in/made; mkdir in/dir; ln -s x in/link; "
		    "mv in/made in/dir/moved; "
		    "(echo no >out/made; echo no >out/kept; echo no >>out/kept; mkdir out/dir; "
		    "rm out/kept; mv out/kept in/kept; ln out/kept in/kept; mkfifo out/fifo; "
		    "ln -s x out/link; mv in/dir/moved out/moved; truncate -s 0 out/kept) 2>&1; "
		    "cat out/kept",
		    NULL);
	assert_int_equal(a.status, 0);
	assert_file(node, "in/dir/moved", "made\n");
	assert_true(sysroot_exists(node->root, "in/dir"));
	assert_false(sysroot_exists(node->root, "in/kept"));
	assert_file(node, "out/kept", "kept");
	for (const char *const *p =
		     (const char *const[]){ "made", "dir", "fifo", "link", "moved", NULL };
	     *p; p++) {
		_cleanup_free_ char *path = NULL;

		assert_true(asprintf(&path, "out/%s", *p) > 0);
		assert_false(sysroot_exists(node->root, path));
	}
}

static void devices_that_swallow_stay_writable(void **state)
{
	_cleanup_attempt_ struct attempt a = in_cage(
		*state, "echo x >/dev/null && echo x >/dev/zero && cat /dev/null && echo ok", NULL);

	assert_string_equal(a.output, "ok\n");
	assert_int_equal(a.status, 0);
}

static void children_have_no_capabilities_and_gain_none(void **state)
{
	_cleanup_attempt_ struct attempt a = in_cage(
		*state, "grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs)' /proc/self/status", NULL);

	assert_string_equal(a.output, "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n"
				      "CapEff:\t0000000000000000\nCapAmb:\t0000000000000000\n"
				      "NoNewPrivs:\t1\n");
}

static char *own_status(void)
{
	_cleanup_(sysroot_freep) struct sysroot *proc = NULL;
	char *text, *caps;

	assert_int_equal(sysroot_open("/proc/thread-self", &proc), 0);
	assert_int_equal(sysroot_read(proc, "status", 1 << 16, &text, NULL), 0);
	caps = strstr(text, "CapInh:");
	assert_non_null(caps);
	*strstr(caps, "Seccomp:") = '\0';
	caps = strdup(caps);
	free(text);
	return caps;
}

static void the_caller_stays_free(void **state)
{
	_cleanup_free_ char *before = own_status(), *after = NULL;
	_cleanup_attempt_ struct attempt a = in_cage(*state, "true", NULL);
	const struct fake_node *node = *state;

	after = own_status();
	assert_string_equal(before, after);
	assert_non_null(strstr(after, "NoNewPrivs:\t0"));
	fake_file(node, "out/by_the_caller", "x");
	assert_file(node, "out/by_the_caller", "x");
	assert_int_equal(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
	assert_int_equal(a.status, 0);
}

/* Listens; what the child tries is bash's /dev/tcp. */
static void children_cannot_connect(void **state)
{
	_cleanup_attempt_ struct attempt a = { 0 };
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	char port[8];

	if (lacks_abi(4))
		skip();
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	(void)snprintf(port, sizeof(port), "%u", ntohs(at.sin_port));
	a = in_cage(*state, "bash -c 'exec 3<>/dev/tcp/127.0.0.1/$1 && echo connected' sh $3 2>&1",
		    port);
	assert_int_equal(a.status, 1);
	assert_non_null(strstr(a.output, "Permission denied"));
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(accept(fd, NULL, NULL), -1);
	assert_int_equal(errno, EAGAIN);
}

static void on_signal(int signo)
{
	(void)signo;
	abort();
}

static void children_cannot_signal_this_process(void **state)
{
	_cleanup_attempt_ struct attempt a = { 0 };

	if (lacks_abi(6))
		skip();
	(void)signal(SIGUSR1, on_signal);
	a = in_cage(*state, "kill -USR1 $PPID 2>&1 || echo refused", NULL);
	(void)signal(SIGUSR1, SIG_DFL);
	assert_non_null(strstr(a.output, "refused\n"));
}

/* The caged thread has what its children have, and this process's memory: it must not be traced. */
static void children_cannot_trace_the_caged_thread(void **state)
{
	_cleanup_attempt_ struct attempt a =
		in_cage(*state,
			"for t in $PPID $2; do for f in mem environ maps; do "
			"(exec 3</proc/$PPID/task/$t/$f) 2>/dev/null && "
			"head -c 1 /proc/$PPID/task/$t/$f >/dev/null 2>&1 && echo read $t $f; "
			"done; readlink /proc/$PPID/task/$t/fd/1; done; echo end",
			NULL);

	assert_string_equal(a.output, "end\n");
}

struct seen {
	bool blocked;
	pthread_t thread;
};

static int look(void *data)
{
	struct seen *seen = data;
	sigset_t now;

	assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
	seen->blocked = sigismember(&now, SIGTERM) && sigismember(&now, SIGCHLD) &&
			sigismember(&now, SIGINT);
	seen->thread = pthread_self();
	return 42;
}

static void signals_stay_with_the_other_threads(void **state)
{
	struct seen seen = { 0 };
	sigset_t now;

	(void)state;
	assert_int_equal(cage_run((const char *const[]){ NULL }, look, &seen), 42);
	assert_true(seen.blocked);
	assert_false(pthread_equal(seen.thread, pthread_self()));
	assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
	assert_false(sigismember(&now, SIGTERM));
}

static int must_not_run(void *data)
{
	*(bool *)data = true;
	return 0;
}

static void a_cage_that_cannot_be_made_runs_nothing(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_free_ char *none = NULL, *file = NULL;
	bool ran = false;

	if (lacks_abi(1))
		skip();
	fake_file(node, "file", "");
	assert_true(asprintf(&none, "%s/none", node->dir) > 0);
	assert_true(asprintf(&file, "%s/file", node->dir) > 0);
	assert_int_equal(cage_run((const char *const[]){ none, NULL }, must_not_run, &ran),
			 -ENOENT);
	assert_int_equal(cage_run((const char *const[]){ file, NULL }, must_not_run, &ran),
			 -ENOTDIR);
	assert_false(ran);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(writes_only_where_it_may),
		on_a_node(devices_that_swallow_stay_writable),
		on_a_node(children_have_no_capabilities_and_gain_none),
		on_a_node(the_caller_stays_free),
		on_a_node(children_cannot_connect),
		on_a_node(children_cannot_signal_this_process),
		on_a_node(children_cannot_trace_the_caged_thread),
		on_a_node(signals_stay_with_the_other_threads),
		on_a_node(a_cage_that_cannot_be_made_runs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
