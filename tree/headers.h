/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel's build directory below the node's root: what `make -C` is given to build modules for
 * it, and what it says of that kernel. Found at
 *
 *   lib/modules/KERNEL/build                 all distributions, a link mostly, often absolute
 *   usr/src/linux-headers-KERNEL             Debian, Ubuntu
 *   usr/src/kernels/KERNEL                   RHEL, Rocky, Fedora
 *   usr/src/linux-VERSION-obj/ARCH/FLAVOUR   SLES; of its azure and rt: linux-KERNEL-obj
 *
 * Its source is elsewhere if it was configured with O= (Debian: linux-headers-*-common; SLES):
 * where its link `source` leads, or the Makefile that its own includes is; else
 * lib/modules/KERNEL/source; else there is one directory for both.
 *
 * Nothing is written there. A build in another root than the node's reads them by their shadow
 * (shadow.h).
 */
#pragma once

#include "common/sysroot.h"
#include "common/verdict.h"
#include "tree/kconfig.h"

struct headers {
	char *path;     /* absolute, without links, as this process sees it */
	char *sources;  /* as well: the source that it was configured from */
	char *compiler; /* CONFIG_CC_VERSION_TEXT; NULL: not told */
	struct kconfig config;
	char symvers_sha256[65]; /* of Module.symvers; empty: there is none */
};

/*
 * root: the node's. given: the directory below it; NULL: as above. All in why:
 * none with a Makefile and a .config: -ENOENT, HEADERS_MISSING with where it was looked for and the
 * package that has them (by the node's etc/os-release);
 * of another release than kernel (include/generated/utsrelease.h, include/config/kernel.release):
 * -ENOEXEC, VERMAGIC_MISMATCH; of another architecture than arch (uname's): ARCH_MISMATCH.
 */
int headers_find(const struct sysroot *root, const char *kernel, const char *arch,
		 const char *given, struct headers *ret, struct verdicts *why);
/* Where they are, below root; -ENOENT. */
int headers_where(const struct sysroot *root, const char *kernel, const char *given,
		  char **ret_path_below_root);
void headers_clear(struct headers *h);
#define _cleanup_headers_ _cleanup_(headers_clear)
