/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/build.h"

#include <fcntl.h>
#include <string.h>

#include "common/digest.h"
#include "common/events.h"
#include "kernel/module.h"
#include "tree/cache.h"
#include "tree/cage.h"
#include "tree/compiler.h"
#include "tree/demands.h"
#include "tree/folder.h"
#include "tree/headers.h"
#include "tree/host_programs.h"
#include "tree/jobs.h"
#include "tree/kbuild.h"
#include "tree/product.h"
#include "tree/scratch.h"
#include "tree/shadow.h"
#include "tree/source.h"

#define SEARCH "/usr/local/bin:/usr/bin:/bin"

/* One build on its way. The scratch directory has source/, output/, tree/, tools/ and tmp/. */
struct work {
	const struct build *b;
	struct verdicts *why;
	uint64_t deadline; /* 0: none */
	bool rejected;     /* the one that is there: said once */
	struct recipe recipe;
	struct headers headers;
	struct compiler compiler;
	struct scratch *scratch;
	struct sysroot *tree, *tools; /* at tree/, tools/ */
	char *source, *output, *tmp;  /* absolute */
	char *log_name;
	int log_fd;
	struct kbuild kbuild;
	struct product product;
	struct manifest manifest;
	char key[DIGEST_TEXT];
};

static void work_clear(struct work *w)
{
	recipe_clear(&w->recipe);
	headers_clear(&w->headers);
	compiler_clear(&w->compiler);
	sysroot_free(w->tree);
	sysroot_free(w->tools);
	scratch_free(w->scratch);
	free(w->source);
	free(w->output);
	free(w->tmp);
	free(w->log_name);
	closep(&w->log_fd);
	manifest_clear(&w->manifest);
}

