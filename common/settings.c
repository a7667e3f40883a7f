/* SPDX-License-Identifier: Apache-2.0 */
#include "common/settings.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/parse.h"
#include "common/spelling.h"
#include "common/sysroot.h"

#define WORD_SEPARATORS " \t\n:"

enum { COLUMNS = 100, MAX_OPTION_COLUMN = 36 };

/* What a setting is to be, and who said so. */
struct choice {
	const char *text;
	enum origin { FALLBACK, ENVIRONMENT, OPTION } origin;
};

static void *member(const struct setting *s, void *into)
{
	return (char *)into + s->offset;
}

static const void *const_member(const struct setting *s, const void *from)
{
	return (const char *)from + s->offset;
}

static void clear(const struct setting *s, void *at)
{
	switch (s->type) {
	case SETTING_BOOL:
		*(bool *)at = false;
		break;
	case SETTING_TEXT:
		free(*(char **)at);
		*(char **)at = NULL;
		break;
	case SETTING_WORDS:
		strv_free(*(char ***)at);
		*(char ***)at = NULL;
		break;
	case SETTING_DURATION:
	case SETTING_SIZE:
	case SETTING_COUNT:
		*(uint64_t *)at = 0;
		break;
	}
}

void settings_clear(const struct setting *table, size_t n, void *into)
{
	for (const struct setting *s = table; s < table + n; s++)
		clear(s, member(s, into));
}

/* Like clear, of memory that holds nothing yet. */
static void zero(const struct setting *s, void *at)
{
	if (s->type == SETTING_TEXT)
		*(char **)at = NULL;
	else if (s->type == SETTING_WORDS)
		*(char ***)at = NULL;
	else
		clear(s, at);
}

/* Is text one of "a|b|c"? */
static bool among(const char *values, const char *text)
{
	size_t len = strlen(text);

	for (const char *v = values; v; v = strchr(v, '|')) {
		v += *v == '|';
		if (strcspn(v, "|") == len && strncmp(v, text, len) == 0)
			return true;
	}
	return false;
}

static int store(const struct setting *s, const char *text, void *at)
{
	switch (s->type) {
	case SETTING_BOOL:
		return parse_bool(text, at);
	case SETTING_TEXT:
		if (s->values && !among(s->values, text))
			return -EINVAL;
		*(char **)at = strdup(text);
		return *(char **)at ? 0 : -ENOMEM;
	case SETTING_WORDS:
		return parse_words(text, WORD_SEPARATORS, at);
	case SETTING_DURATION:
		return parse_duration(text, at);
	case SETTING_SIZE:
		return parse_size(text, at);
	case SETTING_COUNT:
		return parse_u64(text, 10, 0, UINT64_MAX, at);
	}
	return -EINVAL;
}

static const char *expected(const struct setting *s)
{
	static const char *const what[] = {
		[SETTING_BOOL] = "true or false",
		[SETTING_TEXT] = "a text",
		[SETTING_WORDS] = "words",
		[SETTING_DURATION] = "a duration like 300ms, 30s, 5m or 1h30m",
		[SETTING_SIZE] = "a size like 512, 64k, 10M or 2G",
		[SETTING_COUNT] = "a whole number",
	};

	return s->values ? s->values : what[s->type];
}

static const char *nearest(const struct setting *table, size_t n, const char *name)
{
	const char *best = NULL;
	size_t best_distance = SPELLING_NEAR + 1;

	for (const struct setting *s = table; s < table + n; s++) {
		size_t d = s->option ? spelling_distance(name, s->option) : SIZE_MAX;

		if (d < best_distance) {
			best = s->option;
			best_distance = d;
		}
	}
	return best;
}

/* The setting that "--name" or "--name=value" is of; ret_value is NULL without "=". */
static const struct setting *find(const struct setting *table, size_t n, const char *arg,
				  const char **ret_value)
{
	size_t len = strcspn(arg, "=");

	if (strncmp(arg, "--", 2) != 0)
		return NULL;
	for (const struct setting *s = table; s < table + n; s++) {
		if (!s->option || strlen(s->option) != len - 2 ||
		    strncmp(s->option, arg + 2, len - 2) != 0)
			continue;
		*ret_value = arg[len] ? arg + len + 1 : NULL;
		return s;
	}
	return NULL;
}

struct reading {
	const struct setting *table;
	size_t n;
	struct choice *choices; /* one for each of the table */
	struct verdicts *why;
	bool refused;
};

