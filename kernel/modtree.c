/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/modtree.h"

#include <fnmatch.h>
#include <libkmod.h>
#include <stdio.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, len, hash) HASH_FNV(key, len, hash)
#include <uthash.h>

#include "common/parse.h"
#include "kernel/arena.h"
#include "kernel/modname.h"
#include "kernel/modprobe_d.h"
#include "kernel/softdep.h"

enum { MAX_DEP = 64 << 20 };

/* A line of modules.dep: "kernel/net/core/a.ko.xz: kernel/lib/b.ko.xz" */
struct node {
	const char *name, *path, *depends; /* depends: paths, blanks between */
	UT_hash_handle hh;
};

struct modtree {
	char *dir;
	struct node *nodes;
	struct arena memory;
	struct kmod_ctx *kmod;
};

/* ---- modules.dep */

/* "kernel/sound/ac97-bus.ko.xz" -> "ac97_bus" */
static char *name_of(struct arena *a, const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);
	const char *start = slash ? slash + 1 : path;
	const char *dot = memchr(start, '.', len - (size_t)(start - path));
	char *name = arena_text(a, start, (size_t)((dot ? dot : path + len) - start));

	if (name)
		modname_normalize(name);
	return name;
}

static struct node *find(const struct modtree *t, const char *name)
{
	struct node *node;

	HASH_FIND_STR(t->nodes, name, node);
	return node;
}

static int add_line(struct modtree *t, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	size_t path_len = colon ? (size_t)(colon - line) : 0;
	struct node *node;

	if (!path_len)
		return 0;
	node = arena_alloc(&t->memory, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->name = name_of(&t->memory, line, path_len);
	node->path = arena_text(&t->memory, line, path_len);
	node->depends = arena_text(&t->memory, colon + 1, len - path_len - 1);
	if (!node->name || !node->path || !node->depends)
		return -ENOMEM;
	if (find(t, node->name))
		return 0;
	HASH_ADD_KEYPTR(hh, t->nodes, node->name, strlen(node->name), node);
	return node->hh.tbl ? 0 : -ENOMEM;
}

static int read_dep(struct modtree *t, const struct sysroot *root)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	int r;

	if (asprintf(&path, "%s/modules.dep", t->dir) < 0)
		return -ENOMEM;
	r = sysroot_read(root, path, MAX_DEP, &text, NULL);
	for (const char *p = text; r == 0 && *p;) {
		size_t len = strcspn(p, "\n");

		r = add_line(t, p, len);
		p += len + (p[len] == '\n');
	}
	return r;
}

/* ---- configuration */

static int read_config(struct modtree *t, const struct sysroot *root)
{
	_cleanup_close_ int fd = -1;
	char path[32];
	const char *const paths[] = { path, NULL };
	int r = modprobe_d_collect(root, t->dir, &fd);

	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	t->kmod = kmod_new("/dev/null",
			   paths); /* the directory is not needed: modules.dep is read here */
	return t->kmod ? 0 : -ENOMEM;
}

/* ---- the tree */

int modtree_open(const struct sysroot *root, const char *release, struct modtree **ret)
{
	_cleanup_(modtree_freep) struct modtree *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	if (asprintf(&t->dir, "lib/modules/%s", release) < 0) {
		t->dir = NULL;
		return -ENOMEM;
	}
	r = read_dep(t, root);
	if (r == 0)
		r = read_config(t, root);
	if (r == 0)
		*ret = TAKE_PTR(t);
	return r;
}

struct modtree *modtree_free(struct modtree *t)
{
	if (t) {
		HASH_CLEAR(hh, t->nodes);
		arena_clear(&t->memory);
		if (t->kmod)
			kmod_unref(t->kmod);
		free(t->dir);
		free(t);
	}
	return NULL;
}

/* The caller's name with underscores. */
static int find_node(const struct modtree *t, const char *name, struct node **ret)
{
	_cleanup_arena_ struct arena a = { 0 };
	char *key = name_of(&a, name, strlen(name));

	if (!key)
		return -ENOMEM;
	*ret = find(t, key);
	return *ret ? 0 : -ENOENT;
}

