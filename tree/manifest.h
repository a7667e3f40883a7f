/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.json: what a driver tree is known by, and all that a swap needs of it without opening
 * a module. The digest of a tree is the sha256 of this file. JSON by jansson; an unknown key is
 * ignored (a later gdrkit may write more), a missing or ill-typed one is TREE_INVALID with its
 * name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/sysroot.h"
#include "common/verdict.h"
#include "kernel/identity.h"

struct manifest_export {
	char *symbol;
	uint32_t crc;
};

struct manifest_module {
	char *name;
	char *path;     /* in the tree: lib/modules/K/NAME/x.ko */
	char **depends; /* hard dependencies, in the tree and outside */
	struct identity id;
	char sha256[65];
	bool optional;
	struct manifest_export *exports; /* by symbol */
	size_t n_exports;
};

struct manifest {
	char *name, *version, *kernel, *arch;
	char *key; /* digest of the inputs: kernel, arch, source, recipe, flags (amendment 11) */
	char *build_id; /* of the kernel whose headers it was built with; NULL: not known */
	char *compiler; /* CONFIG_CC_VERSION_TEXT's form; NULL */
	/* sha256 of the headers' .config and Module.symvers; NULL: not known */
	char *config_sha256, *symvers_sha256;
	char *exposed_sha256; /* digest_dir of usr/; NULL: not recorded, or there is none */
	char **vendors, **auxiliary;
	struct manifest_module *modules; /* in load order */
	size_t n_modules;
};

/*
 * -EBADMSG, with all that is wrong in why. Whether the modules have an order is manifest_order's.
 */
int manifest_parse(const char *text, size_t len, const char *name, struct manifest *ret,
		   struct verdicts *why);
/* Canonical: the same manifest gives the same bytes. */
int manifest_format(const struct manifest *m, char **ret, size_t *ret_len);
void manifest_clear(struct manifest *m);
#define _cleanup_manifest_ _cleanup_(manifest_clear)

const struct manifest_module *manifest_find(const struct manifest *m, const char *name);
/*
 * Puts the modules into load order by `depends`; keeps the given order where it is free. A
 * circle: -ELOOP and DEPENDENCY_CYCLE naming its members; a name twice: -EEXIST and TREE_INVALID;
 * no module at all: -ENODATA and TREE_INVALID.
 */
int manifest_order(struct manifest *m, struct verdicts *why);
