# baton's build. Sources are found by their place, so a new file needs no edit here.
# `make help` lists what there is to make; V=1 shows the commands.

PREFIX  ?= /usr/local
CC      ?= cc
CLANG   ?= clang
V       ?= 0
SEED    ?= 1
FUZZ_SECONDS ?= 60

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
INCLUDES := -Isrc -Itest $(shell pkg-config --cflags libpcre2-8 libpq 2>/dev/null)
LIBS    ?= -l:libpcre2-8.a -l:libsqlite3.a -l:libuv_a.a -lm -lpthread -ldl
CFLAGS_ALL = -std=gnu11 -g $(WARNINGS) $(INCLUDES) -MMD -MP $(CFLAGS)

# One line for each way to compile: what is compiled so lives in build/NAME.
FLAGS_release = -O2
FLAGS_asan    = -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
# With tsan, gcc takes what a function sets when it succeeds for something without a value.
FLAGS_tsan    = -O1 -fno-omit-frame-pointer -fsanitize=thread -Wno-maybe-uninitialized
FLAGS_fuzz    = $(FLAGS_asan) -fsanitize=fuzzer-no-link -fprofile-instr-generate -fcoverage-mapping
# What is counted calls the counter of test/work.c in every basic block.
FLAGS_counted = $(FLAGS_release) -fsanitize-coverage=trace-pc
CC_release    = $(CC)
CC_asan       = $(CC)
CC_tsan       = $(CC)
CC_fuzz       = $(CLANG)
CC_counted    = $(CC)

# What else the program can be called by (src/cli/ao.c).
NAMES = ao-start ao-resume ao-status ao-get-result ao-list-sessions

