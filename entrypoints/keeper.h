/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work whose processes and files are to go with it, even if it is killed: it is done in a child,
 * and this process outlives it. What the work started and did not wait for is killed, however it
 * ended. A signal that says stop (entrypoints/stop_signals.h, blocked) is passed on; if this process
 * is killed, the child hears SIGTERM.
 */
#pragma once

struct keeper_work {
	int (*run)(void *data); /* in the child; its value is the exit code */
	/* Here, if signo ended the child, or (0) it left processes: no descendant lives then. */
	void (*clean_up)(void *data, int signo);
	void *data;
};

/* The child's exit code, or 128 + the signal that killed it; -errno: it could not be started. */
int keeper_run(const struct keeper_work *work);
