# Output that nobody reads any more ends quietly; output that cannot be written is an error.
. "${0%/*}/lib"

[ -c /dev/full ] || { echo 'there is no /dev/full here'; exit 77; }

status=0
echo '[1]' | "$BATON" json fmt >/dev/full 2>err || status=$?
: >out
what='baton json fmt >/dev/full'
exits 15
complains 'baton: cannot write to standard output: No space left on device'

status=0
printf '%s\n' '{"op":"fmt","doc":1}' '{"op":"fmt","doc":1}' |
    "$BATON-suites" json batch >/dev/full 2>err || status=$?
what='baton-suites json batch >/dev/full'
exits 15

# More than a pipe holds, to a reader that is gone, with SIGPIPE as it is and ignored.
awk 'BEGIN { printf "["; for (i = 0; i < 100000; i++) printf "%d,", i; print "0]" }' >long.json
{ "$BATON" json fmt long.json 2>err || echo $? >code; } | head -n 1 >out
silent
grep -q . code || fail 'expected to notice that nobody reads'
(
    trap '' PIPE
    { "$BATON" json fmt long.json 2>err || echo $? >code; } | head -n 1 >out
)
silent
[ "$(cat code)" = 141 ] || fail 'expected 141, as if the signal had ended it'
