/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with the %{...} of a recipe's word (recipe.h says what there is). */
#pragma once

#include <stddef.h>

/*
 * The first mistake at or behind *at: 1, *at is its percent sign and ret_what says what it is
 * (free it). 0: none; -ENOMEM.
 */
int placeholder_mistake(const char *word, size_t *at, char **ret_what);
