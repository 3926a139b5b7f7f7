# baton's build. Sources are found by their place, so a new file needs no edit here.
# `make help` lists what there is to make; V=1 shows the commands.

PREFIX  ?= /usr/local
CC      ?= cc
CLANG   ?= clang
V       ?= 0
SEED    ?= 1
FUZZ_SECONDS ?= 60

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
INCLUDES := -Isrc -Itest $(shell pkg-config --cflags libpcre2-8 2>/dev/null)
LIBS    ?= -l:libpcre2-8.a -l:libsqlite3.a -l:libuv_a.a -lm -lpthread -ldl
CFLAGS_ALL = -std=gnu11 -g $(WARNINGS) $(INCLUDES) -MMD -MP $(CFLAGS)

# One line for each way to compile: what is compiled so lives in build/NAME.
FLAGS_release = -O2
FLAGS_asan    = -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FLAGS_fuzz    = $(FLAGS_asan) -fsanitize=fuzzer-no-link -fprofile-instr-generate -fcoverage-mapping
CC_release    = $(CC)
CC_asan       = $(CC)
CC_fuzz       = $(CLANG)

MAIN  = src/app/main.c
SRC   = $(filter-out $(MAIN),$(wildcard src/*/*.c))
TEST  = $(wildcard test/*.c) $(wildcard test/sim/*.c)
FUZZ  = $(if $(TARGET),test/fuzz/$(TARGET).c,$(wildcard test/fuzz/*.c))
BENCH = $(wildcard test/bench/*_bench.c)
BENCH_SHARED = $(filter-out $(BENCH),$(wildcard test/bench/*.c))

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

.PHONY: all run test sim fuzz bench install uninstall format clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: build/baton

# ---- what people call; each gets what it needs from scripts/setup first ----

run:
	@scripts/setup build
	@+$(build) build/baton
	@build/baton

test:
	@scripts/setup build test
	@+$(build) build/baton build/asan/baton build/release/baton-test build/asan/baton-test
	@tools/test.sh

sim:
	@scripts/setup build
	@+$(build) build/asan/baton-test
	BATON_SEED=$(SEED) build/asan/baton-test 'random_*'

fuzz:
	@scripts/setup build fuzz
	@+$(build) $(FUZZ:test/fuzz/%.c=build/fuzz/%)
	@tools/fuzz.sh $(FUZZ_SECONDS) $(FUZZ)

bench:
	@scripts/setup build bench
	@+$(build) build/baton $(BENCH:test/bench/%.c=build/bench/%)
	@test/bench/run

install: build/baton
	install -D -m 755 build/baton $(DESTDIR)$(PREFIX)/bin/baton

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/baton

format:
	find src test tools -name '*.[ch]' -exec clang-format -i {} +

clean:
	rm -rf build

help:
	@echo 'make            build/baton, the program'
	@echo 'make run        build it and run it without arguments'
	@echo 'make test       every test, in a plain and in a sanitized build'
	@echo 'make sim        the randomized tests; SEED=n repeats a run'
	@echo 'make fuzz       each fuzz target for FUZZ_SECONDS=60; TARGET=name for one'
	@echo 'make bench      the measurements'
	@echo 'make format     lay the sources out with clang-format'
	@echo 'make install    into PREFIX=/usr/local (and DESTDIR); make uninstall takes it back'
	@echo 'make clean      remove build/'
	@echo 'V=1 shows the commands.'

# ---- how things are built ----

define way
build/$(1)/%.o: %.c Makefile
	$$(call run_,CC)mkdir -p $$(@D) && $$(CC_$(1)) $$(CFLAGS_ALL) $$(FLAGS_$(1)) -c -o $$@ $$<
-include $$(patsubst %.c,build/$(1)/%.d,$$(MAIN) $$(SRC) $$(TEST) $$(FUZZ) $$(BENCH) $$(BENCH_SHARED))
endef
$(foreach w,release asan fuzz,$(eval $(call way,$(w))))

# The runner must find the sources from any directory.
build/%/test/check.o: CFLAGS_ALL += -DSOURCE_DIR='"$(CURDIR)"'

objects = $(patsubst %.c,build/$(1)/%.o,$(2))

# The list of sources, touched only when it changes: programs are linked anew when one is deleted.
build/sources: FORCE
	@mkdir -p $(@D) && echo $(SRC) $(TEST) | cmp -s - $@ || echo $(SRC) $(TEST) >$@
FORCE:

link    = $(call run_,LINK)mkdir -p $(@D) && $(CC_$(1)) $(FLAGS_$(1)) $(2) $(LDFLAGS) -o $@ \
          $(filter %.o,$^) $(LIBS)

build/baton: $(call objects,release,$(MAIN) $(SRC)) build/sources
	$(call link,release)
build/asan/baton: $(call objects,asan,$(MAIN) $(SRC)) build/sources
	$(call link,asan)
build/release/baton-test: $(call objects,release,$(SRC) $(TEST)) build/sources
	$(call link,release)
build/asan/baton-test: $(call objects,asan,$(SRC) $(TEST)) build/sources
	$(call link,asan)
$(FUZZ:test/fuzz/%.c=build/fuzz/%): build/fuzz/%: build/fuzz/test/fuzz/%.o $(call objects,fuzz,$(SRC))
	$(call link,fuzz,-fsanitize=fuzzer)
$(BENCH:test/bench/%.c=build/bench/%): build/bench/%: build/release/test/bench/%.o \
    $(call objects,release,$(BENCH_SHARED) $(SRC))
	$(call link,release)
