# Files that show workflows: written, kept, and nobody else's are lost, with a real server and runner.
. "${0%/*}/lib"

export BATON_HEARTBEAT_TIME=1s HOME="$PWD"
json=shop/.claude/state/workflow.json
page=shop/.claude/workflow_state_system.md
mkdir shop
git init -q shop

# Until a command succeeds; what it was is told when it does not.
until_so() {
    tries=0
    until "$@" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 400 ] || { cat data/runner.log; echo "it did not come to: $*"; exit 1; }
        sleep 0.05
    done
}
has() { grep -qF -e "$2" "$1"; }
lacks() { ! grep -qF -e "$2" "$1"; }
gone() { ! [ -e "$1" ]; }
found() { "$BATON" project mirrors shop --json | grep -qF -e "\"path\":\"$1\",$2"; }
more_told() { [ "$(grep -c 'mirror.found' serve.log)" -gt "$times" ]; }
runner_pid() { cat data/runner.lock; }
answers() { kill -0 "$(runner_pid)"; }

cat >phases.json <<'JSON'
{ "phases": [ { "id": "phase_0", "title": "Plan it", "agent": "planner" },
              { "id": "phase_1", "title": "Do it", "agent": "doer", "after": ["phase_0"] } ] }
JSON
cat >generation.json <<'JSON'
{ "generation_steps": [ { "step": 1, "name": "Draft", "agent": "writer", "by": "report" } ] }
JSON
serve
run project create shop "$PWD/shop" --host "$(uname -n)" --common-dir "$PWD/shop/.git"
exits 0
run workflow deploy phases.json --name phases
exits 0

# ---- written, and again when something has happened ----

start() {
    run execution start "$@" --project-dir "$PWD/shop" -q
    exits 0
    id=$(cat out)
}
told() {
    run phase update "$id" "$@"
    exits 0
}
start phases
until_so has "$json" "\"id\": \"$id\""
until_so has "$page" '- [ ] Phase 1: Do it'
told phase_0 active
told phase_0 completed --deliverables '["PLAN.md"]'
until_so has "$page" '- [x] Phase 0: Plan it'
has "$json" 'PLAN.md' || fail 'expected both files to be of the same time'
gone shop/.claude/state/.workflow.json.baton || fail 'expected nothing else to be left there'

# Where nothing has changed, nothing is written.
before=$(stat -c '%i %y' "$json")
run state create '{}' --schema project
until_so grep -q . data/mirrors.json
[ "$before" = "$(stat -c '%i %y' "$json")" ] || fail 'expected the file to be left alone'

# ---- what others do to them ----

echo '{"status":"completed"}' >"$json"
until_so has "$json" "\"id\": \"$id\""
until_so found .claude/state/workflow.json '"view":"workflow","execution_id":"'"$id"'","found":"edited"'
rm "$page"
until_so has "$page" '- [x] Phase 0: Plan it'
until_so found .claude/workflow_state_system.md '"view":"markdown","execution_id":"'"$id"'","found":"deleted"'
has serve.log 'mirror.found project=shop path=.claude/state/workflow.json found=edited' ||
    fail 'expected a line in the log of the server'
(cd shop && "$BATON" status >../out)
shows '.claude/state/workflow.json was edited '
shows '.claude/workflow_state_system.md was deleted '
run event list --limit 1000 --json
shows '"type":"mirror_found","subject":"shop"'

# Bytes that are the same are no edit.
cp "$json" copy
times=$(grep -c 'mirror.found' serve.log)
mv copy "$json"
told phase_1 completed
until_so has "$page" 'Status: completed'
[ "$times" = "$(grep -c 'mirror.found' serve.log)" ] || fail 'expected no edit to be told'

# ---- killed and started again ----

start phases
until_so has "$json" "\"id\": \"$id\""
killed=$(runner_pid)
kill -9 "$killed"
until_so answers
told phase_0 active
told phase_0 completed
until_so has "$page" '- [x] Phase 0: Plan it'
[ "$killed" != "$(runner_pid)" ] || fail 'expected another runner'
[ "$times" = "$(grep -c 'mirror.found' serve.log)" ] || fail 'expected no edit to be told of its own'

# What was done to a file while nobody looked is found, and what was left of a write is taken away.
kill -9 "$(runner_pid)"
echo mine >"$json"
echo half >shop/.claude/state/.workflow.json.baton
until_so has "$json" "\"id\": \"$id\""
until_so gone shop/.claude/state/.workflow.json.baton
until_so more_told

# ---- what is not ours ----

# A file that was there before any of ours is kept.
rm -r shop/.claude
kill "$server"
wait "$server" || :
rm data/mirrors.json
mkdir -p shop/.claude/state
echo 'somebody wrote this' >"$json"
serve
until_so has "$json" "\"id\": \"$id\""
has "$json.before-baton" 'somebody wrote this' || fail 'expected what was there to be kept'

# A link leads nowhere.
mkdir elsewhere
rm -r shop/.claude
ln -s "$PWD/elsewhere" shop/.claude
until_so found .claude/state/workflow.json '"view":"workflow","execution_id":"'"$id"'","found":"blocked"'
[ -z "$(ls elsewhere)" ] || fail 'expected nothing to be written through a link'
(cd shop && "$BATON" status >../out)
shows 'cannot be written: .claude is a symbolic link'
rm shop/.claude
until_so has "$json" "\"id\": \"$id\""
until_so found .claude/state/workflow.json '"view":"workflow","execution_id":"'"$id"'","found":"deleted"'

# ---- document 002's ----

run workflow deploy generation.json --name scenes
exits 0
start scenes --session-name draft
state=shop/workspace/sessions/draft/workflow-state
until_so has "$state/$id.json" "\"workflow_id\": \"$id\""
until_so has "$state/index.json" "\"workflow_id\": \"$id\""
until_so [ -s "shop/workspace/logs/workflow-orchestration/$id.log" ]
start scenes
until_so has "shop/workspace/workflow-state/$id.json" "\"workflow_id\": \"$id\""

# ---- what is wanted ----

run project update shop --mirrors '["markdown"]'
exits 0
shows '"markdown"'
run project mirrors shop --json
grep -qF '"view":"workflow"' out && fail 'expected one kind of file'
shows '"path":".claude/workflow_state_system.md"'
run project update shop --mirrors '[]'
exits 0
run project mirrors shop --json
prints '{"files":[]}'
[ -e "$json" ] || fail 'expected what is there to stay'
stop
