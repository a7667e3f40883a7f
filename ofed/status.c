/* SPDX-License-Identifier: Apache-2.0 */
#include "ofed/status.h"

#include <fcntl.h>
#include <jansson.h>
#include <string.h>

#include "common/lock.h"
#include "kernel/live.h"
#include "ofed/source.h"
#include "swap/history.h"

#define JOURNAL "run/gdrkit/journal"

enum { MAX_JOURNAL = 64 << 20, MAX_HOLDER = 4096 };

void status_clear(struct status *s)
{
	for (size_t i = 0; i < s->n_modules; i++)
		free(s->modules[i].name);
	free(s->modules);
	free(s->swap);
	free(s->instance);
	free(s->recover);
	free(s->build_log);
	ready_clear(&s->ready);
	verdicts_clear(&s->stale);
	*s = (struct status){ 0 };
}

/* While the descriptor is open nobody has the lock for himself; -EWOULDBLOCK: somebody has. */
static int share_lock(const struct sysroot *root, const char *path)
{
	_cleanup_close_ int fd = sysroot_openat(root, path, O_RDONLY | O_NONBLOCK, 0);
	int r = fd < 0 ? fd : lock_try_shared(fd);

	return r < 0 ? r : TAKE_FD(fd);
}

static int describe_swap(const struct journal_swap *last, bool moving, struct status *s)
{
	const char *label = last->to.label ? last->to.label : "?";

	s->journal = !last->open ? STATUS_SWAPPED : moving ? STATUS_MOVING : STATUS_CUT_OFF;
	return asprintf(&s->swap, "%s: %s, %s", last->owner, label,
			last->end ? last->end : "not ended") < 0
		       ? -ENOMEM
		       : 0;
}

/* No journal: no swaps. */
static int read_history(const struct driver *d, struct history *ret)
{
	_cleanup_history_ struct history h = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t len, valid;
	int r = sysroot_read(d->host, JOURNAL, MAX_JOURNAL, &text, &len);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = history_init(&h, d->running.boot_id);
	if (r == 0)
		r = history_parse(&h, text, len, &valid);
	if (r < 0)
		return r;
	*ret = h;
	h = (struct history){ 0 };
	return 0;
}

/* It looked open. If nobody moves modules, it may have ended since it was read. */
static int read_open_journal(const struct driver *d, const struct journal_swap *open,
			     struct status *s)
{
	_cleanup_history_ struct history h = { 0 };
	_cleanup_close_ int lock = share_lock(d->host, JOURNAL);
	int r;

	if (lock == -EWOULDBLOCK)
		return describe_swap(open, true, s);
	r = read_history(d, &h);
	if (r < 0 || !history_last(&h))
		return r;
	return describe_swap(history_last(&h), false, s);
}

static int read_journal(const struct driver *d, struct status *s)
{
	_cleanup_history_ struct history h = { 0 };
	int r = read_history(d, &h);
	const struct journal_swap *last = r == 0 ? history_last(&h) : NULL;

	if (!last)
		return r;
	return last->open ? read_open_journal(d, last, s) : describe_swap(last, false, s);
}

static int read_modules(const struct driver *d, struct status *s)
{
	s->modules = calloc(s->ready.n_modules + 1, sizeof(*s->modules));
	if (!s->modules)
		return -ENOMEM;
	for (size_t i = 0; i < s->ready.n_modules; i++) {
		struct status_module *m = &s->modules[i];

		m->expected = s->ready.modules[i].id;
		if (live_identity(d->host, s->ready.modules[i].name, &m->live) < 0)
			m->live = (struct identity){ 0 };
		m->same = identity_same(&m->expected, &m->live);
		m->name = strdup(s->ready.modules[i].name);
		if (!m->name)
			return -ENOMEM;
		s->n_modules++;
	}
	return 0;
}

