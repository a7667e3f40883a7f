/* SPDX-License-Identifier: Apache-2.0 */
/* The planner, on facts made by hand: a core that everything stands on, a middle, a top. */
#include "fake_ko.h"

#include "swap/plan.h"

#define CORE KO("core") KO_EXPORT("core_do", "0x11111111")
#define MIDDLE KO("middle") KO_INFO("depends=core") KO_IMPORT("core_do", "0x11111111")
#define TOP KO("top") KO_INFO("depends=middle,core") KO_IMPORT("core_do", "0x11111111")
#define SIDE_TOP KO("side_top") KO_INFO("depends=core") KO_IMPORT("core_do", "0x11111111")

enum { CORE_AT, MIDDLE_AT, SIDE_TOP_AT, TOP_AT, MODULES };

struct plan_test {
	struct fake_node *node;
	struct swap_facts *facts;
	struct steps steps;
	struct verdicts why;
};

static void set_id(struct identity *id, const char *name, const char *version)
{
	*id = (struct identity){ 0 };
	(void)snprintf(id->srcversion, sizeof(id->srcversion), "%s-%s", name, version);
}

static void set_side(struct plan_test *t, struct swap_module *m, enum side side,
		     const char *assembly)
{
	m->side[side].live = true;
	m->side[side].params = strdup("");
	m->side[side].file = fake_open(t->node, m->name, assembly);
	set_id(&m->side[side].id, m->name, side == SIDE_TO ? "new" : "old");
}

/* Live from the old side, wanted from the new one. `holders`: a NULL-ended list. */
static void set_module(struct plan_test *t, int at, const char *name, const char *assembly,
		       char *const holders[])
{
	struct swap_module *m = &t->facts->m[at];

	m->name = strdup(name);
	m->role = ROLE_GOAL;
	m->live = true;
	m->holders = strv_copy(holders);
	m->refcount = (int)strv_length(holders);
	set_side(t, m, SIDE_FROM, assembly);
	set_side(t, m, SIDE_TO, assembly);
	m->id = m->side[SIDE_FROM].id;
}

static int set_up(void **state)
{
	struct plan_test *t = calloc(1, sizeof(*t));
	struct swap_facts *f = calloc(1, sizeof(*f));
	struct utsname u;

	assert_int_equal(fake_node_make((void **)&t->node), 0);
	assert_int_equal(uname(&u), 0);
	t->facts = f;
	f->m = calloc(MODULES, sizeof(*f->m));
	f->n = MODULES;
	f->kernel.release = strdup("6.1.0-test");
	f->kernel.machine = strdup(u.machine);
	f->kernel.boot_id = strdup("boot");
	f->label[SIDE_FROM] = strdup("old 1");
	f->label[SIDE_TO] = strdup("new 2");
	f->vendors = strv_copy(NULL);
	f->bound[SIDE_FROM] = calloc(1, sizeof(*f->bound[0]));
	f->bound[SIDE_TO] = calloc(1, sizeof(*f->bound[0]));
	f->pci.d = calloc(1, sizeof(*f->pci.d));
	assert_int_equal(exports_new(&f->base), 0);
	set_module(t, CORE_AT, "core", CORE, (char *[]){ "middle", "side_top", "top", NULL });
	set_module(t, MIDDLE_AT, "middle", MIDDLE, (char *[]){ "top", NULL });
	set_module(t, SIDE_TOP_AT, "side_top", SIDE_TOP, NULL);
	set_module(t, TOP_AT, "top", TOP, NULL);
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	struct plan_test *t = *state;

	steps_clear(&t->steps);
	verdicts_clear(&t->why);
	swap_facts_free(t->facts);
	(void)fake_node_end((void **)&t->node);
	free(t);
	return 0;
}

static void plan_with(struct plan_test *t, enum side side, const struct swap_policy *policy)
{
	assert_int_equal(swap_plan(t->facts, side, policy, &t->steps, &t->why), 0);
}

static void plan(struct plan_test *t)
{
	static const struct swap_policy none;

	plan_with(t, SIDE_TO, &none);
}

/* "unload top,side_top | unload middle | ..." is what the steps are, wave by wave. */
static void assert_steps(const struct plan_test *t, const char *wanted)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (size_t i = 0; i < t->steps.n; i++) {
		const struct step *s = &t->steps.s[i];
		bool same = i > 0 && t->steps.s[i - 1].wave == s->wave;

		if (same)
			fprintf(f, ",%s", s->m ? s->m->name : s->device);
		else
			fprintf(f, "%s%s %s", i ? " | " : "", step_op_name(s->op),
				s->m ? s->m->name : s->device);
	}
	fclose(f);
	assert_string_equal(text, wanted);
}

