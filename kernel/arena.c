/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/arena.h"

#include <stdint.h>
#include <string.h>

enum { SMALLEST = 4 << 10, LARGEST = 256 << 10 };

struct arena_chunk {
	struct arena_chunk *below;
	size_t used, size;
	uint64_t data[];
};

/* Each chunk is twice the size of the one before. */
static struct arena_chunk *push(struct arena *a, size_t need)
{
	size_t size = a->top ? a->top->size * 2 : SMALLEST;
	struct arena_chunk *c;

	if (size > LARGEST)
		size = LARGEST;
	if (size < need)
		size = need;
	c = malloc(sizeof(*c) + size);
	if (!c)
		return NULL;
	*c = (struct arena_chunk){ .below = a->top, .size = size };
	a->top = c;
	return c;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_chunk *c = a->top;
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
	if (!c || c->size - c->used < size)
		c = push(a, size);
	if (!c)
		return NULL;
	p = (char *)c->data + c->used;
	c->used += size;
	return p;
}

char *arena_text(struct arena *a, const char *text, size_t len)
{
	char *copy = len < SIZE_MAX / 2 ? arena_alloc(a, len + 1) : NULL;

	if (copy) {
		memcpy(copy, text, len);
		copy[len] = '\0';
	}
	return copy;
}

void arena_clear(struct arena *a)
{
	while (a->top) {
		struct arena_chunk *c = a->top;

		a->top = c->below;
		free(c);
	}
}
