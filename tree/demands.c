/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/demands.h"

#include <string.h>

#include "common/child.h"
#include "common/parse.h"

#define RUN_TIMEOUT_MS 30000

enum kind { ANY, GCC, CLANG };

/*
 * What kbuild passes without asking whether the compiler knows it, or what the kernel cannot do
 * without: Makefile, arch/ARCH/Makefile and scripts/Makefile.* of 5.4 to 6.18. A row counts if
 * `config` and `also` are set and `unless` is not.
 */
static const struct demand {
	const char *config, *flags;
	enum kind kind;
	const char *also, *unless;
} demands[] = {
	{ "STACKPROTECTOR", "-fstack-protector", .unless = "STACKPROTECTOR_STRONG" },
	{ "STACKPROTECTOR_STRONG", "-fstack-protector-strong", .kind = ANY },
	{ "INIT_STACK_ALL_PATTERN", "-ftrivial-auto-var-init=pattern", .kind = ANY },
	{ "INIT_STACK_ALL_ZERO", "-ftrivial-auto-var-init=zero",
	  .unless = "CC_HAS_AUTO_VAR_INIT_ZERO_ENABLER" },
	{ "INIT_STACK_ALL_ZERO",
	  "-ftrivial-auto-var-init=zero "
	  "-enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang",
	  .also = "CC_HAS_AUTO_VAR_INIT_ZERO_ENABLER" },
	{ "ZERO_CALL_USED_REGS", "-fzero-call-used-regs=used-gpr", .kind = ANY },
	{ "CC_HAS_MIN_FUNCTION_ALIGNMENT", "-fmin-function-alignment=16", .kind = ANY },
	{ "DEBUG_INFO_DWARF5", "-gdwarf-5", .kind = ANY },
	{ "DEBUG_INFO_COMPRESSED_ZSTD", "-gz=zstd", .kind = ANY },
	/* which of the two forms: with the shadow for modules it is the old one, -fsanitize=cfi */
	{ "CFI_CLANG", "-fsanitize=kcfi", .unless = "CFI_CLANG_SHADOW" },
	{ "CFI", "-fsanitize=kcfi", .kind = ANY },
	{ "LTO_CLANG_FULL", "-flto -fvisibility=hidden", .kind = CLANG },
	{ "LTO_CLANG_THIN", "-flto=thin -fsplit-lto-unit -fvisibility=hidden", .kind = CLANG },
	{ "KASAN_GENERIC", "-fsanitize=kernel-address", .kind = ANY },
	{ "KASAN_SW_TAGS", "-fsanitize=kernel-hwaddress", .kind = ANY },
	{ "KCSAN", "-fsanitize=thread", .kind = ANY },
	{ "KMSAN", "-fsanitize=kernel-memory", .kind = ANY },
	{ "KCOV", "-fsanitize-coverage=trace-pc", .also = "CC_HAS_SANCOV_TRACE_PC" },
	{ "UBSAN_BOUNDS_STRICT", "-fsanitize=bounds-strict", .kind = ANY },
	{ "UBSAN_ARRAY_BOUNDS", "-fsanitize=array-bounds", .kind = ANY },
	/* x86 */
	{ "FUNCTION_TRACER", "-pg -mfentry", .also = "X86_64" },
	{ "FTRACE_MCOUNT_USE_CC", "-pg -mfentry -mrecord-mcount", .also = "X86_64" },
	{ "X86_KERNEL_IBT", "-fcf-protection=branch", .kind = ANY },
	{ "CALL_PADDING", "-fpatchable-function-entry=16,16", .also = "X86_64" },
	{ "RETPOLINE", "-mindirect-branch=thunk-extern -mindirect-branch-register", .kind = GCC,
	  .also = "X86_64" },
	{ "MITIGATION_RETPOLINE", "-mindirect-branch=thunk-extern -mindirect-branch-register",
	  .kind = GCC, .also = "X86_64" },
	{ "RETPOLINE", "-mretpoline-external-thunk", .kind = CLANG, .also = "X86_64" },
	{ "MITIGATION_RETPOLINE", "-mretpoline-external-thunk", .kind = CLANG, .also = "X86_64" },
	{ "RETHUNK", "-mfunction-return=thunk-extern", .also = "X86_64" },
	{ "MITIGATION_RETHUNK", "-mfunction-return=thunk-extern", .also = "X86_64" },
	{ "SLS", "-mharden-sls=all", .also = "X86_64" },
	{ "MITIGATION_SLS", "-mharden-sls=all", .also = "X86_64" },
	/* arm64 */
	{ "ARM64_BTI_KERNEL", "-mbranch-protection=pac-ret+bti", .also = "ARM64" },
	{ "ARM64_PTR_AUTH_KERNEL", "-mbranch-protection=pac-ret",
	  .also = "CC_HAS_BRANCH_PROT_PAC_RET", .unless = "ARM64_BTI_KERNEL" },
	{ "STACKPROTECTOR_PER_TASK",
	  "-mstack-protector-guard=sysreg -mstack-protector-guard-reg=sp_el0 "
	  "-mstack-protector-guard-offset=0",
	  .also = "ARM64" },
	{ "SHADOW_CALL_STACK", "-fsanitize=shadow-call-stack -ffixed-x18", .also = "ARM64",
	  .unless = "DYNAMIC_SCS" },
	{ "DYNAMIC_FTRACE_WITH_ARGS", "-fpatchable-function-entry=2", .also = "ARM64" },
	/* s390 */
	{ "EXPOLINE", "-mindirect-branch=thunk -mfunction-return=thunk -mindirect-branch-table",
	  .kind = GCC, .also = "S390", .unless = "EXPOLINE_EXTERN" },
	{ "EXPOLINE_EXTERN",
	  "-mindirect-branch=thunk-extern -mfunction-return=thunk-extern -mindirect-branch-table",
	  .kind = GCC, .also = "S390" },
};

