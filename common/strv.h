/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of strings, ended by NULL, all on the heap. A NULL array reads as an empty one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/cleanup.h"

char **strv_free(char **strv);
DEFINE_CLEANUP(char *, strv_free);
#define _cleanup_strv_ _cleanup_(strv_freep)

size_t strv_length(char *const strv[]);
/* NULL: out of memory; never NULL for an empty one. */
char **strv_copy(char *const strv[]);
bool strv_contains(char *const strv[], const char *text);
