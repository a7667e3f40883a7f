/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fake_node.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "swap/journal.h"

#define JOURNAL "run/gdrkit/journal"
#define BOOT "boot-1"
#define OLD_BOOT "boot-0"
#define NOTHING_LIVE "\"boot\":\"\",\"modules\":[],\"bound\":[]"
#define STATE(digest) "{\"label\":\"tree\",\"digest\":\"" digest "\"," NOTHING_LIVE "}"
#define BEGIN(boot, owner, settings, digest)                                                 \
	"{\"begin\":{\"boot\":\"" boot "\",\"owner\":\"" owner "\",\"settings\":\"" settings \
	"\",\"from\":" STATE("") ",\"to\":" STATE(digest) "}}\n"
#define STEP "{\"step\":\"unload\",\"module\":\"ib_core\",\"wave\":3}\n"
#define END(how) "{\"end\":\"" how "\",\"recovered\":false}\n"
#define RECOVERED(how) "{\"end\":\"" how "\",\"recovered\":true}\n"

/* ofed's swap to tree A with settings S, in this boot, without its end */
#define A_OPEN BEGIN(BOOT, "ofed", "S", "A") STEP
#define CRASHED A_OPEN RECOVERED("interrupted")

static struct journal *locked(const struct fake_node *node)
{
	struct journal *j;

	assert_int_equal(journal_open(node->root, BOOT, &j), 0);
	assert_int_equal(journal_lock(j, -1, 1000), 0);
	return j;
}

/* The journal of a node where this was written before. */
static struct journal *journal_of(const struct fake_node *node, const char *text)
{
	fake_file(node, JOURNAL, text);
	return locked(node);
}

static struct state tree_state(char *digest)
{
	return (struct state){ .boot_id = "", .label = "tree", .digest = digest };
}

static int begin(struct journal *j, const char *owner, char *digest, const char *settings)
{
	struct state from = tree_state(""), to = tree_state(digest);

	return journal_begin(j, owner, &from, &to, settings);
}

