# Jobs: claimed with and without waiting, completed, failed, renewed; and a token that is for them alone.
. "${0%/*}/lib"

serve --runner off
echo '{"workflow":"build","steps":[{"id":"each","for_each":"=items","job":"build-c","with":{"n":"=item"},
    "retry":{"max_attempts":2}}]}' >build.json
run workflow deploy build.json
exits 0
run execution start build '{"items":[10,20]}' -q
id=$(cat out)

run job claim none
exits 0
prints '[]'
run job claim 'build-*' none --worker me --lease-seconds 30
exits 0
shows '"variables":{"n":10}'
shows '"worker":"me"'
first=$("$BATON" json pointer out /0/job_id -r)
run job list
shows '(none)'
run job list --waiting --json
grep -q "$first" out && fail "$what: expected only what nobody has"
run job renew "$first" --lease-seconds 300
exits 0
run job fail "$first" 'it does not compile'
exits 0
run job complete "$first"
exits 6
run job claim build-c --max 5 --json
shows '"attempt":2'
for n in 0 1; do
    job=$("$BATON" json pointer out "/$n/job_id" -r)
    "$BATON" job complete "$job" >reported || fail "job complete $job"
done
grep -q '"status":"COMPLETED"' reported || fail 'expected the end of the execution'

# Who waits gets what comes meanwhile.
"$BATON" job claim build-c --timeout 30 >claimed &
waiter=$!
run execution start build '{"items":[1]}' -q
wait "$waiter"
grep -q '"job_id"' claimed || fail 'expected the job that was waited for'

# A worker's token has its jobs, and nothing else.
run token create runner --name hand --scope '{"jobs":["build-*"]}' -q
exits 0
cat out >token
(
    export BATON_TOKEN_FILE=token
    run job claim build-c
    exits 0
    run job claim deploy
    exits 4
    complains 'this token is for jobs of type build-*'
    run execution list
    exits 4
    run runner list
    exits 4
)
run job claim
exits 2
