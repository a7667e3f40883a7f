/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "common/log.h"
#include "common/progress.h"

static void in_a_log_short_work_has_one_line_at_its_end(void **state)
{
	_cleanup_fclose_ FILE *f = tmpfile();
	struct progress *p = NULL;
	char text[512] = "";

	(void)state;
	log_setup(f, LOG_JSON, LEVEL_INFO);
	assert_int_equal(progress_new("build", 120, &p), 0);
	for (uint64_t i = 1; i <= 120; i++)
		progress_step(p, i, "core/cm.o");
	assert_null(progress_free(p));
	log_setup(NULL, LOG_TEXT, LEVEL_INFO);
	assert_true(pread(fileno(f), text, sizeof(text) - 1, 0) > 0);
	assert_non_null(strstr(text, "\"event\":\"progress\",\"what\":\"build\",\"done\":\"120\","
				     "\"total\":\"120\",\"seconds\":\"0\"}\n"));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void nothing_to_free_is_fine(void **state)
{
	(void)state;
	assert_null(progress_free(NULL));
}

/* What progress draws while stderr is a terminal of 60 columns. */
static void draw_name(uint64_t total, uint64_t done, const char *now, char *text, size_t size)
{
	_cleanup_close_ int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	_cleanup_close_ int saved = dup(STDERR_FILENO), slave = -1;
	struct winsize ws = { .ws_row = 24, .ws_col = 60 };
	struct progress *p = NULL;
	size_t len = 0;
	ssize_t n;

	assert_int_equal(grantpt(master) | unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(slave >= 0);
	assert_int_equal(ioctl(slave, TIOCSWINSZ, &ws), 0);
	(void)dup2(slave, STDERR_FILENO);
	log_setup(NULL, LOG_AUTO, LEVEL_INFO);
	assert_int_equal(progress_new("build", total, &p), 0);
	progress_step(p, done, now);
	progress_free(p);
	(void)dup2(saved, STDERR_FILENO);
	/* The terminal hands over in pieces; the end of the line is the last. */
	do {
		n = read(master, text + len, size - 1 - len);
		assert_true(n > 0);
		len += (size_t)n;
		text[len] = '\0';
	} while (text[len - 1] != '\n');
}

static void draw(uint64_t total, uint64_t done, char *text, size_t size)
{
	draw_name(total, done, "drivers/infiniband/core/a-file-with-a-rather-long-name.o", text,
		  size);
}

static void on_a_terminal_a_bar_fits_its_width(void **state)
{
	char text[1024];

	(void)state;
	draw(120, 60, text, sizeof(text));
	assert_non_null(strstr(text, "build [############------------] 60/120 00:00 drivers/"));
	for (char *p = strstr(text, "\033[K"); p; p = strstr(p, "\033[K")) {
		p += strlen("\033[K");
		assert_in_range(strcspn(p, "\r"), 1, 59);
	}
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void without_a_total_only_the_count_is_shown(void **state)
{
	char text[1024];

	(void)state;
	draw(0, 7, text, sizeof(text));
	assert_non_null(strstr(text, "build 7 00:00 drivers/"));
	assert_null(strchr(text, '#'));
}

static void on_a_terminal_no_escape_of_a_child_is_obeyed(void **state)
{
	char text[1024];

	(void)state;
	draw_name(0, 7, "checking\033]0;title\a for\tgcc\r\x7f \xc3\xa4", text, sizeof(text));
	assert_non_null(strstr(text, "build 7 00:00 checking?]0;title? for?gcc?? \xc3\xa4"));
	assert_null(strchr(text, '\a'));
}

static void in_a_log_escapes_of_a_child_are_escaped(void **state)
{
	_cleanup_fclose_ FILE *f = tmpfile();
	char text[512] = "";

	(void)state;
	log_setup(f, LOG_TEXT, LEVEL_INFO);
	log_info("progress", "now", "a\033[2Jb\nc");
	log_setup(f, LOG_JSON, LEVEL_INFO);
	log_info("progress", "now", "a\033[2Jb\nc");
	log_setup(NULL, LOG_TEXT, LEVEL_INFO);
	assert_true(pread(fileno(f), text, sizeof(text) - 1, 0) > 0);
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "now=\"a\\x1b[2Jb\\nc\"\n"));
	assert_non_null(strstr(text, "\"now\":\"a\\u001B[2Jb\\nc\"}\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_a_log_short_work_has_one_line_at_its_end),
		cmocka_unit_test(nothing_to_free_is_fine),
		cmocka_unit_test(on_a_terminal_a_bar_fits_its_width),
		cmocka_unit_test(without_a_total_only_the_count_is_shown),
		cmocka_unit_test(on_a_terminal_no_escape_of_a_child_is_obeyed),
		cmocka_unit_test(in_a_log_escapes_of_a_child_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
