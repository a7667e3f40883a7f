/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that is given as source (--source): the tree that is built from it, in the store of
 * built trees (--output).
 */
#pragma once

#include "ofed/driver.h"

/*
 * The one in the store, every file of it read and found as it was written. -ENOENT, TREE_MISSING:
 * it is to be built. ret_recipe (may be NULL): as build_find. Its use is noted only by a verb that
 * changes something.
 */
int source_find_tree(const struct driver *d, struct tree **ret, struct recipe *ret_recipe,
		     struct verdicts *why);
/*
 * What status says of builds: the log that was written last in the store, and whether that build is
 * under way. -ENOENT: none.
 */
int source_last_log(const struct driver *d, char **ret_path, bool *ret_under_way);
