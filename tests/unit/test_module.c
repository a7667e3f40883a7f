/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_ko.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "kernel/unpack.h"

#define alpha                                                                \
	KO("alpha")                                                          \
	KO_INFO("version=24.07")                                             \
	KO_INFO("srcversion=533BB7E5866E52F63B9ACCB")                        \
	KO_INFO("depends=ib-core,mlx5_core")                                 \
	KO_INFO("softdep=pre: a-b c post: d")                                \
	KO_INFO("import_ns=DMA_BUF")                                         \
	KO_BUILD_ID KO_IMPORT("zeta", "0xdeadbeef") KO_IMPORT("beta", "0x1") \
		KO_NEEDS_WEAKLY("maybe") KO_VERSION("module_layout", "0x9060323f")

static int open_module(void **state, const char *path, struct verdicts *why)
{
	_cleanup_(module_freep) struct module *m = NULL;
	int r = module_open(((struct fake_node *)*state)->root, path, &m, why);

	assert_true((r == 0) == (m != NULL));
	return r;
}

static void reads_what_a_module_says_of_itself(void **state)
{
	_cleanup_(module_freep) struct module *m = fake_open(*state, "x/alpha.ko", alpha);
	const struct module_info *info = module_info(m);

	assert_string_equal(module_path(m), "x/alpha.ko");
	assert_string_equal(info->name, "alpha");
	assert_string_equal(info->version, "24.07");
	assert_string_equal(info->vermagic, KO_MAGIC);
	assert_string_equal(info->license, "GPL");
	assert_string_equal(info->id.srcversion, "533BB7E5866E52F63B9ACCB");
	assert_string_equal(info->id.build_id, "5e1f0c2d");
	assert_int_equal(info->machine, this_machine());
	assert_string_equal(info->depends[0], "ib_core");
	assert_string_equal(info->depends[1], "mlx5_core");
	assert_null(info->depends[2]);
	assert_string_equal(info->softdeps[0], "a_b");
	assert_string_equal(info->softdeps[1], "c");
	assert_null(info->softdeps[2]);
	assert_string_equal(info->namespaces[0], "DMA_BUF");
	assert_null(info->namespaces[1]);
	assert_true(info->gpl_compatible);
	assert_true(info->has_versions);
	assert_false(info->is_signed);
	assert_null(info->signer);
}

static void what_a_module_does_not_say_is_empty(void **state)
{
	_cleanup_(module_freep) struct module *m =
		fake_open(*state, "bare.ko", KO_THIS("from-the-struct") KO_INFO("x=y"));
	const struct module_info *info = module_info(m);
	size_t n;

	assert_string_equal(info->name, "from_the_struct");
	assert_null(info->version);
	assert_null(info->vermagic);
	assert_null(info->license);
	assert_false(info->gpl_compatible);
	assert_false(info->has_versions);
	assert_false(identity_known(&info->id));
	assert_null(info->depends[0]);
	assert_null(info->softdeps[0]);
	assert_null(info->namespaces[0]);
	(void)module_imports(m, &n);
	assert_int_equal(n, 0);
	(void)module_exports(m, &n);
	assert_int_equal(n, 0);
}

static void assert_import(const struct import *i, const char *name, bool has_crc, uint32_t crc,
			  bool weak)
{
	assert_string_equal(i->name, name);
	assert_int_equal(i->has_crc, has_crc);
	assert_int_equal(i->crc, crc);
	assert_int_equal(i->weak, weak);
}

static void lists_imports_by_name_with_crcs_and_module_layout(void **state)
{
	_cleanup_(module_freep) struct module *m = fake_open(*state, "alpha.ko", alpha);
	size_t n;
	const struct import *i = module_imports(m, &n);

	assert_int_equal(n, 4);
	assert_import(&i[0], "beta", true, 1, false);
	assert_import(&i[1], "maybe", false, 0, true);
	assert_import(&i[2], "module_layout", true, 0x9060323f, false);
	assert_import(&i[3], "zeta", true, 0xdeadbeef, false);
}

#define LONG_NAME "a_symbol_of_rust_that_is_longer_than_the_fifty_five_bytes_of_the_basic_table"

