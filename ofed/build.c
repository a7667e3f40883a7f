/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build: a source and its recipe become a driver tree in a store; where it lies is the result on
 * stdout.
 */
#include "tree/build.h"

#include <jansson.h>
#include <string.h>

#include "ofed/source.h"
#include "tree/cage.h"
#include "tree/scratch.h"
#include "tree/source.h"

#define LOG ".log-"   /* and a key: as build_tree writes it */
#define JOBS_MAX 4096 /* more is a slip of the hand, not a machine */

/* The settings' paths, below this process's root; headers: below the node's. */
struct places {
	char *source, *recipe, *headers, *store;
};

static void places_clear(struct places *p)
{
	free(p->source);
	free(p->recipe);
	free(p->headers);
	free(p->store);
}

static int place(const char *option, const char *given, char **ret, struct verdicts *why)
{
	int r = given ? driver_own_path(given, ret) : 0;

	return r < 0 ? driver_error(why, option, r) : 0;
}

static int find_places(const struct ofed_settings *set, struct places *p, struct verdicts *why)
{
	int r;

	if (!set->source || !set->output) {
		verdicts_no(why, REASON_USAGE, set->source ? "--output" : "--source",
			    "build needs a source and a store for the tree");
		return -EINVAL;
	}
	r = place("--source", set->source, &p->source, why);
	if (r == 0)
		r = place("--recipe", set->recipe, &p->recipe, why);
	if (r == 0 && set->headers)
		r = (p->headers = strdup(ofed_path(set->headers))) ? 0 : -ENOMEM;
	if (r == 0)
		r = place("--output", set->output, &p->store, why);
	return r;
}

static int check_jobs(const struct ofed_settings *set, struct verdicts *why)
{
	if (set->jobs <= JOBS_MAX)
		return 0;
	verdicts_no(why, REASON_USAGE, "--jobs", "%llu: at most %d", (unsigned long long)set->jobs,
		    JOBS_MAX);
	return -EINVAL;
}

static void print_tree(const struct driver *d, const struct tree *tree)
{
	const struct manifest *m = &tree->manifest;
	json_t *o;

	if (!d->set->json) {
		printf("%s/%s\n", d->set->output, m->key);
		(void)fflush(stdout);
		return;
	}
	o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i}", "name", m->name, "version", m->version,
		      "kernel", m->kernel, "store", d->set->output, "key", m->key, "digest",
		      tree->digest, "modules", (int)m->n_modules);
	if (o)
		(void)json_dumpf(o, stdout, JSON_INDENT(2));
	printf("\n");
	(void)fflush(stdout);
	json_decref(o);
}

static void say_found(const struct driver *d, const char *key)
{
	log_info("cache_hit", "key", key, "store", d->set->output);
}

struct builder {
	const struct driver *d;
	bool found; /* nothing had to be built */
};

static void on_build(void *data, enum build_event event, const char *key, const char *detail)
{
	struct builder *builder = data;
	const struct driver *d = builder->d;

	switch (event) {
	case BUILD_FINDS:
		builder->found = true;
		say_found(d, key);
		break;
	case BUILD_WAITS:
		log_info("waiting", "for", "another build of the same tree", "key", key);
		break;
	case BUILD_REJECTS:
		log_warn("cache_rejected", "key", key, "detail", detail);
		break;
	case BUILD_BEGINS:
		log_info("building", "key", key, "compiler", detail, "landlock",
			 NUM(cage_landlock()), "store", d->set->output);
		break;
	case BUILD_LEAVES:
		log_info("left_out", "module", detail, "why", "a dummy: it does nothing");
		break;
	case BUILD_DROPS:
		log_info("cache_trimmed", "trees", detail);
		break;
	}
}

/* What is wanted, in the terms of tree/. */
static int describe(const struct driver *d, struct places *p, struct build *ret,
		    struct verdicts *why)
{
	const char *kernel = d->set->kernel ? d->set->kernel : d->running.release;
	int r = check_jobs(d->set, why);

