/* SPDX-License-Identifier: Apache-2.0 */
/* swap_read(): the facts, from the node. */
#include "swap/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/strv.h"
#include "kernel/modtree.h"
#include "kernel/symvers.h"

/* What only the reading needs: gone once the facts are there. */
struct reader {
	const struct sysroot *root;
	const struct goal *goal;
	struct swap_facts *facts;
	struct verdicts *why;
	struct live live;
	struct modtree *host; /* NULL: the host has no lib/modules for this kernel */
	struct tree **kept;
	size_t n_kept;
};

static void reader_clear(struct reader *r)
{
	live_clear(&r->live);
	modtree_free(r->host);
	for (size_t i = 0; i < r->n_kept; i++)
		tree_free(r->kept[i]);
	free(r->kept);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct swap_module *)a)->name, ((const struct swap_module *)b)->name);
}

/* The goal's modules and, transitively, whatever holds one of them. */
static int collect_modules(struct reader *r)
{
	struct swap_facts *f = r->facts;
	int err = 0;

	for (size_t i = 0; !err && i < r->goal->state->n; i++)
		err = swap_add(f, r->goal->state->m[i].name, ROLE_GOAL);
	return err ? err : swap_add_holders(f, &r->live);
}

static int copy_bindings(const struct state_binding *from, size_t n, struct swap_facts *f,
			 enum side side)
{
	f->bound[side] = calloc(n ? n : 1, sizeof(*from));
	if (!f->bound[side])
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct state_binding *b = &f->bound[side][f->n_bound[side]++];

		b->device = strdup(from[i].device);
		b->module = strdup(from[i].module);
		if (!b->device || !b->module)
			return -ENOMEM;
	}
	return 0;
}

/* The from side is what is live now. */
static int capture_from(struct reader *r)
{
	struct swap_facts *f = r->facts;
	_cleanup_state_ struct state now = { 0 };
	_cleanup_free_ char **names = calloc(f->n + 1, sizeof(*names));
	int err;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++)
		names[i] = f->m[i].name;
	err = state_capture(r->root, names, f->kernel.boot_id, "what is live now", &now);
	if (err)
		return err;
	for (size_t i = 0; i < f->n; i++) {
		struct swap_module *m = &f->m[i];
		const struct state_module *s = state_find(&now, m->name);

		if (!s || !s->live)
			continue;
		m->side[SIDE_FROM].id = s->id;
		m->side[SIDE_FROM].live = m->side[SIDE_FROM].recorded = true;
		m->side[SIDE_FROM].params = strdup(s->params ? s->params : "");
		if (!m->side[SIDE_FROM].params)
			return -ENOMEM;
	}
	return copy_bindings(now.b, now.n_b, f, SIDE_FROM);
}

static void side_found(struct swap_side *side, struct module *file, char *origin)
{
	side->file = file;
	side->origin = origin;
}

static char *tree_origin(const struct manifest *m)
{
	char *origin;

	return asprintf(&origin, "tree %s %s", m->name, m->version) < 0 ? NULL : origin;
}

/* A kept tree that has this very build of the module. */
static bool find_in_trees(struct reader *r, const char *name, struct swap_side *side)
{
	for (size_t i = 0; i < r->n_kept; i++) {
		const struct manifest *man = &r->kept[i]->manifest;
		const struct manifest_module *mm = manifest_find(man, name);
		_cleanup_verdicts_ struct verdicts unused = { 0 };
		struct module *file;

		if (!mm || !identity_same(&mm->id, &side->id))
			continue;
		if (tree_open_module(r->kept[i], mm, &file, &unused))
			continue;
		side_found(side, file, tree_origin(man));
		return true;
	}
	return false;
}

/* The host's own file, if it is the build that is asked for (`nearest`: whichever it is). */
static void find_on_host(struct reader *r, const char *name, bool nearest, struct swap_side *side)
{
	_cleanup_verdicts_ struct verdicts bad = { 0 };
	_cleanup_(module_freep) struct module *file = NULL;
	_cleanup_free_ char *path = NULL;
	char have[96], want[96];

	if (!r->host || modtree_path(r->host, name, &path)) {
		if (asprintf(&side->missing, "lib/modules/%s of the host has no %s",
			     r->facts->kernel.release, name) < 0)
			side->missing = NULL;
		return;
	}
	if (module_open(r->root, path, &file, &bad)) {
		side->missing = strdup(bad.n && bad.v[0].detail ? bad.v[0].detail : path);
		return;
	}
	if (!nearest && !identity_same(&module_info(file)->id, &side->id)) {
		if (asprintf(&side->missing, "%s has %s, wanted is %s", path,
			     identity_text(&module_info(file)->id, have),
			     identity_text(&side->id, want)) < 0)
			side->missing = NULL;
		return;
	}
	side->id = module_info(file)->id;
	side_found(side, TAKE_PTR(file), TAKE_PTR(path));
}

