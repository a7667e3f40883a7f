// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <rdma/gdr_core.h>

int gdr_core_answer(void)
{
	return mlx_compat_answer();
}
EXPORT_SYMBOL(gdr_core_answer);

MODULE_DESCRIPTION("a core");
MODULE_LICENSE("GPL");
