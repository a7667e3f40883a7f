/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as an ELF file, and as notes: what is accepted can be read to its last byte. */
#include <string.h>

#include "kernel/elf.h"

/* ASan sees a read outside. */
static void touch(const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		(void)*((const volatile uint8_t *)data + i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_section section;
	struct elf_symbol symbol;
	struct elf elf;
	char hex[65];

	(void)note_hex(data, size, 3, hex, sizeof(hex));
	if (elf_parse(data, size, &elf) < 0)
		return 0;
	for (unsigned int i = 0; i <= elf.shnum; i++) {
		if (elf_section_at(&elf, i, &section) < 0)
			continue;
		touch(section.name, strlen(section.name));
		touch(section.data, section.len);
	}
	for (size_t i = 0; i <= elf_symbol_count(&elf); i++) {
		if (elf_symbol(&elf, i, &symbol) == 0)
			touch(symbol.name, strlen(symbol.name));
	}
	(void)elf_note_hex(&elf, ".note.gnu.build-id", 3, hex, sizeof(hex));
	return 0;
}
