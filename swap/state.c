/* SPDX-License-Identifier: Apache-2.0 */
#include "swap/state.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/live.h"
#include "kernel/pci.h"

enum { MAX_BEFORE = 4 << 20 };

void state_clear(struct state *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->m[i].name);
		free(s->m[i].params);
	}
	for (size_t i = 0; i < s->n_b; i++) {
		free(s->b[i].device);
		free(s->b[i].module);
	}
	free(s->m);
	free(s->b);
	free(s->boot_id);
	free(s->label);
	free(s->digest);
	*s = (struct state){ 0 };
}

static int init(struct state *s, const char *boot_id, const char *label, const char *digest)
{
	s->boot_id = strdup(boot_id);
	s->label = strdup(label);
	s->digest = strdup(digest);
	return s->boot_id && s->label && s->digest ? 0 : -ENOMEM;
}

/* id NULL: not live */
static int add_module(struct state *s, const char *name, const struct identity *id,
		      const char *params)
{
	struct state_module *m = reallocarray(s->m, s->n + 1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	s->m = m;
	m += s->n++;
	*m = (struct state_module){ .name = strdup(name), .live = id, .params = strdup(params) };
	if (id)
		m->id = *id;
	return m->name && m->params ? 0 : -ENOMEM;
}

static int add_binding(struct state *s, const char *device, const char *module)
{
	struct state_binding *b = reallocarray(s->b, s->n_b + 1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	s->b = b;
	b += s->n_b++;
	*b = (struct state_binding){ strdup(device), strdup(module) };
	return b->device && b->module ? 0 : -ENOMEM;
}

const struct state_module *state_find(const struct state *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->m[i].name, name) == 0)
			return &s->m[i];
	}
	return NULL;
}

/*
 * Not all that a parameter shows can be given back: "(null)" is a charp that is not set, and the
 * kernel's parser (kernel/params.c) knows quotes but no escapes.
 */
static bool can_be_given(const char *value)
{
	for (const char *c = value; *c; c++) {
		if (*c == '"' || !isprint((unsigned char)*c))
			return false;
	}
	return *value && strcmp(value, "(null)") != 0;
}

static int join_params(char **params, char **ret)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_fclose_ FILE *f = NULL;
	const char *blank = "";
	size_t len;

	f = open_memstream(&text, &len);
	if (!f)
		return -ENOMEM;
	for (; *params; params++) {
		const char *value = strchr(*params, '=');
		const char *quote;

		if (!value || !can_be_given(++value))
			continue;
		quote = strchr(value, ' ') ? "\"" : "";
		fprintf(f, "%s%.*s%s%s%s", blank, (int)(value - *params), *params, quote, value,
			quote);
		blank = " ";
	}
	if (fclose(TAKE_PTR(f)) != 0)
		return -ENOMEM;
	*ret = TAKE_PTR(text);
	return 0;
}

static int capture_module(const struct sysroot *root, const char *name, struct state *s)
{
	_cleanup_strv_ char **params = NULL;
	_cleanup_free_ char *text = NULL;
	struct identity id;
	int r = live_identity(root, name, &id);

	if (r == -ENOENT)
		return add_module(s, name, NULL, "");
	if (r == 0)
		r = live_parameters(root, name, &params);
	if (r == 0)
		r = join_params(params, &text);
	return r < 0 ? r : add_module(s, name, &id, text);
}

static int capture_bindings(const struct sysroot *root, struct state *s)
{
	_cleanup_pci_ struct pci_devices devices = { 0 };
	int r = pci_read(root, &devices);

	if (r < 0)
		return r == -ENOENT ? 0 : r; /* no PCI here */
	for (const struct pci_device *d = devices.d; r == 0 && d < devices.d + devices.n; d++) {
		if (d->module && state_find(s, d->module))
			r = add_binding(s, d->address, d->module);
	}
	return r;
}

int state_capture(const struct sysroot *root, char *const names[], const char *boot_id,
		  const char *label, struct state *ret)
{
	_cleanup_state_ struct state s = { 0 };
	int r = init(&s, boot_id, label, "");

	for (; r == 0 && *names; names++)
		r = capture_module(root, *names, &s);
	if (r == 0)
		r = capture_bindings(root, &s);
	if (r < 0)
		return r;
	*ret = s;
	s = (struct state){ 0 };
	return 0;
}

static bool was_live(const struct state *before, const char *name)
{
	const struct state_module *m = before ? state_find(before, name) : NULL;

	return m && m->live;
}

static int is_wanted(const struct sysroot *root, const struct manifest_module *m,
		     const struct state *before, bool *ret)
{
	struct identity id;
	int r = 0;

	if (m->optional && !was_live(before, m->name)) {
		r = live_identity(root, m->name, &id);
		if (r < 0 && r != -ENOENT)
			return r;
	}
	*ret = r == 0;
	return 0;
}

int state_of_tree(const struct sysroot *root, const struct manifest *m, const char *digest,
		  const char *boot_id, const struct state *before, struct state *ret)
{
	_cleanup_state_ struct state s = { 0 };
	_cleanup_free_ char *label = NULL;
	int r;

	if (asprintf(&label, "%s %s", m->name, m->version) < 0)
		return -ENOMEM;
	r = init(&s, boot_id, label, digest);
	for (size_t i = 0; r == 0 && i < m->n_modules; i++) {
		bool wanted = false;

		r = is_wanted(root, &m->modules[i], before, &wanted);
		if (r == 0 && wanted)
			r = add_module(&s, m->modules[i].name, &m->modules[i].id, "");
	}
	if (r < 0)
		return r;
	*ret = s;
	s = (struct state){ 0 };
	return 0;
}

