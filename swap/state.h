/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state: which modules are live, which build of each, with which parameters, and which PCI
 * devices are bound to their drivers. A goal is a state to be reached, `from` and `to` in the
 * journal are states, `before` is one: undo, recovery, exit and unload differ only in the state
 * they aim at. A module that is not named is nobody's business; one that is named with live false
 * must not be there.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/sysroot.h"
#include "kernel/identity.h"
#include "tree/manifest.h"

struct state_module {
	char *name;
	bool live;
	struct identity id; /* where live */
	char *params;       /* "a=1 b=2" as finit_module(2) takes them; "" if none */
};

struct state_binding {
	char *device; /* PCI address */
	char *module; /* the driver's module */
};

struct state {
	char *boot_id;
	char *label;  /* for people: "inbox-rdma 6.1.192", "what was there before" */
	char *digest; /* of the tree; "" if it is not one */
	struct state_module *m;
	size_t n;
	struct state_binding *b;
	size_t n_b;
};

void state_clear(struct state *s);
#define _cleanup_state_ _cleanup_(state_clear)

/* The present state of the modules in `names` (NULL-ended). */
int state_capture(const struct sysroot *root, char *const names[], const char *boot_id,
		  const char *label, struct state *ret);
/* A tree's modules; optional ones only if they are live now or in `before` (may be NULL). */
int state_of_tree(const struct sysroot *root, const struct manifest *m, const char *digest,
		  const char *boot_id, const struct state *before, struct state *ret);
/* Names in `other` that s does not have are added as not live. */
int state_extend(struct state *s, const struct state *other);
/* Names in `other` that s does not have are added as they are there. */
int state_adopt(struct state *s, const struct state *other);

const struct state_module *state_find(const struct state *s, const char *name);
/* Is it what is live? Reads /sys/module only, opens no module file. */
bool state_is_live(const struct sysroot *root, const struct state *s);

json_t *state_to_json(const struct state *s);               /* NULL: out of memory */
int state_from_json(const json_t *json, struct state *ret); /* -EBADMSG */

/*
 * run/gdrkit/before.OWNER: written once a boot, before the first swap; one that is there already
 * stays. A record of another boot is void (-ENOENT); -EBADMSG: not such a file.
 */
int state_read_before(const struct sysroot *root, const char *owner, const char *boot_id,
		      struct state *ret);
int state_write_before(const struct sysroot *root, const char *owner, const struct state *s);
