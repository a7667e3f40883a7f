/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/scratch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "tree/folder.h"
#include "tree/store.h"

#define PREFIX ".build-"

struct scratch {
	const struct sysroot *outside;
	struct sysroot *root;
	char *path;
	int lock;
};

static int remove_if_stale(const struct sysroot *root, const char *store, const char *name)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	int r = folder_join(store, name, &path);

	if (r < 0)
		return r;
	fd = sysroot_openat(root, path, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	return flock(fd, LOCK_EX | LOCK_NB) < 0 ? 0 : sysroot_remove(root, path);
}

/* One that cannot be removed stops no build: it waits for the next. */
static int remove_stale(const struct sysroot *root, const char *store)
{
	_cleanup_strv_ char **names = NULL;
	int r = sysroot_list(root, store, &names);

	for (char **name = names; r != -ENOMEM && name && *name; name++)
		if (!strncmp(*name, PREFIX, strlen(PREFIX)))
			r = remove_if_stale(root, store, *name);
	return r == -ENOMEM ? r : 0;
}

static int make_dir(struct scratch *s, const char *store)
{
	_cleanup_free_ char *real = NULL, *pattern = NULL;
	int r = folder_path(s->outside, store, &real);

	if (r < 0)
		return r;
	if (folder_join(real, PREFIX "XXXXXX", &pattern) < 0)
		return -ENOMEM;
	if (!mkdtemp(pattern))
		return -errno;
	r = folder_join(store, strrchr(pattern, '/') + 1, &s->path);
	if (r < 0) {
		(void)rmdir(pattern);
		return r;
	}
	r = sysroot_open(pattern, &s->root);
	if (r < 0)
		return r;
	s->lock = sysroot_openat(s->root, ".", O_RDONLY | O_DIRECTORY, 0);
	if (s->lock < 0)
		return s->lock;
	return flock(s->lock, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

int scratch_new(const struct sysroot *root, const char *store, struct scratch **ret)
{
	_cleanup_close_ int lock = -1;
	_cleanup_(scratch_freep) struct scratch *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	*s = (struct scratch){ .outside = root, .lock = -1 };
	r = sysroot_mkdirs(root, store, 0755);
	if (r < 0)
		return r;
	lock = store_lock(root, store);
	if (lock < 0)
		return lock;
	r = remove_stale(root, store);
	if (r == 0)
		r = make_dir(s, store);
	if (r == 0)
		*ret = TAKE_PTR(s);
	return r;
}

struct scratch *scratch_free(struct scratch *s)
{
	if (!s)
		return NULL;
	if (s->path)
		(void)sysroot_remove(s->outside, s->path);
	sysroot_free(s->root);
	closep(&s->lock);
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
