/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that a swap needs to know, read before anything moves: live modules and who holds them, the
 * goal, and the files for both ways, opened, unpacked and ready to be judged. What is not found
 * here cannot be found later, when there may be no network to fetch it over.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/sysroot.h"
#include "common/verdict.h"
#include "kernel/exports.h"
#include "kernel/live.h"
#include "kernel/module.h"
#include "kernel/pci.h"
#include "kernel/running.h"
#include "swap/state.h"
#include "tree/store.h"

enum side { SIDE_FROM, SIDE_TO };

struct swap_side {
	bool live; /* is it live there */
	struct identity id;
	char *params;
	bool recorded;       /* params are what sysfs showed, not what modprobe would pass */
	struct module *file; /* NULL: not live there, or none was found */
	char *origin;        /* for people: "tree inbox-rdma 6.1.192", "lib/modules/..." */
	char *missing;       /* why there is no file */
};

enum swap_role {
	ROLE_GOAL,      /* the goal names it */
	ROLE_BYSTANDER, /* holds one of those */
	ROLE_HOST,      /* a host module that the goal's modules need and that is not live */
};

struct swap_module {
	char *name;
	enum swap_role role;
	bool live; /* now */
	struct identity id;
	int refcount;
	enum module_state state;
	char **holders;
	struct swap_side side[2];
};

struct swap_facts {
	struct running kernel;
	char *vermagic;        /* NULL: not known */
	char *label[2];        /* of each side */
	struct swap_module *m; /* by name */
	size_t n;
	struct pci_devices pci;
	char **vendors;                 /* PCI vendors that the goal drives */
	struct state_binding *bound[2]; /* devices that have to be bound at the end */
	size_t n_bound[2];
	struct exports *base; /* of the kernel and of live modules outside this swap */
};

struct goal {
	const struct state *state;
	const struct tree *tree; /* NULL: files come from kept trees and from the host */
	const char *trees;       /* store of kept trees: "run/gdrkit/trees" */
	/* another build of a host module will do, if it fits: `before`, its file was replaced */
	bool nearest;
};

/*
 * Everything that cannot be read is a verdict; what is merely not there (a file for the way back)
 * is left to the planner. -errno: out of memory, or no /sys/module at all. `from` is what is live
 * now.
 */
int swap_read(const struct sysroot *root, const struct goal *goal, struct swap_facts **ret,
	      struct verdicts *why);
struct swap_facts *swap_facts_free(struct swap_facts *f);
DEFINE_CLEANUP(struct swap_facts, swap_facts_free);
/*
 * Reads again what is live, newcomers among the holders too; files stay as they are. Steps made of
 * the facts before are void.
 */
int swap_read_again(const struct sysroot *root, struct swap_facts *f);

/* There already: nothing changes. */
int swap_add(struct swap_facts *f, const char *name, enum swap_role role);
/* Whatever holds one of the facts' modules, transitively, is among them too: as a bystander. */
int swap_add_holders(struct swap_facts *f, const struct live *live);
struct swap_module *swap_find(const struct swap_facts *f, const char *name);
/* The state that a side stands for, as the journal keeps it. */
int swap_state(const struct swap_facts *f, enum side side, const char *digest, struct state *ret);