static void note(const struct work *w, enum build_event event, const char *detail)
{
	if (w->b->note)
		w->b->note(w->b->data, event, w->key, detail);
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

static int read_recipe(const struct build *b, struct recipe *ret, struct verdicts *why)
{
	_cleanup_free_ char *beside = NULL;

	if (asprintf(&beside, "%s/driver.conf", b->source) < 0)
		return -ENOMEM;
	return recipe_read(b->root, b->recipe ?: beside, ret, why);
}

static int make_key(const struct build *b, const struct recipe *recipe, char ret[static 65],
		    struct verdicts *why)
{
	char source[DIGEST_TEXT];
	int r = source_digest(b->root, b->source, source);

	if (r < 0) {
		verdicts_no(why, REASON_SYSTEM, b->source, "%s", strerror(-r));
		return r;
	}
	return build_key(b->kernel, b->arch, source, recipe, ret);
}

/* ---- what is there already */

static int look_up(const struct build *b, const char *key, bool check, struct tree **ret,
		   struct verdicts *unused)
{
	const struct cache_query query = {
		.root = b->root,
		.store = b->store,
		.key = key,
		.host = b->host,
		.kernel = b->kernel,
		.headers = b->headers,
		.build_id = b->build_id,
		.check = check,
		.looks = b->looks,
	};

	return cache_find(&query, ret, unused);
}

/* What was found and is not used, in words. */
static char *what_of(const struct verdicts *unused)
{
	const struct verdict *v = unused->v;
	char *text;

	if (!unused->n ||
	    asprintf(&text, "%s%s%s", v->object, v->detail ? ": " : "", v->detail ?: "") < 0)
		return NULL;
	return text;
}

static int find(struct work *w, struct tree **ret)
{
	_cleanup_verdicts_ struct verdicts unused = { 0 };
	_cleanup_free_ char *what = NULL;
	int r = look_up(w->b, w->key, true, ret, &unused);

	if (r == 0)
		note(w, BUILD_FINDS, NULL);
	if (r != -ESTALE && r != -EBADMSG)
		return r;
	what = what_of(&unused);
	if (!w->rejected)
		note(w, BUILD_REJECTS, what);
	w->rejected = true;
	return -ENOENT;
}

int build_find(const struct build *b, bool check, struct tree **ret, struct recipe *ret_recipe,
	       struct verdicts *why)
{
	_cleanup_verdicts_ struct verdicts unused = { 0 };
	_cleanup_recipe_ struct recipe recipe = { 0 };
	_cleanup_free_ char *what = NULL;
	char key[DIGEST_TEXT];
	int r = read_recipe(b, &recipe, why);

	if (r == 0)
		r = make_key(b, &recipe, key, why);
	if (r == 0)
		r = look_up(b, key, check, ret, &unused);
	if (r == -ENOENT || r == -ESTALE || r == -EBADMSG) {
		what = what_of(&unused);
		verdicts_no(why, REASON_TREE_MISSING, b->store, "%s %s for %s: %s", recipe.name,
			    recipe.version, b->kernel, what ?: "not built yet");
		r = -ENOENT;
	}
	if (ret_recipe && recipe.name) {
		*ret_recipe = recipe;
		recipe = (struct recipe){ 0 };
	}
	return r;
}

/* ---- scratch, source */

/* Where a directory is, or would be made: the nearest above it that is there. */
static int nearest_path(const struct sysroot *root, const char *path, char **ret)
{
	_cleanup_free_ char *at = strdup(path);
	int r = at ? folder_path(root, at, ret) : -ENOMEM;

	while (r == -ENOENT && *at) {
		char *slash = strrchr(at, '/');

		*(slash ?: at) = '\0';
		r = folder_path(root, *at ? at : ".", ret);
	}
	return r;
}

/* A store in the source would be copied into itself, and be part of the key. */
static int check_apart(const struct build *b, struct verdicts *why)
{
	_cleanup_free_ char *source = NULL, *store = NULL;
	size_t len;

	/* What is not to be found is said by whoever needs it. */
	if (folder_path(b->root, b->source, &source) < 0 ||
	    nearest_path(b->root, b->store, &store) < 0)
		return 0;
	len = strcmp(source, "/") ? strlen(source) : 0;
	if (strncmp(store, source, len) || (store[len] && store[len] != '/'))
		return 0;
	verdicts_no(why, REASON_USAGE, b->store, "the store lies in the source, %s", source);
	return -EINVAL;
}

static int open_log(struct work *w)
{
	_cleanup_free_ char *name = NULL, *store = NULL;
	int r = folder_path(w->b->root, w->b->store, &store);

	if (r < 0)
		return r;
	if (asprintf(&name, "%s/.log-%s", w->b->store, w->key) < 0)
		return -ENOMEM;
	if (asprintf(&w->log_name, "%s/.log-%s", store, w->key) < 0) {
		w->log_name = NULL;
		return -ENOMEM;
	}
	w->log_fd = sysroot_openat(w->b->root, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	return w->log_fd < 0 ? w->log_fd : 0;
}

static int fill_scratch(struct work *w)
{
	static const char *const DIRS[] = { "output", "tree", "tools", "tmp" };
	const struct sysroot *dir = scratch_root(w->scratch);
	int r = source_copy(w->b->root, w->b->source, dir, "source");

	for (size_t i = 0; r == 0 && i < sizeof(DIRS) / sizeof(*DIRS); i++)
		r = sysroot_mkdirs(dir, DIRS[i], 0755);
	if (r == 0)
		r = folder_path(dir, "source", &w->source);
	if (r == 0)
		r = folder_path(dir, "output", &w->output);
	if (r == 0)
		r = folder_path(dir, "tmp", &w->tmp);
	if (r == 0)
		r = folder_open(dir, "tree", &w->tree);
	return r < 0 ? r : folder_open(dir, "tools", &w->tools);
}

static int prepare(struct work *w)
{
	int r = open_log(w);

	if (r == 0)
		r = fill_scratch(w);
	if (r == 0)
		r = headers_shadow(w->b->host, &w->headers, scratch_root(w->scratch));
	return r < 0 ? r : compiler_links(&w->compiler, w->tools);
}

/* ---- in the cage */

/* Packed ones stay as they are, and so do signed ones: stripped, they would no longer be. */
static bool is_strippable(const struct work *w, const char *path)
{
	_cleanup_verdicts_ struct verdicts unasked = { 0 };
	_cleanup_(module_freep) struct module *m = NULL;

	return !strcmp(path + strlen(path) - 3, ".ko") &&
	       (module_open(w->tree, path, &m, &unasked) < 0 || !module_info(m)->is_signed);
}

static int strip_modules(struct work *w)
{
	_cleanup_strv_ char **argv = calloc(w->manifest.n_modules + 3, sizeof(*argv));
	size_t n = 2;

	if (!argv || !(argv[0] = strdup("strip")) || !(argv[1] = strdup("--strip-debug")))
		return -ENOMEM;
	for (size_t i = 0; i < w->manifest.n_modules; i++) {
		const char *path = w->manifest.modules[i].path;

		if (!is_strippable(w, path))
			continue;
		if (asprintf(&argv[n], "%s/%s", sysroot_dir(w->tree), path) < 0) {
			argv[n] = NULL;
			return -ENOMEM;
		}
		n++;
	}
	return n == 2 ? 0 : kbuild_child(&w->kbuild, "strip", (const char *const *)argv, w->why);
}

static int make_modules(void *data)
{
	struct work *w = data;
	int r = host_programs_check(&w->headers, w->why);

	if (r == 0)
		r = demands_check(&w->compiler, &w->headers, w->why);
	if (r == 0)
		r = kbuild_run(&w->kbuild, w->why);
	if (r == 0)
		r = product_take(&w->product, &w->manifest, w->why);
	return r < 0 ? r : strip_modules(w);
}

static void left_out(void *data, const char *name)
{
	note(data, BUILD_LEAVES, name);
}

static int run_in_cage(struct work *w)
{
	const struct sysroot *dir = scratch_root(w->scratch);
	const char *const writable[] = { sysroot_dir(dir), NULL };

	w->kbuild = (struct kbuild){
		.recipe = &w->recipe,
		.scratch = w->source,
		.output = w->output,
		.headers = w->headers.path,
		.sources = w->headers.sources,
		.kernel = w->b->kernel,
		.tools = sysroot_dir(w->tools),
		.tmp = w->tmp,
		.llvm = w->compiler.llvm,
		.jobs = w->b->jobs ?: jobs_count(w->b->root),
		.deadline_ms = w->deadline,
		.stop_fd = w->b->stop_fd,
		.log_fd = w->log_fd,
		.log_name = w->log_name,
	};
	w->product = (struct product){
		.recipe = &w->recipe,
		.kernel = w->b->kernel,
		.arch = w->b->arch,
		.scratch = dir,
		.tree = w->tree,
		.source = w->source,
		.left_out = left_out,
		.data = w,
	};
	return cage_run(writable, make_modules, w);
}

/* ---- the tree */

static int copy_text(const char *from, char **ret)
{
	if (!from || !*from)
		return 0;
	*ret = strdup(from);
	return *ret ? 0 : -ENOMEM;
}

static int describe(struct work *w)
{
	struct manifest *m = &w->manifest;
	int r = copy_text(w->key, &m->key);

	if (r == 0)
		r = copy_text(w->b->build_id, &m->build_id);
	if (r == 0)
		r = copy_text(w->compiler.text, &m->compiler);
	if (r == 0)
		r = copy_text(w->headers.config.sha256, &m->config_sha256);
	if (r == 0)
		r = copy_text(w->headers.symvers_sha256, &m->symvers_sha256);
	if (r == 0)
		r = product_describe(&w->product, m, w->why);
	return r < 0 ? r : product_expose(&w->product, m, w->why);
}

static int write_manifest(struct work *w)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = manifest_format(&w->manifest, &text, &len);

	return r < 0 ? r : sysroot_replace(w->tree, "manifest.json", 0644, text, len);
}

static int put_in_store(struct work *w)
{
	_cleanup_free_ char *from = NULL;

	if (asprintf(&from, "%s/tree", scratch_path(w->scratch)) < 0)
		return -ENOMEM;
	return store_adopt(w->b->root, w->b->store, from, w->key);
}

static void trim_store(const struct work *w)
{
	const struct build *b = w->b;
	char number[16];
	unsigned dropped = 0;

	(void)cache_trim(b->root, b->store, b->store_bytes, b->running, w->key, &dropped);
	(void)snprintf(number, sizeof(number), "%u", dropped);
	if (dropped)
		note(w, BUILD_DROPS, number);
}

/* What it takes to build: nothing is written before it is there. */
static int find_means(struct work *w)
{
	const struct build *b = w->b;
	int r = headers_find(b->host, b->kernel, b->arch, b->headers, &w->headers, w->why);

	return r < 0 ? r
		     : compiler_choose(&w->headers, b->kernel, getenv("PATH") ?: SEARCH,
				       &w->compiler, w->why);
}

static int make_tree(struct work *w)
{
	static int (*const STEPS[])(struct work *) = { prepare, run_in_cage, describe,
						       write_manifest, put_in_store };
	int r = 0;

	note(w, BUILD_BEGINS, w->compiler.text);
	for (size_t i = 0; r == 0 && i < sizeof(STEPS) / sizeof(*STEPS); i++)
		r = STEPS[i](w);
	if (r == 0)
		trim_store(w);
	return r;
}

/* ---- all of it */

static int wait_for_other(struct work *w)
{
	const struct build *b = w->b;
	uint64_t now = events_now(), left = 0;
	int r = 0;

	note(w, BUILD_WAITS, NULL);
	if (w->deadline)
		left = w->deadline > now ? w->deadline - now : 1;
	r = scratch_wait(b->root, b->store, w->key, b->stop_fd, left);
	if (r == -ETIMEDOUT)
		verdicts_no(w->why, REASON_WAIT_TIMEOUT, b->store,
			    "another build of the same tree is not done");
	return r;
}

/* 0: ours; 1: ret is there after all. Look again: it may be that another one has just built it. */
static int take_scratch(struct work *w, struct tree **ret)
{
	const struct build *b = w->b;
	int r;

	while ((r = scratch_new(b->root, b->store, w->key, &w->scratch)) == -EBUSY) {
		r = wait_for_other(w);
		if (r < 0)
			return r;
		if (find(w, ret) == 0)
			return 1;
	}
	if (r < 0)
		return r;
	return find(w, ret) == 0;
}

static int find_or_make(struct work *w, struct tree **ret)
{
	const struct build *b = w->b;
	int r = read_recipe(b, &w->recipe, w->why);

	if (r == 0)
		r = check_apart(b, w->why);
	if (r == 0)
		r = make_key(b, &w->recipe, w->key, w->why);
	if (r < 0 || find(w, ret) == 0)
		return r;
	r = find_means(w);
	if (r == 0)
		r = take_scratch(w, ret);
	if (r != 0)
		return r < 0 ? r : 0;
	r = make_tree(w);
	return r < 0 ? r : store_open(b->root, b->store, w->key, ret, w->why);
}

static enum reason reason_of(int error)
{
	static const int STORE[] = { -ENOSPC, -EROFS, -EDQUOT, -EACCES, -EPERM };

	for (size_t i = 0; i < sizeof(STORE) / sizeof(*STORE); i++)
		if (error == STORE[i])
			return REASON_STORE_UNUSABLE;
	return REASON_SYSTEM;
}

int build_tree(const struct build *b, struct tree **ret, struct verdicts *why)
{
	_cleanup_(work_clear) struct work w = {
		.b = b,
		.why = why,
		.deadline = b->timeout_ms ? events_now() + b->timeout_ms : 0,
		.log_fd = -1,
	};
	size_t before = why->n;
	int r = find_or_make(&w, ret);

	if (r < 0 && r != -ECANCELED && why->n == before)
		verdicts_no(why, reason_of(r), b->store, "%s", strerror(-r));
	return r;
}
