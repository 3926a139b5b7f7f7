# The operations of a running server, as commands.
. "${0%/*}/lib"

# Without a server they say what to do, and do not wait for one.
unset BATON_URL BATON_TOKEN BATON_TOKEN_FILE
export BATON_DATA="$PWD/data"
run state read wfstate_1
exits 14
complains "baton: no server is running for $PWD/data: start one with \`baton serve\`"

serve --runner off
echo '{"type":"object","required":["status"],"properties":{"status":{"enum":["open","done"]}}}' >schema.json
echo '{"status":"open"}' >order.json

# A list, a file, standard input, and JSON text.
run schema create orders schema.json
exits 0
silent
shows '"name":"orders","version":1,'
run schema list --json
shows '{"schemas":[{'
run state create orders order.json
exits 0
id=$("$BATON" json pointer out /state_id -r)
run state read "$id"
shows '"current_data":{"status":"open"}'
run state read "$id" --pointer /status
shows '"value":"open"'
run_on '[{"op":"replace","path":"/status","value":"done"}]' state patch "$id" -
exits 0
shows '"version":2,'
run state patch "$id" '{"status":"open"}'
exits 0
shows '"version":3,'

# What is refused says why, and exits with the code of its kind.
run state patch "$id" '{"status":"dnoe","extra":1}'
exits 12
prints
complains 'baton: Does not fit'
complains '/status: expected one of "open", "done"'
run state patch "$id" '{"status":"dnoe"}' --json
exits 12
complains '"status":422,"errors":[{"pointer":"/status","keyword":"enum",'
run state patch "$id" '{"status":"done"}' --if-match 1
exits 8
complains 'baton: Precondition failed: '
run state patch "$id" '{"status":"done"}' --expected-version 1
exits 6
complains 'baton: Conflict: '
run state read wfstate_none
exits 5
complains 'baton: Not found: '
run state read
exits 2
complains "expected STATE_ID, but found 0 arguments. See 'baton state read --help'."
run schema check orders '{}'
exits 12
shows '"valid":false'

# Under one key a write happens once.
run state create orders order.json --key once
first=$("$BATON" json pointer out /state_id -r)
run state create orders order.json --key once
[ "$("$BATON" json pointer out /state_id -r)" = "$first" ] || fail 'expected the first answer again'
run state create orders '{"status":"done"}' --key once
exits 12
run state create orders order.json --key 'two words'
exits 2

# What has no answer prints none.
run state delete "$first"
exits 0
silent
prints

# A token for looking may not write; it is used by whoever has it, over TCP too.
run token create --kind viewer
exits 0
BATON_TOKEN=$("$BATON" json pointer out /token -r)
export BATON_TOKEN BATON_URL="$url"
run state read "$id"
exits 0
run state patch "$id" '{"status":"done"}'
exits 4
complains 'baton: Forbidden: '
BATON_TOKEN=vw_nobody.secret
run state read "$id"
exits 3
! grep -q secret err || fail 'expected no token in a message'

# The operator's own token goes nowhere else.
unset BATON_TOKEN
BATON_URL=http://example.invalid
run state read "$id"
exits 3
complains 'set BATON_TOKEN or BATON_TOKEN_FILE'
unset BATON_URL

# A server that has ended is told from one that never was by nothing but its files.
stop
run state read "$id"
exits 14
complains 'start one with `baton serve`'
