/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/ready.h"

#include <string.h>
#include <time.h>

#include "common/parse.h"
#include "kernel/live.h"

#define FILE_MAX ((size_t)256 << 10)
#define MODULE_KEY "SRCVERSION_"
#define BUILD_ID "build-id:"

struct key {
	const char *name;
	size_t offset;
};

static const struct key KEYS[] = {
	{ "BOOT_ID", offsetof(struct ready, boot_id) },
	{ "KERNEL", offsetof(struct ready, kernel) },
	{ "DRIVER", offsetof(struct ready, driver) },
	{ "DRIVER_VERSION", offsetof(struct ready, version) },
	{ "REVISION", offsetof(struct ready, revision) },
	{ "TREE_DIGEST", offsetof(struct ready, tree_digest) },
	{ "STARTED", offsetof(struct ready, started) },
	{ "READY", offsetof(struct ready, ready) },
};
#define N_KEYS (sizeof(KEYS) / sizeof(*KEYS))

static char **member(const struct ready *r, const struct key *key)
{
	return (char **)((char *)(uintptr_t)r + key->offset);
}

/* ---- reading */

static int set_member(struct ready *r, const struct key *key, const char *value)
{
	char **to = member(r, key);

	if (*to) /* there twice */
		return -EBADMSG;
	*to = strdup(value);
	return *to ? 0 : -ENOMEM;
}

static int set_identity(struct identity *id, const char *value)
{
	bool is_build_id = !strncmp(value, BUILD_ID, strlen(BUILD_ID));
	char *to = is_build_id ? id->build_id : id->srcversion;
	size_t size = is_build_id ? sizeof(id->build_id) : sizeof(id->srcversion);

	if (is_build_id)
		value += strlen(BUILD_ID);
	if (!*value || strlen(value) >= size)
		return -EBADMSG;
	memcpy(to, value, strlen(value) + 1);
	return 0;
}

static int add_module(struct ready *r, const char *name, const struct identity *id)
{
	struct ready_module *more = reallocarray(r->modules, r->n_modules + 1, sizeof(*more));
	char *copy;

	if (!more)
		return -ENOMEM;
	r->modules = more;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	r->modules[r->n_modules++] = (struct ready_module){ .name = copy, .id = *id };
	return 0;
}

static int read_line(struct ready *r, char *line)
{
	char *value = strchr(line, '=');
	struct identity id = { 0 };
	int bad;

	if (!value)
		return -EBADMSG;
	*value++ = '\0';
	for (size_t i = 0; i < N_KEYS; i++)
		if (!strcmp(line, KEYS[i].name))
			return set_member(r, &KEYS[i], value);
	if (strncmp(line, MODULE_KEY, strlen(MODULE_KEY)) || !line[strlen(MODULE_KEY)])
		return 0;
	bad = set_identity(&id, value);
	return bad < 0 ? bad : add_module(r, line + strlen(MODULE_KEY), &id);
}

int ready_read(const struct sysroot *root, const char *path, struct ready *ret)
{
	_cleanup_ready_ struct ready ready = { 0 };
	_cleanup_strv_ char **lines = NULL;
	_cleanup_free_ char *text = NULL;
	int r = sysroot_read(root, path, FILE_MAX, &text, NULL);

	if (r == 0)
		r = parse_words(text, "\n", &lines);
	for (char **line = lines; r == 0 && *line; line++)
		r = read_line(&ready, *line);
	if (r < 0)
		return r == -EFBIG ? -EBADMSG : r;
	if (!ready.boot_id || !ready.kernel)
		return -EBADMSG;
	*ret = ready;
	ready = (struct ready){ 0 };
	return 0;
}

void ready_clear(struct ready *r)
{
	for (size_t i = 0; i < N_KEYS; i++)
		free(*member(r, &KEYS[i]));
	for (size_t i = 0; i < r->n_modules; i++)
		free(r->modules[i].name);
	free(r->modules);
	*r = (struct ready){ 0 };
}

/* ---- writing */

