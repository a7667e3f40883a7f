/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_ko.h"

#include "kernel/exports.h"

static int make_table(void **state)
{
	return exports_new((struct exports **)state);
}

static int end_table(void **state)
{
	exports_free(*state);
	return 0;
}

#define on_a_table(test) cmocka_unit_test_setup_teardown(test, make_table, end_table)

static void add(struct exports *ex, const struct exported *e)
{
	assert_int_equal(exports_add(ex, e), 0);
}

static void finds_what_was_added_and_nothing_else(void **state)
{
	char name[] = "f", owner[] = "vmlinux", ns[] = "NS";
	const struct exported *e;

	add(*state, &(struct exported){ name, owner, 7, true, true, true, ns });
	memset(name, 'x', 1);
	memset(owner, 'x', 7);
	memset(ns, 'x', 2);
	e = exports_find(*state, "f"); /* strings are copied */
	assert_non_null(e);
	assert_string_equal(e->name, "f");
	assert_string_equal(e->owner, "vmlinux");
	assert_string_equal(e->ns, "NS");
	assert_int_equal(e->crc, 7);
	assert_true(e->has_crc && e->gpl && e->gpl_known);
	assert_null(exports_find(*state, "g"));
	assert_int_equal(exports_count(*state), 1);
}

static void what_comes_first_stays(void **state)
{
	const struct exported *e;

	add(*state, &(struct exported){ "f", "ib_core", 1, true, false, true, NULL });
	add(*state, &(struct exported){ "f", "other", 2, true, true, true, "NS" });
	e = exports_find(*state, "f");
	assert_string_equal(e->owner, "ib_core");
	assert_int_equal(e->crc, 1);
	assert_false(e->gpl);
	assert_null(e->ns);
	assert_int_equal(exports_count(*state), 1);
}

static void a_later_source_fills_in_what_was_not_known(void **state)
{
	const struct exported *e;

	add(*state, &(struct exported){ .name = "f" });
	add(*state, &(struct exported){ .name = "f", .crc = 3, .has_crc = true });
	add(*state, &(struct exported){ "f", "ib_core", 9, true, true, true, "NS" });
	e = exports_find(*state, "f");
	assert_string_equal(e->owner, "ib_core");
	assert_string_equal(e->ns, "NS");
	assert_int_equal(e->crc, 3);
	assert_true(e->has_crc && e->gpl && e->gpl_known);
}

static void a_list_of_exports_that_has_no_crc_means_none(void **state)
{
	add(*state, &(struct exported){ .name = "f", .gpl_known = true });
	add(*state, &(struct exported){ .name = "f", .crc = 3, .has_crc = true });
	assert_false(exports_find(*state, "f")->has_crc);
}

static void a_layer_is_seen_before_its_base_and_leaves_it_as_it_is(void **state)
{
	_cleanup_(exports_freep) struct exports *layer = NULL;

	add(*state, &(struct exported){ "f", "ib_core", 1, true, false, true, NULL });
	add(*state, &(struct exported){ "g", "vmlinux", 2, true, false, true, NULL });
	assert_int_equal(exports_layer(*state, &layer), 0);
	add(layer, &(struct exported){ "f", "ib_core", 9, true, false, true, NULL });
	assert_int_equal(exports_find(layer, "f")->crc, 9);
	assert_int_equal(exports_find(layer, "g")->crc, 2);
	assert_int_equal(exports_find(*state, "f")->crc, 1);
}

static void what_a_layer_drops_is_not_seen_through_it(void **state)
{
	_cleanup_(exports_freep) struct exports *layer = NULL, *top = NULL;

	add(*state, &(struct exported){ "f", "ib_core", 1, true, false, true, NULL });
	add(*state, &(struct exported){ "g", "vmlinux", 2, true, false, true, NULL });
	add(*state, &(struct exported){ .name = "h" }); /* of no known owner */
	assert_int_equal(exports_layer(*state, &layer), 0);
	assert_int_equal(exports_drop(layer, "ib_core"), 0);
	assert_int_equal(exports_drop(layer, "ib_core"), 0);
	assert_int_equal(exports_layer(layer, &top), 0);
	for (size_t i = 0; i < 2; i++) {
		struct exports *ex = i ? top : layer;

		assert_null(exports_find(ex, "f"));
		assert_non_null(exports_find(ex, "g"));
		assert_non_null(exports_find(ex, "h"));
	}
	assert_non_null(exports_find(*state, "f"));
	add(layer, &(struct exported){ "f", "ib_core", 5, true, false, true, NULL });
	assert_int_equal(exports_find(top, "f")->crc, 5);
}

