# What agents write can be read, and followed across a restart of the server.
. "${0%/*}/lib"

serve
run agent create talker --profile shell \
    --args '["sh","-c","echo first; echo problem >&2; until [ -e go ]; do sleep 0.05; done; echo last"]'
exits 0
run logs
exits 5
complains 'baton run list'
run logs nobody
exits 5
run session create outside
run logs outside
exits 5
complains 'somebody outside runs it'

run session start talker -a talker -p go --project-dir "$PWD"
exits 0
id=$("$BATON" json pointer out /run_id -r)

# It ends when the run has, whatever happens to the server meanwhile.
mkfifo lines
"$BATON" logs talker -f >lines 2>logs.err &
follower=$!
exec 4<lines
read -r line <&4
[ "$line" = first ] || { read -r line <&4; [ "$line" = first ]; } || fail "expected first, found $line"
stop
serve
touch go
while read -r line <&4; do
    [ "$line" != last ] || break
done
[ "$line" = last ] || fail "expected last, found $line"
status=0
wait "$follower" || status=$?
what='baton logs -f'
exits 0
grep -q 'asking again' logs.err || fail 'expected to be told of the restart'

run session result talker --wait
exits 0
run logs "$id"
exits 0
shows first
shows problem
shows last
cp out by_id
run logs talker
cmp -s out by_id || fail 'expected the same by session and by run'
run logs talker --stderr
prints problem
run logs talker --json
shows '"stream":"stderr","text":"problem'
run logs talker --since 1d
cmp -s out by_id || fail 'expected all that was written today'
run logs talker --since 2099-01-01T00:00:00Z
prints
run logs talker --since soon
exits 2
complains '--since expects a duration'
run logs talker -f
exits 0
cmp -s out by_id || fail 'expected -f to end with the run'
