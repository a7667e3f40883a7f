/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for many small things that live and die together: the names of a module, 25,000 exported
 * symbols. Starts zeroed ({ 0 }), and only arena_clear gives back.
 */
#pragma once

#include <stddef.h>

#include "common/cleanup.h"

struct arena {
	struct arena_chunk *top;
};

/* Aligned for pointers and 64 bit numbers, not zeroed; NULL: out of memory. */
void *arena_alloc(struct arena *a, size_t size);
/* A copy with a NUL behind it. */
char *arena_text(struct arena *a, const char *text, size_t len);
void arena_clear(struct arena *a);
#define _cleanup_arena_ _cleanup_(arena_clear)
