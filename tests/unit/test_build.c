/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_tree.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/utsname.h>

#include "common/digest.h"
#include "common/log.h"
#include "tree/build.h"
#include "tree/expose.h"
#include "tree/folder.h"
#include "tree/recipe.h"

/* ---- builds that need no kernel: a "module" is an object file with a modinfo */

#define KERNEL "6.1.0-none"
#ifdef __x86_64__
#define ARCH "CONFIG_X86_64=y\n"
#else
#define ARCH "CONFIG_ARM64=y\n"
#endif
#define CC "[gcc, -c, -g, -o, "

struct stage {
	struct fake_node *node;
	struct build build;
	struct utsname uts;
	struct verdicts why;
	struct tree *tree;
};

/* Of a kernel that was built by whatever gcc is here. */
static void fake_headers(struct fake_node *node, const char *dir)
{
	static const struct {
		const char *name, *text;
		mode_t mode;
	} FILES[] = {
		{ "Makefile", "", 0644 },
		{ ".config", "CONFIG_CC_IS_GCC=y\n" ARCH, 0644 },
		{ "include/config/kernel.release", KERNEL "\n", 0644 },
		{ "Module.symvers", "0x12345678\tx\tvmlinux\tEXPORT_SYMBOL\t\n", 0644 },
		{ "scripts/basic/fixdep", "#!/bin/sh\n", 0755 },
		{ "scripts/mod/modpost", "#!/bin/sh\n", 0755 },
	};

	for (size_t i = 0; i < sizeof(FILES) / sizeof(*FILES); i++) {
		_cleanup_free_ char *path = NULL;

		assert_true(asprintf(&path, "%s/%s", dir, FILES[i].name) > 0);
		assert_int_equal(sysroot_replace(node->root, path, FILES[i].mode, FILES[i].text,
						 strlen(FILES[i].text)),
				 0);
	}
}

static struct stage *stage_new(struct fake_node *node)
{
	struct stage *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	assert_int_equal(uname(&s->uts), 0);
	s->node = node;
	s->build = (struct build){
		.root = node->root,
		.host = node->root,
		.source = "src",
		.headers = "headers",
		.kernel = KERNEL,
		.arch = s->uts.machine,
		.store = "store",
		.jobs = 2,
		.stop_fd = -1,
	};
	fake_headers(node, "headers");
	return s;
}

static void stage_freep(struct stage **s)
{
	tree_free((*s)->tree);
	verdicts_clear(&(*s)->why);
	free(*s);
}
#define _cleanup_stage_ _cleanup_(stage_freep)

static void recipe_of(const struct stage *s, const char *lists, const char *commands)
{
	_cleanup_free_ char *text = NULL;

	assert_true(asprintf(&text, "name: plain\nversion: \"1.0\"\n%s\nbuild:\n  commands: [%s]\n",
			     lists, commands) > 0);
	fake_file(s->node, "src/driver.conf", text);
}

static void module_source(const struct stage *s, const char *name, const char *release)
{
	_cleanup_free_ char *text = NULL;

	assert_true(
		asprintf(&text,
			 "#define IN(name) __attribute__((section(name), used))\n"
			 "char this_module[99] IN(\".gnu.linkonce.this_module\") = \"x\";\n"
			 "static const char info[] IN(\".modinfo\") = \"name=%s\\0depends=\\0\"\n"
			 "\"license=Dual MIT/GPL\\0vermagic=%s SMP \\0\"\n"
			 "\"srcversion=0123456789ABCDEF0123456\";\n",
			 name, release) > 0);
	fake_file(s->node, "src/a.c", text);
}

static int build(struct stage *s)
{
	s->tree = tree_free(s->tree);
	verdicts_clear(&s->why);
	return build_tree(&s->build, &s->tree, &s->why);
}