static void find_file(struct reader *r, const char *name, bool nearest, struct swap_side *side)
{
	struct swap_side host = { .id = side->id };

	if (find_in_trees(r, name, side))
		return;
	find_on_host(r, name, false, &host);
	if (!host.file && nearest) {
		free(host.missing);
		host = (struct swap_side){ .id = side->id };
		find_on_host(r, name, true, &host);
	}
	side->id = host.id;
	side->file = host.file;
	side->origin = host.origin;
	side->missing = host.missing;
}

/*
 * What modprobe would pass; the tree's modules have no file under the host's lib/modules, but may
 * have options.
 */
static char *host_options(struct reader *r, const char *name)
{
	char *options = NULL;

	if (r->host && !modtree_options(r->host, name, &options))
		return options;
	return strdup("");
}

static int read_goal_module(struct reader *r, struct swap_module *m,
			    const struct state_module *want)
{
	struct swap_side *to = &m->side[SIDE_TO];
	const struct tree *tree = r->goal->tree;
	const struct manifest_module *mm = tree ? manifest_find(&tree->manifest, m->name) : NULL;

	to->live = want->live;
	to->id = want->id;
	to->recorded = !tree;
	if (!want->live)
		return 0;
	to->params = tree ? host_options(r, m->name) : strdup(want->params ? want->params : "");
	if (!to->params)
		return -ENOMEM;
	if (mm) {
		struct module *file;

		if (!tree_open_module(tree, mm, &file, r->why))
			side_found(to, file, tree_origin(&tree->manifest));
		return 0; /* the verdict is there */
	}
	find_file(r, m->name, r->goal->nearest, to);
	return 0;
}

/* A bystander is to come back as it is: the same file, if it has one. */
static int read_bystander(struct reader *r, struct swap_module *m)
{
	struct swap_side *from = &m->side[SIDE_FROM], *to = &m->side[SIDE_TO];

	to->live = to->recorded = from->live;
	to->id = from->id;
	if (!from->live)
		return 0;
	to->params = strdup(from->params);
	find_file(r, m->name, false, to);
	return to->params ? 0 : -ENOMEM;
}

static int read_sides(struct reader *r)
{
	for (size_t i = 0; i < r->facts->n; i++) {
		struct swap_module *m = &r->facts->m[i];
		const struct state_module *want = state_find(r->goal->state, m->name);
		int err;

		if (m->side[SIDE_FROM].live)
			find_file(r, m->name, false, &m->side[SIDE_FROM]);
		err = want ? read_goal_module(r, m, want) : read_bystander(r, m);
		if (err)
			return err;
	}
	return 0;
}

/*
 * A module of the host that the goal needs and that is not live, or that the goal had no use for
 * itself: loaded too, from the host's own tree.
 */
static int add_host_module(struct reader *r, const char *name)
{
	const struct swap_module *known = swap_find(r->facts, name);
	struct swap_side *to;
	int err;

	if (known ? known->side[SIDE_TO].live || known->side[SIDE_TO].missing
		  : live_find(&r->live, name) != NULL)
		return 0;
	err = swap_add(r->facts, name, ROLE_HOST);
	if (err)
		return err;
	to = &swap_find(r->facts, name)->side[SIDE_TO];
	find_on_host(r, name, true, to);
	to->live = to->file != NULL;
	to->params = host_options(r, name);
	return to->params ? 0 : -ENOMEM;
}

/* The array grows while it is walked: what a host module needs is looked for as well. */
static int add_host_modules(struct reader *r)
{
	for (size_t i = 0; i < r->facts->n; i++) {
		struct module *file = r->facts->m[i].side[SIDE_TO].file;
		int err = 0;

		if (!file)
			continue;
		for (char **d = module_info(file)->depends; !err && *d; d++)
			err = add_host_module(r, *d);
		for (char **d = module_info(file)->softdeps; !err && *d; d++)
			err = add_host_module(r, *d);
		if (err)
			return err;
	}
	return 0;
}

static int learn_from(struct swap_facts *f, const struct module *file)
{
	const char *vermagic = module_info(file)->vermagic;
	int err = exports_add_module(f->base, file);

	if (!err)
		err = exports_learn(f->base, file);
	if (!err && !f->vermagic && vermagic) {
		f->vermagic = strdup(vermagic);
		err = f->vermagic ? 0 : -ENOMEM;
	}
	return err;
}

/* The host's own builds of modules that are not live say what its kernel exports, too. */
static int learn_from_host(struct reader *r, const char *name)
{
	_cleanup_verdicts_ struct verdicts unused = { 0 };
	_cleanup_(module_freep) struct module *file = NULL;
	_cleanup_free_ char *path = NULL;

	if (!r->host || modtree_path(r->host, name, &path) ||
	    module_open(r->root, path, &file, &unused))
		return 0;
	return learn_from(r->facts, file);
}

