/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/placeholder.h"

#include <string.h>

#include "common/spelling.h"
#include "tree/recipe.h"

static const struct variable {
	const char *name;
	size_t offset; /* in recipe_values; of `jobs` none: it is a number */
} VARIABLES[] = {
	{ "kernel", offsetof(struct recipe_values, kernel) },
	{ "headers", offsetof(struct recipe_values, headers) },
	{ "sources", offsetof(struct recipe_values, sources) },
	{ "source", offsetof(struct recipe_values, source) },
	{ "output", offsetof(struct recipe_values, output) },
	{ "jobs", 0 },
	{ 0 },
};

#define KNOWN "%{kernel} %{headers} %{sources} %{source} %{output} %{jobs}"

/* "{name}" stands at `at`. */
static const struct variable *find(const char *at)
{
	size_t len = strcspn(at, "}");

	for (const struct variable *v = VARIABLES; at[len] && v->name; v++)
		if (strlen(v->name) + 1 == len && !strncmp(at + 1, v->name, len - 1))
			return v;
	return NULL;
}

/* ---- mistakes */

/* NULL: out of memory */
static char *unknown(const char *name)
{
	const struct variable *near = spelling_nearest(name, VARIABLES, sizeof(*VARIABLES));
	char *what;
	int n;

	if (near)
		n = asprintf(&what, "unknown variable %%{%s}: did you mean %%{%s}?", name,
			     near->name);
	else
		n = asprintf(&what, "unknown variable %%{%s}: there are %s", name, KNOWN);
	return n < 0 ? NULL : what;
}

/* What stands behind a percent sign is neither another one nor a variable. */
static char *describe(const char *at)
{
	_cleanup_free_ char *name = NULL;

	if (*at != '{')
		return strdup("a percent sign is written %%");
	if (!strchr(at, '}'))
		return strdup("a variable ends in }: %{name}");
	name = strndup(at + 1, strcspn(at, "}") - 1);
	return name ? unknown(name) : NULL;
}

int placeholder_mistake(const char *word, size_t *at, char **ret_what)
{
	for (const char *c = word + *at; (c = strchr(c, '%')); c++) {
		char *what;

		if (c[1] == '%') {
			c++;
			continue;
		}
		if (c[1] == '{' && find(c + 1))
			continue;
		what = describe(c + 1);
		if (!what)
			return -ENOMEM;
		*at = (size_t)(c - word);
		*ret_what = what;
		return 1;
	}
	return 0;
}

/* ---- recipe.h's recipe_expand */

/* `at` stands behind a percent sign; returns what is behind it all, NULL: a mistake. */
static const char *expand_one(const char *at, const struct recipe_values *values, FILE *to)
{
	const struct variable *v;

	if (*at == '%') {
		(void)fputc('%', to);
		return at + 1;
	}
	v = *at == '{' ? find(at) : NULL;
	if (!v)
		return NULL;
	if (!strcmp(v->name, "jobs"))
		(void)fprintf(to, "%u", values->jobs);
	else
		(void)fputs(*(const char *const *)((const char *)values + v->offset), to);
	return at + strlen(v->name) + 2;
}

int recipe_expand(const char *word, const struct recipe_values *values, char **ret)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return -ENOMEM;
	while (word && *word) {
		if (*word == '%')
			word = expand_one(word + 1, values, to);
		else
			(void)fputc(*word++, to);
	}
	if (fclose(to) != 0)
		return -ENOMEM;
	if (!word)
		return -EINVAL;
	*ret = TAKE_PTR(text);
	return 0;
}
