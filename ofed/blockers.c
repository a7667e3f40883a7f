/* SPDX-License-Identifier: Apache-2.0 */
#include "ofed/blockers.h"

#include <string.h>

#include "kernel/mounts.h"
#include "kernel/netdev.h"

static int judge_netdevs(const struct sysroot *root, char *const modules[], struct verdicts *why)
{
	_cleanup_netdevs_ struct netdevs devs = { 0 };
	int r = netdevs_read(root, modules, &devs);

	for (size_t i = 0; r == 0 && i < devs.n; i++) {
		const struct netdev *d = &devs.d[i];

		if (d->use && d->module && strv_contains(modules, d->module))
			verdicts_no(why, REASON_NETWORK_IN_USE, d->name, "%s, on module %s", d->use,
				    d->module);
	}
	return r;
}

static int judge_mounts(const struct sysroot *root, char *const modules[], struct verdicts *why)
{
	_cleanup_mounts_ struct mounts mounts = { 0 };
	int r = mounts_read(root, &mounts);

	if (r == -EACCES || r == -EPERM) {
		verdicts_unknown(why, REASON_STORAGE_IN_USE, "mounts",
				 "could not see the host's mounts (proc/1/mountinfo)");
		return 0;
	}
	for (size_t i = 0; r == 0 && i < mounts.n; i++) {
		const struct mount *m = &mounts.m[i];

		if (m->rides_on && strv_contains(modules, m->rides_on))
			verdicts_no(why, REASON_STORAGE_IN_USE, m->target,
				    "%s of %s rides on module %s", m->fstype, m->source,
				    m->rides_on);
	}
	return r;
}

int blockers_of_modules(const struct sysroot *root, char *const modules[], struct verdicts *why)
{
	int r = *modules ? judge_netdevs(root, modules, why) : 0;

	return r == 0 && *modules ? judge_mounts(root, modules, why) : r;
}

int blockers_judge(void *data, const struct swap_facts *facts, const struct steps *steps,
		   struct verdicts *why)
{
	_cleanup_free_ char **names = calloc(steps->n + 1, sizeof(*names));
	size_t n = 0;

	(void)facts;
	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < steps->n; i++) {
		if (steps->s[i].op == STEP_UNLOAD)
			names[n++] = steps->s[i].m->name;
	}
	return blockers_of_modules(data, names, why);
}
