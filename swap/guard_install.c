/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "swap/guard.h"

static int format(char *const modules[], char **ret, size_t *ret_len)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_fclose_ FILE *f = NULL;
	size_t len;

	f = open_memstream(&text, &len);
	if (!f)
		return -ENOMEM;
	fputs("# Written by gdrkit while it swaps these modules; it goes by itself at the end.\n",
	      f);
	for (; *modules; modules++)
		fprintf(f, "install %s /bin/false\n", *modules);
	if (fclose(TAKE_PTR(f)) != 0)
		return -ENOMEM;
	*ret = TAKE_PTR(text);
	*ret_len = len;
	return 0;
}

/* There is no old value: the record only says that the file may be there. */
static int install_save(const struct guard *g, const struct sysroot *root, int fd,
			char *const modules[])
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = format(modules, &text, &len);

	if (r < 0)
		return r;
	if (write(fd, g->path, strlen(g->path)) < 0)
		return -errno;
	return sysroot_replace(root, g->path, 0644, text, len);
}

static int install_restore(const struct guard *g, const struct sysroot *root, int fd,
			   struct verdicts *why)
{
	(void)fd;
	(void)why;
	/* On a read-only file system, removing what is not there would be an error. */
	return sysroot_exists(root, g->path) ? sysroot_remove(root, g->path) : 0;
}

const struct guard guard_install = {
	.name = "install",
	.path = "run/modprobe.d/gdrkit-swap.conf",
	.save = install_save,
	.restore = install_restore,
};
