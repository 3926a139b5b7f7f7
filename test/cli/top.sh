# Who is at work, who needs you, what it costs: at once, as lines, and live in a terminal.
. "${0%/*}/lib"

export LC_ALL=C BATON_WAKE_GRACE=1ms BATON_WAKE_RETURN=1ms BATON_HOOK_TIMEOUT_MS=60000
serve
run top --once
exits 0
silent
shows 'no sessions'
run agent create slow --profile shell --args '["sh","-c","echo began; sleep 600"]'
run agent create bad --profile shell --args '["sh","-c","exit 3"]'
run session start lead -a slow -p go
run session start child -a slow -p go --parent lead --mode poll
run session start broken -a bad -p go --wait
exits 16

# What needs somebody is first, and marked.
run top --once
exits 0
shows '1 need you, 2 running'
sed -n 3p out | grep -q '^ ! broken  *failed' || fail 'expected the one that failed first'
shows '`- child'
run top
exits 0
shows '1 need you'
run top --once --json
exits 0
[ "$(wc -l <out)" = 1 ] || fail 'expected one line'
shows '"needs_you":1,"running":2,'
shows '"children":1'

# Lines of JSON: one for each change.
mkfifo lines
"$BATON" top --json >lines 2>top.err &
top=$!
exec 4<lines
read -r line <&4
case $line in *'"running":2,'*) ;; *) fail "expected two at work, but found $line" ;; esac
run session stop lead
while read -r line <&4; do
    case $line in *'"running":0,'*) break ;; esac
done
case $line in *'"running":0,'*) ;; *) fail "expected nobody at work, but found $line" ;; esac
kill "$top"
wait "$top" || :

# Members of a project, and the files that two of them are at.
if command -v curl >/dev/null; then
    run project create shop /shop --host h --common-dir /shop/.git
    exits 0
    tell() {
        what="the hook of $1"
        status=0
        curl -s -f -o out -X POST -H 'Content-Type: application/json' -H "Authorization: Bearer $(cat data/operator.token)" \
            "$url/hooks/claude?host=h&common_dir=/shop/.git&worktree=/shop" \
            -d "{\"session_id\":\"$1\",\"cwd\":\"/shop\",\"hook_event_name\":\"$2\",$3}" 2>err || status=$?
        exits 0
    }
    tell ann UserPromptSubmit '"prompt":"mend the till"'
    tell bob UserPromptSubmit '"prompt":"paint the door"'
    run top --once
    grep -q '^   *claude-shop-ann  *running .* mend the till$' out || fail 'expected its last words'
    ! grep -q 'files that two are at' out || fail 'expected no files yet'
    tell ann PostToolUse '"tool_name":"Read","tool_input":{"file_path":"src/till.c"}'
    tell bob PostToolUse '"tool_name":"Write","tool_input":{"file_path":"src/till.c","content":"a\nb\n"}'
    tell bob PostToolUse '"tool_name":"Write","tool_input":{"file_path":"src/door.c","content":"a"}'
    run top --once
    exits 0
    shows 'files that two are at:'
    grep -q '^  shop/src/till.c: claude-shop-bob ([0-9]*s, +2 -0), claude-shop-ann (read)$' out ||
        fail 'expected who is at the file'
    ! grep -q 'door.c' out || fail 'expected only what two are at'
    run top --once --json
    shows '"files":[{"path":"src/till.c","worktree":"/shop","host":"h","changed_at":"'
    run file list shop --json
    shows '"path":"src/door.c"'
    run file list shop --shared
    exits 0
    ! grep -q 'door.c' out || fail 'expected only what two are at'
    tell ann PreToolUse '"tool_name":"Edit","tool_input":{"file_path":"/shop/src/till.c"}'
    shows 'by `claude-shop-bob`'
    tell bob SessionEnd '"reason":"other"'
    run top --once
    ! grep -q 'files that two are at' out || fail 'expected nobody at a file who has ended'
    tell ann SessionEnd '"reason":"other"'
fi

# In a terminal: it takes the whole of it, obeys keys, and gives it back, however it ends.
command -v script >/dev/null || exit 0
run session start next -a slow -p go
live() {
    what="baton top, with the keys $1"
    status=0
    printf '%b' "$1" | TERM=xterm COLUMNS=80 script -qec "stty rows 12 cols 80; $2 $BATON top" /dev/null \
        >out 2>err || status=$?
}
live 'jk\rq' ''
exits 0
grep -q 'next' out || fail 'expected the session on the screen'
printf '\033[?1049h' >enter
printf '\033[?1049l' >leave
grep -qF -f enter out || fail 'expected a screen of its own'
tail -c 9 out | grep -qF -f leave || fail 'expected the screen to be given back, and nothing after it'
live 'q' 'NO_COLOR=1'
exits 0
printf '\033[7m' >reverse
! grep -qF -f reverse out || fail 'expected no colours'
mkfifo screen hold
exec 5<>hold
TERM=xterm script -qec "echo \$\$ >pid; exec $BATON top" /dev/null >screen 2>err <&5 &
screen=$!
exec 4<screen
head -c 100 <&4 >out
kill "$(cat pid)"
cat <&4 >>out
wait "$screen" || :
what='baton top, terminated'
grep -qF -f leave out || fail 'expected the screen to be given back after SIGTERM'

# Who has not heard of something is named, and the bell rings when that begins.
rings() {
    run_on "{\"session_id\":\"$1\",\"cwd\":\"/shop\",\"hook_event_name\":\"SessionStart\"}" hook gemini
    exits 0
    rm -f pid
    : >frames
    TERM=xterm script -qec "echo \$\$ >pid; stty rows 30 cols 100; exec $BATON top $2" /dev/null >frames 2>err <&5 &
    screen=$!
    until grep -q "gemini-shop-$1" frames; do sleep 0.05; done
    run message send "gemini-shop-$1" come
    exits 0
    until grep -q "gemini-shop-$1 has not heard of 1 message for" frames; do sleep 0.05; done
    kill "$(cat pid)"
    wait "$screen" || :
    what="baton top $2"
    [ "$(tr -cd '\007' <frames | wc -c)" = "$3" ] || fail "expected the bell $3 times"
}
rings one '' 1
rings two --no-bell 0
run top --once
shows 'gemini-shop-one has not heard of 1 message for '
shows ': its client hears at its next prompt'
run status
shows 'gemini-shop-two has not heard of 1 message for '
run status --json
shows '"unheard":[{"session_id":"'
run_on '{"session_id":"one","hook_event_name":"BeforeAgent","prompt":"x"}' hook gemini
run top --once --json
shows '"unheard":[{"session_id":"'
! grep -q '"unheard":.*"session_name":"gemini-shop-one","ends"' out || fail 'expected that it has heard'

# s asks; anything but y is no.
live 'sn\r\rq' ''
shows 'and all below it? y: yes'
run session get next
shows '"status":"running"'

# No agent outlives this.
run session stop next
run session result next --wait
exits 17
