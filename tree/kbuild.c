/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/kbuild.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "common/child.h"
#include "common/events.h"
#include "common/progress.h"
#include "tree/complaint.h"
#include "tree/folder.h"

enum { GRACE_MS = 500 }; /* nothing of a build that is stopped is kept */
#define FULL_BYTES ((uint64_t)64 << 10)

/* ---- one child, listened to */

/* One program of the build. */
struct job {
	const char *object; /* as BUILD_FAILED calls it */
	const char *what;   /* as the progress calls it */
	const char *const *argv;
	size_t files; /* it has to compile; 0: not known */
	bool lines;   /* what it prints is its progress until it compiles a file */
};

struct listener {
	const struct job *job;
	int log_fd;
	struct progress *progress; /* from the first step on: many children take none */
	uint64_t compiled, lines;
	struct complaint said;
};

static void listener_clear(struct listener *l)
{
	l->progress = progress_free(l->progress);
	complaint_clear(&l->said);
}

static void write_log(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) /* a full disk fails the build itself soon enough */
			return;
		text += n;
		len -= (size_t)n;
	}
}

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), need = strlen(end);

	return len >= need && !strcmp(text + len - need, end);
}

/* "  CC [M]  /x/a.o"; modpost's x.mod.o and .module-common.o have no file in the source. */
static bool is_compiled(const char *line)
{
	return (!strncmp(line, "  CC [M]", 8) || !strncmp(line, "  AS [M]", 8)) &&
	       !ends_in(line, ".mod.o") && !ends_in(line, "/.module-common.o");
}

static void step(struct listener *l, uint64_t done, const char *now)
{
	if (l->progress || progress_new(l->job->what, l->job->files, &l->progress) == 0)
		progress_step(l->progress, done, now);
}

static void count_file(struct listener *l, const char *line)
{
	const char *slash = strrchr(line, '/');

	l->compiled += !l->job->files || l->compiled < l->job->files;
	step(l, l->compiled, slash ? slash + 1 : line + 8);
}

static void count_line(struct listener *l, const char *line)
{
	_cleanup_free_ char *now = strdup(line + strspn(line, " \t\r"));
	size_t len = now ? strlen(now) : 0;

	while (len > 0 && strchr(" \t\r", now[len - 1]))
		now[--len] = '\0';
	step(l, ++l->lines, len ? now : NULL);
}

static void on_line(void *data, const char *line)
{
	struct listener *l = data;

	write_log(l->log_fd, line, strlen(line));
	write_log(l->log_fd, "\n", 1);
	complaint_line(&l->said, line);
	if (is_compiled(line))
		count_file(l, line);
	else if (l->job->lines && !l->compiled)
		count_line(l, line);
}

/* What the kernel's configuration leaves out is done as well. */
static void finish_progress(struct listener *l)
{
	if (l->progress && l->job->files)
		progress_step(l->progress, l->job->files, NULL);
}

static int put(char **env, size_t *n, const char *name, const char *value)
{
	if (!value)
		return 0;
	if (asprintf(&env[*n], "%s=%s", name, value) < 0) {
		env[*n] = NULL;
		return -ENOMEM;
	}
	++*n;
	return 0;
}

static int make_environment(const struct kbuild *b, char ***ret)
{
	const char *path = getenv("PATH") ?: "/usr/sbin:/usr/bin:/sbin:/bin";
	_cleanup_strv_ char **env = calloc(6, sizeof(*env));
	_cleanup_free_ char *paths = NULL;
	size_t n = 0;

	if (!env || asprintf(&paths, "%s%s%s", b->tools ?: "", b->tools ? ":" : "", path) < 0)
		return -ENOMEM;
	if (put(env, &n, "LC_ALL", "C") < 0 || put(env, &n, "PATH", paths) < 0 ||
	    put(env, &n, "HOME", b->tmp ?: getenv("HOME")) < 0 ||
	    put(env, &n, "TMPDIR", b->tmp ?: getenv("TMPDIR")) < 0 ||
	    put(env, &n, "LLVM", b->llvm ? "1" : NULL) < 0)
		return -ENOMEM;
	*ret = TAKE_PTR(env);
	return 0;
}

/* posix_spawnp looks a name up in our PATH, not in the child's: the tool's path, or NULL. */
static int find_tool(const struct kbuild *b, const char *name, char **ret)
{
	_cleanup_free_ char *path = NULL;

	if (!b->tools || strchr(name, '/'))
		return 0;
	if (asprintf(&path, "%s/%s", b->tools, name) < 0)
		return -ENOMEM;
	if (access(path, X_OK) == 0)
		*ret = TAKE_PTR(path);
	return 0;
}

/* Not everybody who meets a full disk says so. */
static bool is_full(const char *dir)
{
	struct statvfs st;

	return statvfs(dir, &st) == 0 && (uint64_t)st.f_bavail * st.f_frsize < FULL_BYTES;
}

