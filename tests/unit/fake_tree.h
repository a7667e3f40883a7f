/* SPDX-License-Identifier: Apache-2.0 */
/* A driver tree on a fake node, without a module that is one; and what verdicts are asked. */
#pragma once

#include "fake_node.h"

#include "common/verdict.h"
#include "tree/manifest.h"
#include "tree/store.h"

/* Has why a verdict of this code whose object and detail contain these words (NULL: any)? */
static inline bool says(const struct verdicts *why, enum reason code, const char *object,
			const char *detail)
{
	for (size_t i = 0; i < why->n; i++) {
		const struct verdict *v = &why->v[i];

		if (v->why == code && (!object || strstr(v->object, object)) &&
		    (!detail || (v->detail && strstr(v->detail, detail))))
			return true;
	}
	verdicts_log(why, LEVEL_ERROR); /* what it says instead */
	return false;
}

#define assert_says(why, code, object, detail) assert_true(says(why, REASON_##code, object, detail))

struct fake_tree {
	const char *key, *version, *kernel, *arch;
};

static inline void fake_tree(const struct fake_node *node, const char *path,
			     const struct fake_tree *t)
{
	char *none[] = { NULL };
	char *one[] = { "ib_core", NULL };
	struct manifest_export exported = { "ib_register_device", 0xdeadbeef };
	struct manifest_module modules[] = {
		{ .name = "ib_core", .path = "lib/modules/K/x/ib_core.ko", .depends = none },
		{ .name = "rdma_rxe", .path = "lib/modules/K/x/rdma_rxe.ko", .depends = one },
	};
	struct manifest m = {
		.name = "x",
		.version = (char *)(uintptr_t)t->version,
		.kernel = (char *)(uintptr_t)t->kernel,
		.arch = (char *)(uintptr_t)t->arch,
		.key = (char *)(uintptr_t)t->key,
		.vendors = none,
		.auxiliary = none,
		.modules = modules,
		.n_modules = 2,
	};
	_cleanup_free_ char *text = NULL, *manifest = NULL;

	modules[0].exports = &exported;
	modules[0].n_exports = 1;
	for (size_t i = 0; i < 2; i++) {
		_cleanup_free_ char *file = NULL;

		memset(modules[i].sha256, 'a', 64);
		assert_true(asprintf(&file, "%s/%s", path, modules[i].path) > 0);
		fake_file(node, file, "not really");
	}
	assert_int_equal(manifest_format(&m, &text, NULL), 0);
	assert_true(asprintf(&manifest, "%s/manifest.json", path) > 0);
	fake_file(node, manifest, text);
}
