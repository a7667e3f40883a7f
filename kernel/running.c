/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/running.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "kernel/elf.h"

enum { MAX_NOTES = 64 << 10, HEX = 129 };

static int read_build_id(const struct sysroot *root, char **ret)
{
	_cleanup_free_ char *notes = NULL, *hex = malloc(HEX);
	size_t len;
	int r;

	if (!hex)
		return -ENOMEM;
	r = sysroot_read(root, "sys/kernel/notes", MAX_NOTES, &notes, &len);
	if (r == 0)
		r = note_hex(notes, len, NT_GNU_BUILD_ID, hex, HEX);
	if (r == 0)
		*ret = TAKE_PTR(hex);
	return r;
}

/* No such file: the kernel was built without signatures (CONFIG_MODULE_SIG). */
static bool read_sig_enforce(const struct sysroot *root)
{
	_cleanup_free_ char *text = NULL;

	return sysroot_read_attr(root, "sys/module/module/parameters/sig_enforce", &text) == 0 &&
	       strcmp(text, "Y") == 0;
}

/* "none [integrity] confidentiality"; the directory of an unmounted securityfs is there, empty. */
static void read_lockdown(const struct sysroot *root, struct running *ret)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_strv_ char **names = NULL;

	if (sysroot_read_attr(root, "sys/kernel/security/lockdown", &text) == 0)
		ret->lockdown = strchr(text, '[') && !strstr(text, "[none]");
	else if (sysroot_list(root, "sys/kernel/security", &names) == 0)
		ret->lockdown_hidden = !*names;
}

int running_read(const struct sysroot *root, struct running *ret)
{
	_cleanup_running_ struct running k = { 0 };
	struct utsname un;
	int r;

	if (uname(&un) < 0)
		return -errno;
	k.release = strdup(un.release);
	k.machine = strdup(un.machine);
	if (!k.release || !k.machine)
		return -ENOMEM;
	r = sysroot_read_attr(root, "proc/sys/kernel/random/boot_id", &k.boot_id);
	if (r < 0)
		return r;
	if (read_build_id(root, &k.build_id) == -ENOMEM)
		return -ENOMEM;
	k.sig_enforce = read_sig_enforce(root);
	read_lockdown(root, &k);
	*ret = k;
	k = (struct running){ 0 };
	return 0;
}

void running_clear(struct running *r)
{
	free(r->release);
	free(r->machine);
	free(r->boot_id);
	free(r->build_id);
	*r = (struct running){ 0 };
}
