/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_ko.h"

#include "kernel/fit.h"

/* A kernel that has these exports, and a module that is judged. */
struct bench {
	struct utsname un;
	char release[16];
	struct running kernel;
	struct exports *ex;
	struct fit_world world;
	struct module *m;
	struct verdicts why;
};

static void bench_clear(struct bench *b)
{
	exports_free(b->ex);
	module_free(b->m);
	verdicts_clear(&b->why);
}

#define _cleanup_bench_ _cleanup_(bench_clear)

static void set_up(struct bench *b)
{
	assert_int_equal(uname(&b->un), 0);
	assert_int_equal(exports_new(&b->ex), 0);
	memcpy(b->release, "6.1.0-test", sizeof("6.1.0-test"));
	b->kernel.release = b->release;
	b->kernel.machine = b->un.machine;
	b->world = (struct fit_world){ &b->kernel, KO_MAGIC, b->ex };
}

#define BENCH(b)                                \
	_cleanup_bench_ struct bench b = { 0 }; \
	set_up(&b)

static void exported(struct bench *b, const char *name, uint32_t crc)
{
	assert_int_equal(exports_add(b->ex, &(struct exported){ .name = name,
								.owner = "vmlinux",
								.crc = crc,
								.has_crc = crc != 0,
								.gpl_known = true }),
			 0);
}

static void judge(struct bench *b, void **state, const char *assembly)
{
	b->m = module_free(b->m);
	verdicts_clear(&b->why);
	b->m = fake_open(*state, "lib/judged.ko", assembly);
	fit_judge(b->m, &b->world, &b->why);
}

static void assert_fits(const struct bench *b)
{
	if (b->why.n)
		verdicts_log(&b->why, LEVEL_ERROR);
	assert_int_equal(b->why.n, 0);
}

static void assert_unknown(const struct bench *b, const char *words)
{
	assert_int_equal(b->why.n, 1);
	assert_int_equal(b->why.v[0].state, VERDICT_UNKNOWN);
	assert_int_equal(b->why.v[0].why, REASON_SYMBOL_CRC_MISMATCH);
	assert_string_equal(b->why.v[0].object, "m");
	assert_non_null(strstr(b->why.v[0].detail, words));
}

static void a_module_whose_symbols_are_all_there_fits(void **state)
{
	BENCH(b);

	exports_set_complete(b.ex);
	exported(&b, "f", 0x11);
	exported(&b, "module_layout", 0x22);
	judge(&b, state, KO("m") KO_IMPORT("f", "0x11") KO_VERSION("module_layout", "0x22"));
	assert_fits(&b);
}

static void another_architecture_is_all_that_is_said(void **state)
{
	char arm[] = "aarch64", x86[] = "x86_64";
	BENCH(b);

	exports_set_complete(b.ex);
	b.kernel.machine = strcmp(b.un.machine, arm) == 0 ? x86 : arm;
	b.kernel.sig_enforce = true;
	judge(&b, state, KO("m") KO_IMPORT("none", "1"));
	assert_only_no(&b.why, REASON_ARCH_MISMATCH, "m", "machine");
}

/* ---- vermagic */

#define MAGIC(magic) \
	KO_THIS("m") KO_INFO("name=m") KO_INFO("license=GPL") KO_INFO("vermagic=" magic)

static void with_crcs_the_release_may_differ_and_the_rest_may_not(void **state)
{
	BENCH(b);

	exported(&b, "f", 1);
	judge(&b, state,
	      MAGIC("6.1.0-other SMP preempt mod_unload modversions ") KO_IMPORT("f", "1"));
	assert_fits(&b);
	judge(&b, state, MAGIC("6.1.0-test SMP mod_unload modversions ") KO_IMPORT("f", "1"));
	assert_only_no(&b.why, REASON_VERMAGIC_MISMATCH, "m", "6.1.0-test SMP mod_unload");
}

