/* SPDX-License-Identifier: Apache-2.0 */
#include "common/sysroot.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#include "common/resolve.h"

enum { MAX_ATTR = 64 << 10, TEMP_TRIES = 64, MIN_READ = 4096 };

struct sysroot {
	int fd;
	char *dir;
	int (*open)(int root, const char *path, int flags, mode_t mode);
};

int sysroot_open(const char *dir, struct sysroot **ret)
{
	_cleanup_(sysroot_freep) struct sysroot *root = calloc(1, sizeof(*root));
	_cleanup_close_ int probe = -1;

	if (!root)
		return -ENOMEM;
	root->fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root->fd < 0)
		return -errno;
	root->dir = strdup(dir);
	if (!root->dir)
		return -ENOMEM;
	/* ENOSYS before Linux 5.6; EPERM from seccomp profiles that are older than the call. */
	probe = resolve_openat2(root->fd, ".", O_PATH, 0);
	root->open = probe == -ENOSYS || probe == -EPERM ? resolve_walk : resolve_openat2;
	*ret = TAKE_PTR(root);
	return 0;
}

struct sysroot *sysroot_free(struct sysroot *root)
{
	if (root) {
		closep(&root->fd);
		free(root->dir);
		free(root);
	}
	return NULL;
}

const char *sysroot_dir(const struct sysroot *root)
{
	return root->dir;
}

int sysroot_openat(const struct sysroot *root, const char *path, int flags, mode_t mode)
{
	return root->open(root->fd, path, flags, mode);
}

int sysroot_opendir(const struct sysroot *root, const char *path, DIR **ret)
{
	_cleanup_close_ int fd = sysroot_openat(root, path, O_RDONLY | O_DIRECTORY, 0);
	DIR *d;

	if (fd < 0)
		return fd;
	d = fdopendir(fd);
	if (!d)
		return -errno;
	TAKE_FD(fd);
	*ret = d;
	return 0;
}

int sysroot_stat(const struct sysroot *root, const char *path, struct stat *ret)
{
	_cleanup_close_ int fd = sysroot_openat(root, path, O_PATH, 0);

	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

bool sysroot_exists(const struct sysroot *root, const char *path)
{
	struct stat st;

	return sysroot_stat(root, path, &st) == 0;
}

/* Opens the directory that `path` is an entry of; ret_name is the entry. */
static int open_parent(const struct sysroot *root, const char *path, char **ret_name)
{
	_cleanup_free_ char *dir = NULL, *name = NULL;
	size_t end = strlen(path), start;
	int fd;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/';)
		start--;
	name = strndup(path + start, end - start);
	dir = start ? strndup(path, start) : strdup(".");
	if (!name || !dir)
		return -ENOMEM;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return -EINVAL;
	fd = sysroot_openat(root, dir, O_PATH | O_DIRECTORY, 0);
	if (fd >= 0)
		*ret_name = TAKE_PTR(name);
	return fd;
}

/* A FIFO in an untrusted tree must not hold us up, and a device must not be read. */
int sysroot_open_file(const struct sysroot *root, const char *path, off_t *ret_size)
{
	_cleanup_close_ int fd = sysroot_openat(root, path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if (ret_size)
		*ret_size = st.st_size;
	return TAKE_FD(fd);
}

/* Fills buf until it is full or the file ends. */
static ssize_t read_full(int fd, char *buf, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, buf + len, size - len);

		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			len += (size_t)n;
	}
	return (ssize_t)len;
}

