# A folder that was wired is a project: the agents that people start in it share a state, from every
# worktree, and whichever of hook and MCP comes first.
. "${0%/*}/lib"

HOME=$PWD/home
mkdir home bin
ln -s "$BATON" bin/baton
export HOME PATH="$PWD/bin:/usr/bin:/bin"
unset CLAUDE_PROJECT_DIR CLAUDE_CODE_SESSION_ID BATON_PROJECT BATON_SESSION_ID WORKFLOW_STATE_ID
unset BATON_URL BATON_TOKEN BATON_TOKEN_FILE
export BATON_DATA="$PWD/data"
top=$PWD

# repository PATH: what git leaves, at least.
repository() {
    mkdir -p "$1/.git/objects" "$1/.git/refs"
    echo 'ref: refs/heads/main' >"$1/.git/HEAD"
}
repository shop
mkdir -p shop/src shop/.git/worktrees/fix fix
echo 'ref: refs/heads/fix' >shop/.git/worktrees/fix/HEAD
echo ../.. >shop/.git/worktrees/fix/commondir
echo "gitdir: $PWD/shop/.git/worktrees/fix" >fix/.git

# at FOLDER COMMAND...: runs it there; its output stays here.
at() {
    folder=$1
    shift
    what="in $folder: baton $*"
    status=0
    (cd "$folder" && exec "$BATON" "$@") >out 2>err </dev/null || status=$?
}

# ---- without a server ----

at shop init --claude --yes
exits 0
shows 'created  .mcp.json'
shows 'The project is not made yet: no server is running'
shows '`baton init --start` starts a server and makes it'
at shop init --claude --yes --name mall
exits 14
at shop init --claude --json --yes
exits 0
shows '"project":{"name":null,"action":"none","state_id":null,"schema_name":null,"problem":"no server is running'
at shop init --remove --yes
exits 0
shows 'No server answers'
at shop init --claude --yes --project a --name b
exits 2
complains '--project joins one that is there: --name is for one that is made'
at shop init --claude --yes --schema a --state b
exits 2

# ---- made, shown, kept ----

serve --runner off
at shop init --claude --dry-run
exits 0
shows 'project      shop, a new shared state of the built-in schema project'
run project list --json
shows '"projects":[]'
at shop/src init --claude </dev/null # nobody to ask
exits 2
run project list --json
shows '"projects":[]'
at shop init --claude --yes
exits 0
shows 'created  project shop, with the state wfstate_'
shows 'start two agents here'
shows 'baton top '
shows 'baton status '
run project get shop --json
shows "\"project_dir\":\"$top/shop\""
shows "\"common_dir\":\"$top/shop/.git\""
state=$(sed -n 's/.*"state_id":"\([^"]*\)".*/\1/p' out)
at shop init
exits 0
shows "project      shop; its state is $state"
shows 'Nothing to change'
shows 'start two agents here'
at fix init --claude --yes --json # a worktree of it is in it
exits 0
shows "\"project\":{\"name\":\"shop\",\"action\":\"unchanged\",\"state_id\":\"$state\",\"schema_name\":\"project\",\"problem\":null}"
at fix init --claude --name other
exits 6
complains 'this folder is the project shop already, and not other'
at shop init --claude --schema nothing
exits 6
complains 'the schema project, and not nothing'

# ---- agents in it ----

# hook CLIENT CONVERSATION: its session begins.
hook() {
    printf '{"session_id":"%s","cwd":"/elsewhere","hook_event_name":"SessionStart","source":"startup"}' "$2" |
        (cd "$folder" && BATON_HOOK_TIMEOUT_MS=60000 "$BATON" hook "$1") >out 2>err
    what="hook $1" status=0
}
# tool CONVERSATION: its client calls a tool for the first time.
tool() {
    meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
    printf '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"state_read","arguments":{},%s}}\n' "$meta" |
        (cd "$folder" && CLAUDE_CODE_SESSION_ID=$1 "$BATON" mcp) >out 2>err
    what=mcp status=0
}
# is SESSION TEXT: what the server says of it.
is() {
    run session get "$1" --json
    exits 0
    shows "$2"
}

folder=shop/src
hook claude 11111111-aaaa
shows 'shop'
is claude-11111111-aaaa "\"project\":\"shop\""
is claude-11111111-aaaa "\"workflow_state_id\":\"$state\""
tool 11111111-aaaa
shows "$state"
is claude-11111111-aaaa "\"project\":\"shop\""
folder=fix
tool 22222222-bbbb
is claude-22222222-bbbb "\"project\":\"shop\""
is claude-22222222-bbbb "\"workflow_state_id\":\"$state\""
hook claude 22222222-bbbb
is claude-22222222-bbbb "\"workflow_state_id\":\"$state\""
hook codex 33333333-cccc
is codex-33333333-cccc "\"project\":\"shop\""
folder=.
hook codex 44444444-dddd # elsewhere
is codex-44444444-dddd '"project":null'

# A daemon's hooks have its environment, and their own conversation's folder in what they are told.
printf '{"session_id":"%s","cwd":"%s","hook_event_name":"SessionStart","source":"startup"}' 45454545-dddd "$top/shop/src" |
    CLAUDE_PROJECT_DIR=$top BATON_HOOK_TIMEOUT_MS=60000 "$BATON" hook codex >out 2>err
