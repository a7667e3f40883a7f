// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <rdma/gdr_core.h>

#if !defined(HAVE_KFREE) || defined(HAVE_NO_SUCH_CALL)
#error "compat/config.h does not say what is so"
#endif

int mlx_compat_answer(void)
{
	return 42;
}
EXPORT_SYMBOL(mlx_compat_answer);

MODULE_DESCRIPTION("backports");
MODULE_LICENSE("GPL");
