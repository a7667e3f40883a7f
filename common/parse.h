/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text into numbers, with range checks: the whole text must be used, no sign, no blanks. -EINVAL:
 * not such a thing; -ERANGE: outside [min, max].
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

int parse_u64(const char *text, int base, uint64_t min, uint64_t max, uint64_t *ret);
int parse_bool(const char *text, bool *ret); /* true false yes no on off 1 0, any case */
int parse_duration(
	const char *text,
	uint64_t *ret_ms); /* 300ms 30s 5m 2h 1d 1m30s; 0 without a unit; at most 10 years */
int parse_size(const char *text,
	       uint64_t *ret_bytes); /* 512 64k 10M 2G, also KiB MiB GiB (all binary) */

/* Words between any of `separators`; the array ends with NULL (strv_free, common/sysroot.h). */
int parse_words(const char *text, const char *separators, char ***ret);
