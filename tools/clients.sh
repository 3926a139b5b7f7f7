#!/bin/sh
# clients.sh: the server under clients that others wrote, and clients of agents under our profiles.
#
# Gets them, in the versions named here, into folders outside the sources, where `make test` finds
# them too: $BATON_CLIENTS, or baton-clients in the user's cache, for the WebSocket library, and
# $BATON_NPM, or baton/npm there, for all others. Nothing of theirs is run while they are installed.
# What cannot be had is skipped, and said so. Expects both builds to be up to date.
cd "$(dirname "$0")/.." || exit 2
root=$PWD
library='ws@8.18.3'
agents='claude=@anthropic-ai/claude-code@2.1.326
codex=@openai/codex@0.169.0
gemini=@google/gemini-cli@0.61.0
opencode=opencode-ai@1.18.33'
test=$root/test/cli/ws_library.sh
# Each with the folder that test/clients/*.mjs look for it in.
protocols='sdk_v1=@modelcontextprotocol/sdk@1.32.2
sdk_v2=@modelcontextprotocol/client@2.4.0
inspector=@modelcontextprotocol/inspector@2.12.0'
export BATON_CLIENTS="${BATON_CLIENTS:-$HOME/.cache/baton-clients}"
export BATON_NPM="${BATON_NPM:-$HOME/.cache/baton/npm}"

# install FOLDER PACKAGE@VERSION
install() {
    mkdir -p "$1" && [ "$(cat "$1/installed" 2>/dev/null)" = "$2" ] && return
    (cd "$1" && npm install --silent --no-save --no-package-lock --ignore-scripts --no-audit \
        --no-fund --prefix . "$2") && echo "$2" >"$1/installed"
}

install "$BATON_CLIENTS" "$library" || exit 2
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

# Node.js comes with the conformance suite, and the other clients of MCP run on it, too.
if tools/conformance.sh install; then
    for program in build/baton-suites build/asan/baton-suites; do
        echo "MCP's conformance suite, $program:"
        tools/conformance.sh "$root/$program" || failed=1
    done
else
    echo "skip MCP's conformance suite: it could not be installed"
fi

for client in $protocols; do
    install "$BATON_NPM/${client%%=*}" "${client#*=}" ||
        echo "skip ${client%%=*}: ${client#*=} could not be installed"
done
names=
for agent in $agents; do
    name=${agent%%=*}
    if install "$BATON_NPM/agents/$name" "${agent#*=}"; then
        names="$names $name"
    else
        echo "skip $name: ${agent#*=} could not be installed"
    fi
done
node test/clients/agents.mjs profiles "$BATON_NPM/agents" $names || failed=1

for client in sdk_v1 sdk_v2 inspector lists claude codex gemini opencode waking team phases; do
    for program in build/baton build/asan/baton; do
        echo "$client, $program:"
        tools/client.sh $client "$root/$program"
        case $? in 0 | 77) ;; *) failed=1 ;; esac
    done
done
exit $failed
