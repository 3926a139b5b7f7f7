# Versions of a state as they are written, across a restart of the server.
. "${0%/*}/lib"

serve --runner off
run schema create any true
run state create any '{"a":1,"b":1}'
id=$("$BATON" json pointer out /state_id -r)
run state patch "$id" '{"a":2}'
run state patch "$id" '{"b":2}'

# All that was.
run watch "$id" --after 0 --count 3
exits 0
silent
shows 'version 1  created by operator'
shows '  add (all of it) {"a":1,"b":1}'
shows '  replace /a 2'
shows '  replace /b 2'

# Only what concerns a part of it: of what follows the first version, the last.
run watch "$id" --after 2 --path /b --count 1
exits 0
shows 'version 3  updated by operator'
! grep -q '/a' out || fail 'expected changes at /b only'
run watch "$id" --after 2 --path /a --count 1 --json
exits 0
shows '"event_type":"workflow_state_updated"'
shows '"version":2,'
[ "$(wc -l <out)" = 1 ] || fail 'expected one line'

# A restart is nothing that a watcher has to know of.
mkfifo versions
"$BATON" watch "$id" --after 4 --json >versions 2>watch.err &
watcher=$!
exec 4<versions
run state patch "$id" '{"a":3}'
read -r line <&4
case $line in *'"version":4,'*) ;; *) fail "expected version 4, but found $line" ;; esac
stop
serve --runner off
run state patch "$id" '{"a":4}'
read -r line <&4
case $line in *'"version":5,'*) ;; *) fail "expected version 5, but found $line" ;; esac

# Ctrl-C is how it ends.
kill -INT "$watcher"
status=0
wait "$watcher" || status=$?
what='baton watch, interrupted'
exits 0
grep -q 'connecting again' watch.err || fail 'expected to be told of the restart'

run watch wfstate_none
exits 5
complains 'baton: Not found: '
run watch "$id" --path a
exits 2
complains '--path expects a JSON Pointer'

# The last version is that there will be no more.
run state delete "$id"
run watch "$id" --after 4
exits 0
shows 'deleted by operator'
