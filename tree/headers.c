/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/headers.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/child.h"
#include "common/digest.h"
#include "tree/folder.h"

#define TEXT_MAX ((size_t)1 << 20) /* of a Makefile, of os-release */
#define PROGRAM_TIMEOUT_MS 10000
#define INTERPRETER_MAX 256

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

/* ---- the package that has them */

struct distribution {
	const char *id;
	int (*package)(const char *kernel, char **ret);
};

static int debian_package(const char *kernel, char **ret)
{
	return asprintf(ret, "linux-headers-%s", kernel);
}

/* "5.14.0-503.el9.x86_64+rt" is kernel-rt's; Oracle's own has "uek" in its release. */
static int rpm_package(const char *kernel, char **ret)
{
	const char *kind = strchr(kernel, '+');

	if (kind)
		return asprintf(ret, "kernel-%s-devel-%.*s", kind + 1, (int)(kind - kernel),
				kernel);
	return asprintf(ret, "kernel-%sdevel-%s", strstr(kernel, "uek") ? "uek-" : "", kernel);
}

/* zypper's form: NAME=VERSION */
static int suse_package(const char *kernel, char **ret)
{
	const char *flavour = strrchr(kernel, '-');

	if (!flavour)
		return asprintf(ret, "kernel-default-devel=%s", kernel);
	return asprintf(ret, "kernel-%s-devel=%.*s", flavour + 1, (int)(flavour - kernel), kernel);
}

/* Systems that are images have none to install, whatever they are like. */
static int no_package(const char *kernel, char **ret)
{
	return asprintf(ret, "the headers of kernel %s", kernel);
}

static const struct distribution distributions[] = {
	{ "debian", debian_package },
	{ "ubuntu", debian_package },
	{ "rhel", rpm_package },
	{ "rocky", rpm_package },
	{ "centos", rpm_package },
	{ "almalinux", rpm_package },
	{ "fedora", rpm_package },
	{ "ol", rpm_package },
	{ "amzn", rpm_package },
	{ "azurelinux", rpm_package },
	{ "sles", suse_package },
	{ "suse", suse_package },
	{ "opensuse", suse_package },
	{ "opensuse-leap", suse_package },
	{ "opensuse-tumbleweed", suse_package },
	{ "rhcos", no_package },
	{ "coreos", no_package },
	{ "flatcar", no_package },
	{ "cos", no_package },
};

/* man 5 os-release: KEY=value, quoted or not. NULL: not told. */
static const char *os_release(const char *text, const char *key, size_t *ret_len)
{
	size_t len = strlen(key);
	const char *line = text;

	while (line && (strncmp(line, key, len) || line[len] != '=')) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line)
		return NULL;
	line += len + 1;
	line += *line == '"' || *line == '\'';
	*ret_len = strcspn(line, "\"'\r\n");
	return line;
}

/* The first of the words in the value of key that is known. */
static const struct distribution *known_distribution(const char *text, const char *key)
{
	size_t left, len;
	const char *word = os_release(text, key, &left);

	for (; word && left; word += len, left -= len) {
		len = strspn(word, " ");
		len = len > left ? left : len;
		word += len;
		left -= len;
		len = strcspn(word, " ");
		len = len > left ? left : len;
		for (size_t i = 0; i < sizeof(distributions) / sizeof(*distributions); i++)
			if (strlen(distributions[i].id) == len &&
			    !strncmp(distributions[i].id, word, len))
				return &distributions[i];
	}
	return NULL;
}

/* VARIANT_ID=coreos: an image, though its ID may be that of a distribution with packages. */
static int package_of(const struct sysroot *root, const char *kernel, char **ret)
{
	static const char *const files[] = { "etc/os-release", "usr/lib/os-release" };
	static const char *const keys[] = { "VARIANT_ID", "ID", "ID_LIKE" };
	_cleanup_free_ char *text = NULL;
	const struct distribution *d = NULL;

	for (size_t i = 0; !text && i < 2; i++)
		(void)sysroot_read(root, files[i], TEXT_MAX, &text, NULL);
	for (size_t i = 0; text && !d && i < 3; i++)
		d = known_distribution(text, keys[i]);
	return (d ? d->package : no_package)(kernel, ret) < 0 ? -ENOMEM : 0;
}

