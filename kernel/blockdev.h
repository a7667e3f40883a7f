/* SPDX-License-Identifier: Apache-2.0 */
/* What a block device stands on, as far as it is RDMA: by its way through sysfs. */
#pragma once

#include <sys/types.h>

#include "common/sysroot.h"

/* "nvme_rdma", "ib_iser" or "ib_srp": a constant; NULL: none of these, or not to be seen. */
const char *blockdev_transport(const struct sysroot *root, dev_t dev);
