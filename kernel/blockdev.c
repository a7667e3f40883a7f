/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/blockdev.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "kernel/sysfs.h"

enum { MAX_DEPTH = 16 }; /* of dm on md on dm ... */

static bool is_nvme_rdma(const struct sysroot *root, const char *dir)
{
	return sysfs_says(root, dir, "transport", "rdma");
}

/* With multipath the disk stands below nvme-subsysN, where each path to it is a link. */
static bool has_nvme_rdma(const struct sysroot *root, const char *dir)
{
	_cleanup_strv_ char **names = NULL;

	if (sysroot_list(root, dir, &names) < 0)
		return false;
	for (char **n = names; *n; n++) {
		_cleanup_free_ char *path = NULL;

		if (strncmp(*n, "nvme", 4) == 0 && asprintf(&path, "%s/%s", dir, *n) >= 0 &&
		    is_nvme_rdma(root, path))
			return true;
	}
	return false;
}

/* scsi_host_template.proc_name, and the module it is of */
static const char *scsi_module(const struct sysroot *root, const char *host)
{
	static const struct {
		const char *proc_name, *module;
	} known[] = {
		{ "iscsi_iser", "ib_iser" },
		{ "ib_srp", "ib_srp" },
	};
	_cleanup_free_ char *dir = NULL;

	if (asprintf(&dir, "sys/class/scsi_host/%s", host) < 0)
		return NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (sysfs_says(root, dir, "proc_name", known[i].proc_name))
			return known[i].module;
	}
	return NULL;
}

/* One directory on the way from sys/devices to the disk. */
static const char *directory_transport(const struct sysroot *root, const char *dir)
{
	const char *slash = strrchr(dir, '/'), *name = slash ? slash + 1 : dir;

	if (strncmp(name, "nvme-subsys", 11) == 0)
		return has_nvme_rdma(root, dir) ? "nvme_rdma" : NULL;
	if (strncmp(name, "nvme", 4) == 0)
		return is_nvme_rdma(root, dir) ? "nvme_rdma" : NULL;
	return strncmp(name, "host", 4) == 0 ? scsi_module(root, name) : NULL;
}

/* `link`: "sys/dev/block/8:1" or "sys/class/block/sda1", which points to ../../devices/... */
static const char *path_transport(const struct sysroot *root, const char *link)
{
	_cleanup_free_ char *target = NULL, *path = NULL;
	const char *devices, *found;

	if (sysroot_readlink(root, link, &target) < 0)
		return NULL;
	devices = strstr(target, "devices/");
	if (!devices || asprintf(&path, "sys/%s", devices) < 0)
		return NULL;
	for (char *slash; (slash = strrchr(path, '/')); *slash = '\0') {
		found = directory_transport(root, path);
		if (found)
			return found;
	}
	return NULL;
}

static const char *transport(const struct sysroot *root, const char *link, unsigned int depth)
{
	const char *found = path_transport(root, link);
	_cleanup_free_ char *dir = NULL;
	_cleanup_strv_ char **slaves = NULL;

	if (found || depth == MAX_DEPTH || asprintf(&dir, "%s/slaves", link) < 0 ||
	    sysroot_list(root, dir, &slaves) < 0)
		return found;
	for (char **s = slaves; !found && *s; s++) {
		_cleanup_free_ char *below = NULL;

		if (asprintf(&below, "sys/class/block/%s", *s) >= 0)
			found = transport(root, below, depth + 1);
	}
	return found;
}

const char *blockdev_transport(const struct sysroot *root, dev_t dev)
{
	char link[64];

	(void)snprintf(link, sizeof(link), "sys/dev/block/%u:%u", major(dev), minor(dev));
	return transport(root, link, 0);
}
