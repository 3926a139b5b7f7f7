# MCP over stdio: an agent's configuration names `baton mcp`, and that is all there is to do.
. "${0%/*}/lib"

unset BATON_URL BATON_TOKEN BATON_TOKEN_FILE BATON_DATA WORKFLOW_STATE_ID
unset CLAUDE_CODE_SESSION_ID CLAUDE_PROJECT_DIR
export BATON_LISTEN=127.0.0.1:0

pid_of() { "$BATON" json pointer "$1/server.json" /pid; }
alive() { kill -0 "$1" 2>/dev/null; }

# A server that a bridge started is nobody's child here: it has ended when its file is gone.
end_server() {
    [ ! -e "$1/server.json" ] || kill "$(pid_of "$1")" 2>/dev/null || :
    while [ -e "$1/server.json" ]; do sleep 0.02; done
}
trap 'for d in one many port; do [ ! -d $d ] || end_server $d; done' EXIT

meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
ask() { printf '{"jsonrpc":"2.0","id":%s,"method":"%s","params":{%s}}\n' "$1" "$2" "$meta"; }
tool() {
    printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s,%s}}\n' \
        "$1" "$2" "$3" "$meta"
}

run mcp --help
exits 0
shows 'goes on when this one ends'
run mcp --state-id 'a b'
exits 2
complains 'expects an id like'

# Without a server it starts one, which goes on.
run_on "$(ask 1 server/discover; ask 2 tools/list)" mcp --data one
exits 0
shows '"id":1,"result":{'
shows '"supportedVersions":["2026-07-28"]'
shows '"id":2,"result":{'
shows '"name":"state_read"'
complains 'a server was started for one'
complains '`baton stop --data one` ends it'
first=$(pid_of one)
alive "$first" || fail 'expected the server to go on'
[ "$(stat -c %a one/serve.log)" = 600 ] || fail 'expected a log for its owner alone'

# The next one finds it; its token is given back at the end.
run_on "$(ask 1 server/discover)" mcp --data one
exits 0
silent
[ "$(pid_of one)" = "$first" ] || fail 'expected the same server'
run token list --json --data one
[ "$(grep -o '"kind":"session"' out | wc -l)" = 2 ] || fail 'expected two tokens of sessions'
[ "$(grep -o '"revoked_at":null' out | wc -l)" = 2 ] || fail 'expected both to be revoked'

# An agent has a session from its first tool on, under the name that its client gives.
run session list --json --data one
shows '{"sessions":[]}'
export CLAUDE_CODE_SESSION_ID=0f1e2d3c-1111-2222-3333-444455556666
run_on "$(tool 1 list_agent_sessions '{}')" mcp --data one
exits 0
shows '"text":"{\"sessions\":[{'
run session get "claude-$CLAUDE_CODE_SESSION_ID" --data one
exits 0
shows "\"session_name\":\"claude-$(basename "$PWD" | tr -c 'A-Za-z0-9_\n' -)-0f1e2d3c\""
shows '"parent_session_id":null'
unset CLAUDE_CODE_SESSION_ID

# One for which no hook speaks has ended with its client.
run session list --json --status finished --data one
shows '"session_id":"claude-0f1e2d3c-'
run_on "$(tool 1 state_read '{}')" mcp --data one
exits 0
shows 'Create it with state_create'
run session list --json --status finished --data one
shows '"session_name":"client-'

# Older clients, all at once: each message waits for what must come before it.
run_on '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"ping"}' mcp --data one
exits 0
silent
shows '"id":0,"result":{"protocolVersion":"2025-06-18"'
shows '"id":1,"result":{}'

# A server that is gone is started again for the next request, and the client does not notice.
mkfifo to from
"$BATON" mcp --data one <to >from 2>bridge.err &
bridge=$!
exec 4>to 5<from
ask 1 ping >&4
read -r line <&5
kill -KILL "$first"
ask 2 tools/list >&4
read -r line <&5
case $line in *'"id":2,"result":{'*) ;; *) fail "expected tools, but found $line" ;; esac
[ "$(pid_of one)" != "$first" ] || fail 'expected another server'
exec 4>&-
wait "$bridge" || fail 'expected a good end'
exec 5<&-

# However many come at the same time, there is one server.
n=0
while [ $n -lt 6 ]; do
    n=$((n + 1))
    ask $n server/discover | "$BATON" mcp --data many >many.$n 2>/dev/null &
    eval "bridge$n=\$!"
done
for n in 1 2 3 4 5 6; do
    eval "wait \$bridge$n" || fail "expected bridge $n to end well"
    grep -q "\"id\":$n,\"result\"" many.$n || { cat many/serve.log; fail "expected answer $n"; }
done
[ "$(grep -c 'baton listening on' many/serve.log)" = 1 ] || fail 'expected one server'

# Another server's port is no reason to have none.
taken=$("$BATON" json pointer many/server.json /url -r)
BATON_LISTEN=${taken#http://} run_on "$(ask 1 server/discover)" mcp --data port
exits 0
shows '"id":1,"result":{'

# Where none can be started, or none is to be, requests are told so, and what to do.
: >file
run_on "$(ask 1 tools/list)" mcp --data file/x
exits 0
shows '"id":1,"error":{"code":-31053,"message":"'
shows 'file'
export BATON_URL=unix:none.sock BATON_TOKEN=ss_1.x
run_on "$(ask 1 tools/list)" mcp
exits 0
shows '"id":1,"error":{"code":-31053,"message":"no server answers at BATON_URL unix:none.sock: start it'
[ ! -e none.sock ] || fail 'expected no server to be started'
