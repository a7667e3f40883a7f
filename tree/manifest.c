/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/manifest.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "common/parse.h"

#define MODULES_MAX 1024 /* ordering takes the square of it */

/* ---- what a text may look like */

static bool is_text(const char *text)
{
	for (const char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			return false;
	return *text;
}

/* A file's name that could not mean another directory. */
static bool is_name(const char *text)
{
	return is_text(text) && *text != '.' && !strchr(text, '/');
}

static bool is_path(const char *text)
{
	for (const char *part = text;; part++) {
		size_t len = strcspn(part, "/");

		if (len == 0 || (len == 2 && !strncmp(part, "..", 2)))
			return false;
		part += len;
		if (!*part)
			break;
	}
	return is_text(text);
}

static bool is_hex(const char *text)
{
	return !text[strspn(text, "0123456789abcdef")];
}

static bool is_sha256(const char *text)
{
	return strlen(text) == 64 && is_hex(text);
}

static bool is_srcversion(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c))
			return false;
	return true;
}

/* ---- the fields */

enum type { TEXT, NULLABLE, BUFFER, WORDS, FLAG, EXPORTS, MODULES };

struct field {
	const char *key;
	enum type type;
	size_t offset, size; /* size: of a BUFFER */
	bool (*ok)(const char *text);
};

#define MANIFEST(member) offsetof(struct manifest, member)
#define MODULE(member) offsetof(struct manifest_module, member)
#define SIZE(member) sizeof(((struct manifest_module *)NULL)->member)

static const struct field TOP[] = {
	{ "name", TEXT, MANIFEST(name), 0, is_name },
	{ "version", TEXT, MANIFEST(version), 0, is_name },
	{ "kernel", TEXT, MANIFEST(kernel), 0, is_name },
	{ "arch", TEXT, MANIFEST(arch), 0, is_name },
	{ "key", TEXT, MANIFEST(key), 0, is_name },
	{ "build_id", NULLABLE, MANIFEST(build_id), 0, is_hex },
	{ "compiler", NULLABLE, MANIFEST(compiler), 0, is_text },
	{ "config_sha256", NULLABLE, MANIFEST(config_sha256), 0, is_sha256 },
	{ "symvers_sha256", NULLABLE, MANIFEST(symvers_sha256), 0, is_sha256 },
	{ "exposed_sha256", NULLABLE, MANIFEST(exposed_sha256), 0, is_sha256 },
	{ "vendors", WORDS, MANIFEST(vendors), 0, is_hex },
	{ "auxiliary", WORDS, MANIFEST(auxiliary), 0, is_name },
	{ "modules", MODULES, 0, 0, NULL },
	{ 0 },
};

static const struct field OF_MODULE[] = {
	{ "name", TEXT, MODULE(name), 0, is_name },
	{ "path", TEXT, MODULE(path), 0, is_path },
	{ "depends", WORDS, MODULE(depends), 0, is_name },
	{ "srcversion", BUFFER, MODULE(id.srcversion), SIZE(id.srcversion), is_srcversion },
	{ "build_id", BUFFER, MODULE(id.build_id), SIZE(id.build_id), is_hex },
	{ "sha256", BUFFER, MODULE(sha256), SIZE(sha256), is_sha256 },
	{ "optional", FLAG, MODULE(optional), 0, NULL },
	{ "exports", EXPORTS, 0, 0, NULL },
	{ 0 },
};

/* ---- from JSON: 0, -ENOMEM, or -EINVAL for a value that is not what the field wants */

static int get_fields(const json_t *from, const struct field *fields, void *to, const char *where,
		      const char *file, struct verdicts *why);

static int get_text(const json_t *value, const struct field *f, char **ret)
{
	const char *text = json_string_value(value);

	if (f->type == NULLABLE && (!value || json_is_null(value)))
		return 0;
	if (!text || !f->ok(text))
		return -EINVAL;
	*ret = strdup(text);
	return *ret ? 0 : -ENOMEM;
}

static int get_buffer(const json_t *value, const struct field *f, char *ret)
{
	const char *text = json_string_value(value);

	if (!text || strlen(text) >= f->size || !f->ok(text))
		return -EINVAL;
	memcpy(ret, text, strlen(text) + 1);
	return 0;
}

static int get_words(const json_t *value, const struct field *f, char ***ret)
{
	size_t n = json_array_size(value);
	_cleanup_strv_ char **words = calloc(n + 1, sizeof(*words));
	const struct field word = { f->key, TEXT, 0, 0, f->ok };

	if (!words)
		return -ENOMEM;
	if (!json_is_array(value))
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		int r = get_text(json_array_get(value, i), &word, &words[i]);

		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(words);
	return 0;
}

static int get_flag(const json_t *value, bool *ret)
{
	if (!json_is_boolean(value))
		return -EINVAL;
	*ret = json_is_true(value);
	return 0;
}

