/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/host_programs.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "common/child.h"
#include "tree/folder.h"

#define PROGRAM_TIMEOUT_MS 10000
#define INTERPRETER_MAX 256

static bool always(const struct headers *h)
{
	(void)h;
	return true;
}

static bool uses_genksyms(const struct headers *h)
{
	const struct kconfig *c = &h->config;

	return kconfig_has(c, "MODVERSIONS") &&
	       (kconfig_has(c, "GENKSYMS") || !kconfig_has(c, "GENDWARFKSYMS"));
}

static bool uses_gendwarfksyms(const struct headers *h)
{
	return kconfig_has(&h->config, "MODVERSIONS") && kconfig_has(&h->config, "GENDWARFKSYMS");
}

static bool uses_objtool(const struct headers *h)
{
	return kconfig_has(&h->config, "OBJTOOL") || kconfig_has(&h->config, "STACK_VALIDATION");
}

/* scripts/Makefile.modfinal: without vmlinux it goes without BTF. */
static bool uses_resolve_btfids(const struct headers *h)
{
	_cleanup_free_ char *vmlinux = NULL;

	return kconfig_has(&h->config, "DEBUG_INFO_BTF_MODULES") &&
	       folder_join(h->path, "vmlinux", &vmlinux) == 0 && access(vmlinux, F_OK) == 0;
}

static const struct program {
	const char *path;
	bool (*wanted)(const struct headers *h);
	bool optional; /* not all modules, or not all kernels, need it */
} programs[] = {
	{ "scripts/basic/fixdep", always, false },
	{ "scripts/mod/modpost", always, false },
	{ "scripts/genksyms/genksyms", uses_genksyms, true },
	{ "scripts/gendwarfksyms/gendwarfksyms", uses_gendwarfksyms, true },
	{ "tools/objtool/objtool", uses_objtool, false },
	{ "tools/bpf/resolve_btfids/resolve_btfids", uses_resolve_btfids, true },
};

/* PT_INTERP of a 64-bit ELF file, up to its NUL. -ENOENT: none, or no such file. */
static int elf_interpreter(int fd, char ret[static INTERPRETER_MAX])
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOENT;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + i * sizeof(segment));

		if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			return -ENOENT;
		if (segment.p_type == PT_INTERP)
			return pread(fd, ret, INTERPRETER_MAX - 1, (off_t)segment.p_offset) > 0
				       ? 0
				       : -ENOENT;
	}
	return -ENOENT;
}

/* What starts a program, for a message; "" where that is not easily told. */
static void read_interpreter(const char *path, char ret[static INTERPRETER_MAX])
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *blank;

	memset(ret, 0, INTERPRETER_MAX);
	if (fd < 0 || elf_interpreter(fd, ret) == 0)
		return;
	if (pread(fd, ret, INTERPRETER_MAX - 1, 0) > 2 && !strncmp(ret, "#!", 2)) {
		blank = ret + 2 + strspn(ret + 2, " \t");
		memmove(ret, blank, strlen(blank) + 1);
		ret[strcspn(ret, " \t\r\n")] = '\0';
		return;
	}
	*ret = '\0';
}

static void say_not_started(const char *path, int error, struct verdicts *why)
{
	char interpreter[INTERPRETER_MAX];

	if (error == -ENOEXEC) {
		verdicts_no(why, REASON_HOST_PROGRAM_UNUSABLE, path,
			    "not made for this machine's architecture");
	} else if (error == -ENOENT) {
		read_interpreter(path, interpreter);
		verdicts_no(why, REASON_HOST_PROGRAM_UNUSABLE, path,
			    "its interpreter%s%s is not there", *interpreter ? " " : "",
			    interpreter);
	} else {
		verdicts_no(why, REASON_HOST_PROGRAM_UNUSABLE, path, "%s", strerror(-error));
	}
}

struct trial {
	const char *path;
	struct verdicts *why;
	bool lacks;
};

/* glibc's loader: "libelf.so.1 => not found", "version `GLIBC_2.38' not found"; musl's alike. */
static void on_line(void *data, const char *line)
{
	struct trial *t = data;

	if (!strstr(line, "not found"))
		return;
	t->lacks = true;
	verdicts_no(t->why, REASON_HOST_PROGRAM_UNUSABLE, t->path, "%s",
		    line + strspn(line, " \t"));
}

