/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole program on a fake node, without a kernel: this program is ofed-driver whenever it has
 * arguments, so that its supervisor finds itself in /proc/self/exe.
 */
int ofed_driver_main(int argc, char *argv[]);
#define main ofed_driver_main
#include "entrypoints/ofed-driver.c"
#undef main

#include "tests/unit/fake_tree.h"

#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "common/child.h"
#include "tree/ready.h"

#define LOCK "run/mellanox/drivers/.lock"
#define READY "run/mellanox/drivers/.driver-ready"
#define BOOT "11111111-2222-3333-4444-555555555555"

struct subject {
	const char *until; /* in a line of the log: then SIGTERM; NULL: it ends by itself */
	const char *ask;   /* an option of status, asked at that moment */
	int asked, stop;
	const struct fake_node *node;
};

static struct child_result driver(const struct fake_node *node, struct subject *s, const char *verb,
				  const char *option);

static void on_line(void *data, const char *line)
{
	struct subject *s = data;

	if (!s->until || !strstr(line, s->until))
		return;
	s->until = NULL;
	if (s->ask) {
		_cleanup_child_result_ struct child_result res = { 0 };

		res = driver(s->node, &(struct subject){ 0 }, "status", s->ask);
		s->asked = res.status;
	}
	assert_int_equal(eventfd_write(s->stop, 1), 0);
}

static struct child_result driver(const struct fake_node *node, struct subject *s, const char *verb,
				  const char *option)
{
	_cleanup_free_ char *store = NULL;
	const char *argv[] = { "/proc/self/exe", verb,     "--log-format", "text", "--host-root",
			       node->dir,        "--tree", NULL,           option, NULL };
	const struct child_spec spec = { .argv = argv,
					 .stop_fd = s->stop = eventfd(0, EFD_CLOEXEC),
					 .timeout_ms = 60000,
					 .tail = 200,
					 .line = on_line,
					 .data = s };
	struct child_result res = { 0 };

	assert_true(asprintf(&store, "%s/trees", node->dir) > 0);
	argv[7] = store;
	s->node = node;
	assert_int_equal(child_run(&spec, &res), 0);
	assert_false(res.timed_out);
	(void)close(s->stop);
	return res;
}

#define DRIVER(node, ...) driver(node, &(struct subject){ 0 }, __VA_ARGS__)

/* Its modules get the builds that make_tree_live() has, and it drives Mellanox's devices. */
static void identify(const struct fake_node *node)
{
	static const char path[] = "trees/k1/manifest.json";
	_cleanup_free_ char *text = NULL, *new = NULL;
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_manifest_ struct manifest m = { 0 };
	size_t len;

	assert_int_equal(sysroot_read(node->root, path, 1 << 20, &text, &len), 0);
	assert_int_equal(manifest_parse(text, len, path, &m, &why), 0);
	memset(m.modules[0].id.srcversion, 'A', 4);
	memset(m.modules[1].id.srcversion, 'B', 4);
	strv_free(m.vendors);
	m.vendors = calloc(2, sizeof(*m.vendors));
	assert_non_null(m.vendors);
	m.vendors[0] = strdup("15b3");
	assert_int_equal(manifest_format(&m, &new, &len), 0);
	fake_file(node, path, new);
}

/* A node that runs, with a tree for its kernel in the store. */
static void make_node(const struct fake_node *node)
{
	const struct fake_tree tree = { .key = "k1", .version = "1.0" };
	struct fake_tree t = tree;
	struct utsname u;

	assert_int_equal(uname(&u), 0);
	t.kernel = u.release;
	t.arch = u.machine;
	fake_file(node, "proc/sys/kernel/random/boot_id", BOOT "\n");
	fake_file(node, "proc/modules", "");
	fake_file(node, "proc/1/mountinfo", "");
	assert_int_equal(sysroot_mkdirs(node->root, "sys/module", 0755), 0);
	assert_int_equal(sysroot_mkdirs(node->root, "sys/bus/pci/devices", 0755), 0);
	fake_tree(node, "trees/k1", &t);
	identify(node);
}

static void make_tree_live(const struct fake_node *node)
{
	fake_module(node, "ib_core", "AAAA");
	fake_module(node, "rdma_rxe", "BBBB");
}

static void lock_by_hand(const struct fake_node *node, int *ret)
{
	fake_file(node, LOCK, "ofed-driver run, pid 1 on elsewhere, since then\n");
	*ret = sysroot_openat(node->root, LOCK, O_RDWR, 0);
	assert_true(*ret >= 0);
	assert_int_equal(flock(*ret, LOCK_EX), 0);
}

