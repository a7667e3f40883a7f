/* SPDX-License-Identifier: Apache-2.0 */
/* ofed-driver: builds, loads and gives back the RDMA stack of a node. docs/ofed-driver.md */
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include "common/log.h"
#include "entrypoints/instance.h"
#include "entrypoints/keeper.h"
#include "entrypoints/phase.h"
#include "entrypoints/stop_signals.h"
#include "entrypoints/supervisor.h"
#include "kernel/mounts.h"
#include "ofed/driver.h"

#define BINARY "ofed-driver"

enum { TIMEOUT_BY_HAND_MS = 5 * 60 * 1000 };

extern char **environ;

struct invocation {
	struct ofed_settings set;
	struct sysroot *host, *own;
	char *const *argv;
	char *operand;    /* the verb as it was spelt */
	sigset_t blocked; /* before main() blocked what says stop */
};

struct verb {
	const char *name, *help;
	int (*in_driver)(struct driver *d);
	int (*alone)(const struct invocation *in); /* instead */
	bool exclusive;                            /* takes the instance lock */
	bool builds;                               /* may ask its supervisor for a build */
	bool stoppable;                            /* hears the signals that say stop itself */
};

static int run(const struct invocation *in);
static int build(const struct invocation *in);
static int status(const struct invocation *in);

static const struct verb verbs[] = {
	{ "run",
	  "build if need be, load, wait, and on SIGTERM give the stack back: what a container starts",
	  .alone = run, .stoppable = true },
	{ "build", "make a driver tree from a source; prints where it lies", .alone = build,
	  .stoppable = true },
	{ "plan", "print what load would do, or all that refuses it", .in_driver = verb_plan },
	{ "load", "make the tree's modules the live RDMA stack", .in_driver = verb_load,
	  .exclusive = true, .builds = true, .stoppable = true },
	{ "unload", "go back to what was there before the first swap of this boot",
	  .in_driver = verb_unload, .exclusive = true, .stoppable = true },
	{ "status", "print what is live; exit 1 if that is not what the ready file says",
	  .alone = status },
	{ "precompiled", "the same as run", .alone = run, .stoppable = true },
	{ "sources", "the same as run", .alone = run, .stoppable = true },
};
enum { VERBS = sizeof(verbs) / sizeof(*verbs) };

static void print_help(void)
{
	printf("usage: " BINARY " VERB [options]\n\nverbs:\n");
	for (const struct verb *v = verbs; v < verbs + VERBS; v++)
		printf("  %-12s %s\n", v->name, v->help);
	printf("\noptions [variable; the option wins], and variables without an option:\n");
	settings_help(stdout, ofed_table, ofed_table_size);
	printf("\n--help, --version; --reasons: every reason code with its exit code and remedy\n"
	       "exit codes: 0 yes; 1 no, or refused; 100 misuse; 111 a system call failed; "
	       "124 a deadline passed; 128+n signal n\n");
}

/* docs/reasons.md */
static void print_reasons(void)
{
	printf("| reason | exit code | what it means | what to do |\n|---|---|---|---|\n");
	for (int i = 0; i < REASON_COUNT; i++) {
		const struct reason_info *info = reason_info((enum reason)i);

		printf("| %s | %d | %s | %s |\n", info->code, info->exit, info->cause,
		       info->remedy);
	}
}

static bool answers_about_itself(char *const argv[])
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++) {
		if (strcmp(*argv, "--help") == 0)
			print_help();
		else if (strcmp(*argv, "--version") == 0)
			printf(BINARY " " GDRKIT_VERSION "\n");
		else if (strcmp(*argv, "--reasons") == 0)
			print_reasons();
		else
			continue;
		return true;
	}
	return false;
}

static int misused(const struct verdicts *why)
{
	static const struct driver nowhere = { .stop_fd = -1 };

	return driver_end(&nowhere, BINARY, -EINVAL, why);
}

static int fail(const char *object, int error)
{
	static const struct driver nowhere = { .stop_fd = -1 };
	_cleanup_verdicts_ struct verdicts why = { 0 };

	return driver_end(&nowhere, BINARY, driver_error(&why, object, error), &why);
}

/* Where Kubernetes looks for a container's last words: `kubectl describe pod` shows them. */
static void leave_last_words(void)
{
	const char *line = log_last_error();
	_cleanup_close_ int fd =
		*line ? open("/dev/termination-log", O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC)
		      : -1;

	if (fd >= 0 && write(fd, line, strlen(line)) < 0)
		log_debug("termination_log", "error", strerror(errno));
}

