/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_ko.h"
#include "fake_tree.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tree/cage.h"
#include "tree/folder.h"
#include "tree/product.h"

#define KERNEL "6.1.0-test"
#define RECIPE "name: x\nversion: 1\nmodules: [a]\noptional: [b]\n"
#define COMMANDS "build: {commands: [[true]]}\n"
#define DIR "tree/lib/modules/" KERNEL "/x"

/* A build that is done, in a fake node. */
struct fixture {
	const struct fake_node *node;
	struct recipe recipe;
	struct sysroot *tree;
	char *source;
	struct product product;
	struct manifest m;
	struct verdicts why;
	char *left_out; /* the names */
	struct utsname uts;
};

static void left_out(void *data, const char *name)
{
	struct fixture *f = data;
	char *names;

	assert_true(asprintf(&names, "%s%s ", f->left_out ?: "", name) > 0);
	free(f->left_out);
	f->left_out = names;
}

static struct fixture *fixture_new(const struct fake_node *node, const char *recipe)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->node = node;
	assert_int_equal(uname(&f->uts), 0);
	assert_int_equal(recipe_parse(recipe, strlen(recipe), "r", &f->recipe, &f->why), 0);
	for (const char *const *dir =
		     (const char *const[]){ "source", "output", "tree", "elsewhere", NULL };
	     *dir; dir++)
		assert_int_equal(sysroot_mkdirs(node->root, *dir, 0755), 0);
	assert_int_equal(folder_open(node->root, "tree", &f->tree), 0);
	assert_int_equal(folder_path(node->root, "source", &f->source), 0);
	f->product = (struct product){
		.recipe = &f->recipe,
		.kernel = KERNEL,
		.arch = f->uts.machine,
		.scratch = node->root,
		.tree = f->tree,
		.source = f->source,
		.left_out = left_out,
		.data = f,
	};
	return f;
}

static void fixture_freep(struct fixture **f)
{
	recipe_clear(&(*f)->recipe);
	sysroot_free((*f)->tree);
	free((*f)->source);
	manifest_clear(&(*f)->m);
	verdicts_clear(&(*f)->why);
	free((*f)->left_out);
	free(*f);
}
#define _cleanup_fixture_ _cleanup_(fixture_freep)

static int take(void *data)
{
	struct fixture *f = data;

	return product_take(&f->product, &f->m, &f->why);
}

static void take_and_describe(struct fixture *f)
{
	int r = take(f);

	if (r == 0)
		r = product_describe(&f->product, &f->m, &f->why);
	verdicts_log(&f->why, LEVEL_ERROR);
	assert_int_equal(r, 0);
}

/* ---- taking */

static void takes_what_was_installed_before_what_lies_in_the_source(void **state)
{
	_cleanup_fixture_ struct fixture *f = fixture_new(*state, RECIPE COMMANDS);

	fake_file(f->node, "output/lib/a.ko", "installed");
	fake_file(f->node, "source/deep/a.ko", "built");
	fake_file(f->node, "source/b.ko", "optional");
	assert_int_equal(take(f), 0);
	assert_file(f->node, DIR "/a.ko", "installed");
	assert_file(f->node, DIR "/b.ko", "optional");
	assert_file(f->node, "source/deep/a.ko", "built");
	assert_false(sysroot_exists(f->node->root, "source/b.ko"));
	assert_int_equal(f->m.n_modules, 2);
	assert_false(f->m.modules[0].optional);
	assert_true(f->m.modules[1].optional);
}

static void takes_no_link_for_a_module(void **state)
{
	_cleanup_fixture_ struct fixture *f = fixture_new(*state, RECIPE COMMANDS);

	fake_file(f->node, "elsewhere/a.ko", "");
	assert_int_equal(sysroot_link(f->node->root, "../elsewhere/a.ko", "source/a.ko"), 0);
	assert_int_equal(take(f), -ENOEXEC);
	assert_says(&f->why, BUILD_FAILED, "a", "made no a.ko");
}

