// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcisim: PCI devices that are not there. `insmod pcisim.ko file=/path/topology` puts the devices of a topology file
 * on root buses of their own; rmmod takes them away. A device is an array of 4 KiB of configuration space, without
 * BARs and interrupts: a driver that binds finds nothing to work with, says so and leaves.
 *
 * A topology file has one device a line, which hangs below the nearest line above it that is indented less:
 *
 *     host domain=1000                        # a root bus: domain in hex, node=N (NUMA)
 *         root-port
 *             switch-up
 *                 switch-down acs=1d
 *                     connectx7 serial=b83fd20300a1b2c4
 *                 switch-down
 *                     h100 speed=4 width=8
 *
 * After the kind: slot=DD.F (hex; else the next free device), gen=1..5 and width=N (what the device could do),
 * link-gen, link-width (what the link above it has trained to; else the best that both ends can do),
 * acs=none|HEX (ports: no such capability, or its control bits; 0 unless told), id=VVVV:DDDD, subsys=VVVV:DDDD,
 * class=CCSSPP, serial=HEX.
 *
 * Formats: PCI Local Bus 3.0, 6.1 (header); PCI-to-PCI Bridge 1.2, 3.2; PCI Express Base 5.0, 7.5.3 (capability),
 * 7.7.8 (ACS), 7.9.3 (serial number).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/kernel_read_file.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define CFG_SIZE 4096
#define CAP_EXP 0x40
#define EXT_CAP 0x100
#define MAX_FILE (1 << 20)
#define MAX_DEPTH 32

static char *file;
module_param(file, charp, 0444);
MODULE_PARM_DESC(file, "topology file");

enum type {
	HOST = -1,
	ENDPOINT = PCI_EXP_TYPE_ENDPOINT,
	ROOT_PORT = PCI_EXP_TYPE_ROOT_PORT,
	UPSTREAM = PCI_EXP_TYPE_UPSTREAM,
	DOWNSTREAM = PCI_EXP_TYPE_DOWNSTREAM,
};

struct model {
	const char *name;
	enum type type;
	u16 vendor, device, subvendor, subdevice;
	unsigned int class, gen, width;
};

static const struct model models[] = {
	{ "host", HOST },
	{ "root-port", ROOT_PORT, 0x8086, 0x352a, 0, 0, 0x060400, 5, 16 },
	{ "switch-up", UPSTREAM, 0x1000, 0xc030, 0, 0, 0x060400, 5, 16 },
	{ "switch-down", DOWNSTREAM, 0x1000, 0xc030, 0, 0, 0x060400, 5, 16 },
	{ "connectx5", ENDPOINT, 0x15b3, 0x1017, 0x15b3, 0x0008, 0x020000, 3, 16 },
	{ "connectx6", ENDPOINT, 0x15b3, 0x101b, 0x15b3, 0x0006, 0x020700, 4, 16 },
	{ "connectx6-dx", ENDPOINT, 0x15b3, 0x101d, 0x15b3, 0x0016, 0x020000, 4, 16 },
	{ "connectx7", ENDPOINT, 0x15b3, 0x1021, 0x15b3, 0x0041, 0x020700, 5, 16 },
	{ "t4", ENDPOINT, 0x10de, 0x1eb8, 0x10de, 0x12a2, 0x030200, 3, 16 },
	{ "a100", ENDPOINT, 0x10de, 0x20b2, 0x10de, 0x1463, 0x030200, 4, 16 },
	{ "h100", ENDPOINT, 0x10de, 0x2330, 0x10de, 0x16c1, 0x030200, 5, 16 },
	{ "nvme", ENDPOINT, 0x144d, 0xa80a, 0x144d, 0xa801, 0x010802, 4, 4 },
	{ "endpoint", ENDPOINT, 0x1af4, 0x10f0, 0, 0, 0xff0000, 4, 16 },
};

