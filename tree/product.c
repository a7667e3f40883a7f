/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/product.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sendfile.h>

#include "common/digest.h"
#include "kernel/elf.h"
#include "kernel/module.h"
#include "tree/expose.h"
#include "tree/folder.h"

#define SYMVERS_MAX ((size_t)64 << 20)
#define DUMMY_MAX ((size_t)1 << 20) /* a module that does nothing is a few KiB */
#define EXPOSED "usr"

/* Taking modules on its way. */
struct taking {
	const struct product *p;
	char **in[2]; /* what the build made: below output/, and where the sources are */
	struct manifest *m;
	struct verdicts *why;
};

/* ---- its modules */

static bool is_module_file(const char *name)
{
	static const char *const ENDS[] = { ".ko", ".ko.gz", ".ko.xz", ".ko.zst" };
	const char *ko = strstr(name, ".ko");

	for (size_t i = 0; ko && i < sizeof(ENDS) / sizeof(*ENDS); i++)
		if (!strcmp(ko, ENDS[i]))
			return true;
	return false;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file's name is the module's, but for - and _. */
static bool is_file_of(const char *path, const char *name)
{
	const char *file = base_name(path);
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if ((file[i] == '-' ? '_' : file[i]) != name[i])
			return false;
	return !strncmp(file + len, ".ko", 3);
}

static const char *const PLACES[] = { "output", "source" };

static void taking_clear(struct taking *t)
{
	strv_free(t->in[0]);
	strv_free(t->in[1]);
}

/* 1: found, ret_path below the scratch directory; 0: not there. */
static int find_product(const struct taking *t, const char *name, char **ret_path)
{
	for (size_t i = 0; i < 2; i++) {
		const char *found = NULL;

		for (char **path = t->in[i]; *path; path++) {
			if (!is_file_of(*path, name))
				continue;
			if (found) {
				verdicts_no(t->why, REASON_BUILD_FAILED, name,
					    "there are two of it: %s and %s", found, *path);
				return -ENOEXEC;
			}
			found = *path;
		}
		if (found)
			return asprintf(ret_path, "%s/%s", PLACES[i], found) < 0 ? -ENOMEM : 1;
	}
	return 0;
}

static int copy_module(const struct sysroot *scratch, const char *from, const char *to)
{
	_cleanup_close_ int in = sysroot_open_file(scratch, from, NULL), out = -1;
	ssize_t n;

	if (in < 0)
		return in;
	out = sysroot_openat(scratch, to, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (out < 0)
		return out;
	do {
		n = sendfile(out, in, NULL, INT_MAX & ~0xfff);
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		return -errno;
	return close(TAKE_FD(out)) < 0 ? -errno : sysroot_remove(scratch, from);
}

/* The cage lets nothing move to another directory where Landlock is of ABI 1 (cage.h). */
static int move_module(const struct sysroot *scratch, const char *from, const char *to)
{
	int r = sysroot_rename(scratch, from, to);

	return r == -EXDEV ? copy_module(scratch, from, to) : r;
}

static int take_module(struct taking *t, const char *name, bool optional)
{
	struct manifest_module *m = &t->m->modules[t->m->n_modules];
	_cleanup_free_ char *from = NULL, *to = NULL;
	int r = find_product(t, name, &from);

	if (r < 0 || (r == 0 && optional))
		return r;
	if (r == 0) {
		verdicts_no(t->why, REASON_BUILD_FAILED, name, "the build made no %s.ko", name);
		return -ENOEXEC;
	}
	m->optional = optional;
	m->name = strdup(name);
	if (asprintf(&m->path, "lib/modules/%s/%s/%s", t->p->kernel, t->p->recipe->name,
		     base_name(from)) < 0)
		m->path = NULL;
	t->m->n_modules++;
	if (!m->name || !m->path || asprintf(&to, "tree/%s", m->path) < 0)
		return -ENOMEM;
	return move_module(t->p->scratch, from, to);
}

static int take_list(struct taking *t, char **names, bool optional)
{
	int bad = 0;

	for (char **name = names; *name; name++) {
		int r = take_module(t, *name, optional);

		if (r < 0 && r != -ENOEXEC)
			return r;
		bad = r < 0 ? r : bad;
	}
	return bad;
}

static int make_module_dir(const struct product *p)
{
	_cleanup_free_ char *dir = NULL;

	if (asprintf(&dir, "lib/modules/%s/%s", p->kernel, p->recipe->name) < 0)
		return -ENOMEM;
	return sysroot_mkdirs(p->tree, dir, 0755);
}

int product_take(const struct product *p, struct manifest *ret, struct verdicts *why)
{
	_cleanup_(taking_clear) struct taking t = { .p = p, .m = ret, .why = why };
	size_t n = strv_length(p->recipe->modules) + strv_length(p->recipe->optional);
	int r = make_module_dir(p), optional;

	for (size_t i = 0; r == 0 && i < 2; i++)
		r = folder_find(p->scratch, PLACES[i], is_module_file, &t.in[i]);
	if (r < 0)
		return r;
	ret->modules = calloc(n, sizeof(*ret->modules));
	if (!ret->modules)
		return -ENOMEM;
	r = take_list(&t, p->recipe->modules, false);
	if (r < 0 && r != -ENOEXEC)
		return r;
	optional = take_list(&t, p->recipe->optional, true);
	return r < 0 ? r : optional;
}

/* ---- what a module says of itself */

static int copy_words(char *const *from, char ***ret)
{
	size_t n = strv_length(from);
	_cleanup_strv_ char **copy = calloc(n + 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		copy[i] = strdup(from[i]);
		if (!copy[i])
			return -ENOMEM;
		for (char *c = copy[i]; *c; c++)
			*c = *c == '-' ? '_' : *c; /* only module names and hex digits come here */
	}
	*ret = TAKE_PTR(copy);
	return 0;
}

static int copy_exports(const struct module *from, struct manifest_module *m)
{
	size_t n;
	const struct export *e = module_exports(from, &n);

	m->exports = calloc(n + 1, sizeof(*m->exports));
	if (!m->exports)
		return -ENOMEM;
	for (; m->n_exports < n; m->n_exports++) {
		m->exports[m->n_exports].crc = e[m->n_exports].crc;
		m->exports[m->n_exports].symbol = strdup(e[m->n_exports].name);
		if (!m->exports[m->n_exports].symbol)
			return -ENOMEM;
	}
	return 0;
}

/* Wrong headers show here at the latest. */
static int check_module(const struct product *p, const struct manifest_module *m,
			const struct module_info *info, struct verdicts *why)
{
	const char *kernel = p->kernel, *vermagic = info->vermagic ?: "";
	uint16_t machine = elf_machine_of(p->arch);
	size_t len = strlen(kernel);

	if (strcmp(info->name, m->name))
		verdicts_no(why, REASON_BUILD_FAILED, m->name, "the module in %s is called %s",
			    m->path, info->name);
	else if (machine && info->machine != machine)
		verdicts_no(why, REASON_ARCH_MISMATCH, m->name, "not built for %s", p->arch);
	else if (strncmp(vermagic, kernel, len) || (vermagic[len] && vermagic[len] != ' '))
		verdicts_no(why, REASON_VERMAGIC_MISMATCH, m->name, "built for %s, not for %s",
			    *vermagic ? vermagic : "no kernel", kernel);
	else
		return 0;
	return -ENOEXEC;
}

/* ---- dummies */

static bool does_nothing(const struct module *module)
{
	static const char *const HARMLESS[] = {
		"_printk", "printk", "module_layout", "__fentry__", "__x86_return_thunk",
		"mcount",  "_mcount"
	};
	size_t n_exports, n;
	const struct import *imports = module_imports(module, &n);

	(void)module_exports(module, &n_exports);
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < sizeof(HARMLESS) / sizeof(*HARMLESS) &&
		       strcmp(imports[i].name, HARMLESS[k]))
			k++;
		if (k == sizeof(HARMLESS) / sizeof(*HARMLESS))
			return false;
	}
	return n_exports == 0;
}

/* "description=efa dummy kernel module", in the module as it is when it is unpacked */
static bool calls_itself_dummy(const struct module *module)
{
	static const char KEY[] = "description=";
	_cleanup_free_ char *bytes = NULL;
	const char *text;
	struct stat st;
	size_t len;

	if (fstat(module_fd(module), &st) < 0 || (size_t)st.st_size > DUMMY_MAX)
		return false;
	len = (size_t)st.st_size;
	bytes = calloc(1, len + 1);
	if (!bytes || pread(module_fd(module), bytes, len, 0) != (ssize_t)len)
		return false;
	text = memmem(bytes, len, KEY, strlen(KEY));
	return text && strcasestr(text, "dummy"); /* it ends with its NUL */
}

static int leave_out(const struct product *p, struct manifest_module *m)
{
	if (p->left_out)
		p->left_out(p->data, m->name);
	freep(&m->name);
	m->name = NULL;
	return sysroot_remove(p->tree, m->path);
}

static void close_gaps(struct manifest *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_modules; i++) {
		struct manifest_module one = m->modules[i];

		if (!one.name) {
			free(one.path);
			continue;
		}
		m->modules[i] = (struct manifest_module){ 0 };
		m->modules[n++] = one;
	}
	m->n_modules = n;
}

