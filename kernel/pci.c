/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/pci.h"

#include <fcntl.h>
#include <pci/pci.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "kernel/sysfs.h"

/*
 * libpci's error callback must not return and learns nothing but a text: this is where it goes
 * instead, the one variable outside of a function that its interface asks for.
 */
static _Thread_local jmp_buf *escape;

static __attribute__((noreturn)) void leave(char *msg, ...)
{
	(void)msg;
	longjmp(*escape, 1);
}

static void ignore(char *msg, ...)
{
	(void)msg;
}

/* False: libpci gave up. */
static bool attempt(void (*call)(struct pci_access *, struct pci_dev *), struct pci_access *access,
		    struct pci_dev *dev)
{
	jmp_buf here;

	if (setjmp(here))
		return false;
	escape = &here;
	call(access, dev);
	return true;
}

static void scan(struct pci_access *access, struct pci_dev *dev)
{
	(void)dev;
	pci_init(access);
	pci_scan_bus(access);
}

static void fill(struct pci_access *access, struct pci_dev *dev)
{
	(void)access;
	pci_fill_info(dev, PCI_FILL_IDENT | PCI_FILL_CLASS);
}

/* NULL stays NULL where there is no such link. */
static int link_name(const struct sysroot *root, const char *address, const char *link, char **ret)
{
	_cleanup_free_ char *dir = NULL;
	int r;

	if (asprintf(&dir, "sys/bus/pci/devices/%s", address) < 0)
		return -ENOMEM;
	r = sysfs_link_name(root, dir, link, ret);
	return r == -ENOENT ? 0 : r;
}

static int add(const struct sysroot *root, const struct pci_dev *dev, struct pci_devices *devs)
{
	struct pci_device *d = &devs->d[devs->n++];

	*d = (struct pci_device){
		.vendor = dev->vendor_id,
		.device = dev->device_id,
		.class = dev->device_class,
	};
	(void)snprintf(d->address, sizeof(d->address), "%04x:%02x:%02x.%d",
		       (unsigned int)dev->domain, dev->bus, dev->dev, dev->func & 7);
	if (link_name(root, d->address, "driver", &d->driver) < 0 ||
	    link_name(root, d->address, "driver/module", &d->module) < 0)
		return -ENOMEM;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	return strcmp(((const struct pci_device *)a)->address,
		      ((const struct pci_device *)b)->address);
}

static int read_all(const struct sysroot *root, struct pci_access *access, struct pci_devices *devs)
{
	size_t n = 0;

	if (!attempt(scan, access, NULL))
		return -EIO;
	for (struct pci_dev *dev = access->devices; dev; dev = dev->next)
		n++;
	devs->d = calloc(n + 1, sizeof(*devs->d));
	if (!devs->d)
		return -ENOMEM;
	for (struct pci_dev *dev = access->devices; dev; dev = dev->next) {
		if (attempt(fill, access, dev) && add(root, dev, devs) < 0)
			return -ENOMEM;
	}
	qsort(devs->d, devs->n, sizeof(*devs->d), by_address);
	return 0;
}

int pci_read(const struct sysroot *root, struct pci_devices *ret)
{
	_cleanup_close_ int bus = sysroot_openat(root, "sys/bus/pci", O_PATH | O_DIRECTORY, 0);
	_cleanup_pci_ struct pci_devices devs = { 0 };
	struct pci_access *access;
	char path[32];
	int r;

	if (bus < 0)
		return bus;
	access = pci_alloc();
	if (!access)
		return -ENOMEM;
	access->method = PCI_ACCESS_SYS_BUS_PCI;
	access->error = leave;
	access->warning = ignore;
	access->debug = ignore;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", bus);
	r = pci_set_param(access, "sysfs.path", path) < 0 ? -ENOMEM : read_all(root, access, &devs);
	pci_cleanup(access);
	if (r < 0)
		return r;
	*ret = devs;
	devs = (struct pci_devices){ 0 };
	return 0;
}

void pci_clear(struct pci_devices *devs)
{
	for (size_t i = 0; i < devs->n; i++) {
		free(devs->d[i].driver);
		free(devs->d[i].module);
	}
	free(devs->d);
	*devs = (struct pci_devices){ 0 };
}
