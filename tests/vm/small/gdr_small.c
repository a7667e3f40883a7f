// SPDX-License-Identifier: GPL-2.0-only
/* Harmless: /sys/kernel/gdr_small/compiler says what compiled the module that is live. */
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/sysfs.h>

static struct kobject *dir;

static ssize_t compiler_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "gcc %s\n", __VERSION__);
}

static struct kobj_attribute compiler = __ATTR_RO(compiler);

static int __init gdr_small_init(void)
{
	int r;

	dir = kobject_create_and_add("gdr_small", kernel_kobj);
	if (!dir)
		return -ENOMEM;
	r = sysfs_create_file(dir, &compiler.attr);
	if (r)
		kobject_put(dir);
	return r;
}

static void __exit gdr_small_exit(void)
{
	kobject_put(dir);
}

module_init(gdr_small_init);
module_exit(gdr_small_exit);
MODULE_DESCRIPTION("a module that a node builds itself, and that does nothing");
MODULE_LICENSE("GPL");
MODULE_VERSION("1.0");
