/* SPDX-License-Identifier: Apache-2.0 */
#include "common/digest.h"

#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <string.h>

#include "common/sysroot.h"

enum { CHUNK = 64 << 10 };

struct digest {
	struct sha256_ctx sha;
};

int digest_new(struct digest **ret)
{
	struct digest *d = malloc(sizeof(*d));

	if (!d)
		return -ENOMEM;
	sha256_init(&d->sha);
	*ret = d;
	return 0;
}

struct digest *digest_free(struct digest *d)
{
	free(d);
	return NULL;
}

void digest_bytes(struct digest *d, const void *data, size_t len)
{
	sha256_update(&d->sha, len, data);
}

static void digest_length(struct digest *d, uint64_t len)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(len >> (8 * i));
	digest_bytes(d, bytes, sizeof(bytes));
}

void digest_part(struct digest *d, const char *name, const void *data, size_t len)
{
	digest_length(d, strlen(name));
	digest_bytes(d, name, strlen(name));
	digest_length(d, len);
	digest_bytes(d, data, len);
}

void digest_text(struct digest *d, char ret[static DIGEST_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t sum[SHA256_DIGEST_SIZE];

	sha256_digest(&d->sha, sizeof(sum), sum);
	for (size_t i = 0; i < sizeof(sum); i++) {
		ret[2 * i] = digits[sum[i] >> 4];
		ret[2 * i + 1] = digits[sum[i] & 15];
	}
	ret[2 * sizeof(sum)] = '\0';
}

int digest_of(const void *data, size_t len, char ret[static DIGEST_TEXT])
{
	_cleanup_(digest_freep) struct digest *d = NULL;
	int r = digest_new(&d);

	if (r < 0)
		return r;
	digest_bytes(d, data, len);
	digest_text(d, ret);
	return 0;
}

int digest_fd(int fd, char ret[static DIGEST_TEXT])
{
	_cleanup_free_ uint8_t *buf = malloc(CHUNK);
	struct digest d;
	ssize_t n;

	if (!buf)
		return -ENOMEM;
	sha256_init(&d.sha);
	do {
		n = read(fd, buf, CHUNK);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			digest_bytes(&d, buf, (size_t)n);
	} while (n != 0);
	digest_text(&d, ret);
	return 0;
}

static int digest_open(const struct sysroot *root, const char *path, int flags, struct stat *st,
		       char ret[static DIGEST_TEXT])
{
	_cleanup_close_ int fd =
		sysroot_openat(root, path, O_RDONLY | O_NOCTTY | O_NONBLOCK | flags, 0);

	if (fd < 0)
		return fd;
	if (fstat(fd, st) < 0)
		return -errno;
	if (!S_ISREG(st->st_mode))
		return S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
	return digest_fd(fd, ret);
}

int digest_file(const struct sysroot *root, const char *path, char ret[static DIGEST_TEXT])
{
	struct stat st;

	return digest_open(root, path, 0, &st, ret);
}

/* ---- directories */

struct walk {
	const struct sysroot *root;
	bool (*keep)(const char *name, bool is_dir); /* NULL: all */
	enum { CONTENT, STAT, STAT_SECONDS } of;
	struct digest sum;
};

static int add_value(struct walk *w, const char *name, const char *value)
{
	digest_part(&w->sum, name, value, strlen(value));
	return 0;
}

static int add_link(struct walk *w, const char *path, const char *name)
{
	_cleanup_free_ char *target = NULL, *value = NULL;
	int r = sysroot_readlink(w->root, path, &target);

	if (r < 0)
		return r;
	if (asprintf(&value, "link %s", target) < 0)
		return -ENOMEM;
	return add_value(w, name, value);
}

static int add_stat(struct walk *w, const struct stat *st, const char *name)
{
	_cleanup_free_ char *value = NULL;
	long fraction = w->of == STAT ? st->st_mtim.tv_nsec : 0;

	if (asprintf(&value, "%o %jd %jd.%09ld", st->st_mode, (intmax_t)st->st_size,
		     (intmax_t)st->st_mtim.tv_sec, fraction) < 0)
		return -ENOMEM;
	return add_value(w, name, value);
}

static int add_content(struct walk *w, const char *path, const char *name)
{
	char sum[DIGEST_TEXT], value[sizeof("program ") + DIGEST_TEXT];
	struct stat st;
	int r = digest_open(w->root, path, O_NOFOLLOW, &st, sum);

	if (r < 0)
		return r;
	(void)snprintf(value, sizeof(value), "%s %s", st.st_mode & 0100 ? "program" : "file", sum);
	return add_value(w, name, value);
}

static int add_dir(struct walk *w, const char *path, const char *name);

/* `name` is the path below the directory that is digested, `base` its last part. */
static int add_entry(struct walk *w, const char *path, const char *name, const char *base)
{
	_cleanup_close_ int fd = sysroot_openat(w->root, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (w->keep && !w->keep(base, S_ISDIR(st.st_mode)))
		return 0;
	if (S_ISLNK(st.st_mode))
		return add_link(w, path, name);
	if (S_ISDIR(st.st_mode))
		return add_dir(w, path, name);
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return w->of == CONTENT ? add_content(w, path, name) : add_stat(w, &st, name);
}

static int add_dir(struct walk *w, const char *path, const char *name)
{
	_cleanup_strv_ char **names = NULL;
	int r = sysroot_list(w->root, path, &names);

	for (char **n = names; r == 0 && *n; n++) {
		_cleanup_free_ char *at = NULL, *below = NULL;

		if (asprintf(&at, "%s/%s", path, *n) < 0 ||
		    asprintf(&below, "%s%s%s", name, *name ? "/" : "", *n) < 0)
			return -ENOMEM;
		r = add_entry(w, at, below, *n);
	}
	return r;
}

static int walk(struct walk *w, const char *path, char ret[static DIGEST_TEXT])
{
	int r;

	sha256_init(&w->sum.sha);
	r = add_dir(w, path, "");
	if (r == 0)
		digest_text(&w->sum, ret);
	return r;
}

int digest_dir(const struct sysroot *root, const char *path, char ret[static DIGEST_TEXT])
{
	return digest_dir_kept(root, path, NULL, ret);
}

int digest_dir_kept(const struct sysroot *root, const char *path,
		    bool (*keep)(const char *name, bool is_dir), char ret[static DIGEST_TEXT])
{
	return walk(&(struct walk){ .root = root, .keep = keep, .of = CONTENT }, path, ret);
}

int digest_dir_stat(const struct sysroot *root, const char *path,
		    bool (*keep)(const char *name, bool is_dir), bool whole_seconds,
		    char ret[static DIGEST_TEXT])
{
	struct walk w = { .root = root, .keep = keep, .of = whole_seconds ? STAT_SECONDS : STAT };

	return walk(&w, path, ret);
}