/* Those of a program that works but was called without arguments are others. */
static bool is_death(int status)
{
	static const int deaths[] = { SIGILL, SIGTRAP, SIGABRT, SIGBUS,
				      SIGFPE, SIGKILL, SIGSEGV, SIGSYS };

	for (size_t i = 0; i < sizeof(deaths) / sizeof(*deaths); i++)
		if (status == 128 + deaths[i])
			return true;
	return status == 127;
}

static void say_ended(const struct trial *t, const struct child_result *res)
{
	if (res->timed_out)
		verdicts_no(t->why, REASON_HOST_PROGRAM_UNUSABLE, t->path,
			    "does not end when it is started");
	else if (res->status > 128)
		verdicts_no(t->why, REASON_HOST_PROGRAM_UNUSABLE, t->path, "killed by signal %d",
			    res->status - 128);
	else
		verdicts_no(t->why, REASON_HOST_PROGRAM_UNUSABLE, t->path, "exit %d: %.*s",
			    res->status, (int)strcspn(res->tail, "\n"), res->tail);
}

/* 0: it can be started; -ENOEXEC: it cannot, and why says so. */
static int try_program(const char *path, struct verdicts *why)
{
	static const char *const env[] = { "LD_TRACE_LOADED_OBJECTS=1", "LC_ALL=C", NULL };
	_cleanup_child_result_ struct child_result res = { 0 };
	struct trial t = { .path = path, .why = why };
	const char *const argv[] = { path, NULL };
	int r = child_run(&(struct child_spec){ .argv = argv,
						.env = env,
						.stop_fd = -1,
						.grace_ms = 1000,
						.timeout_ms = PROGRAM_TIMEOUT_MS,
						.line = on_line,
						.data = &t },
			  &res);

	if (r < 0)
		say_not_started(path, r, why);
	else if (!t.lacks && (res.timed_out || is_death(res.status)))
		say_ended(&t, &res);
	else if (!t.lacks)
		return 0;
	return r == -ENOMEM ? r : -ENOEXEC;
}

/* Debian's modpost and objtool only choose one of modpost.real-lsb-64, ...: one tells for all. */
static int try_real_ones(const char *path, struct verdicts *why)
{
	_cleanup_(sysroot_freep) struct sysroot *dir = NULL;
	_cleanup_free_ char *parent = strdup(path), *prefix = NULL;
	_cleanup_strv_ char **names = NULL;
	int r = 0;

	if (!parent || asprintf(&prefix, "%s.real-", strrchr(path, '/') + 1) < 0)
		return -ENOMEM;
	*strrchr(parent, '/') = '\0';
	if (sysroot_open(parent, &dir) < 0 || sysroot_list(dir, ".", &names) < 0)
		return 0;
	for (char **name = names; r == 0 && *name; name++) {
		_cleanup_free_ char *real = NULL;

		if (strncmp(*name, prefix, strlen(prefix)))
			continue;
		r = folder_join(parent, *name, &real);
		if (r == 0)
			r = try_program(real, why);
	}
	return r;
}

static int check_program(const struct headers *h, const struct program *p, struct verdicts *why)
{
	_cleanup_free_ char *here = NULL, *there = NULL;
	_cleanup_free_ char *real = NULL;
	const char *path;
	int r;

	if (folder_join(h->path, p->path, &here) < 0 ||
	    folder_join(h->sources, p->path, &there) < 0)
		return -ENOMEM;
	path = access(here, F_OK) == 0 ? here : access(there, F_OK) == 0 ? there : NULL;
	if (!path && p->optional)
		return 0;
	if (!path) {
		verdicts_no(why, REASON_HOST_PROGRAM_UNUSABLE, here, "not there");
		return -ENOEXEC;
	}
	real = realpath(path, NULL); /* not as the shadow calls it, which goes with the build */
	if (!real)
		return -errno;
	r = try_program(real, why);
	return r < 0 ? r : try_real_ones(real, why);
}

int host_programs_check(const struct headers *h, struct verdicts *why)
{
	int r = 0;

	for (size_t i = 0; r != -ENOMEM && i < sizeof(programs) / sizeof(*programs); i++) {
		int r2 = programs[i].wanted(h) ? check_program(h, &programs[i], why) : 0;

		r = r2 < 0 ? r2 : r;
	}
	return r;
}