/* A domain as of ABI 1, whatever the kernel's: nothing moves to another directory. */
static int confine(void)
{
	const uint64_t all = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
			     LANDLOCK_ACCESS_FS_REMOVE_FILE;
	const struct landlock_path_beneath_attr rule = {
		.allowed_access = all,
		.parent_fd = open("/", O_PATH | O_CLOEXEC),
	};
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	long r = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);

	if (r == 0)
		r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (r == 0)
		r = syscall(SYS_landlock_restrict_self, ruleset, 0);
	(void)close(rule.parent_fd);
	(void)close(ruleset);
	return (int)r;
}

struct confined {
	struct fixture *f;
	int moved, taken;
};

static void *take_confined(void *data)
{
	struct confined *c = data;

	if (confine() < 0)
		return NULL;
	c->moved = sysroot_rename(c->f->node->root, "source/other", "elsewhere/other");
	c->taken = take(c->f);
	return NULL;
}

static void takes_modules_where_nothing_may_move_to_another_directory(void **state)
{
	_cleanup_fixture_ struct fixture *f = fixture_new(*state, RECIPE COMMANDS);
	struct confined c = { .f = f, .moved = 1, .taken = 1 };
	pthread_t thread;

	if (cage_landlock() < 1) {
		print_message("this kernel has no Landlock\n");
		skip();
	}
	fake_file(f->node, "source/other", "");
	fake_file(f->node, "source/a.ko", "a module");
	fake_file(f->node, "output/b.ko", "");
	assert_int_equal(pthread_create(&thread, NULL, take_confined, &c), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(c.moved, -EXDEV);
	assert_int_equal(c.taken, 0);
	assert_file(f->node, DIR "/a.ko", "a module");
	assert_file(f->node, DIR "/b.ko", "");
	assert_false(sysroot_exists(f->node->root, "source/a.ko"));
}

/* ---- dummies */

#define DUMMY KO_INFO("description=x dummy kernel module") KO_NEEDS("_printk")

static void pack(const struct fake_node *node, const char *path)
{
	_cleanup_free_ char *full = fake_path(node, path);

	fake_run((const char *const[]){ "gzip", full, NULL });
}

static void leaves_out_what_does_nothing_and_says_so(void **state)
{
	_cleanup_fixture_ struct fixture *f =
		fixture_new(*state, "name: x\nversion: 1\nmodules: [a, packed, real, quiet]\n"
				    "optional: [b, c]\n" COMMANDS);

	fake_ko(f->node, "source/a.ko", KO("a") DUMMY);
	fake_ko(f->node, "source/packed.ko", KO("packed") DUMMY);
	pack(f->node, "source/packed.ko");
	fake_ko(f->node, "source/real.ko", KO("real") DUMMY KO_NEEDS("pci_register_driver"));
	fake_ko(f->node, "source/quiet.ko", KO("quiet") KO_NEEDS("_printk"));
	fake_ko(f->node, "source/b.ko", KO("b") KO_NEEDS("_printk"));
	fake_ko(f->node, "source/c.ko", KO("c") DUMMY KO_EXPORT("c_symbol", "1"));
	take_and_describe(f);
	assert_string_equal(f->left_out, "a packed b ");
	assert_int_equal(f->m.n_modules, 3);
	assert_string_equal(f->m.modules[0].name, "real");
	assert_string_equal(f->m.modules[1].name, "quiet");
	assert_string_equal(f->m.modules[2].name, "c");
	assert_false(sysroot_exists(f->node->root, DIR "/a.ko"));
	assert_false(sysroot_exists(f->node->root, DIR "/packed.ko.gz"));
	assert_true(sysroot_exists(f->node->root, DIR "/quiet.ko"));
}

static void an_optional_module_that_a_required_one_needs_is_required(void **state)
{
	_cleanup_fixture_ struct fixture *f =
		fixture_new(*state, "name: x\nversion: 1\nmodules: [a]\n"
				    "optional: [b, c, d, e]\n" COMMANDS);

	fake_ko(f->node, "source/a.ko", KO("a") KO_INFO("depends=b") KO_NEEDS("x"));
	fake_ko(f->node, "source/b.ko", KO("b") KO_INFO("depends=c") KO_NEEDS("x"));
	fake_ko(f->node, "source/c.ko", KO("c") KO_NEEDS("x"));
	fake_ko(f->node, "source/d.ko", KO("d") KO_INFO("depends=e,a") KO_NEEDS("x"));
	fake_ko(f->node, "source/e.ko", KO("e") KO_NEEDS("x"));
	take_and_describe(f);
	for (size_t i = 0; i < f->m.n_modules; i++)
		assert_int_equal(f->m.modules[i].optional, *f->m.modules[i].name >= 'd');
}

/* ---- what others build against */

static int expose(struct fixture *f)
{
	verdicts_clear(&f->why);
	return product_expose(&f->product, &f->m, &f->why);
}

static void exposes_no_directory_that_a_link_leads_to_out_of_the_source(void **state)
{
	static const char *const targets[] = { "..", "/", "../elsewhere", "../source2", "/etc" };
	_cleanup_fixture_ struct fixture *f =
		fixture_new(*state, RECIPE "include: [include]\n" COMMANDS);

	assert_int_equal(sysroot_mkdirs(f->node->root, "source2", 0755), 0);
	fake_file(f->node, "etc/passwd", "");
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
		assert_int_equal(sysroot_link(f->node->root, targets[i], "source/include"), 0);
		assert_int_equal(expose(f), -ENOEXEC);
		assert_int_equal(f->why.n, 1);
		assert_says(&f->why, BUILD_FAILED, "include", "a link leads out of the source");
	}
	assert_false(sysroot_exists(f->tree, "usr"));
	fake_file(f->node, "source/compat/x.h", "");
	assert_int_equal(sysroot_link(f->node->root, "compat", "source/include"), 0);
	assert_int_equal(expose(f), 0);
	assert_non_null(f->m.exposed_sha256);
}

