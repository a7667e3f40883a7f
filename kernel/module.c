/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/module.h"

#include <arpa/inet.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel/arena.h"
#include "kernel/elf.h"
#include "kernel/modinfo.h"
#include "kernel/modname.h"
#include "kernel/symtab.h"
#include "kernel/unpack.h"

enum { MAX_SIZE = 512 << 20, MAX_NAME = 56 /* MODULE_NAME_LEN */ };

struct module {
	char *path;
	int fd;
	struct arena text;
	struct module_info info;
	struct import *imports;
	struct export *exports;
	size_t n_imports, n_exports;
};

/* The bytes of a module file while it is read. */
struct image {
	int fd;
	uint8_t *data;
	size_t len;
	struct elf elf;
};

static void image_clear(struct image *img)
{
	if (img->data)
		(void)munmap(img->data, img->len);
	closep(&img->fd);
}

/* ---- the parts */

/*
 * Before 4.13 there is no name= in modinfo: struct module begins with a state, a list head and the
 * name.
 */
static int read_name(struct module *m, const struct image *img)
{
	size_t at = img->elf.bits == 64 ? 24 : 12;
	struct elf_section s;
	char *name;

	if (!m->info.name) {
		if (elf_section(&img->elf, ".gnu.linkonce.this_module", &s) < 0 ||
		    s.len < at + MAX_NAME || !memchr(s.data + at, '\0', MAX_NAME))
			return -EBADMSG;
		m->info.name = arena_text(&m->text, (const char *)s.data + at,
					  strlen((const char *)s.data + at));
	}
	if (!m->info.name)
		return -ENOMEM;
	if (!*m->info.name || strlen(m->info.name) >= MAX_NAME || strpbrk(m->info.name, "/ \t\n"))
		return -EBADMSG;
	name = arena_text(&m->text, m->info.name, strlen(m->info.name));
	if (!name)
		return -ENOMEM;
	modname_normalize(name);
	m->info.name = name;
	return 0;
}

/*
 * The module's bytes, then the signature, then struct module_signature (12 bytes, the last four its
 * length), then these.
 */
static int read_signature(const struct image *img, bool *ret)
{
	static const char magic[] = "~Module signature appended~\n";
	size_t end = img->len, magic_len = sizeof(magic) - 1, trailer = 12;
	uint32_t len;

	if (end < magic_len || memcmp(img->data + end - magic_len, magic, magic_len) != 0) {
		*ret = false;
		return 0;
	}
	end -= magic_len;
	if (end < trailer)
		return -EBADMSG;
	memcpy(&len, img->data + end - sizeof(len), sizeof(len));
	if (ntohl(len) > end - trailer)
		return -EBADMSG;
	*ret = true;
	return 0;
}

static int read_info(struct module *m, const struct image *img)
{
	struct module_info *info = &m->info;
	int r = modinfo_read(img->fd, &m->text, info);

	if (r == 0)
		r = read_name(m, img);
	info->machine = img->elf.machine;
	(void)elf_note_hex(&img->elf, ".note.gnu.build-id", NT_GNU_BUILD_ID, info->id.build_id,
			   sizeof(info->id.build_id));
	return r;
}

static bool has(const struct elf *elf, const char *section)
{
	struct elf_section s;

	return elf_section(elf, section, &s) == 0 && s.len > 0;
}

/* The parts of a module in turn; ret_what says of which one a failure is. */
static int read_parts(struct module *m, struct image *img, const char **ret_what)
{
	struct module_info *info = &m->info;
	int r;

	*ret_what = "not an ELF object file, or cut off";
	r = elf_parse(img->data, img->len, &img->elf);
	if (r < 0)
		return r;
	*ret_what = "not a kernel module";
	if (!has(&img->elf, ".gnu.linkonce.this_module") || !has(&img->elf, ".modinfo"))
		return -EBADMSG;
	*ret_what = "the signature at its end is damaged";
	r = read_signature(img, &info->is_signed);
	if (r < 0)
		return r;
	*ret_what = "modinfo is damaged";
	r = read_info(m, img);
	if (r < 0)
		return r;
	*ret_what = "its symbols are damaged";
	r = symtab_imports(&img->elf, &m->text, &m->imports, &m->n_imports, &info->has_versions);
	if (r == 0)
		r = symtab_exports(&img->elf, &m->text, &m->exports, &m->n_exports);
	return r;
}

/* ---- opening */

static int image_open(int file, struct image *ret, bool *ret_packed)
{
	struct stat st;
	int r = unpack(file, MAX_SIZE, &ret->fd, ret_packed);

	if (r < 0)
		return r;
	if (fstat(ret->fd, &st) < 0)
		return -errno;
	if (st.st_size == 0)
		return -EBADMSG;
	ret->data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, ret->fd, 0);
	if (ret->data == MAP_FAILED) {
		ret->data = NULL;
		return -errno;
	}
	ret->len = (size_t)st.st_size;
	return 0;
}

static int read_module(struct module *m, const struct sysroot *root, const char **ret_what)
{
	_cleanup_(image_clear) struct image img = { .fd = -1 };
	bool packed;
	int r;

	*ret_what = "not a file";
	m->fd = sysroot_open_file(root, m->path, NULL);
	if (m->fd < 0)
		return m->fd == -EISDIR || m->fd == -EINVAL ? -EBADMSG : m->fd;
	*ret_what = "empty, or damaged where it is packed";
	r = image_open(m->fd, &img, &packed);
	if (r == 0)
		r = read_parts(m, &img, ret_what);
	if (r < 0)
		return r;
	/*
	 * Security modules look at the file that a module is loaded from: the file itself where
	 * possible.
	 */
	if (packed) {
		closep(&m->fd);
		m->fd = TAKE_FD(img.fd);
	}
	return 0;
}

int module_open(const struct sysroot *root, const char *path, struct module **ret,
		struct verdicts *why)
{
	_cleanup_(module_freep) struct module *m = calloc(1, sizeof(*m));
	const char *what = NULL;
	int r = -ENOMEM;

	if (m) {
		m->fd = -1;
		m->path = strdup(path);
		r = m->path ? read_module(m, root, &what) : -ENOMEM;
	}
	if (r == -EBADMSG)
		verdicts_no(why, REASON_MODULE_INVALID, path, "%s", what);
	else if (r == -EFBIG)
		verdicts_no(why, REASON_MODULE_INVALID, path, "larger than %d MiB", MAX_SIZE >> 20);
	else if (r < 0)
		verdicts_no(why, REASON_SYSTEM, path, "%s", strerror(-r));
	else
		*ret = TAKE_PTR(m);
	return r;
}

struct module *module_free(struct module *m)
{
	if (m) {
		free(m->path);
		closep(&m->fd);
		strv_free(m->info.depends);
		strv_free(m->info.softdeps);
		strv_free(m->info.namespaces);
		free(m->imports);
		free(m->exports);
		arena_clear(&m->text);
		free(m);
	}
	return NULL;
}

const struct module_info *module_info(const struct module *m)
{
	return &m->info;
}

const char *module_path(const struct module *m)
{
	return m->path;
}

const struct import *module_imports(const struct module *m, size_t *ret_n)
{
	*ret_n = m->n_imports;
	return m->imports;
}

const struct export *module_exports(const struct module *m, size_t *ret_n)
{
	*ret_n = m->n_exports;
	return m->exports;
}

int module_fd(const struct module *m)
{
	return m->fd;
}