static void reads_the_extended_table_of_crcs(void **state)
{
	_cleanup_(module_freep) struct module *m =
		fake_open(*state, "extended.ko",
			  KO("extended") KO_EXTENDED("beta", "0x2") KO_EXTENDED(LONG_NAME, "0x3")
				  KO_NEEDS(LONG_NAME) KO_NEEDS("beta"));
	size_t n;
	const struct import *i = module_imports(m, &n);

	assert_true(module_info(m)->has_versions);
	assert_int_equal(n, 2);
	assert_import(&i[0], LONG_NAME, true, 3, false);
	assert_import(&i[1], "beta", true, 2, false);
}

static void assert_export(const struct export *e, const char *name, uint32_t crc, bool gpl)
{
	assert_string_equal(e->name, name);
	assert_true(e->has_crc);
	assert_int_equal(e->crc, crc);
	assert_int_equal(e->gpl, gpl);
}

static void lists_exports_with_crc_licence_class_and_namespace(void **state)
{
	_cleanup_(module_freep) struct module *m = fake_open(
		*state, "x.ko",
		KO("x") KO_EXPORT("second", "0x22") KO_EXPORT_GPL("first", "0x11")
			KO_EXPORT_IN("__ksymtab_gpl", "third", "DMA_BUF") KO_CRC("third", "0x33")
				KO_EXPORT_IN("__ksymtab", "without", ""));
	size_t n;
	const struct export *e = module_exports(m, &n);

	assert_int_equal(n, 4);
	assert_export(&e[0], "first", 0x11, true);
	assert_null(e[0].ns);
	assert_export(&e[1], "second", 0x22, false);
	assert_export(&e[2], "third", 0x33, true);
	assert_string_equal(e[2].ns, "DMA_BUF");
	assert_string_equal(e[3].name, "without");
	assert_false(e[3].has_crc);
}

static void reads_crcs_that_are_absolute_symbols_as_before_5_19(void **state)
{
	_cleanup_(module_freep) struct module *m =
		fake_open(*state, "old.ko",
			  KO("old") KO_EXPORT_IN("__ksymtab", "f", "") ".globl __crc_f\n"
								       "__crc_f = 0xcafe0001\n");
	size_t n;
	const struct export *e = module_exports(m, &n);

	assert_int_equal(n, 1);
	assert_export(&e[0], "f", 0xcafe0001, false);
}

static void reads_the_licence_class_from_flags_where_sections_no_longer_tell(void **state)
{
	_cleanup_(module_freep) struct module *m = fake_open(
		*state, "new.ko",
		KO("new") KO_EXPORT("plain", "1") KO_EXPORT(
			"gpl",
			"2") ".section __kflagstab,\"a\"\n__flags_gpl: .byte 1\n__flags_plain: .byte 0\n");
	size_t n;
	const struct export *e = module_exports(m, &n);

	assert_int_equal(n, 2);
	assert_export(&e[0], "gpl", 2, true);
	assert_export(&e[1], "plain", 1, false);
}

/* ---- packing */

static void pack(void **state, const char *tool, const char *path)
{
	_cleanup_free_ char *full = fake_path(*state, path);
	const char *const argv[] = { tool, "-q", "-f", "-k", full, NULL };

	fake_run(argv);
}

static void assert_same_bytes(int fd, const char *text, size_t len)
{
	_cleanup_free_ char *there = malloc(len + 1);

	assert_int_equal(pread(fd, there, len + 1, 0), len);
	assert_memory_equal(there, text, len);
}

