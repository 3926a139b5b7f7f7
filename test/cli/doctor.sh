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

# Agents in files: how many, and which of them nobody can read.
mkdir -p project/.claude/agents home/.claude/agents data/agents
printf -- '---\nname: a\ndescription: A\n---\nBe a.\n' | tee project/.claude/agents/a.md >home/.claude/agents/b.md
run doctor --dir project
exits 0
shows 'ok   agents               in files: 1 of the project, 1 of your home'
echo 'no front matter' >data/agents/bad.md
run doctor --dir project
exits 0
shows 'warn agents               '
shows 'data/agents/bad.md: line 1: expected ---'
shows '→ repair '
rm -r project/.claude home/.claude data/agents

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

# A client is asked what it sees of the server: in a folder that it does not trust, not this one.
# listing CLIENT: what it says when it lists its servers is on our standard input.
listing() {
    cat >"said.$1"
    printf '#!/bin/sh\n[ "$1" = mcp ] && cat "%s" || echo 9.9.9\n' "$PWD/said.$1" >"bin/$1"
    chmod +x "bin/$1"
}
rm project/.codex/hooks.json
run init --dir project --claude --codex --gemini --opencode --yes
exits 0
listing claude <<'END'
Checking MCP server health…

baton: baton mcp - ⏸ Pending approval (run `claude` to approve)
END
listing codex <<'END'
No MCP servers configured yet. Try `codex mcp add my-tool -- my-command`.
END
listing gemini <<'END'
Configured MCP servers:

○ baton: baton mcp (stdio) - Disabled
END
printf '\342\227\217  \342\234\227 baton \033[90mfailed\n' | listing opencode
run doctor --dir project
exits 1
shows 'ok   claude wiring'
shows "fail claude mcp list      it says 'baton: baton mcp - ⏸ Pending approval (run \`claude\` to approve)': start it"
shows "→ cd 'project' && claude"
shows 'fail codex mcp list       Codex does not see the server'
shows "fail gemini mcp list      it says '○ baton: baton mcp (stdio) - Disabled'"
shows 'fail opencode mcp list '
listing claude <<'END'
baton-old: x - ✔ Connected
baton: baton mcp - ✔ Connected
END
listing codex <<'END'
Name   Command  Args  Env  Cwd  Status   Auth
baton  baton    mcp   -    -    enabled  Unsupported
END
printf '#!/bin/sh\n[ "$1" = mcp ] && echo "✓ baton: baton mcp (stdio) - Connected" >&2 || echo 9\n' >bin/gemini
printf '\342\227\217  \342\234\223 baton \033[90mconnected\n' | listing opencode
run doctor --dir project
exits 0
for client in claude codex gemini opencode; do
    shows "ok   $client mcp list "
done
listing gemini <<'END'
✗ baton: baton mcp (stdio) - Disconnected
END
listing codex <<'END'
baton  baton    mcp   -    -    disabled  Unsupported
END
printf '#!/bin/sh\n[ "$1" = mcp ] && exit 3 || echo 9\n' >bin/opencode
run doctor --dir project
exits 1
shows 'fail gemini mcp list '
shows 'fail codex mcp list '
shows 'warn opencode mcp list '
run init --dir project --remove --yes
exits 0
rm -f bin/codex bin/opencode bin/claude bin/gemini

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
