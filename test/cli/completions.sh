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
completes '' json check o
completes '' session create le
run names nonsense
exits 0
prints

# No name is a command of the shell that asks for it.
"$BATON" profile create 'a$(touch owned)' '["x"]' >out 2>&1 || :
completes '' profile get 'a$'
[ ! -e owned ] || fail 'expected nothing to be executed'
