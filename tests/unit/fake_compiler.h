/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that was built by some compiler, and compilers to choose from. */
#pragma once

#include "fake_tree.h"

#include "tree/compiler.h"
#include "tree/folder.h"

#define KERNEL "6.1.0-56-none"
#define GCC12 "gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0"

struct choice {
	struct fake_node *node;
	struct headers h;
	char *search;
	struct compiler c;
	struct verdicts why;
};

static inline struct choice *choice_new(struct fake_node *node)
{
	struct choice *ch = calloc(1, sizeof(*ch));

	assert_non_null(ch);
	ch->node = node;
	ch->h.path = ch->h.sources = node->dir;
	assert_true(asprintf(&ch->search, "%s/a:%s/b", node->dir, node->dir) > 0);
	return ch;
}

static inline void choice_freep(struct choice **ch)
{
	kconfig_clear(&(*ch)->h.config);
	free((*ch)->h.compiler);
	free((*ch)->search);
	compiler_clear(&(*ch)->c);
	verdicts_clear(&(*ch)->why);
	free(*ch);
}
#define _cleanup_choice_ _cleanup_(choice_freep)

static inline void configure(struct choice *ch, const char *text, const char *config)
{
	free(ch->h.compiler);
	ch->h.compiler = text ? strdup(text) : NULL;
	kconfig_clear(&ch->h.config);
	fake_file(ch->node, ".config", config);
	assert_int_equal(kconfig_read(ch->node->root, ".config", &ch->h.config), 0);
}

static inline void fake_script(const struct choice *ch, const char *path, const char *commands)
{
	_cleanup_free_ char *script = NULL;

	assert_true(asprintf(&script, "#!/bin/sh\n%s", commands) > 0);
	assert_int_equal(sysroot_replace(ch->node->root, path, 0755, script, strlen(script)), 0);
}

static inline void fake_compiler(const struct choice *ch, const char *path, const char *text)
{
	_cleanup_free_ char *commands = NULL;

	assert_true(asprintf(&commands, "echo '%s'\necho more\n", text) > 0);
	fake_script(ch, path, commands);
}

static inline int choose(struct choice *ch)
{
	compiler_clear(&ch->c);
	verdicts_clear(&ch->why);
	return compiler_choose(&ch->h, KERNEL, ch->search, &ch->c, &ch->why);
}

static inline void assert_chosen(struct choice *ch, const char *path)
{
	assert_int_equal(choose(ch), 0);
	assert_string_equal(ch->c.path + strlen(ch->node->dir) + 1, path);
	assert_int_equal(ch->why.n, 0);
}

/* By its name in /usr/bin; skips if there is none. */
static inline void take_real(struct choice *ch, const char *text, const char *suffix)
{
	configure(ch, text, "");
	free(ch->search);
	ch->search = strdup("/bin:/usr/bin");
	if (choose(ch) < 0)
		skip();
	assert_true(strstr(ch->c.path, suffix) || !*suffix);
}
