/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_compiler.h"

#include <sys/utsname.h>

#include "common/child.h"

static void parses_what_compilers_say_of_themselves(void **state)
{
	static const struct {
		const char *text;
		struct compiler_version v;
	} cases[] = {
		{ GCC12, { false, 12, 2, 0 } },
		{ "x86_64-linux-gnu-gcc-13 (Ubuntu 13.2.0-23ubuntu4) 13.2.0", { false, 13, 2, 0 } },
		{ "gcc (GCC) 11.4.1 20231218 (Red Hat 11.4.1-3)", { false, 11, 4, 1 } },
		{ "gcc (SUSE Linux) 7.5.0", { false, 7, 5, 0 } },
		{ "gcc (a (b) 9.9) 10.2.1", { false, 10, 2, 1 } },
		{ "gcc-4.8 (x) 4.8.5", { false, 4, 8, 5 } },
		{ "cc (Debian 12.2.0-14) 12.2.0", { false, 12, 2, 0 } },
		{ "gcc 15", { false, 15, 0, 0 } },
		{ "Debian clang version 14.0.6", { true, 14, 0, 6 } },
		{ "clang version 17.0.6 (Fedora 17.0.6-2.fc39)", { true, 17, 0, 6 } },
		{ "Ubuntu clang version 18.1.3 (1ubuntu1)", { true, 18, 1, 3 } },
		{ "Android (7284624, based on r416183b) clang version 12.0.5 (https://x y)",
		  { true, 12, 0, 5 } },
		{ "clang version 20.0.0git (abc)", { true, 20, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct compiler_version v;

		assert_int_equal(compiler_parse(cases[i].text, &v), 0);
		assert_int_equal(v.clang, cases[i].v.clang);
		assert_int_equal(v.major, cases[i].v.major);
		assert_int_equal(v.minor, cases[i].v.minor);
		assert_int_equal(v.patch, cases[i].v.patch);
	}
}

static void refuses_what_is_no_compilers_text(void **state)
{
	static const char *const texts[] = {
		"",
		"gcc",
		"gcc (GCC)",
		"gcc (x 1.2.3",
		"GNU ld 2.40",
		"icc (ICC) 2021",
		"gcc (x) 99999999.1",
		"clang version x",
		"notclang version",
		"(x) 1.2",
	};
	struct compiler_version v;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(compiler_parse(texts[i], &v), -EINVAL);
}

static void knows_the_same_build_by_another_name(void **state)
{
	(void)state;
	assert_true(
		compiler_same(GCC12, "x86_64-linux-gnu-gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0"));
	assert_false(compiler_same(GCC12, "gcc-12 (Other) 12.2.0"));
	assert_false(compiler_same("gcc (x) 17.0.6", "clang version 17.0.6"));
	assert_false(compiler_same("x", "x"));
}

/* ---- choosing among compilers that only tell their version */

static void prefers_the_same_text_then_the_same_version(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, GCC12, "");
	fake_compiler(ch, "a/gcc-11", "gcc-11 (Debian 11.3.0-12) 11.3.0");
	fake_compiler(ch, "a/clang-12", "clang version 12.2.0");
	fake_compiler(ch, "a/gcc", "gcc (Other) 12.3.0");
	assert_chosen(ch, "a/gcc");
	assert_string_equal(ch->c.text, "gcc (Other) 12.3.0");
	fake_compiler(ch, "a/gcc-12", "gcc-12 (Other) 12.2.0");
	assert_chosen(ch, "a/gcc-12");
	fake_compiler(ch, "b/gcc", "gcc (Debian 12.2.0-14+deb12u1) 12.2.0");
	assert_chosen(ch, "b/gcc");
	fake_compiler(ch, "b/gcc-12", GCC12);
	assert_chosen(ch, "b/gcc-12");
	assert_false(ch->c.clang);
	assert_string_equal(ch->c.suffix, "");
	assert_string_equal(ch->c.called, "gcc-12");
}

static void takes_a_compiler_whose_name_tells_another_version(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, GCC12, "");
	fake_compiler(ch, "a/gcc-11", GCC12);
	assert_chosen(ch, "a/gcc-11");
}

