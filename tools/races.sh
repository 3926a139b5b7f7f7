#!/bin/sh
# races.sh: the server under ThreadSanitizer, under the loads of the black-box tests.
#
# usage: races.sh SECONDS TOTALS
#
# The server is build/tsan/baton, its clients are the tests in build/asan/baton-test, which are as
# patient as a sanitized server needs. Nothing is begun after SECONDS; what matters most comes first.
# A race ends the server that has it, and its report is shown here. The results are added to the
# file TOTALS.
cd "$(dirname "$0")/.." || exit 2
seconds=$1
totals=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# It wants the addresses of a process where it expects them. Where the system spreads them further,
# they are not to be spread at all.
fixed=
if ! build/tsan/baton --version >"$work/said" 2>&1; then
    fixed="setarch $(uname -m) -R"
    if ! $fixed build/tsan/baton --version >"$work/said" 2>&1; then
        echo "skip races: build/tsan/baton does not run here: $(head -1 "$work/said")"
        echo "0 0 1" >>"$totals"
        exit 0
    fi
fi

export BATON_SERVER="$PWD/build/tsan/baton"
export TSAN_OPTIONS="halt_on_error=1 exitcode=66 log_path=$work/race"
end=$(($(date +%s) + seconds))

# Those files of tests together, if there is time.
load() {
    if [ "$(date +%s)" -ge "$end" ]; then
        echo "skip races: no time was left for $*"
        echo "0 0 1" >>"$totals"
        return
    fi
    lines=$(wc -l <"$totals")
    $fixed build/asan/baton-test --totals "$totals" "$@"
    [ "$(wc -l <"$totals")" -gt "$lines" ] || echo "0 1 0" >>"$totals"
}

load black/waits_test.c black/abuse_test.c black/document_test.c black/mcp_stdio_test.c
load test/nodes_test.c black/team_test.c
load black/crowd_test.c
load black/team_tree_test.c
[ -z "$BATON_SOAK_SECONDS" ] || load black/adversary_test.c black/fair_test.c

for report in "$work"/race.*; do
    [ -e "$report" ] || continue
    echo "FAIL a race:"
    sed 's/^/     | /' "$report"
    echo "0 1 0" >>"$totals"
done
