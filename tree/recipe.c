/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/recipe.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <yaml.h>

#include "common/digest.h"
#include "common/spelling.h"
#include "tree/placeholder.h"

#define FILE_MAX ((size_t)256 << 10)
/* Aliases make a short file a long list: more is a mistake, or malice. */
#define LIST_MAX 512

struct reader {
	const char *file, *text;
	size_t len;
	yaml_document_t *doc;
	struct verdicts *why;
	struct recipe *recipe;
	bool bad;
	const yaml_node_t **modules; /* named so far, in any list */
	size_t n_modules;
};

static void __attribute__((format(printf, 3, 4)))
fault(struct reader *rd, yaml_mark_t mark, const char *fmt, ...)
{
	_cleanup_free_ char *object = NULL, *detail = NULL;
	va_list args;

	rd->bad = true;
	if (asprintf(&object, "%s:%zu:%zu", rd->file, mark.line + 1, mark.column + 1) < 0)
		object = NULL;
	va_start(args, fmt);
	if (vasprintf(&detail, fmt, args) < 0)
		detail = NULL;
	va_end(args);
	verdicts_no(rd->why, REASON_RECIPE_INVALID, object ?: rd->file, "%s", detail ?: fmt);
}

/* ---- what a word may look like */

static bool made_of(const char *word, const char *more)
{
	for (const char *c = word; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(more, *c))
			return false;
	return isalnum((unsigned char)*word);
}

static const char *not_name(const char *word)
{
	bool upper = false;

	for (const char *c = word; *c; c++)
		upper |= isupper((unsigned char)*c) != 0;
	return !upper && made_of(word, "_-") && strlen(word) <= 64 ? NULL
								   : "is not a name of [a-z0-9_-]";
}

static const char *not_version(const char *word)
{
	return made_of(word, ".+~_-") && strlen(word) <= 64
		       ? NULL
		       : "is not a version of [A-Za-z0-9.+~_-]";
}

static const char *not_vendor(const char *word)
{
	return strlen(word) == 4 && strspn(word, "0123456789abcdefABCDEF") == 4
		       ? NULL
		       : "is not a PCI vendor of four hex digits";
}

static const char *not_module(const char *word)
{
	return made_of(word, "_-") && strlen(word) < 56 /* MODULE_NAME_LEN */
		       ? NULL
		       : "is not a module's name";
}

static const char *not_below(const char *word)
{
	if (*word == '/')
		return "leads out of the source: it is absolute";
	for (const char *part = word;; part++) {
		size_t len = strcspn(part, "/");

		if (len == 0)
			return *word ? "has an empty part" : "is empty";
		if (len == 2 && !strncmp(part, "..", 2))
			return "leads out of the source by \"..\"";
		part += len;
		if (!*part)
			break;
	}
	return strpbrk(word, " \t\n:#$'\"\\") ? "has a character that make takes for more" : NULL;
}

/* The source itself would lie over the symbols that are exposed. */
static const char *not_include(const char *word)
{
	const char *wrong = not_below(word);

	return wrong || word[strspn(word, "./")] ? wrong : "is the source itself";
}

/* Of its placeholders: check_placeholders. */
static const char *not_word(const char *word)
{
	return *word ? NULL : "is no word";
}

/* ---- the keys */

enum type { TEXT, WORDS, COMMANDS, BUILD };

struct key {
	const char *name;
	enum type type;
	bool needed, filled;                    /* filled: a list must not be empty */
	const char *(*wrong)(const char *word); /* NULL: nothing; else how "the word" goes on */
	size_t offset;
};

#define AT(member) offsetof(struct recipe, member)

static const struct key TOP[] = {
	{ "name", TEXT, true, false, not_name, AT(name) },
	{ "version", TEXT, true, false, not_version, AT(version) },
	{ "vendors", WORDS, false, false, not_vendor, AT(vendors) },
	{ "modules", WORDS, true, true, not_module, AT(modules) },
	{ "optional", WORDS, false, false, not_module, AT(optional) },
	{ "auxiliary", WORDS, false, false, not_module, AT(auxiliary) },
	{ "include", WORDS, false, false, not_include, AT(include) },
	{ "build", BUILD, true, false, NULL, 0 },
	{ 0 },
};