static int write_lines(FILE *to, const struct ready *r)
{
	for (size_t i = 0; i < N_KEYS; i++) {
		const char *value = *member(r, &KEYS[i]);

		if (!value)
			continue;
		if (strchr(value, '\n'))
			return -EINVAL;
		fprintf(to, "%s=%s\n", KEYS[i].name, value);
	}
	for (size_t i = 0; i < r->n_modules; i++) {
		const struct identity *id = &r->modules[i].id;

		if (!identity_known(id))
			continue;
		fprintf(to, MODULE_KEY "%s=%s%s\n", r->modules[i].name,
			*id->srcversion ? "" : BUILD_ID,
			*id->srcversion ? id->srcversion : id->build_id);
	}
	return 0;
}

int ready_write(const struct sysroot *root, const char *path, const struct ready *r)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	int bad;

	if (!to)
		return -ENOMEM;
	bad = write_lines(to, r);
	if (fclose(to) != 0 && bad == 0)
		bad = -ENOMEM;
	return bad < 0 ? bad : sysroot_replace(root, path, 0644, text, len);
}

/* ---- what is live */

static int timestamp(char **ret)
{
	time_t now = time(NULL);
	struct tm utc;
	char text[32];

	if (!gmtime_r(&now, &utc) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc))
		return -EOVERFLOW;
	*ret = strdup(text);
	return *ret ? 0 : -ENOMEM;
}

static int copy_text(const char *from, char **ret)
{
	if (!from)
		return 0;
	*ret = strdup(from);
	return *ret ? 0 : -ENOMEM;
}

static int add_live(const struct sysroot *root, const struct manifest *m, struct ready *r)
{
	for (size_t i = 0; i < m->n_modules; i++) {
		struct identity id = { 0 };
		int bad = live_identity(root, m->modules[i].name, &id);

		if (bad == 0)
			bad = add_module(r, m->modules[i].name, &id);
		if (bad < 0 && bad != -ENOENT)
			return bad;
	}
	return 0;
}

int ready_of(const struct sysroot *root, const struct manifest *m, const char *tree_digest,
	     const char *boot_id, const char *revision, const char *started, struct ready *ret)
{
	_cleanup_ready_ struct ready ready = { 0 };
	int r;

	if (copy_text(boot_id, &ready.boot_id) < 0 || copy_text(m->kernel, &ready.kernel) < 0 ||
	    copy_text(m->name, &ready.driver) < 0 || copy_text(m->version, &ready.version) < 0 ||
	    copy_text(revision, &ready.revision) < 0 || copy_text(started, &ready.started) < 0 ||
	    copy_text(tree_digest, &ready.tree_digest) < 0)
		return -ENOMEM;
	r = timestamp(&ready.ready);
	if (r == 0)
		r = add_live(root, m, &ready);
	if (r < 0)
		return r;
	*ret = ready;
	ready = (struct ready){ 0 };
	return 0;
}

void ready_judge(const struct ready *r, const char *boot_id, const char *kernel,
		 struct verdicts *why)
{
	if (strcmp(r->boot_id, boot_id))
		verdicts_no(why, REASON_STALE_READY, "BOOT_ID", "written in boot %s, this is %s",
			    r->boot_id, boot_id);
	if (strcmp(r->kernel, kernel))
		verdicts_no(why, REASON_STALE_READY, "KERNEL", "written for %s, this is %s",
			    r->kernel, kernel);
}

int ready_check_live(const struct sysroot *root, const struct ready *r, struct verdicts *why)
{
	for (size_t i = 0; i < r->n_modules; i++) {
		const struct ready_module *m = &r->modules[i];
		char said[96], is[96];
		struct identity id = { 0 };
		int bad = live_identity(root, m->name, &id);

		if (bad < 0 && bad != -ENOENT)
			return bad;
		if (bad == 0 && identity_same(&m->id, &id))
			continue;
		verdicts_no(why, REASON_STALE_READY, m->name, "written: %s; live: %s",
			    identity_text(&m->id, said),
			    bad < 0 ? "not at all" : identity_text(&id, is));
	}
	return 0;
}
