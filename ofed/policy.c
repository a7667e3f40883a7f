/* SPDX-License-Identifier: Apache-2.0 */
#include "ofed/policy.h"

void policy_rules(const struct ofed_settings *s, const struct manifest *m,
		  struct swap_rule ret[static POLICY_RULES])
{
	ret[0] = (struct swap_rule){ .modules = s->auxiliary, .may_go = true };
	ret[1] = (struct swap_rule){ .modules = m ? m->auxiliary : NULL, .may_go = true };
	ret[2] = (struct swap_rule){ .modules = s->storage, .why = REASON_STORAGE_IN_USE };
	ret[3] = (struct swap_rule){ .modules = s->third_party, .why = REASON_THIRD_PARTY_IN_USE };
}
