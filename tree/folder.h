/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory below a sysroot as one thing: where it really is (for children, which know no
 * sysroot), as a sysroot of its own, what it holds, and copies of it. Links in it are never
 * followed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/sysroot.h"

/* Absolute, without links. -ENOENT, -ENOTDIR, -ELOOP. */
int folder_path(const struct sysroot *root, const char *path, char **ret);
/* The same for whatever is there, a file too. */
int folder_entry_path(const struct sysroot *root, const char *path, char **ret);
/* "DIR/NAME" */
int folder_join(const char *dir, const char *name, char **ret);
int folder_open(const struct sysroot *root, const char *path, struct sysroot **ret);

/* Regular files at any depth whose name is wanted; relative to `path`, sorted, NULL-ended. */
int folder_find(const struct sysroot *root, const char *path, bool (*wanted)(const char *name),
		char ***ret);

/*
 * Files with mode and times (a build looks at them), directories, and links as they are; sockets
 * and devices are left out. `dst` is made with its parents; into one that is there, files are
 * replaced.
 */
int folder_copy(const struct sysroot *from, const char *src, const struct sysroot *to,
		const char *dst);
/*
 * Only what is kept, by its name (a directory that is not is not entered), and so that the copy's
 * owner may write to it: u+w.
 */
int folder_copy_kept(const struct sysroot *from, const char *src, const struct sysroot *to,
		     const char *dst, bool (*keep)(const char *name, bool is_dir));

/* Bytes of all regular files below it. */
int folder_size(const struct sysroot *root, const char *path, uint64_t *ret);