static void every_verb_is_in_the_help(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = DRIVER(node, "--help", NULL);

	assert_int_equal(res.status, 0);
	for (const struct verb *v = verbs; v < verbs + VERBS; v++) {
		assert_non_null(strstr(res.tail, v->name));
		assert_non_null(strstr(res.tail, v->help));
	}
	assert_non_null(strstr(res.tail, "RESTORE_DRIVER_ON_POD_TERMINATION"));
}

static void misuse_is_100_and_names_what_was_wrong(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result verb = DRIVER(node, "lode", NULL);
	_cleanup_child_result_ struct child_result option = DRIVER(node, "load", "--if-presnt");
	_cleanup_child_result_ struct child_result words = DRIVER(node, "load", "now");

	assert_int_equal(verb.status, 100);
	assert_non_null(strstr(verb.tail, "reason=USAGE object=lode"));
	assert_int_equal(option.status, 100);
	assert_non_null(strstr(option.tail, "did you mean --if-present?"));
	assert_int_equal(words.status, 100);
	assert_non_null(strstr(words.tail, "object=now"));
}

static void without_a_tree_for_this_kernel_it_ends_with_1_and_says_how_to_get_one(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };

	make_node(node);
	assert_int_equal(sysroot_remove(node->root, "trees/k1"), 0);
	res = DRIVER(node, "run", NULL);
	assert_int_equal(res.status, 1);
	assert_non_null(strstr(res.tail, "reason=TREE_MISSING"));
	assert_non_null(strstr(res.tail, "ofed-driver build"));
	assert_false(sysroot_exists(node->root, READY));
}

static void load_is_for_the_running_kernel_only(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };

	make_node(node);
	res = DRIVER(node, "load", "--kernel=4.18.0");
	assert_int_equal(res.status, 100);
	assert_non_null(strstr(res.tail, "object=--kernel"));
}

static void a_stack_that_is_live_already_is_shown_and_ready_at_once(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };
	_cleanup_ready_ struct ready ready = { 0 };

	make_node(node);
	make_tree_live(node);
	res = DRIVER(node, "load", NULL);
	assert_int_equal(res.status, 0);
	assert_non_null(strstr(res.tail, "INFO nothing_to_do"));
	assert_int_equal(ready_read(node->root, READY, &ready), 0);
	assert_string_equal(ready.boot_id, BOOT);
	assert_string_equal(ready.driver, "x");
	assert_int_equal(ready.n_modules, 2);
	assert_true(sysroot_exists(node->root, "run/mellanox/drivers/usr/src/ofa_kernel/default"));
	assert_false(sysroot_exists(node->root, "run/gdrkit/trees/k1"));
}

static void run_stays_until_it_is_stopped_and_takes_away_what_it_showed(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };

	make_node(node);
	make_tree_live(node);
	res = driver(node, &(struct subject){ .until = "INFO ready" }, "run", NULL);
	assert_int_equal(res.status, 0);
	assert_non_null(strstr(res.tail, "INFO restored"));
	assert_false(sysroot_exists(node->root, READY));
	assert_false(sysroot_exists(node->root, "run/mellanox/drivers/usr/src/ofa_kernel"));
	assert_true(sysroot_exists(node->root, "sys/module/ib_core"));
}

static void waits_for_the_instance_lock_says_for_whom_and_ends_at_once_when_stopped(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };
	struct subject s = { .until = "INFO waiting", .ask = "--live", .asked = -1 };
	_cleanup_close_ int lock = -1;

	make_node(node);
	make_tree_live(node);
	lock_by_hand(node, &lock);
	res = driver(node, &s, "run", NULL);
	assert_int_equal(res.status, 143);
	assert_int_equal(s.asked, 0);
	assert_non_null(strstr(res.tail, "ofed-driver run, pid 1 on elsewhere, since then"));
	assert_true(res.ms < 10000);
	assert_false(sysroot_exists(node->root, READY));
}

static void is_not_ready_while_another_holds_the_lock(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };
	struct subject s = { .until = "INFO waiting", .ask = "--ready", .asked = -1 };
	_cleanup_close_ int lock = -1;

	make_node(node);
	make_tree_live(node);
	lock_by_hand(node, &lock);
	res = driver(node, &s, "run", NULL);
	assert_int_equal(s.asked, 1);
}

static void by_hand_the_wait_for_the_lock_has_a_deadline(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };
	_cleanup_close_ int lock = -1;

	make_node(node);
	lock_by_hand(node, &lock);
	res = DRIVER(node, "load", "--timeout=50ms");
	assert_int_equal(res.status, 124);
	assert_non_null(strstr(res.tail, "reason=WAIT_TIMEOUT"));
}

