/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <string.h>

#include "common/reason.h"

static void every_reason_has_a_code_a_cause_and_a_remedy(void **state)
{
	(void)state;
	for (int i = 0; i < REASON_COUNT; i++) {
		const struct reason_info *info = reason_info((enum reason)i);

		assert_true(*info->code && *info->cause && *info->remedy);
		for (const char *p = info->code; *p; p++)
			assert_true(isupper((unsigned char)*p) || *p == '_');
		assert_int_not_equal(info->cause[strlen(info->cause) - 1], '.');
	}
}

static void every_exit_code_is_one_of_the_contract(void **state)
{
	(void)state;
	for (int i = 0; i < REASON_COUNT; i++) {
		int code = reason_info((enum reason)i)->exit;

		assert_true(code == EXIT_YES || code == EXIT_NO || code == EXIT_MISUSE ||
			    code == EXIT_SYSTEM || code == EXIT_DEADLINE);
	}
}

static void no_code_is_there_twice(void **state)
{
	(void)state;
	for (int i = 0; i < REASON_COUNT; i++) {
		for (int j = 0; j < i; j++)
			assert_string_not_equal(reason_info((enum reason)i)->code,
						reason_info((enum reason)j)->code);
	}
}

static void a_reason_finds_its_own_line(void **state)
{
	const struct reason_info *info = reason_info(REASON_MODULE_IN_USE);

	(void)state;
	assert_string_equal(info->code, "MODULE_IN_USE");
	assert_int_equal(info->exit, EXIT_NO);
	assert_int_equal(reason_info(REASON_WAIT_TIMEOUT)->exit, EXIT_DEADLINE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reason_has_a_code_a_cause_and_a_remedy),
		cmocka_unit_test(every_exit_code_is_one_of_the_contract),
		cmocka_unit_test(no_code_is_there_twice),
		cmocka_unit_test(a_reason_finds_its_own_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
