# Every shell block of README.md and docs/*.md does what it shows.
#
# The blocks of a page run one after the other in one shell, in an empty directory, beside a server
# of their own. What runs until it is ended (watch, serve) runs in the background; make says what it
# would do, since this is a part of `make test` itself. A command that fails fails the page.
. "$SOURCE/test/cli/lib"

# Blocks that are marked as shell, and those that begin with a command of ours.
blocks() {
    awk '/^```/ {
             if (inside && (shell || text ~ /^(baton|make|curl) /)) print text
             inside = !inside; shell = $0 == "```sh"; text = ""; next
         }
         inside { text = text $0 "\n" }' "$1"
}

page() {
    blocks "$1" >block.sh
    [ -s block.sh ] || return 0
    count=$((count + 1))
    mkdir page
    (cd page && exec bash -eu -c '
        baton() {
            case ${1-} in
            watch | serve) timeout 20 "$BATON" "$@" >>background 2>&1 & ;;
            *) "$BATON" "$@" ;;
            esac
        }
        make() { env -u MAKEFLAGS -u MAKELEVEL make -n -C "$SOURCE" "$@" >/dev/null; }
        TOKEN=$(cat "$BATON_DATA/operator.token")
        cp -r "$SOURCE/docs" .
        . ../block.sh
        for job in $(jobs -p); do kill "$job" 2>/dev/null || :; done' </dev/null >log 2>&1) ||
        { echo "${1#"$SOURCE/"}: a block fails:"; cat page/log; exit 1; }
    rm -rf page
}

count=0
serve
export BATON SOURCE URL="$url"
for file in "$SOURCE"/README.md "$SOURCE"/CONTRIBUTING.md "$SOURCE"/docs/*.md; do
    page "$file"
done
[ "$count" -gt 1 ] || { echo "expected more than one page with shell blocks, found $count"; exit 1; }