static void names_what_is_to_be_exposed_and_is_not_there(void **state)
{
	_cleanup_fixture_ struct fixture *f =
		fixture_new(*state, RECIPE "include: [include]\n" COMMANDS);

	assert_int_equal(expose(f), -ENOENT);
	assert_says(&f->why, BUILD_FAILED, "include", "the source has no such directory");
	fake_file(f->node, "source/include", "a file");
	assert_int_equal(expose(f), -ENOTDIR);
	assert_says(&f->why, BUILD_FAILED, "include", "the source has no such directory");
}

static void takes_the_scratch_directory_out_of_the_symbols_paths(void **state)
{
	_cleanup_fixture_ struct fixture *f =
		fixture_new(*state, RECIPE "build: {kbuild: [one, two]}\n");
	_cleanup_free_ char *text = NULL, *dir = NULL;

	assert_true(asprintf(&text, "0x1\ta\t%s/one/a\tEXPORT_SYMBOL\t\n", f->source) > 0);
	fake_file(f->node, "source/one/Module.symvers", text);
	fake_file(f->node, "source/two/Module.symvers", "0x2\tb\ttwo/b\tEXPORT_SYMBOL\t\n");
	assert_int_equal(expose(f), 0);
	assert_true(asprintf(&dir, "tree/usr/src/ofa_kernel/%s/" KERNEL "/Module.symvers",
			     f->uts.machine) > 0);
	assert_file(f->node, dir,
		    "0x1\ta\tone/a\tEXPORT_SYMBOL\t\n0x2\tb\ttwo/b\tEXPORT_SYMBOL\t\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(takes_what_was_installed_before_what_lies_in_the_source),
		on_a_node(takes_no_link_for_a_module),
		on_a_node(takes_modules_where_nothing_may_move_to_another_directory),
		on_a_node(leaves_out_what_does_nothing_and_says_so),
		on_a_node(an_optional_module_that_a_required_one_needs_is_required),
		on_a_node(exposes_no_directory_that_a_link_leads_to_out_of_the_source),
		on_a_node(names_what_is_to_be_exposed_and_is_not_there),
		on_a_node(takes_the_scratch_directory_out_of_the_symbols_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
