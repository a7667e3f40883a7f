/* SPDX-License-Identifier: Apache-2.0 */
/* Soft dependencies (man 5 modprobe.d): "pre: a b post: c", of modinfo and of modprobe.d alike. */
#pragma once

#include "common/sysroot.h"

/* The names after "pre:", with underscores; NULL-ended. */
int softdep_pre(const char *text, char ***ret);
