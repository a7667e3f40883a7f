/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_tree.h"

#include "common/parse.h"

static char *fixture(void)
{
	_cleanup_(sysroot_freep) struct sysroot *root = NULL;
	char *text;

	assert_int_equal(sysroot_open(FIXTURES "/manifest", &root), 0);
	assert_int_equal(sysroot_read(root, "one.json", 1 << 20, &text, NULL), 0);
	return text;
}

static int parse(const char *text, struct manifest *ret, struct verdicts *why)
{
	return manifest_parse(text, strlen(text), "manifest.json", ret, why);
}

/* The fixture with `from` made `to`. */
static char *edited(const char *from, const char *to)
{
	_cleanup_free_ char *text = fixture();
	char *at = strstr(text, from), *ret;

	assert_non_null(at);
	assert_true(asprintf(&ret, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
	return ret;
}

static void reads_all_that_a_swap_needs(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_manifest_ struct manifest m = { 0 };
	_cleanup_free_ char *text = fixture();
	const struct manifest_module *rxe;

	(void)state;
	assert_int_equal(parse(text, &m, &why), 0);
	assert_string_equal(m.name, "inbox-rdma");
	assert_string_equal(m.kernel, "6.1.0-56-amd64");
	assert_null(m.build_id);
	assert_string_equal(m.vendors[0], "15b3");
	assert_null(m.auxiliary[0]);
	assert_int_equal(m.n_modules, 2);
	assert_string_equal(m.modules[0].id.srcversion, "533BB7E5866E52F63B9ACCB");
	assert_int_equal(m.modules[0].n_exports, 2);
	assert_string_equal(m.modules[0].exports[1].symbol, "ib_register_device");
	assert_int_equal(m.modules[0].exports[1].crc, 0xdeadbeef);
	rxe = manifest_find(&m, "rdma-rxe");
	assert_ptr_equal(rxe, &m.modules[1]);
	assert_true(rxe->optional);
	assert_string_equal(rxe->depends[1], "udp_tunnel");
	assert_null(manifest_find(&m, "rdma_rx"));
	assert_null(manifest_find(&m, "rdma_rxe2"));
}

#define C64 "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define D64 "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
#define E64 "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"

/* The fixture is older than these keys; values as JSON. */
static char *with_digests(const char *config, const char *symvers, const char *exposed)
{
	static const char END[] = " \"vendors\"";
	_cleanup_free_ char *keys = NULL, *text = NULL;
	char *at, *ret;

	assert_true(asprintf(&keys, "\"config_sha256\": %s,\n \"exposed_sha256\": %s,\n \"kernel\"",
			     config, exposed) > 0);
	text = edited("\"kernel\"", keys);
	at = strstr(text, END);
	assert_true(asprintf(&ret, "%.*s \"symvers_sha256\": %s,\n%s", (int)(at - text), text,
			     symvers, at) > 0);
	return ret;
}

static void assert_formatted(const struct manifest *m, const char *text)
{
	_cleanup_free_ char *again = NULL;
	size_t len;

	assert_int_equal(manifest_format(m, &again, &len), 0);
	assert_string_equal(again, text);
	assert_int_equal(len, strlen(text));
}

static void gives_the_same_bytes_for_the_same_manifest(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_manifest_ struct manifest m = { 0 };
	_cleanup_free_ char *text = with_digests("\"" C64 "\"", "\"" D64 "\"", "\"" E64 "\"");

	(void)state;
	assert_int_equal(parse(text, &m, &why), 0);
	assert_string_equal(m.config_sha256, C64);
	assert_string_equal(m.symvers_sha256, D64);
	assert_string_equal(m.exposed_sha256, E64);
	assert_formatted(&m, text);
}

static void an_older_manifest_has_no_digests_of_headers(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_manifest_ struct manifest m = { 0 };
	_cleanup_free_ char *text = fixture(), *with = with_digests("null", "null", "null");

	(void)state;
	assert_int_equal(parse(text, &m, &why), 0);
	assert_null(m.config_sha256);
	assert_null(m.symvers_sha256);
	assert_null(m.exposed_sha256);
	assert_formatted(&m, with);
}

static void ignores_what_a_later_gdrkit_may_write(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_manifest_ struct manifest m = { 0 };
	_cleanup_free_ char *text =
		edited("\"optional\": true", "\"optional\": true, \"signer\": {\"name\": \"x\"}");

	(void)state;
	assert_int_equal(parse(text, &m, &why), 0);
}

static void names_what_is_missing_or_ill_typed(void **state)
{
	static const struct {
		const char *from, *to, *says;
	} cases[] = {
		{ "\"arch\": \"x86_64\",", "", "arch: missing" },
		{ "\"kernel\": \"6.1.0-56-amd64\"", "\"kernel\": 6", "kernel: not such" },
		{ "\"kernel\": \"6.1.0-56-amd64\"", "\"kernel\": \"../x\"", "kernel: not such" },
		{ "\"15b3\"", "5555", "vendors: not such" },
		{ "0xdeadbeef", "0xdeadbeef0", "modules[0].exports: not such" },
		{ "0xdeadbeef", "deadbeef", "modules[0].exports: not such" },
		{ "\"optional\": true", "\"optional\": 1", "modules[1].optional: not such" },
		{ "lib/modules/6.1.0-56-amd64/x/rdma", "/lib", "modules[1].path: not such" },
		{ "lib/modules/6.1.0-56-amd64/x/rdma", "a/../b", "modules[1].path: not such" },
		{ "\"e3b0c4", "\"E3B0C4", "modules[0].sha256: not such" },
		{ "533BB7E5866E52F63B9ACCB", "533BB7E5866E52F63B9ACCB533BB7E5866", "srcversion" },
		{ "\"arch\"", "\"config_sha256\": \"" C64 "c\", \"arch\"",
		  "config_sha256: not such" },
		{ "\"arch\"", "\"symvers_sha256\": \"C\", \"arch\"", "symvers_sha256: not such" },
		{ "\"arch\"", "\"exposed_sha256\": true, \"arch\"", "exposed_sha256: not such" },
		{ "\"ib_core\",\n    \"udp", "3, \"udp", "modules[1].depends: not such" },
		{ "\"arch\"", "\"arch\": 1, \"arch\"", "duplicate object key" },
		{ "\"arch\"", "arch", "line 2, column" },
		{ "{\n \"arch\"", "[{\"arch\"", "line" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_verdicts_ struct verdicts why = { 0 };
		_cleanup_free_ char *text = edited(cases[i].from, cases[i].to);
		struct manifest m;

		assert_int_equal(parse(text, &m, &why), -EBADMSG);
		assert_says(&why, TREE_INVALID, "manifest.json", cases[i].says);
	}
}

static void says_all_that_an_empty_manifest_lacks(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	struct manifest m;

	(void)state;
	assert_int_equal(parse("{}", &m, &why), -EBADMSG);
	assert_int_equal(why.n, 8); /* build_id, compiler and digests may be missing */
	verdicts_clear(&why);
	assert_int_equal(parse("[]", &m, &why), -EBADMSG);
	assert_int_equal(parse("", &m, &why), -EBADMSG);
}

/* A manifest of modules that are given as "name dependency...", and their order after. */
static int order(const char *const lines[], struct manifest *m, struct verdicts *why)
{
	size_t n = 0;

	while (lines[n])
		n++;
	*m = (struct manifest){ .modules = calloc(n + 1, sizeof(*m->modules)), .n_modules = n };
	assert_non_null(m->modules);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(parse_words(lines[i], " ", &m->modules[i].depends), 0);
		m->modules[i].name = strdup(m->modules[i].depends[0]);
		/* a module needs itself only where a test says so */
		free(m->modules[i].depends[0]);
		for (char **d = m->modules[i].depends; (d[0] = d[1]) != NULL; d++)
			;
	}
	return manifest_order(m, why);
}

static void assert_order(const char *const given[], const char *wanted)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_manifest_ struct manifest m = { 0 };
	_cleanup_free_ char *names = NULL;
	size_t len;
	FILE *to;

	assert_int_equal(order(given, &m, &why), 0);
	to = open_memstream(&names, &len);
	for (size_t i = 0; i < m.n_modules; i++)
		fprintf(to, "%s%s", i ? " " : "", m.modules[i].name);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(names, wanted);
}

static void puts_modules_behind_what_they_need(void **state)
{
	(void)state;
	assert_order((const char *[]){ "rxe ib_core udp_tunnel", "ib_core", NULL }, "ib_core rxe");
	assert_order((const char *[]){ "d c", "c b", "b a", "a", NULL }, "a b c d");
	assert_order((const char *[]){ "x a-b", "a_b", NULL }, "a_b x");
}

static void keeps_the_given_order_where_it_is_free(void **state)
{
	(void)state;
	assert_order((const char *[]){ "c", "b", "a", NULL }, "c b a");
	assert_order((const char *[]){ "z", "y x", "w", "x", "v", NULL }, "z w x y v");
}

static void names_the_members_of_a_circle(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_manifest_ struct manifest m = { 0 };

	(void)state;
	assert_int_equal(
		order((const char *[]){ "free", "above a", "a b", "b c", "c a", NULL }, &m, &why),
		-ELOOP);
	assert_int_equal(why.n, 1);
	assert_says(&why, DEPENDENCY_CYCLE, NULL, "needs");
	assert_null(strstr(why.v[0].detail, "above"));
	assert_null(strstr(why.v[0].detail, "free"));
	assert_non_null(strstr(why.v[0].detail, "a needs b"));
}

static void names_a_module_that_needs_itself(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_manifest_ struct manifest m = { 0 };

	(void)state;
	assert_int_equal(order((const char *[]){ "a a", NULL }, &m, &why), -ELOOP);
	assert_says(&why, DEPENDENCY_CYCLE, "a", "a needs a");
}

static void refuses_a_module_named_twice_and_no_module(void **state)
{
	_cleanup_verdicts_ struct verdicts why = { 0 };
	_cleanup_manifest_ struct manifest m = { 0 }, none = { 0 };

	(void)state;
	assert_int_equal(order((const char *[]){ "a_b", "c", "a-b", NULL }, &m, &why), -EEXIST);
	assert_says(&why, TREE_INVALID, "a_b", "twice");
	verdicts_clear(&why);
	assert_int_equal(manifest_order(&none, &why), -ENODATA);
	assert_says(&why, TREE_INVALID, NULL, "no module");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_all_that_a_swap_needs),
		cmocka_unit_test(gives_the_same_bytes_for_the_same_manifest),
		cmocka_unit_test(an_older_manifest_has_no_digests_of_headers),
		cmocka_unit_test(ignores_what_a_later_gdrkit_may_write),
		cmocka_unit_test(names_what_is_missing_or_ill_typed),
		cmocka_unit_test(says_all_that_an_empty_manifest_lacks),
		cmocka_unit_test(puts_modules_behind_what_they_need),
		cmocka_unit_test(keeps_the_given_order_where_it_is_free),
		cmocka_unit_test(names_the_members_of_a_circle),
		cmocka_unit_test(names_a_module_that_needs_itself),
		cmocka_unit_test(refuses_a_module_named_twice_and_no_module),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