/* "0x%08x": JSON's own numbers would be fine, but people compare these with Module.symvers. */
static int get_crc(const json_t *value, uint32_t *ret)
{
	const char *text = json_string_value(value);
	uint64_t crc;

	if (!text || strncmp(text, "0x", 2) || parse_u64(text + 2, 16, 0, UINT32_MAX, &crc) < 0)
		return -EINVAL;
	*ret = (uint32_t)crc;
	return 0;
}

static int by_symbol(const void *a, const void *b)
{
	return strcmp(((const struct manifest_export *)a)->symbol,
		      ((const struct manifest_export *)b)->symbol);
}

static int get_exports(json_t *value, struct manifest_module *ret)
{
	const char *symbol;
	json_t *crc;

	if (!json_is_object(value))
		return -EINVAL;
	ret->exports = calloc(json_object_size(value) + 1, sizeof(*ret->exports));
	if (!ret->exports)
		return -ENOMEM;
	json_object_foreach(value, symbol, crc) {
		struct manifest_export *e = &ret->exports[ret->n_exports];

		if (!is_text(symbol) || get_crc(crc, &e->crc) < 0)
			return -EINVAL;
		e->symbol = strdup(symbol);
		if (!e->symbol)
			return -ENOMEM;
		ret->n_exports++;
	}
	qsort(ret->exports, ret->n_exports, sizeof(*ret->exports), by_symbol);
	return 0;
}

static int get_modules(const json_t *value, struct manifest *ret, const char *file,
		       struct verdicts *why)
{
	size_t n = json_array_size(value);
	int bad = 0;

	if (!json_is_array(value) || n > MODULES_MAX)
		return -EINVAL;
	ret->modules = calloc(n + 1, sizeof(*ret->modules));
	if (!ret->modules)
		return -ENOMEM;
	ret->n_modules = n;
	for (size_t i = 0; i < n; i++) {
		const json_t *module = json_array_get(value, i);
		char where[32];
		int r;

		(void)snprintf(where, sizeof(where), "modules[%zu].", i);
		r = get_fields(module, OF_MODULE, &ret->modules[i], where, file, why);
		if (r == -ENOMEM)
			return r;
		bad = r < 0 ? r : bad;
	}
	return bad;
}

static int get_field(json_t *value, const struct field *f, void *to, const char *file,
		     struct verdicts *why)
{
	void *member = (char *)to + f->offset;

	switch (f->type) {
	case TEXT:
	case NULLABLE:
		return get_text(value, f, member);
	case BUFFER:
		return get_buffer(value, f, member);
	case WORDS:
		return get_words(value, f, member);
	case FLAG:
		return get_flag(value, member);
	case EXPORTS:
		return get_exports(value, to);
	case MODULES:
		return get_modules(value, to, file, why);
	}
	return -EINVAL;
}

/* -EBADMSG: something was wrong, and why says what. */
static int get_fields(const json_t *from, const struct field *fields, void *to, const char *where,
		      const char *file, struct verdicts *why)
{
	int bad = 0;

	for (const struct field *f = fields; f->key; f++) {
		json_t *value = json_object_get(from, f->key);
		int r = get_field(value, f, to, file, why);

		if (r == -ENOMEM)
			return r;
		if (r == -EINVAL)
			verdicts_no(why, REASON_TREE_INVALID, file, "%s%s: %s", where, f->key,
				    value ? "not such a value" : "missing");
		bad = r < 0 ? -EBADMSG : bad;
	}
	return bad;
}

int manifest_parse(const char *text, size_t len, const char *name, struct manifest *ret,
		   struct verdicts *why)
{
	_cleanup_manifest_ struct manifest m = { 0 };
	json_error_t error;
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	int r;

	if (!json) {
		verdicts_no(why, REASON_TREE_INVALID, name, "line %d, column %d: %s", error.line,
			    error.column, error.text);
		return -EBADMSG;
	}
	r = get_fields(json, TOP, &m, "", name, why);
	json_decref(json);
	if (r < 0)
		return r;
	*ret = m;
	m = (struct manifest){ 0 };
	return 0;
}

/* ---- to JSON: NULL is out of memory, or text that is not UTF-8 */

static json_t *put_fields(const struct field *fields, const void *from);

