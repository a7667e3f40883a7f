/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/compiler.h"

#include <ctype.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/child.h"
#include "common/parse.h"
#include "tree/folder.h"

#define RUN_TIMEOUT_MS 30000
#define TOOLSETS "/opt/rh"

static const char DIGITS[] = "0123456789";

/* ---- versions and names */

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !strncmp(text + len - n, end, n);
}

/* gcc, gcc-12, x86_64-linux-gnu-gcc-13, cc */
static bool is_gcc_name(const char *name, size_t len)
{
	while (len && (isdigit((unsigned char)name[len - 1]) || name[len - 1] == '.'))
		len--;
	len -= len && name[len - 1] == '-';
	return (len == 3 && !strncmp(name, "gcc", 3)) || (len == 2 && !strncmp(name, "cc", 2)) ||
	       ends_with(name, len, "-gcc");
}

/* Behind "(GCC (x)) ". */
static const char *skip_brackets(const char *text)
{
	unsigned depth = 0;

	text += strspn(text, " ");
	if (*text != '(')
		return text;
	for (; *text; text++) {
		depth += *text == '(';
		if (*text == ')' && --depth == 0)
			return text + 1 + strspn(text + 1, " ");
	}
	return text;
}

/* "12.2.0", "7.5", "17.0.6git" */
static int parse_numbers(const char *text, struct compiler_version *v)
{
	unsigned *const parts[] = { &v->major, &v->minor, &v->patch };

	for (size_t i = 0; i < 3; i++) {
		size_t len = strspn(text, DIGITS);

		if (len == 0)
			return i ? 0 : -EINVAL;
		if (len > 6)
			return -EINVAL;
		for (*parts[i] = 0; len; len--)
			*parts[i] = *parts[i] * 10 + (unsigned)(*text++ - '0');
		if (*text++ != '.')
			return 0;
	}
	return 0;
}

int compiler_parse(const char *text, struct compiler_version *ret)
{
	static const char CLANG[] = "clang version ";
	struct compiler_version v = { 0 };
	const char *at = strstr(text, CLANG);
	size_t len = strcspn(text, " ");
	int r;

	if (at && (at == text || at[-1] == ' ')) {
		v.clang = true;
		at += strlen(CLANG);
	} else if (is_gcc_name(text, len)) {
		at = skip_brackets(text + len);
	} else {
		return -EINVAL;
	}
	r = parse_numbers(at, &v);
	if (r == 0)
		*ret = v;
	return r;
}

/* What it says but for the name that it was called by. */
static const char *without_name(const struct compiler_version *v, const char *text)
{
	return v->clang ? text : text + strcspn(text, " ");
}

bool compiler_same(const char *a, const char *b)
{
	struct compiler_version va, vb;

	return compiler_parse(a, &va) == 0 && compiler_parse(b, &vb) == 0 && va.clang == vb.clang &&
	       !strcmp(without_name(&va, a), without_name(&vb, b));
}

/* ---- what is wanted */

struct wanted {
	const char *text; /* may be NULL though the version is told */
	bool told;
	struct compiler_version version;
};

/* CONFIG_GCC_VERSION=120200: 4.18 to 5.7 have no text. */
static bool version_number(const struct kconfig *c, const char *name, struct compiler_version *v)
{
	_cleanup_free_ char *text = NULL;
	uint64_t number;
	size_t len;
	const char *value = kconfig_value(c, name, &len);

	text = value ? strndup(value, len) : NULL;
	if (!text || parse_u64(text, 10, 10000, 99999999, &number) < 0)
		return false;
	v->major = (unsigned)(number / 10000);
	v->minor = (unsigned)(number / 100 % 100);
	v->patch = (unsigned)(number % 100);
	return true;
}

static struct wanted what_is_wanted(const struct headers *h)
{
	struct wanted w = { .text = h->compiler };

	w.told = w.text && compiler_parse(w.text, &w.version) == 0;
	if (w.told)
		return w;
	w.version.clang = kconfig_has(&h->config, "CC_IS_CLANG");
	w.told = version_number(&h->config, w.version.clang ? "CLANG_VERSION" : "GCC_VERSION",
				&w.version);
	return w;
}

