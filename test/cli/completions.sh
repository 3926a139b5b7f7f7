# Completion scripts are made from the table of commands, and the one for bash works.
. "${0%/*}/lib"

for shell in bash zsh fish; do
    run completions $shell
    exits 0
    silent
    for word in json check canonical exit-code state expected-version watch logs top tree; do
        shows "$word"
    done
done

command -v bash >/dev/null || exit 0
"$BATON" completions bash >script
cat >try <<'END'
. ./script
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_baton
echo $(printf '%s\n' ${COMPREPLY[*]} | LC_ALL=C sort)
END
completes() {
    expected=$1
    shift
    found=$(bash try baton "$@")
    [ "$found" = "$expected" ] || { echo "$*: expected $expected, but found $found"; exit 1; }
}
completes 'json' js
completes 'patch path pointer' json p
completes '--canonical --compact' json fmt --c
completes '' json fmt ord
completes 'schema' sc
completes 'patch' state p
completes '--expected-version' state update a.json --ex
completes '--exit-code' json diff a.json --ex

# What a command names is asked of the server; without one there is nothing to offer, at once.
export BATON_DATA="$PWD/data"
PATH=${BATON%/*}:$PATH
completes '' session get le
run names session
exits 0
silent
prints
serve --runner off
for name in lead leader other; do
    "$BATON" session create $name >/dev/null
done
"$BATON" schema create orders true >/dev/null
state=$("$BATON" state create orders 1 -q)
"$BATON" agent create reviewer >/dev/null
completes 'lead leader' session get le
completes 'lead leader' logs le
completes "$state" state read wf
completes "$state" watch wf
completes 'orders' state create or
completes 'reviewer' session start new --agent r
completes 'reviewer' session start new -a r
completes 'claude codex' agent create x --profile c
completes 'other' state list --root-session o
completes 'approve' inbox app
completes 'approval approvals approve' app
completes '--variant' approve --v
completes '' json check o
completes '' session create le
echo '{"workflow":"w","steps":[{"id":"a","approval":true}]}' >w.json
"$BATON" workflow deploy w.json >/dev/null
"$BATON" execution report "$("$BATON" execution start w -q)" a >/dev/null
waits=$("$BATON" names inbox)
completes "$waits" approve a
completes "$waits" inbox rework ap
completes "$waits" approval get ap
run names nonsense
exits 0
prints

# The other shells, by their own completion; each where it is there.
rivals='json p|patch path pointer
js|json
json fmt --c|--canonical --compact
schema cr|create
runner li|list
runner --ur|--url
state update a.json --ex|--expected-version
json diff a.json --ex|--exit-code
json fmt d.|d.json
session get le|lead leader
logs le|lead leader
session start new --agent r|reviewer
session start new -a r|reviewer
agent create x --profile c|claude codex
state list --root-session o|other
message send l|lead leader
session create le|'
printf '{}' >d.json

# expects SHELL: what it offers for a line that is its argument.
expects() {
    echo "$rivals" | while IFS='|' read -r line expected; do
        found=$(echo $("offer_$1" "baton $line" | LC_ALL=C sort -u))
        [ "$found" = "$expected" ] || { echo "$1, $line: expected $expected, but found $found"; exit 1; }
    done
}

offer_fish() {
    fish --no-config -c 'source fish.script; complete -C $argv[1]' "$1" | cut -f 1
}
if command -v fish >/dev/null; then
    "$BATON" completions fish >fish.script
    expects fish
fi

# zsh completes at a prompt alone: on a terminal of its own, where what is offered is written down.
cat >zsh.rc <<'END'
PS1=
fpath=($PWD/functions $fpath)
autoload -Uz compinit
compinit -u -D
compadd() {
    if [[ "${@[1,(i)(-|--)]}" == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return
    fi
    local -a offered
    builtin compadd -A offered "$@"
    print -rl -- $offered >>offered
    builtin compadd "$@"
}
comppostfuncs=(end_it)
end_it() { : >over }
bindkey '^I' complete-word
: >ready
END
cat >zsh.try <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell '. ./zsh.rc'
until [[ -e ready ]]; do zpty -r -t shell said; sleep 0.01; done
zpty -w -n shell "$1"$'\t'
until [[ -e over ]]; do zpty -r -t shell said; sleep 0.01; done
zpty -d shell
END
offer_zsh() {
    rm -f ready over offered
    : >offered
    zsh -f zsh.try "$1" >/dev/null </dev/null
    cat offered
}
if command -v zsh >/dev/null; then
    mkdir functions
    "$BATON" completions zsh >functions/_baton
    expects zsh
    # The same when it is read at the start instead.
    echo '. functions/_baton' >>zsh.rc
    rivals='session get le|lead leader'
    sed -i '/^fpath/d' zsh.rc
    expects zsh
fi

# No name is a command of the shell that asks for it.
"$BATON" profile create 'a$(touch owned)' '["x"]' >out 2>&1 || :
completes '' profile get 'a$'
for shell in fish zsh; do
    if command -v $shell >/dev/null; then
        "offer_$shell" 'baton profile get a' >out
    fi
done
[ ! -e owned ] || fail 'expected nothing to be executed'
