/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel headers on a fake node, and what is found of them. */
#pragma once

#include "fake_tree.h"

#include "common/child.h"
#include "tree/folder.h"
#include "tree/headers.h"

#define KERNEL "6.1.0-56-none"

struct finding {
	const struct fake_node *node;
	const char *kernel, *given;
	struct headers h;
	struct verdicts why;
};

static inline void finding_clear(struct finding *f)
{
	headers_clear(&f->h);
	verdicts_clear(&f->why);
}
#define _cleanup_finding_ _cleanup_(finding_clear)

static inline int find_headers(struct finding *f)
{
	finding_clear(f);
	return headers_find(f->node->root, f->kernel, "x86_64", f->given, &f->h, &f->why);
}

static inline void fake_text(const struct fake_node *node, const char *dir, const char *name,
			     const char *text)
{
	_cleanup_free_ char *path = NULL;

	assert_int_equal(folder_join(dir, name, &path), 0);
	fake_file(node, path, text);
}

static inline void fake_headers(const struct fake_node *node, const char *dir, const char *release)
{
	_cleanup_free_ char *line = NULL;

	assert_true(asprintf(&line, "%s\n", release) > 0);
	fake_text(node, dir, "Makefile", "all:\n");
	fake_text(node, dir, ".config",
		  "CONFIG_CC_VERSION_TEXT=\"gcc-12 (x) 12.2.0\"\nCONFIG_X86_64=y\n");
	fake_text(node, dir, "include/config/kernel.release", line);
}

static inline void assert_found(struct finding *f, const char *dir)
{
	_cleanup_free_ char *path = NULL;

	assert_int_equal(find_headers(f), 0);
	assert_int_equal(folder_path(f->node->root, dir, &path), 0);
	assert_string_equal(f->h.path, path);
	assert_int_equal(f->why.n, 0);
}

static inline struct sysroot *make_dir(const struct fake_node *node, const char *name)
{
	struct sysroot *dir = NULL;

	assert_int_equal(sysroot_mkdirs(node->root, name, 0755), 0);
	assert_int_equal(folder_open(node->root, name, &dir), 0);
	return dir;
}

/* Runs to the end and tells what it said if that was none. */
static inline void run_program(const char *const argv[])
{
	_cleanup_child_result_ struct child_result res = { 0 };
	static const char *const env[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };

	assert_int_equal(
		child_run(&(struct child_spec){ .argv = argv, .env = env, .stop_fd = -1 }, &res),
		0);
	if (res.status != 0)
		fail_msg("%s: exit %d: %s", argv[0], res.status, res.tail);
}