static const char *kind_of(const struct compiler_version *v)
{
	return v->clang ? "clang" : "gcc";
}

static bool same_version(const struct compiler_version *a, const struct compiler_version *b)
{
	return a->major == b->major && a->minor == b->minor && a->patch == b->patch;
}

/* ---- those that are here */

struct candidate {
	char *path;
	char *text; /* NULL: not run yet, or no compiler after all */
	char suffix[16];
	unsigned named; /* the major version in its name; 0: none */
	bool run;
	struct compiler_version version; /* clang: by its name, until it was run */
};

struct candidates {
	struct candidate *c;
	size_t n;
};

static void candidates_clear(struct candidates *all)
{
	for (size_t i = 0; i < all->n; i++) {
		free(all->c[i].path);
		free(all->c[i].text);
	}
	free(all->c);
}
#define _cleanup_candidates_ _cleanup_(candidates_clear)

/* "-linux-gnu", "-redhat-linux": modules are built by it; not "-w64-mingw32", "-linux-gnux32". */
static bool is_system(const char *text, size_t len)
{
	return *text == '-' &&
	       (ends_with(text, len, "-linux") || ends_with(text, len, "-linux-gnu") ||
		ends_with(text, len, "-linux-musl"));
}

/* Behind the triplet of this machine, if there is one; a cross compiler's is part of the name. */
static const char *without_triplet(const char *name)
{
	struct utsname uts;
	const char *gcc = strstr(name, "-gcc"), *at = name, *machine = uts.machine;
	size_t len;

	if (!gcc || uname(&uts) < 0)
		return name;
	if (!strncmp(name, "power", 5) && *machine == 'p') { /* powerpc64le is ppc64le */
		at += strlen("power");
		machine++;
	}
	len = strlen(machine);
	if (strncmp(at, machine, len) || gcc <= at + len)
		return name;
	return is_system(at + len, (size_t)(gcc - at) - len) ? gcc + 1 : name;
}

/* gcc, clang-14, x86_64-linux-gnu-gcc-12. */
static bool is_candidate(const char *name, struct candidate *c)
{
	const char *base = without_triplet(name);
	size_t len = !strncmp(base, "clang", 5) ? 5 : !strncmp(base, "gcc", 3) ? 3 : 0, digits;
	struct compiler_version named = { 0 };

	if (!len)
		return false;
	c->version.clang = len == 5;
	base += len;
	if (!*base)
		return true;
	digits = *base == '-' ? strspn(base + 1, "0123456789.") : 0;
	if (!digits || base[1 + digits] || strlen(base) >= sizeof(c->suffix) ||
	    parse_numbers(base + 1, &named) < 0)
		return false;
	memcpy(c->suffix, base, strlen(base) + 1);
	c->named = named.major;
	return true;
}

static int add_candidate(struct candidates *all, const char *dir, const char *name)
{
	struct candidate c = { 0 }, *more;
	_cleanup_free_ char *path = NULL;

	if (!is_candidate(name, &c))
		return 0;
	if (folder_join(dir, name, &path) < 0)
		return -ENOMEM;
	if (access(path, X_OK) < 0)
		return 0;
	more = reallocarray(all->c, all->n + 1, sizeof(c));
	if (!more)
		return -ENOMEM;
	all->c = more;
	c.path = TAKE_PTR(path);
	all->c[all->n++] = c;
	return 0;
}

/* A directory that cannot be read has no compilers. */
static int add_dir(struct candidates *all, const char *dir)
{
	_cleanup_(sysroot_freep) struct sysroot *root = NULL;
	_cleanup_strv_ char **names = NULL;
	int r = *dir == '/' ? sysroot_open(dir, &root) : -ENOENT;

	if (r == 0)
		r = sysroot_list(root, ".", &names);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (char **name = names; r == 0 && *name; name++)
		r = add_candidate(all, dir, *name);
	return r;
}

