#!/bin/sh
# layers.sh: who may include whom. The table is the one of docs/architecture.md.
#
# Silent when all is well; else each broken rule with its file and line.
cd "$(dirname "$0")/.." || exit 2

# A folder, or one header of a folder. A folder may always include itself, and what lies in a
# folder of it has its rights.
layers='
base:
os:     base
json:   base
flow:   base json
store:  base os
core:   base json flow store/sql.h
view:   base json core
ops:    base json core view store/store.h
mcp:    base json ops/op.h
wire:   base os json ops/op.h mcp/mcp.h
client: base os json wire/ws/frame.h
cli:    base os json client ops/op.h mcp/rpc.h
runner: base os json client ops/op.h
app:    base os json flow store core view ops mcp wire client cli runner
suites: base json ops/op.h mcp cli app
'

# A library's header is included by one file alone, or by few, so that the rest does not know it.
libraries='pcre2.h=json/regex/regex.c sqlite3.h=store/sqlite.c,store/gather.c uv.h=wire/loop_private.h wire/loop_private.h=wire/loop.c,wire/loop_link.c,wire/loop_listen.c libpq-fe.h=store/libpq.h expat.h=flow/xml.c'

# What base/ may take from the system: C's own headers and those of POSIX that it needs.
libc='assert ctype errno fcntl float inttypes limits math pthread signal stdarg stdatomic
stdbool stddef stdint stdio stdlib string strings time unistd'

includes() {
    grep -Hn '^[[:space:]]*#[[:space:]]*include' src/*/*.[ch] src/*/*/*.[ch] test/suites/*.[ch] |
        awk -F: -v layers="$layers" -v libraries="$libraries" -v libc="$libc" '
        BEGIN {
            n = split(layers, lines, "\n")
            for (i = 1; i <= n; i++) {
                if (!split(lines[i], words, /[: ]+/)) continue
                known[words[1]] = may[words[1] "/" words[1]] = 1
                for (w = 2; w in words; w++) { may[words[1] "/" words[w]] = 1; delete words[w] }
            }
            n = split(libraries, pairs, /[ =]+/)
            for (i = 1; i < n; i += 2) owner[pairs[i]] = "," pairs[i + 1] ","
            n = split(libc, names, /[ \n]+/)
            for (i = 1; i <= n; i++) standard[names[i] ".h"] = 1
        }
        {
            split($1, path, "/"); from = path[2]
            header = $3; sub(/^[^"<]*["<]/, "", header); sub(/[">].*/, "", header)
            to = header; sub(/\/.*/, "", to)
            where = $1 ":" $2 ": "
            if (!(from in known)) broken = where "src/" from "/ is not in the table of layers"
            else if (header in owner) {
                if (!index(owner[header], "," substr($1, 5) ","))
                    broken = where "<" header "> is not for this file, but for " owner[header]
            } else if ($3 ~ /</) {
                if (from == "base" && !(header in standard))
                    broken = where "base/ may include libc only, not <" header ">"
            } else if (!((from "/" to) in may) && !((from "/" header) in may))
                broken = where from "/ may not include \"" header "\""
            if (broken) { print broken; broken = ""; bad = 1 }
        }
        END { exit bad }'
}

# core/ computes: no clock, no randomness, no file, no socket, whichever header would offer it.
pure='^(mem(cpy|cmp|move|set|chr)|str(len|n?cmp|n?casecmp|r?chr|str|tol|toll|tod|toull)|v?snprintf|'
pure="$pure"'qsort|bsearch|abort|__assert_fail|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__.*_chk|'
pure="$pure"'__isoc99_.*|__ctype_.*|f(loor|abs|mod)|ceil|round|trunc)$'

core_is_pure() {
    objects=build/release/src
    if [ -z "$(find $objects/core -name '*.o' 2>/dev/null)" ]; then
        echo "$objects/core has no objects, so nobody knows what core/ calls: make build/baton"
        return 1
    fi
    nm --defined-only -g $(find $objects -name '*.o') | awk 'NF == 3 { print $3 }' | sort -u >"$ours"
    nm -A -u $(find $objects/core -name '*.o') | sed 's/:.* U / /' | while read -r object symbol; do
        grep -qxF -e "$symbol" "$ours" && continue
        echo "$symbol" | grep -qE "$pure" && continue
        echo "$object: core/ may not call $symbol"
    done | { ! grep . ; }
}

# What another Unix does otherwise is named in os/ alone. Comments and lines of help texts, which
# begin with a quote, may speak of it.
system_is_apart() {
    grep -rnE '/proc\>|\<(prctl|signalfd|getrandom|pidfd_open|SO_PEERCRED)\>|/dev/urandom' src \
        --include='*.[ch]' | grep -v '^src/os/' |
        sed -E 's|/\*.*||' | grep -vE '^[^:]*:[0-9]+: *(\*|")' |
        grep -E '/proc\>|\<(prctl|signalfd|getrandom|pidfd_open|SO_PEERCRED)\>|/dev/urandom' |
        sed 's/$/   (only os\/ may name this)/' | { ! grep . ; }
}

ours=$(mktemp)
trap 'rm -f "$ours"' EXIT
includes
status=$?
system_is_apart || status=1
core_is_pure && exit $status
exit 1
