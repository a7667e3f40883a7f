/* SPDX-License-Identifier: Apache-2.0 */
#include "swap/journal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "common/lock.h"
#include "swap/history.h"

#define JOURNAL_DIR "run/gdrkit"
#define JOURNAL_PATH JOURNAL_DIR "/journal"

enum {
	ROOM = 64 << 10,      /* for the steps of one swap, some 100 bytes each */
	MAX_SIZE = 256 << 20, /* some 10,000 swaps in one boot */
};

struct journal {
	int fd;
	off_t end; /* where the next line goes */
	bool torn; /* something cut off lies behind the end */
	struct history history;
	unsigned lines, stop_after;
};

struct journal *journal_free(struct journal *j)
{
	if (j) {
		closep(&j->fd);
		history_clear(&j->history);
		free(j);
	}
	return NULL;
}

int journal_open(const struct sysroot *root, const char *boot_id, struct journal **ret)
{
	_cleanup_(journal_freep) struct journal *j = calloc(1, sizeof(*j));
	struct stat st;
	int r;

	if (!j)
		return -ENOMEM;
	j->fd = -1;
	r = history_init(&j->history, boot_id);
	if (r == 0)
		r = sysroot_mkdirs(root, JOURNAL_DIR, 0755);
	if (r < 0)
		return r;
	j->fd = sysroot_openat(root, JOURNAL_PATH,
			       O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (j->fd < 0)
		return j->fd;
	if (fstat(j->fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	*ret = TAKE_PTR(j);
	return 0;
}

static int read_all(int fd, char **ret, size_t *ret_len)
{
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len = 0;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size > MAX_SIZE)
		return -EFBIG;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	while (len < (size_t)st.st_size) {
		ssize_t n = pread(fd, text + len, (size_t)st.st_size - len, (off_t)len);

		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			len += (size_t)n;
	}
	*ret = TAKE_PTR(text);
	*ret_len = len;
	return 0;
}

int journal_lock(struct journal *j, int stop_fd, uint64_t timeout_ms)
{
	_cleanup_history_ struct history fresh = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t len = 0, valid = 0;
	int r = lock_wait(j->fd, stop_fd, timeout_ms);

	if (r == 0)
		r = history_init(&fresh, j->history.boot_id);
	if (r == 0)
		r = read_all(j->fd, &text, &len);
	if (r == 0)
		r = history_parse(&fresh, text, len, &valid);
	if (r < 0)
		return r;
	history_clear(&j->history);
	j->history = fresh;
	fresh = (struct history){ 0 };
	j->end = (off_t)valid;
	j->torn = valid < len;
	return 0;
}

const struct journal_swap *journal_last(const struct journal *j)
{
	return history_last(&j->history);
}

const struct journal_swap *journal_swaps(const struct journal *j, size_t *ret_n)
{
	*ret_n = j->history.n;
	return j->history.swaps;
}

bool journal_failed_before(const struct journal *j, const char *owner, const char *digest,
			   const char *settings)
{
	return history_failed_before(&j->history, owner, digest, settings);
}

void journal_stop_after(struct journal *j, unsigned lines)
{
	j->stop_after = lines;
}

static int drop_torn(struct journal *j)
{
	if (j->torn && ftruncate(j->fd, j->end) < 0)
		return -errno;
	j->torn = false;
	return 0;
}

/* All or nothing: half a line would hide every line after it. */
static int append(struct journal *j, const char *line, size_t len)
{
	ssize_t n;
	int r = drop_torn(j);

	if (r < 0)
		return r;
	n = write(j->fd, line, len);
	if (n < 0)
		return -errno;
	if ((size_t)n < len) {
		j->torn = true;
		(void)drop_torn(j); /* else the next line does it */
		return -ENOSPC;
	}
	j->end += n;
	if (++j->lines == j->stop_after)
		(void)raise(SIGSTOP);
	return 0;
}

static int reserve(struct journal *j, size_t len)
{
	int r = drop_torn(j);

	if (r < 0)
		return r;
	if (fallocate(j->fd, FALLOC_FL_KEEP_SIZE, j->end, (off_t)len + ROOM) < 0 &&
	    errno != EOPNOTSUPP)
		return -errno;
	return 0;
}

/* A truncation to the present size frees what lies behind it; where it fails, the room stays. */
static void free_room(const struct journal *j)
{
	(void)!ftruncate(j->fd, j->end);
}

/* Takes the record over. */
static int write_record(struct journal *j, json_t *record, bool begin)
{
	json_auto_t *owned = record;
	_cleanup_free_ char *text = record ? json_dumps(record, JSON_COMPACT) : NULL;
	size_t len = text ? strlen(text) : 0;
	int r = 0;

	if (!text)
		return -ENOMEM;
	text[len++] = '\n'; /* in place of the NUL */
	if (begin)
		r = reserve(j, len);
	if (r == 0)
		r = append(j, text, len);
	return r < 0 ? r : history_add(&j->history, owned);
}

int journal_begin(struct journal *j, const char *owner, const struct state *from,
		  const struct state *to, const char *settings)
{
	const struct journal_swap *last = journal_last(j);
	int r;

	if (last && last->open)
		return -EBUSY;
	r = write_record(j,
			 json_pack("{s:{s:s, s:s, s:s, s:o, s:o}}", "begin", "boot",
				   j->history.boot_id, "owner", owner, "settings", settings, "from",
				   state_to_json(from), "to", state_to_json(to)),
			 true);
	if (r < 0)
		free_room(j);
	return r;
}

int journal_guard(struct journal *j, const char *what, const char *name)
{
	return write_record(j, json_pack("{s:s, s:s}", "guard", what, "name", name), false);
}

int journal_step(struct journal *j, const char *op, const char *object, unsigned wave)
{
	const char *kind = strcmp(op, "bind") == 0 ? "device" : "module";

	return write_record(
		j, json_pack("{s:s, s:s, s:I}", "step", op, kind, object, "wave", (json_int_t)wave),
		false);
}

int journal_undo(struct journal *j, bool failed)
{
	return write_record(j, json_pack("{s:s}", "undo", failed ? "failed" : "interrupted"),
			    false);
}

int journal_end(struct journal *j, const char *how, bool recovered)
{
	int r = write_record(j, json_pack("{s:s, s:b}", "end", how, "recovered", recovered), false);

	if (r == 0)
		free_room(j);
	return r;
}
