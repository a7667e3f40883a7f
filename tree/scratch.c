/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/scratch.h"

#include <fcntl.h>
#include <string.h>

#include "common/lock.h"
#include "tree/folder.h"
#include "tree/store.h"

#define BUILD ".build-"
#define DEAD ".dead-"

struct scratch {
	const struct sysroot *outside;
	struct sysroot *root;
	char *store, *path;
	int lock;
};

static int path_of(const char *store, const char *key, char **ret)
{
	char *path;

	if (asprintf(&path, "%s/" BUILD "%s", store, key) < 0)
		return -ENOMEM;
	*ret = path;
	return 0;
}

/* A link is not followed: it is nobody's directory. */
static int open_dir(const struct sysroot *root, const char *path)
{
	return sysroot_openat(root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

static int stat_here(const struct sysroot *root, const char *path, struct stat *ret)
{
	_cleanup_close_ int fd = sysroot_openat(root, path, O_PATH | O_NOFOLLOW, 0);

	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

/* ---- out of the way: under the store's lock, and removed after it */

/*
 * What a dead build started may still run, and write into its directory: that one never becomes
 * the directory of another build. No two directories have one inode.
 */
static int rename_dead(const struct sysroot *root, const char *store, const char *path,
		       char **ret_dead)
{
	_cleanup_free_ char *dead = NULL;
	struct stat st;
	int r = stat_here(root, path, &st);

	if (r < 0)
		return r;
	if (asprintf(&dead, "%s/" DEAD "%ju", store, (uintmax_t)st.st_ino) < 0)
		return -ENOMEM;
	r = sysroot_rename(root, path, dead);
	if (r < 0)
		return r == -EBUSY ? -EEXIST : r; /* a mount: nobody's build */
	*ret_dead = TAKE_PTR(dead);
	return 0;
}

/* -EBUSY: its process lives. */
static int retire(const struct sysroot *root, const char *store, const char *path)
{
	_cleanup_close_ int fd = open_dir(root, path);
	_cleanup_free_ char *dead = NULL;
	int r = fd < 0 ? fd : lock_try(fd);

	if (r == -EWOULDBLOCK)
		return -EBUSY;
	if (r < 0 && r != -ENOTDIR && r != -ELOOP)
		return r == -ENOENT ? 0 : r;
	return rename_dead(root, store, path, &dead);
}

static int for_each(const struct sysroot *root, const char *store, const char *prefix,
		    int (*fn)(const struct sysroot *root, const char *store, const char *path))
{
	_cleanup_strv_ char **names = NULL;
	int r = sysroot_list(root, store, &names);

	for (char **name = names; r != -ENOMEM && name && *name; name++) {
		_cleanup_free_ char *path = NULL;

		if (strncmp(*name, prefix, strlen(prefix)))
			continue;
		r = folder_join(store, *name, &path);
		if (r == 0)
			r = fn(root, store, path);
	}
	return r == -ENOMEM ? r : 0;
}

static int remove_dead(const struct sysroot *root, const char *store, const char *path)
{
	(void)store;
	return sysroot_remove(root, path);
}

int scratch_sweep(const struct sysroot *root, const char *store)
{
	int lock = store_lock(root, store);
	int r = lock < 0 ? 0 : for_each(root, store, BUILD, retire);

	closep(&lock);
	return r < 0 ? r : for_each(root, store, DEAD, remove_dead);
}

/* ---- one build's */

static int open_new(struct scratch *s)
{
	int r = folder_open(s->outside, s->path, &s->root);

	if (r < 0)
		return r;
	s->lock = open_dir(s->outside, s->path);
	return s->lock < 0 ? s->lock : lock_try(s->lock);
}

/* Nobody sees it before its lock is taken: it would look like one of a dead build. */
static int make_dir(struct scratch *s)
{
	_cleanup_close_ int lock = store_lock(s->outside, s->store);
	int r = lock < 0 ? lock : retire(s->outside, s->store, s->path);

	if (r == 0)
		r = sysroot_mkdirs(s->outside, s->path, 0700);
	if (r < 0)
		return r;
	r = open_new(s);
	if (r < 0) {
		(void)sysroot_remove(s->outside, s->path);
		closep(&s->lock);
		s->lock = -1;
	}
	return r;
}

int scratch_new(const struct sysroot *root, const char *store, const char *key,
		struct scratch **ret)
{
	_cleanup_(scratch_freep) struct scratch *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	*s = (struct scratch){ .outside = root, .lock = -1, .store = strdup(store) };
	if (!s->store || path_of(store, key, &s->path) < 0)
		return -ENOMEM;
	r = sysroot_mkdirs(root, store, 0755);
	if (r == 0)
		r = scratch_sweep(root, store);
	if (r == 0)
		r = make_dir(s);
	if (r == 0)
		*ret = TAKE_PTR(s);
	return r;
}

/* Is it still the one at its name? Somebody may have cleared the store by hand. */
static bool is_there(const struct scratch *s)
{
	struct stat ours, there;

	return s->lock >= 0 && fstat(s->lock, &ours) == 0 &&
	       stat_here(s->outside, s->path, &there) == 0 && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

/* Who waits for it need not wait until all of it is removed. */
static void remove_dir(const struct scratch *s)
{
	_cleanup_free_ char *dead = NULL;
	int lock = store_lock(s->outside, s->store);
	bool there = is_there(s);
	int r = there ? rename_dead(s->outside, s->store, s->path, &dead) : 0;

	closep(&lock);
	if (there)
		(void)sysroot_remove(s->outside, r < 0 ? s->path : dead);
}

struct scratch *scratch_free(struct scratch *s)
{
	if (!s)
		return NULL;
	remove_dir(s);
	sysroot_free(s->root);
	closep(&s->lock);
	free(s->store);
	free(s->path);
	free(s);
	return NULL;
}

const struct sysroot *scratch_root(const struct scratch *s)
{
	return s->root;
}

const char *scratch_path(const struct scratch *s)
{
	return s->path;
}

/* ---- another's */

/* Opened under the store's lock: else it might be one that its maker has not locked yet. */
static int open_build(const struct sysroot *root, const char *store, const char *key)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int lock = -1;
	int r = path_of(store, key, &path);

	if (r < 0)
		return r;
	lock = store_lock(root, store);
	return lock < 0 ? lock : open_dir(root, path);
}

int scratch_wait(const struct sysroot *root, const char *store, const char *key, int stop_fd,
		 uint64_t timeout_ms)
{
	_cleanup_close_ int fd = open_build(root, store, key);

	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? 0 : fd;
	return lock_wait(fd, stop_fd, timeout_ms);
}

bool scratch_is_busy(const struct sysroot *root, const char *store, const char *key)
{
	_cleanup_close_ int fd = open_build(root, store, key);

	return fd >= 0 && lock_try_shared(fd) == -EWOULDBLOCK;
}
