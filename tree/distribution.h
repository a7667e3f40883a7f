/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The distribution that a root is of (man 5 os-release), asked for one thing: the package that has
 * the headers of a kernel. By VARIANT_ID first (an image such as RHEL CoreOS has none to install,
 * though its ID may be that of a distribution with packages), then ID, then ID_LIKE.
 */
#pragma once

#include "common/sysroot.h"

/* "linux-headers-KERNEL", or "the headers of kernel KERNEL" where there is no such package. */
int distribution_package(const struct sysroot *root, const char *kernel, char **ret);
