/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/headers.h"

#include <string.h>
#include <sys/utsname.h>

#include "common/digest.h"
#include "tree/distribution.h"
#include "tree/folder.h"
#include "tree/makefile.h"

#define TEXT_MAX ((size_t)1 << 20) /* of utsrelease.h */

static bool has_file(const struct sysroot *root, const char *dir, const char *name)
{
	_cleanup_free_ char *path = NULL;

	return folder_join(dir, name, &path) == 0 && sysroot_exists(root, path);
}

/* As people know it: with the sysroot's directory in front. */
static int shown(const struct sysroot *root, const char *path, char **ret)
{
	const char *dir = sysroot_dir(root);
	size_t len = strlen(dir);

	while (len && dir[len - 1] == '/')
		len--;
	path += strspn(path, "/");
	return asprintf(ret, "%.*s/%s", (int)len, dir, path) < 0 ? -ENOMEM : 0;
}

/* ---- where they are */

enum { PLACES = 6 };

/* NULL-ended */
struct places {
	char *path[PLACES + 1];
};

static void places_clear(struct places *p)
{
	for (size_t i = 0; i < PLACES; i++)
		free(p->path[i]);
}

/* SLES: KERNEL is VERSION-FLAVOUR; flavours with a source of their own (azure, rt) name it too. */
static int places_of(const char *kernel, const char *arch, struct places *ret)
{
	const char *flavour = strrchr(kernel, '-');
	_cleanup_(places_clear) struct places p = { 0 };

	if (asprintf(&p.path[0], "lib/modules/%s/build", kernel) < 0 ||
	    asprintf(&p.path[1], "usr/src/linux-headers-%s", kernel) < 0 ||
	    asprintf(&p.path[2], "usr/src/kernels/%s", kernel) < 0)
		return -ENOMEM;
	if (flavour &&
	    (asprintf(&p.path[3], "usr/src/linux-%.*s-obj/%s/%s", (int)(flavour - kernel), kernel,
		      arch, flavour + 1) < 0 ||
	     asprintf(&p.path[4], "usr/src/linux-%s-obj/%s/%s", kernel, arch, flavour + 1) < 0 ||
	     asprintf(&p.path[5], "usr/src/linux-obj/%s/%s", arch, flavour + 1) < 0))
		return -ENOMEM;
	*ret = p;
	p = (struct places){ 0 };
	return 0;
}

static bool are_headers(const struct sysroot *root, const char *path)
{
	return has_file(root, path, "Makefile") && has_file(root, path, ".config");
}

static const char *first_headers(const struct sysroot *root, const struct places *p)
{
	for (size_t i = 0; p->path[i]; i++)
		if (are_headers(root, p->path[i]))
			return p->path[i];
	return NULL;
}

/* "/host/lib/modules/K/build (a link to /usr/src/x, which is not there)" */
static void write_place(FILE *f, const struct sysroot *root, const char *path)
{
	_cleanup_free_ char *name = NULL, *target = NULL;

	if (shown(root, path, &name) < 0)
		return;
	(void)fputs(name, f);
	if (sysroot_exists(root, path))
		(void)fprintf(f, " (no %s)",
			      has_file(root, path, "Makefile") ? ".config" : "Makefile");
	else if (sysroot_readlink(root, path, &target) == 0)
		(void)fprintf(f, " (a link to %s, which is not there)", target);
}

static int say_missing(const struct sysroot *root, const char *kernel, const struct places *p,
		       struct verdicts *why)
{
	_cleanup_free_ char *text = NULL, *package = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; p->path[i]; i++) {
		(void)fputs(i ? ", " : "", f);
		write_place(f, root, p->path[i]);
	}
	if (fclose(f) != 0 || distribution_package(root, kernel, &package) < 0)
		return -ENOMEM;
	verdicts_no(why, REASON_HEADERS_MISSING, kernel, "looked at %s; needed: %s", text, package);
	return -ENOENT;
}

/* ---- their source */

/* Absolute, if there is a Makefile. */
static int read_source(const struct sysroot *root, const char *path, char **ret)
{
	return has_file(root, path, "Makefile") ? folder_path(root, path, ret) : -ENOENT;
}