static void runs_no_compiler_whose_name_says_that_it_does_not_fit(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);
	_cleanup_free_ char *commands = NULL;

	configure(ch, GCC12, "");
	fake_compiler(ch, "a/gcc-12", GCC12);
	assert_true(asprintf(&commands, ": >%s/run\n", ch->node->dir) > 0);
	fake_script(ch, "a/gcc-11", commands);
	fake_script(ch, "a/clang", commands);
	assert_chosen(ch, "a/gcc-12");
	assert_false(sysroot_exists(ch->node->root, "run"));
}

static void names_the_compiler_wanted_and_those_that_are_there(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, GCC12, "");
	fake_compiler(ch, "a/gcc-11", "gcc-11 (x) 11.3.0");
	fake_compiler(ch, "b/gcc-11", "gcc-11 (x) 11.3.0");
	fake_compiler(ch, "b/clang", "clang version 17.0.6");
	fake_compiler(ch, "b/gcc", "this is no compiler");
	assert_int_equal(choose(ch), -ENOEXEC);
	assert_int_equal(ch->why.n, 1);
	assert_says(&ch->why, COMPILER_MISMATCH, "gcc 12",
		    KERNEL " was built by " GCC12
			   "; here: gcc-11 (x) 11.3.0, clang version 17.0.6");
	assert_null(ch->c.path);
}

/* "a/MACHINEname" */
static void fake_of_this_machine(const struct choice *ch, const char *name)
{
	_cleanup_free_ char *path = NULL;
	struct utsname uts;

	assert_int_equal(uname(&uts), 0);
	assert_true(asprintf(&path, "a/%s%s", uts.machine, name) > 0);
	fake_compiler(ch, path, GCC12);
}

static void takes_this_machines_triplet_for_no_other_system(void **state)
{
	static const char *const others[] = { "-w64-mingw32-gcc-12", "-linux-gnux32-gcc-12",
					      "-elf-gcc", "-gcc-12" };
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, GCC12, "");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		fake_of_this_machine(ch, others[i]);
	assert_int_equal(choose(ch), -ENOENT);
	fake_of_this_machine(ch, "-redhat-linux-gcc-12");
	assert_int_equal(choose(ch), 0);
	assert_non_null(strstr(ch->c.path, "-redhat-linux-gcc-12"));
	fake_of_this_machine(ch, "-linux-gnu-gcc-12");
	assert_int_equal(choose(ch), 0);
	assert_non_null(strstr(ch->c.path, "-linux-gnu-gcc-12"));
}

static void says_so_when_there_is_no_compiler(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, GCC12, "");
	fake_compiler(ch, "a/gcc-ar-12", "GNU ar 2.40");
	fake_compiler(ch, "a/clang-format-14", "clang version 14.0.6");
	fake_compiler(ch, "a/nosuch-linux-gnu-gcc-12", GCC12); /* a cross compiler */
	fake_file(ch->node, "a/gcc-12", "not executable");
	assert_int_equal(choose(ch), -ENOENT);
	assert_says(&ch->why, COMPILER_MISSING, "gcc 12", KERNEL " was built by " GCC12);
	configure(ch, NULL, "");
	assert_int_equal(choose(ch), -ENOENT);
	assert_says(&ch->why, COMPILER_MISSING, "gcc", ch->search);
}

static void takes_gcc_when_it_is_not_told_what_the_kernel_was_built_with(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, NULL, "");
	fake_compiler(ch, "a/clang-14", "Debian clang version 14.0.6");
	assert_chosen(ch, "a/clang-14");
	assert_true(ch->c.clang);
	assert_false(ch->c.llvm);
	assert_string_equal(ch->c.suffix, "-14");
	fake_compiler(ch, "a/gcc-11", "gcc-11 (x) 11.3.0");
	assert_chosen(ch, "a/gcc-11");
	fake_compiler(ch, "b/gcc", "gcc (x) 13.3.0");
	assert_chosen(ch, "b/gcc");
	assert_null(ch->c.called);
}

