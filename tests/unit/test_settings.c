/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/settings.h"
#include "common/sysroot.h"

struct values {
	bool json, restore;
	char *tree, *format;
	char **modules;
	uint64_t timeout, limit, jobs;
};

#define AT(member) .offset = offsetof(struct values, member)

static const struct setting table[] = {
	{ "json", NULL, SETTING_BOOL, NULL, NULL, "results as JSON", AT(json) },
	{ NULL, "RESTORE", SETTING_BOOL, "true", NULL, "give the stack back at the end",
	  AT(restore) },
	{ "tree", "GDRKIT_TREE", SETTING_TEXT, NULL, "DIR", "the driver tree", AT(tree) },
	{ "log-format", "GDRKIT_LOG_FORMAT", SETTING_TEXT, "text", "FORMAT",
	  "how the log is written: as text for people to read, or as one JSON object a line for "
	  "programs",
	  AT(format), "text|json" },
	{ "modules", "MODULES", SETTING_WORDS, "ib_core", "NAMES", "auxiliary modules",
	  AT(modules) },
	{ "timeout", "GDRKIT_TIMEOUT", SETTING_DURATION, "5m", "DURATION", "how long to wait",
	  AT(timeout) },
	{ "limit", "GDRKIT_LIMIT", SETTING_SIZE, NULL, "SIZE", "most memory", AT(limit) },
	{ "jobs", "GDRKIT_JOBS", SETTING_COUNT, NULL, "N", "at once", AT(jobs) },
};

enum { N = sizeof(table) / sizeof(*table) };

#define ARGS(...) ((char *[]){ "ofed-driver", __VA_ARGS__ __VA_OPT__(, ) NULL })
#define ENV(...) ((char *[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

static void done(struct values *v, char ***operands, struct verdicts *why)
{
	settings_clear(table, N, v);
	free(*operands);
	*operands = NULL;
	verdicts_clear(why);
}

static void assert_refused(char *const argv[], char *const env[], const char *object,
			   const char *detail)
{
	struct verdicts why = { 0 };
	char **operands = NULL;
	struct values v;

	assert_int_equal(settings_read(table, N, &v, argv, env, &operands, &why), -EINVAL);
	assert_null(operands);
	assert_int_equal(why.n, 1);
	assert_int_equal(why.v[0].why, REASON_USAGE);
	assert_string_equal(why.v[0].object, object);
	assert_string_equal(why.v[0].detail, detail);
	done(&v, &operands, &why);
}

static void what_nobody_says_is_the_default(void **state)
{
	struct verdicts why = { 0 };
	char **operands = NULL;
	struct values v;

	(void)state;
	memset(&v, 0xff, sizeof(v));
	assert_int_equal(settings_read(table, N, &v, ARGS(), ENV(), &operands, &why), 0);
	assert_false(v.json);
	assert_true(v.restore);
	assert_null(v.tree);
	assert_string_equal(v.format, "text");
	assert_string_equal(v.modules[0], "ib_core");
	assert_null(v.modules[1]);
	assert_int_equal(v.timeout, 300000);
	assert_int_equal(v.limit, 0);
	assert_int_equal(v.jobs, 0);
	assert_null(operands[0]);
	done(&v, &operands, &why);
}

static void the_option_wins_over_the_environment_and_that_over_the_default(void **state)
{
	struct verdicts why = { 0 };
	char **operands = NULL;
	struct values v;

	(void)state;
	assert_int_equal(settings_read(table, N, &v, ARGS("--timeout=1m30s", "--tree", "/a b"),
				       ENV("GDRKIT_TIMEOUT=no", "GDRKIT_TREE=/env",
					   "GDRKIT_LIMIT=2k", "GDRKIT_JOBS=8", "RESTORE=false"),
				       &operands, &why),
			 0);
	assert_int_equal(v.timeout, 90000);
	assert_string_equal(v.tree, "/a b");
	assert_int_equal(v.limit, 2048);
	assert_int_equal(v.jobs, 8);
	assert_false(v.restore);
	done(&v, &operands, &why);
}

