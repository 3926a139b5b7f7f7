# What users of documents 001 and 002 do by hand: phases, steps and views, over HTTP as texts and as JSON.
. "$SOURCE/test/cli/lib"
serve --runner off
TOKEN=$(cat "$BATON_DATA/operator.token")

# Phases, in the words of the document.
run phase create 'Say hello' '["Write it", ["Read it", "reader"]]' --json
exits 0
silent
cp out made.json
id=$("$BATON" json pointer made.json /workflow_id -r)
case $id in wf_[0-9]*_[0-9]*) ;; *) fail "expected an id like wf_YYYYMMDD_HHMMSS, found $id" ;; esac
run phase update "$id" phase_0 completed
exits 6
complains 'phase phase_0 is pending, and cannot become completed: say first that it is active'
run phase update "$id" phase_0 active
exits 0
run phase update "$id" phase_0 completed --deliverables '["hello.txt"]' --context-for-next 'It says hello.'
exits 0
shows 'Read it\n\nContext: It says hello.'
run phase show
shows '"context":"It says hello."'
run phase show "$id"
exits 0
page='# Workflow Status: Say hello

Status: active | Current Phase: Read it

## Phases

- [x] Phase 0: Write it → hello.txt
- [ ] Phase 1: Read it'
run execution view "$id" markdown
prints "$page"
run execution view "$id" markdown --json
shows '{"text":"# Workflow Status: Say hello\n\n'
run execution view "$id" nothing
exits 2
complains 'expected one of "workflow", "markdown"'

# A text goes as it is, unless JSON is asked for by name.
get() {
    what="GET $1"
    status=0
    curl -s -D head -H "Authorization: Bearer $TOKEN" ${2+-H "Accept: $2"} "$url/executions/$1" >out || status=$?
    tr -d '\r' <head >err
}
get "$id/views/markdown"
complains 'Content-Type: text/markdown; charset=utf-8'
prints "$page"
get "$id/views/markdown" application/json
complains 'Content-Type: application/json'
shows '{"text":"# Workflow Status'
get "$id/views/log"
complains 'Content-Type: text/plain; charset=utf-8'
shows 'phase_0 (Write it): completed (by operator)'
get "$id/views/todos"
complains 'Content-Type: application/json'
shows '"activeForm":"Working on Read it"'
get "phases?workflow_id=$id"
shows '"current_phase":"phase_1"'

# Steps: by their numbers, as text or not.
cat >scenes.json <<'END'
{ "workflow": "scenes", "generation_steps": [
  { "step": 1, "name": "Plan", "outputs": ["plan"], "human_approval": true },
  { "step": 2, "name": "Generation", "prerequisites": [1], "outputs": ["draft"] } ] }
END
run workflow deploy scenes.json
exits 0
run execution start scenes '{"scene_id":"0204"}' -q
id=$(cat out)
case $id in generation-scene-0204-*) ;; *) fail "expected an id of its scene, found $id" ;; esac
run step update "$id" completed --step 1 --artifacts '{"plan":"plan.md"}'
exits 0
run step next "$id"
shows '"blocking_reason":"Human approval required for plan"'
run step approve "$id" 1 true
shows '"status":"completed","next_step":2,"next_step_name":"Generation"'
run step prerequisites "$id" 2
shows '"required_steps":[1],"completed_steps":[1],"missing_steps":[],"can_start_step":true'
get "$id/workflow/prerequisites?step=2"
shows '"prerequisites_met":true'
get "workflows?status=in_progress"
shows '"current_step":2,"progress_percentage":100}],"total":1'
run step status "$id"
shows '"workflow_type":"generation","status":"in_progress","current_step":2'
