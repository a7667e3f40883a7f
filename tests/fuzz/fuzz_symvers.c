/* SPDX-License-Identifier: Apache-2.0 */
/* Text as a Module.symvers: it is taken whole, or refused with one verdict that names a line. */
#include <stdlib.h>

#include "kernel/symvers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(exports_freep) struct exports *ex = NULL;
	_cleanup_verdicts_ struct verdicts why = { 0 };
	int r;

	if (exports_new(&ex) < 0)
		abort();
	r = symvers_parse((const char *)data, size, "Module.symvers", ex, &why);
	if (r != (why.n ? -EBADMSG : 0) || why.n > 1)
		abort();
	return 0;
}
