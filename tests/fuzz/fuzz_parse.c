/* SPDX-License-Identifier: Apache-2.0 */
/* Text for the parsers of numbers; its lines are arguments and environment for the settings. */
#include <string.h>

#include "common/parse.h"
#include "common/settings.h"
#include "common/sysroot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct values {
	bool flag;
	char *text, *choice;
	char **words;
	uint64_t duration, size, count;
};

#define AT(member) offsetof(struct values, member)

static const struct setting table[] = {
	{ "flag", "FLAG", SETTING_BOOL, "true", NULL, "", AT(flag), NULL },
	{ "text", "TEXT", SETTING_TEXT, NULL, "TEXT", "", AT(text), NULL },
	{ "choice", "CHOICE", SETTING_TEXT, "a", NULL, "", AT(choice), "a|b" },
	{ "words", "WORDS", SETTING_WORDS, "a b", "WORDS", "", AT(words), NULL },
	{ "duration", "DURATION", SETTING_DURATION, "1s", "D", "", AT(duration), NULL },
	{ "size", "SIZE", SETTING_SIZE, "1k", "SIZE", "", AT(size), NULL },
	{ "count", "COUNT", SETTING_COUNT, NULL, "N", "", AT(count), NULL },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	_cleanup_strv_ char **lines = NULL;
	_cleanup_verdicts_ struct verdicts why = { 0 };
	char **operands = NULL;
	struct values v;
	uint64_t n;

	if (!text)
		return 0;
	(void)parse_duration(text, &n);
	(void)parse_size(text, &n);
	(void)parse_u64(text, 0, 0, UINT64_MAX, &n);
	if (parse_words(text, "\n", &lines) < 0)
		return 0;
	(void)settings_read(table, sizeof(table) / sizeof(*table), &v, lines, lines, &operands,
			    &why);
	settings_clear(table, sizeof(table) / sizeof(*table), &v);
	free(operands);
	return 0;
}
