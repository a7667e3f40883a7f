/* SPDX-License-Identifier: Apache-2.0 */
#include "ofed/driver.h"

#include <string.h>
#include <sys/signalfd.h>
#include <time.h>

#include "kernel/pci.h"
#include "ofed/source.h"

int driver_error(struct verdicts *why, const char *object, int error)
{
	enum reason code = error == -ETIMEDOUT ? REASON_WAIT_TIMEOUT : REASON_SYSTEM;

	if (error < 0)
		verdicts_no(why, code, object, "%s", strerror(-error));
	return error;
}

static void format_now(char ret[static 32])
{
	time_t now = time(NULL);
	struct tm tm;

	(void)strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
}

int driver_init(struct driver *d, const struct ofed_settings *set, const struct sysroot *host,
		const struct sysroot *own, struct verdicts *why)
{
	int r;

	*d = (struct driver){ .set = set, .host = host, .own = own, .stop_fd = -1 };
	format_now(d->started);
	r = running_read(host, &d->running);
	if (r == -ENOENT) /* a root without proc, to build against: it is the same kernel */
		r = running_read(own, &d->running);
	return r < 0 ? driver_error(why, sysroot_dir(host), r) : 0;
}

void driver_clear(struct driver *d)
{
	running_clear(&d->running);
}

int driver_own_path(const char *path, char **ret)
{
	_cleanup_free_ char *dir = *path == '/' ? NULL : getcwd(NULL, 0);
	char *text;

	if (*path != '/' && !dir)
		return -errno;
	if (asprintf(&text, "%s%s%s", dir ? ofed_path(dir) : "", dir ? "/" : "",
		     dir ? path : ofed_path(path)) < 0)
		return -ENOMEM;
	*ret = text;
	return 0;
}

static int find_in(const struct driver *d, const char *store, struct tree **ret,
		   struct verdicts *why)
{
	const char *kernel = d->set->kernel ? d->set->kernel : d->running.release;
	_cleanup_free_ char *path = NULL;
	int r = driver_own_path(store, &path);

	return r < 0 ? driver_error(why, store, r)
		     : store_find(d->own, path, kernel, d->running.machine, ret, why);
}

/* Of --source, or, without one, any. */
static int find_built(const struct driver *d, struct tree **ret, struct recipe *ret_recipe,
		      struct verdicts *why)
{
	_cleanup_recipe_ struct recipe recipe = { 0 };
	int r = d->set->source ? source_find_tree(d, ret, &recipe, why)
			       : find_in(d, d->set->output, ret, why);

	if (r == -ENOENT && ret_recipe) {
		*ret_recipe = recipe;
		recipe = (struct recipe){ 0 };
	}
	return r;
}

int driver_find_tree(const struct driver *d, struct tree **ret, struct recipe *ret_recipe,
		     struct verdicts *why)
{
	_cleanup_verdicts_ struct verdicts not_there = { 0 };

	if (!d->set->output)
		return find_in(d, d->set->tree, ret, why);
	if (find_in(d, d->set->tree, ret, &not_there) == 0)
		return 0;
	return find_built(d, ret, ret_recipe, why);
}

bool driver_wants_build(const struct driver *d)
{
	_cleanup_verdicts_ struct verdicts unasked = { 0 };
	_cleanup_(tree_freep) struct tree *tree = NULL;
	_cleanup_recipe_ struct recipe recipe = { 0 };

	return d->supervised && driver_find_tree(d, &tree, &recipe, &unasked) == -ENOENT &&
	       recipe.name && !driver_is_absent(d, NULL, &recipe);
}

bool driver_is_absent(const struct driver *d, const struct tree *tree, const struct recipe *recipe)
{
	_cleanup_pci_ struct pci_devices pci = { 0 };
	char *const *vendors = tree ? tree->manifest.vendors : recipe->vendors;

	if (!d->set->if_present || !vendors || !*vendors || pci_read(d->host, &pci) < 0)
		return false;
	for (size_t i = 0; i < pci.n; i++) {
		char vendor[8];

		(void)snprintf(vendor, sizeof(vendor), "%04x", pci.d[i].vendor);
		if (strv_contains(vendors, vendor))
			return false;
	}
	return true;
}

