# make.sh: writes the database of an older program as SQL text, with one of everything in it.
#
#     git clone . /tmp/old && cd /tmp/old && git checkout e846cd1 && make build/baton
#     sh test/cases/store/make.sh /tmp/old/build/baton >test/cases/store/e846cd1.sql
#
# The program's own runner stays off: this script claims the runs, so that each is left where it
# is meant to be. Needs curl and sqlite3.
set -eu
baton=$1
work=$(mktemp -d)
unset BATON_URL BATON_TOKEN BATON_TOKEN_FILE
export BATON_DATA="$work/data"
mkfifo "$work/ready"
"$baton" serve --listen 127.0.0.1:0 --runner off >"$work/ready" 2>"$work/log" &
server=$!
trap 'kill $server 2>/dev/null || :; rm -rf "$work"' EXIT
exec 3<"$work/ready"
read -r line <&3
url=${line#baton listening on }
operator=$(cat "$BATON_DATA/operator.token")

# ask TOKEN METHOD PATH [BODY [HEADER]]: the answer, which must be a good one.
ask() {
    curl -sS --fail-with-body -X "$2" -H "Authorization: Bearer $1" -H 'Content-Type: application/json' \
        ${5:+-H "$5"} ${4:+--data "$4"} "$url$3" >"$work/answer" ||
        { echo "$2 $3: $(cat "$work/answer")" >&2; exit 1; }
    cat "$work/answer"
}
as_operator() { ask "$operator" "$@"; }
# The first member of that name, a text or a number.
member() { sed -n "s/^[^\n]*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" | head -n 1; }

# ---- schemas, states with a history, a key ----
as_operator POST /workflow-schemas '{"name":"order","description":"What was ordered.","json_schema":
    {"type":"object","required":["items"],"properties":{"items":{"type":"array"},"note":{"type":"string"}}}}' >"$work/out"
as_operator POST /workflow-schemas '{"name":"order","json_schema":
    {"type":"object","required":["items"],"properties":{"items":{"type":"array"},"note":{"type":"string"},"paid":{"type":"boolean"}}}}' >"$work/out"
order=$(as_operator POST /workflow-states '{"schema_name":"order","schema_version":1,"initial_data":
    {"items":["one","two","three"],"note":"This note is long enough for changes to be kept as patches, and not as a whole document each time."}}' | member state_id)
as_operator PATCH "/workflow-states/$order" '{"operations":[{"op":"add","path":"/items/-","value":"four"}]}' 'Idempotency-Key: order-four' >"$work/out"
as_operator PATCH "/workflow-states/$order" '{"operations":[{"op":"remove","path":"/items/0"}]}' >"$work/out"
as_operator PUT "/workflow-states/$order" '{"data":{"items":[],"note":"short"}}' >"$work/out"
as_operator POST "/workflow-states/$order/rollback" '{"version":3}' >"$work/out"
as_operator POST "/workflow-states/$order/migrate" '{"schema_version":2,"operations":[{"op":"add","path":"/paid","value":true}]}' >"$work/out"
gone=$(as_operator POST /workflow-states '{"schema_name":"order","initial_data":{"items":[]}}' | member state_id)
as_operator DELETE "/workflow-states/$gone" >"$work/out"

# ---- agents, profiles, tokens, a runner ----
as_operator POST /agents '{"name":"coder","description":"Writes code.","profile":"claude","system_prompt":"You write code.","ask":["Bash(git push:*)"]}' >"$work/out"
as_operator POST /profiles '{"name":"mine","description":"A client of our own.","start":["mine","{prompt}"],"resume":["mine","-r","{prompt}"]}' >"$work/out"
as_operator POST /tokens '{"kind":"viewer","name":"wall"}' >"$work/out"
revoked=$(as_operator POST /tokens '{"kind":"viewer","name":"gone"}' | member token_id)
as_operator DELETE "/tokens/$revoked" >"$work/out"
rn=$(as_operator POST /tokens '{"kind":"runner","name":"box"}' | member token)
as_runner() { ask "$rn" "$@"; }
runner=$(as_runner POST /runner/register '{"hostname":"box","tags":["gpu"],"capacity":8}' | member runner_id)

