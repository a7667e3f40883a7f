/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/softdep.h"

#include <stdbool.h>
#include <string.h>

#include "common/parse.h"
#include "kernel/modname.h"

int softdep_pre(const char *text, char ***ret)
{
	_cleanup_strv_ char **words = NULL;
	char **from, **to;
	bool pre = false;
	int r = parse_words(text, " \t", &words);

	if (r < 0)
		return r;
	for (from = to = words; *from; from++) {
		bool label = (*from)[strlen(*from) - 1] == ':';

		if (label)
			pre = strcmp(*from, "pre:") == 0;
		if (label || !pre) {
			free(*from);
			continue;
		}
		modname_normalize(*from);
		*to++ = *from;
	}
	*to = NULL;
	*ret = TAKE_PTR(words);
	return 0;
}
