/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_headers.h"

#include "tree/host_programs.h"

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
	return host_programs_check(&f->h, &f->why);
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

/* BTF is made of vmlinux, where the headers have it. */
static void asks_for_resolve_btfids_where_there_is_a_vmlinux(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };

	find_with_programs(&f, "CONFIG_DEBUG_INFO_BTF_MODULES=y\n");
	fake_script(f.node, "h/tools/bpf/resolve_btfids/resolve_btfids", "#!/gone\n");
	assert_int_equal(check(&f), 0);
	fake_file(f.node, "h/vmlinux", "");
	assert_int_equal(check(&f), -ENOEXEC);
	assert_int_equal(f.why.n, 1);
	assert_says(&f.why, HOST_PROGRAM_UNUSABLE, "resolve_btfids", "/gone");
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
		on_a_node(asks_for_the_programs_that_the_configuration_needs),
		on_a_node(asks_for_resolve_btfids_where_there_is_a_vmlinux),
		on_a_node(says_why_a_file_cannot_be_started),
		on_a_node(says_how_a_program_ended_that_cannot_be_used),
		on_a_node(looks_at_the_programs_that_one_chooses_between),
		on_a_node(tells_missing_libraries_and_loaders_of_real_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