static const struct key IN_BUILD[] = {
	{ "kbuild", WORDS, false, true, not_below, AT(kbuild) },
	{ "flags", WORDS, false, false, not_word, AT(flags) },
	{ "commands", COMMANDS, false, true, not_word, AT(commands) },
	{ "symvers", TEXT, false, false, not_below, AT(symvers) },
	{ 0 },
};

static void *member(struct recipe *r, const struct key *key)
{
	return (char *)r + key->offset;
}

static void unknown_key(struct reader *rd, const yaml_node_t *node, const struct key *keys,
			const char *word)
{
	const struct key *near = spelling_nearest(word, keys, sizeof(*keys));

	if (near)
		fault(rd, node->start_mark, "unknown key %s: did you mean %s?", word, near->name);
	else
		fault(rd, node->start_mark, "unknown key %s", word);
}

/* ---- values. They return -ENOMEM, or 0 also where a fault was found: all of them are wanted. */

static int read_map(struct reader *rd, yaml_node_t *node, const struct key *keys);

static const yaml_node_t *first_named(const struct reader *rd, const yaml_node_t *node)
{
	for (size_t i = 0; i < rd->n_modules; i++)
		if (!strcmp((const char *)rd->modules[i]->data.scalar.value,
			    (const char *)node->data.scalar.value))
			return rd->modules[i];
	return NULL;
}

