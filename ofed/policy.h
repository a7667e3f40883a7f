/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose modules may be taken away when they stand on the RDMA stack: the settings as the
 * planner's rules. Modules that the goal names are never asked about, so what the tree brings
 * itself is nobody's third party (rdma_rxe is on that list).
 */
#pragma once

#include "ofed/settings.h"
#include "swap/plan.h"
#include "tree/manifest.h"

enum { POLICY_RULES = 4 };

/* The rules point into the settings and the manifest, which may be NULL: no tree. */
void policy_rules(const struct ofed_settings *s, const struct manifest *m,
		  struct swap_rule ret[static POLICY_RULES]);
