/* SPDX-License-Identifier: Apache-2.0 */
#include "common/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "common/events.h"

enum {
	LINE_MAX_BYTES = 64 << 10,
	TAIL_LINES = 40,
	GRACE_MS = 10000,
	LAST_READS = 64, /* of what is in the pipe when the child has ended: 1 MiB at most */
};

/* The last lines: a ring. */
struct tail {
	char **lines;
	size_t size, n; /* n: ever added */
};

struct child {
	const struct child_spec *spec;
	struct child_result *res;
	struct events *ev;
	pid_t pid;
	int out; /* our end of the pipe; -1: none */
	struct event_source *out_src, *stop_src;
	struct tail tail;
	size_t len; /* of the line that has begun */
	char line[LINE_MAX_BYTES + 1];
};

static struct child *child_free(struct child *c)
{
	events_free(c->ev);
	closep(&c->out);
	for (size_t i = 0; c->tail.lines && i < c->tail.size; i++)
		free(c->tail.lines[i]);
	free(c->tail.lines);
	free(c);
	return NULL;
}
DEFINE_CLEANUP(struct child, child_free);

static int tail_add(struct tail *t, const char *line)
{
	char *copy = strdup(line);

	if (!copy)
		return -ENOMEM;
	free(t->lines[t->n % t->size]);
	t->lines[t->n++ % t->size] = copy;
	return 0;
}

static char *tail_text(const struct tail *t)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	for (size_t i = t->n > t->size ? t->n - t->size : 0; i < t->n; i++)
		(void)fprintf(f, "%s\n", t->lines[i % t->size]);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int end_line(struct child *c)
{
	c->line[c->len] = '\0';
	c->len = 0;
	if (c->spec->line)
		c->spec->line(c->spec->data, c->line);
	return tail_add(&c->tail, c->line);
}

static int take_output(struct child *c, const char *buf, size_t len)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < len; i++) {
		if (buf[i] == '\n') {
			r = end_line(c);
			continue;
		}
		if (c->len == LINE_MAX_BYTES)
			r = end_line(c);
		c->line[c->len++] = buf[i] ? buf[i] : ' ';
	}
	return r;
}

/* 1: there may be more; 0: nothing now, or never again. */
static int read_output(struct child *c)
{
	char buf[16 << 10];
	ssize_t n = read(c->out, buf, sizeof(buf));
	int r;

	if (n < 0)
		return errno == EAGAIN ? 0 : errno == EINTR ? 1 : -errno;
	if (n == 0) {
		events_remove(c->out_src);
		c->out_src = NULL;
		return 0;
	}
	r = take_output(c, buf, (size_t)n);
	return r < 0 ? r : 1;
}

static int on_output(void *data, uint32_t mask)
{
	int r = read_output(data);

	(void)mask;
	return r < 0 ? r : 0;
}

static int on_grace_end(void *data)
{
	struct child *c = data;

	(void)kill(-c->pid, SIGKILL);
	return 0;
}

static int end_early(struct child *c)
{
	events_remove(c->stop_src);
	c->stop_src = NULL;
	(void)kill(-c->pid, SIGTERM);
	return events_timer(c->ev, c->spec->grace_ms ? c->spec->grace_ms : GRACE_MS, on_grace_end,
			    c, NULL);
}

static int on_stop(void *data, uint32_t mask)
{
	struct child *c = data;

	(void)mask;
	c->res->stopped = true;
	return end_early(c);
}

static int on_timeout(void *data)
{
	struct child *c = data;

	c->res->timed_out = true;
	return end_early(c);
}

static int on_exit_event(void *data, uint32_t mask)
{
	(void)data;
	(void)mask;
	return 1;
}

/* What is there: the pipe's end is not waited for, a grandchild may keep it open for ever. */
static int read_rest(struct child *c)
{
	int r = 1;

	for (unsigned int i = 0; c->out_src && r > 0 && i < LAST_READS; i++)
		r = read_output(c);
	if (r >= 0 && c->len)
		r = end_line(c);
	return r < 0 ? r : 0;
}