/* Evidence in order of strength: the kernel's symvers, files of live modules, the host's files. */
static int read_base(struct reader *r)
{
	struct swap_facts *f = r->facts;
	int err = exports_new(&f->base);

	if (err)
		return err;
	err = symvers_read_kernel(r->root, f->kernel.release, f->base, r->why);
	if (err && err != -ENOENT)
		return err == -ENOMEM ? err : 0; /* the verdict is there */
	err = 0;
	for (size_t i = 0; !err && i < f->n; i++)
		if (f->m[i].side[SIDE_FROM].file)
			err = learn_from(f, f->m[i].side[SIDE_FROM].file);
	for (size_t i = 0; !err && i < f->n; i++)
		if (!f->m[i].side[SIDE_FROM].file && (!exports_complete(f->base) || !f->vermagic))
			err = learn_from_host(r, f->m[i].name);
	return err;
}

static void open_kept_trees(struct reader *r)
{
	_cleanup_strv_ char **keys = NULL;

	if (!r->goal->trees || store_list(r->root, r->goal->trees, &keys))
		return;
	r->kept = calloc(strv_length(keys) + 1, sizeof(*r->kept));
	for (char **k = keys; r->kept && *k; k++) {
		_cleanup_verdicts_ struct verdicts unused = { 0 };

		if (!store_open(r->root, r->goal->trees, *k, &r->kept[r->n_kept], &unused))
			r->n_kept++;
	}
}

/*
 * Where the goal does not name devices, those bound now whose driver it has have to be bound again.
 */
static int read_bindings(struct reader *r)
{
	struct swap_facts *f = r->facts;
	const struct state *goal = r->goal->state;
	struct state_binding *bound = f->bound[SIDE_FROM];
	_cleanup_free_ struct state_binding *kept =
		calloc(f->n_bound[SIDE_FROM] + 1, sizeof(*kept));
	size_t n = 0;

	if (!kept)
		return -ENOMEM;
	if (goal->n_b || !r->goal->tree)
		return copy_bindings(goal->b, goal->n_b, f, SIDE_TO);
	for (size_t i = 0; i < f->n_bound[SIDE_FROM]; i++) {
		const struct swap_module *m = swap_find(f, bound[i].module);

		if (m && m->side[SIDE_TO].live)
			kept[n++] = bound[i];
	}
	return copy_bindings(kept, n, f, SIDE_TO);
}

/* Is every module that this kept tree loads live? */
static bool is_live_tree(const struct reader *r, const struct manifest *man)
{
	for (size_t i = 0; i < man->n_modules; i++) {
		const struct manifest_module *mm = &man->modules[i];
		const struct swap_module *m = swap_find(r->facts, mm->name);

		if (!mm->optional && !(m && m->side[SIDE_FROM].live &&
				       identity_same(&m->side[SIDE_FROM].id, &mm->id)))
			return false;
	}
	return true;
}

static char *label_of_live(const struct reader *r)
{
	for (size_t i = 0; i < r->n_kept; i++) {
		const struct manifest *man = &r->kept[i]->manifest;
		char *label;

		if (is_live_tree(r, man))
			return asprintf(&label, "%s %s", man->name, man->version) < 0 ? NULL
										      : label;
	}
	return strdup("the host's modules");
}

static int read_labels(struct reader *r)
{
	struct swap_facts *f = r->facts;

	f->label[SIDE_FROM] = label_of_live(r);
	f->label[SIDE_TO] = strdup(r->goal->state->label ? r->goal->state->label : "");
	f->vendors = strv_copy(r->goal->tree ? r->goal->tree->manifest.vendors : NULL);
	return f->label[SIDE_FROM] && f->label[SIDE_TO] && f->vendors ? 0 : -ENOMEM;
}

static int read_all(struct reader *r)
{
	static int (*const parts[])(struct reader *) = {
		collect_modules, capture_from, read_sides,    add_host_modules,
		read_base,       read_labels,  read_bindings,
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int err = parts[i](r);

		if (err)
			return err;
	}
	qsort(r->facts->m, r->facts->n, sizeof(*r->facts->m), by_name);
	return swap_read_again(r->root, r->facts);
}

int swap_read(const struct sysroot *root, const struct goal *goal, struct swap_facts **ret,
	      struct verdicts *why)
{
	_cleanup_(swap_facts_freep) struct swap_facts *f = calloc(1, sizeof(*f));
	_cleanup_(reader_clear) struct reader r = {
		.root = root, .goal = goal, .facts = f, .why = why
	};
	int err;

	if (!f)
		return -ENOMEM;
	err = running_read(root, &f->kernel);
	if (!err)
		err = live_read(root, &r.live);
	if (err)
		return err;
	err = modtree_open(root, f->kernel.release, &r.host);
	if (err && err != -ENOENT)
		verdicts_unknown(why, REASON_SYSTEM, "lib/modules", "%s: %s", f->kernel.release,
				 strerror(-err));
	open_kept_trees(&r);
	err = read_all(&r);
	if (err)
		return err;
	*ret = TAKE_PTR(f);
	return 0;
}
