/* SPDX-License-Identifier: Apache-2.0 */
#include "common/resolve.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "common/cleanup.h"

enum { RETRIES = 128, MAX_LINKS = 40, MAX_TARGET = 1 << 16 };

int resolve_openat2(int root, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (unsigned int)(flags | O_CLOEXEC),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	/* EAGAIN: something was renamed or mounted meanwhile, and ".." might have left the root. */
	for (unsigned int i = 0; i < RETRIES; i++) {
		long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -EAGAIN;
}

int resolve_readlink(int dirfd, const char *name, char **ret)
{
	for (size_t size = 256; size <= MAX_TARGET; size *= 2) {
		_cleanup_free_ char *buf = malloc(size);
		ssize_t n;

		if (!buf)
			return -ENOMEM;
		n = readlinkat(dirfd, name, buf, size);
		if (n < 0)
			return -errno;
		if ((size_t)n == size)
			continue;
		buf[n] = '\0';
		*ret = TAKE_PTR(buf);
		return 0;
	}
	return -ENAMETOOLONG;
}

/*
 * Where a walk is. The directories passed stay open, so that ".." goes back to where the walk came
 * from, whatever is renamed meanwhile.
 */
struct walk {
	int root;
	int *dirs;
	size_t depth;
	char *path, *rest; /* rest points into path: what is still to be walked */
	unsigned int links;
};

static int walk_dir(const struct walk *w)
{
	return w->depth ? w->dirs[w->depth - 1] : w->root;
}

static void walk_up(struct walk *w, size_t depth)
{
	while (w->depth > depth)
		(void)close(w->dirs[--w->depth]);
}

static void walk_clear(struct walk *w)
{
	int saved = errno;

	walk_up(w, 0);
	free(w->dirs);
	free(w->path);
	errno = saved;
}

static int walk_down(struct walk *w, int *fd)
{
	int *dirs = realloc(w->dirs, (w->depth + 1) * sizeof(*dirs));

	if (!dirs)
		return -ENOMEM;
	w->dirs = dirs;
	w->dirs[w->depth++] = TAKE_FD(*fd);
	return 0;
}

/*
 * The links of procfs that jump to an object instead of naming a path (fd/N, exe, ns/net). Those
 * that are text give their length as their size; self and thread-self, which do not, begin with a
 * number.
 */
static bool is_magic(int fd, const struct stat *st, const char *target)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC)
		return false;
	return (size_t)st->st_size != strlen(target) && !isdigit((unsigned char)target[0]);
}

static int walk_link(struct walk *w, int fd, const struct stat *st)
{
	_cleanup_free_ char *target = NULL;
	char *path;
	int r;

	if (++w->links > MAX_LINKS)
		return -ELOOP;
	r = resolve_readlink(fd, "", &target);
	if (r < 0)
		return r;
	if (is_magic(fd, st, target))
		return -ELOOP;
	if (target[0] == '/')
		walk_up(w, 0);
	if (asprintf(&path, "%s%s%s", target, w->rest ? "/" : "", w->rest ? w->rest : "") < 0)
		return -ENOMEM;
	free(w->path);
	w->path = w->rest = path;
	return 0;
}

/* Opens the last component, which is no link, or one that is not to be followed. */
static int walk_open(const struct walk *w, const char *name, int flags, mode_t mode)
{
	int fd = openat(walk_dir(w), name, flags | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

static bool follows(int flags)
{
	return !(flags & O_NOFOLLOW) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
}

/* One component. 1: the walk goes on; ret_fd is set when it has ended. */
static int walk_step(struct walk *w, const char *name, int flags, mode_t mode, int *ret_fd)
{
	_cleanup_close_ int fd = -1;
	bool last = !w->rest;
	struct stat st;
	int r;

	if (!last && flags & O_CREAT && !w->rest[strspn(w->rest, "/")])
		return -EISDIR; /* "name/" is not made */
	fd = openat(walk_dir(w), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && !(errno == ENOENT && last && flags & O_CREAT))
		return -errno;
	if (fd >= 0 && fstat(fd, &st) < 0)
		return -errno;
	if (fd >= 0 && S_ISLNK(st.st_mode) && (!last || follows(flags))) {
		r = walk_link(w, fd, &st);
		return r < 0 ? r : 1;
	}
	if (fd >= 0 && !S_ISDIR(st.st_mode) && (!last || flags & O_DIRECTORY))
		return -ENOTDIR;
	if (!last) {
		r = walk_down(w, &fd);
		return r < 0 ? r : 1;
	}
	r = fd >= 0 && flags & O_PATH ? TAKE_FD(fd) : walk_open(w, name, flags, mode);
	if (r < 0)
		return r;
	*ret_fd = r;
	return 0;
}

/* Cuts the next component off the rest, which becomes NULL behind the last; NULL: none is left. */
static char *walk_next(struct walk *w)
{
	char *name = w->rest ? w->rest + strspn(w->rest, "/") : NULL;
	size_t len = name ? strcspn(name, "/") : 0;

	if (!len)
		return NULL;
	w->rest = name[len] ? name + len + 1 : NULL;
	name[len] = '\0';
	return name;
}

int resolve_walk(int root, const char *path, int flags, mode_t mode)
{
	_cleanup_(walk_clear) struct walk w = { .root = root };
	int fd = -1, r = 1;

	if (!*path)
		return -ENOENT;
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	w.path = w.rest = strdup(path);
	if (!w.path)
		return -ENOMEM;
	while (r > 0) {
		char *name = walk_next(&w);

		if (!name)
			return walk_open(&w, ".", flags, mode);
		if (strcmp(name, "..") == 0)
			walk_up(&w, w.depth ? w.depth - 1 : 0);
		else if (strcmp(name, ".") != 0)
			r = walk_step(&w, name, flags, mode, &fd);
	}
	return r < 0 ? r : fd;
}
