/* SPDX-License-Identifier: Apache-2.0 */
/* A driver tree on a fake node, without a module that is one; and what verdicts are asked. */
#pragma once

#include "fake_node.h"

#include "common/digest.h"
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

/* What it was built against, and the digest of its usr/; NULL: not recorded. */
struct fake_record {
	const char *build_id, *config, *symvers, *exposed;
};

#define FAKE_TEXT(text) ((char *)(uintptr_t)(text))

static inline void fake_tree_with(const struct fake_node *node, const char *path,
				  const struct fake_tree *t, const struct fake_record *record)
{
	char *none[] = { NULL };
	char *one[] = { FAKE_TEXT("ib_core"), NULL };
	struct manifest_export exported = { FAKE_TEXT("ib_register_device"), 0xdeadbeef };
	struct manifest_module modules[] = {
		{ .name = FAKE_TEXT("ib_core"),
		  .path = FAKE_TEXT("lib/modules/K/x/ib_core.ko"),
		  .depends = none },
		{ .name = FAKE_TEXT("rdma_rxe"),
		  .path = FAKE_TEXT("lib/modules/K/x/rdma_rxe.ko"),
		  .depends = one },
	};
	struct manifest m = {
		.name = FAKE_TEXT("x"),
		.version = FAKE_TEXT(t->version),
		.kernel = FAKE_TEXT(t->kernel),
		.arch = FAKE_TEXT(t->arch),
		.key = FAKE_TEXT(t->key),
		.build_id = FAKE_TEXT(record->build_id),
		.config_sha256 = FAKE_TEXT(record->config),
		.symvers_sha256 = FAKE_TEXT(record->symvers),
		.exposed_sha256 = FAKE_TEXT(record->exposed),
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

		assert_int_equal(digest_of("not really", 10, modules[i].sha256), 0);
		assert_true(asprintf(&file, "%s/%s", path, modules[i].path) > 0);
		fake_file(node, file, "not really");
	}
	assert_int_equal(manifest_format(&m, &text, NULL), 0);
	assert_true(asprintf(&manifest, "%s/manifest.json", path) > 0);
	fake_file(node, manifest, text);
}

static inline void fake_tree(const struct fake_node *node, const char *path,
			     const struct fake_tree *t)
{
	fake_tree_with(node, path, t, &(struct fake_record){ .build_id = NULL });
}
