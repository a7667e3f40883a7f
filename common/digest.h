/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (by nettle) of bytes, files and sequences of named parts, as lower-case hex digits. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/sysroot.h"

#define DIGEST_TEXT 65

struct digest;

int digest_new(struct digest **ret);
struct digest *digest_free(struct digest *d);
DEFINE_CLEANUP(struct digest, digest_free);
void digest_bytes(struct digest *d, const void *data, size_t len);
/* name, length and value each go in, so that no two sequences of parts give the same bytes */
void digest_part(struct digest *d, const char *name, const void *data, size_t len);
void digest_text(struct digest *d, char ret[static DIGEST_TEXT]);

/* Of these bytes alone. */
int digest_of(const void *data, size_t len, char ret[static DIGEST_TEXT]);
int digest_fd(int fd, char ret[static DIGEST_TEXT]);
int digest_file(const struct sysroot *root, const char *path, char ret[static DIGEST_TEXT]);
/* All files below a directory: relative path, mode's x bit, content; links by their target. */
int digest_dir(const struct sysroot *root, const char *path, char ret[static DIGEST_TEXT]);
/* The same of what is kept (by its name): a directory that is not is not entered. */
int digest_dir_kept(const struct sysroot *root, const char *path,
		    bool (*keep)(const char *name, bool is_dir), char ret[static DIGEST_TEXT]);
/*
 * As digest_dir_kept, but without reading files: their mode, size and mtime instead of the content.
 * whole_seconds: mtimes as an archive keeps them that has no fractions.
 */
int digest_dir_stat(const struct sysroot *root, const char *path,
		    bool (*keep)(const char *name, bool is_dir), bool whole_seconds,
		    char ret[static DIGEST_TEXT]);
