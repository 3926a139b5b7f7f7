# Definitions of workflows: deployed from files, drawn, checked, listed and deleted.
. "${0%/*}/lib"
export LC_ALL=C.UTF-8

serve --runner off
cat >ship.json <<'END'
{ "workflow": "ship", "description": "Ships an order",
  "steps": [
    { "id": "pick", "job": "pick" },
    { "id": "check", "title": "Check the address", "after": ["pick"] },
    { "id": "send", "after": ["pick", "check"], "job": "send" } ] }
END
echo '{"steps":[{"id":"a","after":["b"]},{"id":"c","job":"x","when":"=1 +"},{"title":"no id"}]}' >wrong.json

# A definition is drawn before it is deployed, and afterwards by its name.
run workflow check ship.json
exits 0
silent
shows 'Check the address'
cp out drawn
run workflow deploy ship.json
exits 0
shows '"workflow":"ship","version":1,"kind":"steps",'
run workflow show ship
exits 0
cmp -s drawn out || fail "$what: expected what check has drawn"
run workflow show ship --json
shows '{"workflow":"ship","version":1,"drawing":{"nodes":[{'

# The same text is no new version; another one is, from standard input as well.
run workflow deploy ship.json
shows '"version":1,'
run_on '{"steps":[{"id":"only"}]}' workflow deploy - --name ship --description 'Shorter now'
exits 0
shows '"version":2,'
run workflow versions ship
shows 'Shorter now'
[ "$(wc -l <out)" = 3 ] || fail "$what: expected two versions"
run workflow get ship --version 1
shows '"definition":{"workflow":"ship"'
run workflow show ship --version 1
cmp -s drawn out || fail "$what: expected the first version"

# What is wrong is told for each mistake, with where it is.
for verb in check deploy; do
    run workflow $verb wrong.json
    exits 12
    cat out err >both
    grep -q 'step "a".*there is no step "b"' both || fail "$what: expected the mistake in step a"
    grep -q 'step "c", when: ' both || fail "$what: expected the mistake in step c"
    grep -q 'expected an "id"' both || fail "$what: expected the mistake of the last one"
done
run workflow check wrong.json --json
exits 12
shows '{"valid":false,"errors":[{"pointer":'
run workflow deploy wrong.json --json
exits 12
complains '"errors":[{"pointer":'

# Lists, names that are meant, and what may not be deleted.
run workflow list
shows 'ship'
run workflow show shp
exits 5
complains "did you mean 'ship'?"
run execution start ship -q
exits 0
id=$(cat out)
run workflow delete ship
exits 6
run execution cancel "$id"
exits 0
run workflow delete ship
exits 0
run workflow list --json
! grep -q '"workflow":"ship"' out || fail 'expected no deleted workflow in a list'