static void unpacks_gz_xz_and_zst_into_what_the_kernel_takes(void **state)
{
	static const char *const tools[][2] = { { "gzip", "alpha.ko.gz" },
						{ "xz", "alpha.ko.xz" },
						{ "zstd", "alpha.ko.zst" } };
	_cleanup_verdicts_ struct verdicts why = { 0 };
	struct fake_node *node = *state;
	_cleanup_free_ char *plain = NULL;
	size_t len;

	fake_ko(node, "alpha.ko", alpha);
	assert_int_equal(sysroot_read(node->root, "alpha.ko", 1 << 20, &plain, &len), 0);
	for (size_t i = 0; i < 3; i++) {
		_cleanup_(module_freep) struct module *m = NULL;

		pack(state, tools[i][0], "alpha.ko");
		assert_int_equal(module_open(node->root, tools[i][1], &m, &why), 0);
		assert_string_equal(module_info(m)->name, "alpha");
		assert_same_bytes(module_fd(m), plain, len);
		/* finit_module(2) refuses a file that somebody may write to */
		assert_int_equal(fcntl(module_fd(m), F_GETFL) & O_ACCMODE, O_RDONLY);
		assert_true(fcntl(module_fd(m), F_GET_SEALS) & F_SEAL_WRITE);
	}
	assert_int_equal(why.n, 0);
}

static void a_plain_file_is_loaded_itself(void **state)
{
	_cleanup_(module_freep) struct module *m = fake_open(*state, "alpha.ko", alpha);
	struct stat file, opened;

	assert_int_equal(sysroot_stat(((struct fake_node *)*state)->root, "alpha.ko", &file), 0);
	assert_int_equal(fstat(module_fd(m), &opened), 0);
	assert_int_equal(file.st_ino, opened.st_ino);
}

static void cut(void **state, const char *path, off_t len)
{
	_cleanup_free_ char *full = fake_path(*state, path);

	assert_int_equal(truncate(full, len), 0);
}

static void refuses_packed_files_that_are_cut_off(void **state)
{
	static const char *const tools[][2] = { { "gzip", "alpha.ko.gz" },
						{ "xz", "alpha.ko.xz" },
						{ "zstd", "alpha.ko.zst" } };
	struct fake_node *node = *state;
	struct stat st;

	fake_ko(node, "alpha.ko", alpha);
	for (size_t i = 0; i < 3; i++) {
		_cleanup_verdicts_ struct verdicts why = { 0 };

		pack(state, tools[i][0], "alpha.ko");
		assert_int_equal(sysroot_stat(node->root, tools[i][1], &st), 0);
		cut(state, tools[i][1], st.st_size - 3);
		assert_int_equal(open_module(state, tools[i][1], &why), -EBADMSG);
		assert_only_no(&why, REASON_MODULE_INVALID, tools[i][1], "damaged");
	}
}

static int unpack_file(void **state, const char *path, uint64_t max, int *ret_fd)
{
	_cleanup_close_ int fd =
		sysroot_openat(((struct fake_node *)*state)->root, path, O_RDONLY, 0);

	assert_true(fd >= 0);
	return unpack(fd, max, ret_fd, NULL);
}

static void unpacks_no_more_than_it_is_allowed(void **state)
{
	_cleanup_close_ int fd = -1;

	fake_file(*state, "zeros", "");
	cut(state, "zeros", 1 << 20);
	pack(state, "zstd", "zeros");
	assert_int_equal(unpack_file(state, "zeros.zst", (1 << 20) - 1, &fd), -EFBIG);
	assert_int_equal(fd, -1);
	assert_int_equal(unpack_file(state, "zeros.zst", 1 << 20, &fd), 0);
}

static void unpacks_members_one_after_the_other(void **state)
{
	static const char *const tools[][2] = { { "gzip", "a.gz" },
						{ "xz", "a.xz" },
						{ "zstd", "a.zst" } };
	struct fake_node *node = *state;

	fake_file(node, "a", "twice");
	for (size_t i = 0; i < 3; i++) {
		_cleanup_close_ int fd = -1;
		_cleanup_free_ char *once = NULL, *twice = NULL;
		size_t len;

		pack(state, tools[i][0], "a");
		assert_int_equal(sysroot_read(node->root, tools[i][1], 4096, &once, &len), 0);
		twice = malloc(2 * len);
		memcpy(twice, once, len);
		memcpy(twice + len, once, len);
		assert_int_equal(sysroot_replace(node->root, "twice", 0644, twice, 2 * len), 0);
		assert_int_equal(unpack_file(state, "twice", 4096, &fd), 0);
		assert_same_bytes(fd, "twicetwice", 10);
	}
}

/* ---- what is no module */

