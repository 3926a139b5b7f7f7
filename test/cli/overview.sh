# Someone who has never seen baton learns what it does, what to type, and where help is.
. "${0%/*}/lib"

run
exits 0
silent
shows 'team of coding agents'
shows 'baton json check schema.json order.json'
shows 'baton help '
[ "$(awk 'length > 80' out)" = '' ] || fail 'expected at most 80 columns'

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
