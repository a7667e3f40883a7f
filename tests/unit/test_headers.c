/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_tree.h"

#include <fcntl.h>

#include "common/child.h"
#include "common/digest.h"
#include "common/log.h"
#include "tree/folder.h"
#include "tree/headers.h"

#define KERNEL "6.1.0-56-none"
#define SLES "6.4.0-150600.21-default"
#define RHEL "5.14.0-503.el9.x86_64"

struct finding {
	const struct fake_node *node;
	const char *kernel, *given;
	struct headers h;
	struct verdicts why;
};

static void finding_clear(struct finding *f)
{
	headers_clear(&f->h);
	verdicts_clear(&f->why);
}
#define _cleanup_finding_ _cleanup_(finding_clear)

static int find(struct finding *f)
{
	finding_clear(f);
	return headers_find(f->node->root, f->kernel, "x86_64", f->given, &f->h, &f->why);
}

static void fake_text(const struct fake_node *node, const char *dir, const char *name,
		      const char *text)
{
	_cleanup_free_ char *path = NULL;

	assert_int_equal(folder_join(dir, name, &path), 0);
	fake_file(node, path, text);
}

static void fake_headers(const struct fake_node *node, const char *dir, const char *release)
{
	_cleanup_free_ char *line = NULL;

	assert_true(asprintf(&line, "%s\n", release) > 0);
	fake_text(node, dir, "Makefile", "all:\n");
	fake_text(node, dir, ".config",
		  "CONFIG_CC_VERSION_TEXT=\"gcc-12 (x) 12.2.0\"\nCONFIG_X86_64=y\n");
	fake_text(node, dir, "include/config/kernel.release", line);
}

static void assert_found(struct finding *f, const char *dir)
{
	_cleanup_free_ char *path = NULL;

	assert_int_equal(find(f), 0);
	assert_int_equal(folder_path(f->node->root, dir, &path), 0);
	assert_string_equal(f->h.path, path);
	assert_int_equal(f->why.n, 0);
}

/* ---- where they are */

static void finds_headers_where_each_distribution_has_them(void **state)
{
	static const struct {
		const char *kernel, *dir;
	} cases[] = {
		{ KERNEL, "usr/src/linux-headers-" KERNEL },
		{ RHEL, "usr/src/kernels/" RHEL },
		{ SLES, "usr/src/linux-6.4.0-150600.21-obj/x86_64/default" },
		{ "6.4.0-150600.23-default", "usr/src/linux-obj/x86_64/default" },
	};
	_cleanup_finding_ struct finding f = { .node = *state };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		f.kernel = cases[i].kernel;
		assert_int_equal(find(&f), -ENOENT);
		fake_headers(f.node, cases[i].dir, cases[i].kernel);
		assert_found(&f, cases[i].dir);
		assert_string_equal(f.h.sources, f.h.path);
		assert_string_equal(f.h.compiler, "gcc-12 (x) 12.2.0");
	}
}

static void follows_the_build_link_within_the_nodes_root(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL };

	fake_headers(f.node, "opt/k", KERNEL);
	fake_headers(f.node, "usr/src/kernels/" KERNEL, KERNEL);
	assert_int_equal(sysroot_link(f.node->root, "/opt/k", "lib/modules/" KERNEL "/build"), 0);
	assert_found(&f, "opt/k");
	f.given = "usr/src/kernels/" KERNEL;
	assert_found(&f, f.given);
}

static void knows_a_kernels_release_by_either_file(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };

	fake_headers(f.node, "h", KERNEL);
	assert_found(&f, "h");
	fake_headers(f.node, "h", "6.1.192"); /* as Debian's does */
	fake_file(f.node, "h/include/generated/utsrelease.h",
		  "#define UTS_RELEASE \"" KERNEL "\"\n");
	assert_found(&f, "h");
}