/* ---- where they are */

enum { PLACES = 5 };

/* NULL-ended */
struct places {
	char *path[PLACES + 1];
};

static void places_clear(struct places *p)
{
	for (size_t i = 0; i < PLACES; i++)
		free(p->path[i]);
}

/* SLES: KERNEL is VERSION-FLAVOUR. */
static int places_of(const char *kernel, const char *arch, struct places *ret)
{
	const char *flavour = strrchr(kernel, '-');
	_cleanup_(places_clear) struct places p = { 0 };

	if (asprintf(&p.path[0], "lib/modules/%s/build", kernel) < 0 ||
	    asprintf(&p.path[1], "usr/src/linux-headers-%s", kernel) < 0 ||
	    asprintf(&p.path[2], "usr/src/kernels/%s", kernel) < 0)
		return -ENOMEM;
	if (flavour && (asprintf(&p.path[3], "usr/src/linux-%.*s-obj/%s/%s",
				 (int)(flavour - kernel), kernel, arch, flavour + 1) < 0 ||
			asprintf(&p.path[4], "usr/src/linux-obj/%s/%s", arch, flavour + 1) < 0))
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
	if (fclose(f) != 0 || package_of(root, kernel, &package) < 0)
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

/* Of "include DIR/Makefile": DIR, and its length; NULL: the line is no such thing. */
static const char *included_dir(const char *line, size_t *ret_len)
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

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

static int read_makefile(const struct sysroot *root, const char *dir, char **ret)
{
	_cleanup_free_ char *path = NULL;

	if (folder_join(dir, "Makefile", &path) < 0)
		return -ENOMEM;
	return sysroot_read(root, path, TEXT_MAX, ret, NULL);
}

static int source_by_makefile(const struct sysroot *root, const char *headers, char **ret)
{
	_cleanup_free_ char *text = NULL, *path = NULL;
	const char *dir = NULL;
	size_t len;
	int r = read_makefile(root, headers, &text);

	if (r < 0)
		return r;
	for (const char *line = text; !dir && *line; line = next_line(line))
		dir = included_dir(line, &len);
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
	if (package_of(root, kernel, &package) < 0 || shown(root, dir, &name) < 0)
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

int headers_digests(const struct sysroot *root, const char *kernel, const char *given,
		    char ret_config[static 65], char ret_symvers[static 65])
{
	_cleanup_headers_ struct headers h = { 0 };
	_cleanup_free_ char *dir = NULL;
	int r = headers_where(root, kernel, given, &dir);

	if (r == 0)
		r = read_digests(root, dir, &h);
	if (r < 0)
		return r;
	memcpy(ret_config, h.config.sha256, sizeof(h.config.sha256));
	memcpy(ret_symvers, h.symvers_sha256, sizeof(h.symvers_sha256));
	return 0;
}

void headers_clear(struct headers *h)
{
	free(h->path);
	free(h->sources);
	free(h->compiler);
	kconfig_clear(&h->config);
	*h = (struct headers){ 0 };
}

/* ---- their shadow */

/* What a path below root really is, for this process. */
static int real_path(const struct sysroot *root, const char *path, char **ret)
{
	_cleanup_close_ int fd = sysroot_openat(root, path, O_PATH, 0);
	char self[32], *real;

	if (fd < 0)
		return fd;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	real = realpath(self, NULL);
	if (!real)
		return -errno;
	*ret = real;
	return 0;
}

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
	r = real_path(root, entry, &real);
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
	for (const char *line = text; *line; line = next_line(line)) {
		if (included_dir(line, &len))
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
		r = read_makefile(root, headers, &text);
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

/* ---- their programs */

static bool always(const struct kconfig *c)
{
	(void)c;
	return true;
}

static bool uses_genksyms(const struct kconfig *c)
{
	return kconfig_has(c, "MODVERSIONS") &&
	       (kconfig_has(c, "GENKSYMS") || !kconfig_has(c, "GENDWARFKSYMS"));
}

static bool uses_gendwarfksyms(const struct kconfig *c)
{
	return kconfig_has(c, "MODVERSIONS") && kconfig_has(c, "GENDWARFKSYMS");
}

static bool uses_objtool(const struct kconfig *c)
{
	return kconfig_has(c, "OBJTOOL") || kconfig_has(c, "STACK_VALIDATION");
}

static const struct program {
	const char *path;
	bool (*wanted)(const struct kconfig *c);
	bool optional; /* only modules that export symbols need it */
} programs[] = {
	{ "scripts/basic/fixdep", always, false },
	{ "scripts/mod/modpost", always, false },
	{ "scripts/genksyms/genksyms", uses_genksyms, true },
	{ "scripts/gendwarfksyms/gendwarfksyms", uses_gendwarfksyms, true },
	{ "tools/objtool/objtool", uses_objtool, false },
};

/* PT_INTERP of a 64-bit ELF file, up to its NUL. -ENOENT: none, or no such file. */
static int elf_interpreter(int fd, char ret[static INTERPRETER_MAX])
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOENT;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + i * sizeof(segment));

		if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			return -ENOENT;
		if (segment.p_type == PT_INTERP)
			return pread(fd, ret, INTERPRETER_MAX - 1, (off_t)segment.p_offset) > 0
				       ? 0
				       : -ENOENT;
	}
	return -ENOENT;
}

