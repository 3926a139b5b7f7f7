# check: a line for each violation, a summary, and exit codes for scripts.
. "${0%/*}/lib"

cat >schema.json <<'END'
{"type": "object", "required": ["id"], "properties": {
    "id": {"type": "integer"},
    "tasks": {"type": "array", "items": {"properties": {"status": {"enum": ["open", "done"]}}}},
    "mail": {"format": "email"}}}
END
echo '{"id":1,"tasks":[{"status":"done"}]}' >good.json
echo '{"id":1,"tasks":[{"status":"open"},{"status":"done!"}]}' >bad.json
echo '{"id":1,"mail":"nobody"}' >mail.json
echo '{"id":' >broken.json

run json check schema.json good.json
exits 0
silent
prints 'good.json fits schema.json'

run json check schema.json bad.json
exits 12
silent
grep -q '^bad.json: /tasks/1/status: enum: .' out || fail 'expected file, pointer and keyword'
shows 'bad.json does not fit schema.json'

run json check schema.json good.json bad.json good.json
exits 12
shows '2 of 3 documents fit schema.json'

run_on '[]' json check schema.json -
exits 12
grep -q '^standard input: (root): type: ' out || fail 'expected the root to be named'

run json check schema.json bad.json --quiet
exits 12
silent
prints

run json check schema.json good.json bad.json --json
exits 12
[ "$(sed -n 1p out)" = '{"file":"good.json","valid":true,"errors":[]}' ] || fail 'first line'
sed -n 2p out | grep -q \
    '^{"file":"bad.json","valid":false,"errors":\[{"pointer":"/tasks/1/status","keyword":"enum",' ||
    fail 'second line'

# A document that cannot be read does not keep the others from being checked.
run json check schema.json broken.json bad.json
exits 2
complains 'baton: broken.json: '
shows 'bad.json: /tasks/1/status'
run json check schema.json missing.json good.json --json
exits 5
silent
grep -q '^{"file":"missing.json","valid":false,"errors":\[\],"error":"cannot read ' out ||
    fail 'expected the reason as "error"'

# A malformed schema is malformed input, not a document that does not fit.
echo '{"type": 7}' >wrong.json
run json check wrong.json good.json
exits 2
prints
complains 'baton: wrong.json: '

# format is an annotation unless it is asked for.
run json check schema.json mail.json
exits 0
run json check schema.json mail.json --format
exits 12
shows 'mail.json: /mail: format: '

# At most N violations, and a word that there are more.
echo '{"items": {"type": "string"}}' >strings.json
echo '[1,2,3]' >numbers.json
run json check strings.json numbers.json --max 2
exits 12
[ "$(grep -c '^numbers.json: /[0-9]: type: ' out)" = 2 ] || fail 'expected two violations'
shows 'there are more than 2 violations; --max shows more'
run json check strings.json numbers.json --max 3
[ "$(grep -c '^numbers.json: ' out)" = 3 ] || fail 'expected three violations and no more'

# The dialect decides what a keyword means.
echo '{"$ref": "#/definitions/any", "type": "string", "definitions": {"any": true}}' >beside.json
run json check beside.json numbers.json --dialect draft-07
exits 0
run json check beside.json numbers.json --dialect 2020-12
exits 12
run json check beside.json numbers.json --dialect http://example.com/none
exits 2

# What $ref reaches comes from files: one by one, or a folder of them.
mkdir parts
echo '{"$id": "http://example.com/part", "type": "string"}' >parts/part.json
echo '{"title": "without an id"}' >parts/other.json
echo '{"items": {"$ref": "http://example.com/part"}}' >whole.json
run json check whole.json numbers.json
exits 2
complains 'http://example.com/part'
run json check whole.json numbers.json --ref http://example.com/part=parts/part.json
exits 12
run json check whole.json numbers.json --ref parts
exits 12
shows 'numbers.json: /0: '
run json check whole.json numbers.json --ref nonsense
exits 2
complains "--ref expects URI=FILE or a folder, but found 'nonsense'"
mkdir empty
run json check whole.json numbers.json --ref empty
exits 2
complains 'no .json file there has an $id'

# A document must not be able to drive the terminal.
echo '{"additionalProperties": {"type": "string"}}' >values.json
echo '{"a\u001b[2Jb": 1}' >hostile.json
run json check values.json hostile.json
exits 12
shows 'hostile.json: /a\u001b[2Jb: type: '

# What others take is taken, and said; what has no meaning is refused.
printf '%s\n' '{"$schema":"https://json-schema.org/draft-07/schema#","items":{"$id":"#/items","pattern":"^\\y{$"}}' >loose.json
echo '["y{"]' >fits.json
run json check loose.json fits.json
exits 0
complains 'baton: warning: loose.json: /items/$id: '
complains 'baton: warning: loose.json: /items/pattern: '
echo '{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}' >loop.json
run json check loop.json fits.json
exits 2
complains '/$defs/a → /$defs/b → /$defs/a'
