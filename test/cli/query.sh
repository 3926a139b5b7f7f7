# pointer, path, feel and fmt.
. "${0%/*}/lib"

cat >order.json <<'END'
{"id": "o1", "items": [{"name": "cup", "price": 1e1}, {"name": "pot\u0021", "price": 30.00}],
 "a/b": {"~": null}, "big": 12345678901234567890123}
END

run json pointer order.json /items/1/name
exits 0
prints '"pot!"'
run json pointer order.json /items/1/name --raw
prints 'pot!'
run json pointer order.json /a~1b/~0
prints 'null'
run json pointer order.json /big
prints '12345678901234567890123'
run json pointer order.json /items/7
exits 5
prints
complains 'baton: '
run json pointer order.json items
exits 2

run json path order.json '$.items[?@.price > 10].name'
exits 0
prints '"pot!"'
run json path order.json '$.items[*].price'
prints '1e1
30.00'
run json path order.json '$..name' --paths
prints "\$['items'][0]['name']
\$['items'][1]['name']"
run json path order.json '$..name' --pointers
prints '/items/0/name
/items/1/name'
run json path order.json '$.id' --json
prints "{\"path\":\"\$['id']\",\"pointer\":\"/id\",\"value\":\"o1\"}"
run json path order.json '$.nothing'
exits 0
prints
run json path order.json '$.['
exits 2
prints

run json feel 'items[price > 10].name' order.json
exits 0
prints '["pot!"]'
silent
run json feel 'items[1].name' order.json --raw
prints 'cup'
run json feel '0.1 + 0.2'
prints '0.3'
run_on '{"a":2}' json feel '= a * big > 1' -
exits 0
prints 'null'
complains "column 7: there is no variable 'big'"
run_on '{"a":2}' json feel 'a * big > 1' - --json
prints 'null'
silent
run json feel 'a == 1' order.json
exits 2
prints
complains "column 3: expected an operator or the end, found '=': equality is one '=' in FEEL"
run json feel 'for a in 1..1e9 return a'
exits 13
complains 'takes too many steps'
run_on '[1]' json feel 'a' -
exits 2
complains 'expected an object of variables in standard input, found array'
run json feel 1 missing.json
exits 5

run_on '{"b":[],"a":{"x":1.0}}' json fmt
prints '{
  "b": [],
  "a": {
    "x": 1.0
  }
}'
run_on '{"b": [ ],"a" :1.0}' json fmt --compact
prints '{"b":[],"a":1.0}'
run_on '{"b": [ ],"a" :1.0}' json fmt --canonical
[ "$(od -c <out)" = "$(printf '{"a":1,"b":[]}' | od -c)" ] || fail 'expected no newline'

# Colours change nothing but colours; NO_COLOR wins.
"$BATON" json fmt order.json >plain
CLICOLOR_FORCE=1 "$BATON" json fmt order.json >coloured
! cmp -s plain coloured
escape=$(printf '\033')
sed "s/$escape\[[0-9]*m//g" coloured | cmp - plain
grep -qF "${escape}[36m\"id\"${escape}[0m: ${escape}[32m\"o1\"${escape}[0m" coloured
NO_COLOR=1 CLICOLOR_FORCE=1 "$BATON" json fmt order.json | cmp - plain

# What is printed as it is goes to programs as it is, and drives no terminal.
printf '"a\\u001b[2Jb\\tc\\nd"' >text.json
run json pointer --raw text.json ''
exits 0
printf 'a\033[2Jb\tc\nd\n' | cmp -s - out || fail 'expected the text as it is'
command -v script >/dev/null || exit 0
TERM=dumb script -qec "$BATON json pointer --raw text.json ''" /dev/null </dev/null | tr -d '\r' >out
printf 'a\\u001b[2Jb\tc\nd\n' | cmp -s - out || fail 'expected a terminal not to be driven'
