/* SPDX-License-Identifier: Apache-2.0 */
#include "common/events.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

enum {
	UEVENT_SIZE = 16 << 10,  /* the kernel's are at most 2 KiB of text and a header */
	UEVENT_BUFFER = 1 << 20, /* a swap with many devices sends hundreds at once */
	WATCHES = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE |
		  IN_DELETE_SELF | IN_MOVE_SELF,
};

/* What is at a watched path: for a change that no event tells (an ancestor came or went). */
struct sighting {
	bool exists;
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime, ctime;
};

struct file_watch {
	const struct sysroot *root;
	char *path;
	int parent; /* the watch on the directory that `path` is an entry of; -1: not there yet */
	struct sighting seen;
};

struct event_source {
	struct events *ev;
	struct event_source *next, **link;
	int fd;
	bool owned; /* fd is closed with the source */
	int (*ready)(struct event_source *src, uint32_t mask);
	union {
		int (*fd)(void *data, uint32_t mask);
		int (*signal)(void *data, int signo);
		int (*child)(void *data, int status);
		int (*plain)(void *data);
		int (*uevent)(void *data, const char *action, const char *devpath,
			      const char *subsystem);
	} fn;
	void *data;
	pid_t pid;
	struct file_watch file;
};

struct events {
	int epoll;
	struct event_source *sources;
};

uint64_t events_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

int events_new(struct events **ret)
{
	_cleanup_(events_freep) struct events *ev = calloc(1, sizeof(*ev));

	if (!ev)
		return -ENOMEM;
	ev->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (ev->epoll < 0)
		return -errno;
	*ret = TAKE_PTR(ev);
	return 0;
}

struct events *events_free(struct events *ev)
{
	if (ev) {
		while (ev->sources)
			events_remove(ev->sources);
		closep(&ev->epoll);
		free(ev);
	}
	return NULL;
}

int events_run(struct events *ev)
{
	for (;;) {
		struct epoll_event e;
		struct event_source *src;
		int n, r;

		/* One at a time: a callback may have removed what a second event would be for. */
		n = epoll_wait(ev->epoll, &e, 1, -1);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n <= 0)
			continue;
		src = e.data.ptr;
		r = src->ready(src, e.events);
		if (r != 0)
			return r;
	}
}

static int watch_fd(struct event_source *src, uint32_t mask)
{
	struct epoll_event e = { .events = mask, .data.ptr = src };

	return epoll_ctl(src->ev->epoll, EPOLL_CTL_ADD, src->fd, &e) < 0 ? -errno : 0;
}

/* Takes the descriptor out of the loop; the source stays its owner's handle. */
static void retire(struct event_source *src)
{
	if (src->fd < 0)
		return;
	(void)epoll_ctl(src->ev->epoll, EPOLL_CTL_DEL, src->fd, NULL);
	if (src->owned)
		closep(&src->fd);
	src->fd = -1;
}

void events_remove(struct event_source *src)
{
	int saved = errno;

	if (!src)
		return;
	retire(src);
	*src->link = src->next;
	if (src->next)
		src->next->link = src->link;
	free(src->file.path);
	free(src);
	errno = saved;
}

/* A source that is to own its descriptor takes it, also when it cannot be added. */
static int add(struct events *ev, const struct event_source *like, uint32_t mask,
	       struct event_source **ret)
{
	struct event_source *src = malloc(sizeof(*src));
	int r;

	if (!src) {
		if (like->owned)
			(void)close(like->fd);
		return -ENOMEM;
	}
	*src = *like;
	src->ev = ev;
	src->next = ev->sources;
	src->link = &ev->sources;
	if (src->next)
		src->next->link = &src->next;
	ev->sources = src;
	r = watch_fd(src, mask);
	if (r < 0) {
		src->file.path = NULL; /* still its caller's */
		events_remove(src);
		return r;
	}
	if (ret)
		*ret = src;
	return 0;
}

static int fd_ready(struct event_source *src, uint32_t mask)
{
	return src->fn.fd(src->data, mask);
}

int events_fd(struct events *ev, int fd, uint32_t mask, int (*fn)(void *data, uint32_t mask),
	      void *data, struct event_source **ret)
{
	struct event_source src = { .fd = fd, .ready = fd_ready, .fn.fd = fn, .data = data };

	return add(ev, &src, mask ? mask : EPOLLIN, ret);
}

static int signal_ready(struct event_source *src, uint32_t mask)
{
	struct signalfd_siginfo info;

	(void)mask;
	if (read(src->fd, &info, sizeof(info)) != sizeof(info))
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return src->fn.signal(src->data, (int)info.ssi_signo);
}

