/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_ko.h"

#include "kernel/symvers.h"

struct parsed {
	struct exports *ex;
	struct verdicts why;
	int r;
};

static struct parsed parse(const char *text, size_t len)
{
	struct parsed p = { 0 };

	assert_int_equal(exports_new(&p.ex), 0);
	p.r = symvers_parse(text, len, "Module.symvers", p.ex, &p.why);
	return p;
}

static void parsed_clear(struct parsed *p)
{
	exports_free(p->ex);
	verdicts_clear(&p->why);
}

#define _cleanup_parsed_ _cleanup_(parsed_clear)
#define PARSE(text) parse(text, sizeof(text) - 1)

static void assert_symbol(const struct exports *ex, const struct exported *want)
{
	const struct exported *e = exports_find(ex, want->name);

	assert_non_null(e);
	assert_string_equal(e->owner, want->owner);
	assert_int_equal(e->crc, want->crc);
	assert_int_equal(e->has_crc, want->has_crc);
	assert_int_equal(e->gpl, want->gpl);
	assert_int_equal(e->gpl_known, want->gpl_known);
	assert_true((e->ns == NULL) == (want->ns == NULL));
	if (want->ns)
		assert_string_equal(e->ns, want->ns);
}

static void reads_lines_of_5_8_and_later(void **state)
{
	_cleanup_parsed_ struct parsed p = PARSE(
		"0x3aa40778\tib_register_device\tdrivers/infiniband/core/ib_core\tEXPORT_SYMBOL\t\n"
		"0x00000001\tdma_buf_get\tvmlinux\tEXPORT_SYMBOL_GPL\tDMA_BUF\n");

	(void)state;
	assert_int_equal(p.r, 0);
	assert_symbol(p.ex, &(struct exported){ "ib_register_device", "ib_core", 0x3aa40778, true,
						false, true, NULL });
	assert_symbol(p.ex, &(struct exported){ "dma_buf_get", "vmlinux", 1, true, true, true,
						"DMA_BUF" });
}

static void reads_lines_of_5_4_to_5_7(void **state)
{
	_cleanup_parsed_ struct parsed p = PARSE(
		"0x00000001\tf\tUSB_STORAGE\tdrivers/usb/storage/usb-storage\tEXPORT_SYMBOL_GPL\n"
		"0x00000002\tg\t\tvmlinux\tEXPORT_SYMBOL\n");

	(void)state;
	assert_int_equal(p.r, 0);
	assert_symbol(p.ex,
		      &(struct exported){ "f", "usb_storage", 1, true, true, true, "USB_STORAGE" });
	assert_symbol(p.ex, &(struct exported){ "g", "vmlinux", 2, true, false, true, NULL });
}

static void reads_lines_without_namespaces_and_without_export_types(void **state)
{
	_cleanup_parsed_ struct parsed p = PARSE("0x00000001\tf\tnet/core/a\tEXPORT_SYMBOL_GPL\n"
						 "0x00000002\tg\tvmlinux");

	(void)state;
	assert_int_equal(p.r, 0);
	assert_symbol(p.ex, &(struct exported){ "f", "a", 1, true, true, true, NULL });
	assert_symbol(p.ex, &(struct exported){ "g", "vmlinux", 2, true, false, false, NULL });
}

static void a_crc_of_zero_means_that_there_is_none(void **state)
{
	_cleanup_parsed_ struct parsed p = PARSE("0x00000000\tf\tvmlinux\tEXPORT_SYMBOL\t\n");

	(void)state;
	assert_int_equal(p.r, 0);
	assert_false(exports_find(p.ex, "f")->has_crc);
}

static void a_list_with_the_kernels_symbols_is_complete_and_a_modules_is_not(void **state)
{
	_cleanup_parsed_ struct parsed kernel = PARSE("0x00000001\tf\tvmlinux\tEXPORT_SYMBOL\t\n");
	_cleanup_parsed_ struct parsed module = PARSE("0x00000001\tf\ta/b\tEXPORT_SYMBOL\t\n");

	(void)state;
	assert_true(exports_complete(kernel.ex));
	assert_false(exports_complete(module.ex));
}

static void an_empty_file_has_no_symbols(void **state)
{
	_cleanup_parsed_ struct parsed p = PARSE("");

	(void)state;
	assert_int_equal(p.r, 0);
	assert_int_equal(exports_count(p.ex), 0);
	assert_int_equal(p.why.n, 0);
}

#define GOOD "0x00000001\tf\tvmlinux\tEXPORT_SYMBOL\t\n"
#define BAD(text)                                \
	{                                        \
		GOOD text, sizeof(GOOD text) - 1 \
	}

