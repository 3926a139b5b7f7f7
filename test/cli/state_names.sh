# A state that has a name is called by it.
. "${0%/*}/lib"

serve --runner off
run schema create any true --description 'anything at all'
run state create any '{"a":1}' --name plan
exits 0
id=$("$BATON" json pointer out /state_id -r)
run state read plan
exits 0
shows "\"state_id\":\"$id\""
shows '"name":"plan"'
run state patch plan '{"a":2}'
exits 0

# Who watches it by its name goes on with that state, whatever it is called later.
mkfifo versions
"$BATON" watch plan --after 0 --json >versions 2>watch.err &
watcher=$!
exec 4<versions
hears() {
    read -r line <&4
    case $line in *"\"state_id\":\"$id\",\"version\":$1,"*) ;; *) fail "expected version $1 of $id, but found $line" ;; esac
}
hears 1
hears 2
run state rename plan old-plan
exits 0
hears 3
run state create any '{"b":1}' --name plan
run state patch plan '{"b":2}'
run state patch old-plan '{"a":3}'
hears 4
kill -INT "$watcher"
wait "$watcher" || :

run state read plan --pointer /b
shows '"value":2'
run state rename old-plan plan
exits 6
complains 'has the name "plan"'
run state rename old-plan ''
exits 0
shows '"name":null'
run state read old-plan
exits 5
run state rename plan 'a plan'
exits 2
complains 'letters, digits and - _ .'
run state list --json
shows '"schema_description":"anything at all"'
run session create one --workflow-state-id plan
exits 0
run session create two --workflow-state-id plan
exits 6