int sysroot_read(const struct sysroot *root, const char *path, size_t max, char **ret,
		 size_t *ret_len)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *buf = NULL;
	size_t size = 0, len = 0;
	off_t hint = 0;

	if (max > SSIZE_MAX / 4)
		return -EINVAL;
	fd = sysroot_open_file(root, path, &hint);
	if (fd < 0)
		return fd;
	/* The size is a hint: procfs says 0, sysfs a page. A byte more tells if that is all. */
	for (size = (size_t)hint < MIN_READ ? MIN_READ : (size_t)hint + 1;; size *= 2) {
		ssize_t n;
		char *p;

		if (size > max + 1)
			size = max + 1;
		p = realloc(buf, size + 1);
		if (!p)
			return -ENOMEM;
		buf = p;
		n = read_full(fd, buf + len, size - len);
		if (n < 0)
			return (int)n;
		len += (size_t)n;
		if (len > max)
			return -EFBIG;
		if (len < size)
			break;
	}
	buf[len] = '\0';
	*ret = TAKE_PTR(buf);
	if (ret_len)
		*ret_len = len;
	return 0;
}

int sysroot_read_attr(const struct sysroot *root, const char *path, char **ret)
{
	char *text;
	size_t len;
	int r = sysroot_read(root, path, MAX_ATTR, &text, &len);

	if (r < 0)
		return r;
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	*ret = text;
	return 0;
}

int sysroot_readlink(const struct sysroot *root, const char *path, char **ret)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int dir = open_parent(root, path, &name);

	return dir < 0 ? dir : resolve_readlink(dir, name, ret);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_names(DIR *d, char ***ret)
{
	_cleanup_strv_ char **names = calloc(1, sizeof(*names));
	struct dirent *e;
	size_t n = 0;

	if (!names)
		return -ENOMEM;
	while (errno = 0, (e = readdir(d))) {
		char **more;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		more = realloc(names, (n + 2) * sizeof(*names));
		if (!more)
			return -ENOMEM;
		names = more;
		names[n + 1] = NULL;
		names[n] = strdup(e->d_name);
		if (!names[n++])
			return -ENOMEM;
	}
	if (errno)
		return -errno;
	qsort(names, n, sizeof(*names), by_name);
	*ret = TAKE_PTR(names);
	return 0;
}

int sysroot_list(const struct sysroot *root, const char *path, char ***ret)
{
	_cleanup_closedir_ DIR *d = NULL;
	int r = sysroot_opendir(root, path, &d);

	return r < 0 ? r : read_names(d, ret);
}

int sysroot_write_attr(const struct sysroot *root, const char *path, const char *value)
{
	_cleanup_close_ int fd =
		sysroot_openat(root, path, O_WRONLY | O_TRUNC | O_NOCTTY | O_NONBLOCK, 0);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = write(fd, value, strlen(value));
	if (n < 0)
		return -errno;
	return (size_t)n == strlen(value) ? 0 : -EIO;
}

static int make_parents(const struct sysroot *root, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *dir = NULL;

	if (!slash || slash == path)
		return 0;
	dir = strndup(path, (size_t)(slash - path));
	return dir ? sysroot_mkdirs(root, dir, 0755) : -ENOMEM;
}

/* ".NAME.XXXXXX", another one each time */
static int temp_name(const char *name, char **ret)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	unsigned char random[6];
	char end[sizeof(random) + 1] = "";

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	for (size_t i = 0; i < sizeof(random); i++)
		end[i] = letters[random[i] % (sizeof(letters) - 1)];
	return asprintf(ret, ".%s.%s", name, end) < 0 ? -ENOMEM : 0;
}

static int write_full(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* What rename(2) will put in place: a file with these bytes, or a link (data: its target). */
struct piece {
	mode_t mode;
	const void *data;
	size_t len;
};

static int write_piece(int dir, const char *name, const struct piece *what)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (S_ISLNK(what->mode))
		return symlinkat(what->data, dir, name) < 0 ? -errno : 0;
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_full(fd, what->data, what->len);
	if (r == 0 && fchmod(fd, what->mode) < 0)
		r = -errno;
	/* A file system may keep its ENOSPC until here. */
	if (close(TAKE_FD(fd)) < 0 && r == 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, name, 0);
	return r;
}

