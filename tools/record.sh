#!/bin/sh
# record.sh: what a server answers to the requests of test/record/requests, as text to compare.
#
#   tools/record.sh BATON [--no-descriptions] >file
cd "$(dirname "$0")/.." || exit 2
program=${1:?the program to record}
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s build/record build/still.so >&2 &&
    build/record "$program" "$PWD/build/still.so" test/record/requests "$work/data" "$@"