static void refuse(struct reading *r, const struct setting *s, const struct choice *c, int error)
{
	const char *said = error == -ERANGE ? "is out of range" : "cannot be used";
	bool option = c->origin == OPTION || !s->env;
	_cleanup_free_ char *object = NULL;

	r->refused = true;
	if (asprintf(&object, "%s%s", option ? "--" : "", option ? s->option : s->env) < 0)
		object = NULL;
	verdicts_no(r->why, REASON_USAGE, object ? object : "", "\"%s\" %s: %s is expected",
		    c->text, said, expected(s));
}

static void refuse_unknown(struct reading *r, const char *arg)
{
	_cleanup_free_ char *name = strndup(arg, strcspn(arg, "="));
	const char *near = NULL;

	r->refused = true;
	if (name && strncmp(name, "--", 2) == 0)
		near = nearest(r->table, r->n, name + 2);
	if (near)
		verdicts_no(r->why, REASON_USAGE, name, "no such option; did you mean --%s?", near);
	else
		verdicts_no(r->why, REASON_USAGE, name ? name : arg, "no such option");
}

/* Takes the option at argv[0]; returns how many words it has. */
static size_t read_option(struct reading *r, char *const argv[])
{
	const char *value;
	const struct setting *s = find(r->table, r->n, argv[0], &value);
	size_t words = 1;

	if (!s) {
		refuse_unknown(r, argv[0]);
		return 1;
	}
	if (!value && s->type == SETTING_BOOL)
		value = "true";
	if (!value && argv[1]) {
		value = argv[1];
		words = 2;
	}
	if (value) {
		r->choices[s - r->table] = (struct choice){ value, OPTION };
		return words;
	}
	r->refused = true;
	verdicts_no(r->why, REASON_USAGE, argv[0], "a value is missing: %s is expected",
		    expected(s));
	return words;
}

/* Options go into the choices, the rest into operands, which has room for all of argv. */
static void read_arguments(struct reading *r, char *const argv[], char **operands)
{
	bool options = true;

	for (size_t i = argv[0] ? 1 : 0; argv[i];) {
		if (options && strcmp(argv[i], "--") == 0) {
			options = false;
			i++;
		} else if (options && argv[i][0] == '-' && argv[i][1]) {
			i += read_option(r, argv + i);
		} else {
			*operands++ = argv[i++];
		}
	}
	*operands = NULL;
}

static const char *variable(char *const env[], const char *name)
{
	size_t len = strlen(name);

	for (char *const *e = env; e && *e; e++) {
		if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
			return *e + len + 1;
	}
	return NULL;
}

static void read_environment(const struct reading *r, char *const env[])
{
	for (size_t i = 0; i < r->n; i++) {
		const struct setting *s = &r->table[i];
		const char *text = s->env ? variable(env, s->env) : NULL;

		/* Set but empty is unset, save for lists: there it is the list of nothing. */
		if (text && (*text || s->type == SETTING_WORDS))
			r->choices[i] = (struct choice){ text, ENVIRONMENT };
	}
}

static int store_choices(struct reading *r, void *into)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct setting *s = &r->table[i];
		int e = r->choices[i].text ? store(s, r->choices[i].text, member(s, into)) : 0;

		if (e == -ENOMEM)
			return e;
		if (e < 0)
			refuse(r, s, &r->choices[i], e);
	}
	return r->refused ? -EINVAL : 0;
}

int settings_read(const struct setting *table, size_t n, void *into, char *const argv[],
		  char *const env[], char ***ret_operands, struct verdicts *why)
{
	_cleanup_free_ struct choice *choices = calloc(n + 1, sizeof(*choices));
	_cleanup_free_ char **operands = NULL;
	struct reading reading = { table, n, choices, why, false };
	size_t words = 0;
	int r;

	for (size_t i = 0; i < n; i++)
		zero(&table[i], member(&table[i], into));
	while (argv[words])
		words++;
	operands = calloc(words + 1, sizeof(*operands));
	if (!choices || !operands)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		choices[i].text = table[i].fallback;
	read_environment(&reading, env);
	read_arguments(&reading, argv, operands);
	r = store_choices(&reading, into);
	if (r == 0)
		*ret_operands = TAKE_PTR(operands);
	return r;
}