/* load by hand, with a signal that came before its first line. */
static int load_after(const struct fake_node *node, int signo)
{
	char *argv[] = { "ofed-driver", "load", "--host-root", node->dir, "--timeout", "5s", NULL };
	pid_t pid = fork();
	sigset_t set;
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)sigemptyset(&set);
		(void)sigaddset(&set, signo);
		(void)sigprocmask(SIG_BLOCK, &set, NULL);
		(void)signal(signo, SIG_DFL);
		(void)raise(signo);
		_exit(execv("/proc/self/exe", argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_terminal_that_goes_and_its_quit_are_heard_like_sigterm(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_close_ int lock = -1;

	make_node(node);
	lock_by_hand(node, &lock);
	assert_int_equal(load_after(node, SIGHUP), 128 + SIGHUP);
	assert_int_equal(load_after(node, SIGQUIT), 128 + SIGQUIT);
}

static void a_ready_file_of_another_boot_is_stale(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result loaded = { 0 }, fresh = { 0 }, stale = { 0 };

	make_node(node);
	make_tree_live(node);
	loaded = DRIVER(node, "load", NULL);
	fresh = DRIVER(node, "status", NULL);
	assert_int_equal(fresh.status, 0);
	fake_file(node, "proc/sys/kernel/random/boot_id", "another\n");
	stale = DRIVER(node, "status", NULL);
	assert_int_equal(stale.status, 1);
	assert_non_null(strstr(stale.tail, "ready     STALE"));
}

static void plan_writes_nothing_on_the_node(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };

	make_node(node);
	make_tree_live(node);
	res = DRIVER(node, "plan", NULL);
	assert_int_equal(res.status, 0);
	assert_non_null(strstr(res.tail, "nothing to do"));
	assert_false(sysroot_exists(node->root, "run"));
}

static void a_tree_that_cannot_be_opened_is_refused_and_not_kept(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };

	make_node(node);
	res = DRIVER(node, "load", NULL);
	assert_int_equal(res.status, 1);
	assert_non_null(strstr(res.tail, "reason=MODULE_INVALID"));
	assert_false(sysroot_exists(node->root, "run/gdrkit/trees/k1"));
	assert_false(sysroot_exists(node->root, READY));
}

static void without_a_device_of_the_tree_if_present_loads_nothing(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };

	make_node(node);
	res = DRIVER(node, "load", "--if-present");
	assert_int_equal(res.status, 0);
	assert_non_null(strstr(res.tail, "INFO absent"));
	assert_false(sysroot_exists(node->root, READY));
}

/* What driver_ready() makes of the node, as an exit code. */
static int ready_here(const struct fake_node *node, bool if_present)
{
	_cleanup_(sysroot_freep) struct sysroot *own = NULL;
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_driver_ struct driver d = { 0 };
	_cleanup_free_ char *store = NULL;
	struct ofed_settings set = { .if_present = if_present, .ready_path = "/" READY };

	set.lock_path = "/" LOCK;
	assert_true(asprintf(&store, "%s/trees", node->dir) > 0);
	set.tree = store;
	set.source = getenv("GDRKIT_SOURCE");
	set.output = getenv("NVIDIA_NIC_DRIVERS_INVENTORY_PATH");
	assert_int_equal(sysroot_open("/", &own), 0);
	assert_int_equal(driver_init(&d, &set, node->root, own, &why), 0);
	assert_int_equal(driver_ready(&d, &why), 0);
	return verdicts_exit(&why);
}

static void without_a_device_of_the_tree_if_present_is_ready(void **state)
{
	const struct fake_node *node = *state;

	make_node(node);
	assert_int_equal(ready_here(node, true), 0);
	assert_int_equal(ready_here(node, false), 1);
}

/* ---- with a source in the place of a tree */

#define CACHE "cache"

/* Below the node, for this process; NULL: no longer. */
static void set_path(const struct fake_node *node, const char *name, const char *below)
{
	_cleanup_free_ char *path = NULL;

	if (!below) {
		assert_int_equal(unsetenv(name), 0);
		return;
	}
	assert_true(asprintf(&path, "%s/%s", node->dir, below) > 0);
	assert_int_equal(setenv(name, path, 1), 0);
}

static void set_source(const struct fake_node *node, bool there)
{
	set_path(node, "GDRKIT_SOURCE", there ? "src" : NULL);
	set_path(node, "NVIDIA_NIC_DRIVERS_INVENTORY_PATH", there ? CACHE : NULL);
}