static void knows_kernels_that_tell_only_the_version_number(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, NULL, "CONFIG_CC_IS_GCC=y\nCONFIG_GCC_VERSION=80500\n");
	fake_compiler(ch, "a/gcc", "gcc (GCC) 11.4.1");
	assert_int_equal(choose(ch), -ENOEXEC);
	assert_says(&ch->why, COMPILER_MISMATCH, "gcc 8", "was built by gcc 8.5.0; here: gcc");
	fake_compiler(ch, "b/gcc-8", "gcc-8 (GCC) 8.5.0");
	assert_chosen(ch, "b/gcc-8");
}

static void wants_llvm_for_a_kernel_that_lld_linked(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, "clang version 17.0.6 (x)", "CONFIG_CC_IS_CLANG=y\nCONFIG_LD_IS_LLD=y\n");
	fake_compiler(ch, "a/gcc-17", "gcc (x) 17.0.6");
	fake_compiler(ch, "a/clang-17", "clang version 17.0.1");
	assert_chosen(ch, "a/clang-17");
	assert_true(ch->c.clang);
	assert_true(ch->c.llvm);
	assert_string_equal(ch->c.suffix, "-17");
}

/* ---- links */

static void assert_link(const struct fake_node *node, const char *link, const char *path)
{
	_cleanup_free_ char *target = NULL, *file = NULL;

	assert_true(asprintf(&file, "links/%s", link) > 0);
	if (!path) {
		assert_int_equal(sysroot_readlink(node->root, file, &target), -ENOENT);
		return;
	}
	assert_int_equal(sysroot_readlink(node->root, file, &target), 0);
	assert_string_equal(target + strlen(node->dir) + 1, path);
}

static void make_links(struct choice *ch)
{
	_cleanup_(sysroot_freep) struct sysroot *dir = NULL;

	assert_int_equal(sysroot_remove(ch->node->root, "links"), 0);
	assert_int_equal(sysroot_mkdirs(ch->node->root, "links", 0755), 0);
	assert_int_equal(folder_open(ch->node->root, "links", &dir), 0);
	assert_int_equal(compiler_links(&ch->c, dir), 0);
}

static void links_gcc_by_all_names_that_it_may_be_called_by(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, "x86_64-linux-gnu-gcc-12 (x) 12.2.0", "");
	fake_compiler(ch, "a/gcc", "gcc (x) 12.2.0");
	fake_compiler(ch, "a/ld", "GNU ld");
	assert_chosen(ch, "a/gcc");
	make_links(ch);
	assert_link(ch->node, "gcc", "a/gcc");
	assert_link(ch->node, "cc", "a/gcc");
	assert_link(ch->node, "gcc-12", "a/gcc");
	assert_link(ch->node, "x86_64-linux-gnu-gcc-12", "a/gcc");
	assert_link(ch->node, "x86_64-linux-gnu-gcc", "a/gcc");
	assert_link(ch->node, "x86_64-linux-gnu-ld", "a/ld");
	assert_link(ch->node, "x86_64-linux-gnu-nm", NULL);
	assert_link(ch->node, "clang", NULL);
}

/* Its assembler is newer than that in PATH, and only found by PATH. */
static void links_the_binutils_of_a_toolset(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, "gcc (x) 12.2.0", "");
	fake_compiler(ch, "a/gcc", "gcc (x) 12.2.0");
	fake_compiler(ch, "a/as", "GNU as");
	assert_chosen(ch, "a/gcc");
	assert_false(ch->c.toolset);
	make_links(ch);
	assert_link(ch->node, "as", NULL);
	ch->c.toolset = true;
	make_links(ch);
	assert_link(ch->node, "as", "a/as");
	assert_link(ch->node, "ld", NULL);
}

/* Without LLVM=1, make asks for gcc. */
static void links_clang_as_gcc_for_a_kernel_that_lld_did_not_link(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, "clang version 17.0.6", "CONFIG_CC_IS_CLANG=y\n");
	fake_compiler(ch, "a/clang-17", "clang version 17.0.6");
	fake_compiler(ch, "b/gcc", "gcc (x) 12.2.0");
	assert_chosen(ch, "a/clang-17");
	make_links(ch);
	assert_link(ch->node, "gcc", "a/clang-17");
	assert_link(ch->node, "clang", "a/clang-17");
}

