/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module.symvers: lines of CRC, symbol, module, export type and namespace between tabs
 * (Documentation/kbuild/modules.rst, scripts/mod/modpost.c write_dump). Layouts through the years,
 * told apart by where EXPORT_... stands:
 *   crc symbol module                          before 2.6.17
 *   crc symbol module EXPORT_X                 to 5.3, and where no namespace column is written
 *   crc symbol namespace module EXPORT_X       5.4 to 5.7
 *   crc symbol module EXPORT_X namespace       5.8 and later
 * CRC 0 means that the symbol has none. The module is a path without .ko; its last part is the
 * owner's name, with underscores. Packed ones (lib/modules/K/symvers.gz, .xz, .zst on RHEL) are
 * unpacked.
 */
#pragma once

#include "common/sysroot.h"
#include "common/verdict.h"
#include "kernel/exports.h"

/*
 * `name` is for messages. A line that is none of the above, longer than 4 KiB or with a NUL in it:
 * -EBADMSG and a verdict SYMVERS_INVALID of "NAME:LINE"; ex is then to be thrown away. A list that
 * has symbols of vmlinux makes ex complete.
 */
int symvers_parse(const char *text, size_t len, const char *name, struct exports *ex,
		  struct verdicts *why);
/* Also -errno of the file (a SYSTEM verdict) and -EFBIG: more than 64 MiB. */
int symvers_read(const struct sysroot *root, const char *path, struct exports *ex,
		 struct verdicts *why);
/*
 * The running kernel's own: lib/modules/K/build/Module.symvers,
 * usr/src/linux-headers-K/Module.symvers, lib/modules/K/symvers or boot/symvers-K packed (RHEL):
 * whichever is there first. -ENOENT: none, which is no error: many nodes have none, and fit then
 * says "unknown" where it has no other evidence.
 */
int symvers_read_kernel(const struct sysroot *root, const char *release, struct exports *ex,
			struct verdicts *why);
