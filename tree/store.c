/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/store.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "common/digest.h"
#include "tree/folder.h"

#define MANIFEST "manifest.json"
#define MANIFEST_MAX ((size_t)16 << 20)
/* On the way in, on the way out: with the key behind it. */
#define NEW ".new-"
#define OLD ".old-"

/* ---- one tree */

static int read_manifest(struct tree *t, const char *path, struct verdicts *why)
{
	_cleanup_free_ char *text = NULL, *name = NULL;
	size_t len;
	int r = folder_join(path, MANIFEST, &name);

	if (r < 0)
		return r;
	r = sysroot_read(t->root, MANIFEST, MANIFEST_MAX, &text, &len);
	if (r < 0) {
		verdicts_no(why, REASON_TREE_INVALID, name, "%s", strerror(-r));
		return r == -ENOENT ? -EBADMSG : r; /* the tree is there */
	}
	r = manifest_parse(text, len, name, &t->manifest, why);
	if (r == 0)
		r = manifest_order(&t->manifest, why);
	return r < 0 ? r : digest_of(text, len, t->digest);
}

static int check_modules(const struct tree *t, const char *path, struct verdicts *why)
{
	int bad = 0;

	for (size_t i = 0; i < t->manifest.n_modules; i++) {
		const struct manifest_module *m = &t->manifest.modules[i];
		struct stat st;
		int r = sysroot_stat(t->root, m->path, &st);

		if (r == 0 && S_ISREG(st.st_mode))
			continue;
		verdicts_no(why, REASON_TREE_INVALID, path, "%s: %s", m->path,
			    r < 0 ? strerror(-r) : "not a file");
		bad = -EBADMSG;
	}
	return bad;
}

int tree_open(const struct sysroot *root, const char *path, struct tree **ret, struct verdicts *why)
{
	_cleanup_(tree_freep) struct tree *t = calloc(1, sizeof(*t));
	int r = t ? folder_open(root, path, &t->root) : -ENOMEM;

	if (r < 0) {
		verdicts_no(why,
			    r == -ENOENT || r == -ENOTDIR ? REASON_TREE_MISSING : REASON_SYSTEM,
			    path, "%s", strerror(-r));
		return r;
	}
	r = read_manifest(t, path, why);
	if (r == 0)
		r = check_modules(t, path, why);
	if (r == 0)
		*ret = TAKE_PTR(t);
	return r;
}

struct tree *tree_free(struct tree *t)
{
	if (!t)
		return NULL;
	sysroot_free(t->root);
	manifest_clear(&t->manifest);
	free(t);
	return NULL;
}

static const char *difference(const struct manifest_module *mm, const struct module_info *info,
			      const char *sha256)
{
	if (strcmp(mm->sha256, sha256))
		return "its sha256 is not the manifest's";
	if (strcmp(mm->name, info->name))
		return "its name is not the manifest's";
	if (identity_known(&mm->id) && !identity_same(&mm->id, &info->id))
		return "its srcversion or build-id is not the manifest's";
	return NULL;
}

int tree_open_module(const struct tree *t, const struct manifest_module *mm, struct module **ret,
		     struct verdicts *why)
{
	_cleanup_(module_freep) struct module *m = NULL;
	char sha256[DIGEST_TEXT];
	const char *differs;
	int r = module_open(t->root, mm->path, &m, why);

	if (r < 0)
		return r;
	r = digest_file(t->root, mm->path, sha256);
	if (r < 0) {
		verdicts_no(why, REASON_SYSTEM, mm->path, "%s", strerror(-r));
		return r;
	}
	differs = difference(mm, module_info(m), sha256);
	if (differs) {
		verdicts_no(why, REASON_TREE_INVALID, mm->path, "%s", differs);
		return -EBADMSG;
	}
	*ret = TAKE_PTR(m);
	return 0;
}

