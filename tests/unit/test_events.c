/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/events.h"

enum { CALLED = 1, QUIET = 2, QUIET_MS = 60 };

static int called(void *data)
{
	++*(int *)data;
	return CALLED;
}

static int called_on(void *data)
{
	++*(int *)data;
	return 0;
}

static int quiet(void *data)
{
	(void)data;
	return QUIET;
}

static int readable(void *data, uint32_t mask)
{
	(void)mask;
	return called(data);
}

static void a_readable_descriptor_is_told(void **state)
{
	_cleanup_(events_freep) struct events *ev = NULL;
	int fds[2], n = 0;

	(void)state;
	assert_int_equal(events_new(&ev), 0);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(events_fd(ev, fds[0], 0, readable, &n, NULL), 0);
	assert_int_equal(events_timer(ev, QUIET_MS, quiet, NULL, NULL), 0);
	assert_int_equal(events_run(ev), QUIET);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(events_run(ev), CALLED);
	ev = events_free(ev);
	assert_int_equal(close(fds[0]) | close(fds[1]), 0); /* they are still ours */
}

static int fails(void *data)
{
	(void)data;
	return -EPIPE;
}

static void what_a_callback_returns_ends_the_run(void **state)
{
	_cleanup_(events_freep) struct events *ev = NULL;

	(void)state;
	assert_int_equal(events_new(&ev), 0);
	assert_int_equal(events_timer(ev, 0, fails, NULL, NULL), 0);
	assert_int_equal(events_run(ev), -EPIPE);
}

static int take_signal(void *data, int signo)
{
	*(int *)data = signo;
	return CALLED;
}

