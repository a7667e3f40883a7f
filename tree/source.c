/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/source.h"

#include <fnmatch.h>
#include <string.h>

#include "common/digest.h"
#include "common/parse.h"
#include "tree/folder.h"

#define NOTE ".gdrkit-source"
#define VERSION "1"
#define NOTE_MAX ((size_t)4096)

static bool matches(const char *const patterns[], const char *name)
{
	for (; *patterns; patterns++)
		if (fnmatch(*patterns, name, 0) == 0)
			return true;
	return false;
}

/* What kbuild makes: scripts/Makefile.build, the `clean` target of the kernel's Makefile. */
static bool is_source(const char *name, bool is_dir)
{
	static const char *const WHOLE[] = { ".git", ".tmp_versions", NULL };
	static const char *const PRODUCTS[] = {
		"*.o",    "*.ko",          "*.mod",          "*.mod.c", ".*.cmd",
		".*.o.d", "modules.order", "Module.symvers", NOTE,      NULL
	};

	return !matches(WHOLE, name) && (is_dir || !matches(PRODUCTS, name));
}

int source_copy(const struct sysroot *from, const char *source, const struct sysroot *to,
		const char *dst)
{
	return folder_copy_kept(from, source, to, dst, is_source);
}

/* ---- the note: "VERSION FINGERPRINT WHOLE DIGEST" */

enum { N_VERSION, N_FINGERPRINT, N_WHOLE, N_DIGEST, N_WORDS };

static bool is_digest(const char *text)
{
	return strlen(text) == DIGEST_TEXT - 1 &&
	       strspn(text, "0123456789abcdef") == DIGEST_TEXT - 1;
}

static int read_note(const struct sysroot *root, const char *source, char ***ret)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	_cleanup_strv_ char **words = NULL;
	int r = folder_join(source, NOTE, &path);

	if (r == 0)
		r = sysroot_read(root, path, NOTE_MAX, &text, NULL);
	if (r == 0)
		r = parse_words(text, " \n", &words);
	if (r < 0)
		return r;
	if (strv_length(words) != N_WORDS || strcmp(words[N_VERSION], VERSION) ||
	    !is_digest(words[N_DIGEST]))
		return -EBADMSG;
	*ret = TAKE_PTR(words);
	return 0;
}

/*
 * Layers of an image keep no fractions of an mtime: a source that was noted in one comes out with
 * whole seconds, all of it.
 */
static bool is_true(char *const note[], const char *fingerprint)
{
	return !strcmp(note[N_FINGERPRINT], fingerprint) || !strcmp(note[N_WHOLE], fingerprint);
}

int source_digest(const struct sysroot *root, const char *source, char ret[static 65])
{
	_cleanup_strv_ char **note = NULL;
	char now[DIGEST_TEXT];

	if (read_note(root, source, &note) == 0 &&
	    digest_dir_stat(root, source, is_source, false, now) == 0 && is_true(note, now)) {
		memcpy(ret, note[N_DIGEST], DIGEST_TEXT);
		return 0;
	}
	return digest_dir_kept(root, source, is_source, ret);
}

/* What changes while it is read has another fingerprint then: they are taken first. */
int source_note(const struct sysroot *root, const char *source, char ret[static 65])
{
	_cleanup_free_ char *path = NULL, *line = NULL;
	char fingerprint[DIGEST_TEXT], whole[DIGEST_TEXT], digest[DIGEST_TEXT];
	int r = digest_dir_stat(root, source, is_source, false, fingerprint);

	if (r == 0)
		r = digest_dir_stat(root, source, is_source, true, whole);
	if (r == 0)
		r = digest_dir_kept(root, source, is_source, digest);
	if (r == 0)
		r = folder_join(source, NOTE, &path);
	if (r < 0)
		return r;
	if (asprintf(&line, VERSION " %s %s %s\n", fingerprint, whole, digest) < 0)
		return -ENOMEM;
	r = sysroot_replace(root, path, 0644, line, strlen(line));
	if (r == 0)
		memcpy(ret, digest, DIGEST_TEXT);
	return r;
}
