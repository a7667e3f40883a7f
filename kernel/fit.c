/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/fit.h"

#include <string.h>

#include "kernel/elf.h"

enum { NAMED = 5 }; /* symbols of a kind that get a verdict of their own */

enum finding { FITS, MISSING, OTHER_CRC, GPL_ONLY, NAMESPACE, NO_VERSIONS, UNVERSIONED, UNSEEN };

/* ---- one symbol: resolve_symbol(), check_version(), verify_namespace_is_imported() */

/* EXPORT_SYMBOL_FOR_MODULES (6.16+): "module:kvm,kvm-*" names the modules that may use it. */
static bool names_module(const char *ns, const char *module)
{
	size_t len;

	for (ns += strlen("module:"); *ns; ns += len + (ns[len] == ',')) {
		len = strcspn(ns, ",");
		if (len && ns[len - 1] == '*'
			    ? strncmp(ns, module, len - 1) == 0
			    : strlen(module) == len && strncmp(ns, module, len) == 0)
			return true;
	}
	return false;
}

static bool imports_namespace(const struct module_info *info, const char *ns)
{
	if (!ns)
		return true;
	if (strncmp(ns, "module:", 7) == 0)
		return names_module(ns, info->name);
	return strv_contains(info->namespaces, ns);
}

static enum finding judge_crc(const struct module_info *info, const struct import *imp,
			      const struct exported *e)
{
	if (!e->has_crc) /* a bare name is no evidence */
		return e->gpl_known || !imp->has_crc ? FITS : UNSEEN;
	if (!info->has_versions)
		return NO_VERSIONS;
	if (!imp->has_crc)
		return UNVERSIONED;
	return imp->crc == e->crc ? FITS : OTHER_CRC;
}

static enum finding judge_symbol(const struct module_info *info, const struct exports *exports,
				 const struct import *imp)
{
	const struct exported *e = exports_find(exports, imp->name);
	enum finding found;

	if (!e && imp->weak)
		return FITS;
	if (!e)
		return exports_complete(exports) ? MISSING : UNSEEN;
	if (e->gpl && !info->gpl_compatible) /* then find_symbol() does not see it */
		return imp->weak ? FITS : GPL_ONLY;
	found = judge_crc(info, imp, e);
	if (found == OTHER_CRC || found == NO_VERSIONS)
		return found;
	return imports_namespace(info, e->ns) ? found : NAMESPACE;
}

/* ---- all symbols */

static void refuse_symbol(const struct module *m, enum reason why_code, const char *symbol,
			  const char *detail, size_t more, struct verdicts *why)
{
	_cleanup_free_ char *object = NULL;
	const char *name = module_info(m)->name;

	if (asprintf(&object, "%s: %s", name, symbol) < 0)
		object = NULL;
	if (more)
		verdicts_no(why, why_code, object ? object : name, "%s; and %zu more like it",
			    detail, more);
	else
		verdicts_no(why, why_code, object ? object : name, "%s", detail);
}

struct tally {
	const struct module *m;
	const struct exports *exports;
	const struct import *imports;
	enum finding *found;
	size_t n;
};

static size_t count(const struct tally *t, enum finding what, const struct import **ret_first)
{
	size_t n = 0;

	for (size_t i = t->n; i-- > 0;) {
		if (t->found[i] == what) {
			*ret_first = &t->imports[i];
			n++;
		}
	}
	return n;
}

static int describe(const struct tally *t, enum finding what, const struct import *imp, char **ret)
{
	const struct exported *e = exports_find(t->exports, imp->name);
	const char *owner = e && e->owner ? e->owner : "the kernel";
	const char *license = module_info(t->m)->license;
	int n;

	if (what == MISSING)
		n = asprintf(ret, "nothing that will be live exports it");
	else if (what == OTHER_CRC)
		n = asprintf(ret, "needs 0x%08x, %s has 0x%08x", imp->crc, owner, e->crc);
	else if (what == GPL_ONLY)
		n = asprintf(ret, "of %s, the module's licence is \"%s\"", owner,
			     license ? license : "");
	else
		n = asprintf(ret, "of %s, in namespace %s", owner, e->ns);
	return n < 0 ? -ENOMEM : 0;
}

static void refuse_kind(const struct tally *t, enum finding what, enum reason why_code,
			struct verdicts *why)
{
	const struct import *first;
	size_t left = count(t, what, &first), named = 0;

	for (size_t i = 0; i < t->n && named < NAMED && left; i++) {
		_cleanup_free_ char *detail = NULL;

		if (t->found[i] != what)
			continue;
		named++;
		left--;
		if (describe(t, what, &t->imports[i], &detail) < 0)
			detail = NULL;
		refuse_symbol(t->m, why_code, t->imports[i].name, detail ? detail : "",
			      named == NAMED ? left : 0, why);
	}
}

/* Kinds of which only the number counts. */
static void report_counts(const struct tally *t, struct verdicts *why)
{
	const char *name = module_info(t->m)->name;
	const struct import *first;
	size_t n = count(t, NO_VERSIONS, &first);

	if (n)
		verdicts_no(why, REASON_SYMBOL_CRC_MISMATCH, name,
			    "carries no symbol versions, the kernel has them (%s)", first->name);
	n = count(t, UNVERSIONED, &first);
	if (n)
		verdicts_unknown(why, REASON_SYMBOL_CRC_MISMATCH, name,
				 "carries no version of %zu symbols, the first is %s: some kernels "
				 "refuse that",
				 n, first->name);
	n = count(t, UNSEEN, &first);
	if (n)
		verdicts_unknown(why, REASON_SYMBOL_CRC_MISMATCH, name,
				 "nothing tells of %zu of its %zu symbols, the first is %s", n,
				 t->n, first->name);
}

