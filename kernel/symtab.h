/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a module's ELF file says of symbols: which it leaves to others and with which CRCs, and
 * which it exports.
 *
 * Imports: undefined symbols of .symtab. Their CRCs: __versions, entries of 64 bytes { unsigned
 * long crc; char name[] }, and the extended table of 6.14+, __version_ext_crcs (u32 each) beside
 * __version_ext_names (texts with NULs between). Exports: labels __ksymtab_NAME, in section
 * __ksymtab_gpl for GPL-only ones, or with bit 0 in the byte that __flags_NAME in __kflagstab
 * points at (kernels that no longer have __ksymtab_gpl); their CRC: __crc_NAME, the value itself if
 * it is absolute, else a word in __kcrctab (5.19+); their namespace: __kstrtabns_NAME, in
 * __ksymtab_strings. (include/linux/export*.h)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernel/arena.h"
#include "kernel/elf.h"
#include "kernel/module.h"

/*
 * Sorted by name, names in `names`; the array is to be freed. -EBADMSG: a name or a table reaches
 * outside; -ENOMEM. ret_versions: whether there is a table of CRCs; then module_layout is among the
 * imports if the table has it.
 */
int symtab_imports(const struct elf *elf, struct arena *names, struct import **ret, size_t *ret_n,
		   bool *ret_versions);
int symtab_exports(const struct elf *elf, struct arena *names, struct export **ret, size_t *ret_n);