static int note_module(struct reader *rd, yaml_node_t *node)
{
	const yaml_node_t *before;
	const yaml_node_t **more;

	for (yaml_char_t *c = node->data.scalar.value; *c; c++)
		if (*c == '-')
			*c = '_';
	before = first_named(rd, node);
	if (before) {
		fault(rd, node->start_mark, "module %s is named twice, first at %zu:%zu",
		      node->data.scalar.value, before->start_mark.line + 1,
		      before->start_mark.column + 1);
		return 0;
	}
	more = reallocarray(rd->modules, rd->n_modules + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	rd->modules = more;
	rd->modules[rd->n_modules++] = node;
	return 0;
}

static size_t characters(const char *text, size_t bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/*
 * Where byte `at` of a scalar is; where it begins, if it is not written as it is read (escapes,
 * several lines, an anchor before it).
 */
static yaml_mark_t mark_in(const yaml_node_t *node, size_t at)
{
	const char *word = (const char *)node->data.scalar.value;
	yaml_mark_t mark = node->start_mark;
	yaml_scalar_style_t style = node->data.scalar.style;
	size_t quote = style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
		       style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;

	if (node->end_mark.line == mark.line &&
	    node->end_mark.index - mark.index == characters(word, strlen(word)) + 2 * quote)
		mark.column += quote + characters(word, at);
	return mark;
}

static int check_placeholders(struct reader *rd, const yaml_node_t *node, const struct key *key)
{
	const char *word = (const char *)node->data.scalar.value;

	for (size_t at = 0;; at++) {
		_cleanup_free_ char *what = NULL;
		int r = placeholder_mistake(word, &at, &what);

		if (r <= 0)
			return r;
		fault(rd, mark_in(node, at), "%s: %s", key->name, what);
	}
}

/* -EINVAL: a fault was found; the word is not to be used. */
static int check_text(struct reader *rd, const yaml_node_t *node, const struct key *key)
{
	const char *word = (const char *)node->data.scalar.value;
	const char *wrong;

	if (node->type != YAML_SCALAR_NODE) {
		fault(rd, node->start_mark, "%s: text is wanted here", key->name);
		return -EINVAL;
	}
	wrong = strlen(word) != node->data.scalar.length ? "has a NUL" : key->wrong(word);
	if (wrong) {
		fault(rd, node->start_mark, "%s: \"%s\" %s", key->name, word, wrong);
		return -EINVAL;
	}
	return key->wrong == not_word ? check_placeholders(rd, node, key) : 0;
}

static int read_text(struct reader *rd, yaml_node_t *node, const struct key *key, char **ret)
{
	int r = check_text(rd, node, key);

	if (r < 0)
		return r == -EINVAL ? 0 : r;
	if (key->wrong == not_module && note_module(rd, node) < 0)
		return -ENOMEM;
	*ret = strdup((const char *)node->data.scalar.value);
	if (!*ret)
		return -ENOMEM;
	if (key->wrong == not_vendor)
		for (char *c = *ret; *c; c++)
			*c = (char)tolower((unsigned char)*c);
	return 0;
}

/* How many items; 0 with a fault if it is no list, an empty or an endless one. */
static size_t list_length(struct reader *rd, const yaml_node_t *node, const struct key *key)
{
	size_t n;

	if (node->type != YAML_SEQUENCE_NODE) {
		fault(rd, node->start_mark, "%s: a list is wanted here", key->name);
		return 0;
	}
	n = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
	if (n > LIST_MAX)
		fault(rd, node->start_mark, "%s: more than %d items", key->name, LIST_MAX);
	else if (n == 0 && key->filled)
		fault(rd, node->start_mark, "%s: the list is empty", key->name);
	return n > LIST_MAX ? 0 : n;
}

static yaml_node_t *item(const struct reader *rd, const yaml_node_t *list, size_t i)
{
	return yaml_document_get_node(rd->doc, list->data.sequence.items.start[i]);
}

static int read_words(struct reader *rd, yaml_node_t *node, const struct key *key, char ***ret)
{
	size_t n = list_length(rd, node, key), kept = 0;
	_cleanup_strv_ char **words = calloc(n + 1, sizeof(*words));

	if (!words)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (read_text(rd, item(rd, node, i), key, &words[kept]) < 0)
			return -ENOMEM;
		kept += words[kept] != NULL;
	}
	*ret = TAKE_PTR(words);
	return 0;
}

static int read_commands(struct reader *rd, yaml_node_t *node, const struct key *key, char ****ret)
{
	size_t n = list_length(rd, node, key);

	*ret = calloc(n + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (read_words(rd, item(rd, node, i), key, &(*ret)[i]) < 0)
			return -ENOMEM;
	return 0;
}

static int read_build(struct reader *rd, yaml_node_t *node)
{
	const struct recipe *r = rd->recipe;

	if (read_map(rd, node, IN_BUILD) < 0)
		return -ENOMEM;
	if (node->type != YAML_MAPPING_NODE)
		return 0;
	if (!r->kbuild == !r->commands)
		fault(rd, node->start_mark, "build: one of kbuild and commands is wanted");
	if (r->flags && !r->kbuild)
		fault(rd, node->start_mark,
		      "build: flags belong to kbuild; commands have their own");
	if (r->symvers && !r->commands)
		fault(rd, node->start_mark,
		      "build: symvers belongs to commands; kbuild has its own");
	return 0;
}

static int read_value(struct reader *rd, yaml_node_t *node, const struct key *key)
{
	switch (key->type) {
	case TEXT:
		return read_text(rd, node, key, member(rd->recipe, key));
	case WORDS:
		return read_words(rd, node, key, member(rd->recipe, key));
	case COMMANDS:
		return read_commands(rd, node, key, member(rd->recipe, key));
	case BUILD:
		return read_build(rd, node);
	}
	return 0;
}

static int read_pair(struct reader *rd, const struct key *keys, const yaml_node_pair_t *pair,
		     unsigned *seen)
{
	yaml_node_t *name = yaml_document_get_node(rd->doc, pair->key);
	yaml_node_t *value = yaml_document_get_node(rd->doc, pair->value);
	const struct key *k = keys;
	const char *word;

	if (name->type != YAML_SCALAR_NODE) {
		fault(rd, name->start_mark, "a key is wanted here");
		return 0;
	}
	word = (const char *)name->data.scalar.value;
	while (k->name && strcmp(k->name, word))
		k++;
	if (!k->name) {
		unknown_key(rd, name, keys, word);
		return 0;
	}
	if (*seen & 1U << (k - keys)) {
		fault(rd, name->start_mark, "key %s is there twice", word);
		return 0;
	}
	*seen |= 1U << (k - keys);
	return read_value(rd, value, k);
}

static int read_map(struct reader *rd, yaml_node_t *node, const struct key *keys)
{
	unsigned seen = 0;

	if (node->type != YAML_MAPPING_NODE) {
		fault(rd, node->start_mark, "keys with values are wanted here");
		return 0;
	}
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++)
		if (read_pair(rd, keys, pair, &seen) < 0)
			return -ENOMEM;
	for (const struct key *k = keys; k->name; k++)
		if (k->needed && !(seen & 1U << (k - keys)))
			fault(rd, node->start_mark, "key %s is missing", k->name);
	return 0;
}

/* ---- the document */

/* What cannot be read as characters has an offset only. */
static yaml_mark_t mark_of(const struct reader *rd, size_t offset)
{
	yaml_mark_t mark = { 0 };

	for (size_t i = 0; i < offset && i < rd->len; i++) {
		mark.column = rd->text[i] == '\n' ? 0 : mark.column + 1;
		mark.line += rd->text[i] == '\n';
	}
	return mark;
}

static int syntax_fault(struct reader *rd, const yaml_parser_t *parser)
{
	yaml_mark_t mark = parser->error == YAML_READER_ERROR ? mark_of(rd, parser->problem_offset)
							      : parser->problem_mark;

	if (parser->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	fault(rd, mark, "%s%s%s", parser->problem ?: "not YAML", parser->context ? " " : "",
	      parser->context ?: "");
	return 0;
}

static int read_document(struct reader *rd, yaml_parser_t *parser)
{
	yaml_node_t *top = yaml_document_get_root_node(rd->doc);
	yaml_document_t second;
	int r;

	if (!top) {
		fault(rd, parser->mark, "the file is empty");
		return 0;
	}
	r = read_map(rd, top, TOP);
	if (r < 0)
		return r;
	if (!yaml_parser_load(parser, &second))
		return syntax_fault(rd, parser);
	top = yaml_document_get_root_node(&second);
	if (top)
		fault(rd, top->start_mark, "a second document");
	yaml_document_delete(&second);
	return 0;
}

static int read_yaml(struct reader *rd)
{
	yaml_parser_t parser;
	yaml_document_t doc;
	int r;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)rd->text, rd->len);
	if (yaml_parser_load(&parser, &doc)) {
		rd->doc = &doc;
		r = read_document(rd, &parser);
		yaml_document_delete(&doc);
	} else {
		r = syntax_fault(rd, &parser);
	}
	yaml_parser_delete(&parser);
	return r;
}

