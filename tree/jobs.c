/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/jobs.h"

#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "common/parse.h"

#define COMPILER_BYTES (256ULL << 20)

/* What one cgroup, or all of them together, leave. 0: no limit. */
struct limits {
	uint64_t quota, period, free;
};

/* How the two cgroup versions call the same things. */
struct version {
	const char *controller; /* in proc/self/cgroup; v2 has none */
	const char *mount;
	const char *quota, *period; /* v2 has both in one file */
	const char *max, *used, *cache;
};

static const struct version VERSIONS[] = {
	{ "", "sys/fs/cgroup", "cpu.max", NULL, "memory.max", "memory.current", "inactive_file" },
	{ "cpu", "sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us", NULL, NULL, NULL },
	{ "memory", "sys/fs/cgroup/memory", NULL, NULL, "memory.limit_in_bytes",
	  "memory.usage_in_bytes", "total_inactive_file" },
};

unsigned jobs_decide(unsigned cpus, unsigned long long quota_us, unsigned long long period_us,
		     unsigned long long free_bytes)
{
	unsigned long long n = cpus;

	if (quota_us && period_us) {
		unsigned long long whole = quota_us / period_us + (quota_us % period_us != 0);

		n = whole < n ? whole : n;
	}
	if (free_bytes && free_bytes / COMPILER_BYTES < n)
		n = free_bytes / COMPILER_BYTES;
	return n ? (unsigned)n : 1;
}

static int read_file(const struct sysroot *root, const char *dir, const char *file, char **ret)
{
	_cleanup_free_ char *path = NULL;

	if (!file)
		return -ENOENT;
	if (asprintf(&path, "%s/%s", dir, file) < 0)
		return -ENOMEM;
	return sysroot_read_attr(root, path, ret);
}

static int read_number(const struct sysroot *root, const char *dir, const char *file, uint64_t *ret)
{
	_cleanup_free_ char *text = NULL;
	int r = read_file(root, dir, file, &text);

	return r < 0 ? r : parse_u64(text, 10, 0, UINT64_MAX, ret);
}

/* The number behind `key` in "key number" lines. */
static uint64_t stat_number(const char *text, const char *key)
{
	size_t len = strlen(key);
	uint64_t n = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		_cleanup_free_ char *number = NULL;

		line += *line == '\n';
		if (strncmp(line, key, len) || line[len] != ' ')
			continue;
		number = strndup(line + len + 1, strcspn(line + len + 1, " \n"));
		return number && parse_u64(number, 10, 0, UINT64_MAX, &n) == 0 ? n : 0;
	}
	return 0;
}

static int read_quota(const struct sysroot *root, const char *dir, const struct version *v,
		      uint64_t *ret_quota, uint64_t *ret_period)
{
	_cleanup_strv_ char **words = NULL;
	_cleanup_free_ char *text = NULL;
	int r = read_file(root, dir, v->quota, &text);

	if (r < 0)
		return r;
	if (v->period) {
		r = parse_u64(text, 10, 1, UINT64_MAX, ret_quota);
		return r < 0 ? r : read_number(root, dir, v->period, ret_period);
	}
	r = parse_words(text, " ", &words);
	if (r < 0)
		return r;
	if (!words[0] || !words[1])
		return -EINVAL;
	r = parse_u64(words[0], 10, 1, UINT64_MAX, ret_quota); /* "max": no quota */
	return r < 0 ? r : parse_u64(words[1], 10, 1, UINT64_MAX, ret_period);
}

static void tighten_cpu(const struct sysroot *root, const char *dir, const struct version *v,
			struct limits *all)
{
	uint64_t quota, period;

	if (read_quota(root, dir, v, &quota, &period) < 0 || !period)
		return;
	if (!all->quota ||
	    (double)quota / (double)period < (double)all->quota / (double)all->period) {
		all->quota = quota;
		all->period = period;
	}
}

static void tighten_memory(const struct sysroot *root, const char *dir, const struct version *v,
			   struct limits *all)
{
	_cleanup_free_ char *stat = NULL;
	uint64_t max, used, cache = 0, left;

	/* v1 says "no limit" by the largest number of pages. */
	if (read_number(root, dir, v->max, &max) < 0 || max >= UINT64_MAX / 4 ||
	    read_number(root, dir, v->used, &used) < 0)
		return;
	if (read_file(root, dir, "memory.stat", &stat) == 0)
		cache = stat_number(stat, v->cache);
	used -= cache < used ? cache : used;
	left = max > used ? max - used : 1;
	if (!all->free || left < all->free)
		all->free = left;
}

static void tighten(const struct sysroot *root, const struct version *v, const char *group,
		    struct limits *all)
{
	_cleanup_free_ char *dir = NULL;
	size_t top = strlen(v->mount);

	if (asprintf(&dir, "%s%s", v->mount, group) < 0)
		return;
	for (;;) {
		char *slash;

		tighten_cpu(root, dir, v, all);
		tighten_memory(root, dir, v, all);
		slash = strrchr(dir, '/');
		if (slash < dir + top)
			return;
		*slash = '\0';
	}
}

/* A line of proc/self/cgroup: "hierarchy:controllers:/path"; v2's has neither number nor names. */
static void tighten_line(const struct sysroot *root, char *line, struct limits *all)
{
	char *controllers = strchr(line, ':'), *group;
	_cleanup_strv_ char **words = NULL;

	group = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!group)
		return;
	*controllers++ = '\0';
	*group++ = '\0';
	if (!*controllers)
		tighten(root, &VERSIONS[0], group, all);
	if (parse_words(controllers, ",", &words) < 0)
		return;
	for (char **word = words; *word; word++)
		for (size_t i = 1; i < sizeof(VERSIONS) / sizeof(*VERSIONS); i++)
			if (!strcmp(*word, VERSIONS[i].controller))
				tighten(root, &VERSIONS[i], group, all);
}

static void read_limits(const struct sysroot *root, struct limits *ret)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_strv_ char **lines = NULL;

	if (sysroot_read_attr(root, "proc/self/cgroup", &text) < 0 ||
	    parse_words(text, "\n", &lines) < 0)
		return;
	for (char **line = lines; *line; line++)
		tighten_line(root, *line, ret);
}

/*
 * A machine may have more CPUs than a cpu_set_t; the kernel says EINVAL until the mask is long
 * enough.
 */
static unsigned count_cpus(void)
{
	for (int n = 1024; n <= 1 << 20; n *= 2) {
		size_t size = CPU_ALLOC_SIZE(n);
		cpu_set_t *set = CPU_ALLOC(n);
		int r = set ? sched_getaffinity(0, size, set) : -1;
		int count = r == 0 ? CPU_COUNT_S(size, set) : 0;

		if (set)
			CPU_FREE(set);
		if (count > 0)
			return (unsigned)count;
		if (errno != EINVAL)
			break;
	}
	return 1;
}

unsigned jobs_count(const struct sysroot *root)
{
	struct limits all = { 0 };

	read_limits(root, &all);
	return jobs_decide(count_cpus(), all.quota, all.period, all.free);
}
