# One value of a state: set by its place, read as it is; and what a run means by its own state.
. "${0%/*}/lib"

serve --runner off
echo '{"type":"object","properties":{"status":{"enum":["open","done"]},"n":{"type":"integer"}}}' >schema.json
run schema create orders schema.json
run state create orders '{"status":"open","tasks":[1,2]}' -q
exits 0
id=$(cat out)
case $id in wfstate_????????????) ;; *) fail 'expected the id alone' ;; esac

# A word is a text where it is no JSON, and JSON where it is.
run state set "$id" /status done
exits 0
shows '"version":2,'
run state read "$id" --pointer /status --raw
prints done
run state read "$id" --pointer /status --raw --json
prints '"done"'
run state set "$id" /n 3
run state set "$id" /note 3 --string
run_on '{"a":[null]}' state set "$id" /deep -
run state read "$id" --raw
prints '{"status":"done","tasks":[1,2],"n":3,"note":"3","deep":{"a":[null]}}'

# An element of an array is replaced and moves none; /- appends.
run state set "$id" /tasks/0 one
run state set "$id" /tasks/- three
run state read "$id" --pointer /tasks --raw
prints '["one",2,"three"]'
run state set "$id" '' '{"status":"open"}'
run state read "$id" --raw
prints '{"status":"open"}'

# What cannot be is refused as any other write is, and says what was meant.
run state set "$id" /status dnoe
exits 12
complains 'did you mean "done"?'
run state set "$id" status done
exits 2
complains "did you mean '/status'?"
run state set "$id" /status '{"a"'
exits 2
complains '--string takes it as it is'
run state set "$id" /status @none.json
exits 5
complains 'cannot read none.json: No such file or directory'
run state set "${id%?}" /status done
exits 5
complains "did you mean '$id'?"
run state set "$id" /status done --expected-version 1
exits 6
run state set /status done
exits 2
complains 'only inside a run'

# Versions by their places.
run state diff "$id" 1 2
exits 0
shows '"from":1,"to":2,'
cp out by_place
run state diff "$id" 1 --to 2
cmp -s out by_place || fail 'expected the same by --to'

# Inside a run its own state is meant.
export WORKFLOW_STATE_ID="$id"
run state set /status done
exits 0
run state read --pointer /status --raw
prints done
run state patch '{"n":7}'
exits 0
run state read --raw
prints '{"status":"done","n":7}'
run state create orders '{}' -q
other=$(cat out)
run state read "$other" --raw
prints '{}'

# A list has all pages, unless it is told how many.
unset WORKFLOW_STATE_ID
i=0
while [ $i -lt 60 ]; do
    i=$((i + 1))
    "$BATON" state set "$other" /n $i >out
done
run state history "$other"
exits 0
[ "$(wc -l <out)" = 62 ] || fail 'expected the titles and 61 versions'
run state history "$other" --json
[ "$(grep -o '"seq":' out | wc -l)" = 61 ] || fail 'expected 61 versions'
! grep -q '"next"' out || fail 'expected nothing behind the last page'
run state history "$other" --limit 5
[ "$(wc -l <out)" = 6 ] || fail 'expected the titles and 5 versions'
complains 'there are more: --after 57'
