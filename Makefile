# SPDX-License-Identifier: Apache-2.0
# gdrkit's one Makefile. `make help` lists the targets; each first installs and builds what it needs (tools/deps).

VERSION  := 0.1.0
B        ?= build

# A binary is entrypoints/NAME.c and what it takes from the rooms; every other file of a room is found by itself.
# Highest floor first: a room uses only rooms below it, and the linker sees them in this order.
BINS     := ofed-driver
ROOMS    := entrypoints ofed swap tree kernel common
MAINS    := $(BINS:%=entrypoints/%.c)
SOURCES  := $(filter-out $(MAINS),$(wildcard $(ROOMS:%=%/*.c)))
TESTS    := $(wildcard tests/unit/test_*.c)
FUZZERS  := $(wildcard tests/fuzz/fuzz_*.c)
LIBS     := -lkmod -lpci -lmount -lcap -lseccomp -lyaml -ljansson -lnettle -lzstd -llzma -lz

CPPFLAGS := -I. -D_GNU_SOURCE -DGDRKIT_VERSION='"$(VERSION)"' -MMD -MP
CFLAGS   := -std=gnu11 -g -Wall -Wextra -Wshadow -Wvla -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
            -Wmissing-prototypes -Wpointer-arith -Wformat=2 -Wundef -Wimplicit-fallthrough $(if $(MUST_WORK),-Werror)

# Three variants of the same sources: what ships, what the unit tests run, what the fuzzers run.
static/CC      := gcc
static/CFLAGS  := -O2 -fPIE -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables \
                  -fstack-protector-strong -D_FORTIFY_SOURCE=2 $(if $(filter x86_64,$(shell uname -m)),-fcf-protection)
static/LDFLAGS := -static-pie -Wl,--gc-sections,--fatal-warnings -Wl,-z,relro,-z,now,-z,noexecstack
asan/CC        := gcc
asan/CFLAGS    := -O1 -Werror -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all \
                  -DFIXTURES='"$(CURDIR)/tests/fixtures"'
asan/LDFLAGS   := -fsanitize=address,undefined -Wl,--gc-sections,--as-needed
fuzz/CC        := clang
fuzz/CFLAGS    := $(asan/CFLAGS) -fsanitize=fuzzer-no-link
fuzz/LDFLAGS   := -fsanitize=address,undefined,fuzzer -Wl,--gc-sections,--as-needed

UNITS    := $(patsubst %.c,$B/asan/%,$(filter tests/unit/test_$(or $(T),%).c,$(TESTS)))
FUZZ     := $(FUZZERS:%.c=$B/fuzz/%)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all asan unit artefact check demo bench images fuzz lint format deps deps-build deps-test clean help

all: $(BINS:%=$B/bin/%) ## the static binaries (the default): build/bin/NAME; with symbols: build/debug/NAME

$B/bin/%: $B/debug/%
	@mkdir -p $(@D) && strip -o $@ $<

# $(call link,VARIANT,LIBRARIES): objects first, then the archives of the rooms, of which a program takes what it uses
link = @echo '  LD    $@' && mkdir -p $(@D) && $($(1)/CC) $($(1)/LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) \
       -L"$$(tools/deps libs)" $(LIBS) $(2)

$B/debug/%: $B/static/entrypoints/%.o $(ROOMS:%=$B/static/%.a) tools/deps
	$(call link,static)

$B/asan/bin/%: $B/asan/entrypoints/%.o $(ROOMS:%=$B/asan/%.a) tools/deps
	$(call link,asan)

$(UNITS): %: %.o $(ROOMS:%=$B/asan/%.a) tools/deps
	$(call link,asan,-lcmocka)

$(FUZZ): %: %.o $(ROOMS:%=$B/fuzz/%.a) tools/deps
	$(call link,fuzz)

define variant
$B/$(1)/%.o: %.c Makefile | deps-$(if $(filter static,$(1)),build,test)
	@echo '  CC    $$@' && mkdir -p $$(@D) && $($(1)/CC) $(CPPFLAGS) $(CFLAGS) $($(1)/CFLAGS) -c -o $$@ $$<

$(foreach room,$(ROOMS),$(eval $B/$(1)/$(room).a: $(patsubst %.c,$B/$(1)/%.o,$(filter $(room)/%,$(SOURCES)))))
$(ROOMS:%=$B/$(1)/%.a):
	@mkdir -p $$(@D) && rm -f $$@ && ar rcs $$@ $$^

-include $(patsubst %.c,$B/$(1)/%.d,$(SOURCES) $(MAINS) $(TESTS) $(FUZZERS))
endef
$(foreach v,static asan fuzz,$(eval $(call variant,$(v))))

asan: $(BINS:%=$B/asan/bin/%) ## the same binaries, dynamic, under ASan and UBSan: build/asan/bin/NAME

unit: $(UNITS) ## unit tests under ASan and UBSan; those of one file: make unit T=symvers
	@for t in $(UNITS); do \
		CMOCKA_MESSAGE_OUTPUT=TAP UBSAN_OPTIONS=print_stacktrace=1 timeout 300 $$t </dev/null 2>&1; \
		echo "exit $$? $${t##*/test_}"; \
	done | awk -v must_work="$$MUST_WORK" "$$tally"

# cmocka's TAP as sentences and totals. A program that ends otherwise than with the number of its failures has crashed.
define tally
/^1\.\.|^# (not )?ok/ { next }
/^(not )?ok / { bad = /^not/; skip = /# SKIP/; gsub("_", " ")
	sub(/^(not )?ok [0-9]+ (- |# SKIP )?/, (skip ? "skip" : bad ? "not ok" : "ok") " - ")
	if (skip) skipped++; else if (bad) here++; else passed++ }
/^exit / { failed += here; if ($$2 != here) { failed++; print "not ok - " $$3 " ended with " $$2 }; here = 0; next }
{ print; fflush() }
END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; exit failed || !passed || skipped && must_work }
endef
export tally := $(subst $$$$,$$,$(value tally))

artefact: all deps-test ## what is true of the files that ship
	@ROOMS="$(ROOMS)" tests/artefact/run $(BINS:%=$B/bin/%)

check: all asan ## everything: units, artefacts, builds in a container, scenarios in a guest with a real kernel
	@failed=; for part in '$(MAKE) --no-print-directory unit' '$(MAKE) --no-print-directory artefact' \
		tests/build/run 'tests/vm/run --all'; do \
		$$part || failed="$$failed, $${part##* --no-print-directory }"; \
	done; [ -z "$$failed" ] && echo 'check: all passed' || { echo "check: FAILED:$${failed#,}"; exit 1; }

demo: all deps-test ## a node's RDMA stack replaced and given back, with a timeline
	@tests/vm/demo

bench: all deps-test ## what it costs, as ratios, and build/bench.json
	@tests/bench/run

SOURCE ?= $B/source/inbox-rdma
images: all deps-test $(SOURCE) ## container images: SOURCE on BASE, and build/trees if there are any: build/images/
	@! ls $B/trees/*/manifest.json >/dev/null 2>&1 || images/build
	@images/build --source '$(SOURCE)' $(if $(BASE),--base '$(BASE)')

$B/source/inbox-rdma: ofed/recipes/inbox-rdma/source ofed/recipes/inbox-rdma/driver.conf | deps-test
	@rm -rf $@ $@.new && mkdir -p $(@D) && $< 6.1 $@.new && mv -T $@.new $@

FUZZ_SECONDS ?= 10
fuzz: $(FUZZ) ## each parser fed with garbage for FUZZ_SECONDS
	@for f in $(FUZZ); do mkdir -p $$f.corpus && \
		$$f -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=$$f. $$f.corpus \
			$$(ls -d tests/fixtures/$${f##*/fuzz_} 2>/dev/null) >$$f.log 2>&1 </dev/null && \
		echo "ok - $${f##*/} for $(FUZZ_SECONDS) s" || { tail -n 40 $$f.log; echo "not ok - $${f##*/}"; exit 1; }; done

C_FILES := git ls-files -co --exclude-standard '*.[ch]'
lint: $(ROOMS:%=$B/fuzz/%.a) ## clang's warnings, the format, and no function beyond 120 lines
	@$(C_FILES) | xargs -r clang-format --dry-run -Werror
	@$(C_FILES) | xargs -r awk '/^\{/ { first = FNR } \
		/^\}/ && FNR - first > 120 { print FILENAME ":" first ": " FNR - first " lines in one function"; bad = 1 } END { exit bad }'

format: deps-test ## C files as .clang-format says
	@$(C_FILES) | xargs -r clang-format -i

deps: deps-test ## packages and static libraries, for all targets
deps-build:
	@tools/deps build
deps-test: deps-build
	@tools/deps test

clean: ## forget what was built here (not the cache outside the tree)
	rm -rf $B

help:
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1@\2/p' Makefile | while IFS=@ read -r t what; do printf '%-10s %s\n' "$$t" "$$what"; done
