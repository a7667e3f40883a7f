/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One small loop over what the kernel tells: descriptors, signals, child exits (pidfd), timers,
 * file changes (inotify) and kobject uevents (netlink, group 1 the kernel's own). No polling: where
 * the kernel has no event, events_recheck is the only timer that looks again, and docs list its
 * uses.
 *
 * A callback returns 0 to go on, anything else ends events_run with that value (negative: -errno).
 * Sources live until events_free or until their own handle is removed; a callback may remove any
 * source, itself too.
 */
#pragma once

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/cleanup.h"
#include "common/sysroot.h"

struct events;
struct event_source;

int events_new(struct events **ret);
struct events *events_free(struct events *ev);
DEFINE_CLEANUP(struct events, events_free);

int events_run(struct events *ev);

/* `mask` (0: EPOLLIN) on a descriptor, which stays the caller's. */
int events_fd(struct events *ev, int fd, uint32_t mask, int (*fn)(void *data, uint32_t mask),
	      void *data, struct event_source **ret);
/* Blocks the signals in this process and reports them. */
int events_signals(struct events *ev, const sigset_t *set, int (*fn)(void *data, int signo),
		   void *data, struct event_source **ret);
/* `pid` has ended; status as of waitpid(2), the child is reaped. Fires once. */
int events_child(struct events *ev, pid_t pid, int (*fn)(void *data, int status), void *data,
		 struct event_source **ret);
/* Once, `ms` from now. */
int events_timer(struct events *ev, uint64_t ms, int (*fn)(void *data), void *data,
		 struct event_source **ret);
/* Again and again each `ms`: only where the kernel has no event; `why` is for the reader. */
int events_recheck(struct events *ev, uint64_t ms, const char *why, int (*fn)(void *data),
		   void *data, struct event_source **ret);
/*
 * A change of `path` under root: made, written, moved or deleted. What does not exist yet is
 * watched by its nearest parent that does. Look at the file after this call, not before: what
 * changed in between is not told. A mount over a parent is not told either.
 */
int events_file(struct events *ev, const struct sysroot *root, const char *path,
		int (*fn)(void *data), void *data, struct event_source **ret);
/*
 * The kernel's uevents: fields like "add", "/module/ib_core", "module". Action "lost": there were
 * more than fit, look again.
 */
int events_uevents(struct events *ev,
		   int (*fn)(void *data, const char *action, const char *devpath,
			     const char *subsystem),
		   void *data, struct event_source **ret);

void events_remove(struct event_source *src); /* NULL is fine */

/* Milliseconds of CLOCK_MONOTONIC: for how long something took. */
uint64_t events_now(void);
