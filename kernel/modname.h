/* SPDX-License-Identifier: Apache-2.0 */
/* A module's name: files and modprobe.d may say ib-core, the kernel always says ib_core. */
#pragma once

/* In place. */
void modname_normalize(char *name);
