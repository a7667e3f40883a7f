/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/kconfig.h"

#include <string.h>

#include "common/digest.h"

#define CONFIG_MAX ((size_t)4 << 20)

int kconfig_read(const struct sysroot *root, const char *path, struct kconfig *ret)
{
	_cleanup_kconfig_ struct kconfig c = { 0 };
	size_t len;
	int r = sysroot_read(root, path, CONFIG_MAX, &c.text, &len);

	if (r == 0)
		r = digest_of(c.text, len, c.sha256);
	if (r < 0)
		return r;
	*ret = c;
	c.text = NULL;
	return 0;
}

void kconfig_clear(struct kconfig *c)
{
	free(c->text);
	*c = (struct kconfig){ 0 };
}

/* What is behind "CONFIG_NAME=" if that is how the line begins. */
static const char *line_value(const char *line, const char *name)
{
	static const char PREFIX[] = "CONFIG_";
	size_t len = strlen(name);

	if (strncmp(line, PREFIX, strlen(PREFIX)))
		return NULL;
	line += strlen(PREFIX);
	return !strncmp(line, name, len) && line[len] == '=' ? line + len + 1 : NULL;
}

const char *kconfig_value(const struct kconfig *c, const char *name, size_t *ret_len)
{
	const char *value = NULL, *line = c->text;
	size_t len;

	while (line && !value) {
		value = line_value(line, name);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!value)
		return NULL;
	len = strcspn(value, "\r\n");
	if (len >= 2 && value[0] == '"' && value[len - 1] == '"') {
		value++;
		len -= 2;
	}
	*ret_len = len;
	return value;
}

bool kconfig_has(const struct kconfig *c, const char *name)
{
	size_t len;
	const char *value = kconfig_value(c, name, &len);

	return value && len == 1 && (*value == 'y' || *value == 'm');
}
