/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/sysfs.h"

#include <stdio.h>
#include <string.h>

int sysfs_link_name(const struct sysroot *root, const char *dir, const char *name, char **ret)
{
	_cleanup_free_ char *path = NULL, *target = NULL;
	char *slash, *copy;
	int r;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	r = sysroot_readlink(root, path, &target);
	if (r < 0)
		return r == -ENOMEM ? r : -ENOENT;
	slash = strrchr(target, '/');
	copy = strdup(slash ? slash + 1 : target);
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

bool sysfs_says(const struct sysroot *root, const char *dir, const char *name, const char *value)
{
	_cleanup_free_ char *path = NULL, *text = NULL;

	return asprintf(&path, "%s/%s", dir, name) >= 0 &&
	       sysroot_read_attr(root, path, &text) == 0 && strcmp(text, value) == 0;
}