struct sim {
	struct list_head entry;
	struct model model;     /* of the table, changed by the line's words */
	struct sim *host;       /* NULL: this is one */
	struct sim *parent;     /* on a root bus: the host */
	unsigned int next_slot; /* for what hangs below */
	/* of a device */
	unsigned int devfn, link_gen, link_width, acs;
	u64 serial;
	u8 cfg[CFG_SIZE];
	u8 writable[CFG_SIZE]; /* mask of the bits that keep what is written */
	/* of a host */
	unsigned int domain, node, last_bus;
	struct pci_sysdata sysdata;
	struct resource busn;
	struct pci_bus *bus;
};

#define ACS_NONE UINT_MAX
#define NEXT_SLOT UINT_MAX
#define NO_NODE UINT_MAX

static LIST_HEAD(sims);

/* --- configuration space, little endian ------------------------------------------------------- */

static void put(u8 *at, u64 value, int size)
{
	for (; size > 0; size--, value >>= 8)
		*at++ = value;
}

static u32 get(const u8 *at, int size)
{
	u32 value = 0;

	while (size-- > 0)
		value = value << 8 | at[size];
	return value;
}

static u8 bus_of(const struct sim *d)
{
	return d->parent->cfg[PCI_SECONDARY_BUS]; /* a host's is 0 */
}

static struct sim *sim_at(struct pci_bus *bus, unsigned int devfn)
{
	struct sim *d;

	list_for_each_entry(d, &sims, entry) {
		if (d->host && bus->sysdata == &d->host->sysdata && bus->number == bus_of(d) &&
		    devfn == d->devfn)
			return d;
	}
	return NULL;
}

static int cfg_read(struct pci_bus *bus, unsigned int devfn, int at, int size, u32 *value)
{
	struct sim *d = sim_at(bus, devfn);

	*value = d ? get(d->cfg + at, size) : ~0u;
	return d ? PCIBIOS_SUCCESSFUL : PCIBIOS_DEVICE_NOT_FOUND;
}

