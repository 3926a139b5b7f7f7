# batch over a pipe: an answer for each line, at once, whatever the lines hold.
. "${0%/*}/lib"

cat >requests <<'END'
{"op":"start","dialect":"https://json-schema.org/draft/2020-12/schema"}

{"op":"validate","schema":{"type":"integer"},"instances":[1,1.0,"1"]}
not JSON
{"id":7,"op":"diff","a":{"x":1},"b":{"x":1.0}}
{"op":"patch","doc":{"n":1.50},"patch":[]}
END
printf '{"op":"canonical","doc":[1.0]}' >>requests # the last line has no end

status=0
what='baton-suites json batch'
"$BATON-suites" json batch <requests >out 2>err || status=$?
exits 0
silent
[ "$(wc -l <out)" = 6 ] || fail 'expected six answers'
grep -v '"error"' out >answers
cat >expected <<'END'
{"ok":true}
{"results":[true,true,false]}
{"id":7,"result":[]}
{"result":{"n":1.50}}
{"result":"[1]"}
END
cmp -s answers expected || fail 'expected the answers in the order of the requests'
[ "$(sed -n '3s/{"error":.*/error/p' out)" = error ] || fail 'expected an error for line 4'

# An answer comes before the next request is sent.
mkfifo to from
"$BATON-suites" json batch <to >from &
exec 3>to 4<from
for n in 1 2 3; do
    echo "{\"op\":\"pointer\",\"doc\":[$n],\"pointer\":\"/0\"}" >&3
    read -r answer <&4
    [ "$answer" = "{\"result\":$n}" ] || fail "expected $n, but found $answer"
done
exec 3>&- 4<&-
wait $!

# A line that is too long is answered and skipped to its end.
{
    head -c 68157440 /dev/zero | tr '\0' x
    echo
    echo '{"op":"fmt","doc":1}'
} | "$BATON-suites" json batch >out
cat >expected <<'END'
{"error":"expected a line of at most 67108864 bytes"}
{"result":"1"}
END
cmp -s out expected || fail 'expected an error, then an answer'