static void make_bystander(struct plan_test *t, int at)
{
	struct swap_module *m = &t->facts->m[at];

	m->role = ROLE_BYSTANDER;
	m->side[SIDE_TO].id = m->side[SIDE_FROM].id;
}

static void drop_file(struct swap_side *side, const char *missing)
{
	side->file = module_free(side->file);
	side->missing = missing ? strdup(missing) : NULL;
}

static void unloads_holders_first_and_loads_what_is_needed_first(void **state)
{
	plan(*state);
	assert_int_equal(((struct plan_test *)*state)->why.n, 0);
	assert_steps(*state, "unload side_top,top | unload middle | unload core | "
			     "load core | load middle,side_top | load top");
}

static void moves_nothing_where_the_goal_is_live(void **state)
{
	struct plan_test *t = *state;

	for (size_t i = 0; i < t->facts->n; i++)
		t->facts->m[i].id = t->facts->m[i].side[SIDE_TO].id;
	plan(t);
	assert_int_equal(t->steps.n, 0);
	assert_int_equal(t->why.n, 0);
}

static void moves_only_the_closure_of_what_differs(void **state)
{
	struct plan_test *t = *state;

	t->facts->m[CORE_AT].id = t->facts->m[CORE_AT].side[SIDE_TO].id;
	t->facts->m[SIDE_TOP_AT].id = t->facts->m[SIDE_TOP_AT].side[SIDE_TO].id;
	plan(t);
	assert_steps(t, "unload top | unload middle | load middle | load top");
}

static void takes_away_what_the_goal_does_not_want(void **state)
{
	struct plan_test *t = *state;

	t->facts->m[TOP_AT].side[SIDE_TO].live = false;
	for (size_t i = 0; i < TOP_AT; i++)
		t->facts->m[i].id = t->facts->m[i].side[SIDE_TO].id;
	plan(t);
	assert_steps(t, "unload top");
}

static void loads_what_was_not_live(void **state)
{
	struct plan_test *t = *state;

	for (size_t i = 0; i < t->facts->n; i++)
		t->facts->m[i].live = false;
	plan(t);
	assert_steps(t, "load core | load middle,side_top | load top");
}

static void goes_back_from_half_way_with_what_is_missing_only(void **state)
{
	static const struct swap_policy onward = { .no_way_back = true };
	struct plan_test *t = *state;
	struct swap_module *core = &t->facts->m[CORE_AT];

	/*
	 * the new core is in, top and middle are gone, side_top has not moved: it would hold the
	 * old core
	 */
	core->id = core->side[SIDE_TO].id;
	core->refcount = 0;
	core->holders = strv_free(core->holders);
	t->facts->m[MIDDLE_AT].live = t->facts->m[TOP_AT].live = t->facts->m[SIDE_TOP_AT].live =
		false;
	plan_with(t, SIDE_FROM, &onward);
	assert_int_equal(t->why.n, 0);
	assert_steps(t, "unload core | load core | load middle,side_top | load top");
}

static void refuses_a_module_with_references_of_its_own(void **state)
{
	struct plan_test *t = *state;

	t->facts->m[MIDDLE_AT].refcount += 2;
	plan(t);
	assert_only_no(&t->why, REASON_MODULE_IN_USE, "middle", "2 references");
}

static void refuses_a_permanent_module_and_one_that_is_on_its_way(void **state)
{
	struct plan_test *t = *state;

	t->facts->m[TOP_AT].refcount = -1;
	t->facts->m[SIDE_TOP_AT].state = MODULE_GOING;
	plan(t);
	assert_int_equal(t->why.n, 2);
	assert_non_null(find_verdict(&t->why, REASON_MODULE_IN_USE, "top"));
	assert_non_null(find_verdict(&t->why, REASON_MODULE_IN_USE, "side_top"));
}

static void refuses_a_holder_that_came_after_the_facts(void **state)
{
	struct plan_test *t = *state;
	struct swap_module *m = &t->facts->m[TOP_AT];

	strv_free(m->holders);
	m->holders = strv_copy((char *[]){ "late", NULL });
	m->refcount = 1;
	plan(t);
	assert_only_no(&t->why, REASON_MODULE_IN_USE, "top", "late");
}

