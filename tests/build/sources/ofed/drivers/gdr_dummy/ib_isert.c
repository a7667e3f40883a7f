// SPDX-License-Identifier: GPL-2.0-only
#include <linux/init.h>
#include <linux/module.h>

static int __init ib_isert_init(void)
{
	pr_info("ib_isert: dummy\n");
	return 0;
}

static void __exit ib_isert_exit(void)
{
}

module_init(ib_isert_init);
module_exit(ib_isert_exit);
MODULE_DESCRIPTION("ib_isert dummy kernel module");
MODULE_LICENSE("GPL");
