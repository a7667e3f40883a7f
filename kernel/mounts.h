/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mount tables, by libmount: which directory is the host's root, and which mounts ride on an RDMA
 * transport or on a module's block device.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/sysroot.h"

/*
 * The default of --host-root: "/host" if it is a mount point in this process's mount table, else
 * "/".
 */
const char *mounts_host_root(void);

struct mount {
	char *target, *source, *fstype;
	/*
	 * The module: "rpcrdma" for NFS proto=rdma, "9pnet_rdma", "cifs" with its option rdma;
	 * "nvme_rdma", "ib_iser", "ib_srp" for block devices, also below partitions, dm and md
	 */
	char *rides_on;
};

struct mounts {
	struct mount *m;
	size_t n;
};

/*
 * Of the host's first process (proc/1/mountinfo; -EACCES where that cannot be read: could not see).
 * Only those that ride on a module. -EBADMSG: no mount table.
 */
int mounts_read(const struct sysroot *root, struct mounts *ret);
void mounts_clear(struct mounts *mounts);
#define _cleanup_mounts_ _cleanup_(mounts_clear)
