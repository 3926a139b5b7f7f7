# What was mistyped is told by what was meant: a row is an exit code, the message, and the words.
. "${0%/*}/lib"

serve --runner off
quiet() { run "$@"; [ "$status" = 0 ] || fail "$what: expected no error"; }
quiet schema create orders '{"type":"object","properties":{"status":{"enum":["open","done"]}}}'
quiet state create orders '{"status":"open"}' -q
id=$(cat out)
quiet session create lead
quiet agent create reviewer
echo '{"workflow":"ship","input":{"required":["order"]},"steps":[{"id":"pick","job":"pick"},{"id":"send","after":["pick"]}]}' >ship.json
quiet workflow deploy ship.json
quiet execution start ship '{"order":1}' -q
exec=$(cat out)
echo '{"workflow":"judge","steps":[{"id":"plan","outputs":["plan"],"approval":true},{"id":"scene","outputs":["scenes"],"approval":{"type":"select_variant","options":"=scenes"}}]}' >judge.json
quiet workflow deploy judge.json
quiet execution start judge -q
judge=$(cat out)
quiet execution report "$judge" plan --outputs '{"plan":"tests first"}'
quiet execution report "$judge" scene --outputs '{"scenes":["sea","town"]}'
quiet inbox --kind approval --json
plan=$(grep -o '"id":"apr_[a-z0-9]*","kind":"approval","title":"approve plan"' out | cut -d'"' -f4)
scene=$(grep -o '"id":"apr_[a-z0-9]*","kind":"approval","title":"choose a variant of scene"' out | cut -d'"' -f4)
echo '[]' >array.json
echo 'workflow: ship' >ship.txt

export EDITOR=false
rows=0
while IFS='|' read -r code message words; do
    eval "run $words" </dev/null
    [ "$status" = "$code" ] || fail "$what: expected exit code $code"
    prints
    complains "$message"
    [ "$(wc -l <err)" = 1 ] || fail "$what: expected one line"
    rows=$((rows + 1))
