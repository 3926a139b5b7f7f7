# patch, merge and diff: results on standard output, failures by exit code.
. "${0%/*}/lib"

echo '{"status":"open","price":1.50,"tags":["a"]}' >doc.json
cat >patch.json <<'END'
[{"op":"replace","path":"/status","value":"done"},{"op":"add","path":"/tags/-","value":"b"}]
END

run json patch doc.json patch.json
exits 0
silent
prints '{"status":"done","price":1.50,"tags":["a","b"]}'
run json patch doc.json patch.json --pretty
prints '{
  "status": "done",
  "price": 1.50,
  "tags": [
    "a",
    "b"
  ]
}'

run_on '[{"op":"remove","path":"/nothing"}]' json patch doc.json -
exits 12
prints
complains 'baton: '
run_on '[{"op":"test","path":"/status","value":"done"}]' json patch doc.json -
exits 6
prints
run_on '{"op":"remove"}' json patch doc.json -
exits 2

run_on '{"tags":null,"owner":{"id":7}}' json merge doc.json -
exits 0
prints '{"status":"open","price":1.50,"owner":{"id":7}}'

# A diff is a patch: applied to the first document, it gives the second.
"$BATON" json patch doc.json patch.json >after.json
run json diff doc.json after.json
exits 0
cp out between.json
run json patch doc.json between.json
prints "$(cat after.json)"
run json diff doc.json after.json --exit-code
exits 1
run json diff doc.json doc.json --exit-code
exits 0
prints '[]'

# What a patch may hold and do is bounded, generously.
run json patch doc.json patch.json --max-operations 1
exits 9
complains 'operations, at most 1 are allowed'
{
    printf '[{"op":"add","path":"/l","value":[]}'
    i=0
    while [ $i -lt 20000 ]; do
        printf ',{"op":"add","path":"/l/-","value":%d},{"op":"add","path":"/m%d","value":0}' $i $i
        i=$((i + 1))
    done
    printf ']'
} >many.json
run json patch doc.json many.json
exits 0
shows '"m19999":0'
