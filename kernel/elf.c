/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/elf.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

/* A section header of either class. */
struct header {
	uint32_t name, type, link;
	uint64_t addr, offset, size, entsize;
};

#define START(h, b)                              \
	((struct elf){ .data = data,             \
		       .len = len,               \
		       .machine = (h).e_machine, \
		       .bits = (b),              \
		       .shoff = (h).e_shoff,     \
		       .shnum = (h).e_shnum,     \
		       .shstrndx = (h).e_shstrndx })

#define HEADER(h)                                                                            \
	((struct header){ (h).sh_name, (h).sh_type, (h).sh_link, (h).sh_addr, (h).sh_offset, \
			  (h).sh_size, (h).sh_entsize })

static size_t header_size(const struct elf *elf)
{
	return elf->bits == 64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

static size_t symbol_size(const struct elf *elf)
{
	return elf->bits == 64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

static struct header header_at(const struct elf *elf, unsigned int i)
{
	const uint8_t *p = elf->data + elf->shoff + i * header_size(elf);
	Elf64_Shdr h64;
	Elf32_Shdr h32;

	if (elf->bits == 64) {
		memcpy(&h64, p, sizeof(h64));
		return HEADER(h64);
	}
	memcpy(&h32, p, sizeof(h32));
	return HEADER(h32);
}

/* The file's first bytes; what is asked of e_shoff and e_shnum is in parse_table. */
static int parse_start(const void *data, size_t len, struct elf *ret)
{
	const uint8_t *ident = data;
	uint16_t type, header;
	Elf64_Ehdr h64;
	Elf32_Ehdr h32;

	if (len <= sizeof(h64) || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return -EBADMSG;
	if (ident[EI_DATA] != (BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
		return -EBADMSG;
	if (ident[EI_CLASS] == ELFCLASS64) {
		memcpy(&h64, data, sizeof(h64));
		type = h64.e_type;
		header = h64.e_shentsize;
		*ret = START(h64, 64);
	} else if (ident[EI_CLASS] == ELFCLASS32) {
		memcpy(&h32, data, sizeof(h32));
		type = h32.e_type;
		header = h32.e_shentsize;
		*ret = START(h32, 32);
	} else {
		return -EBADMSG;
	}
	return type == ET_REL && header == header_size(ret) ? 0 : -EBADMSG;
}

static bool inside(const struct elf *elf, const struct header *h)
{
	return h->type == SHT_NOBITS || (h->offset <= elf->len && h->size <= elf->len - h->offset);
}

static bool is_text(const struct elf *elf, const struct header *h)
{
	return h->type == SHT_STRTAB && h->size > 0 && elf->data[h->offset + h->size - 1] == '\0';
}

static int parse_table(const struct elf *elf)
{
	struct header names;

	if (elf->shoff >= elf->len || elf->shnum * header_size(elf) > elf->len - elf->shoff)
		return -EBADMSG;
	for (unsigned int i = 1; i < elf->shnum; i++) {
		struct header h = header_at(elf, i);

		if (!inside(elf, &h))
			return -EBADMSG;
	}
	if (elf->shstrndx == SHN_UNDEF || elf->shstrndx >= elf->shnum)
		return -EBADMSG;
	names = header_at(elf, elf->shstrndx);
	if (!is_text(elf, &names))
		return -EBADMSG;
	for (unsigned int i = 1; i < elf->shnum; i++) {
		if (header_at(elf, i).name >= names.size)
			return -EBADMSG;
	}
	return 0;
}

static int parse_symtab(struct elf *elf)
{
	for (unsigned int i = 1; i < elf->shnum; i++) {
		struct header h = header_at(elf, i), text;

		if (h.type != SHT_SYMTAB)
			continue;
		if (elf->symtab.len || h.entsize != symbol_size(elf) || h.size % h.entsize ||
		    h.link == SHN_UNDEF || h.link >= elf->shnum)
			return -EBADMSG;
		text = header_at(elf, h.link);
		if (!is_text(elf, &text))
			return -EBADMSG;
		(void)elf_section_at(elf, i, &elf->symtab);
		(void)elf_section_at(elf, h.link, &elf->strtab);
	}
	return 0;
}

int elf_parse(const void *data, size_t len, struct elf *ret)
{
	struct elf elf;
	int r = parse_start(data, len, &elf);

	if (r == 0)
		r = parse_table(&elf);
	if (r == 0)
		r = parse_symtab(&elf);
	if (r == 0)
		*ret = elf;
	return r;
}

int elf_section_at(const struct elf *elf, unsigned int i, struct elf_section *ret)
{
	struct header h, names;

	if (i == SHN_UNDEF || i >= elf->shnum)
		return -ENOENT;
	h = header_at(elf, i);
	names = header_at(elf, elf->shstrndx);
	*ret = (struct elf_section){
		.name = (const char *)elf->data + names.offset + h.name,
		.data = elf->data + (h.type == SHT_NOBITS ? 0 : h.offset),
		.len = h.type == SHT_NOBITS ? 0 : h.size,
		.addr = h.addr,
	};
	return 0;
}

int elf_section(const struct elf *elf, const char *name, struct elf_section *ret)
{
	struct elf_section s;

	for (unsigned int i = 1; elf_section_at(elf, i, &s) == 0; i++) {
		if (strcmp(s.name, name) == 0) {
			*ret = s;
			return 0;
		}
	}
	return -ENOENT;
}

size_t elf_symbol_count(const struct elf *elf)
{
	return elf->symtab.len / symbol_size(elf);
}

int elf_symbol(const struct elf *elf, size_t i, struct elf_symbol *ret)
{
	const uint8_t *p;
	struct elf_symbol s;
	uint32_t name;
	Elf64_Sym s64;
	Elf32_Sym s32;

	if (i >= elf_symbol_count(elf))
		return -ENOENT;
	p = elf->symtab.data + i * symbol_size(elf);
	if (elf->bits == 64) {
		memcpy(&s64, p, sizeof(s64));
		name = s64.st_name;
		s = (struct elf_symbol){ .value = s64.st_value,
					 .section = s64.st_shndx,
					 .bind = ELF64_ST_BIND(s64.st_info) };
	} else {
		memcpy(&s32, p, sizeof(s32));
		name = s32.st_name;
		s = (struct elf_symbol){ .value = s32.st_value,
					 .section = s32.st_shndx,
					 .bind = ELF32_ST_BIND(s32.st_info) };
	}
	if (name >= elf->strtab.len)
		return -EBADMSG;
	s.name = (const char *)elf->strtab.data + name;
	*ret = s;
	return 0;
}

static int to_hex(const uint8_t *data, size_t len, char *ret, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	if (size < 1 || (size - 1) / 2 < len)
		return -ENOSPC;
	for (size_t i = 0; i < len; i++) {
		*ret++ = digits[data[i] >> 4];
		*ret++ = digits[data[i] & 15];
	}
	*ret = '\0';
	return 0;
}

int note_hex(const void *data, size_t len, uint32_t type, char *ret, size_t size)
{
	const uint8_t *p = data;
	Elf32_Nhdr note; /* both classes have the same */

	while (len >= sizeof(note)) {
		uint64_t name, desc;

		memcpy(&note, p, sizeof(note));
		p += sizeof(note);
		len -= sizeof(note);
		name = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
		desc = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
		if (name > len || note.n_descsz > len - name)
			return -ENOENT;
		if (note.n_type == type && note.n_namesz == 4 && memcmp(p, "GNU", 4) == 0)
			return to_hex(p + name, note.n_descsz, ret, size);
		if (desc > len - name) /* the last one's padding may be missing */
			return -ENOENT;
		p += name + desc;
		len -= name + desc;
	}
	return -ENOENT;
}

int elf_note_hex(const struct elf *elf, const char *section, uint32_t type, char *ret, size_t size)
{
	struct elf_section s;
	int r = elf_section(elf, section, &s);

	return r < 0 ? r : note_hex(s.data, s.len, type, ret, size);
}

uint16_t elf_machine_of(const char *machine)
{
	static const struct {
		const char *name;
		uint16_t machine;
	} known[] = {
		{ "x86_64", EM_X86_64 }, { "aarch64", EM_AARCH64 },
		{ "ppc64le", EM_PPC64 }, { "ppc64", EM_PPC64 },
		{ "s390x", EM_S390 },    { "riscv64", EM_RISCV },
		{ "i686", EM_386 },      { "loongarch64", EM_LOONGARCH },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(known[i].name, machine) == 0)
			return known[i].machine;
	}
	return 0;
}