int modtree_path(const struct modtree *t, const char *name, char **ret)
{
	struct node *node;
	char *path;
	int r = find_node(t, name, &node);

	if (r < 0)
		return r;
	/* depmod writes absolute paths for what lies outside of the directory */
	if (*node->path == '/')
		path = strdup(node->path + 1);
	else if (asprintf(&path, "%s/%s", t->dir, node->path) < 0)
		path = NULL;
	if (!path)
		return -ENOMEM;
	*ret = path;
	return 0;
}

/* ---- what a module needs */

struct walk {
	const struct modtree *t;
	char **names;
	size_t n;
	struct seen {
		const struct node *node;
		UT_hash_handle hh;
	} * seen; /* on the way down: circles end here */
	struct arena memory;
};

static void walk_clear(struct walk *w)
{
	HASH_CLEAR(hh, w->seen);
	arena_clear(&w->memory);
	strv_free(w->names);
}

static int visit(struct walk *w, const struct node *node);

static int visit_hard(struct walk *w, const struct node *node)
{
	_cleanup_strv_ char **paths = NULL;
	int r = parse_words(node->depends, " ", &paths);

	for (char **p = paths; r == 0 && *p; p++) {
		struct node *next;

		r = find_node(w->t, *p, &next);
		if (r == 0)
			r = visit(w, next);
		else if (r == -ENOENT)
			r = 0;
	}
	return r;
}

static int visit_names(struct walk *w, const char *softdep)
{
	_cleanup_strv_ char **names = NULL;
	int r = softdep_pre(softdep, &names);

	for (char **n = names; r == 0 && *n; n++) {
		struct node *next = find(w->t, *n);

		if (next)
			r = visit(w, next);
	}
	return r;
}

/* The lines themselves: kmod_module_get_softdeps() would look for the modules in its own index. */
static int visit_soft(struct walk *w, const struct node *node)
{
	struct kmod_config_iter *i = kmod_config_get_softdeps(w->t->kmod);
	int r = 0;

	if (!i)
		return -ENOMEM;
	while (r == 0 && kmod_config_iter_next(i)) {
		if (fnmatch(kmod_config_iter_get_key(i), node->name, 0) == 0)
			r = visit_names(w, kmod_config_iter_get_value(i));
	}
	kmod_config_iter_free_iter(i);
	return r;
}

static int append(struct walk *w, const char *name)
{
	char **names = reallocarray(w->names, w->n + 2, sizeof(*names));

	if (!names)
		return -ENOMEM;
	w->names = names;
	names[w->n + 1] = NULL;
	names[w->n] = strdup(name);
	return names[w->n++] ? 0 : -ENOMEM;
}

/* First what it needs, then itself. */
static int visit(struct walk *w, const struct node *node)
{
	struct seen *seen;
	int r;

	HASH_FIND_PTR(w->seen, &node, seen);
	if (seen)
		return 0;
	seen = arena_alloc(&w->memory, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	seen->node = node;
	HASH_ADD_PTR(w->seen, node, seen);
	if (!seen->hh.tbl)
		return -ENOMEM;
	r = visit_soft(w, node);
	if (r == 0)
		r = visit_hard(w, node);
	if (r == 0)
		r = append(w, node->name);
	return r;
}

int modtree_depends(const struct modtree *t, const char *name, char ***ret)
{
	_cleanup_(walk_clear) struct walk w = { .t = t };
	struct node *node;
	int r = find_node(t, name, &node);

	if (r == 0)
		r = visit(&w, node);
	if (r < 0)
		return r;
	free(w.names[--w.n]); /* the module itself is the last one */
	w.names[w.n] = NULL;
	*ret = TAKE_PTR(w.names);
	return 0;
}

int modtree_options(const struct modtree *t, const char *name, char **ret)
{
	struct kmod_module *mod;
	const char *options;
	char *copy;
	int r = kmod_module_new_from_name(t->kmod, name, &mod);

	if (r < 0)
		return r;
	options = kmod_module_get_options(mod);
	copy = strdup(options ? options : "");
	kmod_module_unref(mod);
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}