/* ---- the manifest */

static int describe_module(const struct product *p, struct manifest_module *m, struct verdicts *why)
{
	_cleanup_(module_freep) struct module *module = NULL;
	const struct module_info *info;
	int r = module_open(p->tree, m->path, &module, why);

	if (r < 0)
		return r;
	info = module_info(module);
	r = check_module(p, m, info, why);
	if (r < 0)
		return r;
	if (does_nothing(module) && (m->optional || calls_itself_dummy(module)))
		return leave_out(p, m);
	m->id = info->id;
	r = copy_words(info->depends, &m->depends);
	if (r == 0)
		r = copy_exports(module, m);
	return r < 0 ? r : digest_file(p->tree, m->path, m->sha256);
}

/* In load order, so from the last on: what one needs is seen before it is asked itself. */
static void need_what_others_need(struct manifest *m)
{
	for (size_t i = m->n_modules; i-- > 0;) {
		if (m->modules[i].optional)
			continue;
		for (size_t k = 0; k < i; k++)
			if (strv_contains(m->modules[i].depends, m->modules[k].name))
				m->modules[k].optional = false;
	}
}

static int copy_names(const struct product *p, struct manifest *m)
{
	m->name = strdup(p->recipe->name);
	m->version = strdup(p->recipe->version);
	m->kernel = strdup(p->kernel);
	m->arch = strdup(p->arch);
	return m->name && m->version && m->kernel && m->arch ? 0 : -ENOMEM;
}

