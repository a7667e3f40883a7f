/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fake_tree.h"

#include "ofed/policy.h"

static struct ofed_settings settings_with(char *const env[])
{
	char *const argv[] = { "ofed-driver", NULL };
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_free_ char **operands = NULL;
	struct ofed_settings set;

	assert_int_equal(
		settings_read(ofed_table, ofed_table_size, &set, argv, env, &operands, &why), 0);
	return set;
}

static const struct swap_rule *first_rule(const struct swap_rule *rules, const char *module)
{
	for (size_t i = 0; i < POLICY_RULES; i++) {
		for (char *const *m = rules[i].modules; m && *m; m++) {
			if (strcmp(*m, module) == 0)
				return &rules[i];
		}
	}
	return NULL;
}

static void lets_auxiliary_modules_of_settings_and_tree_go(void **state)
{
	char *const none[] = { NULL };
	struct ofed_settings set = settings_with(none);
	char *of_the_tree[] = { "irdma", NULL };
	struct manifest m = { .auxiliary = of_the_tree };
	struct swap_rule rules[POLICY_RULES];

	(void)state;
	policy_rules(&set, &m, rules);
	assert_true(first_rule(rules, "mlx5_vdpa")->may_go);
	assert_true(first_rule(rules, "irdma")->may_go); /* though it is a third party's by name */
	assert_null(first_rule(rules, "some_other_module"));
	settings_clear(ofed_table, ofed_table_size, &set);
}

static void refuses_storage_and_third_parties_with_their_own_reasons(void **state)
{
	char *const none[] = { NULL };
	struct ofed_settings set = settings_with(none);
	struct swap_rule rules[POLICY_RULES];

	(void)state;
	policy_rules(&set, NULL, rules);
	assert_false(first_rule(rules, "nvme_rdma")->may_go);
	assert_int_equal(first_rule(rules, "nvme_rdma")->why, REASON_STORAGE_IN_USE);
	assert_false(first_rule(rules, "siw")->may_go);
	assert_int_equal(first_rule(rules, "siw")->why, REASON_THIRD_PARTY_IN_USE);
	settings_clear(ofed_table, ofed_table_size, &set);
}

static void an_empty_list_of_auxiliary_modules_lets_none_go(void **state)
{
	char *const env[] = { "MLX5_AUXILIARY_MODULES=", NULL };
	struct ofed_settings set = settings_with(env);
	struct swap_rule rules[POLICY_RULES];

	(void)state;
	policy_rules(&set, NULL, rules);
	assert_null(first_rule(rules, "mlx5_vdpa"));
	settings_clear(ofed_table, ofed_table_size, &set);
}

static void the_peers_defaults_hold_without_an_environment(void **state)
{
	char *const none[] = { NULL };
	struct ofed_settings set = settings_with(none);

	(void)state;
	assert_true(set.restore);
	assert_string_equal(set.ready_path, "/run/mellanox/drivers/.driver-ready");
	assert_string_equal(set.mount, "/run/mellanox/drivers");
	assert_string_equal(set.lock_path, "/run/mellanox/drivers/.lock");
	assert_string_equal(set.storage[0], "ib_iser");
	assert_string_equal(set.third_party[0], "bnxt_re");
	assert_null(set.revision);
	settings_clear(ofed_table, ofed_table_size, &set);
}

static void only_settings_that_bear_on_a_failure_change_the_digest(void **state)
{
	char *const none[] = { NULL }, *const revision[] = { "GDRKIT_REVISION=7", NULL },
		    *const storage[] = { "STORAGE_MODULES=nvme_rdma", NULL };
	char *const *const envs[] = { none, revision, storage };
	char digest[3][65];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct ofed_settings set = settings_with(envs[i]);

		assert_int_equal(ofed_settings_digest(&set, digest[i]), 0);
		settings_clear(ofed_table, ofed_table_size, &set);
	}
	assert_string_equal(digest[0], digest[1]);
	assert_string_not_equal(digest[0], digest[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lets_auxiliary_modules_of_settings_and_tree_go),
		cmocka_unit_test(refuses_storage_and_third_parties_with_their_own_reasons),
		cmocka_unit_test(an_empty_list_of_auxiliary_modules_lets_none_go),
		cmocka_unit_test(the_peers_defaults_hold_without_an_environment),
		cmocka_unit_test(only_settings_that_bear_on_a_failure_change_the_digest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
