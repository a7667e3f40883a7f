/* SPDX-License-Identifier: Apache-2.0 */
#include "common/lock.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/events.h"

enum { NS_PER_MS = 1000000 };

/* Shared by the waiting thread and its caller: whoever leaves last frees it. */
struct wait {
	int fd; /* a duplicate: the lock belongs to the open file, not to the descriptor */
	int done;
	int result;
	atomic_flag one_left;
};

static struct wait *wait_free(struct wait *w)
{
	closep(&w->fd);
	closep(&w->done);
	free(w);
	return NULL;
}
DEFINE_CLEANUP(struct wait, wait_free);

static int wait_new(int fd, struct wait **ret)
{
	_cleanup_(wait_freep) struct wait *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->done = -1;
	w->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (w->fd < 0)
		return -errno;
	w->done = eventfd(0, EFD_CLOEXEC);
	if (w->done < 0)
		return -errno;
	atomic_flag_clear(&w->one_left);
	*ret = TAKE_PTR(w);
	return 0;
}

static void leave(struct wait *w)
{
	if (atomic_flag_test_and_set(&w->one_left))
		wait_free(w);
}

static void *block(void *data)
{
	struct wait *w = data;

	w->result = flock(w->fd, LOCK_EX) < 0 ? -errno : 0;
	(void)eventfd_write(w->done, 1);
	leave(w);
	return NULL;
}

/* All signals stay with the threads that expect them. */
static int start(struct wait *w)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int r = pthread_attr_init(&attr);

	if (r != 0)
		return -r;
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &old);
	r = pthread_create(&thread, &attr, block, w);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	(void)pthread_attr_destroy(&attr);
	return -r;
}

/* deadline: on the monotonic clock; 0: none */
static int poll_until(struct pollfd *fds, nfds_t n, uint64_t deadline)
{
	for (;;) {
		uint64_t now = events_now(), left = deadline > now ? deadline - now : 0;
		struct timespec t = { (time_t)(left / 1000), (long)(left % 1000) * NS_PER_MS };
		int r = ppoll(fds, n, deadline ? &t : NULL, NULL);

		if (r > 0)
			return 0;
		if (r == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

int lock_try(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

int lock_try_shared(int fd)
{
	return flock(fd, LOCK_SH | LOCK_NB) < 0 ? -errno : 0;
}

int lock_wait(int fd, int stop_fd, uint64_t timeout_ms)
{
	uint64_t deadline = timeout_ms ? events_now() + timeout_ms : 0;
	struct pollfd fds[2] = { { .events = POLLIN }, { .fd = stop_fd, .events = POLLIN } };
	struct wait *w = NULL;
	int r = lock_try(fd);

	if (r != -EWOULDBLOCK)
		return r;
	r = wait_new(fd, &w);
	if (r < 0)
		return r;
	r = start(w);
	if (r < 0) {
		wait_free(w);
		return r;
	}
	fds[0].fd = w->done;
	r = poll_until(fds, 2, deadline);
	/* The lock first: once it is there, it is the caller's. */
	if (r == 0)
		r = fds[0].revents ? w->result : -ECANCELED;
	leave(w);
	return r;
}
