#!/bin/sh
# page.sh: bundles web/ and packs it into one file, which becomes part of the program.
#
#   tools/page.sh build/web/page.pack
#
# The pack begins with a line for each file: its path, its type, how many bytes it has plain and
# gzip'd; then an empty line, and the bytes in that order. src/wire/http/page.c reads it.
set -eu
cd "$(dirname "$0")/.."

pack=$1
out=${pack%/*}/page
rm -rf "$out"
mkdir -p "$out"

if ! command -v esbuild >/dev/null; then
    echo "page.sh: esbuild is missing, which bundles the page: scripts/setup build installs it" >&2
    exit 1
fi

# Debian's DOMPurify 2.4.1+deb12u1 asks in sanitize() for a `shadowNode` that it has in another function
# only, and so throws whatever it is given. What it wants to know there is how deep that node lies, which
# nothing has noted by then: so an object that lies nowhere answers as the patch meant it.
# Names have the sum of what is in them, so that browsers keep them for good. What is only needed now
# and then is a file of its own.
esbuild web/main.ts web/style.css --bundle --minify --splitting --format=esm --target=es2020 \
    --charset=utf8 --log-level=warning --entry-names='[name]-[hash]' --chunk-names='[name]-[hash]' \
    --define:shadowNode=document \
    --alias:marked=/usr/share/javascript/marked/marked.umd.js \
    --alias:dompurify=/usr/share/nodejs/dompurify/dist/purify.es.js \
    --outdir="$out"

script=$(cd "$out" && ls main-*.js)
style=$(cd "$out" && ls style-*.css)
sed -e "s|style.css|page/$style|" -e "s|main.js|page/$script|" web/index.html >"$out/index.html"

bytes() { wc -c <"$1" | tr -d ' '; }

entry() {
    gzip -9 -n -c "$out/$2" >"$out/$2.gz"
    printf '%s\t%s\t%s\t%s\n' "$1" "$3" "$(bytes "$out/$2")" "$(bytes "$out/$2.gz")"
    cat "$out/$2" "$out/$2.gz" >>"$out/bytes"
}

: >"$out/bytes"
{
    entry / index.html 'text/html; charset=utf-8'
    for file in $(cd "$out" && ls *.js *.css); do
        case $file in
        *.js) entry "/page/$file" "$file" 'text/javascript; charset=utf-8' ;;
        *.css) entry "/page/$file" "$file" 'text/css; charset=utf-8' ;;
        esac
    done
    echo
} >"$out/lines"
cat "$out/lines" "$out/bytes" >"$pack"

# What a browser loads for the first view.
first=0
for file in index.html "$script" "$style"; do
    first=$((first + $(bytes "$out/$file.gz")))
done
if [ "$first" -gt 102400 ]; then
    echo "page.sh: the first view is $first bytes compressed, and may be 102400" >&2
    exit 1
fi
