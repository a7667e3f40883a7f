/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/complaint.h"

#include <string.h>

#include "common/cleanup.h"

/* The lower, the closer to the cause. */
enum rank { NO_ERROR, CAUSE, PERHAPS, CONSEQUENCE };

struct mark {
	const char *text;
	enum { IN_LINE, AT_START } where;
	enum rank rank;
};

/* The first that a line has counts. */
static const struct mark MARKS[] = {
	{ ": error: ", IN_LINE, CAUSE },
	{ ": fatal error: ", IN_LINE, CAUSE },
	{ ": Error: ", IN_LINE, CAUSE }, /* the assembler */
	{ ": undefined reference to ", IN_LINE, CAUSE },
	{ "Killed signal terminated program ", IN_LINE, CAUSE },
	{ ": out of memory allocating ", IN_LINE, CAUSE }, /* the compiler itself */
	{ "ERROR: ", AT_START, CAUSE },                    /* modpost */
	{ "  ERROR: ", AT_START, CAUSE },                  /* the kernel's Makefile */
	{ "FATAL: ", AT_START, CAUSE },
	{ "*** No rule to make target ", IN_LINE, CAUSE },
	{ ": command not found", IN_LINE, PERHAPS },
	{ ": not found", IN_LINE, PERHAPS },
	{ ": No such file or directory", IN_LINE, PERHAPS },
	{ ": Permission denied", IN_LINE, PERHAPS }, /* what the cage says */
	{ "] Killed", IN_LINE, PERHAPS },            /* make; a shell: */
	{ "Killed", AT_START, PERHAPS },
	{ "*** Waiting for unfinished jobs", IN_LINE, NO_ERROR },
	{ "*** ", IN_LINE, CONSEQUENCE },
	{ "cc1: ", AT_START, CONSEQUENCE }, /* all warnings being treated as errors */
};

static bool has(const char *line, const struct mark *mark)
{
	if (mark->where == AT_START)
		return !strncmp(line, mark->text, strlen(mark->text));
	return strstr(line, mark->text) != NULL;
}

static enum rank rank_of(const char *line)
{
	for (size_t i = 0; i < sizeof(MARKS) / sizeof(*MARKS); i++)
		if (has(line, &MARKS[i]))
			return MARKS[i].rank;
	return NO_ERROR;
}

static void keep_error(struct complaint *c, const char *line)
{
	enum rank rank = rank_of(line);
	char *copy;

	if (rank == NO_ERROR || (c->error && (int)rank >= c->rank))
		return;
	copy = strdup(line);
	if (!copy)
		return;
	free(c->error);
	c->error = copy;
	c->rank = (int)rank;
}

/* ---- the disk */

static const struct refusal {
	const char *text;
	int error;
	bool certain; /* else a script may have tried, and done without */
} REFUSALS[] = {
	{ "No space left on device", -ENOSPC, true },
	{ "Disk quota exceeded", -ENOSPC, true },
	{ "Read-only file system", -EROFS, false },
};

static void keep_refusal(struct complaint *c, const char *line, const struct refusal *refusal)
{
	bool certain = refusal->certain || rank_of(line) == CAUSE;
	char *copy;

	if (c->disk && c->disk_certain >= certain)
		return;
	copy = strdup(line);
	if (!copy)
		return;
	free(c->disk);
	c->disk = copy;
	c->disk_error = refusal->error;
	c->disk_certain = certain;
}

int complaint_of_disk(const struct complaint *c)
{
	bool other = c->error && c->rank == CAUSE;

	return c->disk && (c->disk_certain || !other) ? c->disk_error : 0;
}

/* ---- both */

void complaint_line(struct complaint *c, const char *line)
{
	keep_error(c, line);
	for (size_t i = 0; i < sizeof(REFUSALS) / sizeof(*REFUSALS); i++)
		if (strstr(line, REFUSALS[i].text))
			keep_refusal(c, line, &REFUSALS[i]);
}

bool complaint_of_kill(const struct complaint *c)
{
	return c->error && (strstr(c->error, "Killed") || strstr(c->error, "out of memory"));
}

void complaint_clear(struct complaint *c)
{
	free(c->error);
	free(c->disk);
	*c = (struct complaint){ 0 };
}
