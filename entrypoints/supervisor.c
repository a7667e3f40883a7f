/* SPDX-License-Identifier: Apache-2.0 */
#include "entrypoints/supervisor.h"

#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "common/events.h"
#include "common/log.h"
#include "common/reason.h"
#include "entrypoints/instance.h"
#include "entrypoints/phase.h"
#include "entrypoints/stop_signals.h"

extern char **environ;

enum { DONE = 1 }; /* ends the loop */

struct supervisor {
	const struct supervisor_spec *spec;
	struct events *ev;
	int listener; /* -1: another supervisor has the name */
	enum phase phase;
	pid_t child;
	bool built; /* no second try */
	int asked;  /* the first signal that said stop; 0: none yet */
	int code;
};

static int fail_for(struct supervisor *s, enum reason why, const char *what, int code,
		    const char *detail)
{
	const struct reason_info *info = reason_info(why);

	log_error("failed", "verb", "run", "reason", info->code, "object", what, "detail", detail,
		  "cause", info->cause, "remedy", info->remedy);
	s->code = code;
	return DONE;
}

static int fail(struct supervisor *s, const char *what, int code, const char *detail)
{
	return fail_for(s, REASON_SYSTEM, what, code, detail);
}

/* The same words, with the verb in the place of ours. */
static char **child_argv(const struct supervisor_spec *spec, const char *verb)
{
	size_t n = 0, m = 0;
	char **argv;

	while (spec->argv[n])
		n++;
	argv = calloc(n + 2, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[m++] = n ? spec->argv[0] : (char *)spec->binary;
	argv[m++] = (char *)verb;
	for (size_t i = 1; i < n; i++) {
		if (spec->argv[i] != spec->operand)
			argv[m++] = spec->argv[i];
	}
	return argv;
}

static char **child_env(char *lock)
{
	size_t n = 0, m = 0;
	char **env;

	while (environ[n])
		n++;
	env = calloc(n + 2, sizeof(*env));
	if (!env)
		return NULL;
	env[m++] = lock;
	for (size_t i = 0; i < n; i++) {
		if (strncmp(environ[i], INSTANCE_FD "=", sizeof(INSTANCE_FD)) != 0)
			env[m++] = environ[i];
	}
	return env;
}

/*
 * A process group of its own, so that a terminal's ^C reaches the child through us only. The
 * signals that say stop stay blocked: what is sent before the child listens is not lost.
 */
static int spawn_with(const struct supervisor_spec *spec, char *const argv[], char *const env[],
		      pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t blocked, reset;
	int r;

	stop_signals(&blocked);
	(void)sigfillset(&reset);
	if (posix_spawn_file_actions_init(&files) != 0)
		return -ENOMEM;
	if (posix_spawnattr_init(&attr) != 0) {
		(void)posix_spawn_file_actions_destroy(&files);
		return -ENOMEM;
	}
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	(void)posix_spawnattr_setpgroup(&attr, 0);
	(void)posix_spawnattr_setsigmask(&attr, &blocked);
	(void)posix_spawnattr_setsigdefault(&attr, &reset);
	/* Onto itself: no longer closed by the exec. */
	r = posix_spawn_file_actions_adddup2(&files, spec->lock_fd, spec->lock_fd);
	if (r == 0)
		r = posix_spawn(ret, "/proc/self/exe", &files, &attr, argv, env);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attr);
	return -r;
}

static int spawn(struct supervisor *s, const char *verb)
{
	_cleanup_free_ char *lock = NULL;
	_cleanup_free_ char **argv = child_argv(s->spec, verb), **env = NULL;
	int r;

	if (!argv || asprintf(&lock, INSTANCE_FD "=%d", s->spec->lock_fd) < 0)
		return -ENOMEM;
	env = child_env(lock);
	r = env ? spawn_with(s->spec, argv, env, &s->child) : -ENOMEM;
	log_debug("started", "verb", verb, "pid", NUM(s->child));
	return r;
}

static int stop(struct supervisor *s)
{
	int r;

	log_info("stopping", "signal", sigabbrev_np(s->asked), "restore",
		 s->spec->restore ? "true" : "false");
	s->phase = PHASE_STOPPING;
	if (!s->spec->restore)
		return DONE;
	r = spawn(s, s->spec->unload);
	return r < 0 ? fail(s, s->spec->unload, EXIT_SYSTEM, strerror(-r)) : 0;
}

static int on_asked(void *data, uint32_t mask)
{
	struct supervisor *s = data;

	(void)mask;
	phase_answer(s->listener, s->phase);
	return 0;
}