enum { DEMANDS = sizeof(demands) / sizeof(*demands) };

/* scripts/Makefile.gcc-plugins, Makefile.randstruct, Makefile.kcov */
static const struct plugin {
	const char *config, *file;
} plugins[] = {
	{ "GCC_PLUGIN_LATENT_ENTROPY", "latent_entropy_plugin.so" },
	{ "GCC_PLUGIN_STRUCTLEAK", "structleak_plugin.so" },
	{ "GCC_PLUGIN_STACKLEAK", "stackleak_plugin.so" },
	{ "GCC_PLUGIN_RANDSTRUCT", "randomize_layout_plugin.so" },
	{ "GCC_PLUGIN_ARM_SSP_PER_TASK", "arm_ssp_per_task_plugin.so" },
	{ "GCC_PLUGIN_SANCOV", "sancov_plugin.so" },
};

static bool is_asked(const struct demand *d, const struct compiler *c, const struct kconfig *k)
{
	return (d->kind == ANY || (d->kind == CLANG) == c->clang) && kconfig_has(k, d->config) &&
	       (!d->also || kconfig_has(k, d->also)) && (!d->unless || !kconfig_has(k, d->unless));
}

/* All flags of those in `which`, as words. */
static int flags_of(const bool which[static DEMANDS], char ***ret)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < DEMANDS; i++)
		if (which[i])
			(void)fprintf(f, "%s ", demands[i].flags);
	return fclose(f) != 0 ? -ENOMEM : parse_words(text, " ", ret);
}

/* What make's children get, and a toolset's own assembler. */
static int make_path(const struct compiler *c, char **ret)
{
	const char *path = getenv("PATH") ?: "/usr/bin:/bin";
	const char *slash = strrchr(c->path, '/');
	int n;

	if (c->toolset && slash)
		n = asprintf(ret, "PATH=%.*s:%s", (int)(slash - c->path), c->path, path);
	else
		n = asprintf(ret, "PATH=%s", path);
	return n < 0 ? -ENOMEM : 0;
}

/* 0: it compiles; -ENOEXEC, and ret_says how it ended. */
static int compile(const char *const argv[], const char *path, char **ret_says)
{
	const char *const env[] = { path, "LC_ALL=C", NULL };
	_cleanup_child_result_ struct child_result res = { 0 };
	int r = child_run(&(struct child_spec){ .argv = argv,
						.env = env,
						.stop_fd = -1,
						.grace_ms = 1000,
						.timeout_ms = RUN_TIMEOUT_MS },
			  &res);

	if (r < 0)
		return r == -ENOEXEC ? -ENOENT : r; /* as little a program as none */
	if (res.status == 0 && !res.timed_out)
		return 0;
	if (res.timed_out)
		r = asprintf(ret_says, "not done after %d s", RUN_TIMEOUT_MS / 1000);
	else if (*res.tail == '\n' || !*res.tail)
		r = asprintf(ret_says, "exit %d", res.status);
	else
		r = asprintf(ret_says, "%.*s", (int)strcspn(res.tail, "\n"), res.tail);
	return r < 0 ? -ENOMEM : -ENOEXEC;
}

/*
 * An empty file with these flags: 0, or -ENOEXEC and the first line of what it said. gcc refuses
 * flags that it does not know; clang only warns of some.
 */
