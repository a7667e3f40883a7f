/* SPDX-License-Identifier: Apache-2.0 */
#include "common/progress.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

#include "common/events.h"
#include "common/log.h"

enum { BAR_MS = 100, LINE_MS = 5000, BAR_CELLS = 24, MIN_COLUMNS = 40 };

struct progress {
	char *what, *now;
	uint64_t total, done;
	uint64_t began_ms, shown_ms;
	bool bar, drawn;
};

int progress_new(const char *what, uint64_t total, struct progress **ret)
{
	struct progress *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->what = strdup(what);
	if (!p->what) {
		free(p);
		return -ENOMEM;
	}
	p->total = total;
	p->began_ms = p->shown_ms = events_now();
	p->bar = log_is_text() && isatty(STDERR_FILENO);
	*ret = p;
	return 0;
}

static size_t columns(void)
{
	struct winsize ws;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) < 0 || ws.ws_col < MIN_COLUMNS)
		return 80;
	return ws.ws_col;
}

/* "[########----------------] 45/120", or the count alone where the total is not known */
static void put_bar(FILE *f, const struct progress *p)
{
	uint64_t done = p->done < p->total ? p->done : p->total;

	if (!p->total) {
		(void)fprintf(f, "%llu", (unsigned long long)p->done);
		return;
	}
	(void)fputc('[', f);
	for (uint64_t i = 0; i < BAR_CELLS; i++)
		(void)fputc((double)(i + 1) * (double)p->total <= (double)done * BAR_CELLS ? '#'
											   : '-',
			    f);
	(void)fprintf(f, "] %llu/%llu", (unsigned long long)p->done, (unsigned long long)p->total);
}

/* What a child prints is shown, not obeyed: an escape would move the cursor. */
static void tame(char *line)
{
	for (; *line; line++)
		if (iscntrl((unsigned char)*line))
			*line = '?';
}

/* Draws over the line and leaves the cursor at its beginning, where a log line would begin too. */
static void draw(const struct progress *p, uint64_t ms)
{
	_cleanup_free_ char *line = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&line, &len);

	if (!f)
		return;
	(void)fprintf(f, "%s ", p->what);
	put_bar(f, p);
	(void)fprintf(f, " %02u:%02u", (unsigned int)(ms / 60000), (unsigned int)(ms / 1000 % 60));
	if (p->now)
		(void)fprintf(f, " %s", p->now);
	if (fclose(f) != 0)
		return;
	tame(line);
	(void)fprintf(stderr, "\r\033[K%.*s\r", (int)columns() - 1, line);
}

static void log_line(const struct progress *p, uint64_t ms)
{
	log_info("progress", "what", p->what, "done", NUM(p->done), "total",
		 p->total ? NUM(p->total) : NULL, "seconds", NUM(ms / 1000), "now", p->now);
}

static void show(struct progress *p, uint64_t now)
{
	if (p->bar)
		draw(p, now - p->began_ms);
	else
		log_line(p, now - p->began_ms);
	p->shown_ms = now;
	p->drawn = true;
}

void progress_step(struct progress *p, uint64_t done, const char *now)
{
	uint64_t at = events_now();

	p->done = done;
	free(p->now);
	p->now = now ? strdup(now) : NULL;
	if (at - p->shown_ms >= (p->bar ? BAR_MS : LINE_MS) || (p->bar && !p->drawn))
		show(p, at);
}

struct progress *progress_free(struct progress *p)
{
	if (!p)
		return NULL;
	freep(&p->now);
	p->now = NULL;
	show(p, events_now());
	if (p->bar)
		(void)fputc('\n', stderr);
	free(p->what);
	free(p);
	return NULL;
}