static int add_toolsets(struct candidates *all)
{
	_cleanup_(sysroot_freep) struct sysroot *root = NULL;
	_cleanup_strv_ char **names = NULL;
	int r = sysroot_open(TOOLSETS, &root);

	if (r == 0)
		r = sysroot_list(root, ".", &names);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (char **name = names; r == 0 && *name; name++) {
		_cleanup_free_ char *dir = NULL;

		if (strncmp(*name, "gcc-toolset-", strlen("gcc-toolset-")))
			continue;
		if (asprintf(&dir, TOOLSETS "/%s/root/usr/bin", *name) < 0)
			return -ENOMEM;
		r = add_dir(all, dir);
	}
	return r;
}

/* The same directory by two names (/bin, /usr/bin) counts once. */
static bool seen_before(char *const dirs[], size_t i)
{
	_cleanup_free_ char *real = realpath(dirs[i], NULL);
	bool seen = !real;

	for (size_t j = 0; !seen && j < i; j++) {
		_cleanup_free_ char *other = realpath(dirs[j], NULL);

		seen = other && !strcmp(real, other);
	}
	return seen;
}

static int find_candidates(const char *search, struct candidates *all)
{
	_cleanup_strv_ char **dirs = NULL;
	int r = parse_words(search, ":", &dirs);

	for (size_t i = 0; r == 0 && dirs[i]; i++)
		if (!seen_before(dirs, i))
			r = add_dir(all, dirs[i]);
	return r < 0 ? r : add_toolsets(all);
}

static void on_version_line(void *data, const char *line)
{
	struct candidate *c = data;
	struct compiler_version v;

	if (c->text || compiler_parse(line, &v) < 0)
		return;
	c->text = strdup(line);
	c->version = v;
}

/* A program that does not tell its version is no compiler. */
static int run_candidate(struct candidate *c, const char *search)
{
	_cleanup_child_result_ struct child_result res = { 0 };
	_cleanup_free_ char *path = NULL;
	int r;

	if (c->run)
		return 0;
	c->run = true;
	if (asprintf(&path, "PATH=%s", search) < 0)
		return -ENOMEM;
	r = child_run(
		&(struct child_spec){ .argv = (const char *const[]){ c->path, "--version", NULL },
				      .env = (const char *const[]){ path, "LC_ALL=C", NULL },
				      .stop_fd = -1,
				      .grace_ms = 1000,
				      .timeout_ms = RUN_TIMEOUT_MS,
				      .line = on_version_line,
				      .data = c },
		&res);
	return r == -ENOMEM ? r : 0;
}

/* 0: does not fit; else the higher, the better. */
static unsigned rate(const struct candidate *c, const struct wanted *w)
{
	bool kind = c->version.clang == w->version.clang;

	if (!c->text)
		return 0;
	if (!w->told)
		return 1 + (c->named == 0) + 2 * kind;
	if (!kind || c->version.major != w->version.major)
		return 0;
	if (w->text && !strcmp(c->text, w->text))
		return 4;
	if (w->text && compiler_same(c->text, w->text))
		return 3;
	return same_version(&c->version, &w->version) ? 2 : 1;
}

/* Those whose name alone says that they are another are run only if nothing else fits. */
static bool may_fit(const struct candidate *c, const struct wanted *w)
{
	return !w->told || (c->version.clang == w->version.clang &&
			    (!c->named || c->named == w->version.major));
}

static int best_of(struct candidates *all, const struct wanted *w, const char *search,
		   bool (*which)(const struct candidate *c, const struct wanted *w),
		   const struct candidate **ret)
{
	unsigned best = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < all->n; i++) {
		struct candidate *c = &all->c[i];

		if (which && !which(c, w))
			continue;
		r = run_candidate(c, search);
		if (r == 0 && rate(c, w) > best) {
			best = rate(c, w);
			*ret = c;
		}
	}
	return r;
}

/* ---- choosing */

static bool is_listed(const struct candidates *all, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (all->c[j].text && !strcmp(all->c[j].text, all->c[i].text))
			return true;
	return false;
}

/* "gcc-11 (Debian 11.3.0-12) 11.3.0, Debian clang version 14.0.6"; "": none */
static int list_texts(const struct candidates *all, char **ret)
{
	char *text = NULL;
	size_t len, n = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < all->n; i++)
		if (all->c[i].text && !is_listed(all, i))
			(void)fprintf(f, "%s%s", n++ ? ", " : "", all->c[i].text);
	if (fclose(f) != 0) {
		free(text);
		return -ENOMEM;
	}
	*ret = text;
	return 0;
}

