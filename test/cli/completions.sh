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
echo ${COMPREPLY[*]}
END
completes() {
    expected=$1
    shift
    found=$(bash try baton "$@")
    [ "$found" = "$expected" ] || { echo "$*: expected $expected, but found $found"; exit 1; }
}
completes 'json' js
completes 'patch pointer path' json p
completes '--compact --canonical' json fmt --c
completes '' json fmt ord
completes 'schema' sc
completes 'patch' state p
completes '--expected-version' state update a.json --ex
completes '--exit-code' json diff a.json --ex
