/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel's build directory below the node's root: what `make -C` is given to build modules for
 * it, and what it says of that kernel. Found at
 *
 *   lib/modules/KERNEL/build                 all distributions, a link mostly, often absolute
 *   usr/src/linux-headers-KERNEL             Debian, Ubuntu
 *   usr/src/kernels/KERNEL                   RHEL, Rocky, Fedora
 *   usr/src/linux-VERSION-obj/ARCH/FLAVOUR   SLES
 *
 * Its source is elsewhere if it was configured with O= (Debian: linux-headers-*-common; SLES):
 * where its link `source` leads, or the Makefile that its own includes is; else
 * lib/modules/KERNEL/source; else there is one directory for both.
 *
 * Nothing is written there. Where the node's root is not this process's own, links and includes
 * in it that are absolute lead nowhere for make: headers_shadow makes a directory that leads to
 * the same files.
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
/*
 * Only the two digests that tell whether a tree was built against these: the same search, no
 * verdicts. -ENOENT: no headers. Texts need not be kept.
 */
int headers_digests(const struct sysroot *root, const char *kernel, const char *given,
		    char ret_config[static 65], char ret_symvers[static 65]);
/* Where they are, below root; -ENOENT. */
int headers_where(const struct sysroot *root, const char *kernel, const char *given,
		  char **ret_path_below_root);
void headers_clear(struct headers *h);
#define _cleanup_headers_ _cleanup_(headers_clear)

/*
 * Where root is "/": nothing is done. Else makes DIR/headers and DIR/sources (one, if they are
 * one) with a link for each entry of the real ones, resolved below root, and a Makefile whose
 * absolute include is; h->path and h->sources are then these. dir: a directory of the build.
 */
int headers_shadow(const struct sysroot *root, struct headers *h, const struct sysroot *dir);

/*
 * The programs that kbuild runs out of the headers (scripts/basic/fixdep, scripts/mod/modpost,
 * scripts/genksyms/genksyms or scripts/gendwarfksyms/gendwarfksyms with CONFIG_MODVERSIONS where it
 * is there, objtool with CONFIG_OBJTOOL or CONFIG_STACK_VALIDATION; where one only chooses between
 * NAME.real-*, as Debian's do, those too): made for the machine that the kernel was built on,
 * they need an interpreter and a libc as new as theirs. Not there, of another architecture, or not
 * to be started here: -ENOEXEC, HOST_PROGRAM_UNUSABLE naming each with what it lacks. Starts them
 * (LD_TRACE_LOADED_OBJECTS): call it in a cage.
 */
int headers_check_programs(const struct headers *h, struct verdicts *why);
