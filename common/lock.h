/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flock(2) with a deadline and a way out. The wait is a thread in a blocking flock, so nothing
 * polls. That thread cannot be called back: after -ECANCELED or -ETIMEDOUT the lock may still
 * arrive at fd's open file. Close fd, and it is let go of the moment it comes.
 */
#pragma once

#include <stdint.h>

/* -EWOULDBLOCK: somebody holds it. */
int lock_try(int fd);
/* With others who only look: -EWOULDBLOCK: somebody holds it for himself. */
int lock_try_shared(int fd);
/* stop_fd readable: -ECANCELED (-1: none); timeout_ms 0: none, else -ETIMEDOUT. */
int lock_wait(int fd, int stop_fd, uint64_t timeout_ms);