int product_describe(const struct product *p, struct manifest *m, struct verdicts *why)
{
	int r = copy_names(p, m);

	for (size_t i = 0; r == 0 && i < m->n_modules; i++)
		r = describe_module(p, &m->modules[i], why);
	close_gaps(m);
	if (r == 0)
		r = copy_words(p->recipe->vendors, &m->vendors);
	if (r == 0)
		r = copy_words(p->recipe->auxiliary, &m->auxiliary);
	if (r == 0)
		r = manifest_order(m, why);
	if (r == 0)
		need_what_others_need(m);
	return r;
}

/* ---- what others build against */

/*
 * Where the scratch directory was is nobody's business later: "source/drivers/x" becomes
 * "drivers/x".
 */
static void write_symvers(FILE *to, const char *text, const char *source)
{
	size_t len = strlen(source);
	const char *hit;

	while ((hit = strstr(text, source)) != NULL) {
		fwrite(text, 1, (size_t)(hit - text), to);
		text = hit + len + (hit[len] == '/');
	}
	fputs(text, to);
}

static int merge_symvers(const struct product *p, const char *file, FILE *to, struct verdicts *why)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	int r;

	if (asprintf(&path, "source/%s", file) < 0)
		return -ENOMEM;
	r = sysroot_read(p->scratch, path, SYMVERS_MAX, &text, NULL);
	if (r < 0) {
		verdicts_no(why, REASON_BUILD_FAILED, file, "the build left no symbols: %s",
			    strerror(-r));
		return r;
	}
	write_symvers(to, text, p->source);
	return 0;
}

