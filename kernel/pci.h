/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCI devices, by libpci on the sysroot's sys/bus/pci (sysfs.path), and the driver that each is
 * bound to. Numbers only: names come from no database.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/sysroot.h"

#define PCI_VENDOR_MELLANOX 0x15b3
#define PCI_VENDOR_NVIDIA 0x10de

struct pci_device {
	char address[20]; /* 0000:01:00.0; domains may have more than four digits */
	uint16_t vendor, device, class;
	/* NULL: not bound; the module that the driver is in (NULL: built in) */
	char *driver, *module;
};

struct pci_devices {
	struct pci_device *d; /* by address */
	size_t n;
};

/*
 * A device that goes away meanwhile is left out. -ENOENT: no PCI bus; -EIO: libpci could not read
 * the list.
 */
int pci_read(const struct sysroot *root, struct pci_devices *ret);
void pci_clear(struct pci_devices *devs);
#define _cleanup_pci_ _cleanup_(pci_clear)
