# The demonstration tells what happens, ends as promised, and leaves nothing behind.
. "${0%/*}/lib"

unset BATON_URL BATON_TOKEN BATON_TOKEN_FILE BATON_DATA
export TMPDIR="$PWD/tmp"
mkdir tmp

left() {
    [ -z "$(ls tmp)" ] || fail "$what: expected nothing in the temporary folder, found $(ls tmp)"
}

# count TYPE TEXT...: how many events of that type hold all of the texts.
count() {
    grep -F "\"type\":\"$1\"" out >found || :
    shift
    for text; do
        grep -F -e "$text" found >more || :
        mv more found
    done
    wc -l <found
}

# happened N TYPE TEXT...
happened() {
    n=$1
    shift
    [ "$(count "$@")" = "$n" ] || fail "$what: expected $n events: $*; found $(count "$@")"
}

# The number of the first event of that type that holds all of the texts.
seq_of() {
    [ "$(count "$@")" -gt 0 ] || fail "$what: expected an event: $*"
    sed -n '1s/^{"seq":\([0-9]*\),.*/\1/p' found
}

run demo --json
exits 0
silent
left
last=$(tail -n 1 out)
case $last in '{"type":"demo_ended","as_promised":true,'*) ;; *) fail "expected a good end" ;; esac

# One lead, three workers below it.
happened 4 session_created
happened 1 session_created '"session_name":"lead","parent_session_id":null'
happened 1 workflow_state_created '"version":1,'

# Who records as it works is not asked; who ignores it is, three times; who fails, once.
happened 0 session_updated '"session_name":"parser","state_update_status":"pending"'
happened 1 session_updated '"session_name":"parser","state_update_status":"skipped"'
happened 3 session_updated '"session_name":"tests","state_update_status":"pending"'
happened 1 session_updated '"session_name":"docs","state_update_status":"pending"'
for worker in tests docs; do
    happened 1 session_updated "\"session_name\":\"$worker\",\"state_update_status\":\"completed\""
done
happened 1 run_finished '"session_name":"docs","purpose":"work","status":"failed"'
happened 3 run_finished '"session_name":"tests","purpose":"state_update","status":"completed"'

# Each settles once, and the lead hears of each once, after that.
happened 1 session_settled '"session_name":"parser","status":"finished"'
happened 1 session_settled '"session_name":"tests","status":"finished"'
happened 1 session_settled '"session_name":"docs","status":"failed","update_status":"completed"'
for worker in parser tests docs; do
    happened 1 callback_delivered "\"child_name\":\"$worker\""
    settled=$(seq_of session_settled "\"session_name\":\"$worker\"")
    status=completed
    [ "$worker" != parser ] || status=skipped
    recorded=$(seq_of session_updated "\"session_name\":\"$worker\",\"state_update_status\":\"$status\"")
    told=$(seq_of callback_delivered "\"child_name\":\"$worker\"")
    [ "$recorded" -lt "$settled" ] && [ "$settled" -lt "$told" ] ||
        fail "expected $worker to record, settle, and be told of, in this order"
done
happened 1 session_settled '"session_name":"lead","status":"finished"'

# For people, in words that fit a narrow terminal, without colours where none are wanted.
COLUMNS=40 NO_COLOR=1 run demo
exits 0
silent
left
shows 'prompt 3 of 3'
shows 'tells lead that parser is'
shows '  yes  docs failed, and that is recorded'
! grep -q "$(printf '\033')" out || fail 'expected no colours'
[ -z "$(awk 'length > 40 && !/wfstate_|http|"/' out)" ] || fail 'expected at most 40 columns'

# What is kept can be looked at, and played on again.
run demo --keep --json
exits 0
pid=$(sed -n 's/.*"type":"demo_kept".*"pid":\([0-9]*\).*/\1/p' out)
data=$(sed -n 's/.*"type":"demo_kept".*"data":"\([^"]*\)".*/\1/p' out)
[ -n "$pid" ] && [ -n "$data" ] || fail 'expected to be told where the server is'
trap 'kill $pid 2>/dev/null || :' EXIT
run session get lead --data "$data"
exits 0
shows '"status":"finished"'
run demo --data "$data"
exits 0
shows 'is finished; its result is recorded'
run session get lead --data "$data"
exits 0
kill "$pid"
while kill -0 "$pid" 2>/dev/null; do :; done
rm -r tmp/*

# Ctrl-C ends all of it.
mkfifo story
"$BATON" demo --json >story 2>err &
demo=$!
exec 4<story
while read -r line <&4; do
    case $line in *'"type":"run_started"'*'"session_name":"tests"'*) break ;; esac
done
kill -INT "$demo"
cat <&4 >out
status=0
wait "$demo" || status=$?
what='baton demo, interrupted'
exits 130
left

# A folder that cannot be used is told.
TMPDIR=/nowhere run demo
exits 4
complains 'cannot make a folder like /nowhere/baton-demo-'
mkdir bad
echo 'nonsense = 1' >bad/baton.toml
run demo --data bad
exits 14
complains "the server did not start: baton: bad/baton.toml:1: there is no setting 'nonsense'"
run demo --help
exits 0
[ "$(awk 'length > 80' out)" = '' ] || fail 'expected at most 80 columns'
