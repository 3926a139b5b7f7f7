# Files and standard input, and what is said when they cannot be read.
. "${0%/*}/lib"

echo '{"a":1}' >a.json

run_on '[1, 2]' json fmt - --compact
exits 0
prints '[1,2]'
run_on '[1, 2]' json fmt --compact
prints '[1,2]'
run_on '{"a":2}' json diff a.json - --json
exits 0
shows '"value":2'

run_on '{}' json diff - -
exits 2
complains "standard input can be read only once, but '-' is given twice"

run json fmt missing.json
exits 5
prints
complains 'cannot read missing.json: No such file or directory'

mkdir folder
run json fmt folder
exits 2
complains 'cannot read folder: Is a directory'

printf '{"a": tru}' >bad.json
run json fmt bad.json
exits 2
complains 'baton: bad.json: '
complains 'line 1'
run_on '' json fmt
exits 2
complains 'baton: standard input: '

# With --json an error is an object too.
run json fmt bad.json --json
exits 2
grep -q '^{"error":"bad.json: .*}$' err || fail 'expected an object with "error"'
"$BATON" json fmt err >/dev/null || fail 'expected the error to be JSON'

# The first that fails ends it; what was formatted before stays.
run json fmt a.json missing.json --compact
exits 5
prints '{"a":1}'

# What is too large or too deep is refused while it is read, not after.
head -c 3000000 /dev/zero | tr '\0' '[' >deep.json
run json fmt deep.json
exits 2
complains 'deep.json: expected at most 64 containers inside each other, found more within the first '
grep -q 'the first 3000000 bytes' err && fail 'expected it not to be read to its end'
printf '["[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\"[["]' >quoted.json
run json fmt quoted.json --compact
exits 0

# How deep is for the caller to say, up to where the parser itself ends.
eighty=$(printf '%080d' 0)
printf '%s1%s' "$(echo "$eighty" | tr 0 '[')" "$(echo "$eighty" | tr 0 ']')" >eighty.json
run json fmt eighty.json --compact
exits 2
complains 'expected at most 64 containers'
run json fmt eighty.json --compact --max-depth 80
exits 0
prints "$(cat eighty.json)"
run json fmt eighty.json --max-depth 79
exits 2
complains 'expected at most 79 containers'
printf '[{"op":"add","path":"/0/0/0","value":[]}]' >deeper.json
run_on '[[[]]]' json patch - deeper.json --max-depth 3
exits 9
complains 'more than 3 containers inside each other'
run_on "$(cat eighty.json)" json patch - deeper.json --max-depth 80
exits 0
run json fmt a.json --max-depth 1025
exits 2
complains "--max-depth expects a number from 1 to 1024, but found '1025'"
run json fmt a.json --max-bytes 4
exits 9
complains 'a.json is larger than 4 bytes'
run_on '[1,2,3]' json fmt --max-bytes 4
exits 9
complains 'standard input is larger than 4 bytes'
run json fmt a.json --max-bytes 0
exits 2
complains "--max-bytes expects a number from 1 to 1073741824, but found '0'"
