/* SPDX-License-Identifier: Apache-2.0 */
#include "entrypoints/instance.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "common/lock.h"
#include "common/log.h"
#include "common/parse.h"

enum { MAX_HOLDER = 1024 };

int instance_open(const struct sysroot *root, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *dir = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
	int r = dir ? sysroot_mkdirs(root, dir, 0755) : -ENOMEM;

	return r < 0 ? r : sysroot_openat(root, path, O_RDWR | O_CREAT | O_NONBLOCK, 0644);
}

int instance_inherited(void)
{
	const char *text = getenv(INSTANCE_FD);
	uint64_t fd;

	if (!text)
		return -ENOENT;
	if (parse_u64(text, 10, 0, INT_MAX, &fd) < 0 || fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0)
		return -EBADF;
	return (int)fd;
}

/* The holder's own words. Before it has written them: nothing. */
static void log_waiting(int fd)
{
	char holder[MAX_HOLDER + 1];
	ssize_t n = pread(fd, holder, MAX_HOLDER, 0);

	holder[n > 0 ? n : 0] = '\0';
	holder[strcspn(holder, "\n")] = '\0';
	log_info("waiting", "for", "the instance lock", "holder", *holder ? holder : NULL);
}

/* For people only, so what cannot be written is no failure. */
static void sign(int fd, const char *who)
{
	_cleanup_free_ char *text = NULL;
	char host[HOST_NAME_MAX + 1] = "", since[32];
	bool inherited = getenv(INSTANCE_FD) != NULL;
	time_t now = time(NULL);
	struct tm tm;

	(void)gethostname(host, sizeof(host) - 1);
	(void)strftime(since, sizeof(since), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	if (asprintf(&text, "%s, pid %d on %s, since %s\n", who,
		     (int)(inherited ? getppid() : getpid()), host, since) < 0) {
		text = NULL;
		return;
	}
	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, strlen(text), 0) < 0)
		log_debug("lock_unsigned", "error", strerror(errno));
}

int instance_try(int fd, const char *who)
{
	int r = lock_try(fd);

	if (r == 0)
		sign(fd, who);
	return r;
}

bool instance_is_held(int fd)
{
	return lock_try_shared(fd) == -EWOULDBLOCK;
}

int instance_take(int fd, const char *who, int stop_fd, uint64_t timeout_ms)
{
	int r = lock_try(fd);

	if (r == -EWOULDBLOCK) {
		/* A status that only looks is gone at once: not worth a line. */
		if (instance_is_held(fd))
			log_waiting(fd);
		r = lock_wait(fd, stop_fd, timeout_ms);
	}
	if (r == 0)
		sign(fd, who);
	return r;
}