static void says_where_it_looked_and_which_package_is_missing(void **state)
{
	static const struct {
		const char *release, *kernel, *says;
	} cases[] = {
		{ "ID=debian\n", KERNEL, "linux-headers-" KERNEL },
		{ "NAME=\"x\"\nID=\"linuxmint\"\nID_LIKE=\"ubuntu debian\"\n", KERNEL,
		  "linux-headers-" KERNEL },
		{ "ID='rocky'\n", RHEL, "needed: kernel-devel-" RHEL },
		{ "ID=\"rhel\"\n", RHEL "+rt", "needed: kernel-rt-devel-" RHEL },
		{ "ID=\"rhel\"\n", RHEL "+64k", "needed: kernel-64k-devel-" RHEL },
		{ "ID=ol\n", "5.15.0-200.el9uek.x86_64", "kernel-uek-devel-5.15.0-200.el9uek" },
		{ "ID=\"sles\"\n", SLES, "kernel-default-devel=6.4.0-150600.21" },
		{ "ID=\"opensuse-leap\"\n", SLES, "kernel-default-devel=6.4.0-150600.21" },
		{ "ID=\"rhcos\"\nID_LIKE=\"rhel fedora\"\n", RHEL, "the headers of kernel " RHEL },
		{ "ID=fedora\nVARIANT_ID=coreos\n", RHEL, "the headers of kernel " RHEL },
		{ "", KERNEL, "the headers of kernel " KERNEL },
	};
	_cleanup_finding_ struct finding f = { .node = *state };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		f.kernel = cases[i].kernel;
		fake_file(f.node, "usr/lib/os-release", cases[i].release);
		assert_int_equal(find(&f), -ENOENT);
		assert_int_equal(f.why.n, 1);
		assert_says(&f.why, HEADERS_MISSING, f.kernel, cases[i].says);
		assert_says(&f.why, HEADERS_MISSING, f.kernel, f.node->dir);
		assert_says(&f.why, HEADERS_MISSING, f.kernel, "/usr/src/kernels/");
	}
	assert_null(f.h.path);
}

static void says_what_is_wrong_with_each_place(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL };

	assert_int_equal(
		sysroot_link(f.node->root, "/usr/src/gone", "lib/modules/" KERNEL "/build"), 0);
	fake_file(f.node, "usr/src/linux-headers-" KERNEL "/.config", "");
	fake_file(f.node, "usr/src/kernels/" KERNEL "/Makefile", "");
	assert_int_equal(find(&f), -ENOENT);
	assert_says(&f.why, HEADERS_MISSING, KERNEL,
		    "/lib/modules/" KERNEL "/build (a link to /usr/src/gone, which is not there)");
	assert_says(&f.why, HEADERS_MISSING, KERNEL, "linux-headers-" KERNEL " (no Makefile)");
	assert_says(&f.why, HEADERS_MISSING, KERNEL, "kernels/" KERNEL " (no .config)");
	f.given = "usr/src/kernels/" KERNEL;
	assert_int_equal(find(&f), -ENOENT);
	assert_says(&f.why, HEADERS_MISSING, KERNEL, "kernels/" KERNEL " (no .config); needed");
}

static void refuses_headers_of_another_kernel(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };

	fake_headers(f.node, "h", "6.1.0-57-none");
	assert_int_equal(find(&f), -ENOEXEC);
	assert_says(&f.why, VERMAGIC_MISMATCH, "/h", "headers of 6.1.0-57-none");
	fake_headers(f.node, "h", KERNEL);
	fake_file(f.node, "h/.config", "CONFIG_ARM64=y\n");
	assert_int_equal(find(&f), -ENOEXEC);
	assert_says(&f.why, ARCH_MISMATCH, "/h", "headers for aarch64, this is x86_64");
	assert_int_equal(sysroot_remove(f.node->root, "h/include"), 0);
	fake_file(f.node, "h/.config", "CONFIG_X86_64=y\n");
	assert_int_equal(find(&f), -ENOENT);
	assert_says(&f.why, HEADERS_MISSING, KERNEL, "is not prepared");
	assert_null(f.h.path);
}