static void refuses_a_bystander_that_no_rule_names(void **state)
{
	struct plan_test *t = *state;

	make_bystander(t, TOP_AT);
	plan(t);
	assert_only_no(&t->why, REASON_MODULE_IN_USE, "top", "not part of new 2");
}

static void refuses_a_bystander_for_the_reason_of_the_first_rule_that_names_it(void **state)
{
	static char *const storage[] = { "other", "top", NULL };
	static const struct swap_rule rules[] = {
		{ .modules = NULL, .why = REASON_THIRD_PARTY_IN_USE },
		{ .modules = storage, .why = REASON_STORAGE_IN_USE },
		{ .modules = storage, .may_go = true },
	};
	static const struct swap_policy policy = { .rules = rules, .n = 3 };
	struct plan_test *t = *state;

	make_bystander(t, TOP_AT);
	plan_with(t, SIDE_TO, &policy);
	assert_only_no(&t->why, REASON_STORAGE_IN_USE, "top", "stands on");
}

static const struct swap_policy *top_may_go(void)
{
	static char *const auxiliary[] = { "top", NULL };
	static const struct swap_rule rules[] = { { .modules = auxiliary, .may_go = true } };
	static const struct swap_policy policy = { .rules = rules, .n = 1 };

	return &policy;
}

static void brings_a_bystander_back_that_may_go_and_fits(void **state)
{
	struct plan_test *t = *state;

	make_bystander(t, TOP_AT);
	plan_with(t, SIDE_TO, top_may_go());
	assert_int_equal(t->why.n, 0);
	assert_steps(t, "unload side_top,top | unload middle | unload core | "
			"load core | load middle,side_top | load top");
}

static void leaves_a_bystander_out_that_no_longer_fits_and_says_so(void **state)
{
	struct plan_test *t = *state;
	struct swap_side *to = &t->facts->m[TOP_AT].side[SIDE_TO];

	make_bystander(t, TOP_AT);
	module_free(to->file);
	to->file = fake_open(t->node, "top", KO("top") KO_IMPORT("core_do", "0x22222222"));
	plan_with(t, SIDE_TO, top_may_go());
	assert_false(verdicts_refuse(&t->why));
	assert_non_null(find_verdict(&t->why, REASON_SYMBOL_CRC_MISMATCH, "top"));
	assert_steps(
		t,
		"unload side_top,top | unload middle | unload core | load core | load middle,side_top");
}

static void refuses_where_there_is_no_file_for_the_way_back(void **state)
{
	struct plan_test *t = *state;

	drop_file(&t->facts->m[MIDDLE_AT].side[SIDE_FROM], "its file has another build-id");
	plan(t);
	assert_only_no(&t->why, REASON_UNDO_IMPOSSIBLE, "middle", "another build-id");
}

static void needs_no_way_back_in_recovery(void **state)
{
	static const struct swap_policy onward = { .no_way_back = true };
	struct plan_test *t = *state;

	drop_file(&t->facts->m[MIDDLE_AT].side[SIDE_FROM], "gone");
	plan_with(t, SIDE_TO, &onward);
	assert_int_equal(t->why.n, 0);
}

static void does_not_refuse_the_way_back_for_a_reference_or_for_a_newcomer(void **state)
{
	static const struct swap_policy onward = { .no_way_back = true };
	struct plan_test *t = *state;

	for (size_t i = 0; i < t->facts->n; i++)
		t->facts->m[i].id = t->facts->m[i].side[SIDE_TO].id;
	t->facts->m[MIDDLE_AT].refcount++;
	t->facts->m[TOP_AT].role = ROLE_BYSTANDER;
	t->facts->m[TOP_AT].side[SIDE_FROM].live = false;
	plan_with(t, SIDE_FROM, &onward);
	assert_int_equal(t->why.n, 0);
	assert_steps(t, "unload side_top,top | unload middle | unload core | "
			"load core | load middle,side_top");
}

static void judges_new_modules_against_new_exports_not_against_those_that_go(void **state)
{
	struct plan_test *t = *state;
	struct swap_side *core = &t->facts->m[CORE_AT].side[SIDE_TO];

	module_free(core->file);
	core->file = fake_open(t->node, "core", KO("core") KO_EXPORT("core_do", "0x33333333"));
	plan(t);
	assert_true(verdicts_refuse(&t->why));
	assert_int_equal(t->why.v[0].why, REASON_SYMBOL_CRC_MISMATCH);
}

