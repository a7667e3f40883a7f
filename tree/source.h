/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver's source: a directory, but for what an earlier build or git left in it (*.o, *.ko,
 * *.mod, *.mod.c, .*.cmd, .*.o.d, modules.order, Module.symvers, .tmp_versions, .git): stale
 * objects are neither copied, so that none is linked (OFED builds with KBUILD_NOCMDDEP), nor part
 * of the digest.
 *
 * Reading all of a source takes longer than all else at the start of a container, so an image's
 * pipeline may note the digest in the source itself (.gdrkit-source): it holds as long as path,
 * type, mode, size and mtime of every file are what they were. Layers of an image cut fractions of
 * seconds off mtimes: off all of them is no change.
 */
#pragma once

#include "common/sysroot.h"

/* dst is made; its owner may write all of it. */
int source_copy(const struct sysroot *from, const char *source, const struct sysroot *to,
		const char *dst);
/* As digest_dir: paths, x bits, contents, links by their target. Noted and still true, or read. */
int source_digest(const struct sysroot *root, const char *source, char ret[static 65]);
/* Notes it in the source. */
int source_note(const struct sysroot *root, const char *source, char ret[static 65]);