/* "--option ARG", or "NAME=ARG" of what only the environment says. */
static char *help_name(const struct setting *s)
{
	const char *arg = s->arg ? s->arg : s->values ? s->values : "VALUE";
	bool plain = s->type == SETTING_BOOL && s->option;
	char *text;

	if (s->type == SETTING_BOOL)
		arg = "true|false";
	if (asprintf(&text, "%s%s%s%s", s->option ? "--" : "", s->option ? s->option : s->env,
		     plain       ? ""
		     : s->option ? " "
				 : "=",
		     plain ? "" : arg) < 0)
		return NULL;
	return text;
}

static char *help_text(const struct setting *s)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	(void)fputs(s->help, f);
	if (s->values && s->arg)
		(void)fprintf(f, " (%s)", s->values);
	if (s->fallback && *s->fallback)
		(void)fprintf(f, " [default: %s]", s->fallback);
	if (s->option && s->env)
		(void)fprintf(f, " [%s]", s->env);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* Puts words until the line is full, then goes on below where it began. */
static void put_wrapped(FILE *to, const char *text, size_t indent)
{
	size_t column = indent;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t len = strcspn(text, " ");

		if (column > indent && column + 1 + len > COLUMNS) {
			(void)fprintf(to, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			(void)fputc(' ', to);
			column++;
		}
		(void)fprintf(to, "%.*s", (int)len, text);
		column += len;
		text += len;
	}
	(void)fputc('\n', to);
}

static size_t help_indent(const struct setting *table, size_t n)
{
	size_t widest = 0;

	for (const struct setting *s = table; s < table + n; s++) {
		_cleanup_free_ char *name = help_name(s);
		size_t len = name ? strlen(name) + 4 : 0;

		if (len > widest && len <= MAX_OPTION_COLUMN)
			widest = len;
	}
	return widest ? widest : MAX_OPTION_COLUMN;
}

void settings_help(FILE *to, const struct setting *table, size_t n)
{
	size_t indent = help_indent(table, n);

	for (const struct setting *s = table; s < table + n; s++) {
		_cleanup_free_ char *name = help_name(s), *text = help_text(s);

		if (!name || !text)
			continue;
		if (strlen(name) + 4 > indent)
			(void)fprintf(to, "  %s\n%*s", name, (int)indent, "");
		else
			(void)fprintf(to, "  %-*s", (int)indent - 2, name);
		put_wrapped(to, text, indent);
	}
}

/* What is unset has no line; an empty list has an empty one. */
static void put_canonical(FILE *f, const struct setting *s, const void *at)
{
	char **words;

	switch (s->type) {
	case SETTING_BOOL:
		(void)fprintf(f, "%s=%s\n", s->env, *(const bool *)at ? "true" : "false");
		break;
	case SETTING_TEXT:
		if (*(char *const *)at)
			(void)fprintf(f, "%s=%s\n", s->env, *(char *const *)at);
		break;
	case SETTING_WORDS:
		words = *(char **const *)at;
		if (words)
			(void)fprintf(f, "%s=", s->env);
		for (char **w = words; w && *w; w++)
			(void)fprintf(f, "%s%s", w == words ? "" : " ", *w);
		if (words)
			(void)fputc('\n', f);
		break;
	case SETTING_DURATION:
	case SETTING_SIZE:
	case SETTING_COUNT:
		(void)fprintf(f, "%s=%llu\n", s->env, (unsigned long long)*(const uint64_t *)at);
		break;
	}
}

static int by_env(const void *a, const void *b)
{
	return strcmp((*(const struct setting *const *)a)->env,
		      (*(const struct setting *const *)b)->env);
}

static bool is_named(const struct setting *s, const char *const names[])
{
	for (; s->env && *names; names++) {
		if (strcmp(s->env, *names) == 0)
			return true;
	}
	return false;
}

char *settings_canonical(const struct setting *table, size_t n, const void *from,
			 const char *const names[])
{
	_cleanup_free_ const struct setting **sorted = calloc(n + 1, sizeof(*sorted));
	char *text = NULL;
	size_t len, m = 0;
	FILE *f = sorted ? open_memstream(&text, &len) : NULL;

	if (!f)
		return NULL;
	for (const struct setting *s = table; s < table + n; s++) {
		if (is_named(s, names))
			sorted[m++] = s;
	}
	qsort(sorted, m, sizeof(*sorted), by_env);
	for (size_t i = 0; i < m; i++)
		put_canonical(f, sorted[i], const_member(sorted[i], from));
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