/* What it said last, if there is nothing better: one line, its own words. */
static const char *last_line(char *tail)
{
	size_t len = strlen(tail);
	char *line;

	while (len && tail[len - 1] == '\n')
		tail[--len] = '\0';
	line = strrchr(tail, '\n');
	return line ? line + 1 : *tail ? tail : NULL;
}

static int say_failed(const struct kbuild *b, struct child_result *res, const struct listener *l,
		      const char *log, struct verdicts *why)
{
	const char *said = l->said.error ?: last_line(res->tail) ?: "without saying why";
	bool killed = res->status == 128 + SIGKILL || complaint_of_kill(&l->said);
	int r = complaint_of_disk(&l->said);

	if (r == 0 && is_full(b->scratch))
		r = -ENOSPC;
	if (r < 0) {
		verdicts_no(why, REASON_STORE_UNUSABLE, l->job->object, "%s: %s; all of it in %s",
			    strerror(-r), l->said.disk ?: said, log);
		return r;
	}
	verdicts_no(why, REASON_BUILD_FAILED, l->job->object, "exit %d: %s%s; all of it in %s",
		    res->status, said, killed ? " (out of memory?)" : "", log);
	return -ENOEXEC;
}

static int judge(const struct kbuild *b, struct child_result *res, const struct listener *l,
		 const char *log, struct verdicts *why)
{
	if (res->stopped)
		return -ECANCELED;
	if (!res->timed_out)
		return res->status ? say_failed(b, res, l, log, why) : 0;
	verdicts_no(why, REASON_WAIT_TIMEOUT, l->job->object,
		    "not done after %llu s; all of it in %s", (unsigned long long)res->ms / 1000,
		    log);
	return -ETIMEDOUT;
}

static const char *log_name(const struct kbuild *b)
{
	return b->log_name ?: "the log";
}

/* 0: no deadline; -ETIMEDOUT: it has passed. */
static int time_left(const struct kbuild *b, const char *object, uint64_t *ret_ms,
		     struct verdicts *why)
{
	uint64_t now = events_now();

	if (b->deadline_ms && b->deadline_ms <= now) {
		verdicts_no(why, REASON_WAIT_TIMEOUT, object, "not begun in time; all of it in %s",
			    log_name(b));
		return -ETIMEDOUT;
	}
	*ret_ms = b->deadline_ms ? b->deadline_ms - now : 0;
	return 0;
}

/* As job->argv, but for the program's own path, that it was found at. */
static int spawn_job(const struct kbuild *b, const struct job *job, const char *tool,
		     struct child_spec *spec, struct child_result *res)
{
	size_t n = 0;
	_cleanup_free_ const char **argv = NULL;

	while (job->argv[n])
		n++;
	argv = calloc(n + 1, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	memcpy(argv, job->argv, n * sizeof(*argv));
	argv[0] = tool ?: argv[0];
	spec->argv = argv;
	spec->dir = b->scratch;
	spec->stop_fd = b->stop_fd;
	return child_run(spec, res);
}

static int run_job(const struct kbuild *b, const struct job *job, struct verdicts *why)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	_cleanup_(listener_clear) struct listener l = { .job = job, .log_fd = b->log_fd };
	_cleanup_strv_ char **env = NULL;
	_cleanup_free_ char *tool = NULL;
	struct child_spec spec = { .line = on_line, .data = &l, .grace_ms = GRACE_MS };
	int r = time_left(b, job->object, &spec.timeout_ms, why);

	if (r == 0)
		r = make_environment(b, &env);
	if (r == 0)
		r = find_tool(b, job->argv[0], &tool);
	if (r < 0)
		return r;
	spec.env = (const char *const *)env;
	r = spawn_job(b, job, tool, &spec, &res);
	if (r < 0)
		verdicts_no(why, REASON_BUILD_FAILED, job->object, "%s: %s", job->argv[0],
			    strerror(-r));
	else
		r = judge(b, &res, &l, log_name(b), why);
	if (r == 0)
		finish_progress(&l);
	return r;
}

int kbuild_child(const struct kbuild *b, const char *object, const char *const argv[],
		 struct verdicts *why)
{
	const char *slash = strrchr(argv[0], '/');
	const struct job job = { object, slash ? slash + 1 : argv[0], argv, 0, true };

	return run_job(b, &job, why);
}

/* ---- kbuild directories */

static bool is_source(const char *name)
{
	return (ends_in(name, ".c") && !ends_in(name, ".mod.c")) || ends_in(name, ".S");
}

static int count_sources(const struct kbuild *b, const char *dir, size_t *ret)
{
	_cleanup_(sysroot_freep) struct sysroot *root = NULL;
	_cleanup_strv_ char **files = NULL;
	size_t n = 0;
	int r = sysroot_open(b->scratch, &root);

	if (r == 0)
		r = folder_find(root, dir, is_source, &files);
	if (r < 0)
		return r;
	while (files[n])
		n++;
	*ret = n;
	return 0;
}

