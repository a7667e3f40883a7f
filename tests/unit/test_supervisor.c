/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor executes its own binary with another verb, so this program is its own subject: as
 * `run` it supervises, as `load` and `unload` it does what FAKE_LOAD and FAKE_UNLOAD say.
 */
#include "tests/unit/fake_node.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include "common/child.h"
#include "common/log.h"
#include "common/reason.h"
#include "entrypoints/instance.h"
#include "entrypoints/phase.h"
#include "entrypoints/stop_signals.h"
#include "entrypoints/supervisor.h"

/* Another name for each run of the tests: several may be under way at once. */
#define BINARY getenv("FAKE_NAME")

/* ---- the subject */

/* Ends as load does when it is told to stop: it goes back, and says which signal it was. */
static int wait_for_signal(void)
{
	sigset_t set;
	int signo;

	stop_signals(&set);
	log_info("waits", "parent", NUM(getppid()));
	return sigwait(&set, &signo) == 0 ? 128 + signo : 1;
}

/*
 * Its child lives on for a moment after it and ends as the supervisor's, if that is PID 1 or a
 * subreaper.
 */
static int leave_an_orphan(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(3);
	return pid < 0;
}

enum { WANTS_BUILD = 3 };

/* As load: what FAKE_TREE names is there, or is to be built. */
static int look_for_tree(void)
{
	return access(getenv("FAKE_TREE"), F_OK) == 0 ? 0 : WANTS_BUILD;
}

static int make_tree(void)
{
	_cleanup_close_ int fd = open(getenv("FAKE_TREE"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0;
}

/* Done before it hears that it is to stop. */
static int make_tree_when_told_to_stop(void)
{
	return wait_for_signal() ? make_tree() : 1;
}

static int play(const char *verb, const char *part)
{
	int fd = instance_inherited();

	log_info(verb, "lock", fd >= 0 ? "inherited" : "none");
	if (!part)
		return 0;
	if (strcmp(part, "wait") == 0)
		return wait_for_signal();
	if (strcmp(part, "look") == 0)
		return look_for_tree();
	if (strcmp(part, "make") == 0)
		return make_tree();
	if (strcmp(part, "finish") == 0)
		return make_tree_when_told_to_stop();
	if (strcmp(part, "die") == 0)
		return raise(SIGKILL);
	if (strcmp(part, "orphan") == 0)
		return leave_an_orphan();
	return atoi(part);
}

static int ask(void)
{
	static const char *const names[] = { "loading", "building", "ready", "stopping" };
	enum phase phase;
	int r = phase_ask(BINARY, &phase);

	log_info("asked", "phase", r < 0 ? "nobody" : names[phase]);
	return r < 0;
}

static int subject(char *argv[])
{
	_cleanup_close_ int lock = -1;
	struct supervisor_spec spec = { .binary = BINARY, .argv = argv, .operand = argv[1] };

	log_setup(stderr, LOG_TEXT, LEVEL_INFO);
	if (strcmp(argv[1], "ask") == 0)
		return ask();
	if (strcmp(argv[1], "run") != 0)
		return play(argv[1], getenv(strcmp(argv[1], "load") == 0    ? "FAKE_LOAD"
					    : strcmp(argv[1], "build") == 0 ? "FAKE_BUILD"
									    : "FAKE_UNLOAD"));
	lock = open("/dev/null", O_RDWR | O_CLOEXEC);
	spec.build = getenv("FAKE_BUILD") ? "build" : NULL;
	spec.exit_build = WANTS_BUILD;
	spec.load = "load";
	spec.unload = "unload";
	spec.lock_fd = lock;
	spec.restore = getenv("FAKE_KEEP") == NULL;
	return supervisor_run(&spec);
}

/* ---- the tests */

struct watch {
	const char *until; /* in a line of the log: then SIGTERM */
	int stop;
	bool asks; /* as soon as it is seen, the socket is asked too */
	int asked;
	int signo; /* sent to the supervisor once its child waits; 0: none */
};

static void signal_parent(const char *line, int signo)
{
	const char *parent = strstr(line, "INFO waits parent=");

	if (parent)
		assert_int_equal(kill(atoi(strchr(parent, '=') + 1), signo), 0);
}

static void on_line(void *data, const char *line)
{
	struct watch *w = data;
	const char *const ask_argv[] = { "/proc/self/exe", "ask", NULL };

	if (w->signo)
		signal_parent(line, w->signo);
	if (!w->until || !strstr(line, w->until))
		return;
	if (w->asks) {
		const struct child_spec spec = { .argv = ask_argv, .stop_fd = -1 };
		_cleanup_child_result_ struct child_result res = { 0 };

		assert_int_equal(child_run(&spec, &res), 0);
		w->asked = res.status;
	}
	w->until = NULL;
	assert_int_equal(eventfd_write(w->stop, 1), 0);
}

static struct child_result run_until(struct watch *w)
{
	const char *const argv[] = { "/proc/self/exe", "run", NULL };
	const struct child_spec spec = { .argv = argv,
					 .stop_fd = w->stop = eventfd(0, EFD_CLOEXEC),
					 .timeout_ms = 60000,
					 .line = on_line,
					 .data = w };
	struct child_result res = { 0 };

	assert_int_equal(child_run(&spec, &res), 0);
	assert_false(res.timed_out);
	(void)close(w->stop);
	return res;
}

static void set_parts(const char *load, const char *unload)
{
	(void)unsetenv("FAKE_KEEP");
	(void)unsetenv("FAKE_BUILD");
	(void)(load ? setenv("FAKE_LOAD", load, 1) : unsetenv("FAKE_LOAD"));
	(void)(unload ? setenv("FAKE_UNLOAD", unload, 1) : unsetenv("FAKE_UNLOAD"));
}

static void ends_with_the_code_of_a_load_that_failed(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };

	(void)state;
	set_parts("7", NULL);
	res = run_until(&(struct watch){ 0 });
	assert_int_equal(res.status, 7);
	assert_null(strstr(res.tail, "INFO unload"));
}

static void hands_the_lock_down(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };

	(void)state;
	set_parts("7", NULL);
	res = run_until(&(struct watch){ 0 });
	assert_non_null(strstr(res.tail, "INFO load lock=inherited"));
}

