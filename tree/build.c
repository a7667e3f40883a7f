/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/build.h"

#include <fcntl.h>
#include <string.h>

#include "common/digest.h"
#include "kernel/elf.h"
#include "kernel/running.h"
#include "tree/expose.h"
#include "tree/folder.h"
#include "tree/headers.h"
#include "tree/jobs.h"
#include "tree/kbuild.h"
#include "tree/scratch.h"

#define SYMVERS_MAX ((size_t)64 << 20)

/* One build on its way. The scratch directory has source/, output/ and tree/ in it. */
struct work {
	const struct build *b;
	struct verdicts *why;
	struct recipe recipe;
	struct headers headers;
	struct scratch *scratch;
	struct sysroot *tree; /* at tree/ */
	char *source, *output, *log_name;
	int log_fd;
	struct kbuild kbuild;
	struct manifest manifest;
	char key[DIGEST_TEXT];
};

static void work_clear(struct work *w)
{
	recipe_clear(&w->recipe);
	headers_clear(&w->headers);
	sysroot_free(w->tree);
	scratch_free(w->scratch);
	free(w->source);
	free(w->output);
	free(w->log_name);
	closep(&w->log_fd);
	manifest_clear(&w->manifest);
}

/* ---- the key */

static void digest_words(struct digest *d, const char *name, char *const *words)
{
	for (; *words; words++)
		digest_part(d, name, *words, strlen(*words));
}

int build_key(const char *kernel, const char *arch, const char *source_digest,
	      const struct recipe *r, char ret[static 65])
{
	_cleanup_(digest_freep) struct digest *d = NULL;
	int bad = digest_new(&d);

	if (bad < 0)
		return bad;
	digest_part(d, "kernel", kernel, strlen(kernel));
	digest_part(d, "arch", arch, strlen(arch));
	digest_part(d, "source", source_digest, strlen(source_digest));
	digest_part(d, "recipe", r->digest, strlen(r->digest));
	digest_words(d, "flag", r->flags);
	digest_text(d, ret);
	return 0;
}

static int read_inputs(struct work *w)
{
	const struct build *b = w->b;
	_cleanup_free_ char *beside = NULL;
	char source[DIGEST_TEXT];
	int r;

	if (asprintf(&beside, "%s/driver.conf", b->source) < 0)
		return -ENOMEM;
	r = recipe_read(b->root, b->recipe ?: beside, &w->recipe, w->why);
	if (r < 0)
		return r;
	r = digest_dir(b->root, b->source, source);
	if (r < 0) {
		verdicts_no(w->why, REASON_SYSTEM, b->source, "%s", strerror(-r));
		return r;
	}
	return build_key(b->kernel, b->arch, source, &w->recipe, w->key);
}

/* ---- scratch, source, make */

/* A store in the source would be copied into itself, and be part of the key. */
static int check_apart(const struct work *w)
{
	_cleanup_free_ char *source = NULL;
	const char *scratch = sysroot_dir(scratch_root(w->scratch));
	int r = folder_path(w->b->root, w->b->source, &source);
	size_t len;

	if (r < 0)
		return r;
	len = strlen(source);
	if (strncmp(scratch, source, len) || scratch[len] != '/')
		return 0;
	verdicts_no(w->why, REASON_USAGE, w->b->store, "the store lies in the source, %s", source);
	return -EINVAL;
}