	if (r == 0)
		r = find_places(d->set, p, why);
	if (r < 0)
		return r;
	*ret = (struct build){
		.root = d->own,
		.host = d->host,
		.source = p->source,
		.recipe = p->recipe,
		.headers = p->headers,
		.kernel = kernel,
		.arch = d->running.machine,
		.build_id = strcmp(kernel, d->running.release) ? NULL : d->running.build_id,
		.running = d->running.release,
		.store = p->store,
		.store_bytes = d->set->cache_size,
		.jobs = (unsigned)d->set->jobs,
		.stop_fd = d->stop_fd,
		.timeout_ms = d->set->timeout_ms,
	};
	return 0;
}

int source_find_tree(const struct driver *d, struct tree **ret, struct recipe *ret_recipe,
		     struct verdicts *why)
{
	_cleanup_(places_clear) struct places p = { 0 };
	struct build b;
	int r = describe(d, &p, &b, why);

	if (r < 0)
		return r;
	b.looks = !d->changes;
	r = build_find(&b, true, ret, ret_recipe, why);
	if (r == 0)
		say_found(d, (*ret)->manifest.key);
	return r;
}

int driver_sweep(const struct sysroot *own, const struct ofed_settings *set)
{
	_cleanup_free_ char *store = NULL;
	int r = set->output ? driver_own_path(set->output, &store) : -EINVAL;

	return r < 0 ? r : scratch_sweep(own, store);
}

/* ".log-KEY" of the greatest mtime; NULL: none. */
static const char *newest_log(const struct driver *d, const char *store, char *const *names)
{
	struct timespec newest = { 0 };
	const char *found = NULL;

	for (; *names; names++) {
		_cleanup_free_ char *path = NULL;
		struct stat st;

		if (strncmp(*names, LOG, strlen(LOG)) ||
		    asprintf(&path, "%s/%s", store, *names) < 0 ||
		    sysroot_stat(d->own, path, &st) < 0)
			continue;
		if (found &&
		    (st.st_mtim.tv_sec < newest.tv_sec ||
		     (st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec <= newest.tv_nsec)))
			continue;
		newest = st.st_mtim;
		found = *names;
	}
	return found;
}

int source_last_log(const struct driver *d, char **ret_path, bool *ret_under_way)
{
	_cleanup_free_ char *store = NULL;
	_cleanup_strv_ char **names = NULL;
	const char *log;
	int r = d->set->output ? driver_own_path(d->set->output, &store) : -ENOENT;

	if (r == 0)
		r = sysroot_list(d->own, store, &names);
	log = r == 0 ? newest_log(d, store, names) : NULL;
	if (!log)
		return r < 0 ? r : -ENOENT;
	if (asprintf(ret_path, "/%s/%s", store, log) < 0) {
		*ret_path = NULL;
		return -ENOMEM;
	}
	*ret_under_way = scratch_is_busy(d->own, store, log + strlen(LOG));
	return 0;
}

/* For a pipeline that puts the source into an image. */
static int note_digest(const struct driver *d, struct verdicts *why)
{
	_cleanup_free_ char *source = NULL;
	char digest[65];
	int r = d->set->source ? driver_own_path(d->set->source, &source) : -EINVAL;

	if (r == 0)
		r = source_note(d->own, source, digest);
	if (r < 0)
		return driver_error(why, "--source", r);
	printf("%s\n", digest);
	return 0;
}

static void log_built(const struct manifest *m)
{
	log_info("built", "driver", m->name, "version", m->version, "kernel", m->kernel, "modules",
		 NUM(m->n_modules), "key", m->key);
}

static int build(const struct driver *d, struct verdicts *why)
{
	_cleanup_(places_clear) struct places p = { 0 };
	_cleanup_(tree_freep) struct tree *tree = NULL;
	struct builder builder = { .d = d };
	struct build b;
	int r = describe(d, &p, &b, why);

	if (r < 0)
		return r;
	b.note = on_build;
	b.data = &builder;
	r = build_tree(&b, &tree, why);
	if (r < 0)
		return r;
	if (!builder.found)
		log_built(&tree->manifest);
	if (!d->supervised)
		print_tree(d, tree);
	return 0;
}

int verb_build(struct driver *d)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	int r = d->set->note_source ? note_digest(d, &why) : build(d, &why);

	return driver_end(d, "build", r, &why);
}
