// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <rdma/gdr_core.h>

static int __init gdr_user_init(void)
{
	return gdr_core_answer() == 42 ? 0 : -EINVAL;
}

static void __exit gdr_user_exit(void)
{
}

module_init(gdr_user_init);
module_exit(gdr_user_exit);
MODULE_DESCRIPTION("what uses a core");
MODULE_LICENSE("GPL");
