/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scoped ownership: a variable declared with one of these is released when its scope ends,
 * whichever way it ends. TAKE_PTR and TAKE_FD hand the thing over and leave nothing behind to
 * release twice. Releasing keeps errno, and a descriptor is closed exactly once (on EINTR it is
 * closed too).
 */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

#define TAKE_PTR(p)                 \
	({                          \
		typeof(p) _p = (p); \
		(p) = NULL;         \
		_p;                 \
	})

#define TAKE_FD(fd)             \
	({                      \
		int _fd = (fd); \
		(fd) = -1;      \
		_fd;            \
	})

/* DEFINE_CLEANUP(struct thing, thing_free) makes thing_freep for _cleanup_(thing_freep). */
#define DEFINE_CLEANUP(type, func)           \
	static inline void func##p(type **p) \
	{                                    \
		if (*p)                      \
			func(*p);            \
	}                                    \
	struct __needs_semicolon

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void closep(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	errno = saved;
}

static inline void fclosep(FILE **f)
{
	int saved = errno;

	if (*f)
		(void)fclose(*f);
	errno = saved;
}

static inline void closedirp(DIR **d)
{
	int saved = errno;

	if (*d)
		(void)closedir(*d);
	errno = saved;
}

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)
#define _cleanup_fclose_ _cleanup_(fclosep)
#define _cleanup_closedir_ _cleanup_(closedirp)
