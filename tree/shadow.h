/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers for a build that runs in another root than the node's: links and includes in them that
 * are absolute lead nowhere for make there. Their shadow is a directory of links that lead to the
 * same files, whatever the root.
 */
#pragma once

#include "common/sysroot.h"
#include "tree/headers.h"

/*
 * Where root is "/": nothing is done. Else makes DIR/headers and DIR/sources (one, if they are
 * one) with a link for each entry of the real ones, resolved below root, and a Makefile whose
 * absolute include is; h->path and h->sources are then these. dir: a directory of the build.
 */
int headers_shadow(const struct sysroot *root, struct headers *h, const struct sysroot *dir);
