/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fake_tree.h"

#include <jansson.h>

#include <fcntl.h>
#include <sys/file.h>

#include "ofed/status.h"

#define BOOT "11111111-2222-3333-4444-555555555555"

static struct status_module modules[] = {
	{ "ib_core", { "AAAA", "" }, { "AAAA", "" }, true },
	{ "mlx5_core", { "BBBB", "" }, { "CCCC", "" }, false },
	{ "rdma_rxe", { "DDDD", "" }, { "", "" }, false },
};

static struct status ready_status(void)
{
	return (struct status){
		.journal = STATUS_SWAPPED,
		.swap = "ofed: x 1.0, done",
		.has_ready = true,
		.ready = { .driver = "x",
			   .version = "1.0",
			   .kernel = "K",
			   .revision = "7",
			   .ready = "2026-01-01T00:00:00Z" },
		.modules = modules,
		.n_modules = 3,
		.instance = "ofed-driver run, pid 1 on n1, since then",
	};
}

static char *as_text(const struct status *s, void (*print)(FILE *to, const struct status *s))
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	print(f, s);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void says_for_each_module_whether_it_is_the_one_expected(void **state)
{
	struct status s = ready_status();
	_cleanup_free_ char *text = as_text(&s, status_text);

	(void)state;
	assert_non_null(strstr(text, "ready     yes: x 1.0, kernel K, revision 7"));
	assert_non_null(strstr(text, "srcversion AAAA                      live\n"));
	assert_non_null(strstr(text, "srcversion BBBB                      srcversion CCCC\n"));
	assert_non_null(strstr(text, "srcversion DDDD                      not live\n"));
	assert_non_null(strstr(text, "instance  ofed-driver run, pid 1"));
}

static void says_first_that_a_swap_was_cut_off_and_what_recovers(void **state)
{
	struct status s = { .journal = STATUS_CUT_OFF,
			    .swap = "ofed: x 1.0, not ended",
			    .recover = "ofed-driver load --host-root /host" };
	_cleanup_free_ char *text = as_text(&s, status_text);
	_cleanup_verdicts_ struct verdicts why = { 0 };

	(void)state;
	assert_int_equal(strncmp(text, "swap      CUT OFF", 17), 0);
	assert_non_null(strstr(text, "recover   ofed-driver load --host-root /host"));
	status_judge(&s, &why);
	assert_says(&why, STALE_READY, "journal", "ofed-driver load");
}

static void is_not_ready_without_a_ready_file(void **state)
{
	struct status s = { 0 };
	_cleanup_free_ char *text = as_text(&s, status_text);
	_cleanup_verdicts_ struct verdicts why = { 0 };

	(void)state;
	assert_string_equal(text, "swap      none on this boot\nready     no\ninstance  none\n");
	status_judge(&s, &why);
	assert_int_equal(verdicts_exit(&why), 1);
}

static void json_carries_the_same(void **state)
{
	struct status s = ready_status();
	_cleanup_free_ char *text = as_text(&s, status_json);
	json_t *o = json_loads(text, 0, NULL), *module;

	(void)state;
	assert_non_null(o);
	assert_string_equal(json_string_value(json_object_get(o, "swap")), "ended");
	assert_true(json_is_true(json_object_get(json_object_get(o, "ready"), "fits")));
	module = json_array_get(json_object_get(o, "modules"), 2);
	assert_true(json_is_false(json_object_get(module, "ok")));
	assert_true(json_is_null(json_object_get(module, "live")));
	json_decref(o);
}

static enum status_journal journal_of(const struct fake_node *node)
{
	struct ofed_settings set = { .ready_path = "/run/ready", .lock_path = "/run/lock" };
	const struct driver d = {
		.set = &set, .host = node->root, .running = { .boot_id = BOOT }, .stop_fd = -1
	};
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_status_ struct status s = { 0 };

	assert_int_equal(status_read(&d, &s, &why), 0);
	return s.journal;
}

static void an_open_journal_is_cut_off_unless_somebody_moves_modules(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_close_ int lock = -1;

	fake_file(node, "run/gdrkit/journal",
		  "{\"begin\":{\"boot\":\"" BOOT "\",\"owner\":\"ofed\",\"settings\":\"\","
		  "\"from\":{\"boot\":\"" BOOT
		  "\",\"label\":\"\",\"digest\":\"\",\"modules\":[],\"bound\":[]},"
		  "\"to\":{\"boot\":\"" BOOT
		  "\",\"label\":\"x\",\"digest\":\"\",\"modules\":[],\"bound\":[]}}}\n");
	assert_int_equal(journal_of(node), STATUS_CUT_OFF);
	lock = sysroot_openat(node->root, "run/gdrkit/journal", O_RDONLY, 0);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	assert_int_equal(journal_of(node), STATUS_MOVING);
	assert_int_equal(flock(lock, LOCK_SH), 0); /* another status */
	assert_int_equal(journal_of(node), STATUS_CUT_OFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_for_each_module_whether_it_is_the_one_expected),
		cmocka_unit_test(says_first_that_a_swap_was_cut_off_and_what_recovers),
		cmocka_unit_test(is_not_ready_without_a_ready_file),
		on_a_node(an_open_journal_is_cut_off_unless_somebody_moves_modules),
		cmocka_unit_test(json_carries_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
