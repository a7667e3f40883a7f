/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a module says of itself: the .modinfo section, and who signed it. By libkmod, which is to
 * see only files that elf_parse has found whole and that have such a section.
 */
#pragma once

#include "kernel/arena.h"
#include "kernel/module.h"

/*
 * fd: the unpacked module. Fills in what comes from there (all but machine, build-id, has_versions
 * and is_signed), texts in `text`; lists are to be freed, also on failure. name stays NULL before
 * 4.13. -EBADMSG, -ENOMEM.
 */
int modinfo_read(int fd, struct arena *text, struct module_info *info);