static int say_none(const struct candidates *all, const struct wanted *w, const char *kernel,
		    const char *search, struct verdicts *why)
{
	_cleanup_free_ char *here = NULL, *object = NULL, *built = NULL;
	const struct compiler_version *v = &w->version;
	const char *kind = kind_of(v);
	int r = list_texts(all, &here);

	if (r < 0)
		return r;
	if ((w->told ? asprintf(&object, "%s %u", kind, v->major) : asprintf(&object, "%s", kind)) <
		    0 ||
	    (w->text ? asprintf(&built, "%s", w->text)
		     : asprintf(&built, "%s %u.%u.%u", kind, v->major, v->minor, v->patch)) < 0)
		return -ENOMEM;
	if (*here) {
		verdicts_no(why, REASON_COMPILER_MISMATCH, object, "%s was built by %s; here: %s",
			    kernel, built, here);
		return -ENOEXEC;
	}
	verdicts_no(why, REASON_COMPILER_MISSING, object, "%s%s%s; neither gcc nor clang in %s",
		    kernel, w->told ? " was built by " : "", w->told ? built : "", search);
	return -ENOENT;
}

/* The program's name at the start of a text, if it is one that may be linked to. */
static int called_by(const char *text, char **ret)
{
	size_t len = text ? strcspn(text, " ") : 0;
	const char *name = len ? memrchr(text, '/', len) : NULL;

	name = name ? name + 1 : text;
	len -= (size_t)(name - text);
	if (!len || !is_gcc_name(name, len)) {
		*ret = NULL;
		return 0;
	}
	*ret = strndup(name, len);
	return *ret ? 0 : -ENOMEM;
}

static int take_candidate(const struct candidate *c, const struct headers *h, struct compiler *ret)
{
	bool clang = c->version.clang;
	_cleanup_compiler_ struct compiler made = {
		.clang = clang,
		.llvm = clang && kconfig_has(&h->config, "LD_IS_LLD"),
		.toolset = !strncmp(c->path, TOOLSETS "/", strlen(TOOLSETS "/")),
		.path = strdup(c->path),
		.text = strdup(c->text),
		.suffix = strdup(clang ? c->suffix : ""),
	};
	int r = clang ? 0 : called_by(h->compiler, &made.called);

	if (r < 0 || !made.path || !made.text || !made.suffix)
		return -ENOMEM;
	*ret = made;
	made = (struct compiler){ 0 };
	return 0;
}

int compiler_choose(const struct headers *h, const char *kernel, const char *search,
		    struct compiler *ret, struct verdicts *why)
{
	_cleanup_candidates_ struct candidates all = { 0 };
	struct wanted w = what_is_wanted(h);
	const struct candidate *best = NULL;
	int r = find_candidates(search, &all);

	if (r == 0)
		r = best_of(&all, &w, search, may_fit, &best);
	if (r == 0 && !best)
		r = best_of(&all, &w, search, NULL, &best);
	if (r < 0)
		return r;
	return best ? take_candidate(best, h, ret) : say_none(&all, &w, kernel, search, why);
}

void compiler_clear(struct compiler *c)
{
	free(c->path);
	free(c->text);
	free(c->suffix);
	free(c->called);
	*c = (struct compiler){ 0 };
}

/* ---- links */

/* Of a path, without its last slash; of "/x" it is empty. */
static int dir_of(const char *path, char **ret)
{
	*ret = strndup(path, (size_t)(strrchr(path, '/') - path));
	return *ret ? 0 : -ENOMEM;
}

static int link_names(const struct compiler *c, const char *kind, const struct sysroot *dir)
{
	struct compiler_version v = { 0 };
	_cleanup_free_ char *numbered = NULL;
	int r = compiler_parse(c->text, &v);

	if (r < 0)
		return r;
	if (asprintf(&numbered, "%s-%u", kind, v.major) < 0)
		return -ENOMEM;
	r = sysroot_link(dir, c->path, kind);
	if (r == 0)
		r = sysroot_link(dir, c->path, "cc");
	return r < 0 ? r : sysroot_link(dir, c->path, numbered);
}