static int source_by_makefile(const struct sysroot *root, const char *headers, char **ret)
{
	_cleanup_free_ char *text = NULL, *path = NULL;
	const char *dir = NULL;
	size_t len;
	int r = makefile_read(root, headers, &text);

	if (r < 0)
		return r;
	for (const char *line = text; !dir && *line; line = makefile_next(line))
		dir = makefile_included(line, &len);
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

/* ---- what they are for */

/* From "#define UTS_RELEASE "6.1.0-56-amd64"". */
static int release_by_header(const struct sysroot *root, const char *path, char **ret)
{
	static const char KEY[] = "UTS_RELEASE \"";
	_cleanup_free_ char *text = NULL;
	const char *release;
	int r = sysroot_read(root, path, TEXT_MAX, &text, NULL);

	if (r < 0)
		return r;
	release = strstr(text, KEY);
	if (!release)
		return -ENOENT;
	release += strlen(KEY);
	*ret = strndup(release, strcspn(release, "\"\n"));
	return *ret ? 0 : -ENOMEM;
}

/* The header is what modules get; Debian's kernel.release is "6.1.192" beside it. */
static int read_release(const struct sysroot *root, const char *dir, char **ret)
{
	_cleanup_free_ char *file = NULL, *header = NULL;
	int r;

	if (asprintf(&file, "%s/include/config/kernel.release", dir) < 0 ||
	    asprintf(&header, "%s/include/generated/utsrelease.h", dir) < 0)
		return -ENOMEM;
	r = release_by_header(root, header, ret);
	return r == -ENOENT ? sysroot_read_attr(root, file, ret) : r;
}

static int check_release(const struct sysroot *root, const char *kernel, const char *dir,
			 struct verdicts *why)
{
	_cleanup_free_ char *release = NULL, *package = NULL, *name = NULL;
	int r = read_release(root, dir, &release);

	if (r < 0 && r != -ENOENT)
		return r;
	if (distribution_package(root, kernel, &package) < 0 || shown(root, dir, &name) < 0)
		return -ENOMEM;
	if (r == -ENOENT) {
		verdicts_no(why, REASON_HEADERS_MISSING, kernel,
			    "%s is not prepared (make modules_prepare): neither "
			    "include/config/kernel.release nor include/generated/utsrelease.h; "
			    "needed: %s",
			    name, package);
		return r;
	}
	if (!strcmp(release, kernel))
		return 0;
	verdicts_no(why, REASON_VERMAGIC_MISMATCH, name, "headers of %s, this is %s; needed: %s",
		    release, kernel, package);
	return -ENOEXEC;
}

/* uname's names and those of .config */
static const struct architecture {
	const char *machine, *config;
} architectures[] = {
	{ "x86_64", "X86_64" }, { "aarch64", "ARM64" }, { "ppc64le", "PPC64" },
	{ "s390x", "S390" },    { "riscv64", "RISCV" },
};

static int check_arch(const struct sysroot *root, const char *arch, const char *dir,
		      const struct kconfig *config, struct verdicts *why)
{
	_cleanup_free_ char *name = NULL;
	const struct architecture *wanted = NULL, *there = NULL;

	for (size_t i = 0; i < sizeof(architectures) / sizeof(*architectures); i++) {
		const struct architecture *a = &architectures[i];

		wanted = strcmp(a->machine, arch) ? wanted : a;
		there = kconfig_has(config, a->config) ? a : there;
	}
	if (!wanted || wanted == there)
		return 0;
	if (shown(root, dir, &name) < 0)
		return -ENOMEM;
	verdicts_no(why, REASON_ARCH_MISMATCH, name, "headers for %s, this is %s",
		    there ? there->machine : "another architecture", arch);
	return -ENOEXEC;
}

/* ---- the directory itself */

static int read_digests(const struct sysroot *root, const char *dir, struct headers *h)
{
	_cleanup_free_ char *config = NULL, *symvers = NULL;
	int r;

	if (folder_join(dir, ".config", &config) < 0 ||
	    folder_join(dir, "Module.symvers", &symvers) < 0)
		return -ENOMEM;
	r = kconfig_read(root, config, &h->config);
	if (r < 0)
		return r;
	r = digest_file(root, symvers, h->symvers_sha256);
	return r == -ENOENT ? 0 : r;
}

static int read_headers(const struct sysroot *root, const char *kernel, const char *dir,
			struct headers *h)
{
	const char *compiler;
	size_t len;
	int r = read_digests(root, dir, h);

	if (r == 0)
		r = folder_path(root, dir, &h->path);
	if (r == 0)
		r = find_source(root, kernel, dir, &h->sources);
	if (r < 0)
		return r;
	compiler = kconfig_value(&h->config, "CC_VERSION_TEXT", &len);
	h->compiler = compiler && len ? strndup(compiler, len) : NULL;
	return compiler && len && !h->compiler ? -ENOMEM : 0;
}

static int find_dir(const struct sysroot *root, const char *kernel, const char *arch,
		    const char *given, char **ret, struct verdicts *why)
{
	_cleanup_(places_clear) struct places p = { 0 };
	const char *found;
	int r = 0;

	if (given)
		p.path[0] = strdup(given);
	else
		r = places_of(kernel, arch, &p);
	if (r < 0 || !p.path[0])
		return -ENOMEM;
	found = first_headers(root, &p);
	if (!found)
		return why ? say_missing(root, kernel, &p, why) : -ENOENT;
	*ret = strdup(found);
	return *ret ? 0 : -ENOMEM;
}

static int use_dir(const struct sysroot *root, const char *kernel, const char *arch,
		   const char *dir, struct headers *ret, struct verdicts *why)
{
	_cleanup_headers_ struct headers h = { 0 };
	int r = read_headers(root, kernel, dir, &h);

	if (r == 0)
		r = check_arch(root, arch, dir, &h.config, why);
	if (r == 0)
		r = check_release(root, kernel, dir, why);
	if (r < 0)
		return r;
	*ret = h;
	h = (struct headers){ 0 };
	return 0;
}

int headers_find(const struct sysroot *root, const char *kernel, const char *arch,
		 const char *given, struct headers *ret, struct verdicts *why)
{
	_cleanup_free_ char *dir = NULL;
	size_t said = why->n;
	int r = find_dir(root, kernel, arch, given, &dir, why);

	if (r == 0)
		r = use_dir(root, kernel, arch, dir, ret, why);
	if (r < 0 && why->n == said)
		verdicts_no(why, REASON_SYSTEM, dir ? dir : kernel, "%s", strerror(-r));
	return r;
}

int headers_where(const struct sysroot *root, const char *kernel, const char *given,
		  char **ret_path_below_root)
{
	struct utsname uts;

	if (uname(&uts) < 0)
		return -errno;
	return find_dir(root, kernel, uts.machine, given, ret_path_below_root, NULL);
}

void headers_clear(struct headers *h)
{
	free(h->path);
	free(h->sources);
	free(h->compiler);
	kconfig_clear(&h->config);
	*h = (struct headers){ 0 };
}
