/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a build's output says of why it failed, taken line by line: the compiler's first error
 * ("x.c:12:3: error: ...", "ERROR: modpost: ..."), and only if there is none what merely follows
 * from it ("make: *** ..."), which the output of parallel jobs may show before; and whether it was
 * no fault of the source's: a disk that takes no more, a compiler killed.
 */
#pragma once

#include <stdbool.h>

struct complaint {
	char *error; /* the line; NULL: none says why */
	int rank;    /* of `error` */
	char *disk;  /* the first line that says that the disk takes no more; NULL */
	int disk_error;
	bool disk_certain; /* not just something that was tried and done without */
};

/* Zeroed at first. Without memory, a line is not noted. */
void complaint_line(struct complaint *c, const char *line);
/* The build failed: of the disk? -ENOSPC, -EROFS (`disk` says so), or 0. */
int complaint_of_disk(const struct complaint *c);
/* Was the compiler killed (likely: out of memory)? */
bool complaint_of_kill(const struct complaint *c);
void complaint_clear(struct complaint *c);
#define _cleanup_complaint_ _cleanup_(complaint_clear)
