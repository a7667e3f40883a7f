/* SPDX-License-Identifier: Apache-2.0 */
#include "entrypoints/stop_signals.h"

#include <stddef.h>

void stop_signals(sigset_t *ret)
{
	struct sigaction hup;

	(void)sigemptyset(ret);
	(void)sigaddset(ret, SIGTERM);
	(void)sigaddset(ret, SIGINT);
	(void)sigaddset(ret, SIGQUIT);
	if (sigaction(SIGHUP, NULL, &hup) < 0 || hup.sa_handler != SIG_IGN)
		(void)sigaddset(ret, SIGHUP);
}
