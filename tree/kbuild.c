/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/kbuild.h"

#include <string.h>
#include <sys/stat.h>

#include "common/child.h"
#include "common/progress.h"
#include "tree/folder.h"

/* ---- the first error */

/* The lower, the closer to the cause; what is no error has none. */
enum rank { NO_ERROR, CAUSE, PERHAPS, CONSEQUENCE, NO_RANK };

struct mark {
	const char *text;
	enum { IN_LINE, AT_START } where;
	enum rank rank;
};

/* The first that a line has counts. */
static const struct mark MARKS[] = {
	{ ": error: ", IN_LINE, CAUSE },
	{ ": fatal error: ", IN_LINE, CAUSE },
	{ ": Error: ", IN_LINE, CAUSE }, /* the assembler */
	{ ": undefined reference to ", IN_LINE, CAUSE },
	{ "ERROR: ", AT_START, CAUSE }, /* modpost, kernel configuration */
	{ "FATAL: ", AT_START, CAUSE },
	{ "*** No rule to make target ", IN_LINE, CAUSE },
	{ ": command not found", IN_LINE, PERHAPS },
	{ ": not found", IN_LINE, PERHAPS },
	{ ": No such file or directory", IN_LINE, PERHAPS },
	{ "*** Waiting for unfinished jobs", IN_LINE, NO_ERROR },
	{ "*** ", IN_LINE, CONSEQUENCE },
	{ "cc1: ", AT_START, CONSEQUENCE }, /* all warnings being treated as errors */
};

static bool has(const char *line, size_t len, const struct mark *mark)
{
	size_t need = strlen(mark->text);

	if (mark->where == AT_START)
		return len >= need && !memcmp(line, mark->text, need);
	return memmem(line, len, mark->text, need);
}

static enum rank rank_of(const char *line, size_t len)
{
	for (size_t i = 0; i < sizeof(MARKS) / sizeof(*MARKS); i++)
		if (has(line, len, &MARKS[i]))
			return MARKS[i].rank;
	return NO_ERROR;
}

const char *kbuild_first_error(const char *output, size_t *ret_len)
{
	const char *best = NULL;
	enum rank least = NO_RANK;
	size_t len;

	for (const char *line = output; *line; line += len + (line[len] == '\n')) {
		enum rank rank;

		len = strcspn(line, "\n");
		rank = rank_of(line, len);
		if (rank == NO_ERROR || rank >= least)
			continue;
		best = line;
		least = rank;
		*ret_len = len;
	}
	return best;
}

/* ---- one child, listened to */

struct listener {
	int log_fd;
	const char *what;          /* as the progress calls it */
	struct progress *progress; /* from the first file on: most children compile none */
	uint64_t compiled, total;  /* total 0: not known */
	char *error;
	enum rank rank; /* of `error` */
};

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

static void keep_error(struct listener *l, const char *line, size_t len)
{
	enum rank rank = rank_of(line, len);
	char *copy;

	if (rank == NO_ERROR || rank >= l->rank)
		return;
	copy = strndup(line, len);
	if (!copy)
		return;
	free(l->error);
	l->error = copy;
	l->rank = rank;
}

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), need = strlen(end);

	return len >= need && !strcmp(text + len - need, end);
}

/* "  CC [M]  /x/a.o"; modpost's x.mod.o has no file in the source. */
static bool is_compiled(const char *line)
{
	return (!strncmp(line, "  CC [M]", 8) || !strncmp(line, "  AS [M]", 8)) &&
	       !ends_in(line, ".mod.o");
}

static void count_file(struct listener *l, const char *line)
{
	const char *slash = strrchr(line, '/');

	if (!l->progress && progress_new(l->what, l->total, &l->progress) < 0)
		return;
	l->compiled += !l->total || l->compiled < l->total;
	progress_step(l->progress, l->compiled, slash ? slash + 1 : line + 8);
}

static void on_line(void *data, const char *line)
{
	struct listener *l = data;
	size_t len = strlen(line);

	write_log(l->log_fd, line, len);
	write_log(l->log_fd, "\n", 1);
	keep_error(l, line, len);
	if (is_compiled(line))
		count_file(l, line);
}

/* What the kernel's configuration leaves out is done as well. */
static void end_progress(struct listener *l, bool good)
{
	if (l->progress && l->total && good)
		progress_step(l->progress, l->total, NULL);
	l->progress = progress_free(l->progress);
}

static int make_environment(char ***ret)
{
	static const char *const KEPT[] = { "PATH", "HOME", "TMPDIR" };
	size_t n = sizeof(KEPT) / sizeof(*KEPT), used = 0;
	_cleanup_strv_ char **env = calloc(n + 2, sizeof(*env));

	if (!env)
		return -ENOMEM;
	env[used] = strdup("LC_ALL=C");
	if (!env[used++])
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *value = getenv(KEPT[i]);

		if (value && asprintf(&env[used], "%s=%s", KEPT[i], value) < 0) {
			env[used] = NULL;
			return -ENOMEM;
		}
		used += value != NULL;
	}
	*ret = TAKE_PTR(env);
	return 0;
}

static int judge(const struct kbuild *b, const char *object, const struct child_result *res,
		 const struct listener *l, struct verdicts *why)
{
	if (res->stopped)
		return -ECANCELED;
	if (res->status == 0)
		return 0;
	verdicts_no(why, REASON_BUILD_FAILED, object, "exit %d: %s; all of it in %s", res->status,
		    l->error ?: "without saying why", b->log_name ?: "the log");
	return -ENOEXEC;
}

/* files: how many it has to compile; 0: not known. */
static int run_child(const struct kbuild *b, const char *object, const char *const argv[],
		     size_t files, struct verdicts *why)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	_cleanup_strv_ char **env = NULL;
	struct listener l = {
		.log_fd = b->log_fd, .what = object, .total = files, .rank = NO_RANK
	};
	struct child_spec spec = {
		.argv = argv,
		.dir = b->scratch,
		.stop_fd = b->stop_fd,
		.line = on_line,
		.data = &l,
	};
	int r = make_environment(&env);

	if (r < 0)
		return r;
	spec.env = (const char *const *)env;
	r = child_run(&spec, &res);
	end_progress(&l, r == 0 && res.status == 0 && !res.stopped);
	if (r < 0)
		verdicts_no(why, REASON_BUILD_FAILED, object, "%s: %s", argv[0], strerror(-r));
	else
		r = judge(b, object, &res, &l, why);
	free(l.error);
	return r;
}

int kbuild_child(const struct kbuild *b, const char *object, const char *const argv[],
		 struct verdicts *why)
{
	return run_child(b, object, argv, 0, why);
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
	argv = calloc(n_flags + 8, sizeof(*argv));
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

static int run_make(const struct kbuild *b, const struct recipe_values *values, const char *dir,
		    const char *symvers, struct verdicts *why)
{
	_cleanup_strv_ char **argv = NULL;
	_cleanup_free_ char *path = NULL;
	struct stat st;
	size_t files = 0;
	int r;

	if (asprintf(&path, "%s/%s", b->scratch, dir) < 0)
		return -ENOMEM;
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
		verdicts_no(why, REASON_BUILD_FAILED, dir, "the source has no such directory");
		return -ENOEXEC;
	}
	r = make_argv(b, values, dir, symvers, &argv);
	if (r == 0)
		r = count_sources(b, dir, &files);
	return r < 0 ? r : run_child(b, dir, (const char *const *)argv, files, why);
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