static void without_crcs_the_whole_vermagic_counts(void **state)
{
	BENCH(b);

	judge(&b, state, MAGIC("6.1.0-other SMP preempt mod_unload modversions "));
	assert_only_no(&b.why, REASON_VERMAGIC_MISMATCH, "m", "6.1.0-other");
	judge(&b, state, MAGIC("6.1.0-test SMP preempt mod_unload modversions "));
	assert_fits(&b);
}

static void where_the_kernels_vermagic_is_not_known_only_the_release_is_compared(void **state)
{
	BENCH(b);

	b.world.vermagic = NULL;
	exported(&b, "f", 1);
	judge(&b, state, MAGIC("6.1.0-test anything"));
	assert_fits(&b);
	judge(&b, state, MAGIC("6.1.0-tes SMP"));
	assert_only_no(&b.why, REASON_VERMAGIC_MISMATCH, "m", "6.1.0-tes");
	judge(&b, state, MAGIC("6.1.0-other SMP") KO_IMPORT("f", "1"));
	assert_fits(&b);
}

static void a_module_without_vermagic_does_not_fit(void **state)
{
	BENCH(b);

	judge(&b, state, KO_THIS("m") KO_INFO("name=m"));
	assert_only_no(&b.why, REASON_VERMAGIC_MISMATCH, "m", "no vermagic");
}

/* ---- symbols */

static void a_symbol_that_a_complete_list_lacks_is_missing_unless_weak(void **state)
{
	BENCH(b);

	exports_set_complete(b.ex);
	judge(&b, state, KO("m") KO_IMPORT("gone", "1") KO_NEEDS_WEAKLY("optional"));
	assert_only_no(&b.why, REASON_SYMBOL_MISSING, "m: gone", "nothing");
}

static void a_symbol_that_an_incomplete_list_lacks_is_unknown(void **state)
{
	BENCH(b);

	exported(&b, "f", 1);
	judge(&b, state, KO("m") KO_IMPORT("b", "1") KO_IMPORT("a", "1") KO_IMPORT("f", "1"));
	assert_unknown(&b, "2 of its 3 symbols, the first is a");
	assert_false(verdicts_refuse(&b.why));
}

static void another_crc_is_named_with_both_and_the_exporter(void **state)
{
	BENCH(b);

	exported(&b, "f", 0x11);
	judge(&b, state, KO("m") KO_IMPORT("f", "0x12"));
	assert_only_no(&b.why, REASON_SYMBOL_CRC_MISMATCH, "m: f",
		       "needs 0x00000012, vmlinux has 0x00000011");
}

static void the_layout_of_struct_module_is_compared_too(void **state)
{
	BENCH(b);

	exported(&b, "module_layout", 0x11);
	judge(&b, state, KO("m") KO_VERSION("module_layout", "0x12"));
	assert_only_no(&b.why, REASON_SYMBOL_CRC_MISMATCH, "m: module_layout", "0x00000012");
}

static void a_weak_symbol_that_is_there_has_to_fit_too(void **state)
{
	BENCH(b);

	exported(&b, "f", 0x11);
	judge(&b, state, KO("m") KO_VERSION("f", "0x12") KO_NEEDS_WEAKLY("f"));
	assert_only_no(&b.why, REASON_SYMBOL_CRC_MISMATCH, "m: f", "");
}

static void a_symbol_exported_without_crc_fits_any(void **state)
{
	BENCH(b);

	exported(&b, "f", 0);
	judge(&b, state, KO("m") KO_IMPORT("f", "0x12"));
	assert_fits(&b);
}

static void a_bare_name_is_no_evidence_of_a_crc(void **state)
{
	BENCH(b);

	assert_int_equal(exports_add(b.ex, &(struct exported){ .name = "f" }), 0);
	judge(&b, state, KO("m") KO_IMPORT("f", "0x12"));
	assert_unknown(&b, "the first is f");
}

