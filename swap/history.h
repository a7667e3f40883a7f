/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the journal's text says: the swaps of this boot, oldest first. Pure: text or records in,
 * answers out. Records of other boots are void; kinds of lines that it does not know, and keys, are
 * passed over, for a later gdrkit may have written them.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "swap/journal.h"

struct history {
	char *boot_id;
	struct journal_swap *swaps;
	size_t n;
	bool current; /* the last begin was of this boot */
};

int history_init(struct history *h, const char *boot_id);
void history_clear(struct history *h);
#define _cleanup_history_ _cleanup_(history_clear)

/* -EBADMSG: not a record. */
int history_add(struct history *h, json_t *record);
/*
 * All lines of a text. A last line that is cut off or damaged is ignored, and ret_valid is where it
 * starts; a damaged one before the last is -EBADMSG. The text need not end with a NUL.
 */
int history_parse(struct history *h, const char *text, size_t len, size_t *ret_valid);

const struct journal_swap *history_last(const struct history *h); /* NULL: none */
/* As journal_failed_before(). */
bool history_failed_before(const struct history *h, const char *owner, const char *digest,
			   const char *settings);
