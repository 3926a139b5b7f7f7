# Keys of baton top decide what waits: after some seconds or when it is left, unless they are taken back.
. "${0%/*}/lib"

command -v script >/dev/null || { echo 'script is not installed'; exit 77; }
export LC_ALL=C
serve --runner off
cat >fix.json <<'END'
{ "workflow": "fix", "steps": [ { "id": "plan", "outputs": ["plan"], "approval": { "on_reject": "plan" } },
                                { "id": "code", "after": ["plan"] } ] }
END
cat >pick.json <<'END'
{ "workflow": "pick", "steps": [ { "id": "scene", "outputs": ["scenes"],
    "approval": { "type": "select_variant", "options": "=scenes" } } ] }
END
for file in fix pick; do
    run workflow deploy $file.json
    exits 0
done

# begin WORKFLOW STEP OUTPUTS: what waits is $apr then.
begin() {
    run execution start "$1" -q
    exits 0
    id=$(cat out)
    run execution report "$id" "$2" --outputs "$3"
    exits 0
    run execution get "$id" --json
    apr=$(sed -n 's/.*"approval_id":"\([^"]*\)".*/\1/p' out)
    [ -n "$apr" ] || fail 'expected an approval that waits'
}
# keys TEXT: baton top in a terminal, with these keys.
keys() {
    what="baton top, with the keys $1"
    status=0
    printf '%b' "$1" | NO_COLOR=1 TERM=xterm script -qec "stty rows 24 cols 100; $BATON top" /dev/null \
        >out 2>err || status=$?
}
# is APPROVAL STATUS
is() {
    cp out before
    run inbox show "$1" --json
    shows "\"status\":\"$2\""
    cp before out
}

# Whoever leaves has decided.
begin fix plan '{"plan":"tests first"}'
keys 'q'
exits 0
shows '! 1 approve plan'
shows 'a: approve  r: reject  w: rework  q: quit'
is "$apr" waiting
keys 'aq'
exits 0
shows 'z: take it back  approve in 5s: approve plan'
is "$apr" approved
run approval get "$apr" --json
shows '"channel":"cli"'

# What is taken back is not sent; of two decisions about one thing the last is.
begin fix plan '{"plan":"docs first"}'
keys 'rzzq'
exits 0
shows 'taken back: reject approve plan'
shows 'nothing is on its way that could be taken back'
is "$apr" waiting
keys 'awq'
exits 0
is "$apr" rework

# Of several, a number or enter says which; anything else decides nothing.
run execution report "$id" plan --outputs '{"plan":"once more"}'
exits 0
run execution get "$id" --json
first=$(sed -n 's/.*"approval_id":"\([^"]*\)".*/\1/p' out)
begin fix plan '{"plan":"another"}'
keys 'axq'
exits 0
shows 'approve which? 1, 2; enter: 1, any other key: none'
is "$first" waiting
is "$apr" waiting
keys 'r2q'
is "$first" waiting
is "$apr" rejected
begin fix plan '{"plan":"a third"}'
keys 'a\rq'
is "$first" approved
is "$apr" waiting
keys 'rq'
is "$apr" rejected

# A variant is chosen by a command, which is named.
begin pick scene '{"scenes":["rain","sun"]}'
keys 'aq'
shows "choose a variant: baton inbox approve $apr --variant NAME"
is "$apr" waiting
keys 'rq'
is "$apr" rejected
keys 'aq'
shows 'nothing waits for you'

# live: it is left open, with the keys that are written to 5; its process is then $(cat pid).
mkfifo hold
exec 5<>hold
live() {
    rm -f pid
    : >frames
    NO_COLOR=1 TERM=xterm script -qec "echo \$\$ >pid; stty rows 24 cols 100; exec $BATON top" /dev/null >>frames 2>err <&5 &
    screen=$!
    until grep -qF "$1" frames; do sleep 0.05; done
}
# After its seconds it is sent by itself; before that the server knows nothing.
begin fix plan '{"plan":"slowly"}'
live '! 1 approve plan'
printf a >&5
until grep -qF 'approve in 4s: approve plan' frames; do sleep 0.05; done
is "$apr" waiting
until grep -qF 'approve plan: approved' frames; do sleep 0.05; done
is "$apr" approved

# Ctrl-C and the end of a terminal are leaving, too.
for signal in INT TERM HUP; do
    : >frames
    begin fix plan '{"plan":"at once"}'
    until grep -qF '! 1 approve plan' frames; do sleep 0.05; done
    : >frames
    printf r >&5
    until grep -qF 'z: take it back  reject' frames; do sleep 0.05; done
    kill -"$signal" "$(cat pid)"
    wait "$screen" || fail "expected a peaceful end by SIG$signal"
    is "$apr" rejected
    [ $signal = HUP ] || live 'no sessions'
done

# What another has decided meanwhile is told.
begin fix plan '{"plan":"two at once"}'
live '! 1 approve plan'
printf a >&5
until grep -qF 'z: take it back  approve' frames; do sleep 0.05; done
run inbox reject "$apr"
exits 0
kill -INT "$(cat pid)"
status=0
wait "$screen" || status=$?
cp frames out
exits 6
shows 'rejected'
stop
