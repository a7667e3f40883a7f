/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: one line an event, on stderr. Text on a terminal or with --log-format text
 * (`INFO module_loaded module=ib_core ms=12`), one JSON object a line otherwise. Values with blanks
 * are quoted. Verbs log; everything below them returns errors.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum log_level { LEVEL_ERROR, LEVEL_WARN, LEVEL_INFO, LEVEL_DEBUG };
enum log_format { LOG_AUTO, LOG_TEXT, LOG_JSON };

/* `to` is borrowed. LOG_AUTO: text on a terminal, else JSON. Unless called: text, stderr, INFO. */
void log_setup(FILE *to, enum log_format format, enum log_level max);

/*
 * Fields are pairs of const char *: name, value; a NULL name ends them, a pair whose value is NULL
 * is left out.
 */
void log_event(enum log_level level, const char *event, ...) __attribute__((sentinel));
#define log_error(...) log_event(LEVEL_ERROR, __VA_ARGS__, NULL)
#define log_warn(...) log_event(LEVEL_WARN, __VA_ARGS__, NULL)
#define log_info(...) log_event(LEVEL_INFO, __VA_ARGS__, NULL)
#define log_debug(...) log_event(LEVEL_DEBUG, __VA_ARGS__, NULL)

/* A number as a field's value: log_info("loaded", "ms", NUM(ms)). It lives as long as its block. */
#define NUM(n) log_num((char[24]){ 0 }, (long long)(n))
const char *log_num(char buf[static 24], long long n);

bool log_is_text(void);

/* The last ERROR line as it was printed ("" if none): what goes to /dev/termination-log. */
const char *log_last_error(void);
