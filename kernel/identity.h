/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tells one build of a module from another. The srcversion where both sides have one (modpost
 * makes it from the sources), else the GNU build-id: Debian's own modules carry no srcversion
 * (CONFIG_MODULE_SRCVERSION_ALL is off), but every module has a build-id, in its file
 * (.note.gnu.build-id) and live (/sys/module/M/notes/.note.gnu.build-id).
 */
#pragma once

#include <stdbool.h>

struct identity {
	char srcversion[32]; /* "" if there is none */
	char build_id[65];   /* hex, "" if there is none */
};

/* False too when nothing can be compared. */
bool identity_same(const struct identity *a, const struct identity *b);
bool identity_known(const struct identity *id);
/*
 * For people: "srcversion 533BB7E5866E52F63B9ACCB" or "build-id 5e1f0c2d" (cut); "unknown". Points
 * into static-length memory of the caller.
 */
const char *identity_text(const struct identity *id, char buf[static 96]);
