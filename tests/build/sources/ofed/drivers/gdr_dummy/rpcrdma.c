// SPDX-License-Identifier: GPL-2.0-only
#include <linux/init.h>
#include <linux/module.h>

static int __init rpcrdma_init(void)
{
	pr_info("rpcrdma: dummy\n");
	return 0;
}

static void __exit rpcrdma_exit(void)
{
}

module_init(rpcrdma_init);
module_exit(rpcrdma_exit);
MODULE_DESCRIPTION("rpcrdma dummy kernel module");
MODULE_LICENSE("GPL");
