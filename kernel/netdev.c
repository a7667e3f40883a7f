/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/netdev.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/parse.h"
#include "kernel/sysfs.h"

/* An attribute in decimal, or in hex after 0x; 0 where it cannot be read. */
static uint64_t number(const struct sysroot *root, const char *dir, const char *attr)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	uint64_t n = 0;
	bool hex;

	if (asprintf(&path, "%s/%s", dir, attr) < 0 || sysroot_read_attr(root, path, &text) < 0)
		return 0;
	hex = strncmp(text, "0x", 2) == 0;
	(void)parse_u64(hex ? text + 2 : text, hex ? 16 : 10, 0, UINT32_MAX, &n);
	return n;
}

/* IPoIB devices hang on the RDMA device's PCI device, whose driver is not theirs. */
static int module_of(const struct sysroot *root, const char *dir, char **ret)
{
	char *copy;

	if (number(root, dir, "type") != ARPHRD_INFINIBAND)
		return sysfs_link_name(root, dir, "device/driver/module", ret);
	copy = strdup("ib_ipoib");
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

/* ---- who uses it */

static int say(char **use, const char *what, const char *of)
{
	char *more;

	if (asprintf(&more, "%s%s%s%s", *use ? *use : "", *use ? ", " : "", what, of) < 0)
		return -ENOMEM;
	free(*use);
	*use = more;
	return 0;
}

static unsigned int prefix_length(const void *mask, size_t len)
{
	unsigned int n = 0;

	for (const uint8_t *p = mask; p < (const uint8_t *)mask + len; p++)
		n += (unsigned int)__builtin_popcount(*p);
	return n;
}

/* Link-local addresses come by themselves with "up". */
static int say_address(const struct ifaddrs *ifa, char **use)
{
	const struct sockaddr_in6 *in6 = (const void *)ifa->ifa_addr,
				  *mask6 = (void *)ifa->ifa_netmask;
	const struct sockaddr_in *in = (const void *)ifa->ifa_addr,
				 *mask = (void *)ifa->ifa_netmask;
	char text[INET6_ADDRSTRLEN], prefix[16];
	unsigned int bits;

	if (ifa->ifa_addr->sa_family == AF_INET) {
		(void)inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
		bits = mask ? prefix_length(&mask->sin_addr, sizeof(mask->sin_addr)) : 32;
	} else if (ifa->ifa_addr->sa_family == AF_INET6 &&
		   !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)) {
		(void)inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
		bits = mask6 ? prefix_length(&mask6->sin6_addr, sizeof(mask6->sin6_addr)) : 128;
	} else {
		return 0;
	}
	(void)snprintf(prefix, sizeof(prefix), "/%u", bits);
	return say(use, text, prefix);
}

static int say_addresses(const struct ifaddrs *all, const char *name, char **use)
{
	int r = 0;

	for (const struct ifaddrs *i = all; r == 0 && i; i = i->ifa_next) {
		if (i->ifa_addr && strcmp(i->ifa_name, name) == 0)
			r = say_address(i, use);
	}
	return r;
}

/* master and upper_NAME links; a master is an upper one too. */
static int say_stack(const struct sysroot *root, const char *dir, char **use)
{
	_cleanup_free_ char *master = NULL;
	_cleanup_strv_ char **entries = NULL;
	int r = sysfs_link_name(root, dir, "master", &master);

	if (r == 0)
		r = say(use, "member of ", master);
	if (r == -ENOENT)
		r = 0;
	if (r == 0)
		r = sysroot_list(root, dir, &entries);
	for (char **e = entries; r == 0 && *e; e++) {
		if (strncmp(*e, "upper_", 6) == 0 && (!master || strcmp(*e + 6, master) != 0))
			r = say(use, "below ", *e + 6);
	}
	return r;
}

static int read_use(const struct sysroot *root, const char *dir, const char *name,
		    const struct ifaddrs *all, char **ret)
{
	_cleanup_free_ char *use = NULL;
	int r = number(root, dir, "flags") & IFF_UP ? say(&use, "up", "") : 0;

	if (r == 0)
		r = say_addresses(all, name, &use);
	if (r == 0)
		r = say_stack(root, dir, &use);
	if (r == 0)
		*ret = TAKE_PTR(use);
	return r;
}

/* ---- all of them */

/* One that is not of these modules adds nothing. */
static int add(const struct sysroot *root, const char *name, char *const modules[],
	       const struct ifaddrs *all, struct netdevs *devs)
{
	_cleanup_free_ char *module = NULL, *dir = NULL;
	struct netdev *d;
	int r;

	if (asprintf(&dir, "sys/class/net/%s", name) < 0)
		return -ENOMEM;
	r = module_of(root, dir, &module);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (!strv_contains(modules, module))
		return 0;
	d = reallocarray(devs->d, devs->n + 1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	devs->d = d;
	d += devs->n++;
	*d = (struct netdev){ .name = strdup(name), .module = TAKE_PTR(module) };
	return d->name ? read_use(root, dir, name, all, &d->use) : -ENOMEM;
}

static void ifaddrsp(struct ifaddrs **all)
{
	freeifaddrs(*all);
}

int netdevs_read(const struct sysroot *root, char *const modules[], struct netdevs *ret)
{
	_cleanup_netdevs_ struct netdevs devs = { 0 };
	_cleanup_(ifaddrsp) struct ifaddrs *all = NULL;
	_cleanup_strv_ char **names = NULL;
	int r = sysroot_list(root, "sys/class/net", &names);

	if (r == 0 && getifaddrs(&all) < 0)
		return -errno;
	for (char **n = names; r == 0 && *n; n++) {
		r = add(root, *n, modules, all, &devs);
		if (r == -ENOENT) /* gone meanwhile */
			r = 0;
	}
	if (r < 0)
		return r;
	*ret = devs;
	devs = (struct netdevs){ 0 };
	return 0;
}

void netdevs_clear(struct netdevs *devs)
{
	for (size_t i = 0; i < devs->n; i++) {
		free(devs->d[i].name);
		free(devs->d[i].module);
		free(devs->d[i].use);
	}
	free(devs->d);
	*devs = (struct netdevs){ 0 };
}
