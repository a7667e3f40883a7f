/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_ko.h"

struct object {
	char *data;
	size_t len;
};

static void object_clear(struct object *o)
{
	free(o->data);
}

#define _cleanup_object_ _cleanup_(object_clear)

static struct object assemble(void **state, const char *assembly)
{
	struct object o;

	fake_ko(*state, "object.o", assembly);
	assert_int_equal(sysroot_read(((struct fake_node *)*state)->root, "object.o", 1 << 20,
				      &o.data, &o.len),
			 0);
	return o;
}

static const char sample[] = KO("sample") KO_BUILD_ID KO_IMPORT(
	"needed", "0x12345678") ".text\n.globl begin\nbegin: .long 1\n.bss\n.zero 4096\n";

static void finds_sections_by_name_and_none_that_is_not_there(void **state)
{
	_cleanup_object_ struct object o = assemble(state, sample);
	struct elf_section s = { 0 };
	struct elf elf;

	assert_int_equal(elf_parse(o.data, o.len, &elf), 0);
	assert_int_equal(elf.bits, 64);
	assert_int_equal(elf.machine, this_machine());
	assert_int_equal(elf_section(&elf, ".modinfo", &s), 0);
	assert_string_equal((const char *)s.data, "name=sample");
	assert_int_equal(elf_section(&elf, ".nothing", &s), -ENOENT);
	assert_string_equal(s.name, ".modinfo"); /* untouched on failure */
}

static void a_section_without_room_in_the_file_is_empty(void **state)
{
	_cleanup_object_ struct object o = assemble(state, sample);
	struct elf_section s;
	struct elf elf;

	assert_int_equal(elf_parse(o.data, o.len, &elf), 0);
	assert_int_equal(elf_section(&elf, ".bss", &s), 0);
	assert_non_null(s.data);
	assert_int_equal(s.len, 0);
}

static void tells_symbols_with_their_section_and_binding(void **state)
{
	_cleanup_object_ struct object o = assemble(state, sample);
	struct elf_symbol s;
	bool needed = false, begin = false;
	struct elf elf;
	size_t i;

	assert_int_equal(elf_parse(o.data, o.len, &elf), 0);
	for (i = 0; elf_symbol(&elf, i, &s) == 0; i++) {
		if (strcmp(s.name, "needed") == 0)
			needed = s.section == SHN_UNDEF && s.bind == STB_GLOBAL;
		if (strcmp(s.name, "begin") == 0)
			begin = s.section != SHN_UNDEF && s.value == 0;
	}
	assert_int_equal(i, elf_symbol_count(&elf));
	assert_true(needed && begin);
}

static void reads_the_build_id_as_hex(void **state)
{
	_cleanup_object_ struct object o = assemble(state, sample);
	char hex[65] = "before", narrow[8];
	struct elf elf;

	assert_int_equal(elf_parse(o.data, o.len, &elf), 0);
	assert_int_equal(elf_note_hex(&elf, ".note.gnu.build-id", 99, hex, sizeof(hex)), -ENOENT);
	assert_int_equal(elf_note_hex(&elf, ".note.none", NT_GNU_BUILD_ID, hex, sizeof(hex)),
			 -ENOENT);
	assert_string_equal(hex, "before");
	assert_int_equal(
		elf_note_hex(&elf, ".note.gnu.build-id", NT_GNU_BUILD_ID, hex, sizeof(hex)), 0);
	assert_string_equal(hex, "5e1f0c2d");
	assert_int_equal(
		elf_note_hex(&elf, ".note.gnu.build-id", NT_GNU_BUILD_ID, narrow, sizeof(narrow)),
		-ENOSPC);
}

static void finds_one_note_among_several(void **state)
{
	static const uint32_t notes[] = {
		4, 8, 6, 0x006e6558, 1,          2, /* "Xen" */
		4, 4, 3, 0x00554e47, 0x04030201,    /* "GNU" */
	};
	char hex[65];

	(void)state;
	assert_int_equal(note_hex(notes, sizeof(notes), 3, hex, sizeof(hex)), 0);
	assert_string_equal(hex, "01020304");
	for (size_t len = 0; len < sizeof(notes); len++)
		assert_int_equal(note_hex(notes, len, 3, hex, sizeof(hex)), -ENOENT);
}

static void a_note_longer_than_its_section_is_no_note(void **state)
{
	static const uint32_t notes[] = { 4, 0xffffffff, 3, 0x00554e47, 0 },
			      name[] = { 0xfffffffe, 4, 3, 0x00554e47, 0 };
	char hex[65];

	(void)state;
	assert_int_equal(note_hex(notes, sizeof(notes), 3, hex, sizeof(hex)), -ENOENT);
	assert_int_equal(note_hex(name, sizeof(name), 3, hex, sizeof(hex)), -ENOENT);
}

