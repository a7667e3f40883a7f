/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load: the tree for this kernel becomes the live RDMA stack, is shown to other builds, and the
 * ready file says so.
 */
#include <string.h>

#include "ofed/request.h"
#include "tree/expose.h"
#include "tree/ready.h"

static bool is_kept(const struct driver *d, const char *key)
{
	_cleanup_strv_ char **keys = NULL;

	return store_list(d->host, OFED_TREES, &keys) == 0 && strv_contains(keys, key);
}

static void drop_others(const struct driver *d, const char *key)
{
	_cleanup_strv_ char **keys = NULL;
	int r = store_list(d->host, OFED_TREES, &keys);

	for (char **k = keys; r == 0 && *k; k++) {
		r = strcmp(*k, key) == 0 ? 0 : store_drop(d->host, OFED_TREES, *k);
		if (r < 0)
			log_warn("tree_stays", "key", *k, "error", strerror(-r));
	}
}

static bool has_reason(const struct verdicts *why, enum reason code)
{
	for (size_t i = 0; i < why->n; i++) {
		if (why->v[i].why == code)
			return true;
	}
	return false;
}

/*
 * The whole tree lies on the node before the first module goes: any image can recover from
 * there.
 */
static int swap_to(const struct driver *d, const struct tree *tree, struct state *state,
		   struct verdicts *why)
{
	bool kept_before = is_kept(d, tree->manifest.key);
	_cleanup_(tree_freep) struct tree *kept = NULL;
	struct goal goal = { .state = state, .trees = OFED_TREES };
	int r = store_put(d->host, OFED_TREES, tree, &kept);

	if (r < 0)
		return driver_error(why, OFED_TREES, r);
	goal.tree = kept;
	r = request_run(d, &(struct ofed_swap){ &goal, &tree->manifest, false }, why);
	if (r < 0 && !kept_before && !has_reason(why, REASON_UNDO_FAILED) &&
	    !state_is_live(d->host, state))
		(void)store_drop(d->host, OFED_TREES, tree->manifest.key);
	return r;
}

static int show(const struct driver *d, const struct tree *tree, struct verdicts *why)
{
	const char *mount = ofed_path(d->set->mount), *path = ofed_path(d->set->ready_path);
	_cleanup_ready_ struct ready ready = { 0 };
	int r = expose_tree(d->host, mount, tree);

	if (r < 0)
		return driver_error(why, mount, r);
	log_info("exposed", "below", d->set->mount);
	r = ready_of(d->host, &tree->manifest, tree->digest, d->running.boot_id,
		     d->set->revision ? d->set->revision : "", d->started, &ready);
	if (r == 0)
		r = ready_write(d->host, path, &ready);
	if (r < 0)
		return driver_error(why, path, r);
	log_info("ready", "driver", tree->manifest.name, "version", tree->manifest.version,
		 "kernel", tree->manifest.kernel, "file", d->set->ready_path);
	return 0;
}

static int load_tree(const struct driver *d, const struct tree *tree, struct verdicts *why)
{
	_cleanup_state_ struct state goal = { 0 };
	int r = driver_goal(d, tree, &goal);

	if (r < 0)
		return driver_error(why, "sys/module", r);
	if (state_is_live(d->host, &goal))
		log_info("nothing_to_do", "live", goal.label);
	else
		r = swap_to(d, tree, &goal, why);
	if (r == 0)
		r = show(d, tree, why);
	if (r == 0)
		drop_others(d, tree->manifest.key);
	return r;
}

static int refuse_other_kernel(const struct driver *d, struct verdicts *why)
{
	if (!d->set->kernel || strcmp(d->set->kernel, d->running.release) == 0)
		return 0;
	verdicts_no(why, REASON_USAGE, "--kernel", "%s does not run here, %s does", d->set->kernel,
		    d->running.release);
	return -EINVAL;
}

/* EXIT_BUILD: there is none, but a source, and a supervisor that builds it. */
static int load(const struct driver *d, struct verdicts *why)
{
	_cleanup_(tree_freep) struct tree *tree = NULL;
	_cleanup_recipe_ struct recipe recipe = { 0 };
	int r = driver_find_tree(d, &tree, &recipe, why);

	if (driver_is_absent(d, tree, &recipe)) {
		log_info("absent", "detail", "no PCI device of the tree's vendors", "driver",
			 tree ? tree->manifest.name : recipe.name);
		verdicts_clear(why); /* that there is no tree */
		return 0;
	}
	if (r == -ENOENT && recipe.name && d->supervised)
		return EXIT_BUILD;
	return r < 0 ? r : load_tree(d, tree, why);
}

int verb_load(struct driver *d)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	int r = refuse_other_kernel(d, &why);

	if (r == 0)
		r = request_recover(d, &why);
	if (r == 0)
		r = load(d, &why);
	if (r == EXIT_BUILD)
		return r;
	return driver_end(d, "load", r, &why);
}