static void a_module_without_versions_is_refused_where_the_kernel_has_them(void **state)
{
	BENCH(b);

	exported(&b, "f", 0x11);
	judge(&b, state, KO("m") KO_NEEDS("f"));
	assert_only_no(&b.why, REASON_SYMBOL_CRC_MISMATCH, "m", "carries no symbol versions");
}

static void a_single_symbol_without_version_is_unknown(void **state)
{
	BENCH(b);

	exported(&b, "f", 0x11);
	exported(&b, "g", 0x11);
	judge(&b, state, KO("m") KO_NEEDS("f") KO_IMPORT("g", "0x11"));
	assert_unknown(&b, "no version of 1 symbols, the first is f");
}

static void the_first_five_are_named_and_the_rest_counted(void **state)
{
	BENCH(b);

	exports_set_complete(b.ex);
	judge(&b, state,
	      KO("m") KO_IMPORT("a", "1") KO_IMPORT("b", "1") KO_IMPORT("c", "1")
		      KO_IMPORT("d", "1") KO_IMPORT("e", "1") KO_IMPORT("f", "1")
			      KO_IMPORT("g", "1"));
	assert_int_equal(b.why.n, 5);
	assert_null(strstr(find_verdict(&b.why, REASON_SYMBOL_MISSING, "m: d")->detail, "more"));
	assert_non_null(
		strstr(find_verdict(&b.why, REASON_SYMBOL_MISSING, "m: e")->detail, "2 more"));
}

/* ---- licences and namespaces */

#define CLOSED \
	KO_THIS("m") KO_INFO("name=m") KO_INFO("license=Proprietary") KO_INFO("vermagic=" KO_MAGIC)

static void only_gpl_compatible_modules_see_gpl_only_symbols(void **state)
{
	BENCH(b);

	assert_int_equal(
		exports_add(b.ex, &(struct exported){ "f", "ib_core", 1, true, true, true, NULL }),
		0);
	judge(&b, state, CLOSED KO_IMPORT("f", "1"));
	assert_only_no(&b.why, REASON_SYMBOL_GPL_ONLY, "m: f", "Proprietary");
	judge(&b, state, CLOSED KO_VERSION("f", "1") KO_NEEDS_WEAKLY("f"));
	assert_fits(&b);
	judge(&b, state, KO("m") KO_IMPORT("f", "1"));
	assert_fits(&b);
}

static void a_namespace_has_to_be_imported(void **state)
{
	BENCH(b);

	assert_int_equal(exports_add(b.ex, &(struct exported){ "f", "vmlinux", 1, true, true, true,
							       "DMA_BUF" }),
			 0);
	judge(&b, state, KO("m") KO_IMPORT("f", "1") KO_INFO("import_ns=OTHER"));
	assert_only_no(&b.why, REASON_SYMBOL_NAMESPACE, "m: f", "DMA_BUF");
	judge(&b, state,
	      KO("m") KO_IMPORT("f", "1") KO_INFO("import_ns=OTHER") KO_INFO("import_ns=DMA_BUF"));
	assert_fits(&b);
}

