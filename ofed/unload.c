/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unload: back to what was there before the first swap of this boot; the ready file, the exposed
 * files and the kept trees go.
 */
#include <string.h>

#include "ofed/request.h"
#include "tree/expose.h"

/*
 * `before` has what the first swap of this boot moved. Of what only later ones moved, the first of
 * those knows how it was; what no state of the time before names was not there.
 */
static int add_what_came(const struct driver *d, struct state *goal)
{
	_cleanup_(journal_freep) struct journal *j = NULL;
	const struct journal_swap *swaps;
	size_t n;
	int r = journal_open(d->host, d->running.boot_id, &j);

	if (r == 0)
		r = journal_lock(j, d->stop_fd, d->timeout_ms);
	if (r < 0)
		return r;
	swaps = journal_swaps(j, &n);
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (strcmp(swaps[i].owner, OFED_OWNER) == 0)
			r = state_adopt(goal, &swaps[i].from);
	}
	if (r == 0 && n > 0 && strcmp(swaps[n - 1].owner, OFED_OWNER) == 0)
		r = state_extend(goal, &swaps[n - 1].to);
	return r;
}

/* It was captured as what was live at that time. */
static int relabel(struct state *before)
{
	char *label = strdup("what was there before");

	if (!label)
		return -ENOMEM;
	free(before->label);
	before->label = label;
	return 0;
}

static int swap_back(const struct driver *d, struct verdicts *why)
{
	_cleanup_(tree_freep) struct tree *tree = NULL;
	_cleanup_state_ struct state before = { 0 };
	const struct goal goal = { .state = &before, .trees = OFED_TREES, .nearest = true };
	int r = state_read_before(d->host, OFED_OWNER, d->running.boot_id, &before);

	if (r == -ENOENT) {
		log_info("nothing_to_do", "detail", "nothing was swapped on this boot");
		return 0;
	}
	if (r == 0)
		r = relabel(&before);
	if (r == 0)
		r = add_what_came(d, &before);
	if (r < 0)
		return driver_error(why, "run/gdrkit", r);
	if (state_is_live(d->host, &before)) {
		log_info("nothing_to_do", "live", before.label);
		return 0;
	}
	r = driver_live_tree(d, &tree);
	if (r < 0 && r != -ENOENT)
		return driver_error(why, OFED_TREES, r);
	return request_run(d,
			   &(struct ofed_swap){ .goal = &goal,
						.tree = tree ? &tree->manifest : NULL,
						.to_the_end = true },
			   why);
}

static int drop_trees(const struct driver *d)
{
	_cleanup_strv_ char **keys = NULL;
	int r = store_list(d->host, OFED_TREES, &keys);

	for (char **k = keys; r == 0 && *k; k++)
		r = store_drop(d->host, OFED_TREES, *k);
	return r;
}

static int clear_away(const struct driver *d, struct verdicts *why)
{
	const char *mount = ofed_path(d->set->mount), *ready = ofed_path(d->set->ready_path);
	int r = driver_error(why, ready, sysroot_remove(d->host, ready));

	if (r == 0)
		r = driver_error(why, mount, expose_remove(d->host, mount));
	if (r == 0)
		r = driver_error(why, OFED_TREES, drop_trees(d));
	return r;
}

int verb_unload(struct driver *d)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	int r = request_recover(d, &why);

	if (r == 0)
		r = swap_back(d, &why);
	if (r == 0)
		r = clear_away(d, &why);
	if (r == 0)
		log_info("restored");
	return driver_end(d, "unload", r, &why);
}
