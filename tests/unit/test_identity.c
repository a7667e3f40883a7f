/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernel/identity.h"

static void srcversions_decide_where_both_have_one(void **state)
{
	const struct identity a = { "533BB7E5866E52F63B9ACCB", "aa" };
	const struct identity same = { "533BB7E5866E52F63B9ACCB", "bb" };
	const struct identity other = { "0000B7E5866E52F63B9ACCB", "aa" };

	(void)state;
	assert_true(identity_same(&a, &same));
	assert_false(identity_same(&a, &other));
}

static void else_the_build_ids_decide(void **state)
{
	const struct identity a = { "", "aa" }, same = { "", "aa" }, other = { "", "ab" };
	const struct identity both = { "533BB7E5866E52F63B9ACCB", "aa" };

	(void)state;
	assert_true(identity_same(&a, &same));
	assert_true(identity_same(&a, &both));
	assert_false(identity_same(&a, &other));
}

static void what_cannot_be_compared_is_not_the_same(void **state)
{
	const struct identity none = { "", "" }, src = { "533BB7E5866E52F63B9ACCB", "" };
	const struct identity build = { "", "aa" };

	(void)state;
	assert_false(identity_same(&none, &none));
	assert_false(identity_same(&src, &build));
	assert_false(identity_known(&none));
	assert_true(identity_known(&src));
	assert_true(identity_known(&build));
}

static void is_readable(void **state)
{
	const struct identity src = { "533BB7E5866E52F63B9ACCB", "aa" }, none = { "", "" };
	const struct identity build = { "", "5e1f0c2d99887766554433221100ffeeddccbbaa" };
	char buf[96];

	(void)state;
	assert_string_equal(identity_text(&src, buf), "srcversion 533BB7E5866E52F63B9ACCB");
	assert_string_equal(identity_text(&build, buf), "build-id 5e1f0c2d");
	assert_string_equal(identity_text(&none, buf), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(srcversions_decide_where_both_have_one),
		cmocka_unit_test(else_the_build_ids_decide),
		cmocka_unit_test(what_cannot_be_compared_is_not_the_same),
		cmocka_unit_test(is_readable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