static void names_a_circle_of_modules_that_need_each_other(void **state)
{
	struct plan_test *t = *state;
	struct swap_side *core = &t->facts->m[CORE_AT].side[SIDE_TO];

	module_free(core->file);
	core->file = fake_open(t->node, "core", CORE KO_INFO("depends=top"));
	plan(t);
	assert_non_null(find_verdict(&t->why, REASON_DEPENDENCY_CYCLE, "core"));
	assert_non_null(find_verdict(&t->why, REASON_DEPENDENCY_CYCLE, "top"));
}

static void leaves_a_host_module_alone_that_somebody_has_begun_to_use(void **state)
{
	struct plan_test *t = *state;
	struct swap_module *m = &t->facts->m[SIDE_TOP_AT];

	m->role = ROLE_HOST;
	m->side[SIDE_TO].live = false;
	m->refcount = 1;
	for (size_t i = 0; i < t->facts->n; i++)
		if (i != SIDE_TOP_AT)
			t->facts->m[i].id = t->facts->m[i].side[SIDE_TO].id;
	plan(t);
	assert_int_equal(t->steps.n, 0);
}

static void add_device(struct plan_test *t, const char *address, const char *module)
{
	struct pci_devices *pci = &t->facts->pci;
	struct pci_device *d = &pci->d[pci->n++];

	(void)snprintf(d->address, sizeof(d->address), "%s", address);
	d->vendor = PCI_VENDOR_MELLANOX;
	d->driver = module ? strdup(module) : NULL;
	d->module = module ? strdup(module) : NULL;
}

static void binds_devices_last_that_were_bound_to_what_goes(void **state)
{
	struct plan_test *t = *state;
	struct state_binding *b = t->facts->bound[SIDE_TO];

	add_device(t, "0000:01:00.0", "top");
	b->device = strdup("0000:01:00.0");
	b->module = strdup("top");
	t->facts->n_bound[SIDE_TO] = 1;
	plan(t);
	assert_steps(t, "unload side_top,top | unload middle | unload core | "
			"load core | load middle,side_top | load top | bind 0000:01:00.0");
}

static void offers_the_new_drivers_devices_that_nothing_drives(void **state)
{
	struct plan_test *t = *state;

	strv_free(t->facts->vendors);
	t->facts->vendors = strv_copy((char *[]){ "15b3", NULL });
	add_device(t, "0000:01:00.0", NULL);
	for (size_t i = 0; i < TOP_AT; i++)
		t->facts->m[i].id = t->facts->m[i].side[SIDE_TO].id;
	plan(t);
	assert_steps(t, "unload top | load top | bind 0000:01:00.0");
}

#define PLAN_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAN_TEST(unloads_holders_first_and_loads_what_is_needed_first),
		PLAN_TEST(moves_nothing_where_the_goal_is_live),
		PLAN_TEST(moves_only_the_closure_of_what_differs),
		PLAN_TEST(takes_away_what_the_goal_does_not_want),
		PLAN_TEST(loads_what_was_not_live),
		PLAN_TEST(goes_back_from_half_way_with_what_is_missing_only),
		PLAN_TEST(refuses_a_module_with_references_of_its_own),
		PLAN_TEST(refuses_a_permanent_module_and_one_that_is_on_its_way),
		PLAN_TEST(refuses_a_holder_that_came_after_the_facts),
		PLAN_TEST(refuses_a_bystander_that_no_rule_names),
		PLAN_TEST(refuses_a_bystander_for_the_reason_of_the_first_rule_that_names_it),
		PLAN_TEST(brings_a_bystander_back_that_may_go_and_fits),
		PLAN_TEST(leaves_a_bystander_out_that_no_longer_fits_and_says_so),
		PLAN_TEST(refuses_where_there_is_no_file_for_the_way_back),
		PLAN_TEST(needs_no_way_back_in_recovery),
		PLAN_TEST(does_not_refuse_the_way_back_for_a_reference_or_for_a_newcomer),
		PLAN_TEST(judges_new_modules_against_new_exports_not_against_those_that_go),
		PLAN_TEST(names_a_circle_of_modules_that_need_each_other),
		PLAN_TEST(leaves_a_host_module_alone_that_somebody_has_begun_to_use),
		PLAN_TEST(binds_devices_last_that_were_bound_to_what_goes),
		PLAN_TEST(offers_the_new_drivers_devices_that_nothing_drives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
