/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/identity.h"

#include <stdio.h>
#include <string.h>

bool identity_same(const struct identity *a, const struct identity *b)
{
	if (*a->srcversion && *b->srcversion)
		return strcmp(a->srcversion, b->srcversion) == 0;
	return *a->build_id && strcmp(a->build_id, b->build_id) == 0;
}

bool identity_known(const struct identity *id)
{
	return *id->srcversion || *id->build_id;
}

const char *identity_text(const struct identity *id, char buf[static 96])
{
	if (*id->srcversion)
		(void)snprintf(buf, 96, "srcversion %s", id->srcversion);
	else if (*id->build_id)
		(void)snprintf(buf, 96, "build-id %.8s", id->build_id);
	else
		(void)snprintf(buf, 96, "unknown");
	return buf;
}