static void judge_symbols(const struct module *m, const struct exports *exports,
			  struct verdicts *why)
{
	_cleanup_free_ enum finding *found = NULL;
	struct tally t = { .m = m, .exports = exports };

	t.imports = module_imports(m, &t.n);
	found = calloc(t.n + 1, sizeof(*found));
	if (!found) {
		verdicts_no(why, REASON_SYSTEM, module_info(m)->name, "%s", strerror(ENOMEM));
		return;
	}
	t.found = found;
	for (size_t i = 0; i < t.n; i++)
		found[i] = judge_symbol(module_info(m), exports, &t.imports[i]);
	refuse_kind(&t, MISSING, REASON_SYMBOL_MISSING, why);
	refuse_kind(&t, OTHER_CRC, REASON_SYMBOL_CRC_MISMATCH, why);
	refuse_kind(&t, GPL_ONLY, REASON_SYMBOL_GPL_ONLY, why);
	refuse_kind(&t, NAMESPACE, REASON_SYMBOL_NAMESPACE, why);
	report_counts(&t, why);
}

/* ---- its own exports: verify_exported_symbols() */

static const char *other_exporter(const struct exports *exports, const char *module,
				  const char *symbol)
{
	const struct exported *below = exports_below(exports, symbol);
	const struct exported *e = exports_find(exports, symbol);

	if (below && below->owner && strcmp(below->owner, "vmlinux") == 0)
		return below->owner;
	return e && e != below && e->owner && strcmp(e->owner, module) != 0 ? e->owner : NULL;
}

static void judge_exports(const struct module *m, const struct exports *exports,
			  struct verdicts *why)
{
	const char *name = module_info(m)->name;
	size_t n, left = 0, named = 0;
	const struct export *list = module_exports(m, &n);

	for (const struct export *e = list; e < list + n; e++)
		left += other_exporter(exports, name, e->name) != NULL;
	for (const struct export *e = list; e < list + n && named < NAMED && left; e++) {
		const char *owner = other_exporter(exports, name, e->name);
		_cleanup_free_ char *detail = NULL;

		if (!owner)
			continue;
		named++;
		left--;
		if (asprintf(&detail, "%s exports it", owner) < 0)
			detail = NULL;
		refuse_symbol(m, REASON_SYMBOL_DUPLICATE, e->name, detail ? detail : owner,
			      named == NAMED ? left : 0, why);
	}
}

/* ---- the module as a whole */

static bool judge_arch(const struct module_info *info, const struct running *kernel,
		       struct verdicts *why)
{
	uint16_t machine = elf_machine_of(kernel->machine);

	if (!machine || machine == info->machine)
		return true;
	verdicts_no(why, REASON_ARCH_MISMATCH, info->name, "ELF machine %u, %s is %u",
		    info->machine, kernel->machine, machine);
	return false;
}

/* same_magic(): where the module has CRCs, these vouch for the release. */
static void judge_vermagic(const struct module_info *info, const struct fit_world *world,
			   struct verdicts *why)
{
	const char *ours = info->vermagic, *theirs = world->vermagic;
	const char *release = world->kernel->release;
	bool same = true;

	if (!ours) {
		verdicts_no(why, REASON_VERMAGIC_MISMATCH, info->name, "it has no vermagic");
		return;
	}
	if (theirs && info->has_versions)
		same = strcmp(ours + strcspn(ours, " "), theirs + strcspn(theirs, " ")) == 0;
	else if (theirs)
		same = strcmp(ours, theirs) == 0;
	else if (!info->has_versions)
		same = strcspn(ours, " ") == strlen(release) &&
		       strncmp(ours, release, strlen(release)) == 0;
	if (!same)
		verdicts_no(why, REASON_VERMAGIC_MISMATCH, info->name,
			    "built for \"%s\", the kernel is \"%s\"", ours,
			    theirs ? theirs : release);
}

/* module_sig_check(): a lockdown refuses what enforcement would. */
static void judge_signature(const struct module_info *info, const struct running *kernel,
			    struct verdicts *why)
{
	if (info->is_signed && (kernel->sig_enforce || kernel->lockdown))
		verdicts_unknown(why, REASON_SIGNATURE_REJECTED, info->name,
				 "signed%s%s; whether the node has that key cannot be seen",
				 info->signer ? " by " : "", info->signer ? info->signer : "");
	else if (info->is_signed)
		return;
	else if (kernel->sig_enforce)
		verdicts_no(why, REASON_SIGNATURE_REJECTED, info->name, "it is not signed");
	else if (kernel->lockdown)
		verdicts_no(why, REASON_LOCKDOWN, info->name, "it is not signed");
	else if (kernel->lockdown_hidden) /* one for all modules: verdicts_add keeps the first */
		verdicts_unknown(why, REASON_LOCKDOWN, "sys/kernel/security/lockdown",
				 "securityfs is not mounted; a lockdown refuses unsigned modules");
}

void fit_judge(const struct module *m, const struct fit_world *world, struct verdicts *why)
{
	const struct module_info *info = module_info(m);

	if (!judge_arch(info, world->kernel, why))
		return; /* nothing else of it can be compared */
	judge_vermagic(info, world, why);
	judge_signature(info, world->kernel, why);
	judge_symbols(m, world->exports, why);
	judge_exports(m, world->exports, why);
}
