/* SPDX-License-Identifier: Apache-2.0 */
#include "swap/guard.h"

#include <fcntl.h>
#include <string.h>

#define SAVED_DIR "run/gdrkit/saved"

const struct guard *const guards_of_every_swap[] = {
	&guard_install,
	&guard_autoprobe,
	&guard_rcu_expedited,
	NULL,
};

static int saved_path(const struct guard *g, char **ret)
{
	return asprintf(ret, SAVED_DIR "/%s", g->name) < 0 ? -ENOMEM : 0;
}

static int failed(struct verdicts *why, const char *path, int r)
{
	verdicts_no(why, REASON_GUARD_FAILED, path, "%s", strerror(-r));
	return r;
}

/* Runs the guard's own part on its file, if there is something in it. */
static int restore_from(const struct guard *g, const struct sysroot *root, int fd,
			struct verdicts *why)
{
	size_t told = why->n;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size == 0)
		return 0;
	r = g->restore(g, root, fd, why);
	if (r < 0 && why->n == told)
		return failed(why, g->path, r);
	return r;
}

int guard_restore(const struct guard *g, const struct sysroot *root, struct verdicts *why)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	int r = saved_path(g, &path);

	if (r < 0)
		return r;
	fd = sysroot_openat(root, path, O_RDONLY | O_NOFOLLOW, 0);
	if (fd < 0)
		return fd == -ENOENT ? 0 : failed(why, path, fd);
	r = restore_from(g, root, fd, why);
	if (r < 0)
		return r;
	r = sysroot_remove(root, path);
	return r < 0 ? failed(why, path, r) : 0;
}

static int make_file(const struct sysroot *root, const char *path)
{
	int r = sysroot_mkdirs(root, SAVED_DIR, 0755);

	if (r < 0)
		return r;
	return sysroot_openat(root, path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
}

/* What could not be written: the record, for want of space, or what the guard sets. */
static const char *culprit(const struct guard *g, const char *saved, int fd, int r)
{
	bool full = r == -ENOSPC || r == -EDQUOT || r == -EFBIG;
	struct stat st;

	return full && fstat(fd, &st) == 0 && st.st_size == 0 ? saved : g->path;
}

int guard_save(const struct guard *g, const struct sysroot *root, char *const modules[],
	       struct verdicts *why)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	int r = saved_path(g, &path);

	/* What an earlier save left set must not be taken for what the node had. */
	if (r == 0)
		r = guard_restore(g, root, why);
	if (r < 0)
		return r;
	fd = make_file(root, path);
	if (fd < 0)
		return failed(why, path, fd);
	r = g->save(g, root, fd, modules);
	if (r < 0) {
		(void)failed(why, culprit(g, path, fd, r), r);
		(void)guard_restore(g, root, why);
	}
	return r;
}
