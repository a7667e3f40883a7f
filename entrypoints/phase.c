/* SPDX-License-Identifier: Apache-2.0 */
#include "entrypoints/phase.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include "common/cleanup.h"

enum { BACKLOG = 8, ANSWER_SECONDS = 5 };

static const char *const names[] = {
	[PHASE_LOADING] = "loading\n",
	[PHASE_BUILDING] = "building\n",
	[PHASE_READY] = "ready\n",
	[PHASE_STOPPING] = "stopping\n",
};

static int address(const char *binary, struct sockaddr_un *ret, socklen_t *ret_len)
{
	struct stat st;
	int n;

	if (stat("/proc/self/ns/pid", &st) < 0)
		return -errno;
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, "gdrkit/%s/%llu", binary,
		     (unsigned long long)st.st_ino);
	if (n < 0 || (size_t)n >= sizeof(ret->sun_path) - 1)
		return -ENAMETOOLONG;
	*ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	return 0;
}

int phase_listen(const char *binary)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un at;
	socklen_t len;
	int r;

	if (fd < 0)
		return -errno;
	r = address(binary, &at, &len);
	if (r < 0)
		return r;
	if (bind(fd, (struct sockaddr *)&at, len) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return TAKE_FD(fd);
}

void phase_answer(int listener, enum phase phase)
{
	_cleanup_close_ int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		(void)send(fd, names[phase], strlen(names[phase]), MSG_NOSIGNAL);
}

static int dial(const char *binary)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct timeval wait = { .tv_sec = ANSWER_SECONDS };
	struct ucred peer;
	socklen_t peer_len = sizeof(peer);
	struct sockaddr_un at;
	socklen_t len;
	int r;

	if (fd < 0)
		return -errno;
	r = address(binary, &at, &len);
	if (r < 0)
		return r;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) < 0 ||
	    connect(fd, (struct sockaddr *)&at, len) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_len) < 0)
		return -errno;
	return peer.uid == geteuid() ? TAKE_FD(fd) : -EPERM;
}

int phase_ask(const char *binary, enum phase *ret)
{
	_cleanup_close_ int fd = dial(binary);
	char answer[32];
	ssize_t n;

	if (fd < 0)
		return fd;
	n = recv(fd, answer, sizeof(answer) - 1, MSG_WAITALL);
	if (n < 0)
		return -errno;
	answer[n] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(answer, names[i]) == 0) {
			*ret = (enum phase)i;
			return 0;
		}
	}
	return -EPROTO;
}
