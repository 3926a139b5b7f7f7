# Agents are started, looked at, waited for, asked for more and stopped by people who have only help.
. "${0%/*}/lib"

run session start --help
exits 0
shows '-p, --prompt TEXT'
shows 'Exit codes of a result: 0 it finished; 16 it failed'
[ "$(awk 'length > 80' out)" = '' ] || fail 'expected at most 80 columns'

# Without a server it says how to have one.
export BATON_DATA="$PWD/data"
run session start lead -p go
exits 14
complains 'baton serve'
run session start lead
exits 2
complains 'expected what the agent is to do: -p TEXT, -p @FILE'

serve
run session tree
exits 0
shows 'baton session start NAME -p PROMPT'
run agent create echo --profile shell --args '["sh","-c","cat; echo done"]'
exits 0
run agent create bad --profile shell --args '["sh","-c","echo no compiler >&2; exit 3"]'
run agent create slow --profile shell --args '["sh","-c","echo began; sleep 600"]'

# A prompt from the command line, a file or standard input; --wait prints the result and no more.
run session start one -a echo -p 'say it' --wait
exits 0
prints 'say itdone'
printf 'from a file' >prompt.txt
run session start two -a echo -p @prompt.txt --wait --json
exits 0
shows '"status":"finished"'
run_on 'from standard input' session start three -a echo -p - --wait
exits 0
shows 'from standard input'
run session start four -a echo -p @none.txt
exits 5
complains 'cannot read none.txt'

# A name is taken once; more is asked of who has it.
run session start one -a echo -p again
exits 6
complains 'session one has been started already and is finished'
complains '`baton session resume one`'
complains '`baton session delete one`'
run session resume one -p 'and more' --wait
exits 0
shows 'and more'
run session resume nobody -p x
exits 5

# Sections of a state; and a session goes on with its own state, whatever the environment says.
run schema create any true
run state create any '{}' --name first
run state create any '{}' --name second
run session start parts -a echo -p go --state first --pointers /a --pointers '["/b"]' --wait
exits 0
run session get parts
shows '"pointers":["/a","/b"]'
export WORKFLOW_STATE_ID=second
run session resume parts -p more --wait
exits 0
complains 'WORKFLOW_STATE_ID is second, but session parts goes on with its state wfstate_'
export WORKFLOW_STATE_ID=first
run session resume parts -p more --wait
exits 0
silent
unset WORKFLOW_STATE_ID
run session delete one
exits 0
run session start one -a echo -p anew --wait
exits 0

# How it ended is the exit code; why is beside the result.
run session start broken -a bad -p go --wait
exits 16
complains 'session broken failed: '
complains 'no compiler'
run session result broken
exits 16
run session result one --json
exits 0
shows '"settled":true'

# What runs is not settled, is in the tree below its parent, and is stopped with it.
run session start lead -a slow -p go
exits 0
shows '"session_name":"lead"'
run session start child -a slow -p go --parent lead --mode poll
exits 0
run session result lead
exits 18
complains 'baton session result lead --wait'
run session tree lead
exits 0
shows 'child'
LC_ALL=C.UTF-8 run session tree lead
shows '└─ child'
LC_ALL=C run session tree lead
shows '`- child'
run session tree lead --json
"$BATON" json path out '$.sessions[*].session_name' >names
grep -q '"lead"' names && grep -q '"child"' names || fail 'expected both sessions'
run session stop lead --reason 'wrong branch'
exits 0
shows '"stopped":["lead","child"]'
run session result child --wait
exits 17
run session result lead --wait
exits 17

# A root can be given the state that its tree works on, as scripts of others do it, too.
run schema create any true
run state create any '{"a":1}'
state=$("$BATON" json pointer out /state_id -r)
run session start bound -a echo -p go --state "$state" --wait
exits 0
run session get bound
shows "\"workflow_state_id\":\"$state\""
run session start other -a echo -p go --state wfstate_none
exits 5

# Mistakes say what was expected.
run session start x -p go --mode soon
exits 2
complains '--mode expects sync, poll or callback'
run session start x -p go --max-seconds 0
exits 2
run session start x -p go -a nobody
exits 5
run session tree nobody
exits 5

# The names that scripts of others know.
for name in ao-start ao-resume ao-status ao-get-result ao-list-sessions; do
    ln -s "$BATON" $name
    ./$name --help >out 2>err
    shows "usage: $name"
done
ao() {
    name=$1
    shift
    what="$name $*"
    status=0
    printf '%s' "$text" | "./$name" "$@" >out 2>err || status=$?
}
text='by an old name'
ao ao-start five --agent echo
exits 0
shows 'by an old name'
ao ao-status five
prints finished
ao ao-status six
exits 0
prints not_existent
text='once more'
ao ao-resume five
shows 'once more'
ao ao-get-result five
shows 'once more'
ao ao-list-sessions
shows 'five    finished'