static int check_digest(const char *name, const char *wanted, const char *sha256, int r,
			struct verdicts *why)
{
	if (r == -ENOMEM || (r == 0 && !strcmp(wanted, sha256)))
		return r;
	verdicts_no(why, REASON_TREE_INVALID, name, "%s",
		    r < 0 ? strerror(-r) : "its sha256 is not the manifest's");
	return -EBADMSG;
}

int tree_check(const struct tree *t, struct verdicts *why)
{
	const struct manifest *m = &t->manifest;
	char sha256[DIGEST_TEXT];
	int bad = 0, r;

	for (size_t i = 0; bad != -ENOMEM && i < m->n_modules; i++) {
		const struct manifest_module *mm = &m->modules[i];

		r = digest_file(t->root, mm->path, sha256);
		bad = check_digest(mm->path, mm->sha256, sha256, r, why) ?: bad;
	}
	if (bad == -ENOMEM || !m->exposed_sha256)
		return bad;
	r = digest_dir(t->root, "usr", sha256);
	return check_digest("usr", m->exposed_sha256, sha256, r, why) ?: bad;
}

/* ---- the trees of a store */

int store_list(const struct sysroot *root, const char *path, char ***ret_keys)
{
	_cleanup_strv_ char **names = NULL;
	int r = sysroot_list(root, path, &names);
	char **kept;

	if (r == -ENOENT || r == -ENOTDIR)
		names = calloc(1, sizeof(*names));
	else if (r < 0)
		return r;
	if (!names)
		return -ENOMEM;
	kept = names;
	for (char **name = names; *name; name++) {
		char *one = TAKE_PTR(*name);
		struct stat st;
		_cleanup_free_ char *below = NULL;

		if (folder_join(path, one, &below) == 0 && *one != '.' &&
		    sysroot_stat(root, below, &st) == 0 && S_ISDIR(st.st_mode))
			*kept++ = one;
		else
			free(one);
	}
	*ret_keys = TAKE_PTR(names);
	return 0;
}

int store_open(const struct sysroot *root, const char *path, const char *key, struct tree **ret,
	       struct verdicts *why)
{
	_cleanup_(tree_freep) struct tree *t = NULL;
	_cleanup_free_ char *below = NULL;
	int r = folder_join(path, key, &below);

	if (r == 0)
		r = tree_open(root, below, &t, why);
	if (r < 0)
		return r;
	if (strcmp(t->manifest.key, key)) {
		verdicts_no(why, REASON_TREE_INVALID, below, "its key is %s", t->manifest.key);
		return -EBADMSG;
	}
	*ret = TAKE_PTR(t);
	return 0;
}

static bool is_newer(const struct tree *a, const struct tree *b)
{
	int versions = strverscmp(a->manifest.version, b->manifest.version);
	struct stat sa, sb;

	if (versions || sysroot_stat(a->root, MANIFEST, &sa) < 0 ||
	    sysroot_stat(b->root, MANIFEST, &sb) < 0)
		return versions > 0;
	if (sa.st_mtim.tv_sec != sb.st_mtim.tv_sec)
		return sa.st_mtim.tv_sec > sb.st_mtim.tv_sec;
	return sa.st_mtim.tv_nsec > sb.st_mtim.tv_nsec;
}

/* What store_find has seen: the best that fits, and words for the rest. */
struct search {
	const char *kernel, *arch;
	struct tree *best;
	struct verdicts damaged;
	FILE *others;
};

static void consider(struct search *s, struct tree *t)
{
	const struct manifest *m = &t->manifest;

	if (strcmp(m->kernel, s->kernel) || strcmp(m->arch, s->arch)) {
		fprintf(s->others, "%s%s %s for %s %s", ftell(s->others) > 0 ? ", " : "", m->name,
			m->version, m->kernel, m->arch);
	} else if (!s->best || is_newer(t, s->best)) {
		struct tree *old = s->best;

		s->best = t;
		t = old;
	}
	tree_free(t);
}

static int search_store(struct search *s, const struct sysroot *root, const char *path)
{
	_cleanup_strv_ char **keys = NULL;
	int r = store_list(root, path, &keys);

	if (r < 0)
		return r;
	for (char **key = keys; *key; key++) {
		struct tree *t;

		if (store_open(root, path, *key, &t, &s->damaged) == 0)
			consider(s, t);
	}
	return 0;
}

