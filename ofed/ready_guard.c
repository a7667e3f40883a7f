/* SPDX-License-Identifier: Apache-2.0 */
#include "ofed/ready_guard.h"

#include "tree/ready.h"

#define NAME "ready"
#define SAVED "run/gdrkit/saved/" NAME

enum { MAX_READY = 1 << 20 };

static int save(const struct guard *g, const struct sysroot *root, int fd, char *const modules[])
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	ssize_t n;
	int r = sysroot_read(root, g->path, MAX_READY, &text, &len);

	(void)modules;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	n = write(fd, text, len);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? sysroot_remove(root, g->path) : -ENOSPC;
}

/* The record is the file itself, byte for byte. */
static int restore(const struct guard *g, const struct sysroot *root, int fd, struct verdicts *why)
{
	_cleanup_verdicts_ struct verdicts stale = { 0 };
	_cleanup_ready_ struct ready ready = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = ready_read(root, SAVED, &ready);

	(void)fd;
	(void)why;
	if (r == -EBADMSG) /* it was no ready file: nobody misses it */
		return 0;
	if (r == 0)
		r = ready_check_live(root, &ready, &stale);
	if (r < 0 || stale.n > 0)
		return r;
	r = sysroot_read(root, SAVED, MAX_READY, &text, &len);
	return r < 0 ? r : sysroot_replace(root, g->path, 0644, text, len);
}

struct guard ready_guard(const char *path)
{
	return (struct guard){ .name = NAME, .path = path, .save = save, .restore = restore };
}