/* Nothing is in the store but trees, what was seen with them, and logs. */
static void assert_clean(const struct stage *s, size_t trees, size_t logs)
{
	_cleanup_strv_ char **names = NULL;

	assert_int_equal(sysroot_list(s->node->root, "store", &names), 0);
	for (char **name = names; *name; name++) {
		if (!strncmp(*name, ".log-", 5))
			logs--;
		else if (!strncmp(*name, ".seen-", 6))
			continue;
		else if (**name != '.')
			trees--;
		else
			fail_msg("left in the store: %s", *name);
	}
	assert_int_equal(trees, 0);
	assert_int_equal(logs, 0);
}

static void makes_a_tree_of_what_commands_leave(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);
	const struct manifest_module *m;
	_cleanup_(module_freep) struct module *module = NULL;

	module_source(s, "plain_a", KERNEL);
	recipe_of(s, "modules: [plain-a]\noptional: [plain_b]\nvendors: [15B3]\nauxiliary: [x]",
		  CC "plain-a.ko, a.c]");
	assert_int_equal(build(s), 0);
	assert_string_equal(s->tree->manifest.name, "plain");
	assert_non_null(strstr(s->tree->manifest.compiler, "gcc"));
	assert_int_equal(strlen(s->tree->manifest.config_sha256), 64);
	assert_int_equal(strlen(s->tree->manifest.symvers_sha256), 64);
	assert_null(s->tree->manifest.build_id);
	assert_string_equal(s->tree->manifest.vendors[0], "15b3");
	assert_string_equal(s->tree->manifest.auxiliary[0], "x");
	assert_int_equal(s->tree->manifest.n_modules, 1);
	m = &s->tree->manifest.modules[0];
	assert_string_equal(m->name, "plain_a");
	assert_string_equal(m->path, "lib/modules/" KERNEL "/plain/plain-a.ko");
	assert_string_equal(m->id.srcversion, "0123456789ABCDEF0123456");
	assert_int_equal(tree_open_module(s->tree, m, &module, &s->why), 0);
	assert_clean(s, 1, 1);
}

static void prefers_what_was_installed_into_output(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);

	module_source(s, "a", KERNEL);
	fake_file(s->node, "src/deep/a.ko", "not this one");
	recipe_of(s, "modules: [a]",
		  "[mkdir, -p, \"%{output}/x\"], " CC "\"%{output}/x/a.ko\", a.c]");
	assert_int_equal(build(s), 0);
	assert_string_equal(s->tree->manifest.modules[0].path, "lib/modules/" KERNEL "/plain/a.ko");
}

static void builds_once_for_the_same_inputs(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);
	char digest[DIGEST_TEXT];

	module_source(s, "a", KERNEL);
	recipe_of(s, "modules: [a]", CC "a.ko, a.c]");
	assert_int_equal(build(s), 0);
	memcpy(digest, s->tree->digest, sizeof(digest));
	s->build.headers = "gone"; /* not needed again */
	assert_int_equal(build(s), 0);
	assert_string_equal(s->tree->digest, digest);
	s->build.headers = "headers";
	fake_file(s->node, "src/a.h", "");
	assert_int_equal(build(s), 0);
	assert_clean(s, 2, 2);
}

static void builds_again_when_the_headers_have_changed(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);
	char digest[DIGEST_TEXT];

	module_source(s, "a", KERNEL);
	recipe_of(s, "modules: [a]", CC "a.ko, a.c]");
	assert_int_equal(build(s), 0);
	memcpy(digest, s->tree->digest, sizeof(digest));
	fake_file(s->node, "headers/.config", "CONFIG_CC_IS_GCC=y\n" ARCH "CONFIG_X=y\n");
	assert_int_equal(build(s), 0);
	assert_string_not_equal(s->tree->digest, digest);
	assert_clean(s, 1, 1);
}

static void builds_again_when_one_byte_of_a_module_is_another(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);
	_cleanup_(module_freep) struct module *module = NULL;
	_cleanup_close_ int fd = -1;

	module_source(s, "a", KERNEL);
	recipe_of(s, "modules: [a]", CC "a.ko, a.c]");
	assert_int_equal(build(s), 0);
	fd = sysroot_openat(s->tree->root, s->tree->manifest.modules[0].path, O_WRONLY, 0);
	assert_int_equal(pwrite(fd, "x", 1, 200), 1);
	assert_int_equal(build(s), 0);
	assert_int_equal(tree_open_module(s->tree, &s->tree->manifest.modules[0], &module, &s->why),
			 0);
	assert_clean(s, 1, 1);
}

