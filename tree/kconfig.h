/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel's .config: what it was built with. "CONFIG_X=value" lines; "# CONFIG_X is not set" is
 * not set (Documentation/kbuild/kconfig-language.rst, scripts/kconfig/confdata.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/sysroot.h"

struct kconfig {
	char *text;
	char sha256[65]; /* of the file's bytes */
};

/* path: of the file. -ENOENT, -EFBIG (over 4 MiB). */
int kconfig_read(const struct sysroot *root, const char *path, struct kconfig *ret);
void kconfig_clear(struct kconfig *c);
#define _cleanup_kconfig_ _cleanup_(kconfig_clear)

/* name without CONFIG_. The value without its quotes, pointing into the text; NULL: not set. */
const char *kconfig_value(const struct kconfig *c, const char *name, size_t *ret_len);
/* y or m */
bool kconfig_has(const struct kconfig *c, const char *name);