static int put(const struct sysroot *root, const char *path, const struct piece *what)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int dir = -1;
	int r = make_parents(root, path);

	if (r < 0)
		return r;
	dir = open_parent(root, path, &name);
	if (dir < 0)
		return dir;
	for (unsigned int i = 0; i < TEMP_TRIES; i++) {
		_cleanup_free_ char *temp = NULL;

		r = temp_name(name, &temp);
		if (r == 0)
			r = write_piece(dir, temp, what);
		if (r == -EEXIST)
			continue;
		if (r == 0 && renameat(dir, temp, dir, name) < 0) {
			r = -errno;
			(void)unlinkat(dir, temp, 0);
		}
		return r;
	}
	return -EEXIST;
}

int sysroot_replace(const struct sysroot *root, const char *path, mode_t mode, const void *data,
		    size_t len)
{
	return put(root, path, &(struct piece){ S_IFREG | (mode & 07777), data, len });
}

int sysroot_link(const struct sysroot *root, const char *target, const char *path)
{
	return put(root, path, &(struct piece){ S_IFLNK, target, 0 });
}

int sysroot_rename(const struct sysroot *root, const char *from, const char *to)
{
	_cleanup_free_ char *old = NULL, *new = NULL;
	_cleanup_close_ int src = -1, dst = -1;

	src = open_parent(root, from, &old);
	if (src < 0)
		return src;
	dst = open_parent(root, to, &new);
	if (dst < 0)
		return dst;
	return renameat(src, old, dst, new) < 0 ? -errno : 0;
}

static int make_dir(const struct sysroot *root, const char *path, mode_t mode)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int dir = open_parent(root, path, &name);

	if (dir == -EINVAL) /* "." and "..": there already */
		return 0;
	if (dir < 0)
		return dir;
	return mkdirat(dir, name, mode) < 0 && errno != EEXIST ? -errno : 0;
}

int sysroot_mkdirs(const struct sysroot *root, const char *path, mode_t mode)
{
	_cleanup_free_ char *part = strdup(path);
	_cleanup_close_ int fd = -1;
	int r = 0;

	if (!part)
		return -ENOMEM;
	fd = sysroot_openat(root, path, O_PATH | O_DIRECTORY, 0);
	if (fd != -ENOENT)
		return fd < 0 ? fd : 0;
	for (size_t i = 0; r == 0 && path[i]; i++) {
		if (i == 0 || path[i] != '/')
			continue;
		part[i] = '\0';
		r = make_dir(root, part, mode);
		part[i] = '/';
	}
	if (r == 0)
		r = make_dir(root, path, mode);
	if (r < 0)
		return r;
	/* What was there may be a file, or a link to nowhere. */
	fd = sysroot_openat(root, path, O_PATH | O_DIRECTORY, 0);
	return fd < 0 ? fd : 0;
}

static int remove_at(int dir, const char *name);

/* Mounts are left alone: what is mounted in a directory is not what its owner put there. */
static bool is_mount(int fd)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &stx) < 0)
		return false;
	return stx.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

static int remove_below(int dir, const char *name)
{
	_cleanup_closedir_ DIR *d = NULL;
	_cleanup_strv_ char **names = NULL;
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	if (is_mount(fd))
		return -EBUSY;
	d = fdopendir(fd);
	if (!d)
		return -errno;
	TAKE_FD(fd);
	r = read_names(d, &names);
	for (char **n = names; r == 0 && *n; n++)
		r = remove_at(dirfd(d), *n);
	return r;
}

static int remove_at(int dir, const char *name)
{
	int r;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	r = remove_below(dir, name);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r == -ENOTDIR ? -EPERM : r; /* no directory: the EPERM was of the file */
	return unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

int sysroot_remove(const struct sysroot *root, const char *path)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int dir = open_parent(root, path, &name);

	if (dir < 0)
		return dir == -ENOENT ? 0 : dir;
	return remove_at(dir, name);
}