done <<'END'
2|there is no command 'workflows'; did you mean 'workflow'?|workflows list
2|there is no command 'deplyo'; did you mean 'deploy'?|workflow deplyo ship.json
2|there is no command 'create'|workflow create ship.json
2|expected FILE, but found 0 arguments.|workflow deploy
5|cannot read shop.json: No such file or directory|workflow deploy shop.json
2|ship.txt: line 1, column 1|workflow deploy ship.txt
2|expected an object, the definition of a workflow, but found array|workflow check array.json
5|there is no workflow "shp"; there are: judge, ship, generation, planning; did you mean 'ship'?|workflow show shp
5|there is no workflow "shp"; there are: judge, ship, generation, planning; did you mean 'ship'?|workflow get shp
5|there is no workflow "shp"; there are: judge, ship, generation, planning; did you mean 'ship'?|execution start shp
12|the required member "order" is missing|execution start ship
2|INPUT expects a JSON object like '{"name":1}', the name of a file with one, or -, but found 'order'.|execution start ship order
2|INPUT: line 1, column 9|execution start ship '{"order"'
2|INPUT expects a JSON object, but found array.|execution start ship @array.json
2|--version expects a number from 1 on, but found 'x'.|execution start ship '{"order":1}' --version x
5|has no version 9|execution start ship '{"order":1}' --version 9
5|there is no execution exec-none|execution show exec-none
5|there is no execution exec-none|watch exec-none
2|--path is for states|watch "$exec" --path /a
5|workflow "ship" has no step "sned"|execution report "$exec" sned
6|step pick is not done by report|execution report "$exec" pick
2|expected --outputs of a step that is done, or --failed, but found both.|execution report "$exec" pick --failed no --outputs '{}'
6|nothing of it waits for you: it is RUNNING|execution retry "$exec"
2|--set expects NAME=VALUE, but found 'x'.|execution retry "$exec" --set x
5|there is no job job_1|job complete job_1
2|expected TYPE..., but found 0 arguments.|job claim
2|/timeout: expected at most 60, found 99|job claim pick --timeout 99
5|there is no incident inc_none|incident resolve inc_none
2|2 wait for you, so say which: apr_|approve
2|2 wait for you, so say which: apr_|inbox show
2|'apr_' is the beginning of 2 ids: apr_|reject apr_
6|nothing waits that can be decided by 'retry': there is apr_|inbox retry
5|there is nothing like plan in the inbox: expected an id as inbox.list gives it|approve plan
2|expected a decision on this approval, one of: approve, reject, rework, found "retry"|inbox retry "$plan"
2|expected one of approve, reject, rework, but found 'maybe'.|answer "$plan" maybe
2|choose one with --variant: sea, town.|approve "$scene"
12|expected "selected_variant", one of the variants of step scene: sea, town, found moon|approve "$scene" --variant moon
2|--modifications: line 1, column 6|approve "$plan" --modifications '{"a":'
2|--modifications expects a JSON object like '{"tone":"calm"}', the name of a file with one, or -, but found '[]'.|approve "$plan" --modifications '[]'
2|--modifications: expected a JSON object like {"tone":"calm"}, found array|approve "$plan" --modifications @array.json
2|the editor 'false' did not end well|approve "$plan" --edit
2|--kind expects approval, incident or permission, but found 'aproval'; did you mean 'approval'?|inbox --kind aproval
2|there is no command 'aprove'; did you mean 'approve'?|inbox aprove
2|there is no command 'aprove'; did you mean 'approve'?|aprove
2|there is no command 'aprovals'; did you mean 'approvals'?|aprovals
2|there is no option '--varaint'; did you mean '--variant'?|approve --varaint A
5|it has no step 'pln'; did you mean 'plan'?|execution steps "$judge" pln
2|there is no command 'sesion'; did you mean 'session'?|sesion list
2|there is no command 'states'; did you mean 'state'?|states list
2|there is no command 'lst'; did you mean 'list'?|session lst
2|there is no command 'ls'; did you mean 'list'?|session ls
2|there is no command 'rm'; did you mean 'remove'?|runner rm rnr_1
2|there is no command 'ps'; did you mean 'top'?|ps
2|there is no command 'patch'; did you mean 'baton json patch'?|patch
2|'baton permission' needs a command: list, resolve.|permission
2|there is no command '--verison'; did you mean 'version'?|--verison
2|there is no option '--limt'; did you mean '--limit'?|state list --limt 5
2|there is no option '--state'; did you mean '--state-id'?|mcp --state x
2|there is no option '--onec'; did you mean '--once'?|top --onec
2|--limit needs a value: --limit N.|state list --limit
2|--limit expects an integer, but found 'five'.|state list --limit five
2|/limit: expected at least 1, found 0|state list --limit 0
2|--json takes no value.|state list --json=yes
2|--type expects an array like '["one"]'|event list --type x
2|no arguments were expected, but 'now' was found.|status now
2|expected STATE_ID, but found 0 arguments.|state read
2|expected SCHEMA_NAME INITIAL_DATA, but found 1 argument.|state create orders
2|expected STATE_ID POINTER VALUE, but found 2 arguments|state set /status done
2|STATE_ID expects an id or a name, but found '{"a":1}'|state patch '{"a":1}'
2|PATCH: line 1, column 6: expected a value, found the end of the text|state patch "$id" '{"a":'
2|INITIAL_DATA expects JSON, the name of a file with it, or -, but found 'open'.|state create orders open
5|PATCH: cannot read fix.json: No such file or directory|state patch "$id" fix.json
5|cannot read fix: No such file or directory|state patch "$id" @fix
5|cannot read prompt.txt: No such file or directory|session start x -p @prompt.txt
5|JSON_SCHEMA: cannot read shapes/order.json: No such file or directory|schema create x shapes/order.json
2|POINTER expects a JSON Pointer like /tasks/0, or '' for all of it, but found 'status'; did you mean '/status'?|state set "$id" status done
12|/status: expected one of "open", "done", found "dnoe"; did you mean "done"?|state set "$id" /status dnoe
2|FROM expects an integer, but found 'x'.|state diff "$id" x
5|has no version 99: its newest is 1|state diff "$id" 1 99
5|there is no schema "ordres"; there are: execution, orders; did you mean 'orders'?|state create ordres '{}'
5|there is no session "laed"; did you mean 'lead'?|session get laed
5|there is no session "laed"; did you mean 'lead'?|session result laed --wait
5|there is no session "laed"; did you mean 'lead'?|session tree laed
5|there is no session "laed"; did you mean 'lead'?|session stop laed
5|there is no session "laed"; did you mean 'lead'?|session resume laed -p go
5|there is no session "laed"; did you mean 'lead'?|session start x -p go --parent laed
5|there is no session "laed"; did you mean 'lead'?|logs laed
5|there is no agent "reviwer"; did you mean "reviewer"?|session start x -p go -a reviwer
5|there is no profile "cluade"; did you mean "claude"?|profile get cluade
2|/status: expected one of "pending", "running"|session list --status runing
2|--mode expects sync, poll or callback, but found 'soon'.|session start x -p go --mode soon
2|expected what the agent is to do: -p TEXT|session start x
2|/kind: expected one of "operator", "runner", "viewer", "session", found "viwer"; did you mean "viewer"?|token create viwer
6|agent "reviewer" is registered already|agent create reviewer
2|--listen expects HOST:PORT like 127.0.0.1:8765, but found 'nonsense'|serve --listen nonsense
2|expected bash, zsh or fish, but found 'tcsh'|completions tcsh
14|no server is running for nowhere: start one with `baton serve`|session list --data nowhere
END
[ "$rows" -ge 50 ] || fail "expected all rows, but found $rows"
run state read "${id%?}"
exits 5
complains "did you mean '$id'?"
run watch "${id%?}"
exits 5
complains "did you mean '$id'?"
run inbox show "${plan}x"
exits 5
complains "did you mean '$plan'?"
