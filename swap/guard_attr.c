/* SPDX-License-Identifier: Apache-2.0 */
/* Guards that are one attribute of sysfs each: its old value is the record. */
#include <string.h>

#include "swap/guard.h"

enum { MAX_VALUE = 64 };

/* No such attribute: nothing to do, and the record stays empty. */
static int save(const struct sysroot *root, int fd, const char *path, const char *value)
{
	_cleanup_free_ char *old = NULL;
	ssize_t n;
	int r = sysroot_read_attr(root, path, &old);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (strlen(old) >= MAX_VALUE)
		return -EFBIG;
	n = write(fd, old, strlen(old));
	if (n < 0)
		return -errno;
	return (size_t)n == strlen(old) ? sysroot_write_attr(root, path, value) : -ENOSPC;
}

static int restore(const struct sysroot *root, int fd, const char *path)
{
	_cleanup_free_ char *now = NULL;
	char old[MAX_VALUE] = "";
	int r;

	if (pread(fd, old, sizeof(old) - 1, 0) < 0)
		return -errno;
	r = sysroot_read_attr(root, path, &now);
	if (r < 0)
		return r;
	/* A save that could not set it (sysfs read-only) leaves nothing to put back. */
	return strcmp(now, old) == 0 ? 0 : sysroot_write_attr(root, path, old);
}

static int autoprobe_save(const struct guard *g, const struct sysroot *root, int fd,
			  char *const modules[])
{
	(void)modules;
	return save(root, fd, g->path, "0");
}

static int autoprobe_restore(const struct guard *g, const struct sysroot *root, int fd,
			     struct verdicts *why)
{
	(void)why;
	return restore(root, fd, g->path);
}

static int rcu_save(const struct guard *g, const struct sysroot *root, int fd,
		    char *const modules[])
{
	(void)modules;
	return save(root, fd, g->path, "1");
}

static int rcu_restore(const struct guard *g, const struct sysroot *root, int fd,
		       struct verdicts *why)
{
	(void)why;
	return restore(root, fd, g->path);
}

const struct guard guard_autoprobe = {
	.name = "autoprobe",
	.path = "sys/bus/pci/drivers_autoprobe",
	.save = autoprobe_save,
	.restore = autoprobe_restore,
};

const struct guard guard_rcu_expedited = {
	.name = "rcu_expedited",
	.path = "sys/kernel/rcu_expedited",
	.save = rcu_save,
	.restore = rcu_restore,
};