/*
 * Readable once one of them comes, or has come since main() blocked them. Blocked for good: a verb
 * ends in old or new, never between.
 */
static int hear_signals(int *ret)
{
	sigset_t set;
	int fd;

	stop_signals(&set);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	*ret = fd;
	return 0;
}

/*
 * Held to the end of the process: nobody closes the descriptor. While somebody else has it, what
 * has to be built is built first.
 */
static int take_instance(const struct invocation *in, const struct verb *v, const struct driver *d,
			 uint64_t timeout_ms)
{
	const char *path = ofed_path(in->set.lock_path);
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_free_ char *who = NULL;
	int fd = instance_inherited(), r;

	if (asprintf(&who, BINARY " %s", fd >= 0 ? "run" : v->name) < 0)
		return fail(path, -ENOMEM);
	if (fd == -ENOENT)
		fd = instance_open(in->host, path);
	r = fd < 0 ? fd : instance_try(fd, who);
	if (r == -EWOULDBLOCK && v->builds && driver_wants_build(d) && instance_is_held(fd))
		return EXIT_BUILD;
	if (r == -EWOULDBLOCK)
		r = instance_take(fd, who, d->stop_fd, timeout_ms);
	if (r == 0)
		return 0;
	if (r == -ECANCELED)
		verdicts_no(&why, REASON_INTERRUPTED, path, "while waiting for the instance lock");
	return driver_end(d, v->name, r == -ECANCELED ? r : driver_error(&why, path, r), &why);
}

static uint64_t timeout(const struct ofed_settings *set)
{
	if (set->timeout_ms)
		return set->timeout_ms;
	return getenv(INSTANCE_FD) ? 0 : TIMEOUT_BY_HAND_MS;
}

/* Nor does ^Z hold it up half-way, or a terminal that it writes to from the background. */
static void never_stand_still(void)
{
	(void)signal(SIGTSTP, SIG_IGN);
	(void)signal(SIGTTIN, SIG_IGN);
	(void)signal(SIGTTOU, SIG_IGN);
}

static int in_driver(const struct invocation *in, const struct verb *v)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_driver_ struct driver d = { .stop_fd = -1 };
	int r = driver_init(&d, &in->set, in->host, in->own, &why);

	if (r == 0 && v->stoppable)
		r = driver_error(&why, "signals", hear_signals(&d.stop_fd));
	if (r < 0)
		return driver_end(&d, v->name, r, &why);
	if (v->exclusive)
		never_stand_still();
	d.timeout_ms = timeout(&in->set);
	d.supervised = getenv(INSTANCE_FD) != NULL;
	d.changes = v->exclusive;
	r = v->exclusive ? take_instance(in, v, &d, d.timeout_ms) : 0;
	return r ? r : v->in_driver(&d);
}

static int run(const struct invocation *in)
{
	const char *path = ofed_path(in->set.lock_path);
	_cleanup_close_ int lock = instance_open(in->host, path);
	const struct supervisor_spec spec = {
		.binary = BINARY,
		.argv = in->argv,
		.operand = in->operand,
		.build = in->set.source ? "build" : NULL,
		.exit_build = EXIT_BUILD,
		.load = "load",
		.unload = "unload",
		.restore = in->set.restore,
		.lock_fd = lock,
	};

	return lock < 0 ? fail(path, lock) : supervisor_run(&spec);
}

static int build_in_child(void *data)
{
	static const struct verb v = { "build", .in_driver = verb_build, .stoppable = true };
	int code = in_driver(data, &v);

	if (code)
		leave_last_words();
	return code;
}

/* Who was killed could not say so itself. */
static void say_killed(int signo)
{
	_cleanup_free_ char *how = NULL;
	const struct reason_info *info = reason_info(REASON_SYSTEM);

	if (asprintf(&how, "ended by SIG%s%s: what it left is gone", sigabbrev_np(signo),
		     signo == SIGKILL ? " (out of memory?)" : "") < 0)
		how = NULL;
	log_error("failed", "verb", "build", "reason", info->code, "object", "build", "detail", how,
		  "cause", info->cause, "remedy",
		  signo == SIGKILL ? "more memory, or fewer --jobs" : info->remedy, "exit",
		  NUM(128 + signo));
}