static int try_flags(const struct compiler *c, const bool which[static DEMANDS], char **ret_says)
{
	const char *const start[] = { c->path, c->clang ? "-Werror" : "-w", "-pipe", NULL };
	static const char *const end[] = { "-c", "-x", "c", "/dev/null", "-o", "/dev/null", NULL };
	_cleanup_strv_ char **flags = NULL;
	_cleanup_free_ const char **argv = NULL;
	_cleanup_free_ char *path = NULL;
	size_t n = 0;
	int r = flags_of(which, &flags);

	if (r == 0)
		r = make_path(c, &path);
	if (r < 0)
		return r;
	argv = calloc(strv_length(flags) + 10, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	for (size_t i = 0; start[i]; i++)
		argv[n++] = start[i];
	for (size_t i = 0; flags[i]; i++)
		argv[n++] = flags[i];
	for (size_t i = 0; end[i]; i++)
		argv[n++] = end[i];
	return compile(argv, path, ret_says);
}

/* A compiler that cannot do without any flag either lacks something else (its assembler). */
static int check_alone(const struct compiler *c, struct verdicts *why)
{
	static const bool none[DEMANDS];
	_cleanup_free_ char *says = NULL;
	int r = try_flags(c, none, &says);

	if (r == -ENOEXEC)
		verdicts_no(why, REASON_COMPILER_MISSING, c->path, "cannot compile: %s", says);
	return r;
}

static int check_each(const struct compiler *c, const bool asked[static DEMANDS],
		      struct verdicts *why)
{
	int r = 0, all = 0;

	for (size_t i = 0; (r == 0 || r == -ENOEXEC) && i < DEMANDS; i++) {
		_cleanup_free_ char *says = NULL;
		bool one[DEMANDS] = { 0 };

		if (!asked[i])
			continue;
		one[i] = true;
		r = try_flags(c, one, &says);
		if (r == -ENOEXEC)
			verdicts_no(why, REASON_COMPILER_MISMATCH, c->path,
				    "CONFIG_%s: %s is not known to %s", demands[i].config,
				    demands[i].flags, c->text);
		all = r < 0 ? r : all;
	}
	return all;
}

static int check_flags(const struct compiler *c, const struct headers *h, struct verdicts *why)
{
	_cleanup_free_ char *says = NULL;
	bool asked[DEMANDS];
	int r;

	for (size_t i = 0; i < DEMANDS; i++)
		asked[i] = is_asked(&demands[i], c, &h->config);
	r = try_flags(c, asked, &says);
	if (r != -ENOEXEC)
		return r;
	r = check_alone(c, why);
	/* 0: each alone is known, and it is only that these cannot be tried together */
	return r < 0 ? r : check_each(c, asked, why);
}

static int check_plugin(const struct compiler *c, const struct headers *h, const struct plugin *p,
			struct verdicts *why)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/scripts/gcc-plugins/%s", h->path, p->file) < 0)
		return -ENOMEM;
	if (access(path, F_OK) < 0) {
		verdicts_no(why, REASON_COMPILER_MISMATCH, c->path,
			    "CONFIG_%s: the headers lack scripts/gcc-plugins/%s", p->config,
			    p->file);
		return -ENOEXEC;
	}
	if (h->compiler && compiler_same(h->compiler, c->text))
		return 0;
	verdicts_no(why, REASON_COMPILER_MISMATCH, c->path,
		    "CONFIG_%s: -fplugin=%s is loaded only by %s, this is %s", p->config, p->file,
		    h->compiler ? h->compiler : "the gcc that it was built for", c->text);
	return -ENOEXEC;
}

static int check_kind(const struct compiler *c, const struct headers *h, struct verdicts *why)
{
	static const char *const clang_only[] = { "CC_IS_CLANG", "LTO_CLANG" };
	int r = 0;

	for (size_t i = 0; !c->clang && i < 2; i++) {
		if (!kconfig_has(&h->config, clang_only[i]))
			continue;
		verdicts_no(why, REASON_COMPILER_MISMATCH, c->path,
			    "CONFIG_%s: needs clang itself, this is %s", clang_only[i], c->text);
		r = -ENOEXEC;
	}
	if (c->clang && kconfig_has(&h->config, "CC_IS_GCC")) {
		verdicts_no(why, REASON_COMPILER_MISMATCH, c->path,
			    "CONFIG_CC_IS_GCC: needs gcc itself, this is %s", c->text);
		r = -ENOEXEC;
	}
	return r;
}

int demands_check(const struct compiler *c, const struct headers *h, struct verdicts *why)
{
	size_t said = why->n;
	int r = check_kind(c, h, why), r2 = check_flags(c, h, why);

	r = r2 < 0 ? r2 : r;
	for (size_t i = 0; r != -ENOMEM && i < sizeof(plugins) / sizeof(*plugins); i++) {
		r2 = kconfig_has(&h->config, plugins[i].config)
			     ? check_plugin(c, h, &plugins[i], why)
			     : 0;
		r = r == 0 || r2 == -ENOMEM ? r2 : r;
	}
	if (r < 0 && why->n == said)
		verdicts_no(why, REASON_SYSTEM, c->path, "%s", strerror(-r));
	return r;
}