static void operands_stand_anywhere_and_behind_two_dashes(void **state)
{
	struct verdicts why = { 0 };
	char **operands = NULL;
	struct values v;

	(void)state;
	assert_int_equal(settings_read(table, N, &v, ARGS("run", "--json", "-", "--", "--tree"),
				       ENV(), &operands, &why),
			 0);
	assert_true(v.json);
	assert_string_equal(operands[0], "run");
	assert_string_equal(operands[1], "-");
	assert_string_equal(operands[2], "--tree");
	assert_null(operands[3]);
	done(&v, &operands, &why);
}

static void a_switch_takes_a_value_only_with_an_equals_sign(void **state)
{
	struct verdicts why = { 0 };
	char **operands = NULL;
	struct values v;

	(void)state;
	assert_int_equal(
		settings_read(table, N, &v, ARGS("--json", "false"), ENV(), &operands, &why), 0);
	assert_true(v.json);
	assert_string_equal(operands[0], "false");
	done(&v, &operands, &why);
	assert_int_equal(
		settings_read(table, N, &v, ARGS("--json", "--json=false"), ENV(), &operands, &why),
		0);
	assert_false(v.json);
	done(&v, &operands, &why);
}

static void an_empty_variable_is_unset_but_for_lists(void **state)
{
	struct verdicts why = { 0 };
	char **operands = NULL;
	struct values v;

	(void)state;
	assert_int_equal(
		settings_read(table, N, &v, ARGS(),
			      ENV("MODULES=", "GDRKIT_TIMEOUT=", "GDRKIT_TREE=", "RESTORE="),
			      &operands, &why),
		0);
	assert_non_null(v.modules);
	assert_null(v.modules[0]);
	assert_int_equal(v.timeout, 300000);
	assert_null(v.tree);
	assert_true(v.restore);
	done(&v, &operands, &why);
}

static void words_are_parted_by_blanks_and_colons(void **state)
{
	struct verdicts why = { 0 };
	char **operands = NULL;
	struct values v;

	(void)state;
	assert_int_equal(settings_read(table, N, &v, ARGS(), ENV("MODULES=ib_isert:nvme_rdma a"),
				       &operands, &why),
			 0);
	assert_string_equal(v.modules[0], "ib_isert");
	assert_string_equal(v.modules[1], "nvme_rdma");
	assert_string_equal(v.modules[2], "a");
	assert_null(v.modules[3]);
	done(&v, &operands, &why);
}

static void an_unknown_option_is_refused_with_the_nearest_one(void **state)
{
	(void)state;
	assert_refused(ARGS("--timeot=5m"), ENV(), "--timeot",
		       "no such option; did you mean --timeout?");
	assert_refused(ARGS("--TREE"), ENV(), "--TREE", "no such option");
	assert_refused(ARGS("--something-else"), ENV(), "--something-else", "no such option");
	assert_refused(ARGS("-j"), ENV(), "-j", "no such option");
	assert_refused(ARGS("--=x"), ENV(), "--", "no such option");
}

static void a_value_that_cannot_be_used_is_named_with_who_said_it(void **state)
{
	(void)state;
	assert_refused(ARGS("--timeout", "5"), ENV(), "--timeout",
		       "\"5\" cannot be used: a duration like 300ms, 30s, 5m or 1h30m is expected");
	assert_refused(ARGS("--timeout="), ENV("GDRKIT_TIMEOUT=1s"), "--timeout",
		       "\"\" cannot be used: a duration like 300ms, 30s, 5m or 1h30m is expected");
	assert_refused(ARGS(), ENV("GDRKIT_TIMEOUT=99999d"), "GDRKIT_TIMEOUT",
		       "\"99999d\" is out of range: a duration like 300ms, 30s, 5m or 1h30m is "
		       "expected");
	assert_refused(ARGS(), ENV("RESTORE=maybe"), "RESTORE",
		       "\"maybe\" cannot be used: true or false is expected");
	assert_refused(ARGS("--log-format=tex"), ENV(), "--log-format",
		       "\"tex\" cannot be used: text|json is expected");
	assert_refused(ARGS("--log-format="), ENV(), "--log-format",
		       "\"\" cannot be used: text|json is expected");
	assert_refused(ARGS("--jobs=-1"), ENV(), "--jobs",
		       "\"-1\" cannot be used: a whole number is expected");
	assert_refused(ARGS("--limit"), ENV(), "--limit",
		       "a value is missing: a size like 512, 64k, 10M or 2G is expected");
}