/* No tree, but a source of a driver of Mellanox's devices, which one shell command builds. */
static void make_source(const struct fake_node *node, const char *command)
{
	_cleanup_free_ char *recipe = NULL;

	make_node(node);
	assert_int_equal(sysroot_remove(node->root, "trees/k1"), 0);
	assert_true(asprintf(&recipe,
			     "name: y\nversion: \"1.0\"\nvendors: [\"15b3\"]\nmodules: [y]\n"
			     "build:\n  commands: [[sh, -c, \"%s\"]]\n",
			     command) > 0);
	fake_file(node, "src/driver.conf", recipe);
}

/* As much of the kernel's as is asked for; whatever gcc is here has built it. */
static void make_headers(const struct fake_node *node)
{
	static const char *const programs[] = { "scripts/basic/fixdep", "scripts/mod/modpost" };
	_cleanup_free_ char *dir = NULL, *file = NULL;
	struct utsname u;

	assert_int_equal(uname(&u), 0);
	assert_true(asprintf(&dir, "lib/modules/%s/build", u.release) > 0);
	for (size_t i = 0; i < 2; i++) {
		_cleanup_free_ char *path = NULL;

		assert_true(asprintf(&path, "%s/%s", dir, programs[i]) > 0);
		assert_int_equal(sysroot_replace(node->root, path, 0755, "#!/bin/sh\n", 10), 0);
	}
#define HEADER(name, text)                                         \
	do {                                                       \
		free(file);                                        \
		assert_true(asprintf(&file, "%s/" name, dir) > 0); \
		fake_file(node, file, text);                       \
	} while (0)
	HEADER("Makefile", "");
	HEADER(".config", strcmp(u.machine, "x86_64") ? "CONFIG_CC_IS_GCC=y\nCONFIG_ARM64=y\n"
						      : "CONFIG_CC_IS_GCC=y\nCONFIG_X86_64=y\n");
	HEADER("Module.symvers", "");
	HEADER("include/config/kernel.release", u.release);
#undef HEADER
}

/* The text of the one log in the cache. */
static char *build_log(const struct fake_node *node)
{
	_cleanup_strv_ char **names = NULL;
	_cleanup_free_ char *path = NULL;
	char *text;

	assert_int_equal(sysroot_list(node->root, CACHE, &names), 0);
	assert_int_equal(strv_length(names), 1);
	assert_int_equal(strncmp(names[0], ".log-", 5), 0);
	assert_true(asprintf(&path, CACHE "/%s", names[0]) > 0);
	assert_int_equal(sysroot_read(node->root, path, 1 << 20, &text, NULL), 0);
	return text;
}

static void what_a_build_runs_has_nothing_of_its_supervisors(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };
	_cleanup_free_ char *log = NULL;

	make_source(node, "ls -l /proc/self/fd; exit 9");
	make_headers(node);
	set_source(node, true);
	res = DRIVER(node, "run", NULL);
	set_source(node, false);
	assert_int_equal(res.status, 1);
	assert_non_null(strstr(res.tail, "exit 9"));
	assert_true(sysroot_exists(node->root, LOCK));
	log = build_log(node);
	assert_non_null(strstr(log, "/dev/null"));
	assert_null(strstr(log, ".lock"));
}

static void without_a_device_of_the_source_if_present_builds_nothing_and_is_ready(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };

	make_source(node, "true");
	set_source(node, true);
	res = driver(node, &(struct subject){ .until = "INFO absent" }, "run", "--if-present");
	assert_int_equal(res.status, 0);
	assert_false(sysroot_exists(node->root, CACHE));
	assert_int_equal(ready_here(node, true), 0);
	assert_int_equal(ready_here(node, false), 1);
	set_source(node, false);
}

static void by_hand_load_waits_for_the_lock_though_there_is_a_source(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };
	_cleanup_close_ int lock = -1;

	make_source(node, "true");
	lock_by_hand(node, &lock);
	set_source(node, true);
	res = DRIVER(node, "load", "--timeout=50ms");
	set_source(node, false);
	assert_int_equal(res.status, 124);
	assert_non_null(strstr(res.tail, "reason=WAIT_TIMEOUT"));
}

