# An idle Codex is woken by its bridge; where that was killed, by a runner of its machine, with the folder
# and the search path that the hook told; once, whoever dies in between.
. "${0%/*}/lib"

mkdir bin home shop
export BATON_WAKE_GRACE=100ms BATON_WAKE_RETURN=400ms BATON_HOOK_TIMEOUT_MS=60000
cat >bin/codex <<'END'
#!/bin/sh
{
    tr '\0' ' ' <"/proc/$PPID/cmdline" | cut -d' ' -f2
    printf '%s\n' "$CODEX_HOME" "${PATH%%:*}" "$1" "$2"
    printf '%s\n' "$3" | sed 1q
} >>"$CODEX_HOME/calls"
END
chmod +x bin/codex
thread=01a1e0af-3a44

# What its hook is called with; only there is the folder known, and where the program is.
codex_hook() {
    printf '{"session_id":"%s","cwd":"%s","hook_event_name":%s}' "$thread" "$PWD/shop" "$1" |
        PATH=$PWD/bin:$PATH CODEX_HOME=$PWD/home "$BATON" hook codex >answer
}

child() {
    run session start "$1" --parent codex-shop-01a1e0af --mode callback -a quick -p go
    exits 0
}

# The n-th call, of these six lines, and none beyond it.
called() {
    tries=0
    until [ "$(wc -l <home/calls)" -ge $(($1 * 6)) ] 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 1200 ] || fail "expected call $1 of codex: $(cat home/calls serve.log)"
        sleep 0.05
    done
    [ "$(wc -l <home/calls)" = $(($1 * 6)) ] || fail "expected $1 calls: $(cat home/calls)"
    tail -n 6 home/calls >call
    case $(sed -n 6p call) in
    "--message=[baton cb_"*) ;;
    *) fail "expected a message with ids, found: $(cat home/calls)" ;;
    esac
    [ "$(sed -n 2,5p call)" = "$PWD/home
$2
queue
--thread=$thread" ] || fail "call $1: $(cat call)"
}

# Codex begins a turn with it: the receipt, and then it is idle again.
receipt() {
    text=$(sed -n '6s/^--message=//p' call)
    codex_hook "\"UserPromptSubmit\",\"prompt\":\"$text and so on\""
    [ "$(cat answer)" = '{}' ] || fail "expected nothing more to tell, found: $(cat answer)"
    codex_hook '"Stop"'
}

: >home/calls
serve
run agent create quick --description 'Runs a script' --profile shell --args '["/bin/echo","hi"]'
exits 0
codex_hook '"UserPromptSubmit","prompt":"go"'
codex_hook '"Stop"'

# The bridge, which has the folder and the search path from its client.
mkfifo pipe
PATH=$PWD/bin:$PATH CODEX_HOME=$PWD/home "$BATON" mcp <pipe >mcp.out 2>mcp.log 3<&- &
bridge=$!
trap 'kill $server $bridge 2>/dev/null || :; wait' EXIT
exec 4>pipe
printf '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_agent_sessions","arguments":{},"_meta":{"threadId":"%s","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"codex-mcp-client","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}\n' "$thread" >&4
tries=0
until [ -s mcp.out ]; do
    tries=$((tries + 1)); [ "$tries" -lt 1200 ] || fail "expected an answer: $(cat mcp.log)"
    sleep 0.05
done
child kid1
called 1 "$PWD/bin"
[ "$(sed -n 1p call)" = mcp ] || fail "expected the bridge to go first: $(cat call)"
receipt

# Without it.
kill -9 "$bridge"
child kid2
called 2 "$PWD/bin"
[ "$(sed -n 1p call)" != mcp ] || fail "expected a runner: $(cat call)"
receipt

# The server and its runner are killed before anybody could be woken, and after somebody was.
kill_all() {
    runner=$(cat data/runner.lock)
    kill -9 "$server" "$runner"
    wait "$server" 2>/dev/null || :
}
child kid3
kill_all
serve
called 3 "$PWD/bin"
kill_all
serve
receipt
child kid4
called 4 "$PWD/bin"
receipt
stop
