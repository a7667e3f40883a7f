/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fake_node.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <time.h>

#include "common/lock.h"

enum { LONG_MS = 60000 };

static int open_lock(void **state)
{
	const struct fake_node *node = *state;
	int fd = sysroot_openat(node->root, "lock", O_RDWR | O_CREAT, 0600);

	assert_true(fd >= 0);
	return fd;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void takes_a_free_lock_at_once(void **state)
{
	_cleanup_close_ int mine = open_lock(state), other = open_lock(state);

	assert_int_equal(lock_wait(mine, -1, LONG_MS), 0);
	assert_int_equal(lock_try(other), -EWOULDBLOCK);
	closep(&mine);
	mine = -1;
	assert_int_equal(lock_try(other), 0);
}

static void takes_a_lock_again_that_it_holds(void **state)
{
	_cleanup_close_ int fd = open_lock(state);

	assert_int_equal(lock_try(fd), 0);
	assert_int_equal(lock_wait(fd, -1, LONG_MS), 0);
}

static void those_who_only_look_do_not_see_each_other(void **state)
{
	_cleanup_close_ int one = open_lock(state), two = open_lock(state);
	int holder = open_lock(state);

	assert_int_equal(lock_try(holder), 0);
	assert_int_equal(lock_try_shared(one), -EWOULDBLOCK);
	closep(&holder);
	assert_int_equal(lock_try_shared(one), 0);
	assert_int_equal(lock_try_shared(two), 0);
}

struct waiter {
	int fd, result, told;
};

static void *wait_for_it(void *data)
{
	struct waiter *w = data;

	w->result = lock_wait(w->fd, -1, LONG_MS);
	(void)eventfd_write(w->told, 1);
	return NULL;
}

static void waits_until_the_holder_lets_go(void **state)
{
	_cleanup_close_ int holder = open_lock(state), other = open_lock(state);
	_cleanup_close_ int told = eventfd(0, EFD_CLOEXEC);
	struct waiter w = { other, -1, told };
	struct pollfd p = { .fd = told, .events = POLLIN };
	pthread_t thread;

	assert_int_equal(lock_try(holder), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_it, &w), 0);
	assert_int_equal(poll(&p, 1, 50), 0);
	assert_int_equal(flock(holder, LOCK_UN), 0);
	assert_int_equal(poll(&p, 1, LONG_MS), 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(w.result, 0);
	assert_int_equal(lock_try(holder), -EWOULDBLOCK);
}

static void is_cancelled_while_it_waits(void **state)
{
	_cleanup_close_ int holder = open_lock(state), other = open_lock(state);
	_cleanup_close_ int stop = eventfd(1, EFD_CLOEXEC);

	assert_int_equal(lock_try(holder), 0);
	assert_int_equal(lock_wait(other, stop, LONG_MS), -ECANCELED);
	assert_int_equal(lock_try(other), -EWOULDBLOCK);
}

static void times_out(void **state)
{
	_cleanup_close_ int holder = open_lock(state), other = open_lock(state);
	uint64_t begin = now_ms();

	assert_int_equal(lock_try(holder), 0);
	assert_int_equal(lock_wait(other, -1, 30), -ETIMEDOUT);
	assert_in_range(now_ms() - begin, 30, LONG_MS);
}

static void lets_go_of_a_lock_that_comes_too_late(void **state)
{
	_cleanup_close_ int holder = open_lock(state), third = open_lock(state);
	int late = open_lock(state);

	assert_int_equal(lock_try(holder), 0);
	assert_int_equal(lock_wait(late, -1, 1), -ETIMEDOUT);
	closep(&late);
	closep(&holder);
	holder = -1;
	assert_int_equal(lock_wait(third, -1, LONG_MS), 0);
}

static void says_what_the_kernel_says_of_a_bad_descriptor(void **state)
{
	(void)state;
	assert_int_equal(lock_try(-1), -EBADF);
	assert_int_equal(lock_wait(-1, -1, LONG_MS), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(takes_a_free_lock_at_once),
		on_a_node(takes_a_lock_again_that_it_holds),
		on_a_node(those_who_only_look_do_not_see_each_other),
		on_a_node(waits_until_the_holder_lets_go),
		on_a_node(is_cancelled_while_it_waits),
		on_a_node(times_out),
		on_a_node(lets_go_of_a_lock_that_comes_too_late),
		cmocka_unit_test(says_what_the_kernel_says_of_a_bad_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
