#!/bin/sh
# fuzz.sh: runs fuzz targets, built by `make fuzz`, one after the other.
#
#   tools/fuzz.sh SECONDS test/fuzz/NAME.c…
#
# A target is meant to reach the files of its own name (regex: src/json/regex.c, regex/*.c …), or
# those that a line of its first comment lists after "fuzz:". How much of each it did reach is
# printed. Inputs that found something new stay in build/fuzz/corpus/NAME for the next time.
cd "$(dirname "$0")/.." || exit 2
seconds=$1
shift

files() {
    named=$(sed -n '1,20s|.*fuzz: *\([a-z]*/[^*]*\).*|\1|p' "$1")
    [ -n "$named" ] || named=$(ls src/*/"$2".c src/*/"$2"_*.c src/*/"$2"/*.c 2>/dev/null)
    [ -n "$named" ] || named=$(ls src/*/*_"$2".c 2>/dev/null)
    echo "$named"
}

coverage() {
    name=$1
    shift
    llvm-cov report "build/fuzz/$name" -instr-profile="build/fuzz/$name.profdata" "$@" |
        awk '$1 ~ /\.c$/ { sub(/.*\//, "", $1); printf "%s %s %s", n++ ? "," : "; lines reached:", $1, $10 }'
}

bad=0
for source in "$@"; do
    name=$(basename "$source" .c)
    corpus=build/fuzz/corpus/$name
    log=build/fuzz/$name.log
    seeds=test/fuzz/seeds/$name
    words=test/fuzz/$name.dict
    mkdir -p "$corpus" build/fuzz/found

    LLVM_PROFILE_FILE=build/fuzz/$name.profraw "build/fuzz/$name" -max_total_time="$seconds" \
        -timeout=10 -print_final_stats=1 -artifact_prefix="build/fuzz/found/$name-" \
        $([ -e "$words" ] && echo "-dict=$words") \
        "$corpus" $([ -d "$seeds" ] && echo "$seeds") >"$log" 2>&1
    if [ $? != 0 ]; then
        bad=1
        echo "$name: FOUND SOMETHING; all of it is in $log"
        grep -v '^#' "$log" | tail -n 40 | sed 's/^/     | /'
        continue
    fi
    llvm-profdata merge -o "build/fuzz/$name.profdata" "build/fuzz/$name.profraw"
    printf '%s: %s executions' "$name" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    coverage "$name" $(files "$source" "$name")
    echo
done
exit $bad