# claim: the next run is $run, under $fence, with the token $ss of its session $name.
claim() {
    as_runner GET "/runner/runs?runner_id=$runner" >"$work/run"
    run=$(member run_id <"$work/run") fence=$(member fence <"$work/run")
    ss=$(member token <"$work/run") name=$(member session_name <"$work/run")
}
# report WHAT [MEMBERS]: of that run.
report() {
    as_runner POST "/runner/runs/$run/$1" "{\"runner_id\":\"$runner\",\"fence\":$fence${2:-}}" >"$work/out"
}

# ---- a tree that a runner works for: its child writes the state, and the callback is delivered ----
as_operator POST /runs '{"type":"start_session","session_name":"chief","agent_name":"coder","project_dir":"/srv/shop","prompt":"Plan the shop."}' >"$work/out"
plan=$(as_operator POST /workflow-states '{"schema_name":"order","root_session":"chief","initial_data":{"items":[]}}' | member state_id)
claim
report started ',"client_id":"11111111-1111-4111-8111-111111111111"'
as_operator POST /runs '{"type":"start_session","session_name":"worker","parent_session_name":"chief","agent_name":"coder","callback":true,"prompt":"Write the cart.","metadata":{"ticket":7}}' >"$work/out"
report completed ',"result":"I asked worker to write the cart.","usage":{"input_tokens":900,"output_tokens":40}'
claim
report started
report progress ',"output":[{"stream":"stdout","text":"reading the shop\n"},{"stream":"stderr","text":"a warning\n"}],"heard":"reads cart.c"'
ask "$ss" PATCH "/workflow-states/$plan" '{"operations":[{"op":"add","path":"/items/-","value":"cart"}]}' >"$work/out"
ask "$ss" POST /sessions/worker/events '{"event_type":"message","role":"assistant","content":"The cart is written."}' >"$work/out"
report completed ',"result":"The cart is written.","git":{"head":"0123456789abcdef0123456789abcdef01234567","branch":"main","dirty":false}'
claim # chief is called back
[ "$name" = chief ]
report started
report completed ',"result":"All is done."'

# ---- one that failed, one that was stopped, one that runs, one that waits for a runner ----
for session in broken halted busy; do
    as_operator POST /runs "{\"type\":\"start_session\",\"session_name\":\"$session\",\"prompt\":\"Go.\"}" >"$work/out"
    claim
    report started
    case $session in
    broken) report failed ',"error":"the compiler is missing","exit_code":3,"stderr_tail":"cc: not found"' ;;
    halted) as_operator POST /sessions/halted/stop '{"reason":"not needed"}' >"$work/out"; report stopped ;;
    busy) report progress ',"output":[{"stream":"stdout","text":"half of it\n"}]' ;;
    esac
done
as_operator POST /runs '{"type":"start_session","session_name":"next","prompt":"Go next.","priority":3,"demands":{"tags":["gpu"]}}' >"$work/out"

# ---- a session that a person runs, whose child is done: its callback waits for the next hook ----
lead=22222222-2222-4222-8222-222222222222
as_operator POST /hooks/claude "{\"hook_event_name\":\"SessionStart\",\"session_id\":\"$lead\",\"cwd\":\"/srv/shop\",\"source\":\"startup\"}" >"$work/out"
as_operator POST /runs "{\"type\":\"start_session\",\"session_name\":\"helper\",\"parent_session_name\":\"claude-shop-22222222\",\"callback\":true,\"prompt\":\"Look it up.\",\"priority\":9}" >"$work/out"
claim
[ "$name" = helper ]
report started
report completed ',"result":"It is in cart.c."'

# ---- permissions: one decided, one that waits ----
as_operator POST /runs '{"type":"start_session","session_name":"pusher","agent_name":"coder","prompt":"Push it.","priority":9}' >"$work/out"
claim
[ "$name" = pusher ]
report started
pushes() {
    ask "$ss" POST /hooks/claude "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"33333333-3333-4333-8333-333333333333\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git push $1\"}}" >"$work/out"
}
pushes origin
as_operator POST "/permissions/$(as_operator GET /permissions | member permission_id)" '{"decision":"deny","reason":"not yet"}' >"$work/out"
pushes fork

kill $server
wait $server
sqlite3 "$BATON_DATA/baton.db" .dump
