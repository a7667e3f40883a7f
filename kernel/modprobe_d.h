/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's modprobe.d as one text: etc/, run/, usr/local/lib/ and lib/modprobe.d in the order
 * that man 5 modprobe.d gives, read through the sysroot. libkmod would follow links out of it
 * (Debian's nvidia.conf is one, through /etc/alternatives).
 */
#pragma once

#include "common/sysroot.h"

/*
 * ret_fd: a memfd with modules.softdep of the directory `tree`, which has the same form, and then
 * every file. What is not there or cannot be read is left out, as modprobe does.
 */
int modprobe_d_collect(const struct sysroot *root, const char *tree, int *ret_fd);