/* What make is given: owned words, NULL-ended. */
static int make_argv(const struct kbuild *b, const struct recipe_values *values, const char *dir,
		     const char *symvers, char ***ret)
{
	size_t n_flags = 0, n = 0;
	_cleanup_strv_ char **argv = NULL;
	int r = 0;

	while (b->recipe->flags[n_flags])
		n_flags++;
	argv = calloc(n_flags + 9, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	if (!(argv[n++] = strdup("make")) || !(argv[n++] = strdup("-C")) ||
	    !(argv[n++] = strdup(b->headers)) ||
	    asprintf(&argv[n++], "M=%s/%s", b->scratch, dir) < 0 ||
	    asprintf(&argv[n++], "-j%u", b->jobs) < 0 ||
	    asprintf(&argv[n++], "KBUILD_EXTRA_SYMBOLS=%s", symvers) < 0) {
		argv[n - 1] = NULL;
		return -ENOMEM;
	}
	if (b->llvm && !(argv[n++] = strdup("LLVM=1")))
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < n_flags; i++)
		r = recipe_expand(b->recipe->flags[i], values, &argv[n++]);
	if (r == 0 && !(argv[n] = strdup("modules")))
		r = -ENOMEM;
	if (r == 0)
		*ret = TAKE_PTR(argv);
	return r;
}

static int chain(char **symvers, const char *scratch, const char *dir)
{
	_cleanup_free_ char *before = TAKE_PTR(*symvers);
	const char *blank = *before ? " " : "";

	if (asprintf(symvers, "%s%s%s/%s/Module.symvers", before, blank, scratch, dir) < 0) {
		*symvers = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* The directory itself is what counts: a link may lead anywhere, and make would write there. */
static const char *not_in_source(const struct kbuild *b, const char *path)
{
	_cleanup_free_ char *source = realpath(b->scratch, NULL), *real = realpath(path, NULL);
	size_t len = source ? strlen(source) : 0;
	struct stat st;

	if (!source || !real || stat(real, &st) < 0 || !S_ISDIR(st.st_mode))
		return "the source has no such directory";
	if (strncmp(real, source, len) || (real[len] && real[len] != '/'))
		return "a link leads out of the source";
	return NULL;
}

static int check_directory(const struct kbuild *b, const char *dir, struct verdicts *why)
{
	_cleanup_free_ char *path = NULL;
	const char *wrong;

	if (asprintf(&path, "%s/%s", b->scratch, dir) < 0)
		return -ENOMEM;
	wrong = not_in_source(b, path);
	if (!wrong)
		return 0;
	verdicts_no(why, REASON_BUILD_FAILED, dir, "%s", wrong);
	return -ENOEXEC;
}

static int run_make(const struct kbuild *b, const struct recipe_values *values, const char *dir,
		    const char *symvers, struct verdicts *why)
{
	_cleanup_strv_ char **argv = NULL;
	struct job job = { .object = dir, .what = strcmp(dir, ".") ? dir : b->recipe->name };
	int r = check_directory(b, dir, why);

	if (r == 0)
		r = make_argv(b, values, dir, symvers, &argv);
	if (r == 0)
		r = count_sources(b, dir, &job.files);
	if (r < 0)
		return r;
	job.argv = (const char *const *)argv;
	return run_job(b, &job, why);
}

static int run_kbuild(const struct kbuild *b, const struct recipe_values *values,
		      struct verdicts *why)
{
	_cleanup_free_ char *symvers = strdup("");
	int r = symvers ? 0 : -ENOMEM;

	for (char **dir = b->recipe->kbuild; r == 0 && *dir; dir++) {
		r = run_make(b, values, *dir, symvers, why);
		if (r == 0)
			r = chain(&symvers, b->scratch, *dir);
	}
	return r;
}

/* ---- commands */

static int run_command(const struct kbuild *b, const struct recipe_values *values, char **command,
		       struct verdicts *why)
{
	_cleanup_strv_ char **argv = NULL;
	size_t n = 0;
	int r = 0;

	while (command[n])
		n++;
	argv = calloc(n + 1, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = recipe_expand(command[i], values, &argv[i]);
	return r < 0 ? r : kbuild_child(b, command[0], (const char *const *)argv, why);
}

int kbuild_run(const struct kbuild *b, struct verdicts *why)
{
	const struct recipe_values values = {
		.kernel = b->kernel,
		.headers = b->headers,
		.sources = b->sources,
		.source = b->scratch,
		.output = b->output,
		.jobs = b->jobs,
	};
	int r = run_kbuild(b, &values, why);

	for (char ***command = b->recipe->commands; r == 0 && *command; command++)
		r = run_command(b, &values, *command, why);
	return r;
}
