/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.json: what is read is written and read again as the same. */
#include <string.h>

#include "tree/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *format(const struct manifest *m)
{
	char *text;

	if (manifest_format(m, &text, NULL) < 0)
		abort();
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_manifest_ struct manifest m = { 0 }, again = { 0 };
	_cleanup_free_ char *text = NULL, *same = NULL;

	if (manifest_parse((const char *)data, size, "manifest.json", &m, &why) < 0)
		return why.n ? 0 : (abort(), 0);
	text = format(&m);
	if (manifest_parse(text, strlen(text), "again", &again, &why) < 0)
		abort();
	same = format(&again);
	if (strcmp(text, same))
		abort();
	(void)manifest_order(&m, &why);
	return 0;
}
