# What is wrong is told with the command that mends it, and nothing is waited for too long.
. "${0%/*}/lib"

HOME=$PWD/home
mkdir home bin project
ln -s "$BATON" bin/baton
export HOME PATH="$PWD/bin:/usr/bin:/bin" BATON_DATA="$PWD/data"
unset BATON_URL BATON_TOKEN BATON_TOKEN_FILE
export BATON_HOOK_TIMEOUT_MS=4500 # a machine that is busy with other tests is not what is wrong

run doctor --help
exits 0
shows '--start'

# Without a server: it says so, starts none, and does not ask what only a server could answer.
run doctor --dir project
exits 1
shows 'fail server'
shows '→ baton serve'
shows 'skip mcp stdio 2026-07-28 it would start a server'
[ ! -e data/server.json ] || fail 'expected no server to be started'
run doctor --dir project --json
exits 1
shows '{"ok":false,"checks":[{"check":"server","result":"fail"'

# With one, everything is proved, and nothing is left behind.
serve
run doctor --dir project
exits 0
for check in server socket token data 'hook claude' 'hook codex' 'hook gemini' 'mcp http 2025-11-25' \
    'mcp http 2026-07-28' 'mcp stdio 2025-11-25' 'mcp stdio 2026-07-28'; do
    shows "ok   $check "
done
shows ' 0 failed'
run session list --json
exits 0
prints '{"sessions":[]}'
run token list --json
grep -q '"kind":"session",[^}]*},[^}]*"revoked_at":null' out && fail 'expected no token to be left'
run doctor --dir project --json
exits 0
shows '"ok":true'

# Modes that let others in are told of.
chmod 644 data/operator.token
run doctor --dir project
exits 1
shows "→ chmod 600 '"
chmod 600 data/operator.token

# A token that the server does not know.
BATON_TOKEN=unknown run doctor --dir project
exits 1
shows 'fail token'
shows '→ unset BATON_TOKEN'
shows 'skip hook claude'

# Wiring: as it should be, of a program that has gone, and of one that is older.
run init --dir project --claude --codex --yes
exits 0
run doctor --dir project
exits 0
shows 'ok   claude wiring'
shows 'warn claude               wired, but claude is not in PATH'
sed -i 's|"command": "baton"|"command": "/gone/baton"|' project/.mcp.json
run doctor --dir project
exits 1
shows '.mcp.json names /gone/baton, which is not there'
shows "→ baton init --claude --dir 'project'"
run init --dir project --claude --yes
exits 0
sed -i '/"SessionEnd"/,$d' project/.codex/hooks.json
run doctor --dir project
exits 1
shows 'fail codex wiring'

# A client is asked for its version, and not for ever.
printf '#!/bin/sh\necho 9.9.9\n' >bin/gemini
printf '#!/bin/sh\nexit 1\n' >bin/claude
chmod +x bin/gemini bin/claude
run doctor --dir project
shows 'ok   gemini               9.9.9'
shows 'warn gemini wiring        not wired'
shows 'warn claude               it is in PATH, but does not tell its version'

# A server that is somewhere else, or not at all.
BATON_URL=http://127.0.0.1:1 run doctor --dir project
exits 1
shows 'fail server'
shows 'skip data                 the server is where BATON_URL says'
stop
run doctor --dir project
exits 1
shows 'fail server'

# It has one started when it is asked to, and not otherwise. That one is nobody's child here.
[ ! -e data/server.json ] || fail 'expected no server to be started'
rm -rf project/.mcp.json project/.claude project/.codex project/AGENTS.md
run doctor --dir project --start
[ -e data/server.json ] && kill "$("$BATON" json pointer data/server.json /pid)"
exits 0
shows 'ok   mcp stdio 2026-07-28'
while [ -e data/server.json ]; do :; done
