#!/bin/sh
# planted.sh MISTAKE...: the swarm, unchanged, on builds with one mistake each. It must fail on
# every one of them, or it would not find such a mistake of ours either.
#
# Expects build/planted-MISTAKE/baton-test to be up to date.
cd "$(dirname "$0")/.." || exit 2
output=$(mktemp)
trap 'rm -f "$output"' EXIT

missed=0
for mistake; do
    if "build/planted-$mistake/baton-test" 'swarm_*' >"$output" 2>&1; then
        echo "FAIL $mistake was not found"
        missed=$((missed + 1))
    elif ! grep -q '^FAIL swarm_' "$output"; then
        echo "FAIL $mistake could not be looked for:"
        cat "$output"
        missed=$((missed + 1))
    else
        echo "found $mistake in $(sed -n 's/^1 tests.*, in //p' "$output"):" \
            "$(sed -n '2s/^ *//p' "$output")"
    fi
done
exit $((missed > 0))