is codex-45454545-dddd '"project":"shop"'

# A person's variables count, in both orders; what cannot be followed is named.
run schema create any true
run state create any '{"n":1}' --json
mine=$(sed -n 's/.*"state_id":"\([^"]*\)".*/\1/p' out)
folder=shop
for first in hook tool; do
    for variable in "WORKFLOW_STATE_ID=$mine" BATON_PROJECT=off BATON_SESSION_ID=claude-11111111-aaaa \
        WORKFLOW_STATE_ID=none BATON_PROJECT=none BATON_SESSION_ID=none; do
        export "$variable"
        id=$first-$(printf %s "$variable" | cksum | cut -d ' ' -f 1)
        case $first in
        hook) hook claude "$id"; cp out told; tool "$id" ;;
        tool) tool "$id"; cp err told; hook claude "$id" ;;
        esac
        unset BATON_PROJECT BATON_SESSION_ID WORKFLOW_STATE_ID
        case $variable in
        *=none)
            grep -q "${variable%=*}" told || { cat told; fail "$first: $variable is not named"; }
            is "claude-$id" '"attended":true' ;;
        BATON_PROJECT*) is "claude-$id" '"project":null' ;;
        BATON_SESSION_ID*) is "claude-$id" '"parent_session_id":"claude-11111111-aaaa"' ;;
        *) is "claude-$id" "\"workflow_state_id\":\"$mine\"" ;;
        esac
    done
done
WORKFLOW_STATE_ID='two words' hook claude 55555555-eeee
complains 'WORKFLOW_STATE_ID is not followed'
is claude-55555555-eeee "\"workflow_state_id\":\"$state\""

# ---- other clones, names, schemas and states ----

mkdir elsewhere
repository elsewhere/shop
at elsewhere/shop init --claude --yes
exits 6
complains '`--project shop` has this one join it'
[ ! -e elsewhere/shop/.mcp.json ] || fail 'expected nothing to be written'
at elsewhere/shop init --claude --yes --project none
exits 5
complains '`baton project list`'
at elsewhere/shop init --claude --yes --project shop
exits 0
shows 'project      shop, which this folder joins'
shows "joined   project shop, with the state $state"
at elsewhere/shop init --project shop
exits 0
shows 'Nothing to change'

repository 'my shop!'
at 'my shop!' init --claude --yes --json
exits 0
shows '"project":{"name":"my-shop","action":"created"'
for case in '.dots/dots' 'a.b_c/a.b_c' '~~~/project' "$(printf %070d 7)/$(printf %060d 0)"; do
    repository "${case%%/*}"
    at "${case%%/*}" init --claude --dry-run
    exits 0
    shows "project      ${case#*/}, a new shared state"
done
repository off # is what BATON_PROJECT says to stay alone
at off init --claude --yes
exits 2
[ ! -e off/.mcp.json ] || fail 'expected nothing to be written'
BATON_TOKEN=op_x.y at shop init
exits 0
shows 'The project is not made yet: Unauthenticated'
repository bare
printf '{"type":"object","properties":{"n":{"type":"integer"}}}' >plan.json
at bare init --claude --yes --schema ../none.json
exits 5
complains 'none.json'
at bare init --claude --yes --schema none
exits 5
at bare init --claude --yes --state none
exits 5
[ ! -e bare/.mcp.json ] || fail 'expected nothing to be written'
at bare init --claude --yes --schema ../plan.json --name typed
exits 0
shows 'typed, a new shared state of the schema in ../plan.json'
run project get typed --json
shows '"schema_name":"typed"'
at bare init --state "$mine" --dry-run
exits 0
shows "typed, from now on with the state $mine"
at bare init --state "$mine" --yes
exits 0
run project get typed --json
shows "\"state_id\":\"$mine\""
at bare init --state "$mine"
exits 0
shows 'Nothing to change'
repository last
at last init --claude --yes --state "$mine"
exits 0
at last doctor
shows "ok   project              last: agents that are started here share the state $mine"

# ---- taken out again ----

at last init --remove --claude --codex --yes # others may be in it
exits 0
run project get last --json
shows '"common_dir"'
at last init --remove --yes
exits 0
shows 'left     project last: it stays, and so does its state'
shows "\`baton project delete last\` and \`baton state delete $mine\`"
run project get last --json
shows '"folders":[]'
at last init --remove --yes
exits 0
shows 'Nothing to remove'
at last doctor
shows 'agents that are started here share nothing'
at last init --claude --yes # and back
exits 0
shows "joined   project last, with the state $mine"

# ---- with a server of its own ----

# It is nobody's child here: it has ended when its file is gone.
end_server() {
    [ ! -e data/server.json ] || kill "$("$BATON" json pointer data/server.json /pid)" 2>/dev/null || :
    while [ -e data/server.json ]; do sleep 0.02; done
}
stop
trap end_server EXIT
export BATON_LISTEN=127.0.0.1:0
at shop init --claude --start --yes
exits 0
shows "project      shop; its state is $state"
shows "A server was started for $top/data: \`baton stop\` ends it."
end_server
