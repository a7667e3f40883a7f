/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/log.h"

static FILE *log_to_file(enum log_format format, enum log_level max)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	log_setup(f, format, max);
	return f;
}

static char *written(FILE *f)
{
	long len = lseek(fileno(f), 0, SEEK_END);
	char *text = calloc(1, (size_t)len + 1);

	assert_non_null(text);
	assert_int_equal(pread(fileno(f), text, (size_t)len, 0), len);
	return text;
}

static void a_text_line_has_level_event_and_fields(void **state)
{
	_cleanup_fclose_ FILE *f = log_to_file(LOG_TEXT, LEVEL_INFO);
	_cleanup_free_ char *text = NULL;

	(void)state;
	log_info("module_loaded", "module", "ib_core", "ms", NUM(12));
	log_warn("lost");
	text = written(f);
	assert_string_equal(text, "INFO module_loaded module=ib_core ms=12\nWARN lost\n");
}

static void a_value_that_is_not_one_word_is_quoted_and_escaped(void **state)
{
	_cleanup_fclose_ FILE *f = log_to_file(LOG_TEXT, LEVEL_INFO);
	_cleanup_free_ char *text = NULL;

	(void)state;
	log_info("e", "blank", "two words", "empty", "", "quote", "a\"b", "line", "a\nb\t\x01",
		 "path", "C:\\x", "both", "C:\\ x", "utf8", "näher", "eq", "a=b");
	text = written(f);
	assert_string_equal(text, "INFO e blank=\"two words\" empty=\"\" quote=\"a\\\"b\" "
				  "line=\"a\\nb\\t\\x01\" path=C:\\x both=\"C:\\\\ x\" utf8=näher "
				  "eq=a=b\n");
}

static void a_field_without_a_value_is_left_out(void **state)
{
	_cleanup_fclose_ FILE *f = log_to_file(LOG_TEXT, LEVEL_INFO);
	_cleanup_free_ char *text = NULL;
	const char *none = NULL;

	(void)state;
	log_info("e", "a", none, "b", "1");
	text = written(f);
	assert_string_equal(text, "INFO e b=1\n");
}

static void what_is_beyond_the_level_is_not_written(void **state)
{
	_cleanup_fclose_ FILE *f = log_to_file(LOG_TEXT, LEVEL_WARN);
	_cleanup_free_ char *text = NULL;

	(void)state;
	log_info("no");
	log_debug("no");
	log_warn("yes");
	text = written(f);
	assert_string_equal(text, "WARN yes\n");
}

static void a_json_line_is_one_object_with_the_time(void **state)
{
	_cleanup_fclose_ FILE *f = log_to_file(LOG_JSON, LEVEL_DEBUG);
	_cleanup_free_ char *text = NULL;
	const char *level, *event, *value, *when;
	struct tm tm;
	json_t *o;

	(void)state;
	log_debug("seen", "what", "a \"b\"\n\x01 \xc3\xa4");
	text = written(f);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(o);
	assert_int_equal(json_unpack(o, "{s:s, s:s, s:s, s:s !}", "time", &when, "level", &level,
				     "event", &event, "what", &value),
			 0);
	assert_string_equal(level, "debug");
	assert_string_equal(event, "seen");
	assert_string_equal(value, "a \"b\"\n\x01 \xc3\xa4");
	assert_string_equal(strptime(when, "%Y-%m-%dT%H:%M:%S", &tm) + 4, "Z");
	json_decref(o);
}

static void json_stays_json_when_a_value_is_not_utf8(void **state)
{
	_cleanup_fclose_ FILE *f = log_to_file(LOG_JSON, LEVEL_INFO);
	_cleanup_free_ char *text = NULL;

	(void)state;
	log_info("e", "bytes", "a\xff\xfe z");
	text = written(f);
	assert_non_null(strstr(text, "\"bytes\":\"a?? z\""));
}

static void a_file_is_json_unless_text_was_asked_for(void **state)
{
	_cleanup_fclose_ FILE *f = log_to_file(LOG_AUTO, LEVEL_INFO);

	(void)state;
	assert_false(log_is_text());
	log_setup(f, LOG_TEXT, LEVEL_INFO);
	assert_true(log_is_text());
}

static void a_terminal_gets_text(void **state)
{
	_cleanup_close_ int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	_cleanup_fclose_ FILE *f = NULL;

	(void)state;
	assert_int_equal(grantpt(master) | unlockpt(master), 0);
	f = fopen(ptsname(master), "re+");
	assert_non_null(f);
	log_setup(f, LOG_AUTO, LEVEL_INFO);
	assert_true(log_is_text());
}

static void the_last_error_is_kept_as_it_was_printed(void **state)
{
	_cleanup_fclose_ FILE *f = log_to_file(LOG_TEXT, LEVEL_ERROR);
	_cleanup_free_ char *text = NULL;

	(void)state;
	assert_string_equal(log_last_error(), "");
	log_error("first");
	log_error("refused", "reason", "MODULE_IN_USE");
	log_warn("later");
	assert_string_equal(log_last_error(), "ERROR refused reason=MODULE_IN_USE");
	text = written(f);
	assert_string_equal(text, "ERROR first\nERROR refused reason=MODULE_IN_USE\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_error_is_kept_as_it_was_printed),
		cmocka_unit_test(a_text_line_has_level_event_and_fields),
		cmocka_unit_test(a_value_that_is_not_one_word_is_quoted_and_escaped),
		cmocka_unit_test(a_field_without_a_value_is_left_out),
		cmocka_unit_test(what_is_beyond_the_level_is_not_written),
		cmocka_unit_test(a_json_line_is_one_object_with_the_time),
		cmocka_unit_test(json_stays_json_when_a_value_is_not_utf8),
		cmocka_unit_test(a_file_is_json_unless_text_was_asked_for),
		cmocka_unit_test(a_terminal_gets_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