static void refuses_a_module_that_is_cut_off_anywhere(void **state)
{
	struct fake_node *node = *state;
	_cleanup_free_ char *whole = NULL;
	size_t len;

	fake_ko(node, "alpha.ko", alpha);
	assert_int_equal(sysroot_read(node->root, "alpha.ko", 1 << 20, &whole, &len), 0);
	for (size_t n = 0; n < len; n += n < 128 ? 1 : 61) {
		_cleanup_verdicts_ struct verdicts why = { 0 };

		assert_int_equal(sysroot_replace(node->root, "cut.ko", 0644, whole, n), 0);
		assert_int_equal(open_module(state, "cut.ko", &why), -EBADMSG);
		assert_only_no(&why, REASON_MODULE_INVALID, "cut.ko", "");
	}
}

static void refuses_an_object_file_that_is_no_module(void **state)
{
	static const char *const others[] = { ".text\n.long 1\n", KO_THIS("x"), KO_INFO("name=x"),
					      KO_THIS("") KO_INFO("license=GPL"),
					      KO_THIS("a/b") KO_INFO("license=GPL") };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		_cleanup_verdicts_ struct verdicts why = { 0 };

		fake_ko(*state, "x.ko", others[i]);
		assert_int_equal(open_module(state, "x.ko", &why), -EBADMSG);
		assert_only_no(&why, REASON_MODULE_INVALID, "x.ko", "");
	}
}

static void refuses_damaged_tables_of_crcs(void **state)
{
	static const char *const damaged[] = {
		KO("x") ".section __versions,\"a\"\n.zero 63\n",
		KO("x") ".section __versions,\"a\"\n.fill 64, 1, 0x61\n",
		KO("x") KO_EXTENDED("a", "1") ".section __version_ext_crcs\n.long 2\n",
		KO("x") KO_EXTENDED("a", "1") ".section __version_ext_names\n.ascii \"b\"\n",
	};

	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		_cleanup_verdicts_ struct verdicts why = { 0 };

		fake_ko(*state, "x.ko", damaged[i]);
		assert_int_equal(open_module(state, "x.ko", &why), -EBADMSG);
		assert_only_no(&why, REASON_MODULE_INVALID, "x.ko", "symbols");
	}
}

static void says_system_for_a_file_that_is_not_there(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };

	assert_int_equal(open_module(state, "none.ko", &why), -ENOENT);
	assert_only_no(&why, REASON_SYSTEM, "none.ko", "No such file");
}

static void is_not_held_up_by_a_fifo_and_refuses_a_directory(void **state)
{
	_cleanup_free_ char *fifo = fake_path(*state, "fifo.ko");

	assert_int_equal(mkfifo(fifo, 0644), 0);
	assert_int_equal(sysroot_mkdirs(((struct fake_node *)*state)->root, "dir.ko", 0755), 0);
	for (size_t i = 0; i < 2; i++) {
		_cleanup_verdicts_ struct verdicts why = { 0 };
		const char *path = i ? "dir.ko" : "fifo.ko";

		assert_int_equal(open_module(state, path, &why), -EBADMSG);
		assert_only_no(&why, REASON_MODULE_INVALID, path, "not a file");
	}
}

static void a_link_out_of_the_root_ends_inside(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	struct fake_node *node = *state;

	fake_ko(node, "real.ko", alpha);
	assert_int_equal(sysroot_link(node->root, "/../../real.ko", "sub/link.ko"), 0);
	assert_int_equal(open_module(state, "sub/link.ko", &why), 0);
	assert_int_equal(sysroot_link(node->root, "loop.ko", "loop.ko"), 0);
	assert_int_equal(open_module(state, "loop.ko", &why), -ELOOP);
	assert_only_no(&why, REASON_SYSTEM, "loop.ko", "");
}

static void a_module_of_another_architecture_opens(void **state)
{
	struct fake_node *node = *state;
	_cleanup_(module_freep) struct module *m = NULL;
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_free_ char *data = NULL;
	size_t len;

	fake_ko(node, "x.ko", alpha);
	assert_int_equal(sysroot_read(node->root, "x.ko", 1 << 20, &data, &len), 0);
	((Elf64_Ehdr *)(void *)data)->e_machine = EM_SPARCV9;
	assert_int_equal(sysroot_replace(node->root, "x.ko", 0644, data, len), 0);
	assert_int_equal(module_open(node->root, "x.ko", &m, &why), 0);
	assert_int_equal(module_info(m)->machine, EM_SPARCV9);
}

