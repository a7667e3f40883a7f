/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instance lock: one driver at a time on a node. It is a flock on a file of the node, so it
 * belongs to the open descriptor: a supervisor opens it once and hands it down, and what its
 * child takes, the supervisor holds. The file says who holds it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/sysroot.h"

/* In a child of a supervisor: the number of the descriptor that it has inherited. */
#define INSTANCE_FD "GDRKIT_INSTANCE_FD"

/* The lock file, made if need be; not yet locked. */
int instance_open(const struct sysroot *root, const char *path);
/* The inherited one; -ENOENT: none, -EBADF: the variable names no open descriptor. */
int instance_inherited(void);
/* -EWOULDBLOCK: somebody else has it, or looks at it (status). */
int instance_try(int fd, const char *who);
/* Has a driver got it? Else fd shares it with those who look, and instance_take waits for them. */
bool instance_is_held(int fd);
/*
 * Waits for the lock and says so in the log; timeout_ms 0: without an end. -ECANCELED (stop_fd),
 * -ETIMEDOUT: then the descriptor stays open to the end of the process (common/lock.h).
 */
int instance_take(int fd, const char *who, int stop_fd, uint64_t timeout_ms);
