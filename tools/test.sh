#!/bin/sh
# test.sh: everything that `make test` promises, and the sum of it.
#
# Expects all builds to be up to date. The last line is "N passed, N failed, N skipped".
#
#   BATON_TEST_ONLY=PATTERN   only the scripts and planted mistakes with this in their names
#   BATON_TEST_JOBS=N         how many of them run at a time: twice the processors
cd "$(dirname "$0")/.." || exit 2
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
totals=$work/totals
: >"$totals"

# Runs a check that is one test: silent when all is well, status 77 when it cannot be made here.
one() {
    name=$1
    output=$(mktemp "$work/output.XXXXXX")
    shift
    "$@" >"$output" 2>&1
    case $? in
    0) echo "1 0 0" >>"$totals" ;;
    77)
        echo "0 0 1" >>"$totals"
        echo "skip $name: $(cat "$output")"
        ;;
    *)
        echo "0 1 0" >>"$totals"
        printf 'FAIL %s\n%s\n' "$name" "$(sed 's/^/     | /' "$output")"
        ;;
    esac
}

# The unit tests of a build, or those that are named; they count themselves, and a runner that dies
# before it has is one failure.
unit() {
    echo "$1:"
    lines=$(wc -l <"$totals")
    program=build/$1/baton-test
    shift
    "$program" --totals "$totals" "$@"
    [ "$(wc -l <"$totals")" -gt "$lines" ] || echo "0 1 0" >>"$totals"
}

# The tests that say how much work something may be, which only this build counts (test/work.h).
counted() {
    # shellcheck disable=SC2046 # many names
    unit counted $(awk -F '[(,)]' '/^TEST/ { name = $2 }
        /check_work\(|CHECK_HOSTILE\(|check_hostile_within\(/ { print name }' test/*_test.c | sort -u)
}

# A script of test/cli runs in an empty directory and finds the program in $BATON.
script() {
    dir=$(mktemp -d "$work/dir.XXXXXX") && cd "$dir" &&
        BATON=$1 SOURCE=$root timeout 240 sh -eu "$root/$2"
    status=$?
    cd "$root" && rm -rf "$dir"
    return $status
}

format() {
    if ! clang-format --version | grep -q 'version 14\.'; then
        echo "the layout is that of clang-format 14, and this is $(clang-format --version)"
        return 77
    fi
    ! find src test tools -name '*.[ch]' -exec clang-format --dry-run {} + 2>&1 |
        sed -n 's/:[0-9]*: warning:.*//p' | uniq | grep .
}

# ---- scripts and planted mistakes, which wait for something most of the time ----

# What there is to do, as "release test/cli/x.sh" or "planted MISTAKE"; what took longest the last time
# comes first, so that nothing long is left for the end.
times=build/test-times
jobs_list() {
    for file in test/cli/*.sh; do
        printf 'release %s\nasan %s\n' "$file" "$file"
    done
    for mistake in $PLANTS; do
        echo "planted $mistake"
    done
}
jobs_sorted() {
    touch "$times"
    jobs_list | grep -e "${BATON_TEST_ONLY-}" | awk -v times="$times" '
        BEGIN { while ((getline line <times) > 0) { split(line, f); took[f[2] " " f[3]] = f[1] } }
        { print (($0 in took) ? took[$0] : /client_|conformance|demo|docs|planted/ ? 100 : 50), $0 }' |
        sort -k1,1nr -k2
}

job() {
    case $1 in
    planted) one "the simulations find $2 (tools/planted.sh)" tools/planted.sh "$2" ;;
    release) one "$2, release" script "$root/build/baton" "$2" ;;
    asan) one "$2, asan" script "$root/build/asan/baton" "$2" ;;
    esac
}

# Takes what nobody has taken yet, one after the other: a directory can be made only once.
worker() {
    number=0
    while read -r _ kind what; do
        number=$((number + 1))
        mkdir "$work/taken.$number" 2>/dev/null || continue
        began=$(date +%s)
        job "$kind" "$what" </dev/null
        echo "$(($(date +%s) - began)) $kind $what" >>"$work/times"
    done <"$work/jobs"
}

beside() {
    jobs_sorted >"$work/jobs"
    : >"$work/times"
    workers=${BATON_TEST_JOBS:-$((2 * $(nproc)))}
    while [ "$workers" -gt 0 ]; do
        worker &
        workers=$((workers - 1))
    done
    wait
    [ -n "${BATON_TEST_ONLY-}" ] || cp "$work/times" "$times"
}

tsan() {
    echo "tsan:"
    tools/races.sh 75 "$totals" # the last of it may take a while: two minutes in all
}

# A part of all, with the time that it takes.
part() {
    label=$1
    shift
    part_began=$(date +%s)
    "$@"
    printf '%6d s  %s\n' "$(($(date +%s) - part_began))" "$label" >>"$work/parts"
}

sum() {
    echo "where the time went:"
    cat "$work/parts"
    sort -k1,1nr "$work/times" | sed -n '1,5s/^/         of these, seconds: /p'
    awk '{ p += $1; f += $2; s += $3 }
         END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p == 0 }' "$totals"
}

if [ -n "${BATON_TEST_ONLY-}" ]; then
    part "scripts and planted mistakes" beside
    sum
    exit
fi
part "unit tests, release" unit release
part "unit tests, asan" unit asan
part "work, counted" counted
part "races, tsan" tsan
part "scripts and planted mistakes" beside
page() {
    one "the types of the page (tools/page-test.sh types)" tools/page-test.sh types
    one "parts of the page (tools/page-test.sh parts)" tools/page-test.sh parts
    one "the page in a browser (tools/page-test.sh browser)" tools/page-test.sh browser
}
part "page" page
part "layers" one "the layers of src/ (tools/layers.sh)" tools/layers.sh
part "layout" one "the layout of the sources (make format mends it)" format

sum