/* Those beside it, by their names with this in front, where there is none of that name. */
static int link_binutils(const char *beside, const char *prefix, const struct sysroot *dir)
{
	static const char *const names[] = { "as",      "ld",      "ar",      "nm",
					     "objcopy", "objdump", "readelf", "strip" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(names) / sizeof(*names); i++) {
		_cleanup_free_ char *plain = NULL, *full = NULL;

		if (asprintf(&plain, "%s/%s", beside, names[i]) < 0 ||
		    asprintf(&full, "%s/%s%s", beside, prefix, names[i]) < 0)
			return -ENOMEM;
		if (access(plain, X_OK) < 0 || (*prefix && access(full, X_OK) == 0))
			continue;
		r = sysroot_link(dir, plain, strrchr(full, '/') + 1);
	}
	return r;
}

/* x86_64-linux-gnu-gcc-12, as the kernel's makefiles call it, and without its number. */
static int link_called(const struct compiler *c, const char *beside, const struct sysroot *dir)
{
	_cleanup_free_ char *plain = NULL, *prefix = NULL;
	const char *gcc = c->called ? strstr(c->called, "-gcc") : NULL;
	size_t len;
	int r;

	if (!gcc)
		return c->called ? sysroot_link(dir, c->path, c->called) : 0;
	len = (size_t)(gcc - c->called) + 1; /* with the dash */
	plain = strndup(c->called, len + strlen("gcc"));
	prefix = strndup(c->called, len);
	if (!plain || !prefix)
		return -ENOMEM;
	r = sysroot_link(dir, c->path, c->called);
	if (r == 0)
		r = sysroot_link(dir, c->path, plain);
	/* where makefiles set CROSS_COMPILE, and only ld is there */
	return r < 0 ? r : link_binutils(beside, prefix, dir);
}

static int link_gcc(const struct compiler *c, const struct sysroot *dir)
{
	_cleanup_free_ char *beside = NULL;
	int r = dir_of(c->path, &beside);

	if (r == 0)
		r = link_names(c, "gcc", dir);
	if (r == 0 && c->toolset)
		r = link_binutils(beside, "", dir);
	return r < 0 ? r : link_called(c, beside, dir);
}

/* ld.lld-19 beside clang-19; else where clang really is (/usr/lib/llvm-19/bin); else any. */
static int find_llvm(const struct compiler *c, const char *name, char **ret)
{
	_cleanup_free_ char *real = realpath(c->path, NULL), *real_dir = NULL, *beside = NULL;
	_cleanup_free_ char *with = NULL, *within = NULL, *plain = NULL;

	if (!real)
		return -errno;
	if (dir_of(real, &real_dir) < 0 || dir_of(c->path, &beside) < 0 ||
	    asprintf(&with, "%s/%s%s", beside, name, c->suffix) < 0 ||
	    asprintf(&within, "%s/%s", real_dir, name) < 0 ||
	    asprintf(&plain, "%s/%s", beside, name) < 0)
		return -ENOMEM;
	*ret = access(with, X_OK) == 0     ? TAKE_PTR(with)
	       : access(within, X_OK) == 0 ? TAKE_PTR(within)
	       : access(plain, X_OK) == 0  ? TAKE_PTR(plain)
					   : NULL;
	return *ret ? 0 : -ENOENT;
}

static int link_clang(const struct compiler *c, const struct sysroot *dir)
{
	static const char *const names[] = { "ld.lld",       "llvm-ar",      "llvm-nm",
					     "llvm-objcopy", "llvm-objdump", "llvm-readelf",
					     "llvm-strip" };
	int r = link_names(c, "clang", dir);

	if (r == 0 && !c->llvm)
		r = sysroot_link(dir, c->path, "gcc");
	for (size_t i = 0; r == 0 && i < sizeof(names) / sizeof(*names); i++) {
		_cleanup_free_ char *path = NULL;

		r = find_llvm(c, names[i], &path);
		r = r == 0 ? sysroot_link(dir, path, names[i]) : r == -ENOENT ? 0 : r;
	}
	return r;
}

int compiler_links(const struct compiler *c, const struct sysroot *dir)
{
	return c->clang ? link_clang(c, dir) : link_gcc(c, dir);
}
