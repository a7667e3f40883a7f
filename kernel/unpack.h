/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file holds, in a sealed memfd that nobody can change or cut off any more: unpacked if it
 * is packed, told by its magic (gzip: RFC 1952, xz: xz-file-format.txt, zstd: RFC 8878; several
 * members or frames in a row too), else copied.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * From the start of `fd`, a regular file. ret_fd is read-only, as finit_module(2) wants it.
 * -EBADMSG: damaged or cut off; -EFBIG: more than max bytes; ret_packed (may be NULL): whether it
 * was packed.
 */
int unpack(int fd, uint64_t max, int *ret_fd, bool *ret_packed);