int events_signals(struct events *ev, const sigset_t *set, int (*fn)(void *data, int signo),
		   void *data, struct event_source **ret)
{
	struct event_source src = { .ready = signal_ready, .fn.signal = fn, .data = data };
	int r = pthread_sigmask(SIG_BLOCK, set, NULL);

	if (r != 0)
		return -r;
	src.owned = true;
	src.fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
	return src.fd < 0 ? -errno : add(ev, &src, EPOLLIN, ret);
}

static int child_ready(struct event_source *src, uint32_t mask)
{
	int status;

	(void)mask;
	retire(src);
	if (waitpid(src->pid, &status, 0) < 0)
		return -errno;
	return src->fn.child(src->data, status);
}

int events_child(struct events *ev, pid_t pid, int (*fn)(void *data, int status), void *data,
		 struct event_source **ret)
{
	struct event_source src = { .ready = child_ready, .fn.child = fn, .data = data };

	src.owned = true;
	src.pid = pid;
	src.fd = pidfd_open(pid, 0);
	return src.fd < 0 ? -errno : add(ev, &src, EPOLLIN, ret);
}

/* Many expirations since the last look are one. */
static bool expired(const struct event_source *src)
{
	uint64_t n;

	return read(src->fd, &n, sizeof(n)) == sizeof(n);
}

static int timer_ready(struct event_source *src, uint32_t mask)
{
	(void)mask;
	if (!expired(src))
		return 0;
	retire(src);
	return src->fn.plain(src->data);
}

static int recheck_ready(struct event_source *src, uint32_t mask)
{
	(void)mask;
	return expired(src) ? src->fn.plain(src->data) : 0;
}

static int add_timer(struct events *ev, struct event_source *src, uint64_t ms, bool again,
		     struct event_source **ret)
{
	struct itimerspec when = {
		.it_value = { .tv_sec = (time_t)(ms / 1000),
			      .tv_nsec = (long)(ms % 1000) * 1000000 },
	};
	int r;

	if (ms == 0)
		when.it_value.tv_nsec = 1; /* 0 would disarm it */
	if (again)
		when.it_interval = when.it_value;
	src->owned = true;
	src->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (src->fd < 0)
		return -errno;
	if (timerfd_settime(src->fd, 0, &when, NULL) < 0) {
		r = -errno;
		(void)close(src->fd);
		return r;
	}
	return add(ev, src, EPOLLIN, ret);
}

int events_timer(struct events *ev, uint64_t ms, int (*fn)(void *data), void *data,
		 struct event_source **ret)
{
	struct event_source src = { .ready = timer_ready, .fn.plain = fn, .data = data };

	return add_timer(ev, &src, ms, false, ret);
}

int events_recheck(struct events *ev, uint64_t ms, const char *why, int (*fn)(void *data),
		   void *data, struct event_source **ret)
{
	struct event_source src = { .ready = recheck_ready, .fn.plain = fn, .data = data };

	(void)why;
	return ms == 0 ? -EINVAL : add_timer(ev, &src, ms, true, ret);
}

static struct sighting sight(const struct file_watch *w)
{
	struct sighting s = { 0 };
	struct stat st;

	if (sysroot_stat(w->root, w->path, &st) == 0)
		s = (struct sighting){ true,       st.st_dev,  st.st_ino,
				       st.st_size, st.st_mtim, st.st_ctim };
	return s;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Looks at the path; true: something else is there than the last time. */
static bool look(struct file_watch *w)
{
	struct sighting old = w->seen, new = sight(w);

	w->seen = new;
	return old.exists != new.exists || old.dev != new.dev || old.ino != new.ino ||
	       old.size != new.size || !same_time(&old.mtime, &new.mtime) ||
	       !same_time(&old.ctime, &new.ctime);
}

/* Watches a directory by its descriptor, so that its path is resolved inside the root. */
static int watch_dir(int inotify, const struct sysroot *root, const char *dir)
{
	_cleanup_close_ int fd = sysroot_openat(root, dir, O_PATH | O_DIRECTORY, 0);
	char self[32];
	int wd;

	if (fd < 0)
		return fd;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	wd = inotify_add_watch(inotify, self, WATCHES | IN_ONLYDIR);
	return wd < 0 ? -errno : wd;
}

/*
 * Watches the root and each directory on the way to the path that exists. Watched from the top
 * down, a directory that appears meanwhile is either opened or told of.
 */
static int watch_way(int inotify, struct file_watch *w)
{
	_cleanup_free_ char *part = strdup(w->path);
	int wd;

	if (!part)
		return -ENOMEM;
	w->parent = -1;
	wd = watch_dir(inotify, w->root, ".");
	for (char *p = strchr(part, '/'); p && wd >= 0; p = strchr(p + 1, '/')) {
		*p = '\0';
		wd = watch_dir(inotify, w->root, part);
		*p = '/';
	}
	if (wd >= 0)
		w->parent = wd;
	return wd == -ENOENT || wd == -ENOTDIR || wd == -ELOOP || wd >= 0 ? 0 : wd;
}

static int new_watch(struct file_watch *w)
{
	_cleanup_close_ int inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	int r;

	if (inotify < 0)
		return -errno;
	r = watch_way(inotify, w);
	return r < 0 ? r : TAKE_FD(inotify);
}

static int rewatch(struct event_source *src)
{
	int fd = new_watch(&src->file);

	if (fd < 0)
		return fd;
	retire(src);
	src->fd = fd;
	return watch_fd(src, EPOLLIN);
}

struct file_news {
	bool itself; /* the path's own entry */
	bool way;    /* a directory on the way, perhaps */
};

static void take_news(const struct file_watch *w, const struct inotify_event *e,
		      struct file_news *news)
{
	const char *slash = strrchr(w->path, '/');
	const char *name = slash ? slash + 1 : w->path;

