/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_headers.h"

#include "common/digest.h"

#define SLES "6.4.0-150600.21-default"
#define RHEL "5.14.0-503.el9.x86_64"

/* ---- where they are */

static void finds_headers_where_each_distribution_has_them(void **state)
{
	static const struct {
		const char *kernel, *dir;
	} cases[] = {
		{ KERNEL, "usr/src/linux-headers-" KERNEL },
		{ RHEL, "usr/src/kernels/" RHEL },
		{ SLES, "usr/src/linux-6.4.0-150600.21-obj/x86_64/default" },
		{ "5.14.21-150500.33.3-azure",
		  "usr/src/linux-5.14.21-150500.33.3-azure-obj/x86_64/azure" },
		{ "6.4.0-150600.23-default", "usr/src/linux-obj/x86_64/default" },
	};
	_cleanup_finding_ struct finding f = { .node = *state };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		f.kernel = cases[i].kernel;
		assert_int_equal(find_headers(&f), -ENOENT);
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
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL };

	fake_file(f.node, "etc/os-release", "ID=debian\n");
	assert_int_equal(find_headers(&f), -ENOENT);
	assert_int_equal(f.why.n, 1);
	assert_says(&f.why, HEADERS_MISSING, KERNEL, "needed: linux-headers-" KERNEL);
	assert_says(&f.why, HEADERS_MISSING, KERNEL, f.node->dir);
	assert_says(&f.why, HEADERS_MISSING, KERNEL, "/usr/src/kernels/");
	assert_null(f.h.path);
}

static void says_what_is_wrong_with_each_place(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL };

	assert_int_equal(
		sysroot_link(f.node->root, "/usr/src/gone", "lib/modules/" KERNEL "/build"), 0);
	fake_file(f.node, "usr/src/linux-headers-" KERNEL "/.config", "");
	fake_file(f.node, "usr/src/kernels/" KERNEL "/Makefile", "");
	assert_int_equal(find_headers(&f), -ENOENT);
	assert_says(&f.why, HEADERS_MISSING, KERNEL,
		    "/lib/modules/" KERNEL "/build (a link to /usr/src/gone, which is not there)");
	assert_says(&f.why, HEADERS_MISSING, KERNEL, "linux-headers-" KERNEL " (no Makefile)");
	assert_says(&f.why, HEADERS_MISSING, KERNEL, "kernels/" KERNEL " (no .config)");
	f.given = "usr/src/kernels/" KERNEL;
	assert_int_equal(find_headers(&f), -ENOENT);
	assert_says(&f.why, HEADERS_MISSING, KERNEL, "kernels/" KERNEL " (no .config); needed");
}

static void refuses_headers_of_another_kernel(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };

	fake_headers(f.node, "h", "6.1.0-57-none");
	assert_int_equal(find_headers(&f), -ENOEXEC);
	assert_says(&f.why, VERMAGIC_MISMATCH, "/h", "headers of 6.1.0-57-none");
	fake_headers(f.node, "h", KERNEL);
	fake_file(f.node, "h/.config", "CONFIG_ARM64=y\n");
	assert_int_equal(find_headers(&f), -ENOEXEC);
	assert_says(&f.why, ARCH_MISMATCH, "/h", "headers for aarch64, this is x86_64");
	assert_int_equal(sysroot_remove(f.node->root, "h/include"), 0);
	fake_file(f.node, "h/.config", "CONFIG_X86_64=y\n");
	assert_int_equal(find_headers(&f), -ENOENT);
	assert_says(&f.why, HEADERS_MISSING, KERNEL, "is not prepared");
	assert_null(f.h.path);
}

static void does_not_judge_architectures_that_it_does_not_know(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };

	fake_headers(f.node, "h", KERNEL);
	assert_int_equal(headers_find(f.node->root, KERNEL, "loongarch64", "h", &f.h, &f.why), 0);
}

static void knows_the_digests_of_config_and_symbols(void **state)
{
	_cleanup_finding_ struct finding f = { .node = *state, .kernel = KERNEL, .given = "h" };
	char wanted[DIGEST_TEXT];

	fake_headers(f.node, "h", KERNEL);
	assert_found(&f, "h");
	assert_string_equal(f.h.symvers_sha256, "");
	fake_file(f.node, "h/Module.symvers", "0x1\ta\tb\tEXPORT_SYMBOL\t\n");
	assert_found(&f, "h");
	assert_int_equal(digest_file(f.node->root, "h/Module.symvers", wanted), 0);
	assert_string_equal(f.h.symvers_sha256, wanted);
	assert_int_equal(digest_file(f.node->root, "h/.config", wanted), 0);
	assert_string_equal(f.h.config.sha256, wanted);
}

static void tells_where_they_are_without_reading_them(void **state)
{
	_cleanup_free_ char *where = NULL;
	const struct fake_node *node = *state;

	assert_int_equal(headers_where(node->root, KERNEL, NULL, &where), -ENOENT);
	fake_headers(node, "h", "another");
	assert_int_equal(headers_where(node->root, KERNEL, "h", &where), 0);
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
		on_a_node(knows_the_digests_of_config_and_symbols),
		on_a_node(tells_where_they_are_without_reading_them),
		on_a_node(finds_the_sources_that_belong_to_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
