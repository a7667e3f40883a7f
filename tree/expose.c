/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/expose.h"

#include <string.h>

#include "tree/folder.h"

#define LINK "ofa_kernel"
#define PREFIX LINK "."
#define DIGITS 16 /* of the tree's digest, in the directory's name */
#define MANIFEST_MAX ((size_t)16 << 20)

const char *expose_arch(const char *machine)
{
	if (!strcmp(machine, "arm64"))
		return "aarch64";
	if (!strcmp(machine, "powerpc") || !strcmp(machine, "ppc64el"))
		return "ppc64le";
	return machine;
}

/* The directory that the link names; NULL: there is none. */
static int read_link(const struct sysroot *root, const char *src, char **ret)
{
	_cleanup_free_ char *link = NULL;
	int r = folder_join(src, LINK, &link);

	if (r == 0)
		r = sysroot_readlink(root, link, ret);
	return r == -ENOENT || r == -EINVAL ? 0 : r;
}

/* All directories of ours but the one named; and what is left of an expose that was cut off. */
static int remove_others(const struct sysroot *root, const char *src, const char *keep)
{
	_cleanup_strv_ char **names = NULL;
	int r = sysroot_list(root, src, &names);

	for (char **name = names; r == 0 && *name; name++) {
		_cleanup_free_ char *path = NULL;

		if (strncmp(*name, PREFIX, strlen(PREFIX)) || (keep && !strcmp(*name, keep)))
			continue;
		r = folder_join(src, *name, &path);
		if (r == 0)
			r = sysroot_remove(root, path);
	}
	return r;
}

static int copy_manifest(const struct sysroot *root, const char *dir, const struct tree *tree)
{
	_cleanup_free_ char *text = NULL, *path = NULL;
	size_t len;
	int r = sysroot_read(tree->root, "manifest.json", MANIFEST_MAX, &text, &len);

	if (r == 0)
		r = folder_join(dir, "manifest.json", &path);
	return r < 0 ? r : sysroot_replace(root, path, 0644, text, len);
}

/*
 * <arch>/<kernel>; a tree without symbols and headers (one that nobody builds against) has its
 * manifest only.
 */
static int fill(const struct sysroot *root, const char *dir, const struct tree *tree)
{
	const char *arch = expose_arch(tree->manifest.arch), *kernel = tree->manifest.kernel;
	_cleanup_free_ char *inside = NULL, *to = NULL, *from = NULL, *by_kernel = NULL,
			    *by_default = NULL;
	int r;

	if (asprintf(&inside, "%s/%s", arch, kernel) < 0 || folder_join(dir, inside, &to) < 0 ||
	    asprintf(&from, "usr/src/" LINK "/%s", inside) < 0 ||
	    folder_join(dir, kernel, &by_kernel) < 0 ||
	    folder_join(dir, "default", &by_default) < 0)
		return -ENOMEM;
	r = sysroot_mkdirs(root, to, 0755);
	if (r == 0 && sysroot_exists(tree->root, from))
		r = folder_copy(tree->root, from, root, to);
	if (r == 0)
		r = copy_manifest(root, to, tree);
	if (r == 0)
		r = sysroot_link(root, inside, by_kernel);
	if (r == 0)
		r = sysroot_link(root, inside, by_default);
	return r;
}

/* Under another name until it is complete. */
static int make_directory(const struct sysroot *root, const char *src, const char *name,
			  const struct tree *tree)
{
	_cleanup_free_ char *unfinished = NULL, *dir = NULL;
	int r;

	if (asprintf(&unfinished, "%s/" PREFIX "unfinished", src) < 0 ||
	    folder_join(src, name, &dir) < 0)
		return -ENOMEM;
	r = fill(root, unfinished, tree);
	if (r == 0)
		r = sysroot_rename(root, unfinished, dir);
	if (r < 0)
		(void)sysroot_remove(root, unfinished);
	return r;
}

static int flip(const struct sysroot *root, const char *src, const char *name)
{
	_cleanup_free_ char *link = NULL, *old = NULL;
	int r = folder_join(src, LINK, &link);

	if (r < 0)
		return r;
	/* A directory of another system's: a link cannot be renamed over it. */
	if (sysroot_readlink(root, link, &old) == -EINVAL)
		r = sysroot_remove(root, link);
	return r < 0 ? r : sysroot_link(root, name, link);
}

int expose_tree(const struct sysroot *root, const char *mount, const struct tree *tree)
{
	_cleanup_free_ char *src = NULL, *current = NULL, *below = NULL;
	char name[sizeof(PREFIX) + DIGITS];
	int r = folder_join(mount, "usr/src", &src);

	if (r < 0)
		return r;
	(void)snprintf(name, sizeof(name), PREFIX "%.*s", DIGITS, tree->digest);
	r = sysroot_mkdirs(root, src, 0755);
	if (r == 0)
		r = read_link(root, src, &current);
	if (r == 0)
		r = folder_join(src, name, &below);
	if (r < 0)
		return r;
	if (current && !strcmp(current, name) && sysroot_exists(root, below))
		return 0;
	r = remove_others(root, src, current);
	if (r == 0)
		r = make_directory(root, src, name, tree);
	return r < 0 ? r : flip(root, src, name);
}

int expose_remove(const struct sysroot *root, const char *mount)
{
	_cleanup_free_ char *src = NULL, *link = NULL;
	int r = folder_join(mount, "usr/src", &src);

	if (r == 0)
		r = folder_join(src, LINK, &link);
	if (r == 0)
		r = sysroot_remove(root, link);
	if (r == 0)
		r = remove_others(root, src, NULL);
	return r == -ENOENT ? 0 : r;
}