static void unloads_when_it_is_stopped_and_ends_with_0(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };

	(void)state;
	set_parts(NULL, NULL);
	res = run_until(&(struct watch){ .until = "INFO load" });
	assert_int_equal(res.status, 0);
	assert_non_null(strstr(res.tail, "INFO stopping signal=TERM restore=true"));
	assert_non_null(strstr(res.tail, "INFO unload"));
}

static void ends_with_the_code_of_an_unload_that_failed(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };

	(void)state;
	set_parts(NULL, "111");
	res = run_until(&(struct watch){ .until = "INFO load" });
	assert_int_equal(res.status, 111);
}

static void leaves_everything_as_it_is_where_nothing_is_to_be_given_back(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };

	(void)state;
	set_parts(NULL, NULL);
	assert_int_equal(setenv("FAKE_KEEP", "1", 1), 0);
	res = run_until(&(struct watch){ .until = "INFO load" });
	assert_int_equal(res.status, 0);
	assert_null(strstr(res.tail, "INFO unload"));
}

static void a_signal_while_it_loads_is_passed_on_and_ends_it_with_128_and_the_signal(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };

	(void)state;
	set_parts("wait", NULL);
	res = run_until(&(struct watch){ .until = "INFO waits" });
	assert_int_equal(res.status, 128 + SIGTERM);
	assert_null(strstr(res.tail, "INFO unload"));
}

static void a_terminal_that_goes_and_its_quit_are_passed_on_like_sigterm(void **state)
{
	_cleanup_child_result_ struct child_result gone = { 0 }, quit = { 0 };

	(void)state;
	set_parts("wait", NULL);
	gone = run_until(&(struct watch){ .signo = SIGHUP });
	assert_int_equal(gone.status, 128 + SIGHUP);
	quit = run_until(&(struct watch){ .signo = SIGQUIT });
	assert_int_equal(quit.status, 128 + SIGQUIT);
}

static void a_child_that_dies_by_a_signal_is_left_to_the_next_start(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };

	(void)state;
	set_parts("die", NULL);
	res = run_until(&(struct watch){ 0 });
	assert_int_equal(res.status, 128 + SIGKILL);
	assert_non_null(strstr(res.tail, "ended by SIGKILL; the next start recovers"));
	assert_null(strstr(res.tail, "INFO unload"));
}

static void goes_on_when_somebody_else_s_child_ends(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };

	(void)state;
	set_parts("orphan", NULL);
	res = run_until(&(struct watch){ .until = "INFO load" });
	assert_int_equal(res.status, 0);
}

static void a_second_signal_is_passed_on_to_unload(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };

	(void)state;
	set_parts(NULL, "wait");
	res = run_until(&(struct watch){ .until = "INFO load", .signo = SIGTERM });
	assert_int_equal(res.status, 128 + SIGTERM);
}

