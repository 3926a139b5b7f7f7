# baton evidence: by hand, and as a command that a server gives to the runner of its machine.
. "${0%/*}/lib"

mkdir work
echo hello >work/made.txt
cat >work/bad.xml <<'XML'
<testsuite><testcase name="adds"/><testcase name="divides"><failure>by zero</failure></testcase></testsuite>
XML

# ---- by hand ----

cd work
run_on '{"checks":[{"kind":"file","path":"made.txt"},{"kind":"command","argv":["sh","-c","echo oh; exit 3"]}]}' evidence
exits 0
shows '"ok":false'
shows '"found":"6 bytes"'
shows '"what":"echo oh; exit 3","found":"exit 3","output":"oh"'
silent
run_on '{"checks":[{"kind":"junit","path":"bad.xml"}]}' evidence
exits 0
shows '"found":"1 of 2 tests failed: divides","tests":2,"failures":1'
run_on '{"checks":[{"kind":"wish"}]}' evidence
exits 2
complains 'command, file or junit'
run_on 'no json' evidence
exits 2
run evidence --help
exits 0
shows 'usage: baton evidence'
cd ..
rm -f work/out work/err

# ---- by a runner ----

# Another program of that name is first in PATH: what is executed is this one.
mkdir bin
printf '#!/bin/sh\necho "not this one"; exit 9\n' >bin/baton
chmod +x bin/baton
PATH="$PWD/bin:$PATH"
serve
cat >prove.json <<'JSON'
{ "steps": [ { "id": "prove", "run": ["baton", "evidence"], "with": { "checks": "=checks" }, "outputs": ["ok", "checks"] } ] }
JSON
run workflow deploy prove.json --name prove
exits 0
run execution start prove '{"checks":[{"kind":"file","path":"made.txt"},{"kind":"command","argv":["test","-f","bad.xml"]},{"kind":"junit","path":"bad.xml"}]}' \
    --project-dir "$PWD/work" -q
exits 0
run execution get "$(cat out)" --wait ended --timeout 30 --json
exits 0
shows '"status":"COMPLETED"'
shows '"ok":false'
shows '"what":"test -f bad.xml","found":"exit 0"'
shows '"found":"1 of 2 tests failed: divides"'
stop
