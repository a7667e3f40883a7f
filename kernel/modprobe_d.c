/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/modprobe_d.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_CONF = 1 << 20 };

static bool is_conf(const char *name)
{
	size_t len = strlen(name);

	return *name != '.' && len > 5 && strcmp(name + len - 5, ".conf") == 0;
}

/*
 * Of files with the same name the first directory's counts; all of them in the order of their names
 * (man 5 modprobe.d).
 */
struct conf {
	char *name, *path;
};

struct confs {
	struct conf *c;
	size_t n;
};

static void confs_clear(struct confs *confs)
{
	for (size_t i = 0; i < confs->n; i++) {
		free(confs->c[i].name);
		free(confs->c[i].path);
	}
	free(confs->c);
}

static int add_conf(struct confs *confs, const char *dir, const char *name)
{
	struct conf *c = reallocarray(confs->c, confs->n + 1, sizeof(*c)), new = { 0 };

	if (!c)
		return -ENOMEM;
	confs->c = c;
	for (size_t i = 0; i < confs->n; i++) {
		if (strcmp(c[i].name, name) == 0)
			return 0;
	}
	new.name = strdup(name);
	if (!new.name || asprintf(&new.path, "%s/%s", dir, name) < 0) {
		free(new.name);
		return -ENOMEM;
	}
	c[confs->n++] = new;
	return 0;
}

static int conf_by_name(const void *a, const void *b)
{
	return strcmp(((const struct conf *)a)->name, ((const struct conf *)b)->name);
}

static int list_confs(const struct sysroot *root, struct confs *confs)
{
	static const char *const dirs[] = { "etc/modprobe.d", "run/modprobe.d",
					    "usr/local/lib/modprobe.d", "lib/modprobe.d" };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		_cleanup_strv_ char **names = NULL;
		int r = sysroot_list(root, dirs[i], &names);

		if (r == -ENOMEM)
			return r;
		for (char **n = names; r == 0 && n && *n; n++) {
			if (is_conf(*n) && add_conf(confs, dirs[i], *n) < 0)
				return -ENOMEM;
		}
	}
	if (confs->n)
		qsort(confs->c, confs->n, sizeof(*confs->c), conf_by_name);
	return 0;
}

/*
 * A file that cannot be read is left out, as modprobe does; one masked by a link to /dev/null is
 * among these.
 */
static int copy_conf(const struct sysroot *root, const char *path, int to)
{
	_cleanup_free_ char *text = NULL;
	int r = sysroot_read(root, path, MAX_CONF, &text, NULL);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	return dprintf(to, "%s\n", text) < 0 ? -errno : 0;
}

int modprobe_d_collect(const struct sysroot *root, const char *tree, int *ret_fd)
{
	_cleanup_(confs_clear) struct confs confs = { 0 };
	_cleanup_close_ int fd = memfd_create("modprobe.d", MFD_CLOEXEC);
	_cleanup_free_ char *softdep = NULL;
	int r;

	if (fd < 0)
		return -errno;
	if (asprintf(&softdep, "%s/modules.softdep", tree) < 0)
		return -ENOMEM;
	r = copy_conf(root, softdep, fd);
	if (r == 0)
		r = list_confs(root, &confs);
	for (size_t i = 0; r == 0 && i < confs.n; i++)
		r = copy_conf(root, confs.c[i].path, fd);
	if (r == 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}