static void starts_without_a_swap(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_(journal_freep) struct journal *j = locked(node);
	struct stat st;

	assert_null(journal_last(j));
	assert_false(journal_failed_before(j, "ofed", "A", "S"));
	assert_int_equal(sysroot_stat(node->root, JOURNAL, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(sysroot_stat(node->root, "run/gdrkit", &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0755);
}

static void writes_one_line_for_each_thing(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_(journal_freep) struct journal *j = locked(node);

	assert_int_equal(begin(j, "ofed", "A", "S"), 0);
	assert_int_equal(journal_guard(j, "save", "autoprobe"), 0);
	assert_int_equal(journal_step(j, "unload", "ib_core", 3), 0);
	assert_int_equal(journal_step(j, "bind", "0000:01:00.0", 7), 0);
	assert_int_equal(journal_end(j, "done", false), 0);
	assert_file(node, JOURNAL,
		    "{\"begin\":{\"boot\":\"" BOOT "\",\"owner\":\"ofed\",\"settings\":\"S\","
		    "\"from\":{\"boot\":\"\",\"label\":\"tree\",\"digest\":\"\","
		    "\"modules\":[],\"bound\":[]},"
		    "\"to\":{\"boot\":\"\",\"label\":\"tree\",\"digest\":\"A\","
		    "\"modules\":[],\"bound\":[]}}}\n"
		    "{\"guard\":\"save\",\"name\":\"autoprobe\"}\n"
		    "{\"step\":\"unload\",\"module\":\"ib_core\",\"wave\":3}\n"
		    "{\"step\":\"bind\",\"device\":\"0000:01:00.0\",\"wave\":7}\n"
		    "{\"end\":\"done\",\"recovered\":false}\n");
}

static void a_begin_without_an_end_is_a_crash(void **state)
{
	_cleanup_(journal_freep) struct journal *j = journal_of(*state, A_OPEN);
	const struct journal_swap *last = journal_last(j);

	assert_non_null(last);
	assert_true(last->open);
	assert_null(last->end);
	assert_string_equal(last->owner, "ofed");
	assert_string_equal(last->settings, "S");
	assert_string_equal(last->to.digest, "A");
	assert_int_equal(last->crashes, 0);
}

static void a_swap_that_ended_is_none(void **state)
{
	_cleanup_(journal_freep) struct journal *j = journal_of(*state, A_OPEN END("done"));

	assert_false(journal_last(j)->open);
	assert_string_equal(journal_last(j)->end, "done");
}

static void the_other_process_sees_what_was_written_here(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_(journal_freep) struct journal *mine = locked(node), *other = NULL;

	assert_int_equal(journal_open(node->root, BOOT, &other), 0);
	assert_int_equal(begin(mine, "ofed", "A", "S"), 0);
	assert_true(journal_last(mine)->open);
	assert_int_equal(journal_lock(other, -1, 1), -ETIMEDOUT);
	assert_int_equal(journal_end(mine, "undone", false), 0);
	assert_true(journal_failed_before(mine, "ofed", "A", "S"));
	mine = journal_free(mine);
	other = journal_free(other);
	other = locked(node);
	assert_string_equal(journal_last(other)->end, "undone");
	assert_true(journal_failed_before(other, "ofed", "A", "S"));
}

static void a_swap_does_not_begin_over_an_open_one(void **state)
{
	_cleanup_(journal_freep) struct journal *j = journal_of(*state, A_OPEN);

	assert_int_equal(begin(j, "ofed", "B", "S"), -EBUSY);
	assert_int_equal(journal_end(j, "interrupted", true), 0);
	assert_int_equal(begin(j, "ofed", "B", "S"), 0);
	assert_string_equal(journal_last(j)->to.digest, "B");
}

static void records_of_another_boot_are_void(void **state)
{
	_cleanup_(journal_freep) struct journal *j =
		journal_of(*state, BEGIN(OLD_BOOT, "ofed", "S", "A") STEP END("undone")
					   BEGIN(OLD_BOOT, "ofed", "S", "A") STEP);

	assert_null(journal_last(j));
	assert_false(journal_failed_before(j, "ofed", "A", "S"));
	assert_int_equal(begin(j, "ofed", "A", "S"), 0);
}

static void an_end_of_another_boot_does_not_end_a_swap_of_this_one(void **state)
{
	_cleanup_(journal_freep) struct journal *j =
		journal_of(*state, A_OPEN BEGIN(OLD_BOOT, "ofed", "S", "A") END("done"));

	assert_true(journal_last(j)->open);
}

static void a_last_line_that_was_cut_off_is_ignored_and_written_over(void **state)
{
	static const char *const tails[] = { "{\"end\":\"do", "{\"end\":\"done\"}",
					     "garbage\n",     "\n",
					     "{\"end\":1}\n", "[]\n" };
	const struct fake_node *node = *state;

	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		_cleanup_(journal_freep) struct journal *j = NULL;
		_cleanup_free_ char *text = NULL;

		assert_true(asprintf(&text, "%s%s", A_OPEN, tails[i]) > 0);
		j = journal_of(node, text);
		assert_true(journal_last(j)->open);
		assert_int_equal(journal_end(j, "interrupted", true), 0);
		assert_file(node, JOURNAL, A_OPEN RECOVERED("interrupted"));
	}
}

static void a_damaged_line_in_the_middle_is_an_error(void **state)
{
	static const char *const texts[] = {
		A_OPEN "garbage\n" END("done"),
		"\n" A_OPEN,
		"{\"begin\":{\"boot\":\"" BOOT "\"}}\n" STEP,
		"{\"begin\":[]}\n" STEP,
		"[]\n" STEP,
		A_OPEN "{\"end\":1}\n" STEP,
	};
	const struct fake_node *node = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		_cleanup_(journal_freep) struct journal *j = NULL;

		fake_file(node, JOURNAL, texts[i]);
		assert_int_equal(journal_open(node->root, BOOT, &j), 0);
		assert_int_equal(journal_lock(j, -1, 1000), -EBADMSG);
		assert_file(node, JOURNAL, texts[i]);
	}
}

static void lines_of_a_later_gdrkit_are_passed_over(void **state)
{
	_cleanup_(journal_freep) struct journal *j =
		journal_of(*state, "{\"news\":1}\n" A_OPEN "{\"news\":2}\n" END("done"));

	assert_string_equal(journal_last(j)->end, "done");
}

static void a_tree_that_failed_is_remembered_with_its_settings(void **state)
{
	_cleanup_(journal_freep) struct journal *j = journal_of(*state, A_OPEN END("undone"));

	assert_true(journal_failed_before(j, "ofed", "A", "S"));
	assert_false(journal_failed_before(j, "ofed", "A", "other settings"));
	assert_false(journal_failed_before(j, "ofed", "B", "S"));
	assert_false(journal_failed_before(j, "peermem", "A", "S"));
}

static void a_failure_is_remembered_across_swaps_of_others(void **state)
{
	_cleanup_(journal_freep) struct journal *j =
		journal_of(*state, A_OPEN END("undone") BEGIN(BOOT, "ofed", "S", "B") END("done")
					   BEGIN(BOOT, "ofed", "T", "A") END("interrupted"));

	assert_true(journal_failed_before(j, "ofed", "A", "S"));
	assert_false(journal_failed_before(j, "ofed", "B", "S"));
}

static void a_success_since_forgets_the_failure(void **state)
{
	_cleanup_(journal_freep) struct journal *j =
		journal_of(*state, A_OPEN END("undone") BEGIN(BOOT, "ofed", "T", "A") END("done"));

	assert_false(journal_failed_before(j, "ofed", "A", "S"));
}

static void a_failure_after_a_success_is_remembered(void **state)
{
	_cleanup_(journal_freep) struct journal *j =
		journal_of(*state, A_OPEN END("done") A_OPEN END("undone"));

	assert_true(journal_failed_before(j, "ofed", "A", "S"));
}

static void a_swap_that_was_interrupted_is_tried_again(void **state)
{
	_cleanup_(journal_freep) struct journal *j =
		journal_of(*state, A_OPEN END("interrupted") CRASHED);

	assert_false(journal_failed_before(j, "ofed", "A", "S"));
}

static void a_crash_on_the_way_back_still_tells_why_it_was_begun(void **state)
{
	_cleanup_(journal_freep) struct journal *j = journal_of(*state, A_OPEN);

	assert_false(journal_last(j)->failed);
	assert_int_equal(journal_undo(j, true), 0);
	assert_true(journal_last(j)->failed);
	assert_true(journal_last(j)->open);
	j = journal_free(j);
	j = locked(*state);
	assert_true(journal_last(j)->failed);
}

static void a_way_back_never_counts_as_failed_before(void **state)
{
	_cleanup_(journal_freep) struct journal *j =
		journal_of(*state, BEGIN(BOOT, "ofed", "S", "") STEP END("undone"));

	assert_false(journal_failed_before(j, "ofed", "", "S"));
}

static void counts_the_crashes_in_a_row_before_the_last_swap(void **state)
{
	static const struct {
		const char *text;
		unsigned crashes;
	} cases[] = {
		{ CRASHED A_OPEN, 1 },
		{ CRASHED CRASHED A_OPEN, 2 },
		{ CRASHED A_OPEN RECOVERED("undone") A_OPEN, 2 },
		/* peermem's swaps in between do not end the row, nor do other boots' */
		{ CRASHED BEGIN(BOOT, "peermem", "S", "P") END("done") A_OPEN, 1 },
		{ BEGIN(OLD_BOOT, "ofed", "S", "A") RECOVERED("interrupted") A_OPEN, 0 },
		/* these do: another end, tree, settings, owner */
		{ CRASHED A_OPEN END("interrupted") A_OPEN, 0 },
		{ CRASHED A_OPEN RECOVERED("done") A_OPEN, 0 },
		{ CRASHED BEGIN(BOOT, "ofed", "S", "B") END("done") A_OPEN, 0 },
		{ CRASHED BEGIN(BOOT, "ofed", "T", "A"), 0 },
		{ CRASHED BEGIN(BOOT, "peermem", "S", "A"), 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_(journal_freep) struct journal *j = journal_of(*state, cases[i].text);

		assert_int_equal(journal_last(j)->crashes, cases[i].crashes);
	}
}

static void counts_crashes_on_the_way_back_by_its_label(void **state)
{
	_cleanup_(journal_freep) struct journal *j =
		journal_of(*state, BEGIN(BOOT, "ofed", "S", "") RECOVERED("interrupted")
					   BEGIN(BOOT, "ofed", "S", ""));

	assert_int_equal(journal_last(j)->crashes, 1);
}

/* No file may grow beyond `bytes`: what a full disk does, wherever the tests run. */
static struct rlimit limit_files(rlim_t bytes)
{
	struct rlimit old, now;

	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	now = (struct rlimit){ bytes, old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
	return old;
}

static void a_full_disk_refuses_the_begin_and_leaves_the_journal_as_it_was(void **state)
{
	static const char before[] = A_OPEN END("done");
	const struct fake_node *node = *state;
	_cleanup_(journal_freep) struct journal *j = journal_of(node, before);

	for (rlim_t room = 0; room < 20; room += 10) {
		struct rlimit old = limit_files(sizeof(before) - 1 + room);
		int r = begin(j, "ofed", "B", "S");

		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		assert_true(r == -EFBIG || r == -ENOSPC);
		assert_file(node, JOURNAL, before);
		assert_string_equal(journal_last(j)->to.digest, "A");
	}
	assert_int_equal(begin(j, "ofed", "B", "S"), 0);
}

static void a_line_that_does_not_fit_is_not_begun(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_(journal_freep) struct journal *j = journal_of(node, A_OPEN);
	struct rlimit old = limit_files(sizeof(A_OPEN) - 1 + 10);
	int r = journal_step(j, "load", "ib_core", 4);

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_true(r < 0);
	assert_file(node, JOURNAL, A_OPEN);
	assert_int_equal(journal_end(j, "interrupted", false), 0);
	assert_file(node, JOURNAL, A_OPEN END("interrupted"));
}

static off_t space_of(const struct fake_node *node, const char *path)
{
	struct stat st;

	assert_int_equal(sysroot_stat(node->root, path, &st), 0);
	return st.st_blocks * 512;
}

static bool can_reserve(const struct fake_node *node)
{
	_cleanup_close_ int fd = sysroot_openat(node->root, "probe", O_RDWR | O_CREAT, 0600);

	assert_true(fd >= 0);
	return fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 64 << 10) == 0;
}

static void has_room_for_a_swap_only_while_it_lasts(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_(journal_freep) struct journal *j = locked(node);

	assert_int_equal(begin(j, "ofed", "A", "S"), 0);
	if (can_reserve(node))
		assert_true(space_of(node, JOURNAL) >= 64 << 10);
	assert_int_equal(journal_end(j, "done", false), 0);
	assert_true(space_of(node, JOURNAL) < 64 << 10);
}

static void waits_for_the_lock_only_as_long_as_it_is_told(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_(journal_freep) struct journal *mine = locked(node), *other = NULL;

	assert_int_equal(journal_open(node->root, BOOT, &other), 0);
	assert_int_equal(journal_lock(other, -1, 20), -ETIMEDOUT);
	other = journal_free(other);
	mine = journal_free(mine);
	other = locked(node);
}

/* A swap in a process of its own that stops after n lines and is killed there. */
static void crash_after(const struct fake_node *node, unsigned lines)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct journal *j = locked(node);

		journal_stop_after(j, lines);
		(void)begin(j, "ofed", "A", "S");
		(void)journal_step(j, "unload", "ib_core", 0);
		(void)journal_end(j, "done", false);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void stops_after_the_line_it_was_told_so_that_it_can_be_killed_there(void **state)
{
	const struct fake_node *node = *state;

	for (unsigned lines = 1; lines <= 3; lines++) {
		_cleanup_(journal_freep) struct journal *j = NULL;
		_cleanup_free_ char *text = NULL;
		unsigned n = 0;

		fake_file(node, JOURNAL, "");
		crash_after(node, lines);
		assert_int_equal(sysroot_read(node->root, JOURNAL, 1 << 20, &text, NULL), 0);
		for (const char *c = text; *c; c++)
			n += *c == '\n';
		assert_int_equal(n, lines);
		j = locked(node);
		assert_int_equal(journal_last(j)->open, lines < 3);
	}
}

static void refuses_a_journal_that_is_no_file(void **state)
{
	const struct fake_node *node = *state;
	struct journal *j = NULL;

	assert_int_equal(sysroot_mkdirs(node->root, JOURNAL, 0755), 0);
	assert_int_equal(journal_open(node->root, BOOT, &j), -EISDIR);
	assert_null(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(starts_without_a_swap),
		on_a_node(writes_one_line_for_each_thing),
		on_a_node(a_begin_without_an_end_is_a_crash),
		on_a_node(a_swap_that_ended_is_none),
		on_a_node(the_other_process_sees_what_was_written_here),
		on_a_node(a_swap_does_not_begin_over_an_open_one),
		on_a_node(records_of_another_boot_are_void),
		on_a_node(an_end_of_another_boot_does_not_end_a_swap_of_this_one),
		on_a_node(a_last_line_that_was_cut_off_is_ignored_and_written_over),
		on_a_node(a_damaged_line_in_the_middle_is_an_error),
		on_a_node(lines_of_a_later_gdrkit_are_passed_over),
		on_a_node(a_tree_that_failed_is_remembered_with_its_settings),
		on_a_node(a_failure_is_remembered_across_swaps_of_others),
		on_a_node(a_success_since_forgets_the_failure),
		on_a_node(a_failure_after_a_success_is_remembered),
		on_a_node(a_swap_that_was_interrupted_is_tried_again),
		on_a_node(a_crash_on_the_way_back_still_tells_why_it_was_begun),
		on_a_node(a_way_back_never_counts_as_failed_before),
		on_a_node(counts_the_crashes_in_a_row_before_the_last_swap),
		on_a_node(counts_crashes_on_the_way_back_by_its_label),
		on_a_node(a_full_disk_refuses_the_begin_and_leaves_the_journal_as_it_was),
		on_a_node(a_line_that_does_not_fit_is_not_begun),
		on_a_node(has_room_for_a_swap_only_while_it_lasts),
		on_a_node(waits_for_the_lock_only_as_long_as_it_is_told),
		on_a_node(stops_after_the_line_it_was_told_so_that_it_can_be_killed_there),
		on_a_node(refuses_a_journal_that_is_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
