/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a path is opened inside a directory that stands for /: by the kernel, and by a walk of our
 * own with the same result. sysroot chooses; everything else goes through sysroot.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* openat2(2) with RESOLVE_IN_ROOT and RESOLVE_NO_MAGICLINKS. */
int resolve_openat2(int root, const char *path, int flags, mode_t mode);

/* Component by component with O_PATH and O_NOFOLLOW, where openat2(2) is not to be had. */
int resolve_walk(int root, const char *path, int flags, mode_t mode);

/* readlinkat(2) of a target of any length; name "": of dirfd itself. */
int resolve_readlink(int dirfd, const char *name, char **ret);