static void what_is_below_is_told_apart_from_what_lies_over_it(void **state)
{
	_cleanup_(exports_freep) struct exports *layer = NULL;

	add(*state, &(struct exported){ "f", "vmlinux", 1, true, false, true, NULL });
	add(*state, &(struct exported){ "g", "ib_core", 2, true, false, true, NULL });
	assert_int_equal(exports_layer(*state, &layer), 0);
	add(layer, &(struct exported){ "f", "ib_core", 9, true, false, true, NULL });
	assert_int_equal(exports_below(layer, "f")->crc, 1);
	assert_int_equal(exports_below(layer, "g")->crc, 2);
	assert_int_equal(exports_drop(layer, "ib_core"), 0);
	assert_null(exports_below(layer, "g"));
	assert_null(exports_below(*state, "f"));
}

static void a_layer_is_as_complete_as_its_base(void **state)
{
	_cleanup_(exports_freep) struct exports *layer = NULL;

	assert_int_equal(exports_layer(*state, &layer), 0);
	assert_false(exports_complete(layer));
	exports_set_complete(*state);
	assert_true(exports_complete(layer));
}

static void takes_exports_and_evidence_from_modules(void **state)
{
	_cleanup_(exports_freep) struct exports *ex = NULL;
	_cleanup_(module_freep) struct module *m =
		fake_open(*state, "a.ko",
			  KO("a") KO_EXPORT_GPL("mine", "0x11") KO_IMPORT("theirs", "0x22")
				  KO_NEEDS("unversioned") KO_VERSION("module_layout", "0x33"));
	const struct exported *e;

	assert_int_equal(exports_new(&ex), 0);
	assert_int_equal(exports_add_module(ex, m), 0);
	assert_int_equal(exports_learn(ex, m), 0);
	e = exports_find(ex, "mine");
	assert_string_equal(e->owner, "a");
	assert_true(e->gpl && e->gpl_known && e->has_crc && e->crc == 0x11);
	e = exports_find(ex, "theirs");
	assert_null(e->owner);
	assert_false(e->gpl_known);
	assert_true(e->has_crc && e->crc == 0x22);
	assert_int_equal(exports_find(ex, "module_layout")->crc, 0x33);
	assert_null(exports_find(ex, "unversioned"));
}

static void keeps_as_many_symbols_as_a_kernel_has(void **state)
{
	char name[32];

	for (int i = 0; i < 30000; i++) {
		(void)snprintf(name, sizeof(name), "symbol_%d", i);
		add(*state,
		    &(struct exported){ .name = name, .crc = (uint32_t)i, .has_crc = true });
	}
	assert_int_equal(exports_count(*state), 30000);
	for (int i = 0; i < 30000; i++) {
		(void)snprintf(name, sizeof(name), "symbol_%d", i);
		assert_int_equal(exports_find(*state, name)->crc, i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_table(finds_what_was_added_and_nothing_else),
		on_a_table(what_comes_first_stays),
		on_a_table(a_later_source_fills_in_what_was_not_known),
		on_a_table(a_list_of_exports_that_has_no_crc_means_none),
		on_a_table(a_layer_is_seen_before_its_base_and_leaves_it_as_it_is),
		on_a_table(what_a_layer_drops_is_not_seen_through_it),
		on_a_table(what_is_below_is_told_apart_from_what_lies_over_it),
		on_a_table(a_layer_is_as_complete_as_its_base),
		on_a_node(takes_exports_and_evidence_from_modules),
		on_a_table(keeps_as_many_symbols_as_a_kernel_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
