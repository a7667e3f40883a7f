/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as a module file, packed or not: opened and judged, or refused with one verdict. */
#include <stdlib.h>
#include <unistd.h>

#include "kernel/fit.h"

static char dir[] = "/tmp/gdrkit-fuzz.XXXXXX";
static struct sysroot *root;

static void remove_dir(void)
{
	(void)sysroot_remove(root, "m.ko");
	(void)rmdir(dir);
}

static void make_dir(void)
{
	if (!mkdtemp(dir) || sysroot_open(dir, &root) < 0 || atexit(remove_dir) != 0)
		abort();
}

static void judge(const struct module *m)
{
	_cleanup_(exports_freep) struct exports *ex = NULL;
	_cleanup_verdicts_ struct verdicts why = { 0 };
	char release[] = "6.1.0", machine[] = "x86_64";
	const struct running kernel = { .release = release, .machine = machine };
	struct fit_world world = { .kernel = &kernel };

	if (exports_new(&ex) < 0 || exports_add_module(ex, m) < 0 || exports_learn(ex, m) < 0)
		abort();
	world.exports = ex;
	fit_judge(m, &world, &why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(module_freep) struct module *m = NULL;
	_cleanup_verdicts_ struct verdicts why = { 0 };

	if (!root)
		make_dir();
	if (sysroot_replace(root, "m.ko", 0600, data, size) < 0)
		abort();
	if (module_open(root, "m.ko", &m, &why) == 0)
		judge(m);
	if (why.n != (m ? 0 : 1))
		abort();
	return 0;
}