static void a_signal_is_blocked_and_told(void **state)
{
	_cleanup_(events_freep) struct events *ev = NULL;
	int signo = 0;
	sigset_t set;

	(void)state;
	assert_int_equal(events_new(&ev), 0);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	(void)sigaddset(&set, SIGTERM);
	assert_int_equal(events_signals(ev, &set, take_signal, &signo, NULL), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(events_run(ev), CALLED);
	assert_int_equal(signo, SIGUSR1);
	assert_int_equal(raise(SIGTERM), 0);
	assert_int_equal(events_run(ev), CALLED);
	assert_int_equal(signo, SIGTERM);
}

static int take_status(void *data, int status)
{
	*(int *)data = status;
	return CALLED;
}

static void the_end_of_a_child_is_told_once_and_the_child_reaped(void **state)
{
	_cleanup_(events_freep) struct events *ev = NULL;
	struct event_source *src = NULL;
	int status = -1;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(7);
	assert_int_equal(events_new(&ev), 0);
	assert_int_equal(events_child(ev, pid, take_status, &status, &src), 0);
	assert_int_equal(events_run(ev), CALLED);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(events_timer(ev, QUIET_MS, quiet, NULL, NULL), 0);
	assert_int_equal(events_run(ev), QUIET);
	events_remove(src); /* the handle outlives what it was for */
}

static void a_process_that_is_not_there_cannot_be_waited_for(void **state)
{
	_cleanup_(events_freep) struct events *ev = NULL;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(events_new(&ev), 0);
	assert_int_equal(events_child(ev, pid, take_status, NULL, NULL), -ESRCH);
}

static void a_timer_fires_once_and_not_early(void **state)
{
	_cleanup_(events_freep) struct events *ev = NULL;
	uint64_t began = events_now();
	int n = 0;

	(void)state;
	assert_int_equal(events_new(&ev), 0);
	assert_int_equal(events_timer(ev, 20, called_on, &n, NULL), 0);
	assert_int_equal(events_timer(ev, QUIET_MS, quiet, NULL, NULL), 0);
	assert_int_equal(events_run(ev), QUIET);
	assert_int_equal(n, 1);
	assert_true(events_now() - began >= QUIET_MS - 1);
}

static int third_time(void *data)
{
	return ++*(int *)data == 3;
}

static void a_recheck_looks_again_and_again(void **state)
{
	_cleanup_(events_freep) struct events *ev = NULL;
	int n = 0;

	(void)state;
	assert_int_equal(events_new(&ev), 0);
	assert_int_equal(events_recheck(ev, 0, "a test", third_time, &n, NULL), -EINVAL);
	assert_int_equal(events_recheck(ev, 5, "a test", third_time, &n, NULL), 0);
	assert_int_equal(events_run(ev), 1);
	assert_int_equal(n, 3);
}

struct pair {
	struct event_source *self, *other;
	int n;
};

static int remove_both(void *data)
{
	struct pair *p = data;

	p->n++;
	events_remove(p->self);
	events_remove(p->other);
	events_remove(NULL);
	return 0;
}

static void a_callback_may_remove_itself_and_others(void **state)
{
	_cleanup_(events_freep) struct events *ev = NULL;
	struct pair p = { 0 };

	(void)state;
	assert_int_equal(events_new(&ev), 0);
	assert_int_equal(events_recheck(ev, 5, "a test", remove_both, &p, &p.self), 0);
	assert_int_equal(events_timer(ev, QUIET_MS / 2, called, &p.n, &p.other), 0);
	assert_int_equal(events_timer(ev, QUIET_MS, quiet, NULL, NULL), 0);
	assert_int_equal(events_run(ev), QUIET);
	assert_int_equal(p.n, 1);
}

struct world {
	char dir[32];
	struct sysroot *root;
	struct events *ev;
	int n;
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	(void)snprintf(w->dir, sizeof(w->dir), "/tmp/gdrkit-events.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	assert_int_equal(sysroot_open(w->dir, &w->root), 0);
	assert_int_equal(events_new(&w->ev), 0);
	*state = w;
	return 0;
}

static int end_world(void **state)
{
	struct world *w = *state;
	_cleanup_(sysroot_freep) struct sysroot *tmp = NULL;

	events_free(w->ev);
	assert_int_equal(sysroot_open("/tmp", &tmp), 0);
	assert_int_equal(sysroot_remove(tmp, strrchr(w->dir, '/') + 1), 0);
	sysroot_free(w->root);
	free(w);
	return 0;
}

/* Was the watcher called since the last time? Runs the loop until it is quiet. */
static bool told(struct world *w)
{
	int before = w->n;
	struct event_source *timer = NULL;

	assert_int_equal(events_timer(w->ev, QUIET_MS, quiet, NULL, &timer), 0);
	assert_int_equal(events_run(w->ev), QUIET);
	events_remove(timer);
	return w->n > before;
}

static void put(const struct world *w, const char *path, const char *text)
{
	assert_int_equal(sysroot_replace(w->root, path, 0644, text, strlen(text)), 0);
}

static void watch(struct world *w, const char *path)
{
	assert_int_equal(events_file(w->ev, w->root, path, called_on, &w->n, NULL), 0);
	assert_false(told(w));
}

static void a_file_is_told_when_made_written_moved_and_deleted(void **state)
{
	struct world *w = *state;

	assert_int_equal(sysroot_mkdirs(w->root, "run", 0755), 0);
	watch(w, "run/ready");
	put(w, "run/ready", "1");
	assert_true(told(w));
	put(w, "run/ready", "2");
	assert_true(told(w));
	assert_int_equal(sysroot_write_attr(w->root, "run/ready", "3"), 0);
	assert_true(told(w));
	assert_int_equal(sysroot_rename(w->root, "run/ready", "run/gone"), 0);
	assert_true(told(w));
	assert_int_equal(sysroot_rename(w->root, "run/gone", "run/ready"), 0);
	assert_true(told(w));
	assert_int_equal(sysroot_remove(w->root, "run/ready"), 0);
	assert_true(told(w));
}

static void other_files_of_the_directory_are_not_told(void **state)
{
	struct world *w = *state;

	put(w, "run/ready", "1");
	watch(w, "run/ready");
	put(w, "run/other", "1");
	assert_false(told(w));
	put(w, "run2/ready", "1");
	assert_false(told(w));
}

static void a_file_below_directories_that_do_not_exist_yet_is_told(void **state)
{
	struct world *w = *state;

	watch(w, "run/mellanox/drivers/.driver-ready");
	assert_int_equal(sysroot_mkdirs(w->root, "run/mellanox", 0755), 0);
	assert_false(told(w));
	assert_int_equal(sysroot_mkdirs(w->root, "run/mellanox/drivers", 0755), 0);
	assert_false(told(w));
	put(w, "run/mellanox/drivers/.driver-ready", "1");
	assert_true(told(w));
	assert_int_equal(sysroot_remove(w->root, "run/mellanox"), 0);
	assert_true(told(w));
	put(w, "run/mellanox/drivers/.driver-ready", "2");
	assert_true(told(w));
	put(w, "run/mellanox/drivers/.driver-ready", "3");
	assert_true(told(w));
}

static void directories_that_are_moved_take_the_file_with_them(void **state)
{
	struct world *w = *state;

	put(w, "a/b/c/file", "1");
	watch(w, "a/b/c/file");
	assert_int_equal(sysroot_rename(w->root, "a", "z"), 0);
	assert_true(told(w));
	put(w, "z/b/c/file", "2");
	assert_false(told(w));
	assert_int_equal(sysroot_rename(w->root, "z", "a"), 0);
	assert_true(told(w));
}

static void a_watch_follows_links_inside_the_root_only(void **state)
{
	struct world *w = *state;

	put(w, "real/tmp/other", "");
	assert_int_equal(sysroot_link(w->root, "/real", "var"), 0);
	watch(w, "var/tmp/file");
	put(w, "real/tmp/file", "1");
	assert_true(told(w));
}

static void a_file_behind_a_link_that_is_flipped_is_told(void **state)
{
	struct world *w = *state;

	/* as Kubernetes mounts a ConfigMap */
	put(w, "config/..one/policy", "1");
	put(w, "config/..two/policy", "22");
	assert_int_equal(sysroot_link(w->root, "..one", "config/..data"), 0);
	assert_int_equal(sysroot_link(w->root, "..data/policy", "config/policy"), 0);
	watch(w, "config/policy");
	assert_int_equal(sysroot_link(w->root, "..two", "config/..data"), 0);
	assert_true(told(w));
}

static void a_loop_of_links_is_watched_until_it_is_none(void **state)
{
	struct world *w = *state;

	assert_int_equal(sysroot_link(w->root, "loop", "loop"), 0);
	watch(w, "loop/file");
	assert_int_equal(sysroot_remove(w->root, "loop"), 0);
	put(w, "loop/file", "1");
	assert_true(told(w));
}

struct uevent {
	const char *wanted; /* the subsystem: others may have events meanwhile */
	char action[32], devpath[256], subsystem[64];
};

static int take_uevent(void *data, const char *action, const char *devpath, const char *subsystem)
{
	struct uevent *u = data;

	if (strcmp(subsystem, u->wanted) != 0)
		return 0;
	(void)snprintf(u->action, sizeof(u->action), "%s", action);
	(void)snprintf(u->devpath, sizeof(u->devpath), "%s", devpath);
	(void)snprintf(u->subsystem, sizeof(u->subsystem), "%s", subsystem);
	return CALLED;
}

static void a_uevent_of_the_kernel_is_told(void **state)
{
	_cleanup_(events_freep) struct events *ev = NULL;
	_cleanup_(sysroot_freep) struct sysroot *root = NULL;
	struct uevent u = { .wanted = "mem" };

	(void)state;
	assert_int_equal(sysroot_open("/", &root), 0);
	assert_int_equal(events_new(&ev), 0);
	assert_int_equal(events_uevents(ev, take_uevent, &u, NULL), 0);
	/* asks the kernel to send one: needs root and a writable sysfs */
	if (sysroot_write_attr(root, "sys/class/mem/null/uevent", "change") < 0)
		skip();
	assert_int_equal(events_timer(ev, 5000, quiet, NULL, NULL), 0);
	assert_int_equal(events_run(ev), CALLED);
	assert_string_equal(u.action, "change");
	assert_string_equal(u.devpath, "/devices/virtual/mem/null");
	assert_string_equal(u.subsystem, "mem");
}

static void a_uevent_that_is_not_the_kernels_is_not_told(void **state)
{
	static const char forged[] = "remove@/module/ib_core\0ACTION=remove\0SUBSYSTEM=forged";
	_cleanup_close_ int fd =
		socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	_cleanup_(events_freep) struct events *ev = NULL;
	struct uevent u = { .wanted = "forged" };

	(void)state;
	assert_int_equal(events_new(&ev), 0);
	assert_int_equal(events_uevents(ev, take_uevent, &u, NULL), 0);
	/* without NET_ADMIN it cannot even be sent */
	if (sendto(fd, forged, sizeof(forged), 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		assert_int_equal(errno, EPERM);
	assert_int_equal(events_timer(ev, QUIET_MS, quiet, NULL, NULL), 0);
	assert_int_equal(events_run(ev), QUIET);
	assert_string_equal(u.action, "");
}

#define IN_WORLD(f) cmocka_unit_test_setup_teardown(f, make_world, end_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_readable_descriptor_is_told),
		cmocka_unit_test(what_a_callback_returns_ends_the_run),
		cmocka_unit_test(a_signal_is_blocked_and_told),
		cmocka_unit_test(the_end_of_a_child_is_told_once_and_the_child_reaped),
		cmocka_unit_test(a_process_that_is_not_there_cannot_be_waited_for),
		cmocka_unit_test(a_timer_fires_once_and_not_early),
		cmocka_unit_test(a_recheck_looks_again_and_again),
		cmocka_unit_test(a_callback_may_remove_itself_and_others),
		IN_WORLD(a_file_is_told_when_made_written_moved_and_deleted),
		IN_WORLD(other_files_of_the_directory_are_not_told),
		IN_WORLD(a_file_below_directories_that_do_not_exist_yet_is_told),
		IN_WORLD(directories_that_are_moved_take_the_file_with_them),
		IN_WORLD(a_watch_follows_links_inside_the_root_only),
		IN_WORLD(a_file_behind_a_link_that_is_flipped_is_told),
		IN_WORLD(a_loop_of_links_is_watched_until_it_is_none),
		cmocka_unit_test(a_uevent_of_the_kernel_is_told),
		cmocka_unit_test(a_uevent_that_is_not_the_kernels_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
