/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_node.h"

#include "common/spelling.h"

static void counts_letters_changed_added_and_left_out(void **state)
{
	(void)state;
	assert_int_equal(spelling_distance("timeout", "timeout"), 0);
	assert_int_equal(spelling_distance("timeuot", "timeout"), 2);
	assert_int_equal(spelling_distance("timout", "timeout"), 1);
	assert_int_equal(spelling_distance("timeouts", "timeout"), 1);
	assert_int_equal(spelling_distance("", "abc"), 3);
	assert_int_equal(spelling_distance("abc", ""), 3);
}

static void a_word_too_long_is_far_from_all(void **state)
{
	char word[66];

	(void)state;
	memset(word, 'a', sizeof(word) - 1);
	word[65] = '\0';
	assert_true(spelling_distance(word, word) == SIZE_MAX);
	word[64] = '\0';
	assert_int_equal(spelling_distance(word, word), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_letters_changed_added_and_left_out),
		cmocka_unit_test(a_word_too_long_is_far_from_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
