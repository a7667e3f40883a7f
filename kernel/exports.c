/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/exports.h"

#include <string.h>

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, len, hash) HASH_FNV(key, len, hash)
#include <uthash.h>

#include "kernel/arena.h"

struct entry {
	struct exported e;
	UT_hash_handle hh;
};

/* Owners are few: each is kept once, and compared by its address. */
struct owner {
	UT_hash_handle hh;
	char *name;
};

struct exports {
	struct entry *entries;
	struct owner *owners;
	const struct exports *base; /* of a layer */
	struct owner *dropped;      /* owners in the base that are not seen */
	struct arena memory;
	bool complete;
};

int exports_new(struct exports **ret)
{
	struct exports *ex = calloc(1, sizeof(*ex));

	if (!ex)
		return -ENOMEM;
	*ret = ex;
	return 0;
}

int exports_layer(const struct exports *base, struct exports **ret)
{
	int r = exports_new(ret);

	if (r == 0)
		(*ret)->base = base;
	return r;
}

struct exports *exports_free(struct exports *ex)
{
	if (ex) {
		HASH_CLEAR(hh, ex->entries);
		HASH_CLEAR(hh, ex->owners);
		HASH_CLEAR(hh, ex->dropped);
		arena_clear(&ex->memory);
		free(ex);
	}
	return NULL;
}

static int copy_text(struct exports *ex, const char *text, const char **ret)
{
	char *copy = NULL;

	if (text) {
		copy = arena_text(&ex->memory, text, strlen(text));
		if (!copy)
			return -ENOMEM;
	}
	*ret = copy;
	return 0;
}

static struct owner *find_owner(struct owner *set, const char *name)
{
	struct owner *o;

	HASH_FIND_STR(set, name, o);
	return o;
}

static int add_owner(struct exports *ex, struct owner **set, const char *name, const char **ret)
{
	struct owner *o = find_owner(*set, name);

	if (!o) {
		o = arena_alloc(&ex->memory, sizeof(*o));
		if (!o)
			return -ENOMEM;
		o->name = arena_text(&ex->memory, name, strlen(name));
		if (!o->name)
			return -ENOMEM;
		HASH_ADD_KEYPTR(hh, *set, o->name, strlen(o->name), o);
		if (!o->hh.tbl)
			return -ENOMEM;
	}
	*ret = o->name;
	return 0;
}

static int intern_owner(struct exports *ex, const char *name, const char **ret)
{
	if (name)
		return add_owner(ex, &ex->owners, name, ret);
	*ret = NULL;
	return 0;
}

/*
 * A source that knows the licence class is a list of exports: where it has no CRC, there is none.
 */
static int fill_in(struct exports *ex, struct exported *have, const struct exported *e)
{
	int r = 0;

	if (!have->has_crc && !have->gpl_known) {
		have->has_crc = e->has_crc;
		have->crc = e->crc;
	}
	if (!have->owner)
		r = intern_owner(ex, e->owner, &have->owner);
	if (r == 0 && !have->gpl_known) {
		have->gpl_known = e->gpl_known;
		have->gpl = e->gpl;
		if (!have->ns)
			r = copy_text(ex, e->ns, &have->ns);
	}
	return r;
}

int exports_add(struct exports *ex, const struct exported *e)
{
	size_t len = strlen(e->name);
	struct entry *entry;
	unsigned int hash;
	int r;

	HASH_VALUE(e->name, len, hash);
	HASH_FIND_BYHASHVALUE(hh, ex->entries, e->name, len, hash, entry);
	if (entry)
		return fill_in(ex, &entry->e, e);
	entry = arena_alloc(&ex->memory, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->e = *e;
	r = copy_text(ex, e->name, &entry->e.name);
	if (r == 0)
		r = copy_text(ex, e->ns, &entry->e.ns);
	if (r == 0)
		r = intern_owner(ex, e->owner, &entry->e.owner);
	if (r < 0)
		return r;
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, ex->entries, entry->e.name, len, hash, entry);
	return entry->hh.tbl ? 0 : -ENOMEM;
}

int exports_add_module(struct exports *ex, const struct module *m)
{
	size_t n;
	const struct export *list = module_exports(m, &n);
	int r = 0;

	for (const struct export *e = list; r == 0 && e < list + n; e++) {
		r = exports_add(ex, &(struct exported){ .name = e->name,
							.owner = module_info(m)->name,
							.crc = e->crc,
							.has_crc = e->has_crc,
							.gpl = e->gpl,
							.gpl_known = true,
							.ns = e->ns });
	}
	return r;
}

int exports_learn(struct exports *ex, const struct module *m)
{
	size_t n;
	const struct import *list = module_imports(m, &n);
	int r = 0;

	for (const struct import *i = list; r == 0 && i < list + n; i++) {
		if (i->has_crc)
			r = exports_add(ex, &(struct exported){ .name = i->name,
								.crc = i->crc,
								.has_crc = true });
	}
	return r;
}

int exports_drop(struct exports *layer, const char *owner)
{
	const char *unused;

	return add_owner(layer, &layer->dropped, owner, &unused);
}

const struct exported *exports_below(const struct exports *layer, const char *name)
{
	const struct exported *e = layer->base ? exports_find(layer->base, name) : NULL;

	return e && e->owner && find_owner(layer->dropped, e->owner) ? NULL : e;
}

const struct exported *exports_find(const struct exports *ex, const char *name)
{
	struct entry *entry;

	HASH_FIND_STR(ex->entries, name, entry);
	return entry ? &entry->e : exports_below(ex, name);
}

size_t exports_count(const struct exports *ex)
{
	return HASH_COUNT(ex->entries);
}

bool exports_complete(const struct exports *ex)
{
	return ex->complete || (ex->base && exports_complete(ex->base));
}

void exports_set_complete(struct exports *ex)
{
	ex->complete = true;
}
