/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/symtab.h"

#include <elf.h>
#include <string.h>

enum { VERSION_SIZE = 64 }; /* sizeof(struct modversion_info), of both classes */

/* ---- CRCs of imports */

struct version {
	const char *name; /* in the file */
	uint32_t crc;
};

struct versions {
	struct version *v;
	size_t n;
	bool any;
};

static void versions_clear(struct versions *vs)
{
	free(vs->v);
}

static int versions_room(struct versions *vs, size_t more)
{
	struct version *v = reallocarray(vs->v, vs->n + more + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	vs->v = v;
	return 0;
}

static int read_basic(const struct elf *elf, struct versions *vs)
{
	size_t word = elf->bits / 8;
	struct elf_section s;

	if (elf_section(elf, "__versions", &s) < 0)
		return 0;
	vs->any = true;
	if (s.len % VERSION_SIZE)
		return -EBADMSG;
	if (versions_room(vs, s.len / VERSION_SIZE) < 0)
		return -ENOMEM;
	for (const uint8_t *p = s.data; p < s.data + s.len; p += VERSION_SIZE) {
		const char *name = (const char *)p + word;
		uint64_t crc64;
		uint32_t crc;

		if (!memchr(name, '\0', VERSION_SIZE - word))
			return -EBADMSG;
		memcpy(&crc64, p, sizeof(crc64));
		memcpy(&crc, p, sizeof(crc));
		vs->v[vs->n++] = (struct version){ name, word == 8 ? (uint32_t)crc64 : crc };
	}
	return 0;
}

static int read_extended(const struct elf *elf, struct versions *vs)
{
	struct elf_section crcs, names;
	const char *p, *end;

	if (elf_section(elf, "__version_ext_crcs", &crcs) < 0 ||
	    elf_section(elf, "__version_ext_names", &names) < 0)
		return 0;
	vs->any = true;
	if (crcs.len % sizeof(uint32_t) || (names.len && names.data[names.len - 1] != '\0'))
		return -EBADMSG;
	if (versions_room(vs, crcs.len / sizeof(uint32_t)) < 0)
		return -ENOMEM;
	p = (const char *)names.data;
	end = p + names.len;
	for (size_t i = 0; i < crcs.len; i += sizeof(uint32_t)) {
		uint32_t crc;

		if (p == end)
			return -EBADMSG;
		memcpy(&crc, crcs.data + i, sizeof(crc));
		vs->v[vs->n++] = (struct version){ p, crc };
		p += strlen(p) + 1;
	}
	return 0;
}

static int version_by_name(const void *a, const void *b)
{
	return strcmp(((const struct version *)a)->name, ((const struct version *)b)->name);
}

static int read_versions(const struct elf *elf, struct versions *vs)
{
	int r = read_basic(elf, vs);

	if (r == 0)
		r = read_extended(elf, vs);
	if (r == 0 && vs->n)
		qsort(vs->v, vs->n, sizeof(*vs->v), version_by_name);
	return r;
}

static void take_crc(struct import *imp, const struct versions *vs)
{
	const struct version key = { .name = imp->name };
	const struct version *v = NULL;

	if (vs->n)
		v = bsearch(&key, vs->v, vs->n, sizeof(*v), version_by_name);
	if (v) {
		imp->crc = v->crc;
		imp->has_crc = true;
	}
}

/* ---- imports */

static int import_by_name(const void *a, const void *b)
{
	return strcmp(((const struct import *)a)->name, ((const struct import *)b)->name);
}

/*
 * What the kernel does not look up either: ignore_undef_symbol(), the TOC of ppc64, and CRCs that
 * modpost left open.
 */
static bool is_import(const struct elf_symbol *s)
{
	return s->section == SHN_UNDEF && *s->name && strncmp(s->name, "__crc_", 6) != 0 &&
	       strcmp(s->name, "_GLOBAL_OFFSET_TABLE_") != 0 && strcmp(s->name, ".TOC.") != 0;
}

static int add_import(const struct elf_symbol *s, const struct versions *vs, struct arena *names,
		      struct import *ret)
{
	struct import imp = {
		.name = arena_text(names, s->name, strlen(s->name)),
		.weak = s->bind == STB_WEAK,
	};

	if (!imp.name)
		return -ENOMEM;
	take_crc(&imp, vs);
	*ret = imp;
	return 0;
}

int symtab_imports(const struct elf *elf, struct arena *names, struct import **ret, size_t *ret_n,
		   bool *ret_versions)
{
	_cleanup_free_ struct import *imports = calloc(elf_symbol_count(elf) + 1, sizeof(*imports));
	_cleanup_(versions_clear) struct versions vs = { 0 };
	const struct elf_symbol layout = { .name = "module_layout" };
	struct elf_symbol s;
	size_t n = 0;
	int r = imports ? read_versions(elf, &vs) : -ENOMEM;

	for (size_t i = 1; r == 0 && i < elf_symbol_count(elf); i++) {
		r = elf_symbol(elf, i, &s);
		if (r == 0 && is_import(&s))
			r = add_import(&s, &vs, names, &imports[n++]);
	}
	if (r == 0)
		r = add_import(&layout, &vs, names, &imports[n]);
	if (r < 0)
		return r;
	if (imports[n].has_crc)
		n++;
	qsort(imports, n, sizeof(*imports), import_by_name);
	*ret = TAKE_PTR(imports);
	*ret_n = n;
	*ret_versions = vs.any;
	return 0;
}

/* ---- exports */

static int export_by_name(const void *a, const void *b)
{
	return strcmp(((const struct export *)a)->name, ((const struct export *)b)->name);
}

/* The rest of the text behind `prefix`, NULL if it does not begin with it. */
static const char *behind(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

/* The bytes that a label points at, to the end of its section. */
static int label_target(const struct elf *elf, const struct elf_symbol *s, struct elf_section *ret)
{
	struct elf_section at;
	int r = elf_section_at(elf, s->section, &at);

	if (r < 0 || s->value > at.len)
		return -EBADMSG;
	at.data += s->value;
	at.len -= s->value;
	*ret = at;
	return 0;
}

static int label_crc(const struct elf *elf, const struct elf_symbol *s, struct export *ex)
{
	struct elf_section at;

	if (s->section == SHN_UNDEF)
		return 0;
	if (s->section == SHN_ABS) {
		ex->crc = (uint32_t)s->value;
	} else {
		if (label_target(elf, s, &at) < 0 || at.len < sizeof(ex->crc))
			return -EBADMSG;
		memcpy(&ex->crc, at.data, sizeof(ex->crc));
	}
	ex->has_crc = true;
	return 0;
}

static int label_namespace(const struct elf *elf, const struct elf_symbol *s, struct arena *names,
			   struct export *ex)
{
	struct elf_section at;
	size_t len;

	if (label_target(elf, s, &at) < 0)
		return -EBADMSG;
	len = strnlen((const char *)at.data, at.len);
	if (len == at.len)
		return -EBADMSG;
	if (len == 0)
		return 0;
	ex->ns = arena_text(names, (const char *)at.data, len);
	return ex->ns ? 0 : -ENOMEM;
}

static int label_flags(const struct elf *elf, const struct elf_symbol *s, struct export *ex)
{
	struct elf_section at;

	if (label_target(elf, s, &at) < 0 || at.len < 1)
		return -EBADMSG;
	if (strcmp(at.name, "__kflagstab") == 0 && (*at.data & 1))
		ex->gpl = true;
	return 0;
}

/* A label that tells more of an export that is in the list. */
static int describe(const struct elf *elf, const struct elf_symbol *s, struct arena *names,
		    struct export *exports, size_t n)
{
	const char *crc = behind(s->name, "__crc_"), *ns = behind(s->name, "__kstrtabns_");
	const char *flags = behind(s->name, "__flags_");
	const struct export key = { .name = crc ? crc : ns ? ns : flags };
	struct export *ex;

	if (!key.name || !n)
		return 0;
	ex = bsearch(&key, exports, n, sizeof(*exports), export_by_name);
	if (!ex)
		return 0;
	if (crc)
		return label_crc(elf, s, ex);
	return ns ? label_namespace(elf, s, names, ex) : label_flags(elf, s, ex);
}

static int add_export(const struct elf *elf, const struct elf_symbol *s, const char *name,
		      struct arena *names, struct export *ret)
{
	struct elf_section in;

	if (elf_section_at(elf, s->section, &in) < 0)
		return -EBADMSG;
	*ret = (struct export){
		.name = arena_text(names, name, strlen(name)),
		.gpl = strcmp(in.name, "__ksymtab_gpl") == 0,
	};
	return ret->name ? 0 : -ENOMEM;
}

int symtab_exports(const struct elf *elf, struct arena *names, struct export **ret, size_t *ret_n)
{
	_cleanup_free_ struct export *exports = calloc(elf_symbol_count(elf) + 1, sizeof(*exports));
	struct elf_symbol s;
	size_t n = 0;
	int r = exports ? 0 : -ENOMEM;

	for (size_t i = 1; r == 0 && i < elf_symbol_count(elf); i++) {
		const char *name;

		r = elf_symbol(elf, i, &s);
		name = r == 0 ? behind(s.name, "__ksymtab_") : NULL;
		if (name && *name && s.section != SHN_UNDEF)
			r = add_export(elf, &s, name, names, &exports[n++]);
	}
	if (r == 0 && n)
		qsort(exports, n, sizeof(*exports), export_by_name);
	for (size_t i = 1; r == 0 && i < elf_symbol_count(elf); i++) {
		r = elf_symbol(elf, i, &s);
		if (r == 0)
			r = describe(elf, &s, names, exports, n);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(exports);
	*ret_n = n;
	return 0;
}