static void leaves_dummies_out(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);
	_cleanup_free_ char *text = NULL;

	module_source(s, "b", KERNEL);
	assert_int_equal(sysroot_read(s->node->root, "src/a.c", 1 << 16, &text, NULL), 0);
	fake_file(s->node, "src/b.c", text);
	module_source(s, "a", KERNEL);
	recipe_of(s, "modules: [a]\noptional: [b]", CC "a.ko, a.c], " CC "b.ko, b.c]");
	assert_int_equal(build(s), 0);
	assert_int_equal(s->tree->manifest.n_modules, 1);
	assert_false(sysroot_exists(s->tree->root, "lib/modules/" KERNEL "/plain/b.ko"));
}

/* A trailer of no bytes (include/linux/module_signature.h): enough to be taken for signed. */
static void leaves_a_signed_module_as_it_is(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);
	_cleanup_free_ char *bytes = NULL;
	size_t len;

	module_source(s, "a", KERNEL);
	fake_file(s->node, "src/sign",
		  "#!/bin/sh\nprintf '\\001%012d~Module signature appended~\\n' 0 |"
		  " tr 0 '\\000' >> a.ko\n");
	recipe_of(s, "modules: [a]", CC "a.ko, a.c], [sh, sign]");
	assert_int_equal(build(s), 0);
	assert_int_equal(sysroot_read(s->tree->root, s->tree->manifest.modules[0].path, 1 << 20,
				      &bytes, &len),
			 0);
	assert_memory_equal(bytes + len - 28, "~Module signature appended~\n", 28);
}

static void builds_a_damaged_tree_again(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);
	_cleanup_free_ char *path = NULL;

	module_source(s, "a", KERNEL);
	recipe_of(s, "modules: [a]", CC "a.ko, a.c]");
	assert_int_equal(build(s), 0);
	assert_true(asprintf(&path, "store/%s/manifest.json", s->tree->manifest.key) > 0);
	fake_file(s->node, path, "{");
	assert_int_equal(build(s), 0);
	assert_clean(s, 1, 1);
}

static void exposes_headers_under_their_paths_beside_the_symbols(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);
	_cleanup_(sysroot_freep) struct sysroot *exposed = NULL;
	_cleanup_free_ char *dir = NULL;

	module_source(s, "a", KERNEL);
	fake_file(s->node, "src/include/linux/x.h", "#include \"../../compat/config.h\"\n");
	recipe_of(s, "modules: [a]\ninclude: [include, compat]",
		  CC "a.ko, a.c], [mkdir, compat], [touch, compat/config.h, Module.symvers]]\n"
		     "  symvers: Module.symvers #");
	assert_int_equal(build(s), 0);
	assert_true(asprintf(&dir, "usr/src/ofa_kernel/%s/" KERNEL, expose_arch(s->build.arch)) >
		    0);
	assert_int_equal(folder_open(s->tree->root, dir, &exposed), 0);
	assert_true(sysroot_exists(exposed, "include/linux/../../compat/config.h"));
	assert_true(sysroot_exists(exposed, "Module.symvers"));
}

static void leaves_only_the_log_when_a_build_fails(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);

	fake_file(s->node, "src/a.c", "int x\n");
	recipe_of(s, "modules: [a]", CC "a.ko, a.c]");
	assert_int_equal(build(s), -ENOEXEC);
	assert_int_equal(s->why.n, 1);
	assert_says(&s->why, BUILD_FAILED, "gcc", "error: expected");
	assert_says(&s->why, BUILD_FAILED, "gcc", "store/.log-");
	assert_clean(s, 0, 1);
}

static void names_every_module_that_was_not_made(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);

	module_source(s, "a", KERNEL);
	recipe_of(s, "modules: [a, b, c]", CC "a.ko, a.c]");
	assert_int_equal(build(s), -ENOEXEC);
	assert_int_equal(s->why.n, 2);
	assert_says(&s->why, BUILD_FAILED, "b", "no b.ko");
	assert_says(&s->why, BUILD_FAILED, "c", "no c.ko");
	assert_clean(s, 0, 1);
}