static void refuses_a_file_that_is_cut_off_anywhere(void **state)
{
	_cleanup_object_ struct object o = assemble(state, sample);
	struct elf elf;

	for (size_t len = 0; len < o.len; len++) {
		_cleanup_free_ char *part = malloc(len + 1); /* so that ASan sees the end */

		memcpy(part, o.data, len);
		assert_int_equal(elf_parse(part, len, &elf), -EBADMSG);
	}
	assert_int_equal(elf_parse(o.data, o.len, &elf), 0);
}

static void refuses_a_program_and_the_other_byte_order(void **state)
{
	_cleanup_object_ struct object o = assemble(state, sample);
	struct elf elf;

	((Elf64_Ehdr *)(void *)o.data)->e_type = ET_DYN;
	assert_int_equal(elf_parse(o.data, o.len, &elf), -EBADMSG);
	((Elf64_Ehdr *)(void *)o.data)->e_type = ET_REL;
	assert_int_equal(elf_parse(o.data, o.len, &elf), 0);
	o.data[EI_DATA] ^= 3;
	assert_int_equal(elf_parse(o.data, o.len, &elf), -EBADMSG);
}

/* Each header in turn. */
static void refuses_sections_that_reach_outside(void **state)
{
	_cleanup_object_ struct object o = assemble(state, sample);
	Elf64_Ehdr *start = (void *)o.data;
	struct elf elf;

	for (unsigned int i = 1; i < start->e_shnum; i++) {
		Elf64_Shdr *h = (Elf64_Shdr *)(void *)(o.data + start->e_shoff) + i, saved = *h;

		if (h->sh_type == SHT_NOBITS)
			continue;
		h->sh_offset = UINT64_MAX - 1;
		h->sh_size = 4;
		assert_int_equal(elf_parse(o.data, o.len, &elf), -EBADMSG);
		*h = saved;
		h->sh_size = o.len;
		assert_int_equal(elf_parse(o.data, o.len, &elf), -EBADMSG);
		*h = saved;
		h->sh_name = UINT32_MAX;
		assert_int_equal(elf_parse(o.data, o.len, &elf), -EBADMSG);
		*h = saved;
	}
}

static void a_file_without_symbols_has_none(void **state)
{
	_cleanup_object_ struct object o = assemble(state, sample);
	Elf64_Ehdr *start = (void *)o.data;
	struct elf_symbol s;
	struct elf elf;

	for (unsigned int i = 1; i < start->e_shnum; i++) {
		Elf64_Shdr *h = (Elf64_Shdr *)(void *)(o.data + start->e_shoff) + i;

		if (h->sh_type == SHT_SYMTAB)
			h->sh_type = SHT_PROGBITS;
	}
	assert_int_equal(elf_parse(o.data, o.len, &elf), 0);
	assert_int_equal(elf_symbol_count(&elf), 0);
	assert_int_equal(elf_symbol(&elf, 0, &s), -ENOENT);
}

static void refuses_a_symbol_whose_name_lies_outside(void **state)
{
	_cleanup_object_ struct object o = assemble(state, sample);
	struct elf_symbol s;
	struct elf elf;

	assert_int_equal(elf_parse(o.data, o.len, &elf), 0);
	((Elf64_Sym *)(void *)(uintptr_t)elf.symtab.data)[1].st_name = UINT32_MAX;
	assert_int_equal(elf_symbol(&elf, 1, &s), -EBADMSG);
	assert_int_equal(elf_symbol(&elf, SIZE_MAX, &s), -ENOENT);
}

static void knows_the_machines_that_gdrkit_runs_on(void **state)
{
	(void)state;
	assert_int_equal(elf_machine_of("x86_64"), EM_X86_64);
	assert_int_equal(elf_machine_of("aarch64"), EM_AARCH64);
	assert_int_equal(elf_machine_of("vax"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(finds_sections_by_name_and_none_that_is_not_there),
		on_a_node(a_section_without_room_in_the_file_is_empty),
		on_a_node(tells_symbols_with_their_section_and_binding),
		on_a_node(reads_the_build_id_as_hex),
		cmocka_unit_test(finds_one_note_among_several),
		cmocka_unit_test(a_note_longer_than_its_section_is_no_note),
		on_a_node(refuses_a_file_that_is_cut_off_anywhere),
		on_a_node(refuses_a_program_and_the_other_byte_order),
		on_a_node(refuses_sections_that_reach_outside),
		on_a_node(a_file_without_symbols_has_none),
		on_a_node(refuses_a_symbol_whose_name_lies_outside),
		cmocka_unit_test(knows_the_machines_that_gdrkit_runs_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
