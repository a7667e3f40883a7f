/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that kbuild runs out of the headers: made for the machine that the kernel was built
 * on, they need an interpreter and a libc as new as theirs.
 *
 *   scripts/basic/fixdep, scripts/mod/modpost
 *   scripts/genksyms/genksyms, scripts/gendwarfksyms/gendwarfksyms    CONFIG_MODVERSIONS, if there
 *   tools/objtool/objtool                  CONFIG_OBJTOOL, CONFIG_STACK_VALIDATION
 *   tools/bpf/resolve_btfids/resolve_btfids    CONFIG_DEBUG_INFO_BTF_MODULES and a vmlinux, if there
 *
 * Where one only chooses between NAME.real-*, as Debian's do, those too.
 */
#pragma once

#include "common/verdict.h"
#include "tree/headers.h"

/*
 * Not there, of another architecture, or not to be started here: -ENOEXEC, HOST_PROGRAM_UNUSABLE
 * naming each with what it lacks. Starts them (LD_TRACE_LOADED_OBJECTS): call it in a cage.
 */
int host_programs_check(const struct headers *h, struct verdicts *why);
