#!/bin/sh
# sim.sh SEED: one run of the swarm, with its log, and the other randomized tests from that seed.
#
# Expects build/asan/baton-test to be up to date.
cd "$(dirname "$0")/.." || exit 2
log=$(mktemp)
trap 'rm -f "$log"' EXIT

BATON_SEED=${1:-1} BATON_SIM_RUNS=${BATON_SIM_RUNS:-1} BATON_SIM_LOG=$log \
    build/asan/baton-test 'swarm_*' 'random_*'
status=$?
cat "$log"
exit $status
