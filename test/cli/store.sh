# A whole database is copied, checked, backed up and restored by someone who has only the help.
. "${0%/*}/lib"

for verb in copy check migrate backup; do
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

# A password in a URL would be seen by everybody on the machine.
for url in 'postgres://me:s3cret@db/baton' 'postgres://db/baton?password=s3cret'; do
    run store check "$url"
    exits 2
    complains 'a password on the command line can be read by everybody'
    ! grep -q s3cret out err || fail 'expected no password'
done

# Without its client library PostgreSQL cannot be used, and files can.
mkdir broken
: >broken/libpq.so.5
for verb in 'serve --data none --store' 'store check' 'store migrate'; do
    status=0
    LD_LIBRARY_PATH=$PWD/broken "$BATON" $verb postgres://db/baton >out 2>err || status=$?
    what="baton $verb"
    exits 14
    complains 'apt install libpq5'
done
LD_LIBRARY_PATH=$PWD/broken "$BATON" store migrate new.db >out || fail 'expected a file to do'
run store check new.db
exits 0
echo 'not a database' >text.db
run store check text.db
exits 2
complains 'no database of ours'
: >empty.db
run store check empty.db
exits 5
complains 'nothing of baton is in it'
[ ! -s empty.db ] || fail 'expected the file to be left as it is'

# What follows is one team's life: work, a backup while the server runs, more work, a mistake.
serve --runner off
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
if command -v script >where; then # somebody who looks is told how far it is
    script -qec "'$BATON' store copy --from data --to seen.db" typescript >out </dev/null ||
        fail 'expected to copy'
    shows '100%'
    shows 'both are the same'
fi
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
serve --runner off
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
serve --runner off
run state read "$state" --json
shows '"version":3'
stop
