/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why something failed or was refused: the one table of codes (contract.md). The code is what users
 * and scripts match on, the cause and the remedy are what people read; docs/reasons.md is made from
 * it (ofed-driver --reasons).
 *
 * Exit codes: 1 the answer is no, 100 misuse, 111 a system call failed (again may help), 124 a
 * deadline passed.
 */
#pragma once

enum {
	EXIT_YES = 0,
	EXIT_NO = 1,
	EXIT_MISUSE = 100,
	EXIT_SYSTEM = 111,
	EXIT_DEADLINE = 124,
};

/*	  code, exit code, cause, remedy */
#define REASONS(R)                                                                                 \
	R(USAGE, EXIT_MISUSE,                                                                      \
	  "the command line or the environment has a value that cannot be used", "see --help")     \
	R(RECIPE_INVALID, EXIT_MISUSE, "driver.conf cannot be used",                               \
	  "correct it at the line and column named")                                               \
	R(TREE_INVALID, EXIT_MISUSE,                                                               \
	  "the driver tree is empty, damaged or contradicts its manifest", "build the tree again") \
	R(TREE_MISSING, EXIT_NO, "no driver tree for this kernel and architecture",                \
	  "use an image that carries a tree for this kernel, or build one: ofed-driver build")     \
	R(MODULE_INVALID, EXIT_NO, "a module file is truncated or is not a kernel module",         \
	  "build the tree again")                                                                  \
	R(ARCH_MISMATCH, EXIT_NO, "a module file, or the headers, are of another architecture",    \
	  "use the tree, or the headers, of this node's architecture")                             \
	R(VERMAGIC_MISMATCH, EXIT_NO, "a module was built for another kernel",                     \
	  "use or build a tree for the running kernel")                                            \
	R(SYMBOL_MISSING, EXIT_NO, "a module needs a symbol that nothing exports",                 \
	  "build the tree against this kernel's headers, with the modules it depends on")          \
	R(SYMBOL_CRC_MISMATCH, EXIT_NO,                                                            \
	  "a module needs another version of a symbol than the one exported",                      \
	  "build the tree again, against what is exported")                                        \
	R(SYMBOL_GPL_ONLY, EXIT_NO, "a module that is not GPL-compatible needs a GPL-only symbol", \
	  "use a build of the module under a GPL-compatible licence")                              \
	R(SYMBOL_NAMESPACE, EXIT_NO,                                                               \
	  "a module does not import the namespace of a symbol it needs",                           \
	  "add MODULE_IMPORT_NS to the module's source")                                           \
	R(SYMBOL_DUPLICATE, EXIT_NO, "a module exports a symbol that is exported already",         \
	  "remove the other module, or use a kernel where it is not built in")                     \
	R(SIGNATURE_REJECTED, EXIT_NO,                                                             \
	  "the kernel accepts only signed modules, and this one is not signed by a key it knows",  \
	  "sign the tree with a key that the node has enrolled")                                   \
	R(LOCKDOWN, EXIT_NO, "the kernel is locked down and the module is not signed",             \
	  "sign the tree, or lift the lockdown")                                                   \
	R(SYMVERS_INVALID, EXIT_NO, "a Module.symvers is damaged",                                 \
	  "install the kernel's headers again, or build the tree again")                           \
	R(DEPENDENCY_CYCLE, EXIT_NO, "modules need each other in a circle",                        \
	  "correct the list of modules or their build")                                            \
	R(MODULE_IN_USE, EXIT_NO, "a module that has to go is in use",                             \
	  "stop what holds it, named in the detail")                                               \
	R(STORAGE_IN_USE, EXIT_NO, "storage modules stand on the RDMA stack",                      \
	  "unmount and unload them first: a swap would cut the storage off")                       \
	R(THIRD_PARTY_IN_USE, EXIT_NO, "modules of another vendor stand on the RDMA stack",        \
	  "unload them first")                                                                     \
	R(NETWORK_IN_USE, EXIT_NO, "a network device that would go away is configured",            \
	  "drain the node and take the device down first: its configuration would be lost")        \
	R(UNDO_IMPOSSIBLE, EXIT_NO, "there is no module file for the way back",                    \
	  "put the file of the module that is live back under /lib/modules, or reboot into the "   \
	  "new stack")                                                                             \
	R(UNDO_FAILED, EXIT_SYSTEM, "the way back failed too; the journal stays open",             \
	  "see the log; start again to recover, or reboot")                                        \
	R(FAILED_BEFORE, EXIT_NO,                                                                  \
	  "the same tree with the same settings failed on this boot and was undone",               \
	  "mend the cause, then --retry; another tree, other settings or a reboot try again by "   \
	  "themselves")                                                                            \
	R(LOAD_FAILED, EXIT_SYSTEM, "the kernel refused a module",                                 \
	  "see the kernel's log (dmesg) for the module named")                                     \
	R(UNLOAD_FAILED, EXIT_SYSTEM, "the kernel did not let a module go",                        \
	  "see what uses the module named")                                                        \
	R(VERIFY_FAILED, EXIT_SYSTEM, "after the swap the live modules are not the goal's",        \
	  "see the log; start again")                                                              \
	R(GUARD_FAILED, EXIT_SYSTEM,                                                               \
	  "what a swap needs to set on the node could not be written or put back",                 \
	  "make the path named writable for the container (node.md, rights)")                      \
	R(JOURNAL_FAILED, EXIT_SYSTEM, "the journal cannot be written",                            \
	  "make /run/gdrkit writable and free space there")                                        \
	R(JOURNAL_RECOVERED, EXIT_YES, "an earlier swap was cut off and has been recovered",       \
	  "nothing to do")                                                                         \
	R(INTERRUPTED, EXIT_SYSTEM, "a signal ended it; what was there before is back",            \
	  "start again")                                                                           \
	R(WAIT_TIMEOUT, EXIT_DEADLINE, "a deadline passed",                                        \
	  "see what is waited for; raise --timeout")                                               \
	R(STALE_READY, EXIT_NO, "the ready file does not describe what is live",                   \
	  "start the driver container again")                                                      \
	R(HEADERS_MISSING, EXIT_NO, "the kernel's headers are not there",                          \
	  "install the package named in the detail")                                               \
	R(COMPILER_MISMATCH, EXIT_NO, "the compiler is not the one the kernel was built with",     \
	  "use a source image with the compiler named (images/build --base)")                      \
	R(COMPILER_MISSING, EXIT_NO, "there is no compiler",                                       \
	  "use a source image with the compiler named (images/build --base)")                      \
	R(HOST_PROGRAM_UNUSABLE, EXIT_NO,                                                          \
	  "a program of the kernel's headers cannot run in this container",                        \
	  "use a source image whose base is the node's distribution, or one with a libc as new "   \
	  "(images/build --base)")                                                                 \
	R(STORE_UNUSABLE, EXIT_SYSTEM, "the store of built trees cannot be written",               \
	  "make it writable and free space there (NVIDIA_NIC_DRIVERS_INVENTORY_PATH), or name "    \
	  "another: --output")                                                                     \
	R(BUILD_FAILED, EXIT_NO, "the build failed",                                               \
	  "the first error is in the detail, the rest in the build's log")                         \
	R(SYSTEM, EXIT_SYSTEM, "a system call failed", "see the detail; trying again may help")

enum reason {
#define REASON_ENUM(code, exit, cause, remedy) REASON_##code,
	REASONS(REASON_ENUM)
#undef REASON_ENUM
		REASON_COUNT
};

struct reason_info {
	const char *code;
	int exit;
	const char *cause, *remedy;
};

const struct reason_info *reason_info(enum reason why);
