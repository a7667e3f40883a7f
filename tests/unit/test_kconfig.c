/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_node.h"

#include "common/digest.h"
#include "tree/kconfig.h"

static const char TEXT[] = "# CONFIG_A is not set\n"
			   "CONFIG_AB=y\n"
			   "CONFIG_M=m\n"
			   "CONFIG_N=n\n"
			   "CONFIG_NUMBER=16\n"
			   "CONFIG_TEXT=\"gcc-12 (x \\\"y\\\") 12.2.0\"\n"
			   "CONFIG_EMPTY=\"\"\n"
			   " CONFIG_INDENTED=y\n"
			   "#CONFIG_COMMENT=y\n"
			   "CONFIG_LAST=y";

static void read_text(const struct fake_node *node, struct kconfig *c)
{
	fake_file(node, "config", TEXT);
	assert_int_equal(kconfig_read(node->root, "config", c), 0);
}

static void assert_value(const struct kconfig *c, const char *name, const char *wanted)
{
	size_t len = 0;
	const char *value = kconfig_value(c, name, &len);

	assert_non_null(value);
	assert_int_equal(len, strlen(wanted));
	assert_memory_equal(value, wanted, len);
}

static void tells_what_is_set(void **state)
{
	_cleanup_kconfig_ struct kconfig c = { 0 };

	read_text(*state, &c);
	assert_true(kconfig_has(&c, "AB"));
	assert_true(kconfig_has(&c, "M"));
	assert_true(kconfig_has(&c, "LAST"));
	assert_false(kconfig_has(&c, "N"));
	assert_false(kconfig_has(&c, "NUMBER"));
	assert_false(kconfig_has(&c, "EMPTY"));
}

static void knows_nothing_of_what_is_not_set(void **state)
{
	static const char *const names[] = { "A",       "B",   "GONE",    "INDENTED",
					     "COMMENT", "LAS", "NUMBER2", "" };
	_cleanup_kconfig_ struct kconfig c = { 0 };
	size_t len;

	read_text(*state, &c);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_null(kconfig_value(&c, names[i], &len));
	assert_null(kconfig_value(&(struct kconfig){ 0 }, "AB", &len));
}

static void gives_values_without_their_quotes(void **state)
{
	_cleanup_kconfig_ struct kconfig c = { 0 };

	read_text(*state, &c);
	assert_value(&c, "NUMBER", "16");
	assert_value(&c, "TEXT", "gcc-12 (x \\\"y\\\") 12.2.0");
	assert_value(&c, "EMPTY", "");
	assert_value(&c, "LAST", "y");
}

static void has_the_digest_of_the_file(void **state)
{
	_cleanup_kconfig_ struct kconfig c = { 0 };
	char digest[DIGEST_TEXT];

	read_text(*state, &c);
	assert_int_equal(digest_of(TEXT, strlen(TEXT), digest), 0);
	assert_string_equal(c.sha256, digest);
}

static void refuses_what_is_no_config(void **state)
{
	const struct fake_node *node = *state;
	struct kconfig c = { 0 };
	size_t size = ((size_t)4 << 20) + 1;
	_cleanup_free_ char *big = malloc(size);

	assert_non_null(big);
	memset(big, '#', size);
	assert_int_equal(sysroot_replace(node->root, "big", 0644, big, size), 0);
	assert_int_equal(kconfig_read(node->root, "gone", &c), -ENOENT);
	assert_int_equal(kconfig_read(node->root, "big", &c), -EFBIG);
	assert_int_equal(kconfig_read(node->root, ".", &c), -EISDIR);
	assert_null(c.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(tells_what_is_set),
		on_a_node(knows_nothing_of_what_is_not_set),
		on_a_node(gives_values_without_their_quotes),
		on_a_node(has_the_digest_of_the_file),
		on_a_node(refuses_what_is_no_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
