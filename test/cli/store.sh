# A whole database is copied, checked, backed up and restored by someone who has only the help.
. "${0%/*}/lib"

for verb in copy check backup; do
    run store --help
    shows "  $verb "
    run store $verb --help
    exits 0
    silent
    shows "usage: baton store $verb"
    [ "$(awk 'length > 80' out)" = '' ] || fail 'expected at most 80 columns'
done

run store copy --from a.db
exits 2
complains 'expected --from STORE and --to STORE'
run store check none.db
exits 5
complains 'none.db: there is no database'
[ ! -e none.db ] || fail 'expected no file to be made'
run store check mongodb://host/db
exits 2
complains 'a store is sqlite:PATH'

# What follows is one team's life: work, a backup while the server runs, more work, a mistake.
serve
run schema create note '{"type":"object","properties":{"n":{"type":"integer"}}}'
exits 0
run state create note '{"n":1}' --json
exits 0
state=$(sed 's/.*"state_id":"\([^"]*\)".*/\1/' out)
run state update "$state" '{"n":2}'
exits 0

run store check --deep
exits 0
silent
shows 'OK: '
run store check --json
exits 0
shows '"ok":true'
run store backup monday.db
exits 0
shows 'both are the same'
[ "$(stat -c %a monday.db)" = 600 ] || fail 'expected a file for its owner alone'
[ "$(ls -d monday.db*)" = monday.db ] || fail 'expected one file'
run store backup monday.db
exits 6
complains 'monday.db: it is there already'

# A copy wants the server to stop first.
run store copy --from data --to copy.db
exits 6
complains "pid $server: stop it first"
[ ! -e copy.db ] || fail 'expected no file to be made'
run state update "$state" '{"n":3}'
exits 0
stop
run store copy --from data --to copy.db --json
exits 0
silent
shows '"to":"copy.db"'
run store copy --from data --to copy.db
exits 6
complains 'copy.db is not empty'
run store check copy.db --deep
exits 0

# Back to monday.
cp monday.db data/baton.db
rm -f data/baton.db-wal data/baton.db-shm
serve
run state read "$state" --json
exits 0
shows '"version":2'
run state update "$state" '{"n":4}' --expected-version 2
exits 0
run store check --deep
exits 0
stop

# And the copy serves as its original did.
mkdir moved
mv copy.db moved/baton.db
cp data/operator.token moved/
mv data old
mv moved data
serve
run state read "$state" --json
shows '"version":3'
stop