static void does_not_judge_architectures_that_it_does_not_know(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };

	fake_headers(f.node, "h", KERNEL);
	assert_int_equal(headers_find(f.node->root, KERNEL, "loongarch64", "h", &f.h, &f.why), 0);
}

static void has_the_digests_of_config_and_symbols(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };
	char config[65], symvers[65], wanted[DIGEST_TEXT];
	_cleanup_free_ char *where = NULL;

	assert_int_equal(headers_digests(f.node->root, KERNEL, NULL, config, symvers), -ENOENT);
	assert_int_equal(headers_where(f.node->root, KERNEL, NULL, &where), -ENOENT);
	fake_headers(f.node, "h", KERNEL);
	assert_int_equal(headers_digests(f.node->root, KERNEL, "h", config, symvers), 0);
	assert_string_equal(symvers, "");
	fake_file(f.node, "h/Module.symvers", "0x1\ta\tb\tEXPORT_SYMBOL\t\n");
	assert_found(&f, "h");
	assert_int_equal(headers_digests(f.node->root, KERNEL, "h", config, symvers), 0);
	assert_string_equal(config, f.h.config.sha256);
	assert_string_equal(symvers, f.h.symvers_sha256);
	assert_int_equal(digest_file(f.node->root, "h/Module.symvers", wanted), 0);
	assert_string_equal(symvers, wanted);
	assert_int_equal(headers_where(f.node->root, KERNEL, "h", &where), 0);
	assert_string_equal(where, "h");
}

static void assert_sources(struct finding *f, const char *wanted)
{
	_cleanup_free_ char *path = NULL;

	assert_found(f, "h");
	assert_int_equal(folder_path(f->node->root, wanted, &path), 0);
	assert_string_equal(f->h.sources, path);
}

static void finds_the_sources_that_belong_to_headers(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };
	const struct fake_node *node = f.node;

	fake_headers(node, "h", KERNEL);
	fake_file(node, "h/Makefile", "all:\n\techo include /c/Makefile\n");
	assert_sources(&f, "h");
	fake_file(node, "usr/src/whole/Makefile", "");
	assert_int_equal(
		sysroot_link(node->root, "/usr/src/whole", "lib/modules/" KERNEL "/source"), 0);
	assert_sources(&f, "usr/src/whole");
	fake_file(node, "usr/src/common/Makefile", "");
	fake_file(node, "h/Makefile", "# x\ninclude /usr/src/common/Makefile\n");
	assert_sources(&f, "usr/src/common");
	fake_file(node, "h/Makefile", "include ../usr/src/common/Makefile");
	assert_sources(&f, "usr/src/common");
	fake_file(node, "h/Makefile", "include scripts/Makefile\ninclude /gone/Makefile\n");
	assert_sources(&f, "usr/src/whole");
	fake_file(node, "c/Makefile", "");
	assert_int_equal(sysroot_link(node->root, "../c", "h/source"), 0);
	assert_sources(&f, "c");
}

/* ---- the shadow */

static struct sysroot *make_dir(const struct fake_node *node, const char *name)
{
	struct sysroot *dir = NULL;

	assert_int_equal(sysroot_mkdirs(node->root, name, 0755), 0);
	assert_int_equal(folder_open(node->root, name, &dir), 0);
	return dir;
}

static void assert_link(const struct sysroot *dir, const char *link, const struct fake_node *node,
			const char *path)
{
	_cleanup_free_ char *target = NULL, *real = NULL;

	assert_int_equal(sysroot_readlink(dir, link, &target), 0);
	assert_true(asprintf(&real, "%s/%s", node->dir, path) > 0);
	assert_string_equal(target, real);
}

