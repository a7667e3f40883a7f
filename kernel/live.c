/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/live.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/parse.h"
#include "kernel/elf.h"
#include "kernel/modname.h"

enum { MAX_LIST = 4 << 20, MAX_NOTES = 64 << 10 };

/* ---- proc/modules */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * "ib_uverbs,rdma_cm," or "-" or "[permanent],", which is no holder but says that the module stays
 */
static int parse_holders(const char *text, struct live_module *m)
{
	char **from, **to;
	int r = parse_words(text, ",", &m->holders);

	if (r < 0)
		return r;
	for (from = to = m->holders; *from; from++) {
		bool permanent = strcmp(*from, "[permanent]") == 0;

		if (permanent)
			m->refcount = -1;
		if (permanent || strcmp(*from, "-") == 0)
			free(*from);
		else
			*to++ = *from;
	}
	*to = NULL;
	qsort(m->holders, (size_t)(to - m->holders), sizeof(*m->holders), by_text);
	return 0;
}

static int parse_refcount(const char *text, int *ret)
{
	uint64_t n;

	if (strcmp(text, "-") == 0) { /* a kernel without CONFIG_MODULE_UNLOAD */
		*ret = -1;
		return 0;
	}
	if (parse_u64(text, 10, 0, INT_MAX, &n) < 0)
		return -EBADMSG;
	*ret = (int)n;
	return 0;
}

static int parse_state(const char *text, enum module_state *ret)
{
	static const char *const states[] = {
		[MODULE_LIVE] = "Live",
		[MODULE_COMING] = "Loading",
		[MODULE_GOING] = "Unloading",
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		if (strcmp(states[i], text) == 0) {
			*ret = (enum module_state)i;
			return 0;
		}
	}
	return -EBADMSG;
}

/* "ib_core 450560 2 rdma_rxe,ib_uverbs, Live 0x0000000000000000 (OE)" */
static int parse_line(const char *line, struct live_module *m)
{
	_cleanup_strv_ char **words = NULL;
	size_t n = 0;
	int r = parse_words(line, " ", &words);

	if (r < 0)
		return r;
	while (words[n])
		n++;
	if (n < 5)
		return -EBADMSG;
	r = parse_refcount(words[2], &m->refcount);
	if (r == 0)
		r = parse_holders(words[3], m);
	if (r == 0)
		r = parse_state(words[4], &m->state);
	if (r < 0)
		return r;
	m->name = strdup(words[0]);
	return m->name ? 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct live_module *)a)->name, ((const struct live_module *)b)->name);
}

static int parse_list(const char *text, struct live *ret)
{
	_cleanup_strv_ char **lines = NULL;
	size_t n = 0;
	int r = parse_words(text, "\n", &lines);

	if (r < 0)
		return r;
	while (lines[n])
		n++;
	ret->m = calloc(n + 1, sizeof(*ret->m));
	if (!ret->m)
		return -ENOMEM;
	for (; r == 0 && ret->n < n; ret->n++)
		r = parse_line(lines[ret->n], &ret->m[ret->n]);
	if (r == 0)
		qsort(ret->m, n, sizeof(*ret->m), by_name);
	return r;
}

int live_read(const struct sysroot *root, struct live *ret)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_live_ struct live live = { 0 };
	int r = sysroot_read(root, "proc/modules", MAX_LIST, &text, NULL);

	if (r == 0)
		r = parse_list(text, &live);
	if (r < 0)
		return r;
	*ret = live;
	live = (struct live){ 0 };
	return 0;
}

void live_clear(struct live *live)
{
	for (size_t i = 0; i < live->n; i++) {
		free(live->m[i].name);
		strv_free(live->m[i].holders);
	}
	free(live->m);
	*live = (struct live){ 0 };
}

const struct live_module *live_find(const struct live *live, const char *name)
{
	_cleanup_free_ char *copy = strdup(name);
	const struct live_module key = { .name = copy };

	if (!copy || !live->n)
		return NULL;
	modname_normalize(copy);
	return bsearch(&key, live->m, live->n, sizeof(key), by_name);
}

/* ---- sys/module/NAME */

static int module_attr(const struct sysroot *root, const char *name, const char *attr, char **ret)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "sys/module/%s/%s", name, attr) < 0)
		return -ENOMEM;
	return sysroot_read_attr(root, path, ret);
}

/* What is built in has a directory too, but no initstate. */
static int need_live(const struct sysroot *root, const char *name)
{
	_cleanup_free_ char *state = NULL;
	int r = module_attr(root, name, "initstate", &state);

	if (r < 0)
		return r;
	return strcmp(state, "live") == 0 ? 0 : -ENOENT;
}

static int read_build_id(const struct sysroot *root, const char *name, struct identity *id)
{
	_cleanup_free_ char *path = NULL, *notes = NULL;
	size_t len;

	if (asprintf(&path, "sys/module/%s/notes/.note.gnu.build-id", name) < 0)
		return -ENOMEM;
	if (sysroot_read(root, path, MAX_NOTES, &notes, &len) == 0)
		(void)note_hex(notes, len, NT_GNU_BUILD_ID, id->build_id, sizeof(id->build_id));
	return 0;
}

int live_identity(const struct sysroot *root, const char *name, struct identity *ret)
{
	_cleanup_free_ char *src = NULL;
	struct identity id = { 0 };
	int r = need_live(root, name);

	if (r < 0)
		return r;
	r = module_attr(root, name, "srcversion", &src);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0 && strlen(src) >= sizeof(id.srcversion))
		return -EBADMSG;
	if (r == 0)
		memcpy(id.srcversion, src, strlen(src) + 1);
	r = read_build_id(root, name, &id);
	if (r == 0)
		*ret = id;
	return r;
}

int live_taint(const struct sysroot *root, const char *name, char **ret)
{
	return module_attr(root, name, "taint", ret);
}

static int read_parameter(const struct sysroot *root, const char *name, const char *parameter,
			  char **ret)
{
	_cleanup_free_ char *attr = NULL, *value = NULL;
	char *pair;
	int r;

	if (asprintf(&attr, "parameters/%s", parameter) < 0)
		return -ENOMEM;
	r = module_attr(root, name, attr, &value);
	if (r < 0)
		return r;
	if (asprintf(&pair, "%s=%s", parameter, value) < 0)
		return -ENOMEM;
	*ret = pair;
	return 0;
}

int live_parameters(const struct sysroot *root, const char *name, char ***ret)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_strv_ char **names = NULL, **pairs = NULL;
	size_t n = 0, got = 0;
	int r;

	if (asprintf(&path, "sys/module/%s/parameters", name) < 0)
		return -ENOMEM;
	r = sysroot_list(root, path, &names);
	if (r < 0 && r != -ENOENT)
		return r;
	while (names && names[n])
		n++;
	pairs = calloc(n + 1, sizeof(*pairs));
	if (!pairs)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		r = read_parameter(root, name, names[i], &pairs[got]);
		if (r == -ENOMEM)
			return r;
		got += r == 0; /* the others can be written only */
	}
	*ret = TAKE_PTR(pairs);
	return 0;
}
