/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/modname.h"

#include <string.h>

void modname_normalize(char *name)
{
	while ((name = strchr(name, '-')))
		*name = '_';
}
