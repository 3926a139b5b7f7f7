# The server can be found out about, started, used and stopped by someone who has only its help.
. "${0%/*}/lib"

run serve --help
exits 0
silent
shows 'baton listening on http://127.0.0.1:8765'
shows 'operator.token'
shows '--settings'
[ "$(awk 'length > 80' out)" = '' ] || fail 'expected at most 80 columns'

# What --settings prints is a baton.toml; asking makes no directory.
run serve --data data --settings
exits 0
shows 'body_bytes = "4MiB"'
[ ! -e data ] || fail 'expected no directory to be made'
mkdir data
sed 's/^body_bytes = .*/body_bytes = "2MiB"/' out >data/baton.toml
run serve --data data --settings
cmp -s out data/baton.toml || fail 'expected the settings of the file'
echo 'body_byte = 3' >data/baton.toml
run serve --data data
exits 2
complains "data/baton.toml:1: there is no setting 'body_byte'; did you mean 'body_bytes'?"
rm data/baton.toml

run serve --data new --listen 0.0.0.0:0
exits 2
complains 'can be reached from other machines'
[ ! -e new ] || fail 'expected no directory to be made'

# One line when it is ready, the token in a file, another server is sent away, a clean end.
serve
[ "$(cat data/server.json | grep -c "\"url\":\"$url\"")" = 1 ] || fail 'expected the url in server.json'
run serve --data data --listen 127.0.0.1:0
exits 6
complains "pid $server, at $url"
[ "$(stat -c %a data/operator.token)" = 600 ] || fail 'expected a token for its owner alone'
! grep -q "$(cat data/operator.token)" serve.log || fail 'expected no token in the log'
kill "$server"
status=0
wait "$server" || status=$?
[ "$status" = 0 ] || { cat serve.log; fail 'expected a clean end'; }
[ ! -e data/server.json ] || fail 'expected no server.json after the end'
[ ! -e data/baton.sock ] || fail 'expected no socket after the end'

# A terminal that closes ends it in the same way, however often it is said; nohup keeps it.
serve --runner off
kill -HUP "$server"
kill -HUP "$server" 2>/dev/null || :
status=0
wait "$server" || status=$?
[ "$status" = 0 ] || { cat serve.log; fail 'expected a clean end after SIGHUP'; }
grep -q 'serve.stopped' serve.log || fail 'expected it to have stopped'
[ ! -e data/server.json ] || fail 'expected no server.json after SIGHUP'
trap '' HUP
serve --runner off
trap - HUP
kill -HUP "$server"
run status
exits 0
stop
if command -v script >/dev/null; then
    script -qec "exec $BATON serve --runner off --listen 127.0.0.1:0" typescript </dev/null >out 2>&1 &
    terminal=$!
    tries=0
    until [ -s data/server.json ]; do
        tries=$((tries + 1)); [ "$tries" -lt 300 ] || fail 'expected a server'
        sleep 0.1
    done
    kill -9 "$terminal"
    wait "$terminal" 2>/dev/null || :
    until [ ! -e data/server.json ]; do
        tries=$((tries + 1)); [ "$tries" -lt 600 ] || fail 'expected it to end with its terminal'
        sleep 0.1
    done
fi

# A runner that cannot be started is missed by all who look, and the server goes on.
serve
tries=0
until runner=$(cat data/runner.lock 2>/dev/null) && [ -n "$runner" ] && kill -0 "$runner" 2>/dev/null; do
    tries=$((tries + 1)); [ "$tries" -lt 200 ] || fail 'expected a runner'
    sleep 0.1
done
rm data/runner.lock
mkdir data/runner.lock
kill -9 "$runner"
missed() {
    tries=0
    until "$BATON" "$@" >out 2>err; grep -q "$seen" out; do
        tries=$((tries + 1)); [ "$tries" -lt 300 ] || fail "expected '$seen' of baton $*"
        sleep 0.1
    done
}
seen="the server's runner is gone: it ended with exit code 6; it is started again" missed top --once
seen="the server's own has ended: it ended with exit code 6; it is started again in" missed doctor
grep -q 'runner.ended how="it was ended by signal 9' serve.log || fail 'expected it in the log'
stop
rmdir data/runner.lock

# Secrets of the environment are gone once the server has them.
export PGPASSWORD=secret-of-the-database BATON_TOKEN=op_of_nobody
serve
unset PGPASSWORD BATON_TOKEN
! tr '\000' '\n' <"/proc/$server/environ" | grep -q 'secret-of\|op_of_nobody' ||
    fail 'expected no secret in the environment of the server'
stop

# A directory that others can write, or a token that they can read, is not used.
chmod 777 data
run serve --data data --listen 127.0.0.1:0
exits 4
complains "data has mode 777"
complains "chmod 700 '"
chmod 700 data
chmod 644 data/operator.token
run serve --data data --listen 127.0.0.1:0
exits 4
complains "operator.token has mode 644"
complains "chmod 600 '"
rm data/operator.token
serve
stop

# Too few files are named, before anything is made.
status=0
(ulimit -n 16 && exec "$BATON" serve --data few --listen 127.0.0.1:0) >out 2>err || status=$?
what='baton serve with 16 files'
exits 14
complains 'expected a limit of at least 128 open files, found 16'
