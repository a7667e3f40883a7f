/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module file, opened, unpacked and read once: everything that `fit` judges and all that
 * finit_module(2) needs, so that nothing is left to read when modules move. .ko, .ko.gz, .ko.xz and
 * .ko.zst: packed ones are unpacked into a sealed memfd.
 *
 * modinfo and the signature's words come from libkmod (kernel/modinfo), which sees a file only once
 * elf_parse has found it whole (damaged ones make libkmod 30 abort). Symbols come from
 * kernel/symtab: libkmod tells neither licence class nor namespace of an export, nor the extended
 * CRCs of 6.14+.
 *
 * Formats: kernel/module/internal.h and scripts/mod/modpost.c of the kernel (modinfo, __versions,
 * __ksymtab, __kcrctab), include/linux/module_signature.h (trailer).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/sysroot.h"
#include "common/verdict.h"
#include "kernel/identity.h"

struct module;

struct import {
	const char *name;
	uint32_t crc;
	bool has_crc, weak;
};

struct export
{
	const char *name;
	uint32_t crc;
	bool has_crc, gpl;
	const char *ns; /* NULL: none */
};

struct module_info {
	const char *name;                         /* with underscores, as in /proc/modules */
	const char *version, *vermagic, *license; /* NULL where the module does not say */
	struct identity id;
	uint16_t machine;              /* ELF e_machine */
	char **depends;                /* names; NULL-ended, never NULL itself */
	char **softdeps;               /* `pre:` names; likewise */
	char **namespaces;             /* imported; likewise */
	bool gpl_compatible;           /* kernel: license_is_gpl_compatible() */
	bool has_versions;             /* carries CRCs of its imports */
	bool is_signed;                /* a signature is appended */
	const char *signer, *sig_hash; /* as far as libkmod can tell (built with OpenSSL); NULL */
};

/*
 * `path` below root. On failure one verdict in why (MODULE_INVALID: truncated, not ELF, not a
 * module; SYSTEM: not to be read) and -errno (-ENOENT, -EBADMSG, -EFBIG for more than 512 MiB...).
 * A file of another architecture opens: fit_judge says ARCH_MISMATCH.
 */
int module_open(const struct sysroot *root, const char *path, struct module **ret,
		struct verdicts *why);
struct module *module_free(struct module *m);
DEFINE_CLEANUP(struct module, module_free);

const struct module_info *module_info(const struct module *m);
const char *module_path(const struct module *m); /* as given to module_open */
/*
 * Undefined symbols, sorted by name; "module_layout" is among them where the module carries its
 * CRC.
 */
const struct import *module_imports(const struct module *m, size_t *ret_n);
/* Sorted by name. */
const struct export *module_exports(const struct module *m, size_t *ret_n);
/* A descriptor of the unpacked module for finit_module(2); it stays the module's. */
int module_fd(const struct module *m);
