/* SPDX-License-Identifier: Apache-2.0 */
#include "swap/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/strv.h"

static void side_clear(struct swap_side *side)
{
	free(side->params);
	module_free(side->file);
	free(side->origin);
	free(side->missing);
}

static void bindings_free(struct state_binding *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(b[i].device);
		free(b[i].module);
	}
	free(b);
}

struct swap_facts *swap_facts_free(struct swap_facts *f)
{
	if (!f)
		return NULL;
	for (size_t i = 0; i < f->n; i++) {
		free(f->m[i].name);
		strv_free(f->m[i].holders);
		side_clear(&f->m[i].side[SIDE_FROM]);
		side_clear(&f->m[i].side[SIDE_TO]);
	}
	free(f->m);
	for (int s = SIDE_FROM; s <= SIDE_TO; s++) {
		bindings_free(f->bound[s], f->n_bound[s]);
		free(f->label[s]);
	}
	running_clear(&f->kernel);
	pci_clear(&f->pci);
	strv_free(f->vendors);
	exports_free(f->base);
	free(f->vermagic);
	free(f);
	return NULL;
}

struct swap_module *swap_find(const struct swap_facts *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->m[i].name, name))
			return &f->m[i];
	return NULL;
}

int swap_add(struct swap_facts *f, const char *name, enum swap_role role)
{
	struct swap_module *m;

	if (swap_find(f, name))
		return 0;
	m = reallocarray(f->m, f->n + 1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	f->m = m;
	f->m[f->n] = (struct swap_module){ .name = strdup(name), .role = role };
	return f->m[f->n].name ? (f->n++, 0) : -ENOMEM;
}

int swap_add_holders(struct swap_facts *f, const struct live *live)
{
	int err = 0;

	for (size_t i = 0; !err && i < f->n; i++) {
		const struct live_module *l = live_find(live, f->m[i].name);

		for (char **h = l ? l->holders : NULL; !err && h && *h; h++)
			err = swap_add(f, *h, ROLE_BYSTANDER);
	}
	return err;
}

/* What proc/modules says of each module. */
static int refresh_live(const struct live *live, struct swap_facts *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct swap_module *m = &f->m[i];
		const struct live_module *l = live_find(live, m->name);

		strv_free(m->holders);
		m->holders = strv_copy(l ? l->holders : NULL);
		if (!m->holders)
			return -ENOMEM;
		m->live = l != NULL;
		m->refcount = l ? l->refcount : 0;
		m->state = l ? l->state : MODULE_LIVE;
	}
	return 0;
}

int swap_read_again(const struct sysroot *root, struct swap_facts *f)
{
	_cleanup_live_ struct live live = { 0 };
	_cleanup_pci_ struct pci_devices pci = { 0 };
	int err = live_read(root, &live);

	if (!err)
		err = pci_read(root, &pci);
	if (!err)
		err = swap_add_holders(f, &live); /* newcomers may have to go as well */
	if (!err)
		err = refresh_live(&live, f);
	for (size_t i = 0; !err && i < f->n; i++) {
		struct swap_module *m = &f->m[i];

		m->id = (struct identity){ 0 };
		if (m->live && live_identity(root, m->name, &m->id))
			m->live = false; /* it went meanwhile */
	}
	if (err)
		return err;
	pci_clear(&f->pci);
	f->pci = pci;
	pci = (struct pci_devices){ 0 };
	return 0;
}

static int state_add(struct state *s, const struct swap_module *m, enum side side)
{
	struct state_module *sm = &s->m[s->n++];
	const char *params = m->side[side].params;

	*sm = (struct state_module){ .name = strdup(m->name),
				     .live = m->side[side].live,
				     .id = m->side[side].id };
	sm->params = strdup(params ? params : "");
	return sm->name && sm->params ? 0 : -ENOMEM;
}

int swap_state(const struct swap_facts *f, enum side side, const char *digest, struct state *ret)
{
	_cleanup_state_ struct state s = { 0 };
	int err = 0;

	s.boot_id = strdup(f->kernel.boot_id);
	s.label = strdup(f->label[side]);
	s.digest = strdup(digest ? digest : "");
	s.m = calloc(f->n + 1, sizeof(*s.m));
	s.b = calloc(f->n_bound[side] + 1, sizeof(*s.b));
	if (!s.boot_id || !s.label || !s.digest || !s.m || !s.b)
		return -ENOMEM;
	for (size_t i = 0; !err && i < f->n; i++)
		if (f->m[i].role != ROLE_HOST) /* harmless leftovers: nobody's goal */
			err = state_add(&s, &f->m[i], side);
	for (size_t i = 0; !err && i < f->n_bound[side]; i++) {
		struct state_binding *b = &s.b[s.n_b++];

		b->device = strdup(f->bound[side][i].device);
		b->module = strdup(f->bound[side][i].module);
		err = b->device && b->module ? 0 : -ENOMEM;
	}
	if (err)
		return err;
	*ret = s;
	s = (struct state){ 0 };
	return 0;
}
