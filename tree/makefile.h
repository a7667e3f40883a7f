/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Makefile of a kernel's build directory, line by line. One that was configured with O= has a
 * few lines only (the kernel's own Makefile, `outputmakefile`): an include of the source's.
 */
#pragma once

#include <stddef.h>

#include "common/sysroot.h"

/* DIR/Makefile. -EFBIG: over 1 MiB. */
int makefile_read(const struct sysroot *root, const char *dir, char **ret);
const char *makefile_next(const char *line);
/* Of "include DIR/Makefile": DIR, and its length; NULL: the line is no such thing. */
const char *makefile_included(const char *line, size_t *ret_len);