static int read_ready(const struct driver *d, struct status *s, struct verdicts *why)
{
	const char *path = ofed_path(d->set->ready_path);
	int r = ready_read(d->host, path, &s->ready);

	if (r == -ENOENT)
		return 0;
	if (r == -EBADMSG) {
		verdicts_no(why, REASON_STALE_READY, path, "it is no ready file");
		return r;
	}
	if (r < 0)
		return driver_error(why, path, r);
	s->has_ready = true;
	ready_judge(&s->ready, d->running.boot_id, d->running.release, &s->stale);
	r = ready_check_live(d->host, &s->ready, &s->stale);
	if (r == 0)
		r = read_modules(d, s);
	return r < 0 ? driver_error(why, path, r) : 0;
}

static int read_instance(const struct driver *d, struct status *s)
{
	const char *path = ofed_path(d->set->lock_path);
	_cleanup_close_ int lock = share_lock(d->host, path);
	int r;

	if (lock != -EWOULDBLOCK)
		return 0;
	r = sysroot_read(d->host, path, MAX_HOLDER, &s->instance, NULL);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	s->instance[strcspn(s->instance, "\n")] = '\0';
	return 0;
}

int status_read(const struct driver *d, struct status *ret, struct verdicts *why)
{
	_cleanup_status_ struct status s = { 0 };
	int r = driver_error(why, JOURNAL, read_journal(d, &s));

	if (r == 0)
		r = read_ready(d, &s, why);
	if (r == 0)
		r = driver_error(why, ofed_path(d->set->lock_path), read_instance(d, &s));
	if (r == 0 && s.journal == STATUS_CUT_OFF &&
	    asprintf(&s.recover, "ofed-driver load --host-root %s", sysroot_dir(d->host)) < 0)
		r = -ENOMEM;
	if (r == 0)
		(void)source_last_log(d, &s.build_log, &s.building);
	if (r < 0)
		return r;
	*ret = s;
	s = (struct status){ 0 };
	return 0;
}

static const char *const journal_names[] = {
	[STATUS_NO_SWAP] = "none on this boot",
	[STATUS_SWAPPED] = "ended",
	[STATUS_MOVING] = "modules are being moved",
	[STATUS_CUT_OFF] = "CUT OFF",
};

static void text_of_modules(FILE *to, const struct status *s)
{
	for (const struct status_module *m = s->modules; m < s->modules + s->n_modules; m++) {
		char expected[96], live[96];
		bool there = identity_known(&m->live);

		(void)fprintf(to, "  %-20s %-36s %s%s\n", m->name,
			      identity_text(&m->expected, expected), m->same ? "live" : "",
			      m->same ? ""
			      : there ? identity_text(&m->live, live)
				      : "not live");
	}
}

void status_text(FILE *to, const struct status *s)
{
	const struct ready *r = &s->ready;

	(void)fprintf(to, "%-9s %s%s%s%s\n", "swap", journal_names[s->journal], s->swap ? " (" : "",
		      s->swap ? s->swap : "", s->swap ? ")" : "");
	if (s->recover)
		(void)fprintf(to, "%-9s %s, or start the container again\n", "recover", s->recover);
	if (!s->has_ready)
		(void)fprintf(to, "%-9s no\n", "ready");
	else
		(void)fprintf(to, "%-9s %s: %s %s, kernel %s, revision %s, since %s\n", "ready",
			      s->stale.n ? "STALE" : "yes", r->driver, r->version, r->kernel,
			      r->revision && *r->revision ? r->revision : "none", r->ready);
	text_of_modules(to, s);
	for (const struct verdict *v = s->stale.v; v < s->stale.v + s->stale.n; v++)
		(void)fprintf(to, "%-9s %s%s%s\n", "stale", v->object, v->detail ? ": " : "",
			      v->detail ? v->detail : "");
	(void)fprintf(to, "%-9s %s\n", "instance", s->instance ? s->instance : "none");
	if (s->build_log)
		(void)fprintf(to, "%-9s %s, its log: %s\n", "build",
			      s->building ? "under way" : "not under way", s->build_log);
}

