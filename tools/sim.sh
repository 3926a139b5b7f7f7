#!/bin/sh
# sim.sh SEED: one run of the swarm, with its log, and the other randomized tests from that seed.
# With TEAM=1 a team with one restart instead, with TEAM=2 one with a restart in every step.
#
# Expects build/asan/baton-test to be up to date.
cd "$(dirname "$0")/.." || exit 2
log=$(mktemp)
trap 'rm -f "$log"' EXIT

case ${TEAM:-0} in
0) tests='swarm_* random_*' ;;
1) tests=team_keeps_every_promise_over_a_restart ;;
*) tests=team_keeps_every_promise_over_a_restart_at_every_step ;;
esac
set -f
BATON_SEED=${1:-1} BATON_SIM_RUNS=${BATON_SIM_RUNS:-1} BATON_SIM_LOG=$log \
    build/asan/baton-test $tests
status=$?
cat "$log"
exit $status