/* ---- signatures */

/* The module with `sig` bytes of signature, and a trailer that says `claimed`. */
static void sign(void **state, size_t sig, uint8_t claimed)
{
	static const char magic[] = "~Module signature appended~\n";
	const uint8_t trailer[12] = { 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, claimed };
	struct fake_node *node = *state;
	_cleanup_free_ char *data = NULL, *out = NULL;
	size_t len;

	fake_ko(node, "alpha.ko", alpha);
	assert_int_equal(sysroot_read(node->root, "alpha.ko", 1 << 20, &data, &len), 0);
	out = calloc(1, len + sig + sizeof(trailer) + sizeof(magic));
	memcpy(out, data, len);
	memcpy(out + len + sig, trailer, sizeof(trailer));
	memcpy(out + len + sig + sizeof(trailer), magic, sizeof(magic) - 1);
	assert_int_equal(sysroot_replace(node->root, "signed.ko", 0644, out,
					 len + sig + sizeof(trailer) + sizeof(magic) - 1),
			 0);
}

static void sees_that_a_signature_is_appended(void **state)
{
	_cleanup_(module_freep) struct module *m = NULL;
	_cleanup_verdicts_ struct verdicts why = { 0 };

	sign(state, 40, 40);
	assert_int_equal(module_open(((struct fake_node *)*state)->root, "signed.ko", &m, &why), 0);
	assert_true(module_info(m)->is_signed);
	assert_string_equal(module_info(m)->name, "alpha");
}

static void refuses_a_signature_trailer_that_reaches_outside(void **state)
{
	static const char lone[] = "~Module signature appended~\n";
	_cleanup_verdicts_ struct verdicts why = { 0 };
	struct fake_node *node = *state;
	_cleanup_free_ char *data = NULL;
	size_t len;

	sign(state, 40, 40);
	assert_int_equal(sysroot_read(node->root, "signed.ko", 1 << 20, &data, &len), 0);
	memset(data + len - (sizeof(lone) - 1) - 4, 0xff, 4); /* the length, big-endian */
	assert_int_equal(sysroot_replace(node->root, "signed.ko", 0644, data, len), 0);
	assert_int_equal(open_module(state, "signed.ko", &why), -EBADMSG);
	assert_only_no(&why, REASON_MODULE_INVALID, "signed.ko", "signature");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(reads_what_a_module_says_of_itself),
		on_a_node(what_a_module_does_not_say_is_empty),
		on_a_node(lists_imports_by_name_with_crcs_and_module_layout),
		on_a_node(reads_the_extended_table_of_crcs),
		on_a_node(lists_exports_with_crc_licence_class_and_namespace),
		on_a_node(reads_crcs_that_are_absolute_symbols_as_before_5_19),
		on_a_node(reads_the_licence_class_from_flags_where_sections_no_longer_tell),
		on_a_node(unpacks_gz_xz_and_zst_into_what_the_kernel_takes),
		on_a_node(a_plain_file_is_loaded_itself),
		on_a_node(refuses_packed_files_that_are_cut_off),
		on_a_node(unpacks_no_more_than_it_is_allowed),
		on_a_node(unpacks_members_one_after_the_other),
		on_a_node(refuses_a_module_that_is_cut_off_anywhere),
		on_a_node(refuses_an_object_file_that_is_no_module),
		on_a_node(refuses_damaged_tables_of_crcs),
		on_a_node(says_system_for_a_file_that_is_not_there),
		on_a_node(is_not_held_up_by_a_fifo_and_refuses_a_directory),
		on_a_node(a_link_out_of_the_root_ends_inside),
		on_a_node(a_module_of_another_architecture_opens),
		on_a_node(sees_that_a_signature_is_appended),
		on_a_node(refuses_a_signature_trailer_that_reaches_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
