/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/headers.h"

#include <string.h>

#include "tree/folder.h"

#define CONFIG_MAX ((size_t)4 << 20)
#define MAKEFILE_MAX ((size_t)1 << 20)

/* CONFIG_CC_VERSION_TEXT="gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0" */
static int read_compiler(const struct sysroot *dir, char **ret)
{
	static const char KEY[] = "\nCONFIG_CC_VERSION_TEXT=\"";
	_cleanup_free_ char *config = NULL;
	const char *value;
	int r = sysroot_read(dir, ".config", CONFIG_MAX, &config, NULL);

	if (r < 0)
		return r;
	value = strstr(config, KEY);
	if (!value)
		return -ENOENT;
	value += strlen(KEY);
	*ret = strndup(value, strcspn(value, "\"\n"));
	return *ret ? 0 : -ENOMEM;
}

/* ---- its source */

/* Absolute, if there is a Makefile. */
static int read_source(const struct sysroot *root, const char *path, char **ret)
{
	_cleanup_(sysroot_freep) struct sysroot *dir = NULL;
	int r = folder_open(root, path, &dir);

	if (r < 0)
		return r;
	if (!sysroot_exists(dir, "Makefile"))
		return -ENOENT;
	*ret = strdup(sysroot_dir(dir));
	return *ret ? 0 : -ENOMEM;
}

/* "include /usr/src/linux-headers-6.1.0-56-common/Makefile": ret_len is that of the directory. */
static const char *included_dir(const char *makefile, size_t *ret_len)
{
	static const char KEY[] = "include ", END[] = "/Makefile";
	size_t len;

	for (const char *line = makefile; *line; line += len + (line[len] == '\n')) {
		const char *path = line + strlen(KEY);

		len = strcspn(line, "\n");
		if (len <= strlen(KEY) + strlen(END) || strncmp(line, KEY, strlen(KEY)))
			continue;
		*ret_len = len - strlen(KEY) - strlen(END);
		if (!strncmp(path + *ret_len, END, strlen(END)) && !memchr(path, '$', *ret_len))
			return path;
	}
	return NULL;
}

static int source_by_makefile(const struct sysroot *root, const char *headers, char **ret)
{
	_cleanup_free_ char *makefile = NULL, *text = NULL, *path = NULL;
	const char *dir;
	size_t len;
	int r;

	if (asprintf(&makefile, "%s/Makefile", headers) < 0)
		return -ENOMEM;
	r = sysroot_read(root, makefile, MAKEFILE_MAX, &text, NULL);
	if (r < 0)
		return r;
	dir = included_dir(text, &len);
	if (!dir)
		return -ENOENT;
	r = *dir == '/' ? asprintf(&path, "%.*s", (int)len - 1, dir + 1)
			: asprintf(&path, "%s/%.*s", headers, (int)len, dir);
	return r < 0 ? -ENOMEM : read_source(root, path, ret);
}

static int find_source(const struct sysroot *root, const char *kernel, const char *headers,
		       char **ret)
{
	_cleanup_free_ char *link = NULL, *module_dir = NULL;
	int r;

	if (asprintf(&link, "%s/source", headers) < 0 ||
	    asprintf(&module_dir, "lib/modules/%s/source", kernel) < 0)
		return -ENOMEM;
	r = read_source(root, link, ret);
	if (r < 0 && r != -ENOMEM)
		r = source_by_makefile(root, headers, ret);
	if (r < 0 && r != -ENOMEM)
		r = read_source(root, module_dir, ret);
	if (r < 0 && r != -ENOMEM)
		r = read_source(root, headers, ret);
	return r;
}

/* ---- the directory itself */

static int look_at(const struct sysroot *root, const char *kernel, const char *path,
		   struct headers *ret)
{
	_cleanup_(sysroot_freep) struct sysroot *dir = NULL;
	_cleanup_headers_ struct headers h = { 0 };
	int r = folder_open(root, path, &dir);

	if (r < 0)
		return r;
	if (!sysroot_exists(dir, "Makefile"))
		return -ENOENT;
	r = read_compiler(dir, &h.compiler);
	if (r == -ENOMEM)
		return r;
	r = find_source(root, kernel, path, &h.sources);
	if (r < 0)
		return r;
	h.path = strdup(sysroot_dir(dir));
	if (!h.path)
		return -ENOMEM;
	*ret = h;
	h = (struct headers){ 0 };
	return 0;
}

int headers_find(const struct sysroot *root, const char *kernel, const char *given,
		 struct headers *ret, struct verdicts *why)
{
	_cleanup_free_ char *build = NULL, *package = NULL;
	int r;

	if (given) {
		r = look_at(root, kernel, given, ret);
		if (r < 0)
			verdicts_no(why, REASON_HEADERS_MISSING, kernel,
				    "%s: %s; no Makefile there", given, strerror(-r));
		return r;
	}
	if (asprintf(&build, "lib/modules/%s/build", kernel) < 0 ||
	    asprintf(&package, "usr/src/linux-headers-%s", kernel) < 0)
		return -ENOMEM;
	if (look_at(root, kernel, build, ret) == 0)
		return 0;
	r = look_at(root, kernel, package, ret);
	if (r < 0)
		verdicts_no(why, REASON_HEADERS_MISSING, kernel,
			    "neither %s nor %s has a Makefile (below %s); package linux-headers-%s",
			    build, package, sysroot_dir(root), kernel);
	return r;
}

void headers_clear(struct headers *h)
{
	free(h->path);
	free(h->sources);
	free(h->compiler);
	*h = (struct headers){ 0 };
}
