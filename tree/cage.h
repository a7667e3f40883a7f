/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processes of a build may do: run, read, and write below the directories that are given;
 * a configure script is not to be trusted with the node. A thread of its own is put into the cage
 * and calls fn: no capabilities, no_new_privs (so that uid 0 gains none by exec either), and
 * Landlock where the kernel has it (landlock(7); all that makes, changes or removes a file, TCP
 * from ABI 4, abstract unix sockets and signals to others from ABI 6). Whatever that thread starts
 * inherits all of it, for good. /dev/null and the like stay writable. Before ABI 2 (Linux 5.19:
 * Ubuntu 22.04's first kernel) Landlock lets no file move to another directory, or be linked there,
 * even where both are writable: rename(2) and link(2) fail with EXDEV, as across file systems.
 *
 * The thread is as weak as its children, so that they could trace it, and by its memory all of this
 * process: while it runs, this process is not dumpable (prctl(2)). What stays open: chmod, utimes
 * and setxattr of what uid 0 owns, UDP, and an end of this process (a signal to the thread itself).
 */
#pragma once

/*
 * writable: absolute paths of directories, ended by NULL. Returns fn's value; -errno before fn was
 * called: the cage could not be made. One at a time.
 */
int cage_run(const char *const writable[], int (*fn)(void *data), void *data);
/* Landlock's ABI on this kernel; 0: none, or not allowed. */
int cage_landlock(void);
