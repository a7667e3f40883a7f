/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections and symbols of a relocatable ELF file in memory (System V gABI, chapters 4 and 5),
 * every offset checked against its length: what libkmod does not tell of a module is read here. 64
 * and 32 bit, the byte order of this machine only. elf_parse asks for what the kernel asks for
 * (elf_validity_cache_copy() in kernel/module/main.c).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct elf_section {
	const char *name;
	const uint8_t *data;
	size_t len; /* 0 for what takes no room in the file (SHT_NOBITS) */
	uint64_t addr;
};

struct elf {
	const uint8_t *data;
	size_t len;
	uint16_t machine;  /* EM_X86_64 ... */
	unsigned int bits; /* 32 or 64 */
	uint64_t shoff;
	unsigned int shnum, shstrndx;
	struct elf_section symtab, strtab; /* empty if there is none */
};

struct elf_symbol {
	const char *name; /* "" if it has none */
	uint64_t value;
	/* SHN_UNDEF, SHN_ABS, or the index of the section that value is an offset into */
	uint16_t section;
	uint8_t bind; /* STB_LOCAL, STB_GLOBAL, STB_WEAK */
};

/* -EBADMSG: not a relocatable ELF file, or cut off. The memory stays the caller's. */
int elf_parse(const void *data, size_t len, struct elf *ret);
/* -ENOENT: no such section. */
int elf_section(const struct elf *elf, const char *name, struct elf_section *ret);
int elf_section_at(const struct elf *elf, unsigned int i, struct elf_section *ret);
/* The i-th symbol, from 0; -ENOENT behind the last one, -EBADMSG: its name lies outside. */
int elf_symbol(const struct elf *elf, size_t i, struct elf_symbol *ret);
size_t elf_symbol_count(const struct elf *elf);
/*
 * The descriptor of the note `type` of owner "GNU" in section `name` as hex; -ENOENT, or -ENOSPC if
 * ret is too short.
 */
int elf_note_hex(const struct elf *elf, const char *section, uint32_t type, char *ret, size_t size);
/* The same for the bytes of a note section alone (sys/module/M/notes/..., sys/kernel/notes). */
int note_hex(const void *data, size_t len, uint32_t type, char *ret, size_t size);
/*
 * What this machine loads: EM_X86_64 for "x86_64", EM_AARCH64 for "aarch64"...; 0 for a name that
 * is not known.
 */
uint16_t elf_machine_of(const char *machine);
