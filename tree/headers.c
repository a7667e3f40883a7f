/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/headers.h"

#include <string.h>

#include "tree/folder.h"

#define CONFIG_MAX ((size_t)4 << 20)

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

static int look_at(const struct sysroot *root, const char *path, struct headers *ret)
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
		r = look_at(root, given, ret);
		if (r < 0)
			verdicts_no(why, REASON_HEADERS_MISSING, kernel,
				    "%s: %s; no Makefile there", given, strerror(-r));
		return r;
	}
	if (asprintf(&build, "lib/modules/%s/build", kernel) < 0 ||
	    asprintf(&package, "usr/src/linux-headers-%s", kernel) < 0)
		return -ENOMEM;
	if (look_at(root, build, ret) == 0)
		return 0;
	r = look_at(root, package, ret);
	if (r < 0)
		verdicts_no(why, REASON_HEADERS_MISSING, kernel,
			    "neither %s nor %s has a Makefile (below %s); package linux-headers-%s",
			    build, package, sysroot_dir(root), kernel);
	return r;
}

void headers_clear(struct headers *h)
{
	free(h->path);
	free(h->compiler);
	*h = (struct headers){ 0 };
}