static int cfg_write(struct pci_bus *bus, unsigned int devfn, int at, int size, u32 value)
{
	struct sim *d = sim_at(bus, devfn);

	if (!d)
		return PCIBIOS_DEVICE_NOT_FOUND;
	for (; size > 0; size--, at++, value >>= 8)
		d->cfg[at] = (d->cfg[at] & ~d->writable[at]) | (value & d->writable[at]);
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops cfg_ops = { .read = cfg_read, .write = cfg_write };

/* --- what the kernel finds in it -------------------------------------------------------------- */

static void fill_header(struct sim *d)
{
	const struct model *m = &d->model;

	put(d->cfg + PCI_VENDOR_ID, m->vendor, 2);
	put(d->cfg + PCI_DEVICE_ID, m->device, 2);
	put(d->cfg + PCI_STATUS, PCI_STATUS_CAP_LIST, 2);
	put(d->cfg + PCI_CLASS_REVISION, m->class << 8, 4);
	put(d->cfg + PCI_CAPABILITY_LIST, CAP_EXP, 1);
	put(d->writable + PCI_COMMAND, 0xffff, 2);
	put(d->writable + PCI_CACHE_LINE_SIZE, 0xffff, 2);
	put(d->writable + PCI_INTERRUPT_LINE, 0xff, 1);
	if (m->type == ENDPOINT) {
		put(d->cfg + PCI_SUBSYSTEM_VENDOR_ID, m->subvendor, 2);
		put(d->cfg + PCI_SUBSYSTEM_ID, m->subdevice, 2);
	}
}

static void fill_bridge(struct sim *d)
{
	struct sim *up;

	put(d->cfg + PCI_HEADER_TYPE, PCI_HEADER_TYPE_BRIDGE, 1);
	put(d->cfg + PCI_PRIMARY_BUS, bus_of(d), 1);
	put(d->cfg + PCI_SECONDARY_BUS, ++d->host->last_bus, 1);
	for (up = d; up != d->host; up = up->parent)
		put(up->cfg + PCI_SUBORDINATE_BUS, d->host->last_bus, 1);
	put(d->cfg + PCI_IO_BASE, 0x00f0, 2); /* base above limit: a closed window */
	put(d->cfg + PCI_MEMORY_BASE, 0x0000fff0, 4);
	put(d->cfg + PCI_PREF_MEMORY_BASE, 0x0000fff0, 4);
	put(d->writable + PCI_PRIMARY_BUS, 0xffffffff, 4);
	put(d->writable + PCI_IO_BASE, 0xf0f0, 2);
	put(d->writable + PCI_MEMORY_BASE, 0xfff0fff0, 4);
	put(d->writable + PCI_PREF_MEMORY_BASE, 0xfff0fff0, 4);
	put(d->writable + PCI_BRIDGE_CONTROL, 0xffff, 2);
}

static void fill_express(struct sim *d)
{
	const struct model *m = &d->model;
	u8 *cap = d->cfg + CAP_EXP, *writable = d->writable + CAP_EXP;
	bool port_down = m->type == ROOT_PORT || m->type == DOWNSTREAM;

	put(cap, PCI_CAP_ID_EXP, 2);
	put(cap + PCI_EXP_FLAGS, m->type << 4 | 2, 2);
	put(cap + PCI_EXP_DEVCAP, PCI_EXP_DEVCAP_RBER | 1, 4); /* payload up to 256 bytes */
	put(cap + PCI_EXP_LNKCAP, (port_down ? PCI_EXP_LNKCAP_DLLLARC : 0) | m->width << 4 | m->gen,
	    4);
	put(cap + PCI_EXP_LNKCAP2, ((1u << m->gen) - 1) << 1, 4);
	put(cap + PCI_EXP_LNKCTL2, m->gen, 2);
	put(writable + PCI_EXP_DEVCTL, 0xffff, 2);
	put(writable + PCI_EXP_LNKCTL, 0xffff & ~PCI_EXP_LNKCTL_RL,
	    2); /* a retraining is over at once */
}

/* A link has two ends, which say the same of it. */
static void train_link(struct sim *d)
{
	struct sim *port = d->parent;
	unsigned int gen = d->link_gen ?: min(d->model.gen, port->model.gen);
	unsigned int width = d->link_width ?: min(d->model.width, port->model.width);

	put(d->cfg + CAP_EXP + PCI_EXP_LNKSTA, width << 4 | gen, 2);
	put(port->cfg + CAP_EXP + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_DLLLA | width << 4 | gen, 2);
}

static void fill_acs(struct sim *d)
{
	u16 all = PCI_ACS_SV | PCI_ACS_TB | PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_UF;

	put(d->cfg + EXT_CAP, 1 << 16 | PCI_EXT_CAP_ID_ACS, 4);
	put(d->cfg + EXT_CAP + PCI_ACS_CAP, all, 2);
	put(d->cfg + EXT_CAP + PCI_ACS_CTRL, d->acs, 2);
	put(d->writable + EXT_CAP + PCI_ACS_CTRL, all, 2);
}

static void fill_serial(struct sim *d)
{
	put(d->cfg + EXT_CAP, 1 << 16 | PCI_EXT_CAP_ID_DSN, 4);
	put(d->cfg + EXT_CAP + 4, d->serial, 8);
}

static void fill(struct sim *d)
{
	fill_header(d);
	if (d->model.type != ENDPOINT)
		fill_bridge(d);
	fill_express(d);
	if (d->parent->model.type == ROOT_PORT || d->parent->model.type == DOWNSTREAM)
		train_link(d);
	if (d->acs != ACS_NONE && (d->model.type == ROOT_PORT || d->model.type == DOWNSTREAM))
		fill_acs(d);
	else if (d->serial)
		fill_serial(d);
}

/* --- a line of the topology file. Each of these returns NULL, or what is wrong with the line -- */

static const struct word {
	const char *key;
	bool of_host;
	unsigned int base, min, max;
	size_t at; /* an unsigned int in struct sim */
} words[] = {
	{ "domain", true, 16, 0, 0xffff, offsetof(struct sim, domain) },
	{ "node", true, 10, 0, MAX_NUMNODES - 1, offsetof(struct sim, node) },
	{ "class", false, 16, 0, 0xffffff, offsetof(struct sim, model.class) },
	{ "gen", false, 10, 1, 6, offsetof(struct sim, model.gen) },
	{ "width", false, 10, 1, 32, offsetof(struct sim, model.width) },
	{ "link-gen", false, 10, 1, 6, offsetof(struct sim, link_gen) },
	{ "link-width", false, 10, 1, 32, offsetof(struct sim, link_width) },
	{ "acs", false, 16, 0, 0x7f, offsetof(struct sim, acs) },
};

static bool parse_number(struct sim *d, const struct word *w, const char *value)
{
	unsigned int number;

	if (kstrtouint(value, w->base, &number) || number < w->min || number > w->max)
		return false;
	*(unsigned int *)((char *)d + w->at) = number;
	return true;
}

static bool parse_id(const char *value, u16 *vendor, u16 *device)
{
	return sscanf(value, "%4hx:%4hx", vendor, device) == 2;
}

static bool parse_slot(const char *value, unsigned int *devfn)
{
	unsigned int slot, function;

	if (sscanf(value, "%x.%x", &slot, &function) != 2 || slot > 31 || function > 7)
		return false;
	*devfn = PCI_DEVFN(slot, function);
	return true;
}

static const char *parse_word(struct sim *d, char *text)
{
	char *key = strsep(&text, "="), *value = text;
	bool of_host = d->model.type == HOST, ok;
	const struct word *w;

	if (!value)
		return "a word is KEY=VALUE";
	for (w = words; w < words + ARRAY_SIZE(words); w++)
		if (!strcmp(w->key, key))
			break;
	if (!of_host && !strcmp(key, "id"))
		ok = parse_id(value, &d->model.vendor, &d->model.device);
	else if (!of_host && !strcmp(key, "subsys"))
		ok = parse_id(value, &d->model.subvendor, &d->model.subdevice);
	else if (!of_host && !strcmp(key, "slot"))
		ok = parse_slot(value, &d->devfn);
	else if (!of_host && !strcmp(key, "serial"))
		ok = !kstrtou64(value, 16, &d->serial);
	else if (w == words + ARRAY_SIZE(words) || w->of_host != of_host)
		return "unknown word";
	else if (!strcmp(key, "acs") && !strcmp(value, "none"))
		d->acs = ACS_NONE, ok = true;
	else
		ok = parse_number(d, w, value);
	return ok ? NULL : "a word's value is out of range";
}

static const char *place(struct sim *d)
{
	enum type up = d->parent->model.type, type = d->model.type;
	struct sim *other;

	if (up == ENDPOINT)
		return "nothing hangs below an endpoint";
	if ((type == ROOT_PORT) != (up == HOST) && type != ENDPOINT)
		return "root ports, and only they and endpoints, stand on a root bus";
	if ((type == DOWNSTREAM) != (up == UPSTREAM))
		return "below a switch-up there are switch-downs, and they are nowhere else";
	if (d->devfn == NEXT_SLOT)
		d->devfn = PCI_DEVFN(d->parent->next_slot, 0);
	if (PCI_SLOT(d->devfn) > 31 ||
	    ((up == ROOT_PORT || up == DOWNSTREAM) && PCI_SLOT(d->devfn)))
		return "no free slot: a port has one, a bus has 32";
	if (type != ENDPOINT && d->host->last_bus == 255)
		return "more than 256 buses";
	list_for_each_entry(other, &sims, entry) {
		if (other->parent != d->parent || PCI_SLOT(other->devfn) != PCI_SLOT(d->devfn))
			continue;
		if (other->devfn == d->devfn)
			return "that slot is taken";
		other->cfg[PCI_HEADER_TYPE] |= 0x80; /* multi-function */
	}
	d->parent->next_slot = PCI_SLOT(d->devfn) + 1;
	return NULL;
}

static const char *check_host(const struct sim *h)
{
	const struct sim *other;

	list_for_each_entry(other, &sims, entry)
		if (!other->host && other->domain == h->domain)
			return "two hosts have that domain";
	return pci_find_bus(h->domain, 0) ? "the machine has that domain already" : NULL;
}

static const char *parse_device(char *line, struct sim *parent)
{
	const char *name = strsep(&line, " \t"), *wrong;
	const struct model *m = models, *end = models + ARRAY_SIZE(models);
	struct sim *d;
	char *word;

	while (m < end && strcmp(m->name, name))
		m++;
	if (m == end)
		return "unknown kind of device";
	if ((m->type == HOST) != !parent)
		return parent ? "a host hangs below nothing" : "the first line of a tree is a host";
	d = kvzalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return "out of memory";
	d->model = *m;
	d->parent = parent;
	d->host = parent && parent->host ? parent->host : parent;
	d->devfn = NEXT_SLOT;
	d->node = NO_NODE;
	wrong = NULL;
	while (!wrong && (word = strsep(&line, " \t")))
		if (*word)
			wrong = parse_word(d, word);
	if (!wrong)
		wrong = parent ? place(d) : check_host(d);
	if (wrong) {
		kvfree(d);
		return wrong;
	}
	if (parent)
		fill(d);
	list_add_tail(&d->entry, &sims);
	return NULL;
}

static const char *parse_line(char *line, unsigned int *indents, struct sim **above,
			      unsigned int *depth)
{
	unsigned int indent;
	char *text = skip_spaces(line);
	const char *wrong;

	strreplace(line, '#', '\0');
	strim(line);
	indent = text - line;
	if (!*text)
		return NULL;
	while (*depth > 0 && indents[*depth - 1] >= indent)
		--*depth;
	if (*depth == MAX_DEPTH)
		return "nested too deep";
	wrong = parse_device(text, *depth > 0 ? above[*depth - 1] : NULL);
	if (wrong)
		return wrong;
	indents[*depth] = indent;
	above[(*depth)++] = list_last_entry(&sims, struct sim, entry);
	return NULL;
}

static int parse_file(char *text)
{
	unsigned int number = 0, depth = 0, indents[MAX_DEPTH];
	struct sim *above[MAX_DEPTH];
	const char *wrong;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		number++;
		wrong = parse_line(line, indents, above, &depth);
		if (wrong) {
			pr_err("%s:%u: %s\n", file, number, wrong);
			return -EINVAL;
		}
	}
	return 0;
}

