/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

int gdr_core_answer(void);
int mlx_compat_answer(void);