/* The child is no zombie until wait4, so its group's number is still its own. */
static int reap(struct child *c)
{
	struct rusage usage;
	int status;

	(void)kill(-c->pid, SIGKILL);
	while (wait4(c->pid, &status, 0, &usage) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	c->res->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	c->res->max_rss = (uint64_t)usage.ru_maxrss * 1024;
	return 0;
}

static int add_sources(struct child *c, int pidfd)
{
	int r = events_fd(c->ev, pidfd, EPOLLIN, on_exit_event, c, NULL);

	if (r == 0 && c->out >= 0)
		r = events_fd(c->ev, c->out, EPOLLIN, on_output, c, &c->out_src);
	if (r == 0 && c->spec->stop_fd >= 0)
		r = events_fd(c->ev, c->spec->stop_fd, EPOLLIN, on_stop, c, &c->stop_src);
	if (r == 0 && c->spec->timeout_ms)
		r = events_timer(c->ev, c->spec->timeout_ms, on_timeout, c, NULL);
	return r;
}

static int wait_for(struct child *c)
{
	/* Not events_child: that reaps, and what it used is wanted too. */
	_cleanup_close_ int pidfd = pidfd_open(c->pid, 0);
	int r = pidfd < 0 ? -errno : add_sources(c, pidfd), r2;

	if (r == 0)
		r = events_run(c->ev);
	if (r > 0)
		r = read_rest(c);
	r2 = reap(c);
	return r < 0 ? r : r2;
}

static int file_actions(posix_spawn_file_actions_t *fa, const struct child_spec *spec, int out)
{
	int r = posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDONLY, 0);

	if (r == 0 && out >= 0)
		r = posix_spawn_file_actions_adddup2(fa, out, 1);
	if (r == 0 && out >= 0)
		r = posix_spawn_file_actions_adddup2(fa, out, 2);
	if (r == 0 && spec->dir)
		r = posix_spawn_file_actions_addchdir_np(fa, spec->dir);
	return -r;
}

static int spawn_attr(posix_spawnattr_t *attr)
{
	sigset_t none, all;
	int r;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	r = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						   POSIX_SPAWN_SETSIGDEF);
	if (r == 0)
		r = posix_spawnattr_setpgroup(attr, 0);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attr, &none);
	if (r == 0)
		r = posix_spawnattr_setsigdefault(attr, &all);
	return -r;
}

static int spawn(const struct child_spec *spec, int out, pid_t *ret)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	int r = -posix_spawn_file_actions_init(&fa);

	if (r < 0)
		return r;
	r = -posix_spawnattr_init(&attr);
	if (r == 0) {
		r = spawn_attr(&attr);
		if (r == 0)
			r = file_actions(&fa, spec, out);
		if (r == 0)
			r = -posix_spawnp(ret, spec->argv[0], &fa, &attr, (char **)spec->argv,
					  spec->env ? (char **)spec->env : environ);
		(void)posix_spawnattr_destroy(&attr);
	}
	(void)posix_spawn_file_actions_destroy(&fa);
	return r;
}

static int child_new(const struct child_spec *spec, struct child_result *res, struct child **ret)
{
	_cleanup_(child_freep) struct child *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->spec = spec;
	c->res = res;
	c->out = -1;
	c->tail.size = spec->tail ? spec->tail : TAIL_LINES;
	c->tail.lines = calloc(c->tail.size, sizeof(*c->tail.lines));
	if (!c->tail.lines)
		return -ENOMEM;
	r = events_new(&c->ev);
	if (r == 0)
		*ret = TAKE_PTR(c);
	return r;
}

/* The child's end of the pipe is closed on return, so that the pipe ends with its last writer. */
static int start(struct child *c)
{
	_cleanup_close_ int theirs = -1;
	int fds[2];

	if (c->spec->inherit)
		return spawn(c->spec, -1, &c->pid);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	c->out = fds[0];
	theirs = fds[1];
	if (fcntl(c->out, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	return spawn(c->spec, theirs, &c->pid);
}

int child_run(const struct child_spec *spec, struct child_result *ret)
{
	_cleanup_(child_freep) struct child *c = NULL;
	struct child_result res = { 0 };
	uint64_t began = events_now();
	int r = child_new(spec, &res, &c);

	if (r == 0)
		r = start(c);
	if (r == 0)
		r = wait_for(c);
	if (r < 0)
		return r;
	res.ms = events_now() - began;
	res.tail = tail_text(&c->tail);
	if (!res.tail)
		return -ENOMEM;
	*ret = res;
	return 0;
}

void child_result_clear(struct child_result *res)
{
	free(res->tail);
	*res = (struct child_result){ 0 };
}
