/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ready file as a guard of the swap: away before the first step, for nobody may build or
 * validate against what is about to go; back where what it describes is live again, after an undo
 * and after the recovery of a crash. A swap that succeeds leaves it to be written anew.
 */
#pragma once

#include "swap/guard.h"

/* path: below the node's root, the caller's. */
struct guard ready_guard(const char *path);
