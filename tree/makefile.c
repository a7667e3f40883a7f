/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/makefile.h"

#include <string.h>

#include "tree/folder.h"

#define MAKEFILE_MAX ((size_t)1 << 20)

const char *makefile_included(const char *line, size_t *ret_len)
{
	static const char KEY[] = "include ", END[] = "/Makefile";
	size_t len = strcspn(line, "\n");

	if (len <= strlen(KEY) + strlen(END) || strncmp(line, KEY, strlen(KEY)))
		return NULL;
	len -= strlen(KEY) + strlen(END);
	line += strlen(KEY);
	if (strncmp(line + len, END, strlen(END)) || memchr(line, '$', len))
		return NULL;
	*ret_len = len;
	return line;
}

const char *makefile_next(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

int makefile_read(const struct sysroot *root, const char *dir, char **ret)
{
	_cleanup_free_ char *path = NULL;

	if (folder_join(dir, "Makefile", &path) < 0)
		return -ENOMEM;
	return sysroot_read(root, path, MAKEFILE_MAX, ret, NULL);
}
