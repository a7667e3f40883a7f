/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/cleanup.h"
#include "tree/complaint.h"

static struct complaint of(const char *output)
{
	_cleanup_free_ char *text = strdup(output);
	struct complaint c = { 0 };
	char *rest = text;

	assert_non_null(text);
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
		complaint_line(&c, line);
	return c;
}

/* NULL: it says nothing of why. */
static void assert_first(const char *output, const char *wanted)
{
	_cleanup_complaint_ struct complaint c = of(output);

	if (wanted) {
		assert_non_null(c.error);
		assert_string_equal(c.error, wanted);
	} else {
		assert_null(c.error);
	}
}

static void assert_disk(const char *output, int error, const char *line)
{
	_cleanup_complaint_ struct complaint c = of(output);

	assert_int_equal(complaint_of_disk(&c), error);
	if (line)
		assert_string_equal(c.disk, line);
}

static void finds_the_compilers_first_error(void **state)
{
	(void)state;
	assert_first("  CC [M]  /x/a.o\n"
		     "/x/a.c: In function 'f':\n"
		     "/x/a.c:12:3: warning: unused\n"
		     "/x/a.c:13:9: error: expected ';'\n"
		     "/x/a.c:14:9: error: later\n"
		     "make[2]: *** [scripts/Makefile.build:250: /x/a.o] Error 1\n",
		     "/x/a.c:13:9: error: expected ';'");
	assert_first("a.c:1:10: fatal error: b.h: No such file or directory\n",
		     "a.c:1:10: fatal error: b.h: No such file or directory");
	assert_first("ERROR: modpost: \"x\" [/s/a.ko] undefined!",
		     "ERROR: modpost: \"x\" [/s/a.ko] undefined!");
	assert_first("\n  ERROR: Kernel configuration is invalid.\n"
		     "         include/generated/autoconf.h or x are missing.\n"
		     "make[1]: *** [Makefile:819: include/config/auto.conf] Error 1\n",
		     "  ERROR: Kernel configuration is invalid.");
}

static void tells_what_may_not_be_written_from_what_follows_from_it(void **state)
{
	(void)state;
	assert_first("make[1]: *** [Makefile:3: x] Error 1\n"
		     "mkdir: cannot create directory '/opt/x': Permission denied\n",
		     "mkdir: cannot create directory '/opt/x': Permission denied");
	assert_first("sh: ./x: Permission denied\na.c:1:1: error: no\n", "a.c:1:1: error: no");
}

static void prefers_the_cause_to_what_other_jobs_said_before(void **state)
{
	(void)state;
	assert_first("sh: 1: pahole: not found\n"
		     "make[3]: *** [/x/b.o] Error 1\n"
		     "make[3]: *** Waiting for unfinished jobs....\n"
		     "cc1: all warnings being treated as errors\n"
		     "/x/c.c:2:1: error: unknown type name 'foo'\n",
		     "/x/c.c:2:1: error: unknown type name 'foo'");
	assert_first("make: *** Waiting for unfinished jobs....\n"
		     "make[1]: *** [Makefile:2: x] Error 2\nmake: *** later\n",
		     "make[1]: *** [Makefile:2: x] Error 2");
	assert_first("make: *** [y] Error 2\nmake: *** No rule to make target 'x'.  Stop.\n",
		     "make: *** No rule to make target 'x'.  Stop.");
}

static void finds_no_error_where_there_is_none(void **state)
{
	(void)state;
	assert_first("", NULL);
	assert_first("\n\n  CC [M]  error.o\n  LD [M]  x.ko\nwarning: errors may follow\n", NULL);
	assert_first("make: *** Waiting for unfinished jobs....\n", NULL);
}

static void knows_a_disk_that_takes_no_more(void **state)
{
	(void)state;
	assert_disk("a.c:1:1: error: no\n", 0, NULL);
	assert_disk(
		"a.c:1: fatal error: closing a.s: No space left on device\nld: x: No space left "
		"on device\n",
		-ENOSPC, "a.c:1: fatal error: closing a.s: No space left on device");
	assert_disk("cp: x: Disk quota exceeded\na.c:1:1: error: no\n", -ENOSPC,
		    "cp: x: Disk quota exceeded");
	assert_disk("a.c:2:1: fatal error: opening a.d: Read-only file system\n", -EROFS,
		    "a.c:2:1: fatal error: opening a.d: Read-only file system");
}

static void takes_no_try_that_was_refused_for_the_cause(void **state)
{
	(void)state;
	assert_disk("touch: /etc/x: Read-only file system\nmake: *** [x] Error 1\n", -EROFS,
		    "touch: /etc/x: Read-only file system");
	assert_disk("touch: /etc/x: Read-only file system\na.c:1:1: error: no\n", 0, NULL);
	assert_disk("touch: /etc/x: Read-only file system\na.c:2: fatal error: opening a.d: "
		    "Read-only file system\n",
		    -EROFS, "a.c:2: fatal error: opening a.d: Read-only file system");
}

static void assert_killed(const char *output, bool killed)
{
	_cleanup_complaint_ struct complaint c = of(output);

	assert_int_equal(complaint_of_kill(&c), killed);
}

static void knows_a_compiler_that_was_killed(void **state)
{
	(void)state;
	assert_killed("gcc: fatal error: Killed signal terminated program cc1\n"
		      "make[1]: *** [a.o] Error 1\n",
		      true);
	assert_killed("cc1: out of memory allocating 65536 bytes after a total of 1 bytes\n", true);
	assert_killed("make[3]: *** [Makefile:2: a.o] Killed\n", true);
	assert_killed("Killed\nmake: *** [a] Error 137\n", true);
	assert_killed("a.c:1:1: error: no\nmake: *** [a.o] Error 1\n", false);
	assert_killed("", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_compilers_first_error),
		cmocka_unit_test(tells_what_may_not_be_written_from_what_follows_from_it),
		cmocka_unit_test(prefers_the_cause_to_what_other_jobs_said_before),
		cmocka_unit_test(finds_no_error_where_there_is_none),
		cmocka_unit_test(knows_a_disk_that_takes_no_more),
		cmocka_unit_test(takes_no_try_that_was_refused_for_the_cause),
		cmocka_unit_test(knows_a_compiler_that_was_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
