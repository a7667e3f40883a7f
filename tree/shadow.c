/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/shadow.h"

#include <string.h>

#include "tree/folder.h"
#include "tree/makefile.h"

/* The part of an absolute path that is below root. */
static int below_root(const struct sysroot *root, const char *path, const char **ret)
{
	_cleanup_free_ char *real = NULL;
	size_t len;
	int r = folder_path(root, ".", &real);

	if (r < 0)
		return r;
	len = strlen(real);
	if (strncmp(path, real, len) || path[len] != '/')
		return -EXDEV;
	*ret = path + len + 1;
	return 0;
}

static int shadow_entry(const struct sysroot *root, const char *from, const struct sysroot *dir,
			const char *to, const char *name)
{
	_cleanup_free_ char *entry = NULL, *real = NULL, *link = NULL;
	int r;

	if (folder_join(from, name, &entry) < 0 || folder_join(to, name, &link) < 0)
		return -ENOMEM;
	r = folder_entry_path(root, entry, &real);
	if (r < 0)
		return r == -ENOMEM ? r : 0; /* leads nowhere there either */
	return sysroot_link(dir, real, link);
}

/* Links in `to` to all that is in `real`; then *real is `to`. */
static int shadow_dir(const struct sysroot *root, char **real, const struct sysroot *dir,
		      const char *to)
{
	_cleanup_strv_ char **names = NULL;
	_cleanup_free_ char *made = NULL;
	const char *from;
	int r = below_root(root, *real, &from);

	if (r == 0)
		r = sysroot_list(root, from, &names);
	if (r == 0)
		r = sysroot_mkdirs(dir, to, 0755);
	for (char **name = names; r == 0 && *name; name++)
		r = shadow_entry(root, from, dir, to, *name);
	if (r == 0)
		r = folder_path(dir, to, &made);
	if (r < 0)
		return r;
	free(*real);
	*real = TAKE_PTR(made);
	return 0;
}

/* Kernels from 6.13 on write their own build directory into it as well. */
static int rewrite_makefile(const char *text, const struct headers *h, char **ret)
{
	static const char OUTPUT[] = "export KBUILD_OUTPUT";
	_cleanup_free_ char *made = NULL;
	size_t len;
	FILE *f = open_memstream(&made, &len);

	if (!f)
		return -ENOMEM;
	for (const char *line = text; *line; line = makefile_next(line)) {
		if (makefile_included(line, &len))
			(void)fprintf(f, "include %s/Makefile\n", h->sources);
		else if (!strncmp(line, OUTPUT, strlen(OUTPUT)))
			(void)fprintf(f, "%s = %s\n", OUTPUT, h->path);
		else
			(void)fprintf(f, "%.*s\n", (int)strcspn(line, "\n"), line);
	}
	if (fclose(f) != 0)
		return -ENOMEM;
	*ret = TAKE_PTR(made);
	return 0;
}

static int shadow_makefile(const char *text, const struct headers *h, const struct sysroot *dir)
{
	_cleanup_free_ char *made = NULL;
	int r = rewrite_makefile(text, h, &made);

	if (r < 0)
		return r;
	return sysroot_replace(dir, "headers/Makefile", 0644, made, strlen(made));
}

/* The includes of headers that are their own source lead into it already. */
static int shadow_both(const struct sysroot *root, struct headers *h, const struct sysroot *dir)
{
	_cleanup_free_ char *text = NULL;
	const char *headers;
	int r = below_root(root, h->path, &headers);

	if (r == 0)
		r = makefile_read(root, headers, &text);
	if (r == 0)
		r = shadow_dir(root, &h->path, dir, "headers");
	if (r == 0)
		r = shadow_dir(root, &h->sources, dir, "sources");
	return r < 0 ? r : shadow_makefile(text, h, dir);
}

int headers_shadow(const struct sysroot *root, struct headers *h, const struct sysroot *dir)
{
	_cleanup_free_ char *real_root = NULL, *path = NULL;
	int r = folder_path(root, ".", &real_root);

	if (r < 0 || !strcmp(real_root, "/"))
		return r;
	if (strcmp(h->path, h->sources))
		return shadow_both(root, h, dir);
	r = shadow_dir(root, &h->path, dir, "headers");
	if (r < 0)
		return r;
	path = strdup(h->path);
	if (!path)
		return -ENOMEM;
	free(h->sources);
	h->sources = TAKE_PTR(path);
	return 0;
}
