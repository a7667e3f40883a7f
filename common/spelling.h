/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": how far a word is from the one that was perhaps meant. */
#pragma once

#include <stddef.h>

enum { SPELLING_NEAR = 2 }; /* at most this far, a word is taken for a misspelt one */

/*
 * Levenshtein's distance: how many letters to change, add or leave out to make b of a. Words longer
 * than any that we look for (64) are far from all: SIZE_MAX.
 */
size_t spelling_distance(const char *a, const char *b);
/*
 * The entry of a table whose name is nearest to word; NULL: none is near. Entries are `size` bytes
 * and begin with the name (const char *); NULL ends the table.
 */
const void *spelling_nearest(const char *word, const void *table, size_t size);
