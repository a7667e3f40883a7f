/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_compiler.h"

#include "tree/demands.h"

static int check(struct choice *ch, const char *config)
{
	_cleanup_free_ char *text = strdup(ch->h.compiler);

	configure(ch, text, config);
	verdicts_clear(&ch->why);
	return demands_check(&ch->c, &ch->h, &ch->why);
}

static const char PLAIN[] = "CONFIG_X86_64=y\nCONFIG_STACKPROTECTOR_STRONG=y\n"
			    "CONFIG_FUNCTION_TRACER=y\nCONFIG_DEBUG_INFO_DWARF5=y\n";

static void accepts_a_compiler_that_knows_all_flags_of_the_kernel(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	take_real(ch, GCC12, "gcc-12");
	assert_int_equal(check(ch, PLAIN), 0);
	assert_int_equal(check(ch, "CONFIG_CC_IS_GCC=y\nCONFIG_X86_64=y\nCONFIG_RETPOLINE=y\n"
				   "CONFIG_RETHUNK=y\nCONFIG_SLS=y\nCONFIG_FUNCTION_TRACER=y\n"
				   "CONFIG_INIT_STACK_ALL_ZERO=y\nCONFIG_X86_KERNEL_IBT=y\n"
				   "CONFIG_ZERO_CALL_USED_REGS=y\nCONFIG_CALL_PADDING=y\n"
				   "CONFIG_UBSAN_BOUNDS_STRICT=y\nCONFIG_KASAN_GENERIC=y\n"),
			 0);
	assert_int_equal(check(ch, ""), 0);
	assert_int_equal(ch->why.n, 0);
}

static void names_every_flag_that_a_compiler_does_not_know(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	take_real(ch, "gcc-11 (Debian 11.3.0-12) 11.3.0", "gcc-11");
	assert_int_equal(check(ch, PLAIN), 0);
	assert_int_equal(check(ch, "CONFIG_X86_64=y\nCONFIG_STACKPROTECTOR_STRONG=y\n"
				   "CONFIG_INIT_STACK_ALL_ZERO=y\nCONFIG_RETPOLINE=y\n"
				   "CONFIG_CFI_CLANG=y\nCONFIG_ARM64_BTI_KERNEL=y\n"),
			 -ENOEXEC);
	assert_int_equal(ch->why.n, 2);
	assert_says(&ch->why, COMPILER_MISMATCH, "gcc-11",
		    "CONFIG_INIT_STACK_ALL_ZERO: -ftrivial-auto-var-init=zero");
	assert_says(&ch->why, COMPILER_MISMATCH, "gcc-11", "CONFIG_CFI_CLANG: -fsanitize=kcfi");
}

static void refuses_gcc_for_a_kernel_that_clang_built(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	take_real(ch, GCC12, "gcc-12");
	assert_int_equal(check(ch, "CONFIG_CC_IS_CLANG=y\nCONFIG_LTO_CLANG=y\n"
				   "CONFIG_LTO_CLANG_THIN=y\n"),
			 -ENOEXEC);
	assert_int_equal(ch->why.n, 2);
	assert_says(&ch->why, COMPILER_MISMATCH, "gcc-12", "CONFIG_CC_IS_CLANG: needs clang");
	assert_says(&ch->why, COMPILER_MISMATCH, "gcc-12", "CONFIG_LTO_CLANG: needs clang");
}

static void checks_clang_by_its_own_flags(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	take_real(ch, "Debian clang version 14.0.6", "clang");
	assert_int_equal(check(ch, "CONFIG_CC_IS_CLANG=y\nCONFIG_X86_64=y\nCONFIG_RETPOLINE=y\n"
				   "CONFIG_LTO_CLANG=y\nCONFIG_LTO_CLANG_THIN=y\n"
				   "CONFIG_INIT_STACK_ALL_ZERO=y\n"
				   "CONFIG_CC_HAS_AUTO_VAR_INIT_ZERO_ENABLER=y\n"
				   "CONFIG_FUNCTION_TRACER=y\nCONFIG_UBSAN_ARRAY_BOUNDS=y\n"),
			 0);
	assert_int_equal(check(ch, "CONFIG_X86_64=y\nCONFIG_RETPOLINE=y\nCONFIG_RETHUNK=y\n"
				   "CONFIG_CFI_CLANG=y\nCONFIG_CC_IS_GCC=y\n"),
			 -ENOEXEC);
	assert_int_equal(ch->why.n, 3);
	assert_says(&ch->why, COMPILER_MISMATCH, "clang", "CONFIG_RETHUNK: -mfunction-return");
	assert_says(&ch->why, COMPILER_MISMATCH, "clang", "CONFIG_CFI_CLANG: -fsanitize=kcfi");
	assert_says(&ch->why, COMPILER_MISMATCH, "clang", "CONFIG_CC_IS_GCC: needs gcc");
}

