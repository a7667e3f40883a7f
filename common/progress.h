/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress of long work: a bar that redraws itself on a terminal, a log line every few seconds
 * otherwise. `total` 0: unknown, then only what was done is shown. Names may come from a build's
 * output: on a terminal a control character is a '?' (the log escapes it).
 */
#pragma once

#include <stdint.h>

#include "common/cleanup.h"

struct progress;

int progress_new(const char *what, uint64_t total, struct progress **ret);
void progress_step(struct progress *p, uint64_t done,
		   const char *now);                /* now: what is being done; may be NULL */
struct progress *progress_free(struct progress *p); /* draws the end */
DEFINE_CLEANUP(struct progress, progress_free);
