/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings: what this node may do. One const table makes the option, the environment variable, the
 * type, the default and the help of each; the option wins over the variable, the variable over the
 * default. Values land in a struct of the caller's.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "common/verdict.h"

enum setting_type {
	SETTING_BOOL,     /* bool; --x and --x=false */
	SETTING_TEXT,     /* char *, NULL when unset and without a default */
	SETTING_WORDS,    /* char ** (blank or colon separated) */
	SETTING_DURATION, /* uint64_t milliseconds */
	SETTING_SIZE,     /* uint64_t bytes */
	SETTING_COUNT,    /* uint64_t */
};

struct setting {
	const char *option; /* without --; NULL: environment only */
	const char *env;    /* NULL: option only */
	enum setting_type type;
	const char *fallback; /* as text; NULL: zero, NULL */
	const char *arg; /* the value's name in the help: DIR, DURATION; NULL for SETTING_BOOL */
	const char *help;
	size_t offset;      /* of the member in the caller's struct */
	const char *values; /* SETTING_TEXT: "text|json", the only ones; NULL: any */
};

/*
 * Fills `into` from environ and argv (argv[0] is skipped; both --opt=value and --opt value).
 * ret_operands: what is not an option, pointing into argv, ends with NULL, free(). Anything wrong:
 * a USAGE verdict for each, naming the option or the variable, -EINVAL, and `into` is to be thrown
 * away with settings_clear.
 */
int settings_read(const struct setting *table, size_t n, void *into, char *const argv[],
		  char *const environ[], char ***ret_operands, struct verdicts *why);
void settings_clear(const struct setting *table, size_t n, void *into);

/* The help's option lines. */
void settings_help(FILE *to, const struct setting *table, size_t n);

/*
 * `NAME=value` lines of those whose env is among `names` (ends with NULL), sorted: a digest of them
 * tells whether the same was asked for.
 */
char *settings_canonical(const struct setting *table, size_t n, const void *from,
			 const char *const names[]);