static void makes_a_shadow_whose_links_and_includes_lead_below_the_root(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };
	_cleanup_(sysroot_freep) struct sysroot *dir = make_dir(f.node, "build");
	_cleanup_free_ char *wanted = NULL;

	fake_headers(f.node, "h", KERNEL);
	fake_file(f.node, "h/Makefile",
		  "# x\nexport KBUILD_OUTPUT = /h\ninclude /usr/src/common/Makefile\nall: ;");
	fake_file(f.node, "usr/src/common/Makefile", "");
	fake_file(f.node, "usr/lib/kbuild/scripts/x", "");
	assert_int_equal(sysroot_link(f.node->root, "/usr/lib", "lib"), 0);
	assert_int_equal(sysroot_link(f.node->root, "/lib/kbuild/scripts", "h/scripts"), 0);
	assert_int_equal(sysroot_link(f.node->root, "/gone", "h/gone"), 0);
	assert_int_equal(
		sysroot_link(f.node->root, "../../lib/kbuild/scripts", "usr/src/common/scripts"),
		0);
	assert_found(&f, "h");
	assert_int_equal(headers_shadow(f.node->root, &f.h, dir), 0);
	assert_link(dir, "headers/scripts", f.node, "usr/lib/kbuild/scripts");
	assert_link(dir, "headers/.config", f.node, "h/.config");
	assert_link(dir, "sources/scripts", f.node, "usr/lib/kbuild/scripts");
	assert_link(dir, "sources/Makefile", f.node, "usr/src/common/Makefile");
	assert_false(sysroot_exists(dir, "headers/gone"));
	assert_true(asprintf(&wanted,
			     "# x\nexport KBUILD_OUTPUT = %s/build/headers\n"
			     "include %s/build/sources/Makefile\nall: ;\n",
			     f.node->dir, f.node->dir) > 0);
	assert_file(f.node, "build/headers/Makefile", wanted);
	assert_true(!strcmp(strrchr(f.h.path, '/'), "/headers"));
	assert_true(!strcmp(strrchr(f.h.sources, '/'), "/sources"));
	assert_file(f.node, "h/.config",
		    "CONFIG_CC_VERSION_TEXT=\"gcc-12 (x) 12.2.0\"\nCONFIG_X86_64=y\n");
}

static void makes_one_shadow_of_headers_that_are_their_own_source(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };
	_cleanup_(sysroot_freep) struct sysroot *dir = make_dir(f.node, "build");
	_cleanup_strv_ char **names = NULL;

	fake_headers(f.node, "h", KERNEL);
	assert_found(&f, "h");
	assert_int_equal(headers_shadow(f.node->root, &f.h, dir), 0);
	assert_string_equal(f.h.path, f.h.sources);
	assert_link(dir, "headers/Makefile", f.node, "h/Makefile");
	assert_int_equal(sysroot_list(dir, ".", &names), 0);
	assert_int_equal(strv_length(names), 1);
}

static void needs_no_shadow_in_its_own_root(void **state)
{
	_cleanup_(sysroot_freep) struct sysroot *slash = NULL, *dir = make_dir(*state, "build");
	_cleanup_strv_ char **names = NULL;
	struct headers h = { .path = (char[]){ "/x" }, .sources = (char[]){ "/y" } };

	assert_int_equal(sysroot_open("/", &slash), 0);
	assert_int_equal(headers_shadow(slash, &h, dir), 0);
	assert_string_equal(h.path, "/x");
	assert_int_equal(sysroot_list(dir, ".", &names), 0);
	assert_int_equal(strv_length(names), 0);
}

/* ---- against the headers of a kernel of this machine */

/* The first of Debian's that is installed; skips if there is none. */
static char *installed_kernel(const struct sysroot *machine)
{
	_cleanup_strv_ char **names = NULL;
	char *kernel = NULL;

	(void)sysroot_list(machine, "usr/src", &names);
	for (char **name = names; !kernel && name && *name; name++) {
		_cleanup_free_ char *path = NULL;

		assert_true(asprintf(&path, "usr/src/%s/.config", *name) > 0);
		if (!strncmp(*name, "linux-headers-", 14) && sysroot_exists(machine, path))
			kernel = strdup(*name + 14);
	}
	if (!kernel)
		skip();
	return kernel;
}

