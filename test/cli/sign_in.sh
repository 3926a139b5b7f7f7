# A page signs in by a code: once, in time, from this server's own origin, and with no more rights than
# were asked for.
. "${0%/*}/lib"

command -v curl >/dev/null || { echo 'curl is not installed'; exit 77; }
serve --runner off
status=0 what='the page' type='Content-Type: application/json'

# ask METHOD PATH [CURL'S OPTIONS]: the status is then in $got, the body in ./out.
ask() {
    what="$1 $2"
    method=$1 path=$2
    shift 2
    : >err
    got=$(curl -s -o out -w '%{http_code}' -X "$method" -H "$type" "$@" "$url$path")
}
is() {
    [ "$got" = "$1" ] || fail "$what: expected $1, found $got"
}
exchange() {
    code=$1
    shift
    ask POST /sign-in -d "{\"code\":\"$code\"}" "$@"
}
member() {
    sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" out
}
new_code() {
    run open --print "$@"
    exits 0
    code=$(sed -n "s|^$url/#code=\(cd_[a-z0-9]*\.[A-Za-z0-9_-]*\)\$|\1|p" out)
    [ -n "$code" ] || fail "expected an address with a code"
}

# The operator's: once.
new_code --as ann
exchange "$code"
is 200
token=$(member token) id=$(member token_id)
[ "$(member name)" = ann ] && [ "$(member kind)" = operator ] || fail 'expected the token of ann'
exchange "$code"
is 401
shows 'was used'
exchange cd_none.x
is 401

# It acts under that name, makes no tokens, is listed, and ends when it is revoked.
bearer="Authorization: Bearer $token"
ask POST /workflow-schemas -H "$bearer" -d '{"name":"notes","json_schema":true}'
is 201
ask GET '/events?limit=5' -H "$bearer"
shows '"actor":"ann"'
ask POST /tokens -H "$bearer" -d '{"kind":"operator"}'
is 403
ask POST /tokens/codes -H "$bearer" -d '{}'
is 403
run token list
shows "$id"
run token revoke "$id"
exits 0
ask GET /sessions -H "$bearer"
is 401

# A viewer's: sees, and does not act; it can put its own token away.
new_code --viewer
exchange "$code"
is 200
token=$(member token) id=$(member token_id)
bearer="Authorization: Bearer $token"
ask GET /sessions -H "$bearer"
is 200
ask POST /workflow-schemas -H "$bearer" -d '{"name":"more","json_schema":true}'
is 403
ask GET /tokens -H "$bearer"
is 403
ask DELETE "/tokens/$id" -H "$bearer"
is 204
ask GET /sessions -H "$bearer"
is 401

# A code is no token.
new_code
ask GET /sessions -H "Authorization: Bearer $code"
is 401

# Not for pages of other sites, nor under another name, nor what they could send unasked.
exchange "$code" -H 'Origin: http://evil.example'
is 403
exchange "$code" -H 'Host: evil.example'
is 421
type='Content-Type: text/plain' ask POST /sign-in -d "{\"code\":\"$code\"}"
is 415
ask POST /sign-in -d "{\"code\":\"$(printf '%600s' '')\"}"
is 413
ask POST /sign-in -d '[]'
is 400
ask GET /sign-in
is 405
exchange "$code" -H "Origin: $url"
is 200

# A browser is started with the address of a file that only its owner can read, and not with the code:
# others see what programs are started with. The files of calls whose codes are over go.
if command -v script >/dev/null; then
    cat >browser <<'END'
#!/bin/sh
for word in "$@"; do printf '%s\n' "$word"; done >argv
path=${1#file://}
stat -c %a "$path" >mode
cat "$path" >page
mv argv started
END
    chmod +x browser
    old=$PWD/data/open-00000000000000000000000000000000.html
    touch -d '1 minute ago' "$old"
    what='baton open, in a terminal' status=0
    BROWSER=$PWD/browser script -qec "$BATON open --as eve" /dev/null >out 2>err </dev/null || status=$?
    exits 0
    shows "opening $url"
    ! grep -q 'code=' out || fail 'expected no code on the screen'
    until [ -e started ]; do sleep 0.05; done
    [ "$(wc -l <started)" = 1 ] && grep -q "^file://$PWD/data/open-[0-9a-f]\{32\}\.html\$" started ||
        fail "expected one file, found $(cat started)"
    [ "$(cat mode)" = 600 ] || fail "expected a file of its owner alone, found $(cat mode)"
    ! grep -q '<script' page || fail 'expected no script'
    code=$(sed -n "s|.*content=\"0;url=$url/#code=\([^\"]*\)\".*|\1|p" page)
    grep -qF "<a href=\"$url/#code=$code\">" page || fail 'expected a link to the same address'
    [ ! -e "$old" ] || fail 'expected the file of an earlier call to be removed'
    exchange "$code"
    is 200
    [ "$(member name)" = eve ] || fail 'expected the token of eve'

    # Where no file can be made, the address is printed.
    what='baton open, without a data directory' status=0
    BATON_TOKEN=$(cat data/operator.token) BATON_URL=$url BATON_DATA=$PWD/none BROWSER=$PWD/browser \
        script -qec "$BATON open" /dev/null >out 2>err </dev/null || status=$?
    exits 0
    shows "cannot make a file in $PWD/none"
    shows "$url/#code=cd_"
fi

# Who tries too often waits; the operator, who has a token, does not.
tries=0
while exchange cd_none.x && [ "$got" = 401 ]; do
    tries=$((tries + 1))
    [ $tries -lt 2000 ] || fail 'expected an end of tries'
done
is 429
run status
exits 0
stop
