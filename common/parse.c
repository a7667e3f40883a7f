/* SPDX-License-Identifier: Apache-2.0 */
#include "common/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/sysroot.h"

int parse_u64(const char *text, int base, uint64_t min, uint64_t max, uint64_t *ret)
{
	unsigned long long n;
	char *end;

	if (!isalnum((unsigned char)*text)) /* strtoull would take blanks and signs */
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, base);
	if (end == text || *end || errno == EINVAL)
		return -EINVAL;
	if (errno == ERANGE || n < min || n > max)
		return -ERANGE;
	*ret = n;
	return 0;
}

int parse_bool(const char *text, bool *ret)
{
	static const char *const yes[] = { "true", "yes", "on", "1" };
	static const char *const no[] = { "false", "no", "off", "0" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++) {
		if (strcasecmp(text, yes[i]) == 0 || strcasecmp(text, no[i]) == 0) {
			*ret = strcasecmp(text, yes[i]) == 0;
			return 0;
		}
	}
	return -EINVAL;
}

/* The decimal digits at *text, which moves behind them. */
static int take_digits(const char **text, uint64_t *ret)
{
	const char *p = *text;
	uint64_t n = 0;
	int r = 0;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++) {
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			r = -ERANGE;
	}
	*text = p;
	*ret = n;
	return r;
}

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit times[] = {
	{ "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 },
};
static const uint64_t longest = UINT64_C(3650) * 86400000;

/* The unit at *text, which moves behind it. */
static const struct unit *take_time_unit(const char **text)
{
	size_t len = strspn(*text, "dhms");

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (len == strlen(times[i].name) && strncmp(*text, times[i].name, len) == 0) {
			*text += len;
			return &times[i];
		}
	}
	return NULL;
}

int parse_duration(const char *text, uint64_t *ret_ms)
{
	const struct unit *before = NULL;
	uint64_t sum = 0, n;
	int range = 0;

	if (strcmp(text, "0") == 0) {
		*ret_ms = 0;
		return 0;
	}
	do {
		int r = take_digits(&text, &n);
		const struct unit *unit;

		if (r == -EINVAL)
			return r;
		unit = take_time_unit(&text);
		if (!unit || (before && unit <= before)) /* 1m30s, never 30s1m or 1m1m */
			return -EINVAL;
		before = unit;
		if (r < 0 || __builtin_mul_overflow(n, unit->factor, &n) ||
		    __builtin_add_overflow(sum, n, &sum) || sum > longest)
			range = -ERANGE;
	} while (*text);
	if (range == 0)
		*ret_ms = sum;
	return range;
}

int parse_size(const char *text, uint64_t *ret_bytes)
{
	static const struct unit units[] = {
		{ "", 1 },
		{ "k", UINT64_C(1) << 10 },
		{ "kib", UINT64_C(1) << 10 },
		{ "m", UINT64_C(1) << 20 },
		{ "mib", UINT64_C(1) << 20 },
		{ "g", UINT64_C(1) << 30 },
		{ "gib", UINT64_C(1) << 30 },
		{ "t", UINT64_C(1) << 40 },
		{ "tib", UINT64_C(1) << 40 },
	};
	uint64_t n;
	int r = take_digits(&text, &n);

	if (r == -EINVAL)
		return r;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcasecmp(text, units[i].name) != 0)
			continue;
		if (r < 0 || __builtin_mul_overflow(n, units[i].factor, &n))
			return -ERANGE;
		*ret_bytes = n;
		return 0;
	}
	return -EINVAL;
}

int parse_words(const char *text, const char *separators, char ***ret)
{
	_cleanup_strv_ char **words = calloc(1, sizeof(*words));
	size_t n = 0, len;

	if (!words)
		return -ENOMEM;
	for (text += strspn(text, separators); *text; text += strspn(text, separators)) {
		char **more = reallocarray(words, n + 2, sizeof(*words));

		if (!more)
			return -ENOMEM;
		words = more;
		words[n + 1] = NULL;
		len = strcspn(text, separators);
		words[n] = strndup(text, len);
		if (!words[n++])
			return -ENOMEM;
		text += len;
	}
	*ret = TAKE_PTR(words);
	return 0;
}