static json_t *put_words(char *const *words)
{
	json_t *list = json_array();

	for (; list && words && *words; words++)
		if (json_array_append_new(list, json_string(*words)) < 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *put_exports(const struct manifest_module *m)
{
	json_t *object = json_object();

	for (size_t i = 0; object && i < m->n_exports; i++) {
		json_t *crc = json_sprintf("0x%08x", m->exports[i].crc);

		if (json_object_set_new(object, m->exports[i].symbol, crc) < 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static json_t *put_modules(const struct manifest *m)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < m->n_modules; i++)
		if (json_array_append_new(list, put_fields(OF_MODULE, &m->modules[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *put_field(const struct field *f, const void *from)
{
	const void *member = (const char *)from + f->offset;

	switch (f->type) {
	case TEXT:
		return json_string(*(char *const *)member);
	case NULLABLE:
		return *(char *const *)member ? json_string(*(char *const *)member) : json_null();
	case BUFFER:
		return json_string(member);
	case WORDS:
		return put_words(*(char *const *const *)member);
	case FLAG:
		return json_boolean(*(const bool *)member);
	case EXPORTS:
		return put_exports(from);
	case MODULES:
		return put_modules(from);
	}
	return NULL;
}

static json_t *put_fields(const struct field *fields, const void *from)
{
	json_t *object = json_object();

	for (const struct field *f = fields; object && f->key; f++)
		if (json_object_set_new(object, f->key, put_field(f, from)) < 0) {
			json_decref(object);
			return NULL;
		}
	return object;
}

int manifest_format(const struct manifest *m, char **ret, size_t *ret_len)
{
	json_t *json = put_fields(TOP, m);
	_cleanup_free_ char *text = json ? json_dumps(json, JSON_SORT_KEYS | JSON_INDENT(1)) : NULL;
	char *lines;
	int len;

	json_decref(json);
	if (!text)
		return -ENOMEM;
	len = asprintf(&lines, "%s\n", text);
	if (len < 0)
		return -ENOMEM;
	*ret = lines;
	if (ret_len)
		*ret_len = (size_t)len;
	return 0;
}

static void module_clear(struct manifest_module *m)
{
	free(m->name);
	free(m->path);
	strv_free(m->depends);
	for (size_t i = 0; i < m->n_exports; i++)
		free(m->exports[i].symbol);
	free(m->exports);
}

void manifest_clear(struct manifest *m)
{
	free(m->name);
	free(m->version);
	free(m->kernel);
	free(m->arch);
	free(m->key);
	free(m->build_id);
	free(m->compiler);
	free(m->config_sha256);
	free(m->symvers_sha256);
	free(m->exposed_sha256);
	strv_free(m->vendors);
	strv_free(m->auxiliary);
	for (size_t i = 0; i < m->n_modules; i++)
		module_clear(&m->modules[i]);
	free(m->modules);
	*m = (struct manifest){ 0 };
}

/* ---- load order */

/* What the kernel takes for the same name. */
static bool same_name(const char *a, const char *b)
{
	while (*a && (*a == '-' ? '_' : *a) == (*b == '-' ? '_' : *b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static size_t find_from(const struct manifest *m, size_t from, const char *name)
{
	while (from < m->n_modules && !same_name(m->modules[from].name, name))
		from++;
	return from;
}

const struct manifest_module *manifest_find(const struct manifest *m, const char *name)
{
	size_t i = find_from(m, 0, name);

	return i < m->n_modules ? &m->modules[i] : NULL;
}

/* A dependency of module i that stands at `from` or behind it; n_modules if there is none. */
static size_t blocker(const struct manifest *m, size_t from, size_t i)
{
	for (char **name = m->modules[i].depends; name && *name; name++) {
		size_t at = find_from(m, from, *name);

		if (at < m->n_modules)
			return at;
	}
	return m->n_modules;
}

/*
 * All from `from` on are blocked: whoever follows one blocker after the other ends up in a
 * circle.
 */
static void name_cycle(const struct manifest *m, size_t from, struct verdicts *why)
{
	_cleanup_free_ char *names = NULL;
	size_t len, at = from, start;
	FILE *to;

	for (size_t i = from; i < m->n_modules; i++)
		at = blocker(m, from, at);
	start = at;
	to = open_memstream(&names, &len);
	if (to) {
		do {
			fprintf(to, "%s needs ", m->modules[at].name);
			at = blocker(m, from, at);
		} while (at != start);
		fputs(m->modules[start].name, to);
		(void)fclose(to);
	}
	verdicts_no(why, REASON_DEPENDENCY_CYCLE, m->modules[start].name, "%s",
		    names ?: "out of memory");
}

static int check_names(const struct manifest *m, struct verdicts *why)
{
	int r = 0;

	if (!m->n_modules) {
		verdicts_no(why, REASON_TREE_INVALID, m->name ?: "manifest", "no module in it");
		return -ENODATA;
	}
	for (size_t i = 0; i < m->n_modules; i++) {
		if (find_from(m, i + 1, m->modules[i].name) == m->n_modules)
			continue;
		verdicts_no(why, REASON_TREE_INVALID, m->modules[i].name, "named twice");
		r = -EEXIST;
	}
	return r;
}

static void move_to(struct manifest *m, size_t to, size_t from)
{
	struct manifest_module moved = m->modules[from];

	memmove(&m->modules[to + 1], &m->modules[to], (from - to) * sizeof(moved));
	m->modules[to] = moved;
}

int manifest_order(struct manifest *m, struct verdicts *why)
{
	int r = check_names(m, why);

	for (size_t done = 0; r == 0 && done < m->n_modules; done++) {
		size_t next = done;

		while (next < m->n_modules && blocker(m, done, next) < m->n_modules)
			next++;
		if (next == m->n_modules) {
			name_cycle(m, done, why);
			return -ELOOP;
		}
		move_to(m, done, next);
	}
	return r;
}
