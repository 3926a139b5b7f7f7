# adding.sh: the operation that docs/adding.md adds can be compiled, and answers.
#
# Its blocks go into copies of the files that the page names; all other objects are those of the
# build.
case $BATON in
*/asan/*) echo "the plain build has it" && exit 77 ;;
esac
objects=$SOURCE/build/release

# The n-th block of C of the page.
block() {
    awk -v n="$1" '/^```/ { open = !open; c = open && /^```c$/; at += c; next } c && at == n' \
        "$SOURCE/docs/adding.md"
}

{
    cat "$SOURCE/src/core/state.c"
    echo 'err state_count(struct tx *tx, str schema_name, int64_t *out);'
    block 1
} >state.c
{
    cat "$SOURCE/src/ops/states_read.c"
    echo 'err state_count(struct tx *tx, str schema_name, int64_t *out);'
    echo 'err state_count_op(struct tx *tx, const struct input *in, struct answer *out);'
    block 2
} >states_read.c
block 3 >entry
awk '/^(static )?const struct op [a-z_]*\[\] = \{/ && !done {
         print "err state_count_op(struct tx *tx, const struct input *in, struct answer *out);"
         print; while ((getline line <"entry") > 0) print line; done = 1; next }
     { print }' "$SOURCE/src/ops/states.c" >states.c
for file in state states_read states; do
    cc -std=gnu11 -Wall -Wextra -Werror -I"$SOURCE/src" -c -o $file.o $file.c
done
# shellcheck disable=SC2046 # many names
cc -o added $(cd "$SOURCE" && find src -name '*.c' ! -path src/core/state.c ! -path src/ops/states_read.c \
    ! -path src/ops/states.c | sed "s|\\(.*\\)c\$|$objects/\\1o|") state.o states_read.o states.o \
    -l:libpcre2-8.a -l:libsqlite3.a -l:libuv_a.a -lm -lpthread -ldl

export BATON_DATA="$PWD/data"
./added serve --listen 127.0.0.1:0 --runner off >said 2>log &
server=$!
trap 'kill $server; wait $server || true' EXIT
until grep -q listening said; do
    kill -0 $server
    sleep 0.05
done
echo true >any.json
./added schema create orders any.json >created
./added state create orders '{}' >created
./added state create orders '[]' >created
./added state count orders >count
grep -qx '{"count":2}' count
