/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/modinfo.h"

#include <libkmod.h>
#include <stdio.h>
#include <string.h>

#include "common/parse.h"
#include "kernel/modname.h"
#include "kernel/softdep.h"

static void kmod_freep(struct kmod_ctx **ctx)
{
	if (*ctx)
		kmod_unref(*ctx);
}

static void kmod_module_freep(struct kmod_module **mod)
{
	if (*mod)
		kmod_module_unref(*mod);
}

static void kmod_infop(struct kmod_list **list)
{
	kmod_module_info_free_list(*list);
}

static int take_text(struct arena *a, const char *value, const char **ret)
{
	const char *copy;

	if (*ret || !*value) /* get_modinfo() of the kernel takes the first */
		return 0;
	copy = arena_text(a, value, strlen(value));
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

static int append(char ***strv, const char *value)
{
	size_t n = 0;
	char **more, *copy;

	while (*strv && (*strv)[n])
		n++;
	more = reallocarray(*strv, n + 2, sizeof(*more));
	if (!more)
		return -ENOMEM;
	*strv = more;
	more[n] = NULL;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	more[n] = copy;
	more[n + 1] = NULL;
	return 0;
}

static int take_depends(struct module_info *info, const char *value)
{
	_cleanup_strv_ char **names = NULL;
	int r = parse_words(value, ",", &names);

	for (char **n = names; r == 0 && *n; n++) {
		modname_normalize(*n);
		r = append(&info->depends, *n);
	}
	return r;
}

static int take_softdep(struct module_info *info, const char *value)
{
	_cleanup_strv_ char **names = NULL;
	int r = softdep_pre(value, &names);

	for (char **n = names; r == 0 && *n; n++)
		r = append(&info->softdeps, *n);
	return r;
}

static int take_srcversion(struct identity *id, const char *value)
{
	size_t len = strlen(value);

	if (len >= sizeof(id->srcversion))
		return -EBADMSG;
	memcpy(id->srcversion, value, len + 1);
	return 0;
}

static int take(struct module_info *info, struct arena *text, const char *key, const char *value)
{
	const struct {
		const char *key, **to;
	} texts[] = {
		{ "name", &info->name },         { "version", &info->version },
		{ "vermagic", &info->vermagic }, { "license", &info->license },
		{ "signer", &info->signer },     { "sig_hashalgo", &info->sig_hash },
	};

	/* libkmod without OpenSSL */
	if (strcmp(key, "sig_hashalgo") == 0 && strcmp(value, "unknown") == 0)
		return 0;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (strcmp(key, texts[i].key) == 0)
			return take_text(text, value, texts[i].to);
	}
	if (strcmp(key, "srcversion") == 0)
		return take_srcversion(&info->id, value);
	if (strcmp(key, "depends") == 0)
		return take_depends(info, value);
	if (strcmp(key, "softdep") == 0)
		return take_softdep(info, value);
	if (strcmp(key, "import_ns") == 0)
		return append(&info->namespaces, value);
	return 0;
}

static void quiet(void *data, int priority, const char *file, int line, const char *fn,
		  const char *format, va_list args)
{
	(void)data, (void)priority, (void)file, (void)line, (void)fn, (void)format, (void)args;
}

static int read_list(int fd, struct kmod_list **ret)
{
	static const char *const no_config[] = { NULL };
	_cleanup_(kmod_freep) struct kmod_ctx *ctx = kmod_new("/dev/null", no_config);
	_cleanup_(kmod_module_freep) struct kmod_module *mod = NULL;
	char path[32];
	int r;

	if (!ctx)
		return -ENOMEM;
	kmod_set_log_fn(ctx, quiet, NULL);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = kmod_module_new_from_path(ctx, path, &mod);
	if (r == 0)
		r = kmod_module_get_info(mod, ret);
	if (r < 0)
		return r == -ENOMEM ? r : -EBADMSG;
	return 0;
}

static bool is_gpl_compatible(const char *license)
{
	static const char *const compatible[] = {
		"GPL",          "GPL v2",       "GPL and additional rights",
		"Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL",
	};

	for (size_t i = 0; license && i < sizeof(compatible) / sizeof(*compatible); i++) {
		if (strcmp(license, compatible[i]) == 0)
			return true;
	}
	return false;
}

static int need_list(char ***strv)
{
	if (!*strv)
		*strv = calloc(1, sizeof(**strv));
	return *strv ? 0 : -ENOMEM;
}

int modinfo_read(int fd, struct arena *text, struct module_info *info)
{
	_cleanup_(kmod_infop) struct kmod_list *list = NULL;
	struct kmod_list *i;
	int r = read_list(fd, &list);

	if (r < 0)
		return r;
	kmod_list_foreach(i, list) {
		r = take(info, text, kmod_module_info_get_key(i), kmod_module_info_get_value(i));
		if (r < 0)
			return r;
	}
	info->gpl_compatible = is_gpl_compatible(info->license);
	if (need_list(&info->depends) < 0 || need_list(&info->softdeps) < 0 ||
	    need_list(&info->namespaces) < 0)
		return -ENOMEM;
	return 0;
}