static void names_both_files_of_one_module(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);

	module_source(s, "a_b", KERNEL);
	recipe_of(s, "modules: [a_b]", CC "a_b.ko, a.c], [mkdir, sub], [cp, a_b.ko, sub/a-b.ko]");
	assert_int_equal(build(s), -ENOEXEC);
	assert_says(&s->why, BUILD_FAILED, "a_b", "a_b.ko and sub/a-b.ko");
}

static void refuses_modules_that_are_not_for_this_kernel(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);

	module_source(s, "a", "6.1.0-none-rt");
	recipe_of(s, "modules: [a]", CC "a.ko, a.c]");
	assert_int_equal(build(s), -ENOEXEC);
	assert_says(&s->why, VERMAGIC_MISMATCH, "a", "6.1.0-none-rt");
	module_source(s, "other", KERNEL);
	assert_int_equal(build(s), -ENOEXEC);
	assert_says(&s->why, BUILD_FAILED, "a", "is called other");
	fake_file(s->node, "src/a.c", "int x;\n");
	assert_true(build(s) < 0);
	assert_says(&s->why, MODULE_INVALID, NULL, NULL);
	assert_clean(s, 0, 3);
}

static void refuses_inputs_that_cannot_be_used(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);

	assert_int_equal(build(s), -ENOENT);
	assert_says(&s->why, RECIPE_INVALID, "src/driver.conf", NULL);
	recipe_of(s, "modules: [a]", "[true]");
	s->build.headers = NULL;
	assert_int_equal(build(s), -ENOENT);
	assert_says(&s->why, HEADERS_MISSING, KERNEL, "linux-headers-" KERNEL);
	s->build.headers = "headers";
	s->build.store = "src/store";
	assert_int_equal(build(s), -EINVAL);
	assert_says(&s->why, USAGE, "src/store", "in the source");
	assert_false(sysroot_exists(s->node->root, "src/store"));
	s->build.store = "src";
	assert_int_equal(build(s), -EINVAL);
	assert_says(&s->why, USAGE, "src", "in the source");
	assert_false(sysroot_exists(s->node->root, "store"));
}

static void clears_up_after_dead_builds_only(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);
	_cleanup_close_ int lock = -1;

	fake_file(s->node, "store/.build-dead/source/x", "");
	fake_file(s->node, "store/.build-live/source/x", "");
	lock = sysroot_openat(s->node->root, "store/.build-live", O_RDONLY | O_DIRECTORY, 0);
	assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
	module_source(s, "a", KERNEL);
	recipe_of(s, "modules: [a]", CC "a.ko, a.c]");
	assert_int_equal(build(s), 0);
	assert_false(sysroot_exists(s->node->root, "store/.build-dead"));
	assert_true(sysroot_exists(s->node->root, "store/.build-live/source/x"));
}

static void builds_beside_what_cannot_be_cleared_up(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);

	assert_int_equal(sysroot_link(s->node->root, ".build-loop", "store/.build-loop"), 0);
	fake_file(s->node, "store/.build-zombie/source/x", "");
	module_source(s, "a", KERNEL);
	recipe_of(s, "modules: [a]", CC "a.ko, a.c]");
	assert_int_equal(build(s), 0);
	assert_false(sysroot_exists(s->node->root, "store/.build-zombie"));
}

static void leaves_nothing_when_it_is_stopped(void **state)
{
	_cleanup_stage_ struct stage *s = stage_new(*state);
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	closep(&ends[1]);
	s->build.stop_fd = ends[0];
	recipe_of(s, "modules: [a]", "[sleep, \"100\"]");
	assert_int_equal(build(s), -ECANCELED);
	assert_int_equal(s->why.n, 0);
	assert_clean(s, 0, 1);
	closep(&ends[0]);
}