MAIN  = src/app/main.c
SRC   = $(filter-out $(MAIN),$(wildcard src/*/*.c src/*/*/*.c))
SUITES_MAIN = test/suites/main.c
SUITES = $(filter-out $(SUITES_MAIN),$(wildcard test/suites/*.c))
TEST  = $(SUITES) $(wildcard test/*.c) $(wildcard test/sim/*.c) $(wildcard test/black/*.c)
PLANTS = ANSWER_BEFORE_COMMIT HISTORY_IN_SECOND_TRANSACTION KEY_IN_SECOND_TRANSACTION \
         NO_VERSION_CHECK SAVEPOINT_AFTER_DEATH \
         CALLBACK_BEFORE_UPDATE CALLBACK_TWICE LEASE_WITHOUT_FENCE REPORT_LOST \
         MOVER_DEFAULT_BESIDE MOVER_JOIN_SURVIVES MOVER_ATTEMPT_TWICE MOVER_TIMER_OUTLIVES \
         MOVER_LATE_REPORT MOVER_AGENT_DECIDES MOVER_OUT_OF_TURN MOVER_UNRECORDED \
         APPROVAL_OUTLIVES APPROVAL_TWICE APPROVAL_UNSEEN EVIDENCE_SKIPPED \
         SHARE_TOO_EARLY SHARE_OUTLIVES
FUZZ  = $(if $(TARGET),test/fuzz/$(TARGET).c,$(wildcard test/fuzz/*.c))
BENCH = $(wildcard test/bench/*_bench.c)
BENCH_SHARED = $(filter-out $(BENCH),$(wildcard test/bench/*.c))

comma := ,

# Without a -j of the caller's own, use all processors.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += --jobs=$(shell nproc)
endif
MAKEFLAGS += --no-builtin-rules --no-print-directory

ifeq ($(V),1)
run_ =
build = $(MAKE)
else
run_ = @printf '  %-5s %s\n' $(1) $@;
build = $(MAKE) --silent
endif

.PHONY: all run test test-clients test-page shots soak sim planted fuzz bench docs install uninstall format clean \
    help FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: build/baton

# ---- what people call; each gets what it needs from scripts/setup first ----

run:
	@scripts/setup build
	@+$(build) build/baton
	@build/baton serve $(ARGS)

test:
	@scripts/setup build test
	@+$(build) build/baton build/asan/baton build/tsan/baton build/baton-suites \
	    build/asan/baton-suites build/release/baton-test build/asan/baton-test \
	    build/counted/baton-test $(PLANTS:%=build/planted-%/baton-test) \
	    $(BENCH:test/bench/%.c=build/bench/%)
	@PLANTS="$(PLANTS)" tools/test.sh

sim:
	@scripts/setup build
	@+$(build) build/asan/baton-test
	@TEAM=$(TEAM) tools/sim.sh $(SEED)

planted:
	@scripts/setup build
	@+$(build) build/release/baton-test $(PLANTS:%=build/planted-%/baton-test)
	@tools/planted.sh $(PLANTS)

soak:
	@scripts/setup build
	@+$(build) build/baton build/asan/baton build/tsan/baton \
	    build/release/baton-test build/asan/baton-test
	@tools/soak.sh

test-clients:
	@scripts/setup build bench
	@+$(build) build/baton build/asan/baton build/baton-suites build/asan/baton-suites
	@tools/clients.sh

test-page:
	@scripts/setup build page
	@+$(build) build/baton
	@tools/page-test.sh install
	@tools/page-test.sh types
	@tools/page-test.sh parts
	@tools/page-test.sh browser

shots:
	@scripts/setup build page
	@+$(build) build/baton
	@tools/page-test.sh install
	@tools/page-test.sh shots build/shots

fuzz:
	@scripts/setup build fuzz
	@+$(build) $(FUZZ:test/fuzz/%.c=build/fuzz/%)
	@tools/fuzz.sh $(FUZZ_SECONDS) $(FUZZ)

bench:
	@scripts/setup build bench
	@+$(build) build/baton $(BENCH:test/bench/%.c=build/bench/%)
	@test/bench/run

docs:
	@scripts/setup build
	@+$(build) build/release/baton-test
	@BATON_WRITE_DOCS=1 build/release/baton-test describe_test

install: build/baton
	install -D -m 755 build/baton $(DESTDIR)$(PREFIX)/bin/baton
	for name in $(NAMES); do ln -sf baton $(DESTDIR)$(PREFIX)/bin/$$name; done

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,baton $(NAMES))

format:
	find src test tools -name '*.[ch]' -exec clang-format -i {} +

clean:
	rm -rf build

help:
	@echo 'make            build/baton, the program'
	@echo 'make run        build it and start a server; ARGS="--data DIR" for its options'
	@echo 'make test       every test, in a plain and in a sanitized build; and the server for races'
	@echo 'make test-clients  the server under clients that others wrote; gets them from npm'
	@echo 'make test-page  the page in Chromium; gets that, and two packages from npm'
	@echo 'make shots      pictures of every view of the page, in build/shots'
	@echo 'make soak       what make test does in seconds, for minutes: BATON_SOAK_SECONDS=60'
	@echo 'make sim        one run of the swarm, with its log; SEED=n says which, TEAM=1 a team'
	@echo 'make planted    the simulations on builds with a mistake in them, which they must find'
	@echo 'make fuzz       each fuzz target for FUZZ_SECONDS=60; TARGET=name for one'
	@echo 'make bench      the measurements'
	@echo 'make docs       write docs/operations.md and docs/openapi.json from the table'
	@echo 'make format     lay the sources out with clang-format'
	@echo 'make install    into PREFIX=/usr/local (and DESTDIR); make uninstall takes it back'
	@echo 'make clean      remove build/'
	@echo 'V=1 shows the commands.'

# ---- how things are built ----

define way
build/$(1)/%.o: %.c Makefile
	$$(call run_,CC)mkdir -p $$(@D) && $$(CC_$(1)) $$(CFLAGS_ALL) $$(FLAGS_$(1)) -c -o $$@ $$<
-include $$(patsubst %.c,build/$(1)/%.d,$$(MAIN) $$(SUITES_MAIN) $$(SRC) $$(TEST) $$(FUZZ) $$(BENCH) $$(BENCH_SHARED) \
    test/record/record.c)
endef
$(foreach w,release asan tsan fuzz counted,$(eval $(call way,$(w))))

# The runner must find the sources from any directory.
build/%/test/check.o build/%/test/describe_test.o: CFLAGS_ALL += -DSOURCE_DIR='"$(CURDIR)"'

objects = $(patsubst %.c,build/$(1)/%.o,$(2))

# Profiles and workflows that come with the program are part of these objects.
$(patsubst %,build/%/src/core/profile_data.o,release asan tsan fuzz counted): $(wildcard profiles/*.json)
$(patsubst %,build/%/src/core/exec/workflow_data.o,release asan tsan fuzz counted): $(wildcard workflows/*.json)
$(patsubst %,build/%/src/cli/init/opencode.o,release asan tsan fuzz counted): plugin/opencode/baton.js
$(patsubst %,build/%/src/cli/init/orchestrator.o,release asan tsan fuzz counted): plugin/claude/delegation-orchestrator.md

# The page that a browser sees is part of this one.
$(patsubst %,build/%/src/wire/http/page.o,release asan tsan fuzz counted): build/web/page.pack
build/web/page.pack: tools/page.sh $(wildcard web/*.* $(foreach d,core parts views,web/$(d)/*.ts))
	$(call run_,PAGE)tools/page.sh $@

# What --version says: the commit, of a clone; touched only when it changes.
COMMIT := $(if $(wildcard .git),$(shell git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null))
build/commit: FORCE
	@mkdir -p $(@D) && echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' >$@
build/%/src/cli/commit.o: CFLAGS_ALL += -DBATON_COMMIT='"$(COMMIT)"'
$(patsubst %,build/%/src/cli/commit.o,release asan tsan fuzz counted): build/commit

# The list of sources, touched only when it changes: programs are linked anew when one is deleted.
build/sources: FORCE
	@mkdir -p $(@D) && echo $(SRC) $(TEST) | cmp -s - $@ || echo $(SRC) $(TEST) >$@
FORCE:

link    = $(call run_,LINK)mkdir -p $(@D) && $(CC_$(1)) $(FLAGS_$(1)) $(2) $(LDFLAGS) -o $@ \
          $(filter %.o,$^) $(LIBS)

# Names of functions stay for profilers; the rest that a debugger wants is in build/release/*.o.
build/baton: $(call objects,release,$(MAIN) $(SRC)) build/sources
	$(call link,release,-Wl$(comma)--strip-debug)
build/asan/baton: $(call objects,asan,$(MAIN) $(SRC)) build/sources
	$(call link,asan)
build/tsan/baton: $(call objects,tsan,$(MAIN) $(SRC)) build/sources
	$(call link,tsan)
# What suites and tests ask for beside the product's commands is in a program of its own.
build/baton-suites: $(call objects,release,$(SUITES_MAIN) $(SUITES) $(SRC)) build/sources
	$(call link,release,-Wl$(comma)--strip-debug)
build/asan/baton-suites: $(call objects,asan,$(SUITES_MAIN) $(SUITES) $(SRC)) build/sources
	$(call link,asan)
build/release/baton-test: $(call objects,release,$(SRC) $(TEST)) build/sources
	$(call link,release)
build/asan/baton-test: $(call objects,asan,$(SRC) $(TEST)) build/sources
	$(call link,asan)
$(FUZZ:test/fuzz/%.c=build/fuzz/%): build/fuzz/%: build/fuzz/test/fuzz/%.o \
    $(call objects,fuzz,$(SUITES) $(SRC) $(wildcard test/sim/vfs*.c))
	$(call link,fuzz,-fsanitize=fuzzer)
$(BENCH:test/bench/%.c=build/bench/%): build/bench/%: build/release/test/bench/%.o \
    $(call objects,release,$(BENCH_SHARED) test/sim/postgres.c $(SRC))
	$(call link,release)

# Asks a server everything, for recordings that are compared (tools/record.sh).
build/record: build/release/test/record/record.o $(call objects,release,$(SRC))
	$(call link,release)
build/still.so: test/record/still.c
	$(call run_,LINK)mkdir -p $(@D) && $(CC) $(WARNINGS) -O2 -shared -fPIC -o $@ $<

# The test program that counts work (test/work.c): that of the folders that serve a command, and of
# libraries by what they are asked for.
COUNTED = test/work.c $(foreach f,base json flow core ops store,$(wildcard src/$(f)/*.c src/$(f)/*/*.c))
COUNTED_CALLS = memcpy memmove memset memcmp memchr strlen $(patsubst %,pcre2_%_8,\
    compile jit_compile jit_match set_match_limit set_callout)
build/counted/test/work.o: FLAGS_counted = $(FLAGS_release) -DCOUNTED
build/counted/baton-test: $(call objects,counted,$(COUNTED)) \
    $(call objects,release,$(filter-out $(COUNTED),$(SRC) $(TEST))) build/sources
	$(call link,release,$(COUNTED_CALLS:%=-Wl$(comma)--wrap=%))

# The test program with one planted mistake: only the files that hold it are compiled again.
define plant
planted_$(1) = $$(shell grep -l PLANT_$(1) $$(SRC))
build/planted-$(1)/%.o: %.c Makefile
	$$(call run_,CC)mkdir -p $$(@D) && $$(CC_release) $$(CFLAGS_ALL) $$(FLAGS_release) \
	    -DPLANT_$(1) -c -o $$@ $$<
build/planted-$(1)/baton-test: $$(call objects,planted-$(1),$$(planted_$(1))) \
    $$(call objects,release,$$(filter-out $$(planted_$(1)),$$(SRC) $$(TEST)))
	$$(call link,release)
endef
$(foreach p,$(PLANTS),$(eval $(call plant,$(p))))
