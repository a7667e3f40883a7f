/* SPDX-License-Identifier: Apache-2.0 */
#include "ofed/settings.h"

#include <string.h>

#include "common/digest.h"

#define AT(member) .offset = offsetof(struct ofed_settings, member)

/*
 * Lists and paths: the peers' (doca-driver-build), so that pod specs written for them mean the
 * same here.
 */
const struct setting ofed_table[] = {
	{ "host-root", "GDRKIT_HOST_ROOT", SETTING_TEXT, NULL, "DIR",
	  "the node's root; by default /host if something is mounted there, else /",
	  AT(host_root) },
	{ "tree", "GDRKIT_TREE", SETTING_TEXT, "/trees", "DIR",
	  "the driver tree, or a store with one for each kernel", AT(tree) },
	{ "kernel", "GDRKIT_KERNEL", SETTING_TEXT, NULL, "KVER",
	  "build and plan: for another kernel than the running one", AT(kernel) },
	{ "json", "GDRKIT_JSON", SETTING_BOOL, NULL, NULL, "results as JSON", AT(json) },
	{ "log-format", "GDRKIT_LOG_FORMAT", SETTING_TEXT, "auto", "FORMAT",
	  "auto: text on a terminal, else json", AT(log_format), "auto|text|json" },
	{ "timeout", "GDRKIT_TIMEOUT", SETTING_DURATION, NULL, "DURATION",
	  "how long to wait for others; by default 5m, without an end under run. build: how long "
	  "all of it may take; by default without an end",
	  AT(timeout_ms) },
	{ "verbose", "GDRKIT_VERBOSE", SETTING_BOOL, NULL, NULL, "log each planned step too",
	  AT(verbose) },
	{ "retry", "GDRKIT_RETRY", SETTING_BOOL, NULL, NULL,
	  "run and load: try a tree that failed and was undone on this boot", AT(retry) },
	{ "if-present", "GDRKIT_IF_PRESENT", SETTING_BOOL, NULL, NULL,
	  "run and load: no PCI device of the tree's vendors is a yes, and nothing is loaded",
	  AT(if_present) },
	{ "live", NULL, SETTING_BOOL, NULL, NULL,
	  "status: only whether this container's supervisor answers", AT(live) },
	{ "ready", NULL, SETTING_BOOL, NULL, NULL,
	  "status: only whether this container's driver is loaded and current", AT(ready) },
	{ "source", "GDRKIT_SOURCE", SETTING_TEXT, NULL, "DIR",
	  "the driver's source: what run and build make a tree of, where there is none",
	  AT(source) },
	{ "recipe", "GDRKIT_RECIPE", SETTING_TEXT, NULL, "FILE",
	  "build: how it is built; by default SOURCE/driver.conf", AT(recipe) },
	{ "headers", "GDRKIT_HEADERS", SETTING_TEXT, NULL, "DIR",
	  "build: the kernel's build directory, on the node; by default where distributions have it",
	  AT(headers) },
	{ "output", "NVIDIA_NIC_DRIVERS_INVENTORY_PATH", SETTING_TEXT, NULL, "DIR",
	  "store of built trees: build puts its tree there, load finds it where --tree has none",
	  AT(output) },
	{ "cache-size", "GDRKIT_CACHE_SIZE", SETTING_SIZE, "2G", "SIZE",
	  "build: what the store may grow to; least recently used trees go; 0: no bound",
	  AT(cache_size) },
	{ "jobs", "GDRKIT_JOBS", SETTING_COUNT, NULL, "N",
	  "build: compilers at once; by default what CPUs and memory carry", AT(jobs) },
	{ "note-source", NULL, SETTING_BOOL, NULL, NULL,
	  "build: only note the source's digest in it, so that no start has to read all of it",
	  AT(note_source) },
	{ NULL, "STORAGE_MODULES", SETTING_WORDS,
	  "ib_iser ib_isert ib_srp ib_srpt nvme_rdma nvmet_rdma rpcrdma xprtrdma", "MODULES",
	  "storage on RDMA: a swap that would take one of them away is refused", AT(storage) },
	{ NULL, "THIRD_PARTY_RDMA_MODULES", SETTING_WORDS,
	  "bnxt_re efa erdma iw_cxgb4 hfi1 hns_roce ionic_rdma irdma ib_qib mana_ib ocrdma qedr "
	  "rdma_rxe siw vmw_pvrdma",
	  "MODULES", "RDMA modules of others: likewise, unless the tree has them",
	  AT(third_party) },
	{ NULL, "MLX5_AUXILIARY_MODULES", SETTING_WORDS, "mlx5_vdpa mlx5_fwctl mlx5_dpll",
	  "MODULES", "may be unloaded, and are loaded again where they fit; empty: none",
	  AT(auxiliary) },
	{ NULL, "RESTORE_DRIVER_ON_POD_TERMINATION", SETTING_BOOL, "true", NULL,
	  "run, when it is stopped: put back what was there before the first swap of this boot",
	  AT(restore) },
	{ NULL, "DRIVER_READY_PATH", SETTING_TEXT, "/run/mellanox/drivers/.driver-ready", "FILE",
	  "the ready file, on the node", AT(ready_path) },
	{ NULL, "MLX_DRIVERS_MOUNT", SETTING_TEXT, "/run/mellanox/drivers", "DIR",
	  "where other builds find symbols and headers, on the node", AT(mount) },
	{ NULL, "LOCK_FILE_PATH", SETTING_TEXT, "/run/mellanox/drivers/.lock", "FILE",
	  "the instance lock, on the node", AT(lock_path) },
	{ NULL, "GDRKIT_REVISION", SETTING_TEXT, NULL, "TEXT",
	  "what this instance is known by in the ready file", AT(revision) },
	{ NULL, "GDRKIT_TEST_STOP_AFTER", SETTING_COUNT, NULL, "N",
	  "for tests: stop (SIGSTOP) after so many lines of the journal", AT(stop_after) },
};
const size_t ofed_table_size = sizeof(ofed_table) / sizeof(*ofed_table);

int ofed_settings_digest(const struct ofed_settings *s, char ret[static 65])
{
	static const char *const names[] = { "STORAGE_MODULES", "THIRD_PARTY_RDMA_MODULES",
					     "MLX5_AUXILIARY_MODULES", NULL };
	_cleanup_free_ char *text = settings_canonical(ofed_table, ofed_table_size, s, names);

	return text ? digest_of(text, strlen(text), ret) : -ENOMEM;
}

const char *ofed_path(const char *path)
{
	return path + strspn(path, "/");
}
