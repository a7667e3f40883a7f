/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/verdict.h"

static void a_verdict_is_a_copy_with_its_detail_formatted(void **state)
{
	_cleanup_verdicts_ struct verdicts vs = { 0 };
	char object[] = "ib_core";

	(void)state;
	verdicts_no(&vs, REASON_MODULE_IN_USE, object, "held by %s (%d)", "ib_uverbs", 2);
	object[0] = 'x';
	assert_int_equal(vs.n, 1);
	assert_string_equal(vs.v[0].object, "ib_core");
	assert_string_equal(vs.v[0].detail, "held by ib_uverbs (2)");
	assert_int_equal(vs.v[0].state, VERDICT_NO);
}

static void the_same_verdict_is_there_once(void **state)
{
	_cleanup_verdicts_ struct verdicts vs = { 0 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		verdicts_no(&vs, REASON_MODULE_IN_USE, "a", NULL);
		verdicts_no(&vs, REASON_MODULE_IN_USE, "b", NULL);
		verdicts_no(&vs, REASON_MODULE_IN_USE, "a", "%s", "why");
		verdicts_unknown(&vs, REASON_MODULE_IN_USE, "a", NULL);
		verdicts_no(&vs, REASON_LOCKDOWN, "a", NULL);
	}
	assert_int_equal(vs.n, 5);
}

static void only_a_no_refuses(void **state)
{
	_cleanup_verdicts_ struct verdicts vs = { 0 };

	(void)state;
	assert_false(verdicts_refuse(&vs));
	assert_int_equal(verdicts_exit(&vs), 0);
	verdicts_unknown(&vs, REASON_MODULE_IN_USE, "proc", "no right to look");
	assert_false(verdicts_refuse(&vs));
	assert_int_equal(verdicts_exit(&vs), 0);
	verdicts_no(&vs, REASON_TREE_INVALID, "tree", NULL);
	verdicts_no(&vs, REASON_MODULE_IN_USE, "ib_core", NULL);
	assert_true(verdicts_refuse(&vs));
	assert_int_equal(verdicts_exit(&vs), EXIT_MISUSE);
}

static void cleared_verdicts_can_be_used_again(void **state)
{
	_cleanup_verdicts_ struct verdicts vs = { 0 };

	(void)state;
	verdicts_no(&vs, REASON_LOCKDOWN, "a", NULL);
	verdicts_clear(&vs);
	assert_int_equal(vs.n, 0);
	verdicts_no(&vs, REASON_LOCKDOWN, "a", NULL);
	assert_int_equal(vs.n, 1);
}

static void the_log_tells_reason_object_detail_cause_and_remedy(void **state)
{
	_cleanup_verdicts_ struct verdicts vs = { 0 };
	_cleanup_fclose_ FILE *f = tmpfile();
	char text[1024] = "";

	(void)state;
	log_setup(f, LOG_TEXT, LEVEL_INFO);
	verdicts_no(&vs, REASON_DEPENDENCY_CYCLE, "a", "a needs b needs a");
	verdicts_unknown(&vs, REASON_STALE_READY, "b", NULL);
	verdicts_log(&vs, LEVEL_ERROR);
	log_setup(NULL, LOG_TEXT, LEVEL_INFO);
	assert_true(pread(fileno(f), text, sizeof(text) - 1, 0) > 0);
	assert_string_equal(
		text, "ERROR refused reason=DEPENDENCY_CYCLE object=a detail=\"a needs b needs a\" "
		      "cause=\"modules need each other in a circle\" "
		      "remedy=\"correct the list of modules or their build\"\n"
		      "WARN could_not_see reason=STALE_READY object=b "
		      "cause=\"the ready file does not describe what is live\" "
		      "remedy=\"start the driver container again\"\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_verdict_is_a_copy_with_its_detail_formatted),
		cmocka_unit_test(the_same_verdict_is_there_once),
		cmocka_unit_test(only_a_no_refuses),
		cmocka_unit_test(cleared_verdicts_can_be_used_again),
		cmocka_unit_test(the_log_tells_reason_object_detail_cause_and_remedy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