int state_extend(struct state *s, const struct state *other)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < other->n; i++) {
		if (!state_find(s, other->m[i].name))
			r = add_module(s, other->m[i].name, NULL, "");
	}
	return r;
}

int state_adopt(struct state *s, const struct state *other)
{
	int r = 0;

	for (const struct state_module *m = other->m; r == 0 && m < other->m + other->n; m++) {
		if (!state_find(s, m->name))
			r = add_module(s, m->name, m->live ? &m->id : NULL, m->params);
	}
	return r;
}

bool state_is_live(const struct sysroot *root, const struct state *s)
{
	for (const struct state_module *m = s->m; m < s->m + s->n; m++) {
		struct identity id;
		int r = live_identity(root, m->name, &id);

		if (m->live ? r < 0 || !identity_same(&id, &m->id) : r != -ENOENT)
			return false;
	}
	return true;
}

static json_t *module_to_json(const struct state_module *m)
{
	if (!m->live)
		return json_pack("{s:s, s:b}", "name", m->name, "live", 0);
	return json_pack("{s:s, s:b, s:s, s:s, s:s}", "name", m->name, "live", 1, "srcversion",
			 m->id.srcversion, "build_id", m->id.build_id, "params", m->params);
}

json_t *state_to_json(const struct state *s)
{
	json_auto_t *modules = json_array(), *bound = json_array();
	int r = modules && bound ? 0 : -1;

	for (size_t i = 0; r == 0 && i < s->n; i++)
		r = json_array_append_new(modules, module_to_json(&s->m[i]));
	for (size_t i = 0; r == 0 && i < s->n_b; i++)
		r = json_array_append_new(bound, json_pack("{s:s, s:s}", "device", s->b[i].device,
							   "module", s->b[i].module));
	if (r < 0)
		return NULL;
	return json_pack("{s:s, s:s, s:s, s:O, s:O}", "boot", s->boot_id, "label", s->label,
			 "digest", s->digest, "modules", modules, "bound", bound);
}

static int put_text(char *to, size_t size, const char *text)
{
	if (strlen(text) >= size)
		return -EBADMSG;
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

/* Names become paths in sysfs. */
static bool is_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

static int module_from_json(json_t *json, struct state *s)
{
	const char *name, *srcversion = "", *build_id = "", *params = "";
	struct identity id = { 0 };
	int live;

	if (json_unpack(json, "{s:s, s:b, s?s, s?s, s?s}", "name", &name, "live", &live,
			"srcversion", &srcversion, "build_id", &build_id, "params", &params) < 0 ||
	    !is_name(name))
		return -EBADMSG;
	if (put_text(id.srcversion, sizeof(id.srcversion), srcversion) < 0 ||
	    put_text(id.build_id, sizeof(id.build_id), build_id) < 0)
		return -EBADMSG;
	return add_module(s, name, live ? &id : NULL, params);
}

static int binding_from_json(json_t *json, struct state *s)
{
	const char *device, *module;

	if (json_unpack(json, "{s:s, s:s}", "device", &device, "module", &module) < 0 ||
	    !is_name(device) || !is_name(module))
		return -EBADMSG;
	return add_binding(s, device, module);
}

int state_from_json(const json_t *json, struct state *ret)
{
	_cleanup_state_ struct state s = { 0 };
	const char *boot, *label, *digest;
	json_t *modules, *bound;
	int r;

	/* json_unpack() only reads, in spite of its type. */
	if (json_unpack((json_t *)(uintptr_t)json, "{s:s, s:s, s:s, s:o, s:o}", "boot", &boot,
			"label", &label, "digest", &digest, "modules", &modules, "bound",
			&bound) < 0 ||
	    !json_is_array(modules) || !json_is_array(bound))
		return -EBADMSG;
	r = init(&s, boot, label, digest);
	for (size_t i = 0; r == 0 && i < json_array_size(modules); i++)
		r = module_from_json(json_array_get(modules, i), &s);
	for (size_t i = 0; r == 0 && i < json_array_size(bound); i++)
		r = binding_from_json(json_array_get(bound, i), &s);
	if (r < 0)
		return r;
	*ret = s;
	s = (struct state){ 0 };
	return 0;
}

static int before_path(const char *owner, char **ret)
{
	return asprintf(ret, "run/gdrkit/before.%s", owner) < 0 ? -ENOMEM : 0;
}

int state_read_before(const struct sysroot *root, const char *owner, const char *boot_id,
		      struct state *ret)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	_cleanup_state_ struct state s = { 0 };
	json_auto_t *json = NULL;
	size_t len;
	int r = before_path(owner, &path);

	if (r == 0)
		r = sysroot_read(root, path, MAX_BEFORE, &text, &len);
	if (r < 0)
		return r;
	json = json_loadb(text, len, 0, NULL);
	if (!json)
		return -EBADMSG;
	r = state_from_json(json, &s);
	if (r < 0)
		return r;
	if (strcmp(s.boot_id, boot_id) != 0)
		return -ENOENT;
	*ret = s;
	s = (struct state){ 0 };
	return 0;
}

int state_write_before(const struct sysroot *root, const char *owner, const struct state *s)
{
	_cleanup_state_ struct state there = { 0 };
	_cleanup_free_ char *path = NULL, *text = NULL;
	json_auto_t *json = NULL;
	int r = state_read_before(root, owner, s->boot_id, &there);

	if (r != -ENOENT)
		return r;
	r = before_path(owner, &path);
	if (r < 0)
		return r;
	json = state_to_json(s);
	text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	if (!text)
		return -ENOMEM;
	return sysroot_replace(root, path, 0600, text, strlen(text));
}
