# Hooks of clients: JSON in, JSON out, fast; and nothing that goes wrong holds an agent up.
. "${0%/*}/lib"

start='{"session_id":"11111111-2222-4333-8444-555555555555","cwd":"/home/ann/shop","hook_event_name":"SessionStart","source":"startup"}'

# Without a server: nothing on standard output, and all is well.
export BATON_DATA="$PWD/data"
run_on "$start" hook claude
exits 0
prints
complains 'baton serve'

# Nor is an agent waited for that no person has before him.
run_on "$start" hook claude --wait
exits 0
prints
silent

# Wrong usage is 1, never 2: that would stop the agent.
run hook
exits 1
prints
run hook emacs
exits 1
prints
complains "expected claude, codex, gemini or opencode, found 'emacs'"
run hook claude --nonsense
exits 1
run hook gemini --wait
exits 1
complains '--wait is for claude and opencode'
run hook --help
exits 0
shows 'BATON_HOOK_TIMEOUT_MS'

serve --runner off
export BATON_HOOK_TIMEOUT_MS=60000 # the machine may be busy

run_on "$start" hook claude
exits 0
silent
shows '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"You are session `claude-shop-11111111` in baton'
run session get claude-shop-11111111 --json
exits 0
shows '"attended":true'
shows '"client_id":"11111111-2222-4333-8444-555555555555"'
run_on '{"session_id":"11111111-2222-4333-8444-555555555555","hook_event_name":"Stop"}' hook claude
exits 0
printf '{}' | cmp -s - out || fail 'expected {}'

# Below the session that the environment names.
BATON_SESSION_ID=claude-shop-11111111 run_on '{"session_id":"t","hook_event_name":"SessionStart"}' hook codex
exits 0
shows 'you work for session `claude-shop-11111111`'

# What is no JSON, or not what the server takes, is said on standard error alone.
for text in '' '{' '[]' 'null' '{"session_id":"a","session_id":"b"}' 'Hello'; do
    run_on "$text" hook claude
    exits 0
    prints
    [ -s err ] || fail "expected a message for $text"
done
# Half of a character, where a client has cut a text, is none of that.
run_on '{"session_id":"u","hook_event_name":"UserPromptSubmit","prompt":"a \ud83d"}' hook gemini
exits 0
silent
shows 'UserPromptSubmit'

# A token that is not known.
BATON_URL=$url BATON_TOKEN=op_x.y run_on "$start" hook claude
exits 0
prints
complains 'Unauthenticated'

# The same by HTTP, as clients that can ask it there do; the rules of all requests hold.
if command -v curl >/dev/null; then
    token=$(cat data/operator.token)
    ask() {
        curl -s -o out -w '%{http_code}' -X POST -H 'Content-Type: application/json' "$@" "$url/hooks/claude"
    }
    what='POST /hooks/claude' status=0
    [ "$(ask -H "Authorization: Bearer $token" -d "$start")" = 200 ] || fail 'expected 200'
    shows 'hookSpecificOutput'
    [ "$(ask -H "Authorization: Bearer $token" -d '{')" = 400 ] || fail 'expected 400'
    [ "$(ask -d "$start")" = 401 ] || fail 'expected 401'
    [ "$(ask -H "Authorization: Bearer $token" -H 'Origin: http://evil.example' -d "$start")" = 403 ] || fail 'expected 403'
    [ "$(ask -H "Authorization: Bearer $token" -H 'Host: evil.example' -d "$start")" = 421 ] || fail 'expected 421'
fi

# A server that hangs is waited for as long as was said, which is not the 2 s of other times; how much
# longer it takes to end is the machine's business.
lasted() {
    took=$((($(date +%s%N) - before) / 1000000))
    [ "$took" -ge 2400 ] || fail "expected it to wait for 2500 ms, not for $took"
    [ "$took" -lt 30000 ] || fail "expected it to end after 2500 ms, not after $took"
}
kill -STOP "$server"
before=$(date +%s%N)
BATON_HOOK_TIMEOUT_MS=2500 run_on "$start" hook claude
lasted
kill -CONT "$server"
exits 0
prints
# So is a standard input that does not end.
mkfifo endless
exec 4<>endless
before=$(date +%s%N)
BATON_HOOK_TIMEOUT_MS=2500 run hook claude <&4
lasted
exits 0
prints
complains 'took too long'
stop

# It starts no server.
run_on "$start" hook claude
exits 0
prints
[ ! -e data/server.json ] || fail 'expected no server'
