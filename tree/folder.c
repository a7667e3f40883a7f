/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/folder.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sendfile.h>

#include "common/resolve.h"

int folder_join(const char *dir, const char *name, char **ret)
{
	return asprintf(ret, "%s/%s", dir, name) < 0 ? -ENOMEM : 0;
}

static int real_path(const struct sysroot *root, const char *path, int flags, char **ret)
{
	_cleanup_close_ int fd = sysroot_openat(root, path, O_PATH | flags, 0);
	char self[32];
	char *real;

	if (fd < 0)
		return fd;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	real = realpath(self, NULL);
	if (!real)
		return -errno;
	*ret = real;
	return 0;
}

int folder_path(const struct sysroot *root, const char *path, char **ret)
{
	return real_path(root, path, O_DIRECTORY, ret);
}

int folder_entry_path(const struct sysroot *root, const char *path, char **ret)
{
	return real_path(root, path, 0, ret);
}

int folder_open(const struct sysroot *root, const char *path, struct sysroot **ret)
{
	_cleanup_free_ char *real = NULL;
	int r = folder_path(root, path, &real);

	return r < 0 ? r : sysroot_open(real, ret);
}

static int open_dir(int parent, const char *name, DIR **ret)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir;

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		int r = -errno;

		closep(&fd);
		return r;
	}
	*ret = dir;
	return 0;
}

/* 1: an entry; 0: the end. */
static int next_entry(DIR *dir, const char **ret_name, struct stat *ret)
{
	const struct dirent *e;

	do {
		errno = 0;
		e = readdir(dir);
		if (!e)
			return -errno;
	} while (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."));
	if (fstatat(dirfd(dir), e->d_name, ret, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	*ret_name = e->d_name;
	return 1;
}

/* ---- finding */

struct finds {
	bool (*wanted)(const char *name);
	char **paths;
	size_t n;
};

static int add_find(struct finds *f, const char *prefix, const char *name)
{
	char **more = reallocarray(f->paths, f->n + 2, sizeof(*more));

	if (!more)
		return -ENOMEM;
	f->paths = more;
	f->paths[f->n] = NULL;
	if (asprintf(&more[f->n], "%s%s", prefix, name) < 0)
		return -ENOMEM;
	f->paths[++f->n] = NULL;
	return 0;
}

static int find_in(struct finds *f, int parent, const char *name, const char *prefix)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct stat st;
	int r = open_dir(parent, name, &dir);

	while (r >= 0 && (r = next_entry(dir, &name, &st)) > 0) {
		if (S_ISDIR(st.st_mode)) {
			_cleanup_free_ char *below = NULL;

			if (asprintf(&below, "%s%s/", prefix, name) < 0)
				return -ENOMEM;
			r = find_in(f, dirfd(dir), name, below);
		} else if (S_ISREG(st.st_mode) && f->wanted(name)) {
			r = add_find(f, prefix, name);
		}
	}
	return r;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int folder_find(const struct sysroot *root, const char *path, bool (*wanted)(const char *name),
		char ***ret)
{
	_cleanup_close_ int fd = sysroot_openat(root, path, O_RDONLY | O_DIRECTORY, 0);
	struct finds f = { .wanted = wanted, .paths = calloc(1, sizeof(*f.paths)) };
	int r = fd < 0 ? fd : f.paths ? find_in(&f, fd, ".", "") : -ENOMEM;

	if (r < 0) {
		strv_free(f.paths);
		return r;
	}
	qsort(f.paths, f.n, sizeof(*f.paths), by_text);
	*ret = f.paths;
	return 0;
}

/* ---- copying */

static int copy_data(int from, int to)
{
	ssize_t n;

	do {
		n = sendfile(to, from, NULL, INT_MAX & ~0xfff);
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : 0;
}

/* How all of a copy is made. */
struct copy {
	bool (*keep)(const char *name, bool is_dir); /* NULL: all */
	mode_t add;                                  /* to the mode of files */
};

static int copy_file(const struct copy *c, int from, const char *name, int to,
		     const struct stat *st)
{
	_cleanup_close_ int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int out = -1;
	int r;

	if (in < 0)
		return -errno;
	out = openat(to, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	r = copy_data(in, out);
	if (r < 0)
		return r;
	if (fchmod(out, (st->st_mode & 0777) | c->add) < 0)
		return -errno;
	return futimens(out, (struct timespec[]){ st->st_atim, st->st_mtim }) < 0 ? -errno : 0;
}

static int copy_link(int from, const char *name, int to)
{
	_cleanup_free_ char *target = NULL;
	int r = resolve_readlink(from, name, &target);

	if (r < 0)
		return r;
	if (unlinkat(to, name, 0) < 0 && errno != ENOENT)
		return -errno;
	return symlinkat(target, to, name) < 0 ? -errno : 0;
}

static int copy_content(const struct copy *c, int from, const char *name, int to);

static int copy_below(const struct copy *c, int from, const char *name, int to)
{
	_cleanup_close_ int fd = -1;

	if (mkdirat(to, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : copy_content(c, from, name, fd);
}

static int copy_content(const struct copy *c, int from, const char *name, int to)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct stat st;
	int r = open_dir(from, name, &dir);

	while (r >= 0 && (r = next_entry(dir, &name, &st)) > 0) {
		if (c->keep && !c->keep(name, S_ISDIR(st.st_mode)))
			continue;
		if (S_ISDIR(st.st_mode))
			r = copy_below(c, dirfd(dir), name, to);
		else if (S_ISREG(st.st_mode))
			r = copy_file(c, dirfd(dir), name, to, &st);
		else if (S_ISLNK(st.st_mode))
			r = copy_link(dirfd(dir), name, to);
	}
	return r;
}

static int copy(const struct copy *c, const struct sysroot *from, const char *src,
		const struct sysroot *to, const char *dst)
{
	_cleanup_close_ int in = sysroot_openat(from, src, O_RDONLY | O_DIRECTORY, 0), out = -1;
	int r = in < 0 ? in : sysroot_mkdirs(to, dst, 0755);

	if (r < 0)
		return r;
	out = sysroot_openat(to, dst, O_RDONLY | O_DIRECTORY, 0);
	return out < 0 ? out : copy_content(c, in, ".", out);
}

int folder_copy(const struct sysroot *from, const char *src, const struct sysroot *to,
		const char *dst)
{
	return copy(&(struct copy){ .keep = NULL }, from, src, to, dst);
}

int folder_copy_kept(const struct sysroot *from, const char *src, const struct sysroot *to,
		     const char *dst, bool (*keep)(const char *name, bool is_dir))
{
	return copy(&(struct copy){ .keep = keep, .add = S_IWUSR }, from, src, to, dst);
}

/* ---- its size */

static int add_sizes(int parent, const char *name, uint64_t *sum)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct stat st;
	int r = open_dir(parent, name, &dir);

	while (r >= 0 && (r = next_entry(dir, &name, &st)) > 0) {
		if (S_ISDIR(st.st_mode))
			r = add_sizes(dirfd(dir), name, sum);
		else if (S_ISREG(st.st_mode))
			*sum += (uint64_t)st.st_size;
	}
	return r;
}

int folder_size(const struct sysroot *root, const char *path, uint64_t *ret)
{
	_cleanup_close_ int fd = sysroot_openat(root, path, O_RDONLY | O_DIRECTORY, 0);
	uint64_t sum = 0;
	int r = fd < 0 ? fd : add_sizes(fd, ".", &sum);

	if (r == 0)
		*ret = sum;
	return r;
}
