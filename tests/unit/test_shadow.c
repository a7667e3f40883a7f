/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_headers.h"

#include "tree/host_programs.h"
#include "tree/shadow.h"

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
	assert_int_equal(find_headers(&f), 0);
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
	assert_int_equal(host_programs_check(&f.h, &f.why), 0);
	assert_int_equal(f.why.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(makes_a_shadow_whose_links_and_includes_lead_below_the_root),
		on_a_node(makes_one_shadow_of_headers_that_are_their_own_source),
		on_a_node(needs_no_shadow_in_its_own_root),
		on_a_node(builds_a_module_from_a_nodes_headers_by_their_shadow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