static void has_a_key_for_all_that_makes_a_tree_another(void **state)
{
	static char *flags[] = { "A=1", NULL }, *none[] = { NULL };
	struct recipe r = { .flags = none, .digest = "r" },
		      other = { .flags = none, .digest = "o" },
		      flagged = { .flags = flags, .digest = "r" };
	char keys[6][65];

	(void)state;
	assert_int_equal(build_key("6.1", "x86_64", "s", &r, keys[0]), 0);
	assert_int_equal(build_key("6.2", "x86_64", "s", &r, keys[1]), 0);
	assert_int_equal(build_key("6.1", "aarch64", "s", &r, keys[2]), 0);
	assert_int_equal(build_key("6.1", "x86_64", "t", &r, keys[3]), 0);
	assert_int_equal(build_key("6.1", "x86_64", "s", &other, keys[4]), 0);
	assert_int_equal(build_key("6.1", "x86_64", "s", &flagged, keys[5]), 0);
	for (size_t i = 0; i < 6; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(keys[i], keys[j]);
	assert_int_equal(build_key("6.1", "x86_64", "s", &r, keys[1]), 0);
	assert_string_equal(keys[0], keys[1]);
}

/* ---- builds against the headers of a kernel, any that are installed */

static bool are_headers(const struct sysroot *root, const char *dir)
{
	_cleanup_free_ char *path = NULL;

	assert_true(asprintf(&path, "usr/src/%s/include/config/auto.conf", dir) > 0);
	return !strncmp(dir, "linux-headers-", 14) && sysroot_exists(root, path);
}

static char *find_kernel(const struct sysroot *root)
{
	_cleanup_strv_ char **names = NULL;
	char *kernel = NULL;

	if (sysroot_list(root, "usr/src", &names) < 0)
		return NULL;
	for (char **name = names; !kernel && *name; name++)
		if (are_headers(root, *name))
			kernel = strdup(*name + strlen("linux-headers-"));
	return kernel;
}

/* The fixture `pair` in a fake node, built against a kernel of this machine. */
struct kernel_build {
	struct sysroot *machine;
	char *kernel, *source, *store;
	struct utsname uts;
	struct build build;
	struct verdicts why;
	struct tree *tree;
};

static void kernel_build_clear(struct kernel_build *k)
{
	sysroot_free(k->machine);
	free(k->kernel);
	free(k->source);
	free(k->store);
	tree_free(k->tree);
	verdicts_clear(&k->why);
}
#define _cleanup_kernel_build_ _cleanup_(kernel_build_clear)

static void set_up_pair(const struct fake_node *node, struct kernel_build *k)
{
	_cleanup_(sysroot_freep) struct sysroot *fixtures = NULL;

	assert_int_equal(sysroot_open("/", &k->machine), 0);
	k->kernel = find_kernel(k->machine);
	if (!k->kernel)
		skip();
	assert_int_equal(uname(&k->uts), 0);
	assert_int_equal(sysroot_open(FIXTURES "/tree", &fixtures), 0);
	assert_int_equal(folder_copy(fixtures, "pair", node->root, "src"), 0);
	assert_true(asprintf(&k->source, "%s/src", node->dir + 1) > 0);
	assert_true(asprintf(&k->store, "%s/store", node->dir + 1) > 0);
	k->build = (struct build){
		.root = k->machine,
		.host = k->machine,
		.source = k->source,
		.kernel = k->kernel,
		.arch = k->uts.machine,
		.store = k->store,
		.stop_fd = -1,
	};
}

static void assert_pair(struct kernel_build *k)
{
	const struct manifest *m = &k->tree->manifest;

	assert_int_equal(m->n_modules, 2);
	assert_string_equal(m->modules[0].name, "pair_base");
	assert_string_equal(m->modules[1].name, "pair_top");
	assert_string_equal(m->modules[1].depends[0], "pair_base");
	assert_int_equal(m->modules[0].n_exports, 1);
	assert_string_equal(m->modules[0].exports[0].symbol, "pair_answer");
	assert_true(*m->modules[0].id.srcversion);
	assert_non_null(m->compiler);
	for (size_t i = 0; i < 2; i++) {
		_cleanup_(module_freep) struct module *module = NULL;

		assert_int_equal(tree_open_module(k->tree, &m->modules[i], &module, &k->why), 0);
	}
}

static void assert_exposed(const struct kernel_build *k)
{
	_cleanup_free_ char *dir = NULL, *symvers = NULL, *header = NULL, *text = NULL, *crc = NULL;
	const struct manifest_export *e = &k->tree->manifest.modules[0].exports[0];

	assert_true(asprintf(&dir, "usr/src/ofa_kernel/%s/%s", k->uts.machine, k->kernel) > 0);
	assert_true(asprintf(&symvers, "%s/Module.symvers", dir) > 0);
	assert_true(asprintf(&header, "%s/include/pair.h", dir) > 0);
	assert_int_equal(sysroot_read(k->tree->root, symvers, 1 << 16, &text, NULL), 0);
	assert_true(asprintf(&crc, "0x%08x\tpair_answer\tbase/pair_base\t", e->crc) > 0);
	assert_int_equal(strncmp(text, crc, strlen(crc)), 0);
	assert_true(sysroot_exists(k->tree->root, header));
}

static void builds_modules_against_a_kernels_headers(void **state)
{
	_cleanup_kernel_build_ struct kernel_build k = { 0 };

	set_up_pair(*state, &k);
	if (build_tree(&k.build, &k.tree, &k.why) < 0) {
		verdicts_log(&k.why, LEVEL_ERROR);
		fail();
	}
	assert_pair(&k);
	assert_exposed(&k);
}

static void tells_a_module_that_was_changed_since(void **state)
{
	_cleanup_kernel_build_ struct kernel_build k = { 0 };
	struct module *module = NULL;
	const struct manifest_module *m;
	_cleanup_close_ int fd = -1;

	set_up_pair(*state, &k);
	assert_int_equal(build_tree(&k.build, &k.tree, &k.why), 0);
	m = &k.tree->manifest.modules[0];
	fd = sysroot_openat(k.tree->root, m->path, O_WRONLY | O_APPEND, 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(tree_open_module(k.tree, m, &module, &k.why), -EBADMSG);
	assert_says(&k.why, TREE_INVALID, "pair_base.ko", "sha256");
	assert_null(module);
}

static void names_the_line_that_does_not_compile(void **state)
{
	_cleanup_kernel_build_ struct kernel_build k = { 0 };

	set_up_pair(*state, &k);
	fake_file(*state, "src/top/pair-top.c", "#include <linux/module.h>\nint x = y;\n");
	assert_int_equal(build_tree(&k.build, &k.tree, &k.why), -ENOEXEC);
	assert_says(&k.why, BUILD_FAILED, "top", "pair-top.c:2:9: error:");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(makes_a_tree_of_what_commands_leave),
		on_a_node(prefers_what_was_installed_into_output),
		on_a_node(builds_once_for_the_same_inputs),
		on_a_node(builds_again_when_the_headers_have_changed),
		on_a_node(builds_again_when_one_byte_of_a_module_is_another),
		on_a_node(leaves_dummies_out),
		on_a_node(leaves_a_signed_module_as_it_is),
		on_a_node(builds_a_damaged_tree_again),
		on_a_node(exposes_headers_under_their_paths_beside_the_symbols),
		on_a_node(leaves_only_the_log_when_a_build_fails),
		on_a_node(names_every_module_that_was_not_made),
		on_a_node(names_both_files_of_one_module),
		on_a_node(refuses_modules_that_are_not_for_this_kernel),
		on_a_node(refuses_inputs_that_cannot_be_used),
		on_a_node(clears_up_after_dead_builds_only),
		on_a_node(builds_beside_what_cannot_be_cleared_up),
		on_a_node(leaves_nothing_when_it_is_stopped),
		cmocka_unit_test(has_a_key_for_all_that_makes_a_tree_another),
		on_a_node(builds_modules_against_a_kernels_headers),
		on_a_node(tells_a_module_that_was_changed_since),
		on_a_node(names_the_line_that_does_not_compile),
	};

	log_setup(stderr, LOG_TEXT, LEVEL_ERROR); /* no progress */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
