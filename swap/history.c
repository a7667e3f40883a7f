/* SPDX-License-Identifier: Apache-2.0 */
#include "swap/history.h"

#include <string.h>

int history_init(struct history *h, const char *boot_id)
{
	char *copy = strdup(boot_id);

	if (!copy)
		return -ENOMEM;
	*h = (struct history){ .boot_id = copy };
	return 0;
}

static void swap_clear(struct journal_swap *s)
{
	free(s->owner);
	free(s->settings);
	free(s->end);
	state_clear(&s->from);
	state_clear(&s->to);
	*s = (struct journal_swap){ 0 };
}

#define _cleanup_swap_ _cleanup_(swap_clear)

void history_clear(struct history *h)
{
	for (size_t i = 0; i < h->n; i++)
		swap_clear(&h->swaps[i]);
	free(h->swaps);
	free(h->boot_id);
	*h = (struct history){ 0 };
}

static const char *goal_of(const struct journal_swap *s)
{
	return *s->to.digest ? s->to.digest : s->to.label;
}

static bool same_attempt(const struct journal_swap *a, const struct journal_swap *b)
{
	return strcmp(goal_of(a), goal_of(b)) == 0 && strcmp(a->settings, b->settings) == 0;
}

/* What another owner did in between (peermem follows each swap of ofed's) does not end the row. */
static unsigned crashes_before(const struct history *h, const struct journal_swap *s)
{
	unsigned n = 0;

	for (size_t i = h->n; i-- > 0;) {
		const struct journal_swap *old = &h->swaps[i];

		if (strcmp(old->owner, s->owner) != 0)
			continue;
		if (!old->recovered || strcmp(old->end, "done") == 0 || !same_attempt(old, s))
			break;
		n++;
	}
	return n;
}

static int append(struct history *h, struct journal_swap *s)
{
	struct journal_swap *more = reallocarray(h->swaps, h->n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	h->swaps = more;
	more[h->n++] = *s;
	*s = (struct journal_swap){ 0 };
	return 0;
}

static int add_begin(struct history *h, json_t *begin)
{
	_cleanup_swap_ struct journal_swap s = { .open = true };
	const char *boot, *owner, *settings;
	json_t *from, *to;
	int r;

	if (json_unpack(begin, "{s:s, s:s, s:s, s:o, s:o}", "boot", &boot, "owner", &owner,
			"settings", &settings, "from", &from, "to", &to) < 0)
		return -EBADMSG;
	h->current = strcmp(boot, h->boot_id) == 0;
	if (!h->current)
		return 0;
	s.owner = strdup(owner);
	s.settings = strdup(settings);
	if (!s.owner || !s.settings)
		return -ENOMEM;
	r = state_from_json(from, &s.from);
	if (r == 0)
		r = state_from_json(to, &s.to);
	if (r < 0)
		return r;
	s.crashes = crashes_before(h, &s);
	return append(h, &s);
}

static int add_end(struct history *h, json_t *record)
{
	struct journal_swap *last = h->n ? &h->swaps[h->n - 1] : NULL;
	const char *how;
	int recovered = false;
	char *copy;

	if (json_unpack(record, "{s:s, s?b}", "end", &how, "recovered", &recovered) < 0)
		return -EBADMSG;
	if (!h->current || !last || !last->open)
		return 0;
	copy = strdup(how);
	if (!copy)
		return -ENOMEM;
	last->end = copy;
	last->recovered = recovered;
	last->open = false;
	return 0;
}

static int add_undo(struct history *h, json_t *record)
{
	struct journal_swap *last = h->n ? &h->swaps[h->n - 1] : NULL;
	const char *why;

	if (json_unpack(record, "{s:s}", "undo", &why) < 0)
		return -EBADMSG;
	if (h->current && last && last->open)
		last->failed = strcmp(why, "failed") == 0;
	return 0;
}

int history_add(struct history *h, json_t *record)
{
	json_t *begin = json_object_get(record, "begin");

	if (!json_is_object(record))
		return -EBADMSG;
	if (begin)
		return add_begin(h, begin);
	if (json_object_get(record, "undo"))
		return add_undo(h, record);
	return json_object_get(record, "end") ? add_end(h, record) : 0;
}

static int add_line(struct history *h, const char *line, size_t len)
{
	json_error_t error;
	json_auto_t *record = json_loadb(line, len, 0, &error);

	if (record)
		return history_add(h, record);
	return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : -EBADMSG;
}

int history_parse(struct history *h, const char *text, size_t len, size_t *ret_valid)
{
	size_t at = 0;

	while (at < len) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t next = end ? (size_t)(end - text) + 1 : len;
		int r = end ? add_line(h, text + at, next - at - 1) : -EBADMSG;

		if (r == -EBADMSG && next == len)
			break;
		if (r < 0)
			return r;
		at = next;
	}
	*ret_valid = at;
	return 0;
}

const struct journal_swap *history_last(const struct history *h)
{
	return h->n ? &h->swaps[h->n - 1] : NULL;
}

bool history_failed_before(const struct history *h, const char *owner, const char *digest,
			   const char *settings)
{
	/* Without a digest it is no tree but a way back, and that is always tried. */
	if (!*digest)
		return false;
	for (size_t i = h->n; i-- > 0;) {
		const struct journal_swap *s = &h->swaps[i];

		if (s->open || strcmp(s->owner, owner) != 0 || strcmp(s->to.digest, digest) != 0)
			continue;
		if (strcmp(s->end, "done") == 0)
			return false;
		if (strcmp(s->end, "undone") == 0 && strcmp(s->settings, settings) == 0)
			return true;
	}
	return false;
}