/* --- in and out ------------------------------------------------------------------------------- */

static int scan_host(struct sim *h)
{
	LIST_HEAD(resources);

	h->sysdata.domain = h->domain;
	h->sysdata.node = h->node == NO_NODE ? NUMA_NO_NODE : (int)h->node;
	h->busn = (struct resource){
		.name = "pcisim", .start = 0, .end = 255, .flags = IORESOURCE_BUS
	};
	pci_add_resource(&resources, &h->busn);
	pci_lock_rescan_remove();
	h->bus = pci_scan_root_bus(NULL, 0, &cfg_ops, &h->sysdata, &resources);
	if (h->bus)
		pci_bus_add_devices(h->bus);
	else
		pci_free_resource_list(&resources);
	pci_unlock_rescan_remove();
	return h->bus ? 0 : -ENOMEM;
}

static void remove_all(void)
{
	struct sim *d, *next;

	list_for_each_entry(d, &sims, entry) {
		if (!d->bus)
			continue;
		pci_lock_rescan_remove();
		pci_stop_root_bus(d->bus);
		pci_remove_root_bus(d->bus);
		pci_unlock_rescan_remove();
	}
	list_for_each_entry_safe(d, next, &sims, entry)
		kvfree(d);
}

static int __init pcisim_init(void)
{
	void *data = NULL;
	struct sim *d;
	ssize_t size;
	char *text;
	int r;

	if (!file)
		return -EINVAL;
	size = kernel_read_file_from_path(file, 0, &data, MAX_FILE, NULL, READING_FIRMWARE);
	if (size < 0)
		return size;
	text = kvzalloc(size + 1, GFP_KERNEL);
	if (text)
		memcpy(text, data, size);
	vfree(data);
	if (!text)
		return -ENOMEM;
	r = parse_file(text);
	kvfree(text);
	list_for_each_entry(d, &sims, entry)
		if (!r && !d->host)
			r = scan_host(d);
	if (r)
		remove_all();
	return r;
}

static void __exit pcisim_exit(void)
{
	remove_all();
}

module_init(pcisim_init);
module_exit(pcisim_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("simulated PCI devices from a topology file");