/* Runs to the end and tells what it said if that was none. */
static void run_program(const char *const argv[])
{
	_cleanup_child_result_ struct child_result res = { 0 };
	static const char *const env[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };

	assert_int_equal(
		child_run(&(struct child_spec){ .argv = argv, .env = env, .stop_fd = -1 }, &res),
		0);
	if (res.status != 0)
		fail_msg("%s: exit %d: %s", argv[0], res.status, res.tail);
}

static void copy(const struct sysroot *machine, const struct fake_node *node, const char *path)
{
	assert_int_equal(folder_copy(machine, path, node->root, path), 0);
}

/* A node with the headers of a Debian kernel, where `build` and an include are absolute. */
static void fake_debian(const struct sysroot *machine, const struct fake_node *node,
			const char *kernel)
{
	_cleanup_free_ char *headers = NULL, *link = NULL, *target = NULL, *sources = NULL;
	_cleanup_headers_ struct headers h = { 0 };
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_free_ char *scripts = NULL;

	assert_true(asprintf(&headers, "usr/src/linux-headers-%s", kernel) > 0);
	assert_true(asprintf(&link, "lib/modules/%s/build", kernel) > 0);
	assert_true(asprintf(&target, "/%s", headers) > 0);
	assert_int_equal(headers_find(machine, kernel, "x86_64", headers, &h, &why), 0);
	copy(machine, node, headers);
	copy(machine, node, h.sources + 1);
	assert_true(asprintf(&sources, "%s/scripts", h.path) > 0);
	scripts = realpath(sources, NULL);
	assert_non_null(scripts);
	*strrchr(scripts, '/') = '\0';
	copy(machine, node, scripts + 1);
	assert_int_equal(sysroot_link(node->root, "usr/lib", "lib"), 0);
	assert_int_equal(sysroot_link(node->root, target, link), 0);
}

/* No prerequisite of a module's objects is outside of the node and the compiler. */
static void assert_built_from(const struct fake_node *node, const char *file)
{
	_cleanup_free_ char *text = NULL;
	size_t inside = 0;

	assert_int_equal(sysroot_read(node->root, file, 4 << 20, &text, NULL), 0);
	for (const char *at = text; (at = strstr(at, "/usr/src/linux-headers-")); at++) {
		size_t len = strlen(node->dir);

		assert_true((size_t)(at - text) > len);
		assert_int_equal(strncmp(at - len, node->dir, len), 0);
		inside++;
	}
	assert_true(inside > 0 || strstr(text, "/build/sources/"));
}

static void builds_a_module_from_a_nodes_headers_by_their_shadow(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_(sysroot_freep) struct sysroot *machine = NULL, *dir = NULL;
	_cleanup_free_ char *kernel = NULL, *m = NULL;
	_cleanup_finding_ struct finding f = { .node = node };

	assert_int_equal(sysroot_open("/", &machine), 0);
	f.kernel = kernel = installed_kernel(machine);
	fake_debian(machine, node, kernel);
	assert_int_equal(find(&f), 0);
	dir = make_dir(node, "build");
	assert_int_equal(headers_shadow(node->root, &f.h, dir), 0);
	fake_file(node, "m/Makefile", "obj-m := a.o\n");
	fake_file(node, "m/a.c",
		  "#include <linux/module.h>\nMODULE_LICENSE(\"Dual MIT/GPL\");\n"
		  "int a(void) { return 1; }\nEXPORT_SYMBOL(a);\n");
	assert_true(asprintf(&m, "M=%s/m", node->dir) > 0);
	run_program((const char *const[]){ "make", "-C", f.h.path, m, "modules", NULL });
	assert_true(sysroot_exists(node->root, "m/a.ko"));
	assert_built_from(node, "m/.a.o.cmd");
	assert_int_equal(headers_check_programs(&f.h, &f.why), 0);
	assert_int_equal(f.why.n, 0);
}