static void names_the_line_that_is_wrong(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} bad[] = {
		BAD("\n"),
		BAD("0x00000001\n"),
		BAD("0x00000001\tf\n"),
		BAD("0x00000001\tf\tEXPORT_SYMBOL\n"),
		BAD("0x00000001\tf\tvmlinux\tSYMBOL\n"),
		BAD("0x00000001\tf\tvmlinux\tEXPORT_SYMBOL\t\t\n"),
		BAD("0x00000001\t\tvmlinux\tEXPORT_SYMBOL\t\n"),
		BAD("0x00000001\tf\t\tEXPORT_SYMBOL\t\n"),
		BAD("0x00000001\tf\ta/\tEXPORT_SYMBOL\t\n"),
		BAD("00000001\tf\tvmlinux\tEXPORT_SYMBOL\t\n"),
		BAD("0x\tf\tvmlinux\tEXPORT_SYMBOL\t\n"),
		BAD("0x-1\tf\tvmlinux\tEXPORT_SYMBOL\t\n"),
		BAD("0x100000000\tf\tvmlinux\tEXPORT_SYMBOL\t\n"),
		BAD("0x0000000g\tf\tvmlinux\tEXPORT_SYMBOL\t\n"),
		BAD("0x00000001\tf\0\tvmlinux\tEXPORT_SYMBOL\t\n"),
		BAD("0x00000001 f vmlinux EXPORT_SYMBOL\n"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		_cleanup_parsed_ struct parsed p = parse(bad[i].text, bad[i].len);

		assert_int_equal(p.r, -EBADMSG);
		assert_only_no(&p.why, REASON_SYMVERS_INVALID, "Module.symvers:2", "");
	}
}

static void refuses_a_line_of_ten_megabytes(void **state)
{
	size_t len = 10 << 20;
	_cleanup_free_ char *text = malloc(len);

	(void)state;
	assert_non_null(text);
	memset(text, 'a', len);
	_cleanup_parsed_ struct parsed p = parse(text, len);

	assert_int_equal(p.r, -EBADMSG);
	assert_only_no(&p.why, REASON_SYMVERS_INVALID, "Module.symvers:1", "longer than");
}

/* ---- files */

static void reads_files_plain_and_packed(void **state)
{
	static const char *const tools[][2] = { { NULL, "symvers" },
						{ "gzip", "symvers.gz" },
						{ "xz", "symvers.xz" },
						{ "zstd", "symvers.zst" } };
	struct fake_node *node = *state;
	_cleanup_free_ char *full = fake_path(node, "symvers");

	fake_file(node, "symvers", GOOD);
	for (size_t i = 0; i < 4; i++) {
		const char *const argv[] = { tools[i][0], "-q", "-f", "-k", full, NULL };
		_cleanup_parsed_ struct parsed p = PARSE("");

		if (tools[i][0])
			fake_run(argv);
		assert_int_equal(symvers_read(node->root, tools[i][1], p.ex, &p.why), 0);
		assert_int_equal(exports_find(p.ex, "f")->crc, 1);
		assert_int_equal(p.why.n, 0);
	}
}

static void says_system_for_a_file_that_cannot_be_read(void **state)
{
	_cleanup_parsed_ struct parsed p = PARSE("");

	assert_int_equal(symvers_read(((struct fake_node *)*state)->root, "none", p.ex, &p.why),
			 -ENOENT);
	assert_only_no(&p.why, REASON_SYSTEM, "none", "No such file");
}

static void refuses_a_packed_file_that_is_damaged(void **state)
{
	_cleanup_parsed_ struct parsed p = PARSE("");

	fake_file(*state, "symvers.gz", "\x1f\x8b nonsense");
	assert_int_equal(
		symvers_read(((struct fake_node *)*state)->root, "symvers.gz", p.ex, &p.why),
		-EBADMSG);
	assert_only_no(&p.why, REASON_SYMVERS_INVALID, "symvers.gz", "damaged");
}

static void finds_the_kernels_own_where_distributions_put_it(void **state)
{
	static const char *const places[] = { "lib/modules/6.1/build/Module.symvers",
					      "usr/src/linux-headers-6.1/Module.symvers",
					      "lib/modules/6.1/symvers.gz", "boot/symvers-6.1.xz" };
	struct fake_node *node = *state;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		_cleanup_parsed_ struct parsed p = PARSE("");

		assert_int_equal(symvers_read_kernel(node->root, "6.1", p.ex, &p.why), -ENOENT);
		fake_file(node, places[i], GOOD);
		assert_int_equal(symvers_read_kernel(node->root, "6.1", p.ex, &p.why), 0);
		assert_int_equal(exports_count(p.ex), 1);
		assert_int_equal(sysroot_remove(node->root, places[i]), 0);
		assert_int_equal(p.why.n, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_lines_of_5_8_and_later),
		cmocka_unit_test(reads_lines_of_5_4_to_5_7),
		cmocka_unit_test(reads_lines_without_namespaces_and_without_export_types),
		cmocka_unit_test(a_crc_of_zero_means_that_there_is_none),
		cmocka_unit_test(a_list_with_the_kernels_symbols_is_complete_and_a_modules_is_not),
		cmocka_unit_test(an_empty_file_has_no_symbols),
		cmocka_unit_test(names_the_line_that_is_wrong),
		cmocka_unit_test(refuses_a_line_of_ten_megabytes),
		on_a_node(reads_files_plain_and_packed),
		on_a_node(says_system_for_a_file_that_cannot_be_read),
		on_a_node(refuses_a_packed_file_that_is_damaged),
		on_a_node(finds_the_kernels_own_where_distributions_put_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
