# The workflow of the demonstration tells what happens, ends as promised, and leaves nothing behind.
case $BATON in
*/asan/*) echo "the plain build has it" && exit 77 ;; # it takes its time, as people need it
esac
. "${0%/*}/lib"

unset BATON_URL BATON_TOKEN BATON_TOKEN_FILE BATON_DATA
export TMPDIR="$PWD/tmp"
mkdir tmp

left() {
    [ -z "$(ls tmp)" ] || fail "$what: expected nothing in the temporary folder, found $(ls tmp)"
}

# happened N TYPE TEXT...: so many events of that type hold all of the texts.
happened() {
    n=$1
    type=$2
    grep -F "\"type\":\"$type\"" out >found || :
    shift 2
    for text; do
        grep -F -e "$text" found >more || :
        mv more found
    done
    [ "$(wc -l <found)" = "$n" ] || fail "$what: expected $n events: $type $*; found $(wc -l <found)"
}

# Seven steps, of which two are done twice; a kill that loses nothing and doubles nothing.
run demo generation --json
exits 0
silent
left
last=$(tail -n 1 out)
case $last in '{"type":"demo_ended","as_promised":true,'*) ;; *) fail "expected a good end" ;; esac
happened 1 execution_started
happened 1 execution_ended '"status":"COMPLETED"'
happened 1 approval_requested '"step":"3"'
happened 1 approval_resolved '"status":"approved"' '"channel":"cli"'
happened 1 execution_moved '["5","failed",' '["4","reopened",'
happened 16 session_created
happened 16 session_settled '"status":"finished"'
happened 16 run_started '"purpose":"task"'
happened 8 session_created '"agent_name":"validation-aggregator"'
happened 2 session_created '"agent_name":"prose-writer"'
[ "$(grep -o '\["4","completed",' out | wc -l)" = 2 ] || fail 'expected two drafts'
[ "$(grep -o '\["6","completed",' out | wc -l)" = 1 ] || fail 'expected one validation'

# For people, in words that fit a narrow terminal; the person approves, in a terminal of their own.
mkfifo story
COLUMNS=60 NO_COLOR=1 "$BATON" demo generation --wait >story 2>err &
demo=$!
exec 4<story
: >told
data=
while IFS= read -r line <&4; do
    printf '%s\n' "$line" >>told
    case $line in
    '  export BATON_DATA='*) data=${line#*=} ;;
    '  baton approve '*) break ;;
    esac
done
[ -n "$data" ] || fail 'expected to be told where to approve'
run inbox show --data "$data"
exits 0
shows 'verification_plan'
shows '3. see that it rains'
run approve --data "$data"
exits 0
cat <&4 >>told
status=0
wait "$demo" || status=$?
cp told out
what='baton demo generation --wait'
exits 0
left
shows 'until you have'
shows 'is approved by operator'
shows 'fails: paragraph 3 is not calm'
shows 'has step 4 done anew'
shows 'is killed, with '
shows 'is there again after '
shows 'What it took:'
[ "$(grep -c '^  yes  ' out)" = 5 ] || fail 'expected five promises that were kept'
! grep -q "$(printf '\033')" out || fail 'expected no colours'
[ -z "$(awk 'length > 60 && !/generation-scene|BATON_DATA|http/' out)" ] || fail 'expected at most 60 columns'

# Ctrl-C ends all of it.
"$BATON" demo generation --json >story 2>err &
demo=$!
exec 4<story
while read -r line <&4; do
    case $line in *'"type":"run_started"'*'-6-'*) break ;; esac
done
kill -INT "$demo"
cat <&4 >out
status=0
wait "$demo" || status=$?
what='baton demo generation, interrupted'
exits 130
left

# On a server that is there already nothing is killed, and it can be played again.
serve
for _ in 1 2; do
    run demo generation --data data --json
    exits 0
    shows '"as_promised":true'
done
run agent list
shows 'demo-prose-writer'
run execution list --json
shows '"workflow":"demo-generation"'
stop
rm -rf tmp/*

run demo genration
exits 2
complains "STORY expects team or generation, but found 'genration'; did you mean 'generation'?"
run demo --wait
exits 2
complains "--wait is of the story generation"
