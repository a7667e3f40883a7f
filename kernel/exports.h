/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who exports what: one table of symbols with CRC, owner, licence class and namespace, filled from
 * whatever is at hand. What comes first stays; a later source only fills in what an earlier one
 * could not say. The kernel does not tell the CRCs of its own exports at run time (kallsyms has
 * names only), so besides a Module.symvers the CRCs that files of live modules *import* count as
 * evidence: the kernel accepted them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cleanup.h"
#include "kernel/module.h"

struct exports;

struct exported {
	const char *name, *owner; /* "vmlinux" or a module's name; NULL: not known */
	uint32_t crc;
	/* false where gpl_known is true: exported without a CRC, which fits any importer */
	bool has_crc;
	bool gpl, gpl_known;
	const char *ns; /* NULL: none or not known */
};

int exports_new(struct exports **ret);
struct exports *exports_free(struct exports *ex);
DEFINE_CLEANUP(struct exports, exports_free);

/* Strings are copied. */
int exports_add(struct exports *ex, const struct exported *e);
/* What the module exports, under its name. */
int exports_add_module(struct exports *ex, const struct module *m);
/* What the module imports, as evidence of CRCs (of a file that is known to be live). */
int exports_learn(struct exports *ex, const struct module *m);
/*
 * A table on top of another: a symbol is looked for in the layer first, then in base (borrowed,
 * unchanged) unless the layer dropped its owner. The world after a swap is one: the new modules'
 * exports over everything that stays.
 */
int exports_layer(const struct exports *base, struct exports **ret);
/*
 * What `owner` (a module that will be replaced) exports in the base is not seen through this layer.
 */
int exports_drop(struct exports *layer, const char *owner);

const struct exported *exports_find(const struct exports *ex, const char *name);
/* What a layer's base still shows through it, whatever the layer itself has; no layer: NULL. */
const struct exported *exports_below(const struct exports *layer, const char *name);
/* Of this table alone, without its base. */
size_t exports_count(const struct exports *ex);
/*
 * True once a complete list of the kernel's own symbols is in (a Module.symvers): then a symbol
 * that is not there is missing, otherwise it is unknown. A layer is as complete as its base.
 */
bool exports_complete(const struct exports *ex);
void exports_set_complete(struct exports *ex);