static int open_log(struct work *w)
{
	if (asprintf(&w->log_name, "%s/.log-%s", w->b->store, w->key) < 0) {
		w->log_name = NULL;
		return -ENOMEM;
	}
	w->log_fd = sysroot_openat(w->b->root, w->log_name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	return w->log_fd < 0 ? w->log_fd : 0;
}

static int make_scratch(struct work *w)
{
	const struct sysroot *dir;
	int r = scratch_new(w->b->root, w->b->store, &w->scratch);

	if (r == 0)
		r = check_apart(w);
	if (r == 0)
		r = open_log(w);
	if (r < 0)
		return r;
	dir = scratch_root(w->scratch);
	r = folder_copy(w->b->root, w->b->source, dir, "source");
	if (r == 0)
		r = sysroot_mkdirs(dir, "output", 0755);
	if (r == 0)
		r = sysroot_mkdirs(dir, "tree", 0755);
	if (r == 0)
		r = folder_path(dir, "source", &w->source);
	if (r == 0)
		r = folder_path(dir, "output", &w->output);
	return r < 0 ? r : folder_open(dir, "tree", &w->tree);
}

static int run(struct work *w)
{
	w->kbuild = (struct kbuild){
		.recipe = &w->recipe,
		.scratch = w->source,
		.output = w->output,
		.headers = w->headers.path,
		.sources = w->headers.sources,
		.kernel = w->b->kernel,
		.jobs = w->b->jobs ?: jobs_count(w->b->root),
		.stop_fd = w->b->stop_fd,
		.log_fd = w->log_fd,
		.log_name = w->log_name,
	};
	return kbuild_run(&w->kbuild, w->why);
}

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

/* What the build made: below output/, and where the sources are. */
struct products {
	char **in[2];
};

static const char *const PLACES[] = { "output", "source" };

static void products_clear(struct products *p)
{
	strv_free(p->in[0]);
	strv_free(p->in[1]);
}

/* 1: found, ret_path below the scratch directory; 0: not there. */
static int find_product(struct work *w, const struct products *p, const char *name, char **ret_path)
{
	for (size_t i = 0; i < 2; i++) {
		const char *found = NULL;

		for (char **path = p->in[i]; *path; path++) {
			if (!is_file_of(*path, name))
				continue;
			if (found) {
				verdicts_no(w->why, REASON_BUILD_FAILED, name,
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

static int take_module(struct work *w, const struct products *p, const char *name, bool optional)
{
	struct manifest_module *m = &w->manifest.modules[w->manifest.n_modules];
	_cleanup_free_ char *from = NULL, *to = NULL;
	int r = find_product(w, p, name, &from);

	if (r < 0 || (r == 0 && optional))
		return r;
	if (r == 0) {
		verdicts_no(w->why, REASON_BUILD_FAILED, name, "the build made no %s.ko", name);
		return -ENOEXEC;
	}
	m->optional = optional;
	m->name = strdup(name);
	if (asprintf(&m->path, "lib/modules/%s/%s/%s", w->b->kernel, w->recipe.name,
		     base_name(from)) < 0)
		m->path = NULL;
	w->manifest.n_modules++;
	if (!m->name || !m->path || asprintf(&to, "tree/%s", m->path) < 0)
		return -ENOMEM;
	return sysroot_rename(scratch_root(w->scratch), from, to);
}

static int take_list(struct work *w, const struct products *p, char **names, bool optional)
{
	int bad = 0;

	for (char **name = names; *name; name++) {
		int r = take_module(w, p, *name, optional);

		if (r < 0 && r != -ENOEXEC)
			return r;
		bad = r < 0 ? r : bad;
	}
	return bad;
}

static int take_modules(struct work *w)
{
	_cleanup_(products_clear) struct products p = { 0 };
	size_t n = strv_length(w->recipe.modules) + strv_length(w->recipe.optional);
	_cleanup_free_ char *dir = NULL;
	int r = 0, optional;

	for (size_t i = 0; r == 0 && i < 2; i++)
		r = folder_find(scratch_root(w->scratch), PLACES[i], is_module_file, &p.in[i]);
	if (r < 0)
		return r;
	w->manifest.modules = calloc(n, sizeof(*w->manifest.modules));
	if (!w->manifest.modules ||
	    asprintf(&dir, "lib/modules/%s/%s", w->b->kernel, w->recipe.name) < 0)
		return -ENOMEM;
	r = sysroot_mkdirs(w->tree, dir, 0755);
	if (r < 0)
		return r;
	r = take_list(w, &p, w->recipe.modules, false);
	if (r < 0 && r != -ENOEXEC)
		return r;
	optional = take_list(w, &p, w->recipe.optional, true);
	return r < 0 ? r : optional;
}

/* Packed ones stay as they are. */
static int strip_modules(struct work *w)
{
	_cleanup_strv_ char **argv = calloc(w->manifest.n_modules + 3, sizeof(*argv));
	size_t n = 2;

	if (!argv || !(argv[0] = strdup("strip")) || !(argv[1] = strdup("--strip-debug")))
		return -ENOMEM;
	for (size_t i = 0; i < w->manifest.n_modules; i++) {
		const char *path = w->manifest.modules[i].path;

		if (strcmp(path + strlen(path) - 3, ".ko"))
			continue;
		if (asprintf(&argv[n], "%s/%s", sysroot_dir(w->tree), path) < 0) {
			argv[n] = NULL;
			return -ENOMEM;
		}
		n++;
	}
	return n == 2 ? 0 : kbuild_child(&w->kbuild, "strip", (const char *const *)argv, w->why);
}

/* ---- the manifest */

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
static int check_module(struct work *w, const struct manifest_module *m,
			const struct module_info *info)
{
	const char *kernel = w->b->kernel, *vermagic = info->vermagic ?: "";
	uint16_t machine = elf_machine_of(w->b->arch);
	size_t len = strlen(kernel);

	if (strcmp(info->name, m->name))
		verdicts_no(w->why, REASON_BUILD_FAILED, m->name, "the module in %s is called %s",
			    m->path, info->name);
	else if (machine && info->machine != machine)
		verdicts_no(w->why, REASON_ARCH_MISMATCH, m->name, "not built for %s", w->b->arch);
	else if (strncmp(vermagic, kernel, len) || (vermagic[len] && vermagic[len] != ' '))
		verdicts_no(w->why, REASON_VERMAGIC_MISMATCH, m->name, "built for %s, not for %s",
			    *vermagic ? vermagic : "no kernel", kernel);
	else
		return 0;
	return -ENOEXEC;
}

static int describe_module(struct work *w, struct manifest_module *m)
{
	_cleanup_(module_freep) struct module *module = NULL;
	const struct module_info *info;
	int r = module_open(w->tree, m->path, &module, w->why);

	if (r < 0)
		return r;
	info = module_info(module);
	r = check_module(w, m, info);
	if (r < 0)
		return r;
	m->id = info->id;
	r = copy_words(info->depends, &m->depends);
	if (r == 0)
		r = copy_exports(module, m);
	return r < 0 ? r : digest_file(w->tree, m->path, m->sha256);
}

/*
 * The headers do not tell the build-id of their kernel; the kernel itself does, if it is the one
 * that runs.
 */
static void take_build_id(struct work *w)
{
	_cleanup_running_ struct running running = { 0 };

	if (running_read(w->b->root, &running) == 0 && !strcmp(running.release, w->b->kernel))
		w->manifest.build_id = TAKE_PTR(running.build_id);
}

static int describe(struct work *w)
{
	struct manifest *m = &w->manifest;
	int r = 0;

	m->name = strdup(w->recipe.name);
	m->version = strdup(w->recipe.version);
	m->kernel = strdup(w->b->kernel);
	m->arch = strdup(w->b->arch);
	m->key = strdup(w->key);
	m->compiler = TAKE_PTR(w->headers.compiler);
	if (!m->name || !m->version || !m->kernel || !m->arch || !m->key)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < m->n_modules; i++)
		r = describe_module(w, &m->modules[i]);
	if (r == 0)
		r = copy_words(w->recipe.vendors, &m->vendors);
	if (r == 0)
		r = copy_words(w->recipe.auxiliary, &m->auxiliary);
	take_build_id(w);
	return r < 0 ? r : manifest_order(m, w->why);
}

static int write_manifest(struct work *w)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = manifest_format(&w->manifest, &text, &len);

	return r < 0 ? r : sysroot_replace(w->tree, "manifest.json", 0644, text, len);
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

static int merge_symvers(struct work *w, const char *file, FILE *to)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	int r;

	if (asprintf(&path, "source/%s", file) < 0)
		return -ENOMEM;
	r = sysroot_read(scratch_root(w->scratch), path, SYMVERS_MAX, &text, NULL);
	if (r < 0) {
		verdicts_no(w->why, REASON_BUILD_FAILED, file, "the build left no symbols: %s",
			    strerror(-r));
		return r;
	}
	write_symvers(to, text, w->source);
	return 0;
}

static int merge_all(struct work *w, FILE *to)
{
	int r = w->recipe.symvers ? merge_symvers(w, w->recipe.symvers, to) : 0;

	for (char **dir = w->recipe.kbuild; r == 0 && *dir; dir++) {
		_cleanup_free_ char *file = NULL;

		if (asprintf(&file, "%s/Module.symvers", *dir) < 0)
			return -ENOMEM;
		r = merge_symvers(w, file, to);
	}
	return r;
}

static int put_symvers(struct work *w, const char *dir)
{
	_cleanup_free_ char *text = NULL, *path = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	int r;

	if (!to)
		return -ENOMEM;
	r = merge_all(w, to);
	if (fclose(to) != 0 && r == 0)
		r = -ENOMEM;
	if (r == 0 && asprintf(&path, "%s/Module.symvers", dir) < 0)
		r = -ENOMEM;
	return r < 0 ? r : sysroot_replace(w->tree, path, 0644, text, len);
}

static int put_include(struct work *w, const char *dir, const char *include)
{
	_cleanup_free_ char *from = NULL, *to = NULL;
	int r;

	if (asprintf(&from, "source/%s", include) < 0 || asprintf(&to, "%s/%s", dir, include) < 0)
		return -ENOMEM;
	r = folder_copy(scratch_root(w->scratch), from, w->tree, to);
	if (r == -ENOENT || r == -ENOTDIR)
		verdicts_no(w->why, REASON_BUILD_FAILED, include,
			    "the source has no such directory");
	return r;
}

static int put_exposed(struct work *w)
{
	_cleanup_free_ char *dir = NULL;
	int r = 0;

	if (asprintf(&dir, "usr/src/ofa_kernel/%s/%s", expose_arch(w->b->arch), w->b->kernel) < 0)
		return -ENOMEM;
	if (*w->recipe.kbuild || w->recipe.symvers)
		r = put_symvers(w, dir);
	for (char **include = w->recipe.include; r == 0 && *include; include++)
		r = put_include(w, dir, *include);
	return r;
}

/* ---- all of it */

static int put_in_store(struct work *w)
{
	_cleanup_free_ char *from = NULL;

	if (asprintf(&from, "%s/tree", scratch_path(w->scratch)) < 0)
		return -ENOMEM;
	return store_adopt(w->b->root, w->b->store, from, w->key);
}

static int make_tree(struct work *w)
{
	static int (*const STEPS[])(struct work *) = {
		make_scratch, run,         take_modules,   strip_modules,
		describe,     put_exposed, write_manifest, put_in_store,
	};
	const struct build *b = w->b;
	int r = headers_find(b->root, b->kernel, b->headers, &w->headers, w->why);

	for (size_t i = 0; r == 0 && i < sizeof(STEPS) / sizeof(*STEPS); i++)
		r = STEPS[i](w);
	return r;
}

static int find_or_make(struct work *w, struct tree **ret)
{
	_cleanup_verdicts_ struct verdicts unasked = { 0 };
	int r = read_inputs(w);

	if (r < 0)
		return r;
	if (store_open(w->b->root, w->b->store, w->key, ret, &unasked) == 0)
		return 0;
	r = make_tree(w);
	return r < 0 ? r : store_open(w->b->root, w->b->store, w->key, ret, w->why);
}

int build_tree(const struct build *b, struct tree **ret, struct verdicts *why)
{
	_cleanup_(work_clear) struct work w = { .b = b, .why = why, .log_fd = -1 };
	size_t before = why->n;
	int r = find_or_make(&w, ret);

	if (r < 0 && r != -ECANCELED && why->n == before)
		verdicts_no(why, REASON_SYSTEM, b->store, "building: %s", strerror(-r));
	return r;
}
