/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a journal: it is parsed or refused, and the part that counts says the same alone. */
#include <stdint.h>

#include "swap/history.h"

static int parse(const uint8_t *data, size_t len, struct history *h, size_t *valid)
{
	if (history_init(h, "boot") < 0)
		abort();
	return history_parse(h, (const char *)data, len, valid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_history_ struct history all = { 0 }, part = { 0 };
	const struct journal_swap *last;
	size_t valid, again;

	if (parse(data, size, &all, &valid) < 0)
		return 0;
	if (valid > size || parse(data, valid, &part, &again) < 0 || again != valid ||
	    part.n != all.n)
		abort();
	last = history_last(&all);
	if (last) {
		json_auto_t *json = state_to_json(&last->to);

		if (!json || last->open != !last->end)
			abort();
		(void)history_failed_before(&all, last->owner, last->to.digest, last->settings);
	}
	return 0;
}
