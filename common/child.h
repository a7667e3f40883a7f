/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process: posix_spawn in a process group of its own with clean signals, its output read
 * line by line (streamed to the caller, the last lines kept for the error), and the whole group
 * killed when it has to end early. No shell.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/cleanup.h"

struct child_spec {
	const char *const *argv; /* argv[0]: a path, or a name to look up in PATH; ends with NULL */
	const char *const *env;  /* NULL: the caller's */
	const char *dir;         /* working directory; NULL: the caller's */
	bool inherit;            /* stdout and stderr are the caller's: nothing is captured */
	/* readable means stop: SIGTERM to the group, after grace_ms SIGKILL; -1: none */
	int stop_fd;
	uint64_t grace_ms;   /* 0: 10 s */
	uint64_t timeout_ms; /* 0: none; when it has passed: as stop_fd */
	size_t tail;         /* lines kept; 0: 40 */
	/*
	 * Each line of stdout and stderr, without the newline; over 64 KiB it is cut into several.
	 * NULL: lines are only kept.
	 */
	void (*line)(void *data, const char *line);
	void *data;
};

struct child_result {
	int status; /* exit code, or 128 + signal */
	bool stopped, timed_out;
	char *tail;       /* the last lines, each ended by a newline */
	uint64_t ms;      /* how long it ran */
	uint64_t max_rss; /* of its tree, bytes (ru_maxrss) */
};

/* Runs to the end, however that ends. -errno: could not be started (-ENOENT: no such program). */
int child_run(const struct child_spec *spec, struct child_result *ret);
void child_result_clear(struct child_result *res);
#define _cleanup_child_result_ _cleanup_(child_result_clear)
