/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fake_node.h"

#include <signal.h>
#include <sys/resource.h>

#include "swap/guard.h"

#define CONF "run/modprobe.d/gdrkit-swap.conf"
#define AUTOPROBE "sys/bus/pci/drivers_autoprobe"
#define RCU "sys/kernel/rcu_expedited"

static char *const modules[] = { "ib_core", "mlx5_core", NULL };

static void save(const struct fake_node *node, const struct guard *g)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };

	assert_int_equal(guard_save(g, node->root, modules, &why), 0);
	assert_int_equal(why.n, 0);
}

static void restore(const struct fake_node *node, const struct guard *g)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };

	assert_int_equal(guard_restore(g, node->root, &why), 0);
	assert_int_equal(why.n, 0);
}

static void assert_nothing_saved(const struct fake_node *node)
{
	_cleanup_strv_ char **names = NULL;

	assert_int_equal(sysroot_list(node->root, "run/gdrkit/saved", &names), 0);
	assert_null(names[0]);
}

static void assert_failed(const struct verdicts *why, const char *object)
{
	assert_int_equal(why->n, 1);
	assert_int_equal(why->v[0].why, REASON_GUARD_FAILED);
	assert_string_equal(why->v[0].object, object);
	assert_non_null(why->v[0].detail);
}

static void sets_what_a_swap_needs_and_puts_back_what_was(void **state)
{
	const struct fake_node *node = *state;

	fake_file(node, AUTOPROBE, "1\n");
	fake_file(node, RCU, "0\n");
	for (const struct guard *const *g = guards_of_every_swap; *g; g++)
		save(node, *g);
	assert_file(node, AUTOPROBE, "0");
	assert_file(node, RCU, "1");
	assert_file(node, CONF,
		    "# Written by gdrkit while it swaps these modules; it goes by itself at the "
		    "end.\ninstall ib_core /bin/false\ninstall mlx5_core /bin/false\n");
	for (const struct guard *const *g = guards_of_every_swap; *g; g++)
		restore(node, *g);
	assert_file(node, AUTOPROBE, "1");
	assert_file(node, RCU, "0");
	assert_false(sysroot_exists(node->root, CONF));
	assert_nothing_saved(node);
}

static void restores_the_old_value_after_two_saves(void **state)
{
	const struct fake_node *node = *state;

	fake_file(node, AUTOPROBE, "1\n");
	save(node, &guard_autoprobe);
	save(node, &guard_autoprobe);
	assert_file(node, AUTOPROBE, "0");
	restore(node, &guard_autoprobe);
	assert_file(node, AUTOPROBE, "1");
}

static void keeps_a_value_that_was_what_it_would_set(void **state)
{
	const struct fake_node *node = *state;

	fake_file(node, RCU, "1\n");
	save(node, &guard_rcu_expedited);
	restore(node, &guard_rcu_expedited);
	assert_file(node, RCU, "1");
}

static void restores_once_and_then_leaves_the_node_alone(void **state)
{
	const struct fake_node *node = *state;

	fake_file(node, AUTOPROBE, "1\n");
	save(node, &guard_autoprobe);
	restore(node, &guard_autoprobe);
	fake_file(node, AUTOPROBE, "0\n");
	restore(node, &guard_autoprobe);
	assert_file(node, AUTOPROBE, "0\n");
}

static void does_nothing_where_nothing_was_saved(void **state)
{
	const struct fake_node *node = *state;

	fake_file(node, CONF, "# somebody's\n");
	restore(node, &guard_install);
	assert_file(node, CONF, "# somebody's\n");
}

static void leaves_alone_what_a_guard_that_was_cut_off_had_not_changed(void **state)
{
	const struct fake_node *node = *state;

	fake_file(node, AUTOPROBE, "1\n");
	fake_file(node, "run/gdrkit/saved/autoprobe", "");
	restore(node, &guard_autoprobe);
	assert_file(node, AUTOPROBE, "1\n");
	assert_nothing_saved(node);
}

static void recovers_what_another_process_saved(void **state)
{
	const struct fake_node *node = *state;

	fake_file(node, AUTOPROBE, "0\n");
	fake_file(node, "run/gdrkit/saved/autoprobe", "1");
	restore(node, &guard_autoprobe);
	assert_file(node, AUTOPROBE, "1");
	assert_nothing_saved(node);
}

