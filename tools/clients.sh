#!/bin/sh
# clients.sh: the server under clients that others wrote.
#
# Gets them, in the versions named here, into a folder outside the sources, where `make test` finds
# them too: $BATON_CLIENTS, or baton-clients in the user's cache. Expects both builds to be up to
# date.
cd "$(dirname "$0")/.." || exit 2
root=$PWD
packages='ws@8.18.3'
test=$root/test/cli/ws_library.sh
export BATON_CLIENTS="${BATON_CLIENTS:-$HOME/.cache/baton-clients}"

mkdir -p "$BATON_CLIENTS" || exit 2
(cd "$BATON_CLIENTS" &&
    npm install --silent --no-save --no-package-lock --ignore-scripts --no-audit --no-fund \
        --prefix . $packages) || exit 2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
for program in build/baton build/asan/baton; do
    mkdir "$work/dir"
    if (cd "$work/dir" && BATON=$root/$program timeout 60 sh -eu "$test"); then
        echo "ok   ws, $program"
    else
        echo "FAIL ws, $program"
        failed=1
    fi
    rm -rf "$work/dir"
done
exit $failed
