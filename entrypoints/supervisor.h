/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `run`: what a container starts, as PID 1 or not. It runs the binary's own verbs as children
 * and waits for events, so an init_module that hangs never keeps a signal from being heard, and
 * what loading needs in memory goes with the child.
 *
 *   load      until it ends; a signal is passed on, and load goes back to what was there
 *   build     if load ends with exit_build, once; then load again
 *   wait      reaps whoever ends, answers on its socket (entrypoints/phase.h)
 *   unload    on a signal that says stop (entrypoints/stop_signals.h), if the stack is to be given
 *             back; a further one is passed on
 *
 * Ends with load's code if that is not 0, with 0 once it was ready and was stopped, with
 * unload's code if that failed. A child that dies by a signal is recovered by the next start.
 */
#pragma once

#include <stdbool.h>

struct supervisor_spec {
	const char *binary;        /* of the socket's name */
	char *const *argv;         /* this process's */
	const char *operand;       /* the word among them that is the verb; NULL: none */
	const char *load, *unload; /* the verbs to run in its place */
	const char *build;         /* likewise; NULL: there is nothing to build from */
	int exit_build;            /* what load ends with to ask for it */
	bool restore;              /* unload at the end */
	int lock_fd;               /* handed down: instance_inherited() */
};

/* Returns the exit code; has logged what failed. */
int supervisor_run(const struct supervisor_spec *spec);