static void does_without_an_attribute_that_the_kernel_lacks(void **state)
{
	const struct fake_node *node = *state;

	save(node, &guard_rcu_expedited);
	assert_false(sysroot_exists(node->root, RCU));
	restore(node, &guard_rcu_expedited);
	assert_nothing_saved(node);
}

static void names_the_path_that_cannot_be_written(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_verdicts_ struct verdicts why = { 0 };

	fake_file(node, "run/modprobe.d", "no directory");
	assert_int_equal(guard_save(&guard_install, node->root, modules, &why), -ENOTDIR);
	assert_failed(&why, CONF);
	assert_string_equal(why.v[0].detail, strerror(ENOTDIR));
	assert_nothing_saved(node);
}

static void names_its_own_file_where_that_cannot_be_made(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_verdicts_ struct verdicts why = { 0 };

	fake_file(node, AUTOPROBE, "1\n");
	assert_int_equal(sysroot_mkdirs(node->root, "run", 0755), 0);
	assert_int_equal(sysroot_link(node->root, "saved", "run/gdrkit"), 0);
	assert_true(guard_save(&guard_autoprobe, node->root, modules, &why) < 0);
	assert_failed(&why, "run/gdrkit/saved/autoprobe");
	assert_file(node, AUTOPROBE, "1\n");
}

/* No file may grow beyond `bytes`: what a full disk does, wherever the tests run. */
static int save_with_limit(const struct fake_node *node, const struct guard *g, rlim_t bytes,
			   struct verdicts *why)
{
	struct rlimit old, now;
	int r;

	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	now = (struct rlimit){ bytes, old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
	r = guard_save(g, node->root, modules, why);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	return r;
}

static void changes_nothing_that_it_could_not_record(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_verdicts_ struct verdicts why = { 0 };

	fake_file(node, AUTOPROBE, "1\n");
	assert_int_equal(save_with_limit(node, &guard_autoprobe, 0, &why), -EFBIG);
	assert_failed(&why, "run/gdrkit/saved/autoprobe");
	assert_file(node, AUTOPROBE, "1\n");
	assert_nothing_saved(node);
}

static void takes_back_its_record_when_it_could_not_set(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_verdicts_ struct verdicts why = { 0 };

	assert_int_equal(save_with_limit(node, &guard_install, 40, &why), -EFBIG);
	assert_failed(&why, CONF);
	assert_false(sysroot_exists(node->root, CONF));
	assert_nothing_saved(node);
}

static void keeps_its_record_until_it_could_put_back(void **state)
{
	const struct fake_node *node = *state;
	_cleanup_verdicts_ struct verdicts why = { 0 };

	fake_file(node, AUTOPROBE, "1\n");
	save(node, &guard_autoprobe);
	assert_int_equal(sysroot_remove(node->root, AUTOPROBE), 0);
	assert_int_equal(sysroot_mkdirs(node->root, AUTOPROBE, 0755), 0);
	assert_true(guard_restore(&guard_autoprobe, node->root, &why) < 0);
	assert_failed(&why, AUTOPROBE);
	assert_file(node, "run/gdrkit/saved/autoprobe", "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(sets_what_a_swap_needs_and_puts_back_what_was),
		on_a_node(restores_the_old_value_after_two_saves),
		on_a_node(keeps_a_value_that_was_what_it_would_set),
		on_a_node(restores_once_and_then_leaves_the_node_alone),
		on_a_node(does_nothing_where_nothing_was_saved),
		on_a_node(leaves_alone_what_a_guard_that_was_cut_off_had_not_changed),
		on_a_node(recovers_what_another_process_saved),
		on_a_node(does_without_an_attribute_that_the_kernel_lacks),
		on_a_node(names_the_path_that_cannot_be_written),
		on_a_node(names_its_own_file_where_that_cannot_be_made),
		on_a_node(changes_nothing_that_it_could_not_record),
		on_a_node(takes_back_its_record_when_it_could_not_set),
		on_a_node(keeps_its_record_until_it_could_put_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
