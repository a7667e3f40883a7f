/* SPDX-License-Identifier: Apache-2.0 */
/* driver.conf: whatever is in it, it is read or refused with a reason. */
#include <stdint.h>

#include "tree/recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_recipe_ struct recipe r = { 0 };
	int err = recipe_parse((const char *)data, size, "driver.conf", &r, &why);

	if ((err == 0) != (why.n == 0) || (err == 0 && !*r.modules))
		abort();
	for (char ***command = err == 0 ? r.commands : NULL; command && *command; command++) {
		static const struct recipe_values values = { "k", "h", "c", "s", "o", 1 };
		_cleanup_free_ char *word = NULL;

		if (recipe_expand(**command, &values, &word) < 0)
			abort();
	}
	return 0;
}
