# Someone who has never seen baton learns what it does, what to type, and where help is.
. "${0%/*}/lib"

run
exits 0
silent
shows 'team of coding agents'
shows 'baton help COMMAND'
[ "$(awk 'length > 80' out)" = '' ] || fail 'expected at most 80 columns'
[ "$(grep '^[A-Z][a-z ]*$' out | tr '\n' '/')" = 'Start here/Watch/State/Agents/Workflows/Waits for you/Work/Operate/' ] ||
    fail 'expected the groups'

# Every command is there once.
cp out all
run help
sed -n '/^commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' out >verbs
[ "$(wc -l <verbs)" -gt 25 ] || fail 'expected many commands'
while read -r verb; do
    [ "$(grep -c "^  $verb  *[A-Z]" all)" = 1 ] || fail "expected $verb once in the overview"
done <verbs
for verb in init doctor demo open store mcp status stop; do
    grep -qx $verb verbs || fail "expected $verb among the commands"
done

run help
exits 0
for verb in json help version completions; do
    shows "  $verb "
done

# Every command that help lists has a help of its own, by both ways to ask for it.
for verb in check patch merge diff pointer path fmt; do
    run json --help
    shows "  $verb "
    run help json $verb
    exits 0
    shows "usage: baton json $verb"
    [ "$(awk 'length > 80' out)" = '' ] || fail 'expected at most 80 columns'
    cp out by_help
    run json $verb --help
    exits 0
    cmp -s out by_help || fail "'help json $verb' and 'json $verb --help' differ"
done

run version
exits 0
shows 'baton '
cp out version
run --version
cmp -s out version || fail "'version' and '--version' differ"
run version --json
shows '{"name":"baton","version":"'
shows '","commit":'

# The commit is the one that it was built of, where that is known.
commit=$(git -C "$SOURCE" rev-parse --short=12 HEAD 2>/dev/null || :)
run version
grep -qE '^baton [0-9.]+( \([0-9a-f]{7,}(-dirty)?\))?$' out || fail 'expected a version, and a commit'
[ -z "$commit" ] || grep -q '(' out || fail "expected a commit, as $commit is one"
