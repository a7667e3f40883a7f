/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build: a source and its recipe become a driver tree in a store; where it lies is the result on
 * stdout.
 */
#include "tree/build.h"

#include <jansson.h>
#include <string.h>

#include "ofed/driver.h"

#define JOBS_MAX 4096 /* more is a slip of the hand, not a machine */

/* The settings' paths, below this process's root. */
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
	if (r == 0)
		r = place("--headers", set->headers, &p->headers, why);
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

static int build(const struct driver *d, struct tree **ret, struct verdicts *why)
{
	_cleanup_(places_clear) struct places p = { 0 };
	struct build b = {
		.root = d->own,
		.kernel = d->set->kernel ? d->set->kernel : d->running.release,
		.arch = d->running.machine,
		.jobs = (unsigned)d->set->jobs,
		.stop_fd = d->stop_fd,
	};
	int r = check_jobs(d->set, why);

	if (r == 0)
		r = find_places(d->set, &p, why);
	if (r < 0)
		return r;
	b.source = p.source;
	b.recipe = p.recipe;
	b.headers = p.headers;
	b.store = p.store;
	return build_tree(&b, ret, why);
}

int verb_build(struct driver *d)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_(tree_freep) struct tree *tree = NULL;
	int r = build(d, &tree, &why);

	if (r == 0) {
		log_info("built", "driver", tree->manifest.name, "version", tree->manifest.version,
			 "kernel", tree->manifest.kernel, "modules", NUM(tree->manifest.n_modules),
			 "key", tree->manifest.key);
		print_tree(d, tree);
	}
	return driver_end(d, "build", r, &why);
}