/* ---- their programs */

static void fake_program(const struct fake_node *node, const char *path, const void *data,
			 size_t len)
{
	assert_int_equal(sysroot_replace(node->root, path, 0755, data, len), 0);
}

static void fake_script(const struct fake_node *node, const char *path, const char *text)
{
	fake_program(node, path, text, strlen(text));
}

static void find_with_programs(struct finding *f, const char *config)
{
	_cleanup_free_ char *text = NULL;

	fake_headers(f->node, "h", KERNEL);
	assert_true(asprintf(&text, "CONFIG_X86_64=y\n%s", config) > 0);
	fake_file(f->node, "h/.config", text);
	fake_script(f->node, "h/scripts/basic/fixdep", "#!/bin/sh\n");
	fake_script(f->node, "h/scripts/mod/modpost", "#!/bin/sh\nexit 1\n");
	assert_found(f, "h");
}

static int check(struct finding *f)
{
	verdicts_clear(&f->why);
	return headers_check_programs(&f->h, &f->why);
}

static void asks_for_the_programs_that_the_configuration_needs(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };

	find_with_programs(&f, "CONFIG_MODVERSIONS=y\n");
	assert_int_equal(check(&f), 0);
	find_with_programs(&f, "CONFIG_MODVERSIONS=y\nCONFIG_OBJTOOL=y\n");
	assert_int_equal(sysroot_remove(f.node->root, "h/scripts/basic/fixdep"), 0);
	assert_int_equal(check(&f), -ENOEXEC);
	assert_int_equal(f.why.n, 2);
	assert_says(&f.why, HOST_PROGRAM_UNUSABLE, "h/scripts/basic/fixdep", "not there");
	assert_says(&f.why, HOST_PROGRAM_UNUSABLE, "h/tools/objtool/objtool", "not there");
	fake_script(f.node, "h/scripts/genksyms/genksyms", "no program\n");
	assert_int_equal(check(&f), -ENOEXEC);
	assert_says(&f.why, HOST_PROGRAM_UNUSABLE, "genksyms", NULL);
}

static void says_why_a_file_cannot_be_started(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };

	find_with_programs(&f, "");
	fake_script(f.node, "h/scripts/mod/modpost", "#! /gone/sh -e\n");
	assert_int_equal(check(&f), -ENOEXEC);
	assert_says(&f.why, HOST_PROGRAM_UNUSABLE, "mod/modpost",
		    "its interpreter /gone/sh is not there");
	fake_script(f.node, "h/scripts/mod/modpost", "\177ELF\2\1\1");
	assert_int_equal(check(&f), -ENOEXEC);
	assert_int_equal(f.why.n, 1);
	assert_says(&f.why, HOST_PROGRAM_UNUSABLE, "mod/modpost", "not made for this machine");
	fake_file(f.node, "h/scripts/mod/modpost", "#!/bin/sh\n");
	assert_int_equal(check(&f), -ENOEXEC);
	assert_says(&f.why, HOST_PROGRAM_UNUSABLE, "mod/modpost", "Permission denied");
}

/* Static ones run: nobody lists their libraries. */
static void says_how_a_program_ended_that_cannot_be_used(void **state)
{
	static const struct {
		const char *code, *says;
	} cases[] = {
		{ "puts(\"\\tlibelf.so.9 => not found\"); return 0;", "libelf.so.9 => not found" },
		{ "puts(\"x: version `GLIBC_2.99' not found (by x)\"); return 1;",
		  "version `GLIBC_2.99' not found" },
		{ "puts(\"broken\"); return 127;", "exit 127: broken" },
		{ "__builtin_trap();", "killed by signal 4" },
	};
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };
	_cleanup_free_ char *source = NULL, *program = NULL;

	find_with_programs(&f, "");
	assert_true(asprintf(&source, "%s/a.c", f.node->dir) > 0);
	assert_true(asprintf(&program, "%s/h/scripts/mod/modpost", f.node->dir) > 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_free_ char *text = NULL;

		assert_true(asprintf(&text, "#include <stdio.h>\nint main(void) { %s }\n",
				     cases[i].code) > 0);
		fake_file(f.node, "a.c", text);
		run_program((const char *const[]){ "gcc", "-static", "-o", program, source, NULL });
		assert_int_equal(check(&f), -ENOEXEC);
		assert_int_equal(f.why.n, 1);
		assert_says(&f.why, HOST_PROGRAM_UNUSABLE, "mod/modpost", cases[i].says);
	}
}

