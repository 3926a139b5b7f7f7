#!/bin/sh
# soak.sh: what `make test` does in seconds, for minutes.
#
# The server killed again and again under load, alone and as one of several nodes; abuse in larger
# numbers, also for races (tools/races.sh); and many runs of the swarm, on SQLite and on PostgreSQL.
#   BATON_SOAK_SECONDS  how long the server is killed, in each build (60)
#   BATON_SIM_RUNS      runs of the swarm, rounded up to hundreds (500); there are 20 times as many teams,
#                       and 100 times as many workflows
#   BATON_SEED          where chance begins (the time: it is shown with each result)
# Expects all builds to be up to date.
cd "$(dirname "$0")/.." || exit 2
export BATON_SOAK_SECONDS="${BATON_SOAK_SECONDS:-60}"
export BATON_SEED="${BATON_SEED:-$(date +%s)}"
runs=${BATON_SIM_RUNS:-500}

failed=0
for way in release asan; do
    echo "$way:"
    # One at a time: each of them takes the whole machine.
    build/$way/baton-test --jobs 1 test/black/ || failed=1
done
echo "tsan:"
totals=$(mktemp)
tools/races.sh 600 "$totals"
awk '{ f += $2 } END { exit f > 0 }' "$totals" || failed=1
rm -f "$totals"
build/release/baton-test --jobs 1 test/swarm_postgres_test.c || failed=1
echo "workflows:"
BATON_FLOW_RUNS=$((runs * 100)) build/release/baton-test random_workflows_move_as_the_reference_says || failed=1
BATON_FLOW_RUNS=$runs build/release/baton-test random_workflows_move_one random_workflows_go_on \
    random_workflows_move_alike || failed=1
BATON_FLOW_RUNS=50 build/release/baton-test random_workflows_move_wholly || failed=1
echo "teams:"
BATON_SIM_RUNS=$((runs * 20)) build/release/baton-test team_keeps_every_promise_over_a_restart || failed=1
echo "swarm:"
while [ "$runs" -gt 0 ]; do
    BATON_SIM_RUNS=100 build/release/baton-test 'swarm_*' || failed=1
    BATON_SEED=$((BATON_SEED + 100))
    runs=$((runs - 100))
done
exit $failed
