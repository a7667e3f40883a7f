/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/distribution.h"

#include <ctype.h>
#include <string.h>

#define OS_RELEASE_MAX ((size_t)1 << 20)

struct distribution {
	const char *id;
	int (*package)(const char *kernel, char **ret);
};

static int debian_package(const char *kernel, char **ret)
{
	return asprintf(ret, "linux-headers-%s", kernel);
}

/* "4.18.0-553.rt7.342.el8_10.x86_64": of RHEL 8 and early 9 */
static bool is_rt(const char *kernel)
{
	const char *rt = strstr(kernel, ".rt");

	return rt && isdigit((unsigned char)rt[3]);
}

/* "5.14.0-503.el9.x86_64+rt" is kernel-rt's; Oracle's own has "uek" in its release. */
static int rpm_package(const char *kernel, char **ret)
{
	const char *kind = strchr(kernel, '+');

	if (kind)
		return asprintf(ret, "kernel-%s-devel-%.*s", kind + 1, (int)(kind - kernel),
				kernel);
	return asprintf(ret, "kernel-%sdevel-%s",
			strstr(kernel, "uek") ? "uek-"
			: is_rt(kernel)       ? "rt-"
					      : "",
			kernel);
}

/* zypper's form: NAME=VERSION */
static int suse_package(const char *kernel, char **ret)
{
	const char *flavour = strrchr(kernel, '-');

	if (!flavour)
		return asprintf(ret, "kernel-default-devel=%s", kernel);
	return asprintf(ret, "kernel-%s-devel=%.*s", flavour + 1, (int)(flavour - kernel), kernel);
}

/* Systems that are images have none to install, whatever they are like. */
static int no_package(const char *kernel, char **ret)
{
	return asprintf(ret, "the headers of kernel %s", kernel);
}

static const struct distribution distributions[] = {
	{ "debian", debian_package },
	{ "ubuntu", debian_package },
	{ "rhel", rpm_package },
	{ "rocky", rpm_package },
	{ "centos", rpm_package },
	{ "almalinux", rpm_package },
	{ "fedora", rpm_package },
	{ "ol", rpm_package },
	{ "amzn", rpm_package },
	{ "azurelinux", rpm_package },
	{ "sles", suse_package },
	{ "suse", suse_package },
	{ "opensuse", suse_package },
	{ "opensuse-leap", suse_package },
	{ "opensuse-tumbleweed", suse_package },
	{ "rhcos", no_package },
	{ "coreos", no_package },
	{ "flatcar", no_package },
	{ "cos", no_package },
};

/* man 5 os-release: KEY=value, quoted or not. NULL: not told. */
static const char *os_release(const char *text, const char *key, size_t *ret_len)
{
	size_t len = strlen(key);
	const char *line = text;

	while (line && (strncmp(line, key, len) || line[len] != '=')) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line)
		return NULL;
	line += len + 1;
	line += *line == '"' || *line == '\'';
	*ret_len = strcspn(line, "\"'\r\n");
	return line;
}

/* The first of the words in the value of key that is known. */
static const struct distribution *known_distribution(const char *text, const char *key)
{
	size_t left, len;
	const char *word = os_release(text, key, &left);

	for (; word && left; word += len, left -= len) {
		len = strspn(word, " ");
		len = len > left ? left : len;
		word += len;
		left -= len;
		len = strcspn(word, " ");
		len = len > left ? left : len;
		for (size_t i = 0; i < sizeof(distributions) / sizeof(*distributions); i++)
			if (strlen(distributions[i].id) == len &&
			    !strncmp(distributions[i].id, word, len))
				return &distributions[i];
	}
	return NULL;
}

/* VARIANT_ID=coreos: an image, though its ID may be that of a distribution with packages. */
int distribution_package(const struct sysroot *root, const char *kernel, char **ret)
{
	static const char *const files[] = { "etc/os-release", "usr/lib/os-release" };
	static const char *const keys[] = { "VARIANT_ID", "ID", "ID_LIKE" };
	_cleanup_free_ char *text = NULL;
	const struct distribution *d = NULL;

	for (size_t i = 0; !text && i < 2; i++)
		(void)sysroot_read(root, files[i], OS_RELEASE_MAX, &text, NULL);
	for (size_t i = 0; text && !d && i < 3; i++)
		d = known_distribution(text, keys[i]);
	return (d ? d->package : no_package)(kernel, ret) < 0 ? -ENOMEM : 0;
}
