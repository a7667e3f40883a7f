/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run/gdrkit/journal: the lock, the journal and the memory of swaps in one file of JSON lines
 * (node.md). The flock on it is the module lock. Each thing is written before it is done:
 *   {"begin": {"boot", "owner", "settings": DIGEST, "from": STATE, "to": STATE}}
 *   {"guard": "save", "name": "autoprobe"}
 *   {"step": "unload", "module": "ib_core", "wave": 3}     {"step": "bind", "device": ADDRESS, ...}
 *   {"undo": "failed" | "interrupted"}
 *   {"end": "done" | "undone" | "interrupted", "recovered": true}
 * A begin of this boot without an end is a crash. Records of other boots are void. Room for a whole
 * swap is reserved at begin, so that a full disk refuses a swap and never cuts one off. /run goes
 * with a reboot: no fsync; a kill loses no write(2).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/sysroot.h"
#include "swap/state.h"

struct journal;

/* Opens and, if need be, makes the file; does not lock. */
int journal_open(const struct sysroot *root, const char *boot_id, struct journal **ret);
struct journal *journal_free(struct journal *j); /* unlocks */
DEFINE_CLEANUP(struct journal, journal_free);

/*
 * Takes the module lock and reads the file (again). stop_fd and timeout as lock_wait(). -EBADMSG:
 * the journal is damaged, and not just cut off at its end.
 */
int journal_lock(struct journal *j, int stop_fd, uint64_t timeout_ms);

struct journal_swap {
	char *owner, *settings;
	struct state from, to;
	bool failed;      /* the way back was begun because a step failed, not for a signal */
	bool open;        /* no end */
	char *end;        /* NULL while open */
	bool recovered;   /* a crash, ended by a later process */
	unsigned crashes; /* directly before it, of its owner, goal and settings: crashes recovered
			   * (those whose goal turned out to be reached do not count) */
};

/* The last swap of this boot, one written here too; NULL: none. Valid to the next lock or begin. */
const struct journal_swap *journal_last(const struct journal *j);
/* All swaps of this boot, the oldest first; valid as journal_last. */
const struct journal_swap *journal_swaps(const struct journal *j, size_t *ret_n);
/*
 * Did this goal (a tree's digest; "": never) with these settings end as undone, with no success of
 * the goal since?
 */
bool journal_failed_before(const struct journal *j, const char *owner, const char *digest,
			   const char *settings);

/*
 * All of these with the lock held. A line is written whole or not at all; -ENOSPC, -EDQUOT and the
 * like as they come.
 */
/* -EBUSY: the last swap is open. */
int journal_begin(struct journal *j, const char *owner, const struct state *from,
		  const struct state *to, const char *settings);
int journal_guard(struct journal *j, const char *what, const char *name);
int journal_step(struct journal *j, const char *op, const char *object, unsigned wave);
/* The way back begins: what follows is undone, and remembered if `failed`. */
int journal_undo(struct journal *j, bool failed);
int journal_end(struct journal *j, const char *how, bool recovered);

/*
 * Test knob: after this many lines, of this process, it stops itself (SIGSTOP), so that a test can
 * kill it there. 0: never.
 */
void journal_stop_after(struct journal *j, unsigned lines);