static void answers_while_it_loads(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	struct watch w = { .until = "INFO waits", .asks = true, .asked = -1 };

	(void)state;
	set_parts("wait", NULL);
	res = run_until(&w);
	assert_int_equal(w.asked, 0);
}

/* The tree is not there yet. */
static void set_build(const char *load, const char *build)
{
	set_parts(load, NULL);
	assert_int_equal(setenv("FAKE_BUILD", build, 1), 0);
	(void)unlink(getenv("FAKE_TREE"));
}

static void builds_once_and_loads_what_was_built(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 }, again = { 0 };

	(void)state;
	set_build("look", "make");
	res = run_until(&(struct watch){ .until = "INFO build" });
	(void)unlink(getenv("FAKE_TREE"));
	assert_non_null(strstr(res.tail, "INFO build lock=inherited"));
	set_build("3", "make");
	again = run_until(&(struct watch){ 0 });
	(void)unlink(getenv("FAKE_TREE"));
	assert_int_equal(again.status, EXIT_SYSTEM);
	assert_non_null(strstr(again.tail, "what was built is not found"));
}

static void ends_with_the_code_of_a_build_that_failed(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };

	(void)state;
	set_build("look", "1");
	res = run_until(&(struct watch){ 0 });
	assert_int_equal(res.status, 1);
	assert_null(strstr(res.tail, "INFO unload"));
}

static void a_signal_while_it_builds_ends_it(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	struct watch w = { .until = "INFO waits", .asks = true, .asked = -1 };

	(void)state;
	set_build("look", "wait");
	res = run_until(&w);
	assert_int_equal(res.status, 128 + SIGTERM);
	assert_int_equal(w.asked, 0);
	assert_null(strstr(res.tail, "INFO unload"));
}

static void says_that_it_was_stopped_after_a_build_that_went_to_its_end(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };

	(void)state;
	set_build("look", "finish");
	res = run_until(&(struct watch){ .until = "INFO waits" });
	(void)unlink(getenv("FAKE_TREE"));
	assert_int_equal(res.status, 128 + SIGTERM);
	assert_non_null(strstr(res.tail, "reason=INTERRUPTED object=load"));
	assert_null(strstr(res.tail, "INFO unload"));
}

static void without_a_source_a_missing_tree_is_loads_own_failure(void **state)
{
	_cleanup_child_result_ struct child_result res = { 0 };

	(void)state;
	set_parts("3", NULL);
	res = run_until(&(struct watch){ 0 });
	assert_int_equal(res.status, WANTS_BUILD);
}

static void nobody_answers_where_none_runs(void **state)
{
	enum phase phase;

	(void)state;
	assert_int_equal(phase_ask(BINARY, &phase), -ECONNREFUSED);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_with_the_code_of_a_load_that_failed),
		cmocka_unit_test(hands_the_lock_down),
		cmocka_unit_test(unloads_when_it_is_stopped_and_ends_with_0),
		cmocka_unit_test(ends_with_the_code_of_an_unload_that_failed),
		cmocka_unit_test(leaves_everything_as_it_is_where_nothing_is_to_be_given_back),
		cmocka_unit_test(
			a_signal_while_it_loads_is_passed_on_and_ends_it_with_128_and_the_signal),
		cmocka_unit_test(a_terminal_that_goes_and_its_quit_are_passed_on_like_sigterm),
		cmocka_unit_test(a_child_that_dies_by_a_signal_is_left_to_the_next_start),
		cmocka_unit_test(goes_on_when_somebody_else_s_child_ends),
		cmocka_unit_test(a_second_signal_is_passed_on_to_unload),
		cmocka_unit_test(answers_while_it_loads),
		cmocka_unit_test(builds_once_and_loads_what_was_built),
		cmocka_unit_test(ends_with_the_code_of_a_build_that_failed),
		cmocka_unit_test(a_signal_while_it_builds_ends_it),
		cmocka_unit_test(says_that_it_was_stopped_after_a_build_that_went_to_its_end),
		cmocka_unit_test(without_a_source_a_missing_tree_is_loads_own_failure),
		cmocka_unit_test(nobody_answers_where_none_runs),
	};

	char name[64], tree[64];

	if (argc > 1)
		return subject(argv);
	(void)snprintf(name, sizeof(name), "test-supervisor-%d", (int)getpid());
	assert_int_equal(setenv("FAKE_NAME", name, 1), 0);
	(void)snprintf(tree, sizeof(tree), "/tmp/gdrkit-tree-%d", (int)getpid());
	assert_int_equal(setenv("FAKE_TREE", tree, 1), 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