static void a_namespace_may_name_its_modules(void **state)
{
	static const struct {
		const char *ns;
		bool fits;
	} cases[] = {
		{ "module:m", true },    { "module:a,m", true }, { "module:a,m*", true },
		{ "module:*", true },    { "module:n", false },  { "module:mm", false },
		{ "module:a,b", false }, { "module:", false },   { "module:,", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		BENCH(b);

		assert_int_equal(exports_add(b.ex, &(struct exported){ "f", "kvm", 1, true, true,
								       true, cases[i].ns }),
				 0);
		judge(&b, state, KO("m") KO_IMPORT("f", "1"));
		assert_int_equal(b.why.n == 0, cases[i].fits);
	}
}

/* ---- its own exports */

#define EXPORTER(name) KO(name) KO_EXPORT("f", "1") KO_EXPORT_GPL("g", "2")

/* The world of a swap: the kernel's table, and over it what the side's files export. */
static void judge_in_a_layer(struct bench *b, struct module *m, struct module *other)
{
	_cleanup_(exports_freep) struct exports *layer = NULL;
	struct fit_world world = b->world;

	assert_int_equal(exports_layer(b->ex, &layer), 0);
	assert_int_equal(exports_drop(layer, "m"), 0);
	if (other)
		assert_int_equal(exports_add_module(layer, other), 0);
	assert_int_equal(exports_add_module(layer, m), 0);
	world.exports = layer;
	verdicts_clear(&b->why);
	fit_judge(m, &world, &b->why);
}

static void what_the_kernel_exports_no_module_may_export(void **state)
{
	BENCH(b);

	b.m = fake_open(*state, "lib/m.ko", EXPORTER("m"));
	exported(&b, "g", 2);
	judge_in_a_layer(&b, b.m, NULL);
	assert_only_no(&b.why, REASON_SYMBOL_DUPLICATE, "m: g", "vmlinux exports it");
}

static void two_modules_of_a_side_may_not_export_the_same(void **state)
{
	_cleanup_(module_freep) struct module *other =
		fake_open(*state, "lib/other.ko", KO("other") KO_EXPORT("f", "1"));
	BENCH(b);

	b.m = fake_open(*state, "lib/m.ko", EXPORTER("m"));
	judge_in_a_layer(&b, b.m, other);
	assert_only_no(&b.why, REASON_SYMBOL_DUPLICATE, "m: f", "other exports it");
}

static void a_module_is_no_duplicate_of_itself_nor_of_one_that_is_merely_listed(void **state)
{
	BENCH(b);

	assert_int_equal(
		exports_add(b.ex, &(struct exported){ "f", "m", 7, true, false, true, NULL }), 0);
	assert_int_equal(
		exports_add(b.ex, &(struct exported){ "g", "rxe", 7, true, false, true, NULL }), 0);
	b.m = fake_open(*state, "lib/m.ko", EXPORTER("m"));
	judge_in_a_layer(&b, b.m, NULL);
	assert_fits(&b);
}

/* ---- signatures */

static void an_unsigned_module_is_refused_where_signatures_are_enforced(void **state)
{
	BENCH(b);

	b.kernel.sig_enforce = true;
	b.kernel.lockdown = true;
	judge(&b, state, KO("m"));
	assert_only_no(&b.why, REASON_SIGNATURE_REJECTED, "m", "not signed");
	b.kernel.sig_enforce = false;
	judge(&b, state, KO("m"));
	assert_only_no(&b.why, REASON_LOCKDOWN, "m", "not signed");
	b.kernel.lockdown = false;
	judge(&b, state, KO("m"));
	assert_fits(&b);
}

static void judge_signed(struct bench *b)
{
	_cleanup_(sysroot_freep) struct sysroot *fixtures = NULL;

	verdicts_clear(&b->why);
	b->m = module_free(b->m);
	assert_int_equal(sysroot_open(FIXTURES "/module", &fixtures), 0);
	assert_int_equal(module_open(fixtures, "signed.ko", &b->m, &b->why), 0);
	b->world.vermagic = module_info(b->m)->vermagic;
	fit_judge(b->m, &b->world, &b->why);
}

static void whether_the_node_has_the_key_of_a_signature_is_not_known(void **state)
{
	BENCH(b);

	(void)state;
	b.kernel.sig_enforce = true;
	for (size_t i = 0; i < 2; i++) {
		const struct verdict *v;

		judge_signed(&b);
		v = find_verdict(&b.why, REASON_SIGNATURE_REJECTED, module_info(b.m)->name);
		assert_non_null(v);
		assert_int_equal(v->state, VERDICT_UNKNOWN);
		assert_non_null(strstr(v->detail, "whether the node has that key"));
		b.kernel.sig_enforce = false;
		b.kernel.lockdown = true;
	}
	b.kernel.lockdown = false;
	b.kernel.lockdown_hidden = true;
	judge_signed(&b);
	assert_null(find_verdict(&b.why, REASON_SIGNATURE_REJECTED, module_info(b.m)->name));
	assert_null(find_verdict(&b.why, REASON_LOCKDOWN, "sys/kernel/security/lockdown"));
}

static void a_lockdown_that_cannot_be_seen_is_said_once_for_all_unsigned_modules(void **state)
{
	BENCH(b);

	b.kernel.lockdown_hidden = true;
	judge(&b, state, KO("m"));
	b.m = module_free(b.m);
	b.m = fake_open(*state, "lib/n.ko", KO("n"));
	fit_judge(b.m, &b.world, &b.why);
	assert_int_equal(b.why.n, 1);
	assert_int_equal(b.why.v[0].why, REASON_LOCKDOWN);
	assert_int_equal(b.why.v[0].state, VERDICT_UNKNOWN);
}

static void all_that_is_wrong_is_named_at_once(void **state)
{
	BENCH(b);

	exports_set_complete(b.ex);
	exported(&b, "f", 0x11);
	assert_int_equal(
		exports_add(b.ex, &(struct exported){ "g", "vmlinux", 1, true, true, true, NULL }),
		0);
	b.kernel.sig_enforce = true;
	judge(&b, state,
	      KO_THIS("m") KO_INFO("name=m") KO_INFO("vermagic=6.1.0-test UP")
		      KO_IMPORT("f", "0x12") KO_IMPORT("g", "1") KO_IMPORT("gone", "1"));
	assert_int_equal(b.why.n, 5);
	assert_non_null(find_verdict(&b.why, REASON_VERMAGIC_MISMATCH, "m"));
	assert_non_null(find_verdict(&b.why, REASON_SIGNATURE_REJECTED, "m"));
	assert_non_null(find_verdict(&b.why, REASON_SYMBOL_CRC_MISMATCH, "m: f"));
	assert_non_null(find_verdict(&b.why, REASON_SYMBOL_GPL_ONLY, "m: g"));
	assert_non_null(find_verdict(&b.why, REASON_SYMBOL_MISSING, "m: gone"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(a_module_whose_symbols_are_all_there_fits),
		on_a_node(another_architecture_is_all_that_is_said),
		on_a_node(with_crcs_the_release_may_differ_and_the_rest_may_not),
		on_a_node(without_crcs_the_whole_vermagic_counts),
		on_a_node(where_the_kernels_vermagic_is_not_known_only_the_release_is_compared),
		on_a_node(a_module_without_vermagic_does_not_fit),
		on_a_node(a_symbol_that_a_complete_list_lacks_is_missing_unless_weak),
		on_a_node(a_symbol_that_an_incomplete_list_lacks_is_unknown),
		on_a_node(another_crc_is_named_with_both_and_the_exporter),
		on_a_node(the_layout_of_struct_module_is_compared_too),
		on_a_node(a_weak_symbol_that_is_there_has_to_fit_too),
		on_a_node(a_symbol_exported_without_crc_fits_any),
		on_a_node(a_bare_name_is_no_evidence_of_a_crc),
		on_a_node(a_module_without_versions_is_refused_where_the_kernel_has_them),
		on_a_node(a_single_symbol_without_version_is_unknown),
		on_a_node(the_first_five_are_named_and_the_rest_counted),
		on_a_node(only_gpl_compatible_modules_see_gpl_only_symbols),
		on_a_node(a_namespace_has_to_be_imported),
		on_a_node(a_namespace_may_name_its_modules),
		on_a_node(what_the_kernel_exports_no_module_may_export),
		on_a_node(two_modules_of_a_side_may_not_export_the_same),
		on_a_node(a_module_is_no_duplicate_of_itself_nor_of_one_that_is_merely_listed),
		on_a_node(an_unsigned_module_is_refused_where_signatures_are_enforced),
		on_a_node(whether_the_node_has_the_key_of_a_signature_is_not_known),
		on_a_node(a_lockdown_that_cannot_be_seen_is_said_once_for_all_unsigned_modules),
		on_a_node(all_that_is_wrong_is_named_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