/* A probe that finds nobody fails, and says so itself: no reason to end what works. */
static void serve(struct supervisor *s)
{
	int r = 0;

	if (s->listener >= 0)
		return;
	s->listener = phase_listen(s->spec->binary);
	if (s->listener >= 0)
		r = events_fd(s->ev, s->listener, 0, on_asked, s, NULL);
	if (s->listener < 0 || r < 0)
		log_warn("no_status_socket", "error",
			 strerror(s->listener < 0 ? -s->listener : -r));
}

static int unmap_text(struct dl_phdr_info *info, size_t size, void *data)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size;
	(void)data;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = (info->dlpi_addr + p->p_vaddr) & ~(page - 1);
		uintptr_t to = info->dlpi_addr + p->p_vaddr + p->p_memsz;

		if (p->p_type == PT_LOAD && !(p->p_flags & PF_W))
			(void)madvise((void *)from, to - from, MADV_DONTNEED);
	}
	return 1; /* the program itself comes first; it is enough */
}

/*
 * From here on it waits, for weeks perhaps: of all the code that brought it here it needs a few
 * pages, and the kernel maps those again from the file when they are called.
 */
static void give_memory_back(void)
{
	(void)malloc_trim(0);
	(void)dl_iterate_phdr(unmap_text, NULL);
}

static const char *verb_of(const struct supervisor *s)
{
	return s->phase == PHASE_STOPPING   ? s->spec->unload
	       : s->phase == PHASE_BUILDING ? s->spec->build
					    : s->spec->load;
}

/* Asked to stop between two children, before anything was loaded. */
static int not_loaded(struct supervisor *s)
{
	return fail_for(s, REASON_INTERRUPTED, s->spec->load, 128 + s->asked,
			"before anything was loaded");
}

/* There is a tree to load after a build, and only one try to build it. */
static int go_on(struct supervisor *s, enum phase phase)
{
	int r;

	s->phase = phase;
	s->built = true;
	r = spawn(s, verb_of(s));
	return r < 0 ? fail(s, verb_of(s), EXIT_SYSTEM, strerror(-r)) : 0;
}

static int ended(struct supervisor *s, int status)
{
	const char *verb = verb_of(s);
	_cleanup_free_ char *how = NULL;

	s->child = 0;
	if (WIFSIGNALED(status)) {
		if (asprintf(&how, "ended by SIG%s; the next start recovers",
			     sigabbrev_np(WTERMSIG(status))) < 0)
			how = NULL;
		return fail(s, verb, 128 + WTERMSIG(status), how);
	}
	s->code = WEXITSTATUS(status);
	if (s->phase == PHASE_LOADING && s->spec->build && s->code == s->spec->exit_build) {
		if (s->asked)
			return not_loaded(s);
		return s->built ? fail(s, verb, EXIT_SYSTEM, "what was built is not found")
				: go_on(s, PHASE_BUILDING);
	}
	if (s->phase == PHASE_BUILDING && s->code == 0)
		return s->asked ? not_loaded(s) : go_on(s, PHASE_LOADING);
	if (s->code != 0 || s->phase == PHASE_STOPPING)
		return DONE;
	s->phase = PHASE_READY;
	serve(s); /* the one that had the name before is gone: it held the lock */
	if (s->asked)
		return stop(s);
	give_memory_back();
	return 0;
}

/* Orphans come to PID 1: all are reaped, one of them is ours. */
static int reap(struct supervisor *s)
{
	int status, r = 0;
	pid_t pid;

	while (r == 0 && (pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == s->child)
			r = ended(s, status);
	}
	return r;
}

static int on_signal(void *data, int signo)
{
	struct supervisor *s = data;

	if (signo == SIGCHLD)
		return reap(s);
	if (!s->asked)
		s->asked = signo;
	if (s->child > 0) {
		log_info("signalled", "signal", sigabbrev_np(signo), "passed_to", NUM(s->child));
		(void)kill(s->child, signo);
		return 0;
	}
	return stop(s);
}

static int supervise(struct supervisor *s)
{
	sigset_t set;
	int r;

	stop_signals(&set);
	(void)sigaddset(&set, SIGCHLD);
	r = events_new(&s->ev);
	if (r == 0)
		r = events_signals(s->ev, &set, on_signal, s, NULL);
	if (r < 0)
		return r;
	serve(s);
	r = spawn(s, s->spec->load);
	return r < 0 ? r : events_run(s->ev);
}

int supervisor_run(const struct supervisor_spec *spec)
{
	struct supervisor s = { .spec = spec, .listener = -1, .phase = PHASE_LOADING };
	int r = supervise(&s);

	if (r < 0)
		(void)fail(&s, "run", EXIT_SYSTEM, strerror(-r));
	events_free(s.ev);
	closep(&s.listener);
	return s.code;
}
