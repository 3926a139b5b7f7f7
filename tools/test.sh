#!/bin/sh
# test.sh: everything that `make test` promises, one after the other, and the sum of it.
#
# Expects all builds to be up to date. The last line is "N passed, N failed, N skipped".
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

# The unit tests count themselves; a runner that dies before it has is one failure.
unit() {
    echo "$1:"
    lines=$(wc -l <"$totals")
    "build/$1/baton-test" --totals "$totals"
    [ "$(wc -l <"$totals")" -gt "$lines" ] || echo "0 1 0" >>"$totals"
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

unit release
unit asan
echo "tsan:"
tools/races.sh 75 "$totals" # the last of it may take a while: two minutes in all

# Two at a time, each in both builds: most of the time they wait for something.
files=0
for file in test/cli/*.sh; do
    [ -e "$file" ] || continue
    one "$file, release" script "$root/build/baton" "$file" &
    one "$file, asan" script "$root/build/asan/baton" "$file" &
    files=$((files + 1))
    [ $((files % 2)) -eq 1 ] || wait
done
wait
one "the simulations find planted mistakes (tools/planted.sh)" tools/planted.sh $PLANTS
one "the layers of src/ (tools/layers.sh)" tools/layers.sh
one "the layout of the sources (make format mends it)" format

awk '{ p += $1; f += $2; s += $3 }
     END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p == 0 }' "$totals"