static void looks_at_the_programs_that_one_chooses_between(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };

	find_with_programs(&f, "");
	fake_script(f.node, "h/scripts/mod/modpost.real-lsb-64", "#!/bin/sh\n");
	assert_int_equal(check(&f), 0);
	fake_script(f.node, "h/scripts/mod/modpost.real-lsb-64", "#!/gone\n");
	assert_int_equal(check(&f), -ENOEXEC);
	assert_says(&f.why, HOST_PROGRAM_UNUSABLE, "modpost.real-lsb-64", "/gone");
}

/* A program that is linked to a library which is then taken away, and one whose loader is. */
static void tells_missing_libraries_and_loaders_of_real_programs(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };
	_cleanup_free_ char *lib = NULL, *source = NULL, *program = NULL;

	find_with_programs(&f, "");
	fake_file(f.node, "a.c", "int a(void); int main(void) { return a(); }\n");
	fake_file(f.node, "l.c", "int a(void) { return 0; }\n");
	assert_true(asprintf(&lib, "%s/libgone.so", f.node->dir) > 0);
	assert_true(asprintf(&source, "%s/l.c", f.node->dir) > 0);
	run_program((const char *const[]){ "gcc", "-shared", "-fPIC", "-Wl,-soname,libgone.so",
					   "-o", lib, source, NULL });
	memcpy(strrchr(source, '/'), "/a.c", 4);
	assert_true(asprintf(&program, "%s/h/scripts/basic/fixdep", f.node->dir) > 0);
	run_program((const char *const[]){ "gcc", "-o", program, source, lib, NULL });
	assert_int_equal(check(&f), -ENOEXEC);
	assert_says(&f.why, HOST_PROGRAM_UNUSABLE, "fixdep", "libgone.so => not found");
	run_program((const char *const[]){ "gcc", "-Wl,-dynamic-linker,/gone/ld.so.1", "-o",
					   program, source, lib, NULL });
	assert_int_equal(check(&f), -ENOEXEC);
	assert_says(&f.why, HOST_PROGRAM_UNUSABLE, "fixdep",
		    "its interpreter /gone/ld.so.1 is not there");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(finds_headers_where_each_distribution_has_them),
		on_a_node(follows_the_build_link_within_the_nodes_root),
		on_a_node(knows_a_kernels_release_by_either_file),
		on_a_node(says_where_it_looked_and_which_package_is_missing),
		on_a_node(says_what_is_wrong_with_each_place),
		on_a_node(refuses_headers_of_another_kernel),
		on_a_node(does_not_judge_architectures_that_it_does_not_know),
		on_a_node(has_the_digests_of_config_and_symbols),
		on_a_node(finds_the_sources_that_belong_to_headers),
		on_a_node(makes_a_shadow_whose_links_and_includes_lead_below_the_root),
		on_a_node(makes_one_shadow_of_headers_that_are_their_own_source),
		on_a_node(needs_no_shadow_in_its_own_root),
		on_a_node(builds_a_module_from_a_nodes_headers_by_their_shadow),
		on_a_node(asks_for_the_programs_that_the_configuration_needs),
		on_a_node(says_why_a_file_cannot_be_started),
		on_a_node(says_how_a_program_ended_that_cannot_be_used),
		on_a_node(looks_at_the_programs_that_one_chooses_between),
		on_a_node(tells_missing_libraries_and_loaders_of_real_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
