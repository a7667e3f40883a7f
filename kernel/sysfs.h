/* SPDX-License-Identifier: Apache-2.0 */
/* sysfs, read the way all of kernel/ reads it. */
#pragma once

#include <stdbool.h>

#include "common/sysroot.h"

/*
 * The last part of what the link DIR/NAME points at ("mlx5_core" of .../device/driver/module);
 * -ENOENT: no such link.
 */
int sysfs_link_name(const struct sysroot *root, const char *dir, const char *name, char **ret);
/* Whether the attribute DIR/NAME is there and says `value`. */
bool sysfs_says(const struct sysroot *root, const char *dir, const char *name, const char *value);
