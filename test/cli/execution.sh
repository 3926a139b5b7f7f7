# Workflows that run: started, looked at, reported, waited for, watched and let go on.
. "${0%/*}/lib"
export LC_ALL=C.UTF-8

serve --runner off
cat >ship.json <<'END'
{ "workflow": "ship", "input": { "type": "object", "required": ["order"] },
  "steps": [
    { "id": "pick", "job": "pick", "outputs": ["parcels"] },
    { "id": "label", "after": ["pick"], "for_each": "=parcels", "job": "label" },
    { "id": "check", "after": ["pick"], "title": "Check the address" },
    { "id": "wrap", "after": ["pick"], "when": "=order > 100", "job": "wrap" },
    { "id": "send", "after": ["label", "check", "wrap"], "job": "send" } ],
  "result": "=parcels" }
END
run workflow deploy ship.json
exits 0
echo '{"order":7}' >order.json

# job TYPE: claims one, and has its id in $job.
job() {
    run job claim "$1" --worker me
    exits 0
    job=$("$BATON" json pointer out /0/job_id -r)
}

# The input is JSON, a file, or standard input; what does not fit is refused.
run execution start ship @order.json -q
exits 0
id=$(cat out)
case $id in exec-*) ;; *) fail 'expected the id alone' ;; esac
run_on '{"order":1}' execution start ship - --business-key o1
shows '"business_key":"o1"'
other=$("$BATON" json pointer out /execution_id -r)
run execution start ship '{"order":2}' --business-key o1
exits 6
run execution start ship
exits 12
complains '"order" is missing'
run execution list --status open
exits 0
[ "$(wc -l <out)" = 3 ] || fail "$what: expected two"
run execution cancel "$other" --reason 'not needed'
exits 0

# One screen says how each step stands and what it waits for.
run execution show "$id"
exits 0
shows '0 of 5 steps done'
shows '● pick'
shows 'a worker for jobs of type pick'
shows '○ send   after label, check, wrap'
job pick
run job complete "$job" '{"parcels":[1,2]}'
exits 0
run execution show "$id"
shows '✓ pick'
shows 'waits for 2 of 2 items'
shows 'waits for step check to be reported'
shows '– wrap   skipped'
LC_ALL=C "$BATON" execution show "$id" >out
shows '+ pick'
run execution steps "$id"
shows 'completed'

# What happens is followed, from any number on, to the end.
"$BATON" watch "$id" --after 0 >watched 2>&1 &
watcher=$!
run execution report "$id" check --outputs '{"good":true}'
exits 0
run execution report "$id" check
exits 6
for _ in 1 2; do
    job label
    run job complete "$job"
    exits 0
done

# What waits for a person is told, with the command that lets it go on.
job send
run job error "$job" no_van 'There is no van'
exits 0
run execution show "$id"
shows '! send: '
shows "baton execution retry $id send"
run incident list --status open
shows 'There is no van'
run status
shows 'ship stands still at send'
run top --once
shows '! ship '
shows '4/5'
run top --once --json
shows '"incidents":1,"steps_done":4,"steps":5}'
run names workflow
prints 'generation
planning
ship'
run names execution
shows "$id"
run names incident
shows inc_
run execution retry "$id" label
exits 5
run execution retry "$id" send --set van=3 --set 'note=at noon'
exits 0
run execution retry "$id"
exits 6
run execution get "$id"
shows '"van":3,"note":"at noon"'

# Who waits for the end gets the result.
job send
run job complete "$job"
exits 0
wait "$watcher" || fail 'watch: expected its end with the end of the execution'
grep -q 'send completed' watched || fail 'watch: expected what moved'
grep -q 'ended by' watched || fail 'watch: expected the end'
run execution log "$id"
shows 'pick completed'
run watch "$id"
exits 0
complains 'it is COMPLETED already'

echo '{"workflow":"two","steps":[{"id":"a","outputs":["n"]}],"result":"=n"}' >two.json
run workflow deploy two.json
run execution start two -q
two=$(cat out)
run execution pause "$two" --reason lunch
shows '"status":"PAUSED"'
run execution show "$two"
shows 'PAUSED'
shows "baton execution resume $two"
run execution resume "$two"
exits 0
(
    until "$BATON" execution list --workflow two --status open --json | grep -o 'exec-[0-9a-f-]*' >ids &&
        [ "$(wc -l <ids)" = 2 ]; do sleep 0.05; done
    while read -r open; do "$BATON" execution report "$open" a --outputs '{"n":[1,2]}' >>reported; done <ids
) &
reporter=$!
run execution start two --wait
exits 0
prints '[1,2]'
wait "$reporter"

# What has failed ends with another exit code, and goes on from a step.
run execution start two -q
two=$(cat out)
run execution report "$two" a --failed 'it is too late'
shows '"status":"FAILED"'
run execution show "$two"
shows '✗ a  failed: it is too late'
shows "baton execution resume $two --from STEP"
run execution resume "$two" --from a
shows '"status":"RUNNING"'
run execution cancel "$two"
run execution delete "$two"
exits 0
run execution show "$two"
exits 5
