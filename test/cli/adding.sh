# adding.sh: what docs/adding.md adds, an operation and a column, can be compiled and answers.
#
# Its diffs are applied to a copy of the sources. Objects that depend on a file that was changed are
# compiled anew; all others are those of the build.
case $BATON in
*/asan/*) echo "the plain build has it" && exit 77 ;;
esac
objects=$SOURCE/build/release

cp -R "$SOURCE/src" src
ln -s "$SOURCE/profiles" profiles
awk '/^```/ { open = !open; diff = open && /^```diff$/; next } diff' "$SOURCE/docs/adding.md" >added.diff
patch -p1 <added.diff >patched || { cat patched; exit 1; }
changed=$(sed -n 's|^+++ b/||p' added.diff)
anew='' old=''
# shellcheck disable=SC2044 # names of our own
for file in $(find src -name '*.c'); do
    # shellcheck disable=SC2086 # names of our own
    if grep -qF "$(printf '%s\n' $changed)" "$objects/${file%c}d"; then
        anew="$anew $file"
    else
        old="$old $objects/${file%c}o"
    fi
done
# shellcheck disable=SC2016,SC2086 # many names
echo $anew | xargs -P 2 -n 8 sh -eu -c '
    for file; do cc -std=gnu11 -Wall -Wextra -Werror -Isrc -I. -c -o "${file%c}o" "$file"; done' sh
# shellcheck disable=SC2046,SC2086 # many names
cc -o added $old $(echo $anew | sed 's/\.c\>/.o/g') \
    -l:libpcre2-8.a -l:libsqlite3.a -l:libuv_a.a -lm -lpthread -ldl

# A database of the program before is brought to the new step.
export BATON_DATA="$PWD/data"
start() {
    : >said # or what the one before has said is taken for its own
    "$1" serve --listen 127.0.0.1:0 --runner off >said 2>log &
    server=$!
    until grep -q listening said; do
        kill -0 $server
        sleep 0.05
    done
}
stop() {
    kill $server
    wait $server || true
}
start "$BATON"
trap stop EXIT
"$BATON" session create --session-name early >created
stop
start ./added
./added session create --session-name late >created
echo true >any.json
./added schema create orders any.json >created
./added state create orders '{}' >created
./added state create orders '[]' >created
./added state count orders >count
grep -qx '{"count":2}' count
stop
trap - EXIT
./added store check --deep >checked || { cat checked; exit 1; }
./added store copy --from "$BATON_DATA/baton.db" --to copy.db >copied 2>&1 || { cat copied; exit 1; }