/* What was cut off is recovered before anything is built. */
static void builds_before_it_waits_for_a_driver_not_for_one_who_looks(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result held = { 0 }, looked_at = { 0 };
	_cleanup_close_ int lock = -1;

	make_source(node, "true");
	lock_by_hand(node, &lock);
	set_source(node, true);
	held = DRIVER(node, "run", "--timeout=50ms");
	assert_int_equal(flock(lock, LOCK_SH), 0);
	looked_at = DRIVER(node, "run", "--timeout=50ms");
	set_source(node, false);
	assert_int_equal(held.status, 1);
	assert_non_null(strstr(held.tail, "reason=HEADERS_MISSING"));
	assert_int_equal(looked_at.status, 124);
	assert_non_null(strstr(looked_at.tail, "reason=WAIT_TIMEOUT"));
}

static void a_build_ends_whatever_its_parent_makes_of_children_that_end(void **state)
{
	const struct fake_node *node = *state;
	char *argv[] = { "ofed-driver", "build", "--host-root", FAKE_TEXT(node->dir), NULL };
	pid_t pid;
	int status;

	make_node(node);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)signal(SIGCHLD, SIG_IGN);
		(void)alarm(30);
		_exit(execv("/proc/self/exe", argv));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 100);
}

static void unload_has_nothing_to_do_where_nothing_was_swapped(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_child_result_ struct child_result res = { 0 };

	make_node(node);
	make_tree_live(node);
	fake_file(node, READY, "BOOT_ID=of another life\n");
	res = DRIVER(node, "unload", NULL);
	assert_int_equal(res.status, 0);
	assert_non_null(strstr(res.tail, "INFO nothing_to_do"));
	assert_false(sysroot_exists(node->root, READY));
}

/* A verb that SIGTERM ended. */
static int end_interrupted(const struct verdicts *why)
{
	const struct signalfd_siginfo term = { .ssi_signo = SIGTERM };
	struct driver d = { 0 };
	int fds[2], code;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], &term, sizeof(term)), sizeof(term));
	d.stop_fd = fds[0];
	code = driver_end(&d, "load", -ECANCELED, why);
	(void)close(fds[0]);
	(void)close(fds[1]);
	return code;
}

static void a_way_back_that_failed_is_said_last_and_outweighs_the_signal(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };

	(void)state;
	assert_int_equal(end_interrupted(&why), 128 + SIGTERM);
	assert_non_null(strstr(log_last_error(), "INTERRUPTED"));
	verdicts_no(&why, REASON_INTERRUPTED, "x 1.0", NULL);
	assert_int_equal(end_interrupted(&why), 128 + SIGTERM);
	verdicts_no(&why, REASON_UNDO_FAILED, "ib_core", NULL);
	assert_int_equal(end_interrupted(&why), reason_info(REASON_UNDO_FAILED)->exit);
	assert_non_null(strstr(log_last_error(), "UNDO_FAILED"));
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		on_a_node(every_verb_is_in_the_help),
		on_a_node(misuse_is_100_and_names_what_was_wrong),
		on_a_node(without_a_tree_for_this_kernel_it_ends_with_1_and_says_how_to_get_one),
		on_a_node(load_is_for_the_running_kernel_only),
		on_a_node(a_stack_that_is_live_already_is_shown_and_ready_at_once),
		on_a_node(run_stays_until_it_is_stopped_and_takes_away_what_it_showed),
		on_a_node(waits_for_the_instance_lock_says_for_whom_and_ends_at_once_when_stopped),
		on_a_node(is_not_ready_while_another_holds_the_lock),
		on_a_node(by_hand_the_wait_for_the_lock_has_a_deadline),
		on_a_node(a_terminal_that_goes_and_its_quit_are_heard_like_sigterm),
		on_a_node(a_ready_file_of_another_boot_is_stale),
		on_a_node(plan_writes_nothing_on_the_node),
		on_a_node(a_tree_that_cannot_be_opened_is_refused_and_not_kept),
		on_a_node(without_a_device_of_the_tree_if_present_loads_nothing),
		on_a_node(without_a_device_of_the_tree_if_present_is_ready),
		on_a_node(what_a_build_runs_has_nothing_of_its_supervisors),
		on_a_node(without_a_device_of_the_source_if_present_builds_nothing_and_is_ready),
		on_a_node(by_hand_load_waits_for_the_lock_though_there_is_a_source),
		on_a_node(builds_before_it_waits_for_a_driver_not_for_one_who_looks),
		on_a_node(a_build_ends_whatever_its_parent_makes_of_children_that_end),
		on_a_node(unload_has_nothing_to_do_where_nothing_was_swapped),
		cmocka_unit_test(a_way_back_that_failed_is_said_last_and_outweighs_the_signal),
	};

	return argc > 1 ? ofed_driver_main(argc, argv) : cmocka_run_group_tests(tests, NULL, NULL);
}
