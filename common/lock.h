/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flock(2) with a deadline and a way out. The wait is a thread in a blocking flock, so nothing polls; after -ECANCELED or -ETIMEDOUT that thread is still
 * waiting on the descriptor: close nothing, end the process.
 */
#pragma once

#include <stdint.h>

/* -EWOULDBLOCK: somebody holds it. */
int lock_try(int fd);
/* stop_fd readable: -ECANCELED (-1: none); timeout_ms 0: none, else -ETIMEDOUT. */
int lock_wait(int fd, int stop_fd, uint64_t timeout_ms);
