/* SPDX-License-Identifier: Apache-2.0 */
#include "common/reason.h"

static const struct reason_info infos[REASON_COUNT] = {
#define REASON_INFO(code, exit, cause, remedy) [REASON_##code] = { #code, exit, cause, remedy },
	REASONS(REASON_INFO)
#undef REASON_INFO
};

const struct reason_info *reason_info(enum reason why)
{
	return &infos[why];
}