/* So that nobody has to ask whether a list is there. */
static int fill_lists(struct recipe *r)
{
	char ***lists[] = { &r->vendors, &r->optional, &r->auxiliary,
			    &r->include, &r->kbuild,   &r->flags };

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		if (!*lists[i])
			*lists[i] = calloc(1, sizeof(**lists[i]));
		if (!*lists[i])
			return -ENOMEM;
	}
	if (!r->commands)
		r->commands = calloc(1, sizeof(*r->commands));
	return r->commands ? 0 : -ENOMEM;
}

int recipe_parse(const char *text, size_t len, const char *name, struct recipe *ret,
		 struct verdicts *why)
{
	_cleanup_recipe_ struct recipe recipe = { 0 };
	struct reader rd = {
		.file = name, .text = text, .len = len, .why = why, .recipe = &recipe
	};
	int r = read_yaml(&rd);

	free(rd.modules);
	if (r < 0)
		return r;
	if (rd.bad)
		return -EINVAL;
	r = fill_lists(&recipe);
	if (r == 0)
		r = digest_of(text, len, recipe.digest);
	if (r < 0)
		return r;
	*ret = recipe;
	recipe = (struct recipe){ 0 };
	return 0;
}

int recipe_read(const struct sysroot *root, const char *path, struct recipe *ret,
		struct verdicts *why)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = sysroot_read(root, path, FILE_MAX, &text, &len);

	if (r < 0) {
		verdicts_no(why, REASON_RECIPE_INVALID, path, "cannot be read: %s", strerror(-r));
		return r;
	}
	return recipe_parse(text, len, path, ret, why);
}

void recipe_clear(struct recipe *r)
{
	free(r->name);
	free(r->version);
	strv_free(r->vendors);
	strv_free(r->modules);
	strv_free(r->optional);
	strv_free(r->auxiliary);
	strv_free(r->include);
	strv_free(r->kbuild);
	strv_free(r->flags);
	for (char ***c = r->commands; c && *c; c++)
		strv_free(*c);
	free(r->commands);
	free(r->symvers);
	*r = (struct recipe){ 0 };
}
