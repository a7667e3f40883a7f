/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/cache.h"

#include <fcntl.h>
#include <string.h>

#include "common/digest.h"
#include "tree/folder.h"
#include "tree/headers.h"

#define SEEN ".seen-"
#define LOG ".log-"

enum { SEEN_MAX = 4096, LOGS_KEPT = 8 };

static int path_of(const char *store, const char *prefix, const char *key, char **ret)
{
	char *path;

	if (asprintf(&path, "%s/%s%s", store, prefix, key) < 0)
		return -ENOMEM;
	*ret = path;
	return 0;
}

/* ---- the headers' digests, by a note of what was seen: reading them takes longer than all else */

struct seen {
	const char *old; /* NULL: no note */
	FILE *to;        /* the next one */
	bool changed;
};

/* What is another as soon as the file is. */
static int stamp_of(int fd, char **ret)
{
	struct stat st;
	char *stamp;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (asprintf(&stamp, "%ju %ju %jd %jd.%09ld %jd.%09ld", (uintmax_t)st.st_dev,
		     (uintmax_t)st.st_ino, (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec,
		     st.st_mtim.tv_nsec, (intmax_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec) < 0)
		return -ENOMEM;
	*ret = stamp;
	return 0;
}

/* A line is a stamp and a digest. */
static bool is_seen(const char *lines, const char *stamp, char ret[static DIGEST_TEXT])
{
	size_t len = strlen(stamp), digits = DIGEST_TEXT - 1;

	for (const char *line = lines, *end; line && *line; line = end + !!*end) {
		const char *digest = line + len + 1;

		end = strchrnul(line, '\n');
		if ((size_t)(end - line) != len + 1 + digits || strncmp(line, stamp, len) ||
		    line[len] != ' ' || strspn(digest, "0123456789abcdef") != digits)
			continue;
		memcpy(ret, digest, digits);
		ret[digits] = '\0';
		return true;
	}
	return false;
}

static int digest_one(const struct sysroot *host, const char *headers, const char *name,
		      struct seen *s, char ret[static DIGEST_TEXT])
{
	_cleanup_free_ char *path = NULL, *stamp = NULL;
	_cleanup_close_ int fd = -1;
	int r = folder_join(headers, name, &path);

	if (r < 0)
		return r;
	fd = sysroot_open_file(host, path, NULL);
	if (fd < 0)
		return fd;
	r = stamp_of(fd, &stamp);
	if (r == 0 && !is_seen(s->old, stamp, ret)) {
		s->changed = true;
		r = digest_fd(fd, ret);
	}
	if (r == 0)
		fprintf(s->to, "%s %s\n", stamp, ret);
	return r;
}

static int digest_both(const struct cache_query *q, struct seen *s, char config[static DIGEST_TEXT],
		       char symvers[static DIGEST_TEXT])
{
	_cleanup_free_ char *headers = NULL;
	int r = headers_where(q->host, q->kernel, q->headers, &headers);

	if (r == 0)
		r = digest_one(q->host, headers, ".config", s, config);
	if (r < 0)
		return r;
	r = digest_one(q->host, headers, "Module.symvers", s, symvers);
	return r == -ENOENT ? 0 : r;
}

/* A store that cannot be written gets no note: they are read each time. */
static int look(const struct cache_query *q, char config[static DIGEST_TEXT],
		char symvers[static DIGEST_TEXT])
{
	_cleanup_free_ char *path = NULL, *old = NULL, *new = NULL;
	struct seen s = { .old = NULL };
	size_t len;
	int r = path_of(q->store, SEEN, q->key, &path);

	if (r == 0)
		r = sysroot_read(q->root, path, SEEN_MAX, &old, NULL);
	if (r == -ENOMEM)
		return r;
	s.old = old;
	s.to = open_memstream(&new, &len);
	if (!s.to)
		return -ENOMEM;
	r = digest_both(q, &s, config, symvers);
	if (fclose(s.to) != 0)
		return -ENOMEM;
	if (r == 0 && s.changed && !q->looks)
		(void)sysroot_replace(q->root, path, 0644, new, len);
	return r;
}

/* ---- finding */

static bool differ(const char *was, const char *is)
{
	return was && *was && is && *is && strcmp(was, is);
}

int cache_judge(const struct cache_record *was, const struct cache_record *is,
		const char **ret_what)
{
	/* Where both saw a .config, they would have seen a Module.symvers too. */
	bool both = was->config && *was->config && is->config && *is->config;

	if (differ(was->build_id, is->build_id))
		*ret_what = "built for a kernel of this release with another build-id";
	else if (differ(was->config, is->config))
		*ret_what = "built against headers with another .config";
	else if (both ? !!strcmp(was->symvers ?: "", is->symvers ?: "")
		      : differ(was->symvers, is->symvers))
		*ret_what = "built against headers with another Module.symvers";
	else
		return 0;
	return -ESTALE;
}

static int open_tree(const struct cache_query *q, struct tree **ret, struct verdicts *why)
{
	_cleanup_verdicts_ struct verdicts damage = { 0 };
	_cleanup_(tree_freep) struct tree *t = NULL;
	int r = store_open(q->root, q->store, q->key, &t, &damage);

	if (r == 0 && q->check)
		r = tree_check(t, &damage);
	if (r == 0)
		*ret = TAKE_PTR(t);
	if (r == 0 || r == -ENOENT || r == -ENOMEM)
		return r;
	for (size_t i = 0; i < damage.n; i++)
		verdicts_unknown(why, damage.v[i].why, damage.v[i].object, "%s",
				 damage.v[i].detail ?: "");
	return -EBADMSG;
}

static void note_use(const struct tree *t)
{
	_cleanup_close_ int fd = sysroot_openat(t->root, ".", O_RDONLY | O_DIRECTORY, 0);

	(void)futimens(fd, NULL);
}

int cache_find(const struct cache_query *q, struct tree **ret, struct verdicts *why)
{
	char config[DIGEST_TEXT] = "", symvers[DIGEST_TEXT] = "";
	_cleanup_(tree_freep) struct tree *t = NULL;
	struct cache_record was, is = { .build_id = q->build_id };
	const char *what;
	int r = open_tree(q, &t, why);

	if (r < 0)
		return r;
	r = look(q, config, symvers);
	if (r == -ENOMEM)
		return r;
	if (r == 0) {
		is.config = config;
		is.symvers = symvers;
	}
	was = (struct cache_record){ t->manifest.config_sha256, t->manifest.symvers_sha256,
				     t->manifest.build_id };
	r = cache_judge(&was, &is, &what);
	if (r < 0) {
		verdicts_unknown(why, REASON_VERMAGIC_MISMATCH, q->key, "%s", what);
		return r;
	}
	if (!q->looks)
		note_use(t);
	*ret = TAKE_PTR(t);
	return 0;
}

/* ---- trimming */

struct entry {
	const char *name;
	bool running; /* for the kernel that runs */
	struct timespec used, mtime;
	uint64_t size;
};

static struct timespec time_of(const struct sysroot *root, const char *store, const char *name)
{
	_cleanup_free_ char *path = NULL;
	struct stat st = { 0 };

	if (folder_join(store, name, &path) < 0 || sysroot_stat(root, path, &st) < 0)
		return (struct timespec){ 0 };
	return st.st_mtim;
}

static bool is_key(const char *name)
{
	return strlen(name) == DIGEST_TEXT - 1 &&
	       strspn(name, "0123456789abcdef") == DIGEST_TEXT - 1;
}

/*
 * Of a tree; what is damaged is for no kernel and was never used. -ENOENT: it is none of ours, but
 * what else somebody has where he wanted the store.
 */
static int describe(const struct sysroot *root, const char *store, const char *key,
		    const char *running, struct entry *ret)
{
	_cleanup_verdicts_ struct verdicts unasked = { 0 };
	_cleanup_(tree_freep) struct tree *t = NULL;
	_cleanup_free_ char *path = NULL;
	struct entry e = { .name = key, .mtime = time_of(root, store, key) };
	int r = folder_join(store, key, &path);

	if (r == 0)
		r = store_open(root, store, key, &t, &unasked);
	if (r == -ENOMEM || (r < 0 && !is_key(key)))
		return r == -ENOMEM ? r : -ENOENT;
	if (r == 0) {
		e.used = e.mtime;
		e.running = running && !strcmp(t->manifest.kernel, running);
	}
	if (folder_size(root, path, &e.size) == -ENOMEM)
		return -ENOMEM;
	*ret = e;
	return 0;
}

static int by_time(const struct entry *a, const struct entry *b)
{
	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	if (a->used.tv_nsec != b->used.tv_nsec)
		return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Who goes first. */
static int by_turn(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	return a->running != b->running ? a->running - b->running : by_time(a, b);
}

/* Its note goes with those of no tree. */
static int drop(const struct sysroot *root, const char *store, const char *key)
{
	_cleanup_free_ char *log = NULL;
	int r = store_drop(root, store, key);

	if (r == 0)
		r = path_of(store, LOG, key, &log);
	if (r == 0)
		(void)sysroot_remove(root, log);
	return r;
}

/* By somebody who has found it since it was described: he is about to load it. */
static bool is_used(const struct sysroot *root, const char *store, const struct entry *tree)
{
	const struct timespec now = time_of(root, store, tree->name);

	return now.tv_sec != tree->mtime.tv_sec || now.tv_nsec != tree->mtime.tv_nsec;
}

/* `trees` by turn. */
static int drop_trees(const struct sysroot *root, const char *store, const struct entry *trees,
		      size_t n, uint64_t max_bytes, const char *keep, unsigned *dropped)
{
	uint64_t sum = 0;
	int r = 0;

	for (size_t i = 0; i < n; i++)
		sum += trees[i].size;
	for (size_t i = 0; r == 0 && i < n && max_bytes && sum > max_bytes; i++) {
		bool newest = i + 1 == n && trees[i].running;

		if (newest || (keep && !strcmp(trees[i].name, keep)) ||
		    is_used(root, store, &trees[i]))
			continue;
		r = drop(root, store, trees[i].name);
		*dropped += r == 0;
		sum -= trees[i].size;
	}
	return r;
}

static int trim_trees(const struct sysroot *root, const char *store, uint64_t max_bytes,
		      const char *running, const char *keep, unsigned *dropped)
{
	_cleanup_strv_ char **keys = NULL;
	_cleanup_free_ struct entry *trees = NULL;
	int r = store_list(root, store, &keys);
	size_t n = 0;

	if (r < 0)
		return r;
	trees = calloc(strv_length(keys) + 1, sizeof(*trees));
	if (!trees)
		return -ENOMEM;
	for (char **key = keys; r != -ENOMEM && *key; key++) {
		r = describe(root, store, *key, running, &trees[n]);
		n += r == 0;
	}
	if (r == -ENOMEM)
		return r;
	qsort(trees, n, sizeof(*trees), by_turn);
	return drop_trees(root, store, trees, n, max_bytes, keep, dropped);
}

/* Is `name` PREFIX and the key of no tree? */
static bool is_orphan(const struct sysroot *root, const char *store, const char *prefix,
		      const char *name)
{
	_cleanup_free_ char *tree = NULL;
	size_t len = strlen(prefix);

	return !strncmp(name, prefix, len) && path_of(store, "", name + len, &tree) == 0 &&
	       !sysroot_exists(root, tree);
}

static void remove_in(const struct sysroot *root, const char *store, const char *name)
{
	_cleanup_free_ char *path = NULL;

	if (folder_join(store, name, &path) == 0)
		(void)sysroot_remove(root, path);
}

static int trim_rest(const struct sysroot *root, const char *store)
{
	_cleanup_strv_ char **names = NULL;
	_cleanup_free_ struct entry *logs = NULL;
	int r = sysroot_list(root, store, &names);
	size_t n = 0;

	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? 0 : r;
	logs = calloc(strv_length(names) + 1, sizeof(*logs));
	if (!logs)
		return -ENOMEM;
	for (char **name = names; *name; name++) {
		if (is_orphan(root, store, SEEN, *name))
			remove_in(root, store, *name);
		else if (is_orphan(root, store, LOG, *name))
			logs[n++] = (struct entry){ .name = *name,
						    .used = time_of(root, store, *name) };
	}
	qsort(logs, n, sizeof(*logs), by_turn);
	for (size_t i = 0; i + LOGS_KEPT < n; i++)
		remove_in(root, store, logs[i].name);
	return 0;
}

int cache_trim(const struct sysroot *root, const char *store, uint64_t max_bytes,
	       const char *running, const char *keep, unsigned *ret_dropped)
{
	unsigned dropped = 0;
	int r = trim_trees(root, store, max_bytes, running, keep, &dropped);

	if (r == 0)
		r = trim_rest(root, store);
	if (r == 0 && ret_dropped)
		*ret_dropped = dropped;
	return r;
}
