/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every verb of ofed-driver works with: the settings, the node, the kernel that runs, the
 * trees. A verb returns its exit code and has logged why; what is below it returns errors and
 * verdicts.
 */
#pragma once

#include "common/sysroot.h"
#include "common/verdict.h"
#include "kernel/running.h"
#include "ofed/settings.h"
#include "swap/state.h"
#include "tree/recipe.h"
#include "tree/store.h"

/* What load ends with under a supervisor: there is no tree, but a source to build it from. */
enum { EXIT_BUILD = 3 };

/* Where loaded trees are kept on the node, and under which name ofed swaps. */
#define OFED_TREES "run/gdrkit/trees"
#define OFED_OWNER "ofed"

struct driver {
	const struct ofed_settings *set;
	const struct sysroot *host; /* the node's root */
	const struct sysroot *own;  /* this process's: trees and sources */
	struct running running;
	char started[32];    /* RFC 3339 */
	int stop_fd;         /* a signalfd: readable means stop; -1: none */
	uint64_t timeout_ms; /* for the module lock */
	bool supervised;     /* a supervisor runs us */
	bool changes;        /* load, unload; else nothing is written, in the cache neither */
};

/* host and own stay the caller's. On failure a verdict. */
int driver_init(struct driver *d, const struct ofed_settings *set, const struct sysroot *host,
		const struct sysroot *own, struct verdicts *why);
void driver_clear(struct driver *d);
#define _cleanup_driver_ _cleanup_(driver_clear)

int verb_load(struct driver *d);
int verb_unload(struct driver *d);
int verb_plan(struct driver *d);
int verb_build(struct driver *d);
int verb_status(struct driver *d);

/*
 * Would a readiness probe say yes: the ready file is this revision's and describes what is live;
 * or there is none, since there is no device either (--if-present)? STALE_READY.
 */
int driver_ready(const struct driver *d, struct verdicts *why);

/*
 * The tree for --kernel (by default the running one), in --tree or else among the built ones: of
 * --source, if that is given. -ENOENT, TREE_MISSING: there is none; ret_recipe (may be NULL) then
 * has how it would be built, if there is such a source.
 */
int driver_find_tree(const struct driver *d, struct tree **ret, struct recipe *ret_recipe,
		     struct verdicts *why);
/*
 * --if-present: is there no device of what was found, or else (tree NULL) of what would be built? No,
 * if neither names vendors.
 */
bool driver_is_absent(const struct driver *d, const struct tree *tree, const struct recipe *recipe);
/*
 * Does a supervisor run us, and is there no such tree, but a source to build it from, and, with
 * --if-present, a device?
 */
bool driver_wants_build(const struct driver *d);
/* Removes what killed builds left in the store of these settings. */
int driver_sweep(const struct sysroot *own, const struct ofed_settings *set);
/* The kept tree that is live as a whole; -ENOENT: none. */
int driver_live_tree(const struct driver *d, struct tree **ret);
/*
 * What load aims at: the tree's modules; optional ones that are live now or were before; and not
 * live, those that only the present tree has.
 */
int driver_goal(const struct driver *d, const struct tree *tree, struct state *ret);
/* A directory of this process (relative ones of its working directory) as a path below its root. */
int driver_own_path(const char *path, char **ret);

/* A verdict for what failed without one. */
int driver_error(struct verdicts *why, const char *object, int error);
/*
 * Logs how the verb ended, the first refusal last, and makes the exit code of it. A way back that
 * failed goes before all other refusals, and before a signal.
 */
int driver_end(const struct driver *d, const char *verb, int error, const struct verdicts *why);