static void links_nothing_that_the_kernel_calls_by_a_strange_name(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);
	_cleanup_strv_ char **names = NULL;

	configure(ch, "/opt/x/../my-gcc (x) 12.2.0", "");
	fake_compiler(ch, "a/gcc", "gcc (x) 12.2.0");
	assert_chosen(ch, "a/gcc");
	assert_string_equal(ch->c.called, "my-gcc");
	make_links(ch);
	assert_int_equal(sysroot_list(ch->node->root, "links", &names), 0);
	assert_int_equal(strv_length(names), 4);
}

static void links_clang_and_what_is_beside_it(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, "clang version 17.0.6", "CONFIG_LD_IS_LLD=y\n");
	fake_compiler(ch, "llvm/clang", "clang version 17.0.6");
	fake_compiler(ch, "llvm/llvm-nm", "");
	fake_compiler(ch, "a/ld.lld-17", "");
	fake_compiler(ch, "a/ld.lld", "");
	fake_compiler(ch, "a/llvm-ar", "");
	assert_int_equal(sysroot_link(ch->node->root, "../llvm/clang", "a/clang-17"), 0);
	assert_chosen(ch, "a/clang-17");
	make_links(ch);
	assert_link(ch->node, "clang", "a/clang-17");
	assert_link(ch->node, "cc", "a/clang-17");
	assert_link(ch->node, "clang-17", "a/clang-17");
	assert_link(ch->node, "ld.lld", "a/ld.lld-17");
	assert_link(ch->node, "llvm-nm", "llvm/llvm-nm");
	assert_link(ch->node, "llvm-ar", "a/llvm-ar");
	assert_link(ch->node, "llvm-strip", NULL);
	assert_link(ch->node, "gcc", NULL);
}

static void compiles_by_its_links(void **state)
{
	static const char *const names[] = { "gcc", "cc", "gcc-12" };
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	take_real(ch, GCC12, "gcc-12");
	make_links(ch);
	fake_file(ch->node, "x.c", "int x;\n");
	for (size_t i = 0; i < 3; i++) {
		_cleanup_child_result_ struct child_result res = { 0 };
		_cleanup_free_ char *program = NULL;

		assert_true(asprintf(&program, "%s/links/%s", ch->node->dir, names[i]) > 0);
		assert_int_equal(
			child_run(
				&(struct child_spec){ .argv = (const char *const[]){ program, "-c",
										     "-o", "x.o",
										     "x.c", NULL },
						      .dir = ch->node->dir,
						      .stop_fd = -1 },
				&res),
			0);
		assert_int_equal(res.status, 0);
		assert_true(sysroot_exists(ch->node->root, "x.o"));
		assert_int_equal(sysroot_remove(ch->node->root, "x.o"), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_what_compilers_say_of_themselves),
		cmocka_unit_test(refuses_what_is_no_compilers_text),
		cmocka_unit_test(knows_the_same_build_by_another_name),
		on_a_node(prefers_the_same_text_then_the_same_version),
		on_a_node(takes_a_compiler_whose_name_tells_another_version),
		on_a_node(runs_no_compiler_whose_name_says_that_it_does_not_fit),
		on_a_node(names_the_compiler_wanted_and_those_that_are_there),
		on_a_node(takes_this_machines_triplet_for_no_other_system),
		on_a_node(says_so_when_there_is_no_compiler),
		on_a_node(takes_gcc_when_it_is_not_told_what_the_kernel_was_built_with),
		on_a_node(knows_kernels_that_tell_only_the_version_number),
		on_a_node(wants_llvm_for_a_kernel_that_lld_linked),
		on_a_node(links_gcc_by_all_names_that_it_may_be_called_by),
		on_a_node(links_the_binutils_of_a_toolset),
		on_a_node(links_clang_as_gcc_for_a_kernel_that_lld_did_not_link),
		on_a_node(links_nothing_that_the_kernel_calls_by_a_strange_name),
		on_a_node(links_clang_and_what_is_beside_it),
		on_a_node(compiles_by_its_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
