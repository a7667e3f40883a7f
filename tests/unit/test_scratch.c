/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fake_node.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "tree/scratch.h"
#include "tree/store.h"

enum { LONG_MS = 60000 };

static struct scratch *begin(const struct fake_node *node, const char *key)
{
	struct scratch *s = NULL;

	assert_int_equal(scratch_new(node->root, "store", key, &s), 0);
	return s;
}

/* All that is in the store, hidden or not: "a b c". */
static void assert_store(const struct fake_node *node, const char *wanted)
{
	_cleanup_strv_ char **names = NULL;
	_cleanup_free_ char *all = NULL;
	size_t len;
	FILE *to = open_memstream(&all, &len);

	assert_int_equal(sysroot_list(node->root, "store", &names), 0);
	for (char **name = names; *name; name++)
		fprintf(to, "%s%s", name == names ? "" : " ", *name);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(all, wanted);
}

static void assert_ends_well(pid_t pid)
{
	int status;

	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A build of this key whose process is no more. */
static void fake_dead(const struct fake_node *node, const char *key)
{
	pid_t pid = fork();
	struct scratch *s;

	if (pid == 0) {
		if (scratch_new(node->root, "store", key, &s) < 0)
			_exit(1);
		_exit(sysroot_replace(scratch_root(s), "source/x", 0644, "x", 1) < 0);
	}
	assert_ends_well(pid);
}

static void a_directory_goes_with_its_build(void **state)
{
	struct fake_node *node = *state;
	struct scratch *s = begin(node, "k1");

	assert_string_equal(scratch_path(s), "store/.build-k1");
	assert_int_equal(sysroot_replace(scratch_root(s), "source/x", 0644, "x", 1), 0);
	assert_file(node, "store/.build-k1/source/x", "x");
	assert_null(scratch_free(s));
	assert_store(node, "");
	assert_null(scratch_free(NULL));
}

static void one_key_is_built_by_one_at_a_time(void **state)
{
	struct fake_node *node = *state;
	struct scratch *s = begin(node, "k1"), *other = begin(node, "k2"), *none = NULL;

	assert_int_equal(scratch_new(node->root, "store", "k1", &none), -EBUSY);
	assert_null(none);
	assert_store(node, ".build-k1 .build-k2");
	scratch_free(s);
	scratch_free(begin(node, "k1"));
	scratch_free(other);
	assert_store(node, "");
}

static void a_build_begins_anew_where_a_dead_one_was(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(scratch_freep) struct scratch *s = NULL;
	_cleanup_strv_ char **names = NULL;

	fake_dead(node, "k1");
	assert_file(node, "store/.build-k1/source/x", "x");
	s = begin(node, "k1");
	assert_int_equal(sysroot_list(scratch_root(s), ".", &names), 0);
	assert_null(names[0]);
	assert_store(node, ".build-k1");
}

/* What a make that was not killed with its parent does. */
static void what_a_dead_build_started_writes_into_no_other_build(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(scratch_freep) struct scratch *s = NULL;
	_cleanup_close_ int dead = -1, late = -1;

	fake_dead(node, "k1");
	dead = sysroot_openat(node->root, "store/.build-k1/source", O_RDONLY | O_DIRECTORY, 0);
	assert_true(dead >= 0);
	s = begin(node, "k1");
	late = openat(dead, "late", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_false(sysroot_exists(scratch_root(s), "source/late"));
	assert_false(sysroot_exists(scratch_root(s), "source"));
}

static void what_is_no_directory_is_no_build(void **state)
{
	struct fake_node *node = *state;
	struct scratch *s;

	fake_file(node, "store/.build-k1", "a file");
	assert_int_equal(sysroot_link(node->root, "elsewhere", "store/.build-k2"), 0);
	fake_file(node, "store/elsewhere/x", "x");
	assert_int_equal(scratch_wait(node->root, "store", "k1", -1, LONG_MS), 0);
	s = begin(node, "k2");
	assert_store(node, ".build-k2 elsewhere");
	scratch_free(s);
	assert_file(node, "store/elsewhere/x", "x");
}

static void waits_for_nobody(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(scratch_freep) struct scratch *s = NULL;

	assert_int_equal(scratch_wait(node->root, "store", "k1", -1, LONG_MS), 0);
	s = begin(node, "k2");
	assert_int_equal(scratch_wait(node->root, "store", "k1", -1, LONG_MS), 0);
	fake_dead(node, "k3");
	assert_int_equal(scratch_wait(node->root, "store", "k3", -1, LONG_MS), 0);
}

/* Tells that it has begun; ends when it is killed. */
static pid_t build_beside(const struct fake_node *node, int told)
{
	pid_t pid = fork();
	struct scratch *s;

	if (pid != 0)
		return pid;
	if (scratch_new(node->root, "store", "k1", &s) < 0 || write(told, "b", 1) != 1)
		_exit(1);
	for (;;)
		(void)pause();
}

static pid_t wait_beside(const struct fake_node *node, int told)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (scratch_wait(node->root, "store", "k1", -1, LONG_MS) < 0)
		_exit(1);
	_exit(write(told, "w", 1) != 1);
}

static void waits_until_the_other_build_ends(void **state)
{
	struct fake_node *node = *state;
	struct pollfd p = { .events = POLLIN };
	pid_t builder, waiter;
	int ends[2];
	char byte;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	p.fd = ends[0];
	builder = build_beside(node, ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	waiter = wait_beside(node, ends[1]);
	assert_int_equal(poll(&p, 1, 50), 0);
	assert_int_equal(kill(builder, SIGKILL), 0);
	assert_int_equal(waitpid(builder, NULL, 0), builder);
	assert_int_equal(poll(&p, 1, LONG_MS), 1);
	assert_ends_well(waiter);
	scratch_free(begin(node, "k1"));
	assert_store(node, "");
	closep(&ends[0]);
	closep(&ends[1]);
}

static void tells_whether_somebody_builds(void **state)
{
	struct fake_node *node = *state;
	struct scratch *s;

	assert_false(scratch_is_busy(node->root, "store", "k1"));
	s = begin(node, "k1");
	assert_true(scratch_is_busy(node->root, "store", "k1"));
	assert_false(scratch_is_busy(node->root, "store", "k2"));
	scratch_free(s);
	assert_false(scratch_is_busy(node->root, "store", "k1"));
	fake_dead(node, "k1");
	assert_false(scratch_is_busy(node->root, "store", "k1"));
	assert_store(node, ".build-k1");
}

static void is_stopped_and_timed_out_while_it_waits(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(scratch_freep) struct scratch *s = begin(node, "k1");
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	closep(&ends[1]);
	assert_int_equal(scratch_wait(node->root, "store", "k1", ends[0], LONG_MS), -ECANCELED);
	assert_int_equal(scratch_wait(node->root, "store", "k1", -1, 10), -ETIMEDOUT);
	assert_store(node, ".build-k1");
	closep(&ends[0]);
}

static void who_waited_in_vain_holds_up_nobody(void **state)
{
	struct fake_node *node = *state;
	struct scratch *s = begin(node, "k1");

	assert_int_equal(scratch_wait(node->root, "store", "k1", -1, 1), -ETIMEDOUT);
	scratch_free(s);
	assert_int_equal(scratch_wait(node->root, "store", "k1", -1, LONG_MS), 0);
	scratch_free(begin(node, "k1"));
	assert_store(node, "");
}

static int build_once(const struct fake_node *node)
{
	struct scratch *s;
	int r, fd;

	while ((r = scratch_new(node->root, "store", "k1", &s)) == -EBUSY) {
		r = scratch_wait(node->root, "store", "k1", -1, LONG_MS);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	fd = sysroot_openat(node->root, "building", O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return fd; /* another one builds too */
	closep(&fd);
	r = sysroot_replace(scratch_root(s), "source/x", 0644, "x", 1);
	if (r == 0)
		r = sysroot_remove(node->root, "building");
	if (r == 0 && !sysroot_exists(node->root, "store/.build-k1/source/x"))
		r = -ENOENT;
	scratch_free(s);
	return r;
}

static void of_many_that_come_at_once_one_builds_and_the_others_follow(void **state)
{
	struct fake_node *node = *state;
	pid_t pids[6];

	for (size_t i = 0; i < 6; i++) {
		pids[i] = fork();
		for (int n = 0; pids[i] == 0 && n < 20; n++)
			if (build_once(node) < 0)
				_exit(1);
		if (pids[i] == 0)
			_exit(0);
	}
	for (size_t i = 0; i < 6; i++)
		assert_ends_well(pids[i]);
	assert_store(node, "");
}

static void sweeps_what_dead_builds_left_and_nothing_else(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(scratch_freep) struct scratch *s = NULL;

	assert_int_equal(scratch_sweep(node->root, "store"), 0);
	assert_false(sysroot_exists(node->root, "store"));
	s = begin(node, "live");
	fake_file(node, "store/.build-dead/source/x", "x");
	fake_file(node, "store/.build-aBcDeF/x", "of an older gdrkit");
	fake_file(node, "store/.dead-77/x", "x");
	fake_file(node, "store/.log-k7", "");
	fake_file(node, "store/.new-k7/x", "");
	fake_file(node, "store/k7/manifest.json", "{}");
	assert_int_equal(scratch_sweep(node->root, "store"), 0);
	assert_store(node, ".build-live .log-k7 .new-k7 k7");
}

static void a_build_of_any_key_clears_up_after_dead_ones(void **state)
{
	struct fake_node *node = *state;
	struct scratch *s;

	fake_dead(node, "k1");
	fake_file(node, "store/.dead-77/x", "x");
	s = begin(node, "k2");
	assert_store(node, ".build-k2");
	scratch_free(s);
	assert_store(node, "");
}

static void a_directory_that_has_no_lock_yet_is_not_taken_for_a_dead_one(void **state)
{
	struct fake_node *node = *state;
	_cleanup_close_ int lock = -1, dir = -1;
	pid_t pid;

	/* Another process between mkdir and flock: the store is locked. */
	fake_file(node, "store/.build-k1/source/x", "x");
	lock = store_lock(node->root, "store");
	pid = fork();
	if (pid == 0) {
		struct scratch *s;

		closep(&lock);
		_exit(scratch_new(node->root, "store", "k1", &s) != -EBUSY);
	}
	assert_int_equal(poll(NULL, 0, 30), 0);
	dir = sysroot_openat(node->root, "store/.build-k1", O_RDONLY | O_DIRECTORY, 0);
	assert_int_equal(flock(dir, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(flock(lock, LOCK_UN), 0);
	assert_ends_well(pid);
	assert_file(node, "store/.build-k1/source/x", "x");
}

static void leaves_anothers_directory_alone_when_its_own_was_removed(void **state)
{
	struct fake_node *node = *state;
	struct scratch *s = begin(node, "k1");
	_cleanup_(scratch_freep) struct scratch *other = NULL;

	assert_int_equal(sysroot_remove(node->root, "store"), 0);
	other = begin(node, "k1");
	scratch_free(s);
	assert_store(node, ".build-k1");
}

static void says_what_the_kernel_says_of_a_store_that_cannot_be_written(void **state)
{
	struct fake_node *node = *state;
	struct scratch *s = NULL;

	fake_file(node, "store", "a file");
	assert_int_equal(scratch_new(node->root, "store", "k1", &s), -ENOTDIR);
	assert_int_equal(scratch_new(node->root, "store/below", "k1", &s), -ENOTDIR);
	assert_null(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(a_directory_goes_with_its_build),
		on_a_node(one_key_is_built_by_one_at_a_time),
		on_a_node(a_build_begins_anew_where_a_dead_one_was),
		on_a_node(what_a_dead_build_started_writes_into_no_other_build),
		on_a_node(what_is_no_directory_is_no_build),
		on_a_node(waits_for_nobody),
		on_a_node(waits_until_the_other_build_ends),
		on_a_node(tells_whether_somebody_builds),
		on_a_node(is_stopped_and_timed_out_while_it_waits),
		on_a_node(who_waited_in_vain_holds_up_nobody),
		on_a_node(of_many_that_come_at_once_one_builds_and_the_others_follow),
		on_a_node(sweeps_what_dead_builds_left_and_nothing_else),
		on_a_node(a_build_of_any_key_clears_up_after_dead_ones),
		on_a_node(a_directory_that_has_no_lock_yet_is_not_taken_for_a_dead_one),
		on_a_node(leaves_anothers_directory_alone_when_its_own_was_removed),
		on_a_node(says_what_the_kernel_says_of_a_store_that_cannot_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