static json_t *modules_json(const struct status *s)
{
	json_t *list = json_array();

	for (const struct status_module *m = s->modules; m < s->modules + s->n_modules; m++) {
		char expected[96], live[96];

		(void)json_array_append_new(
			list,
			json_pack("{s:s, s:b, s:s, s:s?}", "name", m->name, "ok", m->same,
				  "expected", identity_text(&m->expected, expected), "live",
				  identity_known(&m->live) ? identity_text(&m->live, live) : NULL));
	}
	return list;
}

static json_t *ready_json(const struct status *s)
{
	const struct ready *r = &s->ready;

	if (!s->has_ready)
		return json_null();
	return json_pack("{s:b, s:s?, s:s?, s:s?, s:s?, s:s?, s:s?}", "fits", s->stale.n == 0,
			 "driver", r->driver, "version", r->version, "kernel", r->kernel,
			 "revision", r->revision, "tree_digest", r->tree_digest, "since", r->ready);
}

void status_json(FILE *to, const struct status *s)
{
	static const char *const names[] = {
		[STATUS_NO_SWAP] = "none",
		[STATUS_SWAPPED] = "ended",
		[STATUS_MOVING] = "moving",
		[STATUS_CUT_OFF] = "cut_off",
	};
	json_t *o = json_pack("{s:s, s:s?, s:s?, s:o, s:o, s:s?, s:b, s:s?}", "swap",
			      names[s->journal], "last", s->swap, "recover", s->recover, "ready",
			      ready_json(s), "modules", modules_json(s), "instance", s->instance,
			      "building", s->building, "build_log", s->build_log);

	if (o)
		(void)json_dumpf(o, to, JSON_INDENT(2));
	(void)fputc('\n', to);
	json_decref(o);
}

void status_judge(const struct status *s, struct verdicts *why)
{
	if (s->journal == STATUS_CUT_OFF)
		verdicts_no(why, REASON_STALE_READY, JOURNAL, "a swap was cut off; recover: %s",
			    s->recover);
	if (!s->has_ready)
		verdicts_no(why, REASON_STALE_READY, "ready file", "there is none");
	for (const struct verdict *v = s->stale.v; v < s->stale.v + s->stale.n; v++)
		verdicts_add(why, v->why, v->state, v->object, "%s", v->detail ? v->detail : "");
}

int verb_status(struct driver *d)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_status_ struct status s = { 0 };
	int r = status_read(d, &s, &why);

	if (r == 0) {
		(d->set->json ? status_json : status_text)(stdout, &s);
		(void)fflush(stdout);
		status_judge(&s, &why);
	}
	return driver_end(d, "status", r, &why);
}

/* --if-present, and load had nothing to load: that is a success. */
static bool is_absent(const struct driver *d)
{
	_cleanup_verdicts_ struct verdicts not_there = { 0 };
	_cleanup_(tree_freep) struct tree *tree = NULL;
	_cleanup_recipe_ struct recipe recipe = { 0 };

	if (!d->set->if_present)
		return false;
	(void)driver_find_tree(d, &tree, &recipe, &not_there);
	return driver_is_absent(d, tree, &recipe);
}

int driver_ready(const struct driver *d, struct verdicts *why)
{
	const char *revision = d->set->revision ? d->set->revision : "";
	_cleanup_status_ struct status s = { 0 };
	int r = status_read(d, &s, why);

	if (r < 0)
		return r;
	if (!s.has_ready && s.journal != STATUS_CUT_OFF && is_absent(d))
		return 0;
	status_judge(&s, why);
	if (s.has_ready && strcmp(s.ready.revision ? s.ready.revision : "", revision) != 0)
		verdicts_no(why, REASON_STALE_READY, "REVISION",
			    "the ready file says \"%s\", not \"%s\"",
			    s.ready.revision ? s.ready.revision : "", revision);
	return 0;
}
