#!/bin/sh
# layers.sh: who may include whom, the table of docs/architecture.md; and which files of a folder
# need each other.
#
# Silent when all is well; else each broken rule with its file and line. With --cycles, only prints
# all groups of files that need each other, also those that are known.
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
cli:    base os json flow client ops/op.h mcp/rpc.h
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

# What the objects say, as "file:   U symbol" and "file:address T symbol". An object whose source is
# gone is left over from another day.
symbols() {
    find src -name '*.c' | sort | while read -r source; do
        object=build/release/${source%.c}.o
        if [ -f "$object" ]; then echo "$object"; fi
    done | xargs nm -A | sed 's|^build/release/src/||; s|\.o:|.c |'
}

# core/ and flow/ compute: no clock, no randomness, no file, no socket, whichever header would offer it.
# Of what a compiler calls by itself, division of 128 bits.
pure='^(mem(cpy|cmp|move|set|chr)|str(len|n?cmp|n?casecmp|r?chr|str|tol|toll|tod|toull)|v?snprintf|'
pure="$pure"'qsort|bsearch|abort|__assert_fail|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__.*_chk|'
pure="$pure"'__isoc99_.*|__ctype_.*|f(loor|abs|mod)|ceil|round|trunc|'
pure="$pure"'__u(div|mod|divmod)ti[34])$'

pure_folders='core flow'

folders_are_pure() {
    objects=build/release/src
    for folder in $pure_folders; do
        if [ -z "$(find $objects/$folder -name '*.o' 2>/dev/null)" ]; then
            echo "$objects/$folder has no objects, so nobody knows what it calls: make build/baton"
            return 1
        fi
    done
    symbols | awk '$(NF - 1) != "U" { print $NF }' | sort -u >"$ours"
    for folder in $pure_folders; do
        symbols | awk -v folder="$folder/" 'index($1, folder) == 1 && $(NF - 1) == "U" { print $1, $NF }'
    done | while read -r file symbol; do
        grep -qxF -e "$symbol" "$ours" && continue
        echo "$symbol" | grep -qE "$pure" && continue
        echo "src/$file: ${file%%/*}/ may not call $symbol"
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

# Files of a folder, its parts included, that need each other: each uses what another of them
# defines, also by way of others. Whoever changes one has to have read all of them, so a group is
# named here, with the reason, or it fails. A group that got smaller is still the known one.
#
# By nature: a filter of a query holds queries, and a query filters; what a schema says of a value
# is worded by wording what the schemas in it say.
by_nature='
json: path/filter path/run
json: schema/closest schema/explain schema/explain_object
'

cycles() {
    symbols | awk -v all="$1" -v known="$by_nature" '
        function folder(file) { return substr(file, 1, index(file, "/") - 1) }

        # Marks all files that one needs, itself only if it is in a cycle.
        function reach(from,    queue, first, last, i, file) {
            queue[last = 1] = from
            for (first = 1; first <= last; first++)
                for (i = 1; i <= degree[queue[first]]; i++) {
                    file = next_file[queue[first], i]
                    if (!((from, file) in reached)) {
                        reached[from, file] = 1
                        queue[++last] = file
                    }
                }
        }

        # Whether all files of the group stand in one line of the known ones.
        function is_known(group, count,    i, j, n, words, listed) {
            for (i = 1; i <= lines; i++) {
                n = split(line[i], words, /[: ]+/)
                split("", listed)
                for (j = 2; j <= n; j++) listed[words[1] "/" words[j] ".c"] = 1
                for (j = 1; j <= count && group[j] in listed; j++) ;
                if (j > count) return 1
            }
            return 0
        }

        BEGIN { lines = split(known, line, "\n") }
        !seen[$1]++ { file[++files] = $1 }
        $(NF - 1) == "U" { user[++uses] = $1; used[uses] = $NF; next }
        $(NF - 1) ~ /^[A-Z]$/ { owner[$NF] = $1 }

        END {
            for (i = 1; i <= uses; i++) {
                from = user[i]; to = owner[used[i]]
                if (to == "" || to == from || folder(to) != folder(from)) continue
                if (!((from, to) in symbol)) next_file[from, ++degree[from]] = to
                if (!((from, to) in symbol)) symbol[from, to] = used[i]
            }
            for (i = 1; i <= files; i++) reach(file[i])
            for (i = 1; i <= files; i++) {
                if (file[i] in grouped || !((file[i], file[i]) in reached)) continue
                count = 0
                for (j = i; j <= files; j++)
                    if (((file[i], file[j]) in reached) && ((file[j], file[i]) in reached)) {
                        grouped[group[++count] = file[j]] = 1
                        if (count == 1) names = file[j]
                        else names = names " " file[j]
                    }
                if (!all && is_known(group, count)) continue
                bad = 1
                print folder(file[i]) "/: these need each other: " names
                for (j = 1; j <= count; j++)
                    for (k = 1; k <= count; k++)
                        if ((group[j], group[k]) in symbol)
                            print "    " group[j] " uses " symbol[group[j], group[k]] " of " group[k]
            }
            exit bad
        }'
}

if [ "$1" = --cycles ]; then
    cycles all
    exit 0
fi

ours=$(mktemp)
trap 'rm -f "$ours"' EXIT
includes
status=$?
system_is_apart || status=1
cycles || status=1
folders_are_pure && exit $status
exit 1