static int merge_all(const struct product *p, FILE *to, struct verdicts *why)
{
	int r = p->recipe->symvers ? merge_symvers(p, p->recipe->symvers, to, why) : 0;

	for (char **dir = p->recipe->kbuild; r == 0 && *dir; dir++) {
		_cleanup_free_ char *file = NULL;

		if (asprintf(&file, "%s/Module.symvers", *dir) < 0)
			return -ENOMEM;
		r = merge_symvers(p, file, to, why);
	}
	return r;
}

static int put_symvers(const struct product *p, const char *dir, struct verdicts *why)
{
	_cleanup_free_ char *text = NULL, *path = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	int r;

	if (!to)
		return -ENOMEM;
	r = merge_all(p, to, why);
	if (fclose(to) != 0 && r == 0)
		r = -ENOMEM;
	if (r == 0 && asprintf(&path, "%s/Module.symvers", dir) < 0)
		r = -ENOMEM;
	return r < 0 ? r : sysroot_replace(p->tree, path, 0644, text, len);
}

/* A link may lead anywhere: to what is no source, or into the tree itself. */
static int check_include(const struct product *p, const char *path, const char *include,
			 struct verdicts *why)
{
	_cleanup_free_ char *real = NULL;
	size_t len = strlen(p->source);
	int r = folder_path(p->scratch, path, &real);

	if (r == -ENOENT || r == -ENOTDIR) {
		verdicts_no(why, REASON_BUILD_FAILED, include, "the source has no such directory");
		return r;
	}
	if (r < 0 || (!strncmp(real, p->source, len) && (!real[len] || real[len] == '/')))
		return r;
	verdicts_no(why, REASON_BUILD_FAILED, include, "a link leads out of the source");
	return -ENOEXEC;
}

static int put_include(const struct product *p, const char *dir, const char *include,
		       struct verdicts *why)
{
	_cleanup_free_ char *from = NULL, *to = NULL;
	int r;

	if (asprintf(&from, "source/%s", include) < 0 || asprintf(&to, "%s/%s", dir, include) < 0)
		return -ENOMEM;
	r = check_include(p, from, include, why);
	return r < 0 ? r : folder_copy(p->scratch, from, p->tree, to);
}

static int put_all(const struct product *p, struct verdicts *why)
{
	_cleanup_free_ char *dir = NULL;
	int r = 0;

	if (asprintf(&dir, EXPOSED "/src/ofa_kernel/%s/%s", expose_arch(p->arch), p->kernel) < 0)
		return -ENOMEM;
	if (*p->recipe->kbuild || p->recipe->symvers)
		r = put_symvers(p, dir, why);
	for (char **include = p->recipe->include; r == 0 && *include; include++)
		r = put_include(p, dir, *include, why);
	return r;
}

int product_expose(const struct product *p, struct manifest *m, struct verdicts *why)
{
	int r = put_all(p, why);

	if (r < 0 || !sysroot_exists(p->tree, EXPOSED))
		return r;
	m->exposed_sha256 = malloc(DIGEST_TEXT);
	return m->exposed_sha256 ? digest_dir(p->tree, EXPOSED, m->exposed_sha256) : -ENOMEM;
}
