# What waits for a person: found without an id or by the beginning of one, looked at, changed, decided.
. "${0%/*}/lib"
export LC_ALL=C.UTF-8

serve --runner off
cat >fix.json <<'END'
{ "workflow": "fix", "steps": [
    { "id": "plan", "outputs": ["plan", "tone"], "approval": { "show": ["plan", "tone"], "on_reject": "plan" } },
    { "id": "code", "after": ["plan"] } ] }
END
cat >pick.json <<'END'
{ "workflow": "pick", "steps": [ { "id": "scene", "outputs": ["scenes"],
    "approval": { "type": "select_variant", "options": "=scenes" } } ], "result": "=selected_variant" }
END
for file in fix pick; do
    run workflow deploy $file.json
    exits 0
done

# Nothing waits.
run inbox
exits 0
prints 'nothing waits for you'
run inbox --json
prints '{"entries":[]}'
run approve
exits 6
complains 'nothing waits for you'

# begin WORKFLOW STEP OUTPUTS: its execution is $id, and waits.
begin() {
    run execution start "$1" -q
    exits 0
    id=$(cat out)
    run execution report "$id" "$2" --outputs "$3"
    exits 0
}

# The only one is meant, and said to be; into a pipe a decision is JSON.
begin fix plan '{"plan":"tests first","tone":"calm"}'
run approvals
shows 'approve plan'
run inbox show
exits 0
complains ': approve plan'
shows 'plan: tests first'
shows 'baton inbox rework apr_'
run approve --reason good --json
exits 0
silent
shows '"status":"approved","waits":false'
run execution steps "$id" plan
shows 'approved by operator (cli): good'

# Modifications are what an editor has changed; JSON that is none decides nothing.
begin fix plan '{"plan":"tests first","tone":"calm"}'
cat >edit <<'END'
sed -i s/calm/wild/ "$1"
END
cat >break <<'END'
echo '{' >"$1"
END
export TMPDIR="$PWD/tmp"
mkdir tmp
EDITOR='sh break' run approve --edit
exits 2
complains 'nothing is decided, and the file is still there'
[ "$(ls tmp | wc -l)" = 1 ] || fail 'expected the file'
rm tmp/*
EDITOR=false run approve --edit
exits 2
run inbox --kind approval --json
shows '"waits":true'
VISUAL='sh edit' EDITOR=false run approve --edit
exits 0
[ -z "$(ls tmp)" ] || fail 'expected no file any more'
run execution get "$id"
shows '"modifications":{"tone":"wild"}'

# What is done anew knows why.
begin fix plan '{"plan":"tests first","tone":"calm"}'
run inbox rework --reason 'name the files'
exits 0
run execution show "$id"
shows 'name the files'
run execution report "$id" plan --outputs '{"plan":"a.c","tone":"calm"}'
run reject --reason 'still no files'
exits 0
run execution report "$id" plan --outputs '{"plan":"a.c, b.c","tone":"calm"}'
run answer approve
exits 0
run execution show "$id"
shows '✓ plan'

# An id may be the beginning of one, with or without its kind; a variant is a word.
begin pick scene '{"scenes":["sea","town"]}'
run inbox --json
apr=$(grep -o 'apr_[a-z0-9]*' out | head -n 1)
rest=${apr#apr_}
run inbox show "$(echo "$apr" | cut -c 1-8)" --json
exits 0
shows "\"id\":\"$apr\""
run inbox show "$(echo "$rest" | cut -c 1-6)" --json
shows "\"id\":\"$apr\""
run names inbox
prints "$apr"
run answer "$apr" town
exits 0
run execution get "$id"
shows '"result":"town"'
run approve "$apr" --variant town # again, the same: nothing changes
exits 0
run approve "$apr" --variant sea
exits 6

# What stands still goes on, with a variable that was missing.
cat >job.json <<'END'
{ "workflow": "job", "steps": [ { "id": "send", "job": "send" } ] }
END
run workflow deploy job.json
run execution start job -q
run job claim send
run job error "$("$BATON" json pointer out /0/job_id -r)" no_van 'There is no van'
run inbox
shows 'send of job stands still'
run inbox retry --set van=3 --set 'note=at noon'
exits 0
run inbox
prints 'nothing waits for you'

# On a terminal much is cut, and said to be.
command -v script >/dev/null || exit 0
begin fix plan "{\"plan\":\"$(seq -s '\n' 1 90)\",\"tone\":\"calm\"}"
NO_COLOR=1 script -qec "$BATON inbox show" /dev/null </dev/null | tr -d '\r' >out
[ "$(grep -c '^    [0-9]*$' out)" = 39 ] || fail 'expected 40 lines with the name'
shows '(52 more lines: baton inbox show apr_'
NO_COLOR=1 script -qec "$BATON inbox show --all" /dev/null </dev/null | tr -d '\r' >out
[ "$(grep -c '^    [0-9]*$' out)" = 90 ] || fail 'expected all lines'
run inbox show
[ "$(grep -c '^    [0-9]*$' out)" = 90 ] || fail 'expected all lines in a pipe'