static int find_in_store(const struct sysroot *root, const char *path, const char *kernel,
			 const char *arch, struct tree **ret, struct verdicts *why)
{
	struct search s = { .kernel = kernel, .arch = arch };
	_cleanup_free_ char *others = NULL;
	size_t len;
	int r;

	s.others = open_memstream(&others, &len);
	if (!s.others)
		return -ENOMEM;
	r = search_store(&s, root, path);
	if (fclose(s.others) != 0 && r == 0)
		r = -ENOMEM;
	if (r == 0 && s.best) {
		*ret = TAKE_PTR(s.best);
	} else if (r == 0) {
		for (size_t i = 0; i < s.damaged.n; i++)
			verdicts_no(why, s.damaged.v[i].why, s.damaged.v[i].object, "%s",
				    s.damaged.v[i].detail ?: "");
		verdicts_no(why, REASON_TREE_MISSING, path, "none for %s %s; there: %s", kernel,
			    arch, *others ? others : "none at all");
		r = -ENOENT;
	}
	tree_free(s.best);
	verdicts_clear(&s.damaged);
	return r;
}

static int find_here(const struct sysroot *root, const char *path, const char *kernel,
		     const char *arch, struct tree **ret, struct verdicts *why)
{
	_cleanup_(tree_freep) struct tree *t = NULL;
	int r = tree_open(root, path, &t, why);

	if (r < 0)
		return r;
	if (strcmp(t->manifest.arch, arch)) {
		verdicts_no(why, REASON_ARCH_MISMATCH, path, "a tree for %s, this is %s",
			    t->manifest.arch, arch);
		return -ENOEXEC;
	}
	if (strcmp(t->manifest.kernel, kernel)) {
		verdicts_no(why, REASON_VERMAGIC_MISMATCH, path, "a tree for %s, this is %s",
			    t->manifest.kernel, kernel);
		return -ENOEXEC;
	}
	*ret = TAKE_PTR(t);
	return 0;
}

int store_find(const struct sysroot *root, const char *path, const char *kernel, const char *arch,
	       struct tree **ret, struct verdicts *why)
{
	_cleanup_free_ char *manifest = NULL;
	int r = folder_join(path, MANIFEST, &manifest);

	if (r < 0)
		return r;
	if (sysroot_exists(root, manifest))
		return find_here(root, path, kernel, arch, ret, why);
	return find_in_store(root, path, kernel, arch, ret, why);
}

/* ---- into a store and out of it: under its lock */

int store_lock(const struct sysroot *root, const char *path)
{
	_cleanup_close_ int fd = sysroot_openat(root, path, O_RDONLY | O_DIRECTORY, 0);

	if (fd < 0)
		return fd;
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return -errno;
	return TAKE_FD(fd);
}

/*
 * Nobody else is at it, so these are of one that was killed. One that cannot be removed waits for
 * the next.
 */
static void remove_leftovers(const struct sysroot *root, const char *path)
{
	_cleanup_strv_ char **names = NULL;

	if (sysroot_list(root, path, &names) < 0)
		return;
	for (char **name = names; *name; name++) {
		_cleanup_free_ char *below = NULL;

		if (strncmp(*name, NEW, strlen(NEW)) && strncmp(*name, OLD, strlen(OLD)))
			continue;
		if (folder_join(path, *name, &below) == 0)
			(void)sysroot_remove(root, below);
	}
}

static int lock_and_clear(const struct sysroot *root, const char *path)
{
	int lock = store_lock(root, path);

	if (lock >= 0)
		remove_leftovers(root, path);
	return lock;
}

static bool is_there(const struct sysroot *root, const char *path, const struct tree *tree)
{
	_cleanup_verdicts_ struct verdicts unasked = { 0 };
	_cleanup_(tree_freep) struct tree *t = NULL;

	return store_open(root, path, tree->manifest.key, &t, &unasked) == 0 &&
	       !strcmp(t->digest, tree->digest);
}

