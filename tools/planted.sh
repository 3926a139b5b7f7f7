#!/bin/sh
# planted.sh MISTAKE...: the simulations, unchanged, on builds with one mistake each. The swarm must
# fail on every one of them (the teams, where it is theirs), or it would not find such a mistake of
# ours either.
#
# Expects build/planted-MISTAKE/baton-test to be up to date.
cd "$(dirname "$0")/.." || exit 2
output=$(mktemp)
trap 'rm -f "$output"' EXIT

missed=0
for mistake; do
    case $mistake in
    CALLBACK_* | LEASE_*) tests=team_keeps_every_promise_over_a_restart ;;
    *) tests='swarm_keeps_*' ;;
    esac
    if "build/planted-$mistake/baton-test" "$tests" >"$output" 2>&1; then
        echo "FAIL $mistake was not found"
        missed=$((missed + 1))
    elif ! grep -q '^FAIL [a-z]*_keeps_every_promise' "$output"; then
        echo "FAIL $mistake could not be looked for:"
        cat "$output"
        missed=$((missed + 1))
    else
        echo "found $mistake in $(sed -n 's/^1 tests.*, in //p' "$output"):" \
            "$(sed -n '2s/^ *//p' "$output")"
    fi
done
exit $((missed > 0))
