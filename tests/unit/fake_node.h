/* SPDX-License-Identifier: Apache-2.0 */
/* A node made at test time: a directory that stands for its root, with the files a test wants. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/sysroot.h"

struct fake_node {
	char *dir;
	struct sysroot *root;
};

static inline const char *fake_node_parent(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/tmp";
}

static inline int fake_node_make(void **state)
{
	struct fake_node *node = calloc(1, sizeof(*node));

	assert_non_null(node);
	assert_true(asprintf(&node->dir, "%s/gdrkit-node.XXXXXX", fake_node_parent()) > 0);
	assert_non_null(mkdtemp(node->dir));
	assert_int_equal(sysroot_open(node->dir, &node->root), 0);
	*state = node;
	return 0;
}

static inline int fake_node_end(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(sysroot_freep) struct sysroot *parent = NULL;

	assert_int_equal(sysroot_open(fake_node_parent(), &parent), 0);
	assert_int_equal(sysroot_remove(parent, strrchr(node->dir, '/') + 1), 0);
	sysroot_free(node->root);
	free(node->dir);
	free(node);
	return 0;
}

#define on_a_node(test) cmocka_unit_test_setup_teardown(test, fake_node_make, fake_node_end)

static inline void fake_file(const struct fake_node *node, const char *path, const char *text)
{
	assert_int_equal(sysroot_replace(node->root, path, 0644, text, strlen(text)), 0);
}

static inline void fake_module_file(const struct fake_node *node, const char *module,
				    const char *file, const char *text)
{
	_cleanup_free_ char *path = NULL;

	assert_true(asprintf(&path, "sys/module/%s/%s", module, file) > 0);
	fake_file(node, path, text);
}

static inline void fake_module(const struct fake_node *node, const char *name,
			       const char *srcversion)
{
	_cleanup_free_ char *line = NULL;

	assert_true(asprintf(&line, "%s\n", srcversion) > 0);
	fake_module_file(node, name, "initstate", "live\n");
	fake_module_file(node, name, "srcversion", line);
}

static inline void fake_unload(const struct fake_node *node, const char *name)
{
	_cleanup_free_ char *path = NULL;

	assert_true(asprintf(&path, "sys/module/%s", name) > 0);
	assert_int_equal(sysroot_remove(node->root, path), 0);
}

/* The file has this text. */
static inline void assert_file(const struct fake_node *node, const char *path, const char *text)
{
	_cleanup_free_ char *there = NULL;

	assert_int_equal(sysroot_read(node->root, path, 1 << 20, &there, NULL), 0);
	assert_string_equal(there, text);
}