/* What starts a program, for a message; "" where that is not easily told. */
static void read_interpreter(const char *path, char ret[static INTERPRETER_MAX])
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *blank;

	memset(ret, 0, INTERPRETER_MAX);
	if (fd < 0 || elf_interpreter(fd, ret) == 0)
		return;
	if (pread(fd, ret, INTERPRETER_MAX - 1, 0) > 2 && !strncmp(ret, "#!", 2)) {
		blank = ret + 2 + strspn(ret + 2, " \t");
		memmove(ret, blank, strlen(blank) + 1);
		ret[strcspn(ret, " \t\r\n")] = '\0';
		return;
	}
	*ret = '\0';
}

static void say_not_started(const char *path, int error, struct verdicts *why)
{
	char interpreter[INTERPRETER_MAX];

	if (error == -ENOEXEC) {
		verdicts_no(why, REASON_HOST_PROGRAM_UNUSABLE, path,
			    "not made for this machine's architecture");
	} else if (error == -ENOENT) {
		read_interpreter(path, interpreter);
		verdicts_no(why, REASON_HOST_PROGRAM_UNUSABLE, path,
			    "its interpreter%s%s is not there", *interpreter ? " " : "",
			    interpreter);
	} else {
		verdicts_no(why, REASON_HOST_PROGRAM_UNUSABLE, path, "%s", strerror(-error));
	}
}

struct trial {
	const char *path;
	struct verdicts *why;
	bool lacks;
};

/* glibc's loader: "libelf.so.1 => not found", "version `GLIBC_2.38' not found"; musl's alike. */
static void on_line(void *data, const char *line)
{
	struct trial *t = data;

	if (!strstr(line, "not found"))
		return;
	t->lacks = true;
	verdicts_no(t->why, REASON_HOST_PROGRAM_UNUSABLE, t->path, "%s",
		    line + strspn(line, " \t"));
}

/* Those of a program that works but was called without arguments are others. */
static bool is_death(int status)
{
	static const int deaths[] = { SIGILL, SIGTRAP, SIGABRT, SIGBUS,
				      SIGFPE, SIGKILL, SIGSEGV, SIGSYS };

	for (size_t i = 0; i < sizeof(deaths) / sizeof(*deaths); i++)
		if (status == 128 + deaths[i])
			return true;
	return status == 127;
}