static void build_left_something(void *data, int signo)
{
	const struct invocation *in = data;

	(void)driver_sweep(in->own, &in->set);
	if (signo)
		say_killed(signo);
}

/*
 * What a build runs is not to have the instance lock, nor to keep it; and nobody waits for a build
 * whose supervisor was killed.
 */
static void leave_supervisor(void)
{
	int lock = instance_inherited();

	if (lock < 0)
		return;
	closep(&lock);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
}

static int build(const struct invocation *in)
{
	const struct keeper_work work = { build_in_child, build_left_something, (void *)in };
	int code;

	leave_supervisor();
	code = keeper_run(&work);
	return code < 0 ? fail("build", code) : code;
}

/* --ready: this container's driver, not one that another container has left. */
static int judge_ready(struct driver *d, enum phase phase)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	int r = 0;

	if (phase != PHASE_READY)
		verdicts_no(&why, REASON_STALE_READY, "supervisor", "it has not loaded, or stops");
	else
		r = driver_ready(d, &why);
	return driver_end(d, "status", r, &why);
}

static int status(const struct invocation *in)
{
	static const struct verb full = { "status", .in_driver = verb_status };
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_driver_ struct driver d = { .stop_fd = -1 };
	enum phase phase;
	int r;

	if (!in->set.live && !in->set.ready)
		return in_driver(in, &full);
	r = phase_ask(BINARY, &phase);
	if (r < 0) {
		verdicts_no(&why, REASON_STALE_READY, "supervisor", "%s", strerror(-r));
		return driver_end(&d, "status", 0, &why);
	}
	if (!in->set.ready)
		return 0;
	r = driver_init(&d, &in->set, in->host, in->own, &why);
	return r < 0 ? driver_end(&d, "status", r, &why) : judge_ready(&d, phase);
}

static const struct verb *find_verb(char *const operands[], struct verdicts *why)
{
	for (const struct verb *v = verbs; operands[0] && v < verbs + VERBS; v++) {
		if (strcmp(v->name, operands[0]) != 0)
			continue;
		if (!operands[1])
			return v;
		verdicts_no(why, REASON_USAGE, operands[1], "one verb, and no other words");
		return NULL;
	}
	verdicts_no(why, REASON_USAGE, operands[0] ? operands[0] : "VERB",
		    operands[0] ? "no such verb" : "a verb is missing");
	return NULL;
}

static void set_up_log(const struct ofed_settings *set)
{
	enum log_format format = strcmp(set->log_format, "text") == 0   ? LOG_TEXT
				 : strcmp(set->log_format, "json") == 0 ? LOG_JSON
									: LOG_AUTO;

	log_setup(stderr, format, set->verbose ? LEVEL_DEBUG : LEVEL_INFO);
}

static int dispatch(struct invocation *in, const struct verb *v)
{
	const char *host = in->set.host_root ? in->set.host_root : mounts_host_root();
	int r = sysroot_open(host, &in->host);

	if (r == 0)
		r = sysroot_open("/", &in->own);
	if (r < 0)
		return fail(host, r);
	return v->alone ? v->alone(in) : in_driver(in, v);
}

static int invoke(struct invocation *in)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_free_ char **operands = NULL;
	const struct verb *v;

	if (settings_read(ofed_table, ofed_table_size, &in->set, in->argv, environ, &operands,
			  &why) < 0)
		return misused(&why);
	set_up_log(&in->set);
	v = find_verb(operands, &why);
	if (!v)
		return misused(&why);
	in->operand = operands[0];
	if (!v->stoppable)
		(void)sigprocmask(SIG_SETMASK, &in->blocked, NULL);
	return dispatch(in, v);
}

int main(int argc, char *argv[])
{
	struct invocation in = { .argv = argv };
	sigset_t stop;
	int code;

	stop_signals(&stop);
	(void)sigprocmask(SIG_BLOCK, &stop, &in.blocked);
	(void)signal(SIGCHLD, SIG_DFL); /* else children end unseen, where our parent ignores it */
	(void)signal(SIGPIPE, SIG_IGN); /* a log that nobody reads is no reason to stop half-way */
	if (argc > 0 && answers_about_itself(argv + 1))
		return fflush(stdout) == 0 ? 0 : EXIT_SYSTEM;
	code = invoke(&in);
	if (code)
		leave_last_words();
	settings_clear(ofed_table, ofed_table_size, &in.set);
	sysroot_free(in.host);
	sysroot_free(in.own);
	return code;
}
