/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Would this module load into that kernel? The only judge of it, pure: a module file against a
 * world of exports and the kernel's rules, as kernel/module/{main,version,signing}.c apply them,
 * with all that is wrong named at once:
 *   ARCH_MISMATCH, VERMAGIC_MISMATCH (without the release where the module carries CRCs, as
 *   same_magic() does), SYMBOL_MISSING, SYMBOL_CRC_MISMATCH, SYMBOL_GPL_ONLY, SYMBOL_NAMESPACE,
 *   SYMBOL_DUPLICATE, SIGNATURE_REJECTED, LOCKDOWN.
 * The first five symbols of a kind get a verdict each ("module: symbol"), the fifth says how many
 * more there are. UNKNOWN, one a module with the number of symbols and the first of them: symbols
 * that no evidence covers, and symbols that the module carries no CRC for while the kernel has one
 * (Debian's kernels refuse those, others let them pass). UNKNOWN too: whether the kernel knows the
 * key of a signature that it insists on, and a lockdown that is out of sight (once for all).
 */
#pragma once

#include "common/verdict.h"
#include "kernel/exports.h"
#include "kernel/module.h"
#include "kernel/running.h"

struct fit_world {
	const struct running *kernel;
	/* the kernel's own, from a file of a live module; NULL: not known */
	const char *vermagic;
	/*
	 * of vmlinux and of all modules that will be live when this one is loaded. A layer's own
	 * entries (this module's among them, or not) are live for certain; of its base only
	 * "vmlinux" is: a Module.symvers lists modules that nobody has loaded.
	 */
	const struct exports *exports;
};

void fit_judge(const struct module *m, const struct fit_world *world, struct verdicts *why);