static void wants_the_very_same_gcc_for_plugins(void **state)
{
	static const char CONFIG[] = "CONFIG_GCC_PLUGIN_STACKLEAK=y\n"
				     "CONFIG_GCC_PLUGIN_RANDSTRUCT=y\n";
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	take_real(ch, GCC12, "gcc-12");
	assert_int_equal(check(ch, CONFIG), -ENOEXEC);
	assert_int_equal(ch->why.n, 2);
	assert_says(&ch->why, COMPILER_MISMATCH, "gcc-12",
		    "CONFIG_GCC_PLUGIN_STACKLEAK: the headers lack "
		    "scripts/gcc-plugins/stackleak_plugin.so");
	fake_file(ch->node, "scripts/gcc-plugins/stackleak_plugin.so", "");
	fake_file(ch->node, "scripts/gcc-plugins/randomize_layout_plugin.so", "");
	free(ch->h.compiler);
	ch->h.compiler = NULL;
	assert_true(asprintf(&ch->h.compiler, "x86_64-linux-gnu-gcc-12%s",
			     strchr(ch->c.text, ' ')) > 0);
	assert_int_equal(check(ch, CONFIG), 0);
	free(ch->h.compiler);
	ch->h.compiler = strdup("gcc-12 (Other) 12.2.0");
	assert_int_equal(check(ch, CONFIG), -ENOEXEC);
	assert_int_equal(ch->why.n, 2);
	assert_says(&ch->why, COMPILER_MISMATCH, "gcc-12",
		    "CONFIG_GCC_PLUGIN_RANDSTRUCT: -fplugin=randomize_layout_plugin.so is loaded "
		    "only by gcc-12 (Other) 12.2.0");
}

static void tells_a_compiler_that_cannot_compile_from_one_that_knows_no_flag(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, GCC12, "");
	fake_script(ch, "a/gcc-12",
		    "[ \"$1\" = --version ] && echo 'gcc-12 (x) 12.2.0' && exit\n"
		    "echo 'cannot execute as'; exit 1\n");
	assert_chosen(ch, "a/gcc-12");
	assert_int_equal(check(ch, PLAIN), -ENOEXEC);
	assert_int_equal(ch->why.n, 1);
	assert_says(&ch->why, COMPILER_MISSING, "a/gcc-12", "cannot compile: cannot execute as");
}

static void says_how_a_silent_compiler_ended(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, GCC12, "");
	fake_script(ch, "a/gcc-12",
		    "[ \"$1\" = --version ] && echo 'gcc-12 (x) 12.2.0' && exit\nexit 7\n");
	assert_chosen(ch, "a/gcc-12");
	assert_int_equal(check(ch, PLAIN), -ENOEXEC);
	assert_says(&ch->why, COMPILER_MISSING, "a/gcc-12", "cannot compile: exit 7");
	fake_script(ch, "a/gcc-12", "kill -9 $$\n");
	assert_int_equal(check(ch, PLAIN), -ENOEXEC);
	assert_says(&ch->why, COMPILER_MISSING, "a/gcc-12", "cannot compile: exit 137");
}

/* As kbuild does: what is set there would not be set for make. */
static void keeps_the_environment_out_of_the_check(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, GCC12, "");
	fake_script(ch, "a/gcc-12",
		    "[ \"$1\" = --version ] && echo 'gcc-12 (x) 12.2.0' && exit\n"
		    "[ \"$LC_ALL$GCC_EXEC_PREFIX$CPATH\" = C ]\n");
	assert_chosen(ch, "a/gcc-12");
	assert_int_equal(setenv("GCC_EXEC_PREFIX", "/gone/", 1) | setenv("CPATH", "/gone", 1), 0);
	assert_int_equal(check(ch, PLAIN), 0);
	assert_int_equal(unsetenv("GCC_EXEC_PREFIX") | unsetenv("CPATH"), 0);
}

static void finds_the_assembler_of_a_toolset(void **state)
{
	_cleanup_choice_ struct choice *ch = choice_new(*state);

	configure(ch, GCC12, "");
	fake_script(ch, "a/gcc-12",
		    "[ \"$1\" = --version ] && echo 'gcc-12 (x) 12.2.0' && exit\n"
		    "toolset-as\n");
	fake_script(ch, "a/toolset-as", "exit 0\n");
	assert_chosen(ch, "a/gcc-12");
	assert_int_equal(check(ch, PLAIN), -ENOEXEC);
	ch->c.toolset = true;
	assert_int_equal(check(ch, PLAIN), 0);
}

/* Of all kernels whose headers are installed here; their compiler may not be. */
static void accepts_the_compiler_of_installed_kernels(void **state)
{
	_cleanup_(sysroot_freep) struct sysroot *machine = NULL;
	_cleanup_strv_ char **kernels = NULL;

	(void)state;
	assert_int_equal(sysroot_open("/", &machine), 0);
	(void)sysroot_list(machine, "lib/modules", &kernels);
	for (char **kernel = kernels; kernel && *kernel; kernel++) {
		_cleanup_headers_ struct headers h = { 0 };
		_cleanup_compiler_ struct compiler c = { 0 };
		_cleanup_verdicts_ struct verdicts why = { 0 };

		if (headers_find(machine, *kernel, "x86_64", NULL, &h, &why) < 0 ||
		    compiler_choose(&h, *kernel, "/usr/bin", &c, &why) < 0)
			continue;
		assert_int_equal(demands_check(&c, &h, &why), 0);
		assert_string_equal(c.text, h.compiler);
		assert_int_equal(why.n, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(accepts_a_compiler_that_knows_all_flags_of_the_kernel),
		on_a_node(names_every_flag_that_a_compiler_does_not_know),
		on_a_node(refuses_gcc_for_a_kernel_that_clang_built),
		on_a_node(checks_clang_by_its_own_flags),
		on_a_node(wants_the_very_same_gcc_for_plugins),
		on_a_node(tells_a_compiler_that_cannot_compile_from_one_that_knows_no_flag),
		on_a_node(says_how_a_silent_compiler_ended),
		on_a_node(keeps_the_environment_out_of_the_check),
		on_a_node(finds_the_assembler_of_a_toolset),
		cmocka_unit_test(accepts_the_compiler_of_installed_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
