/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signals that ask a driver to stop: SIGTERM, SIGINT, SIGQUIT, and SIGHUP unless it is ignored
 * (nohup). Blocked from the first line of main() on: of an init (PID 1 of a container) the kernel
 * drops every signal that is neither blocked nor handled. They are read from a signalfd.
 */
#pragma once

#include <signal.h>

void stop_signals(sigset_t *ret);
