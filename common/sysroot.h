/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sysroot is a directory that stands for the root of a system: the node's (/host in a container,
 * / on the node itself), the GPU driver's, a fixture. Every path below main is relative to one
 * ("sys/module", no leading slash) and cannot leave it: symbolic links, absolute ones too, resolve
 * inside (openat2(2) RESOLVE_IN_ROOT; where the kernel lacks it, a walk by components with the same
 * result), because the tree is not to be trusted. Loops are -ELOOP.
 *
 * Functions return 0 (or a descriptor) or -errno.
 */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "common/cleanup.h"
#include "common/strv.h"

struct sysroot;

int sysroot_open(const char *dir, struct sysroot **ret);
struct sysroot *sysroot_free(struct sysroot *root);
DEFINE_CLEANUP(struct sysroot, sysroot_free);

/* The directory as given to sysroot_open, for messages and for libraries that take a path. */
const char *sysroot_dir(const struct sysroot *root);

/* openat(2); O_CLOEXEC is always added. `mode` counts with O_CREAT only. */
int sysroot_openat(const struct sysroot *root, const char *path, int flags, mode_t mode);
/*
 * A regular file, to be read; a directory is -EISDIR, anything else -EINVAL: a FIFO holds nobody
 * up. ret_size may be NULL.
 */
int sysroot_open_file(const struct sysroot *root, const char *path, off_t *ret_size);
int sysroot_opendir(const struct sysroot *root, const char *path, DIR **ret);
int sysroot_stat(const struct sysroot *root, const char *path, struct stat *ret);
bool sysroot_exists(const struct sysroot *root, const char *path);

/* A whole file and a NUL; ret_len (may be NULL) is without the NUL. Larger than max: -EFBIG. */
int sysroot_read(const struct sysroot *root, const char *path, size_t max, char **ret,
		 size_t *ret_len);
/* An attribute of sysfs or procfs, without the newline at its end. Over 64 KiB: -EFBIG. */
int sysroot_read_attr(const struct sysroot *root, const char *path, char **ret);
int sysroot_readlink(const struct sysroot *root, const char *path, char **ret);
/* The names in a directory but "." and "..", sorted; the array ends with NULL; strv_free. */
int sysroot_list(const struct sysroot *root, const char *path, char ***ret);

/* One write(2) to a file that exists (an attribute of sysfs). */
int sysroot_write_attr(const struct sysroot *root, const char *path, const char *value);
/* A whole file put in place by rename(2): nobody sees half of it. Parents are made (0755). */
int sysroot_replace(const struct sysroot *root, const char *path, mode_t mode, const void *data,
		    size_t len);
/* A symbolic link put in place by rename(2), over another link too. Parents are made. */
int sysroot_link(const struct sysroot *root, const char *target, const char *path);
int sysroot_rename(const struct sysroot *root, const char *from, const char *to);
int sysroot_mkdirs(const struct sysroot *root, const char *path, mode_t mode);
/* Gone is fine: 0. A directory goes with all below it; links are removed, never followed. */
int sysroot_remove(const struct sysroot *root, const char *path);
