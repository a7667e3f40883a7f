/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel's configuration asks of a compiler: flags that kbuild passes without asking whether
 * it knows them (a table of CONFIG_ names and flags), and gcc plugins, which only the very same gcc
 * loads. Asked before a build, and by compiling an empty file: hours later it would be an error in
 * some file.
 */
#pragma once

#include "common/verdict.h"
#include "tree/compiler.h"
#include "tree/headers.h"

/*
 * What this compiler does not know: -ENOEXEC, COMPILER_MISMATCH for each with CONFIG_ name and flag;
 * one that compiles nothing at all (it lacks its assembler): COMPILER_MISSING. Starts the compiler:
 * call it in a cage.
 */
int demands_check(const struct compiler *c, const struct headers *h, struct verdicts *why);
