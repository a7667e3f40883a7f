/* SPDX-License-Identifier: Apache-2.0 */
#include "common/spelling.h"

#include <stdint.h>
#include <string.h>

enum { MAX_WORD = 64 };

size_t spelling_distance(const char *a, const char *b)
{
	size_t row[MAX_WORD + 1], la = strlen(a), lb = strlen(b);

	if (la > MAX_WORD || lb > MAX_WORD)
		return SIZE_MAX;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (best > row[j] + 1)
				best = row[j] + 1;
			if (best > row[j - 1] + 1)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[lb];
}

const void *spelling_nearest(const char *word, const void *table, size_t size)
{
	const void *near = NULL;
	size_t least = SPELLING_NEAR + 1;
	const char *name;

	for (const char *entry = table; (name = *(const char *const *)entry) != NULL;
	     entry += size) {
		size_t d = spelling_distance(word, name);

		if (d < least) {
			least = d;
			near = entry;
		}
	}
	return near;
}