static void say_ended(const struct trial *t, const struct child_result *res)
{
	if (res->timed_out)
		verdicts_no(t->why, REASON_HOST_PROGRAM_UNUSABLE, t->path,
			    "does not end when it is started");
	else if (res->status > 128)
		verdicts_no(t->why, REASON_HOST_PROGRAM_UNUSABLE, t->path, "killed by signal %d",
			    res->status - 128);
	else
		verdicts_no(t->why, REASON_HOST_PROGRAM_UNUSABLE, t->path, "exit %d: %.*s",
			    res->status, (int)strcspn(res->tail, "\n"), res->tail);
}

/* 0: it can be started; -ENOEXEC: it cannot, and why says so. */
static int try_program(const char *path, struct verdicts *why)
{
	static const char *const env[] = { "LD_TRACE_LOADED_OBJECTS=1", "LC_ALL=C", NULL };
	_cleanup_child_result_ struct child_result res = { 0 };
	struct trial t = { .path = path, .why = why };
	const char *const argv[] = { path, NULL };
	int r = child_run(&(struct child_spec){ .argv = argv,
						.env = env,
						.stop_fd = -1,
						.grace_ms = 1000,
						.timeout_ms = PROGRAM_TIMEOUT_MS,
						.line = on_line,
						.data = &t },
			  &res);

	if (r < 0)
		say_not_started(path, r, why);
	else if (!t.lacks && (res.timed_out || is_death(res.status)))
		say_ended(&t, &res);
	else if (!t.lacks)
		return 0;
	return r == -ENOMEM ? r : -ENOEXEC;
}

/* Debian's modpost and objtool only choose one of modpost.real-lsb-64, ...: one tells for all. */
static int try_real_ones(const char *path, struct verdicts *why)
{
	_cleanup_(sysroot_freep) struct sysroot *dir = NULL;
	_cleanup_free_ char *parent = strdup(path), *prefix = NULL;
	_cleanup_strv_ char **names = NULL;
	int r = 0;

	if (!parent || asprintf(&prefix, "%s.real-", strrchr(path, '/') + 1) < 0)
		return -ENOMEM;
	*strrchr(parent, '/') = '\0';
	if (sysroot_open(parent, &dir) < 0 || sysroot_list(dir, ".", &names) < 0)
		return 0;
	for (char **name = names; r == 0 && *name; name++) {
		_cleanup_free_ char *real = NULL;

		if (strncmp(*name, prefix, strlen(prefix)))
			continue;
		r = folder_join(parent, *name, &real);
		if (r == 0)
			r = try_program(real, why);
	}
	return r;
}

static int check_program(const struct headers *h, const struct program *p, struct verdicts *why)
{
	_cleanup_free_ char *here = NULL, *there = NULL;
	const char *path;
	int r;

	if (folder_join(h->path, p->path, &here) < 0 ||
	    folder_join(h->sources, p->path, &there) < 0)
		return -ENOMEM;
	path = access(here, F_OK) == 0 ? here : access(there, F_OK) == 0 ? there : NULL;
	if (!path && p->optional)
		return 0;
	if (!path) {
		verdicts_no(why, REASON_HOST_PROGRAM_UNUSABLE, here, "not there");
		return -ENOEXEC;
	}
	r = try_program(path, why);
	return r < 0 ? r : try_real_ones(path, why);
}

int headers_check_programs(const struct headers *h, struct verdicts *why)
{
	int r = 0;

	for (size_t i = 0; r != -ENOMEM && i < sizeof(programs) / sizeof(*programs); i++) {
		int r2 = programs[i].wanted(&h->config) ? check_program(h, &programs[i], why) : 0;

		r = r2 < 0 ? r2 : r;
	}
	return r;
}