/* Whole, and with the manifest of the tree in `from`. */
static bool is_same(const struct sysroot *root, const char *path, const char *from, const char *key)
{
	_cleanup_verdicts_ struct verdicts unasked = { 0 };
	_cleanup_(tree_freep) struct tree *t = NULL, *new = NULL;

	return store_open(root, path, key, &t, &unasked) == 0 &&
	       tree_open(root, from, &new, &unasked) == 0 && !strcmp(t->digest, new->digest) &&
	       tree_check(t, &unasked) == 0;
}

/* Names in the store's directory. Where the key is there already, it is never absent. */
static int exchange(int store, const char *new, const char *key, const char *old)
{
	if (renameat2(store, new, store, key, RENAME_EXCHANGE) == 0)
		return 0;
	if (errno != ENOENT && errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* It is not there; or the file system cannot exchange: then it is absent for a moment. */
	if (renameat(store, key, store, old) < 0 && errno != ENOENT)
		return -errno;
	return renameat(store, new, store, key) < 0 ? -errno : 0;
}

/* A directory can only be renamed over an empty one. `lock` is the store's directory too. */
static int put_in_place(const struct sysroot *root, const char *path, int lock, const char *key)
{
	_cleanup_free_ char *new = NULL, *old = NULL;
	int r;

	if (asprintf(&new, NEW "%s", key) < 0 || asprintf(&old, OLD "%s", key) < 0)
		return -ENOMEM;
	r = exchange(lock, new, key, old);
	remove_leftovers(root, path);
	return r;
}

int store_adopt(const struct sysroot *root, const char *path, const char *from, const char *key)
{
	_cleanup_close_ int lock = lock_and_clear(root, path);
	_cleanup_free_ char *new = NULL;
	int r;

	if (lock < 0)
		return lock;
	if (is_same(root, path, from, key))
		return 0;
	if (asprintf(&new, "%s/" NEW "%s", path, key) < 0)
		return -ENOMEM;
	r = sysroot_rename(root, from, new);
	return r < 0 ? r : put_in_place(root, path, lock, key);
}

static int copy_in(const struct sysroot *root, const char *path, int lock, const struct tree *tree)
{
	const char *key = tree->manifest.key;
	_cleanup_free_ char *copy = NULL;
	int r;

	if (asprintf(&copy, "%s/" NEW "%s", path, key) < 0)
		return -ENOMEM;
	r = sysroot_remove(root, copy);
	if (r == 0)
		r = folder_copy(tree->root, ".", root, copy);
	if (r < 0) {
		(void)sysroot_remove(root, copy);
		return r;
	}
	return put_in_place(root, path, lock, key);
}

int store_put(const struct sysroot *root, const char *path, const struct tree *tree,
	      struct tree **ret)
{
	_cleanup_verdicts_ struct verdicts unasked = { 0 };
	_cleanup_close_ int lock = -1;
	int r = sysroot_mkdirs(root, path, 0755);

	if (r < 0)
		return r;
	lock = lock_and_clear(root, path);
	if (lock < 0)
		return lock;
	if (!is_there(root, path, tree))
		r = copy_in(root, path, lock, tree);
	if (r == 0 && ret)
		r = store_open(root, path, tree->manifest.key, ret, &unasked);
	return r;
}

int store_drop(const struct sysroot *root, const char *path, const char *key)
{
	_cleanup_close_ int lock = lock_and_clear(root, path);
	_cleanup_free_ char *below = NULL, *dying = NULL;
	int r;

	if (lock < 0)
		return lock == -ENOENT ? 0 : lock;
	if (folder_join(path, key, &below) < 0 || asprintf(&dying, "%s/" OLD "%s", path, key) < 0)
		return -ENOMEM;
	r = sysroot_rename(root, below, dying);
	if (r == 0)
		r = sysroot_remove(root, dying);
	return r == -ENOENT ? 0 : r;
}
