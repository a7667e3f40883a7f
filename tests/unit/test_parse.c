/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "common/parse.h"
#include "common/sysroot.h"

static void assert_u64(const char *text, int base, int error, uint64_t value)
{
	uint64_t n = 77;

	if (parse_u64(text, base, 1, 1000, &n) != error || n != (error ? 77 : value))
		fail_msg("\"%s\" gave %llu", text, (unsigned long long)n);
}

static void a_number_is_taken_whole_or_not_at_all(void **state)
{
	(void)state;
	assert_u64("1", 10, 0, 1);
	assert_u64("1000", 10, 0, 1000);
	assert_u64("007", 10, 0, 7);
	assert_u64("3e8", 16, 0, 1000);
	assert_u64("0x3E8", 16, 0, 1000);
	assert_u64("0x3e8", 0, 0, 1000);
	assert_u64("", 10, -EINVAL, 0);
	assert_u64(" 1", 10, -EINVAL, 0);
	assert_u64("1 ", 10, -EINVAL, 0);
	assert_u64("1\n", 10, -EINVAL, 0);
	assert_u64("+1", 10, -EINVAL, 0);
	assert_u64("-1", 10, -EINVAL, 0);
	assert_u64("0x", 16, -EINVAL, 0);
	assert_u64("0x1", 10, -EINVAL, 0);
	assert_u64("1.5", 10, -EINVAL, 0);
	assert_u64("x", 10, -EINVAL, 0);
}

static void a_number_outside_its_range_is_refused(void **state)
{
	uint64_t n;

	(void)state;
	assert_u64("0", 10, -ERANGE, 0);
	assert_u64("1001", 10, -ERANGE, 0);
	assert_u64("18446744073709551616", 10, -ERANGE, 0);
	assert_u64("99999999999999999999999999999999", 10, -ERANGE, 0);
	assert_int_equal(parse_u64("18446744073709551615", 10, 0, UINT64_MAX, &n), 0);
	assert_true(n == UINT64_MAX);
}

static void a_bool_is_one_of_eight_words_in_any_case(void **state)
{
	static const char *const yes[] = { "true", "YES", "On", "1", NULL };
	static const char *const no[] = { "false", "NO", "Off", "0", NULL };
	static const char *const neither[] = { "", "2", "y", "true ", "truefalse", NULL };
	bool value = false;

	(void)state;
	for (const char *const *t = yes; *t; t++) {
		assert_int_equal(parse_bool(*t, &value), 0);
		assert_true(value);
	}
	for (const char *const *t = no; *t; t++) {
		assert_int_equal(parse_bool(*t, &value), 0);
		assert_false(value);
	}
	for (const char *const *t = neither; *t; t++)
		assert_int_equal(parse_bool(*t, &value), -EINVAL);
}

static void assert_parsed(int (*parse)(const char *text, uint64_t *ret), const char *text,
			  int error, uint64_t value)
{
	uint64_t n = 77;

	if (parse(text, &n) != error || n != (error ? 77 : value))
		fail_msg("\"%s\" gave %llu", text, (unsigned long long)n);
}

static void a_duration_is_numbers_with_units_from_large_to_small(void **state)
{
	(void)state;
	assert_parsed(parse_duration, "0", 0, 0);
	assert_parsed(parse_duration, "0s", 0, 0);
	assert_parsed(parse_duration, "300ms", 0, 300);
	assert_parsed(parse_duration, "30s", 0, 30000);
	assert_parsed(parse_duration, "5m", 0, 300000);
	assert_parsed(parse_duration, "2h", 0, 7200000);
	assert_parsed(parse_duration, "1d", 0, 86400000);
	assert_parsed(parse_duration, "1m30s", 0, 90000);
	assert_parsed(parse_duration, "1d1h1m1s1ms", 0, 90061001);
	assert_parsed(parse_duration, "3650d", 0, UINT64_C(315360000000));
}

static void what_is_no_duration_is_refused(void **state)
{
	static const char *const bad[] = { "",    "5",   "s",     "00",    "5 s",  " 5s", "5s ",
					   "-5s", "+5s", "1.5s",  "30s1m", "1m1m", "5S",  "5mss",
					   "5x",  "1m5", "1ms1s", "5sms",  "0x5s", NULL };

	(void)state;
	for (const char *const *t = bad; *t; t++)
		assert_parsed(parse_duration, *t, -EINVAL, 0);
	assert_parsed(parse_duration, "3651d", -ERANGE, 0);
	assert_parsed(parse_duration, "3650d1ms", -ERANGE, 0);
	assert_parsed(parse_duration, "18446744073709551615d", -ERANGE, 0);
	assert_parsed(parse_duration, "99999999999999999999999999ms", -ERANGE, 0);
	assert_parsed(parse_duration, "99999999999999999999999999msx", -EINVAL, 0);
}

static void a_size_has_a_binary_unit_or_none(void **state)
{
	(void)state;
	assert_parsed(parse_size, "0", 0, 0);
	assert_parsed(parse_size, "512", 0, 512);
	assert_parsed(parse_size, "64k", 0, 65536);
	assert_parsed(parse_size, "10M", 0, 10485760);
	assert_parsed(parse_size, "2G", 0, UINT64_C(2147483648));
	assert_parsed(parse_size, "1KiB", 0, 1024);
	assert_parsed(parse_size, "3MiB", 0, 3145728);
	assert_parsed(parse_size, "1GiB", 0, 1073741824);
	assert_parsed(parse_size, "1T", 0, UINT64_C(1099511627776));
}

static void what_is_no_size_is_refused(void **state)
{
	static const char *const bad[] = { "",     "k",   " 1",  "1 k",  "-1",
					   "1.5G", "1KB", "1kk", "0x10", NULL };

	(void)state;
	for (const char *const *t = bad; *t; t++)
		assert_parsed(parse_size, *t, -EINVAL, 0);
	assert_parsed(parse_size, "18446744073709551616", -ERANGE, 0);
	assert_parsed(parse_size, "99999999999G", -ERANGE, 0);
	assert_parsed(parse_size, "99999999999999999999x", -EINVAL, 0);
}

static void words_are_what_stands_between_separators(void **state)
{
	_cleanup_strv_ char **words = NULL, **none = NULL;

	(void)state;
	assert_int_equal(parse_words("  ib_core:mlx5_core  rdma_cm:", " :", &words), 0);
	assert_string_equal(words[0], "ib_core");
	assert_string_equal(words[1], "mlx5_core");
	assert_string_equal(words[2], "rdma_cm");
	assert_null(words[3]);
	assert_int_equal(parse_words(" : ", " :", &none), 0);
	assert_null(none[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_taken_whole_or_not_at_all),
		cmocka_unit_test(a_number_outside_its_range_is_refused),
		cmocka_unit_test(a_bool_is_one_of_eight_words_in_any_case),
		cmocka_unit_test(a_duration_is_numbers_with_units_from_large_to_small),
		cmocka_unit_test(what_is_no_duration_is_refused),
		cmocka_unit_test(a_size_has_a_binary_unit_or_none),
		cmocka_unit_test(what_is_no_size_is_refused),
		cmocka_unit_test(words_are_what_stands_between_separators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