	if (e->wd == w->parent && e->len)
		news->itself |= strcmp(e->name, name) == 0;
	else
		news->way |= !(e->mask & IN_CLOSE_WRITE);
}

static int file_ready(struct event_source *src, uint32_t mask)
{
	_Alignas(struct inotify_event) char buf[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)];
	struct file_news news = { 0 };
	ssize_t len = read(src->fd, buf, sizeof(buf));
	bool changed;

	(void)mask;
	if (len < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (char *p = buf; p < buf + len;) {
		const struct inotify_event *e = (const struct inotify_event *)p;

		take_news(&src->file, e, &news);
		p += sizeof(*e) + e->len;
	}
	if (news.way) {
		int r = rewatch(src);

		if (r < 0)
			return r;
	}
	/* Looked at even if only another name changed: the path may be a link by way of that. */
	changed = look(&src->file);
	return changed || news.itself ? src->fn.plain(src->data) : 0;
}

int events_file(struct events *ev, const struct sysroot *root, const char *path,
		int (*fn)(void *data), void *data, struct event_source **ret)
{
	struct event_source src = { .ready = file_ready, .fn.plain = fn, .data = data };
	_cleanup_free_ char *copy = strdup(path + strspn(path, "/"));
	int r;

	if (!copy)
		return -ENOMEM;
	src.owned = true;
	src.file = (struct file_watch){ .root = root, .path = copy };
	src.fd = new_watch(&src.file);
	if (src.fd < 0)
		return src.fd;
	(void)look(&src.file);
	r = add(ev, &src, EPOLLIN, ret);
	if (r == 0)
		TAKE_PTR(copy);
	return r;
}

/* The value of KEY= in a uevent's block of NUL-terminated lines. */
static const char *uevent_value(const char *msg, size_t len, const char *key)
{
	for (const char *p = msg; p < msg + len; p += strlen(p) + 1) {
		if (strncmp(p, key, strlen(key)) == 0)
			return p + strlen(key);
	}
	return "";
}

static int uevent_ready(struct event_source *src, uint32_t mask)
{
	char msg[UEVENT_SIZE];
	struct sockaddr_nl from = { 0 };
	struct iovec iov = { msg, sizeof(msg) - 1 };
	struct msghdr hdr = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1
	};
	ssize_t len = recvmsg(src->fd, &hdr, 0);
	char *at;

	(void)mask;
	if (len < 0 && errno == ENOBUFS)
		return src->fn.uevent(src->data, "lost", "", "");
	if (len < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	/* Only the kernel has port 0. */
	if (from.nl_pid != 0 || hdr.msg_flags & MSG_TRUNC)
		return 0;
	msg[len] = '\0';
	at = strchr(msg, '@');
	if (!at)
		return 0;
	*at = '\0';
	return src->fn.uevent(src->data, msg, at + 1,
			      uevent_value(at + 1, (size_t)(msg + len - at - 1), "SUBSYSTEM="));
}

static int uevent_socket(void)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
					NETLINK_KOBJECT_UEVENT);
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int size = UEVENT_BUFFER;

	if (fd < 0)
		return -errno;
	/* FORCE needs NET_ADMIN; what is lost for want of room is told. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (bind(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int events_uevents(struct events *ev,
		   int (*fn)(void *data, const char *action, const char *devpath,
			     const char *subsystem),
		   void *data, struct event_source **ret)
{
	struct event_source src = { .ready = uevent_ready, .fn.uevent = fn, .data = data };

	src.owned = true;
	src.fd = uevent_socket();
	return src.fd < 0 ? src.fd : add(ev, &src, EPOLLIN, ret);
}