static int is_live_whole(const struct driver *d, const struct tree *tree)
{
	_cleanup_state_ struct state s = { 0 };
	int r = state_of_tree(d->host, &tree->manifest, tree->digest, d->running.boot_id, NULL, &s);

	return r < 0 ? r : state_is_live(d->host, &s) ? 1 : 0;
}

int driver_live_tree(const struct driver *d, struct tree **ret)
{
	_cleanup_strv_ char **keys = NULL;
	int r = store_list(d->host, OFED_TREES, &keys);

	for (char **key = keys; r == 0 && *key; key++) {
		_cleanup_(tree_freep) struct tree *tree = NULL;
		_cleanup_verdicts_ struct verdicts damaged = { 0 };

		if (store_open(d->host, OFED_TREES, *key, &tree, &damaged) < 0)
			continue;
		r = is_live_whole(d, tree);
		if (r == 1) {
			*ret = TAKE_PTR(tree);
			return 0;
		}
	}
	return r < 0 ? r : -ENOENT;
}

/* Modules that only the present tree has go. */
static int add_present_tree(const struct driver *d, struct state *goal)
{
	_cleanup_(tree_freep) struct tree *present = NULL;
	_cleanup_state_ struct state s = { 0 };
	int r = driver_live_tree(d, &present);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = state_of_tree(d->host, &present->manifest, present->digest, d->running.boot_id, NULL,
			  &s);
	return r < 0 ? r : state_extend(goal, &s);
}

int driver_goal(const struct driver *d, const struct tree *tree, struct state *ret)
{
	_cleanup_state_ struct state goal = { 0 }, before = { 0 };
	const char *boot_id = d->running.boot_id;
	bool has_before = state_read_before(d->host, OFED_OWNER, boot_id, &before) == 0;
	int r = state_of_tree(d->host, &tree->manifest, tree->digest, boot_id,
			      has_before ? &before : NULL, &goal);

	if (r == 0 && !state_is_live(d->host, &goal))
		r = add_present_tree(d, &goal);
	if (r < 0)
		return r;
	*ret = goal;
	goal = (struct state){ 0 };
	return 0;
}

/* A way back that failed outweighs what it was needed for: the node is half swapped. */
static const struct verdict *first_refusal(const struct verdicts *why)
{
	const struct verdict *first = NULL;

	for (const struct verdict *v = why->v; v < why->v + why->n; v++) {
		if (v->state != VERDICT_NO)
			continue;
		if (v->why == REASON_UNDO_FAILED)
			return v;
		if (!first)
			first = v;
	}
	return first;
}

/* The signal that ended it, once it has been seen on the way: 128 + n. */
static int exit_of_signal(const struct driver *d)
{
	struct signalfd_siginfo info;

	if (d->stop_fd < 0 || read(d->stop_fd, &info, sizeof(info)) != sizeof(info))
		return EXIT_SYSTEM;
	return 128 + (int)info.ssi_signo;
}

static void log_verdicts(const struct verdicts *why, const struct verdict *last)
{
	for (struct verdict *v = why->v; v < why->v + why->n; v++) {
		if (v != last)
			verdicts_log(&(struct verdicts){ v, 1 }, LEVEL_ERROR);
	}
}

int driver_end(const struct driver *d, const char *verb, int error, const struct verdicts *why)
{
	const struct verdict *v = first_refusal(why);
	bool signalled = error == -ECANCELED && (!v || v->why != REASON_UNDO_FAILED);
	enum reason other = signalled ? REASON_INTERRUPTED : REASON_SYSTEM;
	const struct reason_info *info = reason_info(v ? v->why : other);
	int code = signalled ? exit_of_signal(d) : info->exit;

	log_verdicts(why, v);
	if (error == 0 && !v)
		return 0;
	log_error("failed", "verb", verb, "reason", info->code, "object", v ? v->object : verb,
		  "detail", v ? v->detail : strerror(-error), "cause", info->cause, "remedy",
		  info->remedy, "exit", NUM(code));
	return code;
}
