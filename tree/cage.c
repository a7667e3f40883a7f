/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/cage.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "common/cleanup.h"

/* Only what is touched of it is memory. */
enum { STACK_BYTES = 256 << 10 };

/* ---- Landlock: what <linux/landlock.h> has had since 5.19 is its own, the rest is ours */

#define FS_TRUNCATE (1ULL << 14)
#define FS_IOCTL_DEV (1ULL << 15)
#define NET_TCP (1ULL << 0 | 1ULL << 1) /* bind, connect */
#define SCOPED (1ULL << 0 | 1ULL << 1)  /* abstract unix sockets, signals */

#define FS_ALWAYS                                                        \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | \
	 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |     \
	 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |   \
	 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)
#define FS_DEVICE (LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

/* struct landlock_ruleset_attr as of ABI 6: an older kernel takes it while what it lacks is 0. */
struct ruleset {
	uint64_t fs, net, scoped;
};

/* What an ABI added to the one before. */
static const struct {
	int abi;
	struct ruleset handles;
} ADDED[] = {
	{ 1, { .fs = FS_ALWAYS } },    { 2, { .fs = LANDLOCK_ACCESS_FS_REFER } },
	{ 3, { .fs = FS_TRUNCATE } },  { 4, { .net = NET_TCP } },
	{ 5, { .fs = FS_IOCTL_DEV } }, { 6, { .scoped = SCOPED } },
};

static const char *const DEVICES[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/tty" };

int cage_landlock(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

static struct ruleset handled(int abi)
{
	struct ruleset all = { 0 };

	for (size_t i = 0; i < sizeof(ADDED) / sizeof(*ADDED); i++) {
		if (ADDED[i].abi > abi)
			continue;
		all.fs |= ADDED[i].handles.fs;
		all.net |= ADDED[i].handles.net;
		all.scoped |= ADDED[i].handles.scoped;
	}
	return all;
}

static int allow(int ruleset, const char *path, int flags, uint64_t access)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC | flags);
	struct landlock_path_beneath_attr rule = { .allowed_access = access, .parent_fd = fd };

	if (fd < 0)
		return -errno;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return -errno;
	return 0;
}

static int allow_all(int ruleset, const char *const writable[], uint64_t access)
{
	for (; *writable; writable++) {
		int r = allow(ruleset, *writable, O_DIRECTORY, access);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < sizeof(DEVICES) / sizeof(*DEVICES); i++) {
		int r = allow(ruleset, DEVICES[i], 0, access & FS_DEVICE);

		if (r < 0 && r != -ENOENT)
			return r;
	}
	return 0;
}

/* ret_fd -1: there is no Landlock here. */
static int make_ruleset(const char *const writable[], int *ret_fd)
{
	const struct ruleset all = handled(cage_landlock());
	_cleanup_close_ int fd = -1;
	int r;

	if (all.fs)
		fd = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	if (all.fs && fd < 0 && errno != ENOSYS && errno != EOPNOTSUPP && errno != EPERM)
		return -errno;
	r = fd >= 0 ? allow_all(fd, writable, all.fs) : 0;
	if (r == 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}

/* ---- the thread */

struct cage {
	int ruleset; /* -1: none */
	int (*fn)(void *data);
	void *data;
	int result;
};

/* By the system call: it is this thread's, whatever libcap would make of it. */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    syscall(SYS_capset, &header, none) < 0)
		return -errno;
	return 0;
}

static int enter(int ruleset)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	if (ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return -errno;
	return drop_capabilities();
}

static void *in_cage(void *arg)
{
	struct cage *c = arg;

	c->result = enter(c->ruleset);
	if (c->result == 0)
		c->result = c->fn(c->data);
	return NULL;
}

/* A thread begins with its maker's mask: no signal is meant for this one. */
static int start(struct cage *c, pthread_t *ret)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int r = pthread_attr_init(&attr);

	if (r != 0)
		return -r;
	(void)sigfillset(&all);
	r = pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (r == 0)
		r = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (r == 0) {
		r = pthread_create(ret, &attr, in_cage, c);
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	(void)pthread_attr_destroy(&attr);
	return -r;
}

static int run_thread(struct cage *c)
{
	pthread_t thread;
	int r = start(c, &thread);

	if (r == 0)
		r = -pthread_join(thread, NULL);
	return r < 0 ? r : c->result;
}

int cage_run(const char *const writable[], int (*fn)(void *data), void *data)
{
	_cleanup_close_ int ruleset = -1;
	struct cage c = { .fn = fn, .data = data };
	int dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	int r = make_ruleset(writable, &ruleset);

	if (r < 0)
		return r;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	c.ruleset = ruleset;
	r = run_thread(&c);
	if (dumpable == 1)
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	return r;
}
