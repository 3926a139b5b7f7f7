#!/bin/sh
# planted.sh MISTAKE...: the simulations, unchanged, on builds with one mistake each. The swarm must
# fail on every one of them (the teams, where it is theirs; two tests of keepers, where it is theirs),
# or it would not find such a mistake of ours either.
#
# Expects build/planted-MISTAKE/baton-test to be up to date.
cd "$(dirname "$0")/.." || exit 2
output=$(mktemp)
trap 'rm -f "$output"' EXIT

missed=0
for mistake; do
    found='[a-z]*_keeps_every_promise' least=1
    case $mistake in
    CALLBACK_* | LEASE_*) tests=team_keeps_every_promise_over_a_restart ;;
    MOVER_*)
        tests='random_workflows_move_*'
        found='[a-z_]*workflows_'
        ;;
    APPROVAL_* | EVIDENCE_*)
        tests='random_steps_are_done_*'
        found='random_steps_'
        ;;
    SHARE_*)
        tests='random_agents_*'
        found='random_agents_'
        ;;
    REPORT_*)
        tests='report_is_told_until_* output_while_* end_is_told_when_*'
        found='[a-z_]*_server_' least=2
        ;;
    *) tests='swarm_keeps_*' ;;
    esac
    # shellcheck disable=SC2086 # several patterns
    if "build/planted-$mistake/baton-test" $tests >"$output" 2>&1; then
        echo "FAIL $mistake was not found"
        missed=$((missed + 1))
    elif [ "$(grep -c "^FAIL $found" "$output")" -lt "$least" ]; then
        echo "FAIL $mistake could not be looked for:"
        cat "$output"
        missed=$((missed + 1))
    else
        echo "found $mistake in $(sed -n 's/^[0-9]* tests.*, in //p' "$output"):" \
            "$(sed -n '2s/^ *//p' "$output")"
    fi
done
exit $((missed > 0))
