/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module files of our own, assembled at test time: what a real one has in the sections that gdrkit
 * reads.
 */
#pragma once

#include "fake_node.h"

#include <elf.h>
#include <sys/utsname.h>

#include "common/child.h"
#include "common/verdict.h"
#include "kernel/elf.h"
#include "kernel/module.h"

#define KO_INFO(text) ".section .modinfo,\"a\"\n.asciz \"" text "\"\n"
#define KO_THIS(name) \
	".section .gnu.linkonce.this_module,\"aw\"\n.zero 24\n.ascii \"" name "\"\n.zero 232\n"
#define KO_VERSION(symbol, crc) \
	".section __versions,\"a\"\n.quad " crc "\n.ascii \"" symbol "\"\n.balign 64\n"
#define KO_EXTENDED(symbol, crc)                             \
	".section __version_ext_crcs,\"a\"\n.long " crc "\n" \
	".section __version_ext_names,\"a\"\n.asciz \"" symbol "\"\n"
#define KO_NEEDS(symbol) ".data\n.quad " symbol "\n"
#define KO_NEEDS_WEAKLY(symbol) ".weak " symbol "\n" KO_NEEDS(symbol)
#define KO_IMPORT(symbol, crc) KO_VERSION(symbol, crc) KO_NEEDS(symbol)
/* include/linux/export-internal.h, after the module's linker script has merged the sections */
#define KO_EXPORT_IN(section, symbol, ns)                  \
	".section __ksymtab_strings,\"aMS\",%progbits,1\n" \
	"__kstrtab_" symbol ": .asciz \"" symbol "\"\n"    \
	"__kstrtabns_" symbol ": .asciz \"" ns "\"\n"      \
	".section " section ",\"a\"\n"                     \
	"__ksymtab_" symbol ": .quad 0, 0, 0\n"
#define KO_CRC(symbol, crc) ".section __kcrctab,\"a\"\n__crc_" symbol ": .long " crc "\n"
#define KO_EXPORT(symbol, crc) KO_EXPORT_IN("__ksymtab", symbol, "") KO_CRC(symbol, crc)
#define KO_EXPORT_GPL(symbol, crc) KO_EXPORT_IN("__ksymtab_gpl", symbol, "") KO_CRC(symbol, crc)
#define KO_BUILD_ID                                 \
	".section .note.gnu.build-id,\"a\",%note\n" \
	".long 4, 4, 3\n.asciz \"GNU\"\n.byte 0x5e, 0x1f, 0x0c, 0x2d\n"

#define KO_MAGIC "6.1.0-test SMP preempt mod_unload modversions "
/* A module that fits anywhere but for its symbols. */
#define KO(name) \
	KO_THIS(name) KO_INFO("name=" name) KO_INFO("license=GPL") KO_INFO("vermagic=" KO_MAGIC)

static inline void fake_run(const char *const argv[])
{
	_cleanup_child_result_ struct child_result res = { 0 };
	const struct child_spec spec = { .argv = argv, .stop_fd = -1, .timeout_ms = 60000 };

	assert_int_equal(child_run(&spec, &res), 0);
	if (res.status)
		fail_msg("%s: %s", argv[0], res.tail);
}

/* Where a file of the node lies outside of it. */
static inline char *fake_path(const struct fake_node *node, const char *path)
{
	char *full;

	assert_true(asprintf(&full, "%s/%s", node->dir, path) > 0);
	return full;
}

static inline void fake_ko(const struct fake_node *node, const char *path, const char *assembly)
{
	_cleanup_free_ char *from = fake_path(node, "assembly.s"), *to = fake_path(node, path);
	const char *const as[] = { "as", "-o", to, from, NULL };

	fake_file(node, "assembly.s", assembly);
	fake_file(node, path, ""); /* its directories */
	fake_run(as);
}

/* The module that this assembly is. */
static inline struct module *fake_open(const struct fake_node *node, const char *path,
				       const char *assembly)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	struct module *m = NULL;

	fake_ko(node, path, assembly);
	(void)module_open(node->root, path, &m, &why);
	verdicts_log(&why, LEVEL_ERROR);
	assert_non_null(m);
	return m;
}

static inline const struct verdict *find_verdict(const struct verdicts *why, enum reason code,
						 const char *object)
{
	for (size_t i = 0; i < why->n; i++) {
		if (why->v[i].why == code && strcmp(why->v[i].object, object) == 0)
			return &why->v[i];
	}
	return NULL;
}

/* There is this one verdict, a NO, and its detail contains these words. */
static inline void assert_only_no(const struct verdicts *why, enum reason code, const char *object,
				  const char *words)
{
	const struct verdict *v = find_verdict(why, code, object);

	if (!v || why->n != 1)
		verdicts_log(why, LEVEL_ERROR);
	assert_int_equal(why->n, 1);
	assert_non_null(v);
	assert_int_equal(v->state, VERDICT_NO);
	assert_non_null(strstr(v->detail, words));
}

static inline uint16_t this_machine(void)
{
	struct utsname un;

	assert_int_equal(uname(&un), 0);
	return elf_machine_of(un.machine);
}
