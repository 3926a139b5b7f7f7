# Is there a server, what runs, what waits, what is next; and ending it.
. "${0%/*}/lib"

unset BATON_URL BATON_TOKEN BATON_TOKEN_FILE
export BATON_DATA="$PWD/data" LC_ALL=C
masked() {
    sed -E -e "s|$PWD|HERE|g; s/_[a-z2-7]{12}/_xxxxxxxxxxxx/; s|127.0.0.1:[0-9]*|ADDRESS|g; s|pid [0-9]*|pid N|g; s|up for [0-9]*[smh]|up for AGE|g" \
        -e 's/of [0-9]* busy/of N busy/; s/baton [0-9][0-9.]*/baton VERSION/' out >shown
    printf '%s\n' "$1" >expected
    cmp -s shown expected || { diff expected shown; fail "$what: expected another picture"; }
}

# Without a server.
run status
exits 14
silent
masked "server    no server is running for HERE/data
folder    HERE
          no agent is wired
next      baton serve    starts a server
          baton init     wires the agents that you start in this folder"
run status --json
exits 14
shows '{"server":{"running":false,'
shows '"next":[{"command":"baton serve",'
run stop
exits 0
masked 'nothing to stop: no server is running for HERE/data'
run open
exits 14
complains 'no server is running'
[ ! -e data ] || fail 'expected nothing to be made'

# With one that has nothing to do, in a folder that is wired.
serve --runner off
run project create shop "$PWD" --host "$(uname -n)" --common-dir "$PWD"
exits 0
"$BATON" init --claude --yes >out
run status
exits 0
silent
masked "server    http://ADDRESS (baton VERSION)
          pid N, up for AGE, in HERE/data
agents    none at work
          no runner
for you   nothing waits
folder    HERE
          project shop, 0 at work, state wfstate_xxxxxxxxxxxx at version 1
          wired for claude
next      baton runner   runs agents: there is no runner, so those that are
                         started wait"
stop

# Who is at work, and who needs somebody.
serve
run agent create slow --profile shell --args '["sh","-c","echo began; sleep 600"]'
run agent create bad --profile shell --args '["sh","-c","echo no compiler >&2; exit 3"]'
run session start broken -a bad -p go --wait
run session start lead -a slow -p go
until "$BATON" session get lead | grep -q '"status":"running"'; do :; done
run status
exits 0
masked "server    http://ADDRESS (baton VERSION)
          pid N, up for AGE, in HERE/data
agents    1 running
          1 runner, 1 of N busy
for you   broken failed: the agent ended with exit code 3
folder    HERE
          project shop, 0 at work, state wfstate_xxxxxxxxxxxx at version 1
          wired for claude"
run status --json
exits 0
shows "\"pid\":$server,"
shows '"running":1,"idle":0,"silent":0,'
shows '"failed":[{"session_name":"broken",'

# The page: its address, where there is nobody to look at it; else a browser gets it.
run open
exits 0
grep -qxE "$url/#code=cd_[a-z0-9]+\.[A-Za-z0-9_-]+" out || fail 'expected the address with a code'
if command -v script >/dev/null; then
    mkdir bin
    printf '#!/bin/sh\necho "$1" >%s/opened\n' "$PWD" >bin/looker
    chmod +x bin/looker
    BROWSER="$PWD/bin/looker" script -qec "$BATON open" /dev/null </dev/null >out
    shows "opening $url/"
    tries=0
    until [ -s opened ]; do tries=$((tries + 1)); [ $tries -lt 1000 ] || fail 'expected a browser'; sleep 0.01; done
    grep -qxE 'file://.*/open-[0-9a-f]{32}\.html' opened || fail "expected a file, found $(cat opened)"
    ! grep -q code= out || fail 'expected no code where others read along'
fi

# A server elsewhere is not ours to end, nor is a process that is another one by now.
BATON_URL="$url" run stop
exits 2
complains 'BATON_URL names the server'
cp data/server.json kept
sed "s/\"pid\":$server/\"pid\":$$/" kept >data/server.json
run stop
exits 6
complains "names the process $$, but that is not the server"
cp kept data/server.json

# It ends in peace, and says who goes on.
run stop
exits 0
masked 'stopped the server at http://ADDRESS (pid N, HERE/data)
at work, and going on without it: lead; what they did is reported when a server is back'
status=0
wait "$server" || status=$?
[ "$status" = 0 ] || { cat serve.log; fail 'expected a clean end'; }
run stop --json
exits 0
prints "{\"stopped\":false,\"data\":\"$PWD/data\"}"

# Without a socket, too.
serve --socket off
run stop --json
exits 0
shows "{\"stopped\":true,\"data\":\"$PWD/data\",\"pid\":$server,"
wait "$server"

# No agent outlives this.
serve
run session stop lead
run session result lead --wait
exits 17
stop