static void all_that_is_wrong_is_told_at_once(void **state)
{
	struct verdicts why = { 0 };
	char **operands = NULL;
	struct values v;

	(void)state;
	assert_int_equal(settings_read(table, N, &v, ARGS("--bad", "--jobs=x", "--tree=/t"),
				       ENV("GDRKIT_LIMIT=y"), &operands, &why),
			 -EINVAL);
	assert_int_equal(why.n, 3);
	assert_int_equal(verdicts_exit(&why), EXIT_MISUSE);
	done(&v, &operands, &why);
}

static void the_help_is_aligned_and_at_most_100_wide(void **state)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	settings_help(f, table, N);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(
		text,
		"  --json               results as JSON\n"
		"  RESTORE=true|false   give the stack back at the end [default: true]\n"
		"  --tree DIR           the driver tree [GDRKIT_TREE]\n"
		"  --log-format FORMAT  how the log is written: as text for people to read, or as one "
		"JSON object a\n"
		"                       line for programs (text|json) [default: text] "
		"[GDRKIT_LOG_FORMAT]\n"
		"  --modules NAMES      auxiliary modules [default: ib_core] [MODULES]\n"
		"  --timeout DURATION   how long to wait [default: 5m] [GDRKIT_TIMEOUT]\n"
		"  --limit SIZE         most memory [GDRKIT_LIMIT]\n"
		"  --jobs N             at once [GDRKIT_JOBS]\n");
}

static char *canonical(char *const argv[], char *const env[])
{
	static const char *const names[] = { "RESTORE",        "MODULES",      "GDRKIT_TREE",
					     "GDRKIT_TIMEOUT", "GDRKIT_LIMIT", NULL };
	struct verdicts why = { 0 };
	char **operands = NULL, *text;
	struct values v;

	assert_int_equal(settings_read(table, N, &v, argv, env, &operands, &why), 0);
	text = settings_canonical(table, N, &v, names);
	assert_non_null(text);
	done(&v, &operands, &why);
	return text;
}

static void the_canonical_form_does_not_tell_how_a_value_was_said(void **state)
{
	_cleanup_free_ char *a = canonical(ARGS("--timeout=1m", "--jobs=2", "--limit=1k"),
					   ENV("MODULES=a:b", "RESTORE=no"));
	_cleanup_free_ char *b = canonical(ARGS("--modules", "a b", "--limit=1024"),
					   ENV("GDRKIT_TIMEOUT=60s", "RESTORE=false"));

	(void)state;
	assert_string_equal(a, "GDRKIT_LIMIT=1024\nGDRKIT_TIMEOUT=60000\nMODULES=a b\n"
			       "RESTORE=false\n");
	assert_string_equal(a, b);
}

static void the_canonical_form_tells_unset_from_empty(void **state)
{
	_cleanup_free_ char *text = canonical(ARGS("--tree="), ENV("MODULES="));

	(void)state;
	assert_string_equal(text, "GDRKIT_LIMIT=0\nGDRKIT_TIMEOUT=300000\nGDRKIT_TREE=\n"
				  "MODULES=\nRESTORE=true\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nobody_says_is_the_default),
		cmocka_unit_test(the_option_wins_over_the_environment_and_that_over_the_default),
		cmocka_unit_test(operands_stand_anywhere_and_behind_two_dashes),
		cmocka_unit_test(a_switch_takes_a_value_only_with_an_equals_sign),
		cmocka_unit_test(an_empty_variable_is_unset_but_for_lists),
		cmocka_unit_test(words_are_parted_by_blanks_and_colons),
		cmocka_unit_test(an_unknown_option_is_refused_with_the_nearest_one),
		cmocka_unit_test(a_value_that_cannot_be_used_is_named_with_who_said_it),
		cmocka_unit_test(all_that_is_wrong_is_told_at_once),
		cmocka_unit_test(the_help_is_aligned_and_at_most_100_wide),
		cmocka_unit_test(the_canonical_form_does_not_tell_how_a_value_was_said),
		cmocka_unit_test(the_canonical_form_tells_unset_from_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
