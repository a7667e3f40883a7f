/* SPDX-License-Identifier: Apache-2.0 */
#include "common/strv.h"

#include <string.h>

char **strv_free(char **strv)
{
	for (char **s = strv; s && *s; s++)
		free(*s);
	free(strv);
	return NULL;
}

size_t strv_length(char *const strv[])
{
	size_t n = 0;

	while (strv && strv[n])
		n++;
	return n;
}

char **strv_copy(char *const strv[])
{
	size_t n = strv_length(strv);
	_cleanup_strv_ char **copy = calloc(n + 1, sizeof(*copy));

	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = strdup(strv[i]);
		if (!copy[i])
			return NULL;
	}
	return TAKE_PTR(copy);
}

bool strv_contains(char *const strv[], const char *text)
{
	for (size_t i = 0; strv && strv[i]; i++)
		if (strcmp(strv[i], text) == 0)
			return true;
	return false;
}
