/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/symvers.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "common/parse.h"
#include "kernel/modname.h"
#include "kernel/unpack.h"

enum { MAX_FILE = 64 << 20, MAX_LINE = 4096, MAX_FIELDS = 5 };

/* A line, its fields ended by NULs. */
struct line {
	char text[MAX_LINE + 1];
	char *field[MAX_FIELDS + 1];
	size_t n;
};

static void split(struct line *l)
{
	char *p = l->text;

	l->n = 0;
	do {
		l->field[l->n++] = p;
		p = strchr(p, '\t');
		if (p)
			*p++ = '\0';
	} while (p && l->n <= MAX_FIELDS);
}

static bool is_type(const struct line *l, size_t i)
{
	return i < l->n && strncmp(l->field[i], "EXPORT_", 7) == 0;
}

/* Which field is what, NULL where the layout has none. */
struct layout {
	char *module;
	const char *type, *ns;
};

static const char *lay_out(const struct line *l, struct layout *ret)
{
	if (l->n < 3 || l->n > MAX_FIELDS)
		return "a line has 3 to 5 columns";
	if (is_type(l, 3))
		*ret = (struct layout){ l->field[2], l->field[3], l->n == 5 ? l->field[4] : NULL };
	else if (is_type(l, 4))
		*ret = (struct layout){ l->field[3], l->field[4], l->field[2] };
	else if (l->n == 3 && !is_type(l, 2))
		*ret = (struct layout){ l->field[2], NULL, NULL };
	else
		return "no column with EXPORT_SYMBOL or EXPORT_SYMBOL_GPL";
	return NULL;
}

/* ".../ib-core" -> ib_core, in place */
static const char *owner_of(char *path)
{
	char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	modname_normalize(name);
	return name;
}

static bool ends_in_gpl(const char *type)
{
	size_t len = strlen(type);

	return len >= 4 && strcmp(type + len - 4, "_GPL") == 0;
}

/* What is wrong with the line, NULL if nothing is. */
static const char *parse_line(struct line *l, struct exported *ret)
{
	struct layout at;
	const char *wrong;
	uint64_t crc;

	split(l);
	wrong = lay_out(l, &at);
	if (wrong)
		return wrong;
	if (strncmp(l->field[0], "0x", 2) != 0 ||
	    parse_u64(l->field[0] + 2, 16, 0, UINT32_MAX, &crc) < 0)
		return "the first column is no CRC like 0x1234abcd";
	*ret = (struct exported){
		.name = l->field[1],
		.owner = owner_of(at.module),
		.crc = (uint32_t)crc,
		.has_crc = crc != 0,
		.gpl = at.type && ends_in_gpl(at.type),
		.gpl_known = at.type != NULL,
		.ns = at.ns && *at.ns ? at.ns : NULL,
	};
	return *ret->name && *ret->owner ? NULL : "an empty symbol or module";
}

static const char *take_line(struct line *l, const char *text, size_t len)
{
	if (len > MAX_LINE)
		return "the line is longer than 4096 bytes";
	if (memchr(text, '\0', len))
		return "a NUL in the line";
	memcpy(l->text, text, len);
	l->text[len] = '\0';
	return NULL;
}

static int bad_line(const char *name, size_t n, const char *wrong, struct verdicts *why)
{
	_cleanup_free_ char *object = NULL;

	if (asprintf(&object, "%s:%zu", name, n) < 0)
		return -ENOMEM;
	verdicts_no(why, REASON_SYMVERS_INVALID, object, "%s", wrong);
	return -EBADMSG;
}

int symvers_parse(const char *text, size_t len, const char *name, struct exports *ex,
		  struct verdicts *why)
{
	const char *end = text + len;
	struct line l;
	int r = 0;

	for (size_t n = 1; r == 0 && text < end; n++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t line_len = (size_t)((newline ? newline : end) - text);
		struct exported e;
		const char *wrong = take_line(&l, text, line_len);

		if (!wrong)
			wrong = parse_line(&l, &e);
		if (wrong)
			return bad_line(name, n, wrong, why);
		r = exports_add(ex, &e);
		if (r == 0 && strcmp(e.owner, "vmlinux") == 0)
			exports_set_complete(ex);
		text = newline ? newline + 1 : end;
	}
	return r;
}

static int parse_fd(int fd, const char *name, struct exports *ex, struct verdicts *why)
{
	struct stat st;
	void *text;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size == 0)
		return 0;
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return -errno;
	r = symvers_parse(text, (size_t)st.st_size, name, ex, why);
	(void)munmap(text, (size_t)st.st_size);
	return r;
}

static int open_list(const struct sysroot *root, const char *path, int *ret_fd)
{
	_cleanup_close_ int fd = sysroot_open_file(root, path, NULL);

	return fd < 0 ? fd : unpack(fd, MAX_FILE, ret_fd, NULL);
}

int symvers_read(const struct sysroot *root, const char *path, struct exports *ex,
		 struct verdicts *why)
{
	_cleanup_close_ int fd = -1;
	int r = open_list(root, path, &fd);

	if (r == -EBADMSG || r == -EISDIR || r == -EINVAL)
		verdicts_no(why, REASON_SYMVERS_INVALID, path,
			    "not a file, or damaged where it is packed");
	else if (r == -EFBIG)
		verdicts_no(why, REASON_SYMVERS_INVALID, path, "larger than %d MiB",
			    MAX_FILE >> 20);
	else if (r < 0)
		verdicts_no(why, REASON_SYSTEM, path, "%s", strerror(-r));
	return r < 0 ? r : parse_fd(fd, path, ex, why);
}

int symvers_read_kernel(const struct sysroot *root, const char *release, struct exports *ex,
			struct verdicts *why)
{
	static const struct {
		const char *before, *after;
	} places[] = {
		{ "lib/modules/", "/build/Module.symvers" },
		{ "usr/src/linux-headers-", "/Module.symvers" },
		{ "lib/modules/", "/symvers.gz" },
		{ "lib/modules/", "/symvers.xz" },
		{ "lib/modules/", "/symvers.zst" },
		{ "boot/symvers-", ".gz" },
		{ "boot/symvers-", ".xz" },
		{ "boot/symvers-", ".zst" },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s%s%s", places[i].before, release, places[i].after) < 0)
			return -ENOMEM;
		if (sysroot_exists(root, path))
			return symvers_read(root, path, ex, why);
	}
	return -ENOENT;
}
