# The workers of the documentation, as they stand there, do a job of a real server each.
. "${0%/*}/lib"

# The first block of a language that has the text in it.
block() {
    awk -v fence="^\`\`\`$1\$" -v mark="$2" '
        $0 ~ fence { inside = 1; text = ""; next }
        inside && /^```$/ { inside = 0; if (index(text, mark)) { printf "%s", text; exit } }
        inside { text = text $0 "\n" }' "$SOURCE/docs/workers.md"
}

mkdir bin
ln -s "$BATON" bin/baton
PATH="$PWD/bin:$PATH"
serve --runner off
for mark in 'workflow deploy' 'token create'; do
    block sh "$mark" >block.sh
    sh -eu block.sh >/dev/null || { echo "the block with '$mark' fails"; exit 1; }
done

# works NAME PROGRAM FILE: a worker greets whoever waits, and one that is given no name fails for its own
# reason and not for ours.
ran=0
works() {
    command -v "$2" >/dev/null || return 0
    [ -s "$3" ] || { echo "the page has no worker in $1"; exit 1; }
    run execution start greet '{"name":"Ann"}' -q
    exits 0
    id=$(cat out)
    BATON_URL="$url" BATON_TOKEN_FILE="$PWD/greeter.token" \
        "$2" "$3" >"$1.log" 2>&1 &
    worker=$!
    run execution get "$id" --wait ended --timeout 30
    kill "$worker"
    wait "$worker" 2>/dev/null || :
    grep -q '"status":"COMPLETED"' out || { cat "$1.log"; fail "$1: expected the end"; }
    shows '"result":"Hello, Ann!"'
    ran=$((ran + 1))
}

block python urllib >worker.py
block javascript 'fetch(' >worker.js
block bash 'ask()' >worker.sh
works python python3 worker.py
works node node worker.js
command -v curl >/dev/null && works shell sh worker.sh
[ "$ran" -gt 0 ] || { echo 'neither python3 nor node nor curl is here'; exit 77; }
