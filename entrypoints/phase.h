/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a container's supervisor is at, told over the abstract unix socket
 * @gdrkit/<binary>/<inode of its pid namespace>: whoever connects gets one line and the connection
 * ends. A probe in the same container has the same pid namespace, so it asks its own supervisor,
 * though all containers with the host's network share the names. Nothing is read from a client, and
 * an answer counts only if it comes from the asker's own user.
 */
#pragma once

enum phase {
	PHASE_LOADING, /* waiting for others, too */
	PHASE_BUILDING,
	PHASE_READY, /* the verb has succeeded: the instance lock is held */
	PHASE_STOPPING,
};

/* A listening descriptor. -EADDRINUSE: another supervisor of this binary in this pid namespace. */
int phase_listen(const char *binary);
/* To the next one who asks. */
void phase_answer(int listener, enum phase phase);
/* -ECONNREFUSED: nobody is there; -EPERM: somebody else's; -EAGAIN: no answer in 5 s. */
int phase_ask(const char *binary, enum phase *ret);
