/* SPDX-License-Identifier: Apache-2.0 */
#include "common/log.h"

#include <ctype.h>
#include <jansson.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"

static struct {
	FILE *to; /* NULL: stderr */
	bool json;
	enum log_level max;
	char *last_error;
} the_log = { .max = LEVEL_INFO };

static const char *const upper[] = { "ERROR", "WARN", "INFO", "DEBUG" };
static const char *const lower[] = { "error", "warn", "info", "debug" };

static FILE *target(void)
{
	return the_log.to ? the_log.to : stderr;
}

void log_setup(FILE *to, enum log_format format, enum log_level max)
{
	the_log.to = to;
	the_log.max = max;
	the_log.json = format == LOG_JSON || (format == LOG_AUTO && !isatty(fileno(target())));
}

bool log_is_text(void)
{
	return !the_log.json;
}

const char *log_last_error(void)
{
	return the_log.last_error ? the_log.last_error : "";
}

const char *log_num(char buf[static 24], long long n)
{
	(void)snprintf(buf, 24, "%lld", n);
	return buf;
}

static bool is_plain(const char *value)
{
	for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
		if (*p <= ' ' || *p == '"' || *p == 0x7f)
			return false;
	}
	return *value != '\0';
}

static void put_value(FILE *f, const char *value)
{
	if (is_plain(value)) {
		(void)fputs(value, f);
		return;
	}
	(void)fputc('"', f);
	for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
		if (*p == '"' || *p == '\\')
			(void)fprintf(f, "\\%c", *p);
		else if (*p == '\n')
			(void)fputs("\\n", f);
		else if (*p == '\t')
			(void)fputs("\\t", f);
		else if (*p < ' ' || *p == 0x7f)
			(void)fprintf(f, "\\x%02x", *p);
		else
			(void)fputc(*p, f);
	}
	(void)fputc('"', f);
}

static char *text_line(enum log_level level, const char *event, va_list fields)
{
	const char *name;
	char *line = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&line, &len);

	if (!f)
		return NULL;
	(void)fprintf(f, "%s %s", upper[level], event);
	while ((name = va_arg(fields, const char *))) {
		const char *value = va_arg(fields, const char *);

		if (!value)
			continue;
		(void)fprintf(f, " %s=", name);
		put_value(f, value);
	}
	if (fclose(f) != 0) {
		free(line);
		return NULL;
	}
	return line;
}

/* RFC 3339, UTC, milliseconds */
static void format_now(char buf[static 40])
{
	struct timespec now;
	struct tm tm;
	size_t n;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	n = strftime(buf, 32, "%Y-%m-%dT%H:%M:%S", gmtime_r(&now.tv_sec, &tm));
	(void)snprintf(buf + n, 40 - n, ".%03uZ", (unsigned int)(now.tv_nsec / 1000000) % 1000);
}

/* JSON takes UTF-8 only: in text that is not, what is not ASCII becomes '?'. */
static json_t *json_text(const char *value)
{
	json_t *text = json_string(value);
	_cleanup_free_ char *ascii = text ? NULL : strdup(value);

	for (char *p = ascii; p && *p; p++) {
		if (!isascii((unsigned char)*p))
			*p = '?';
	}
	return text ? text : json_string(ascii);
}

static char *json_line(enum log_level level, const char *event, va_list fields)
{
	json_t *o = json_object();
	char now[40], *line = NULL;
	const char *name;
	int r;

	format_now(now);
	r = json_object_set_new(o, "time", json_string(now));
	r |= json_object_set_new(o, "level", json_string(lower[level]));
	r |= json_object_set_new(o, "event", json_text(event));
	while ((name = va_arg(fields, const char *))) {
		const char *value = va_arg(fields, const char *);

		if (value)
			r |= json_object_set_new(o, name, json_text(value));
	}
	if (r == 0)
		line = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return line;
}

/* One write(2), so that lines of several processes do not mix. */
static void write_line(char *line, size_t len)
{
	FILE *to = target();
	int fd = fileno(to);

	line[len] = '\n';
	(void)fflush(to);
	if (fd < 0)
		(void)fwrite(line, 1, len + 1, to);
	else
		while (write(fd, line, len + 1) < 0 && errno == EINTR)
			;
	line[len] = '\0';
}

void log_event(enum log_level level, const char *event, ...)
{
	_cleanup_free_ char *line = NULL;
	va_list fields;

	if (level > the_log.max)
		return;
	va_start(fields, event);
	line = the_log.json ? json_line(level, event, fields) : text_line(level, event, fields);
	va_end(fields);
	if (!line)
		return;
	/* The place of the NUL is the newline's for as long as it is written. */
	write_line(line, strlen(line));
	if (level == LEVEL_ERROR) {
		free(the_log.last_error);
		the_log.last_error = TAKE_PTR(line);
	}
}
