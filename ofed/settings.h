/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ofed-driver may do on this node: one table of options and variables (contract.md), read
 * into this struct. Paths of the node ("/run/mellanox/...") are taken below the host root; those
 * of trees and sources are this process's own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/settings.h"

struct ofed_settings {
	char *host_root; /* NULL: mounts_host_root() */
	char *kernel;    /* NULL: the running one */
	char *tree;      /* a tree or a store of trees */
	bool json, verbose, retry, if_present, live, ready;
	char *log_format;
	uint64_t timeout_ms; /* 0: the verb's own */
	char **storage, **third_party, **auxiliary;
	bool restore;
	char *ready_path, *mount, *lock_path, *revision;
	char *source, *recipe, *headers, *output;
	uint64_t jobs, cache_size;
	bool note_source;
	uint64_t stop_after; /* test knob: journal_stop_after() */
};

extern const struct setting ofed_table[];
extern const size_t ofed_table_size;

/*
 * Of those that bear on whether a swap fails: what was undone under the same digest is not tried
 * again.
 */
int ofed_settings_digest(const struct ofed_settings *s, char ret[static 65]);

/* A path of the node as sysroot wants it: without the slashes it begins with. */
const char *ofed_path(const char *path);
