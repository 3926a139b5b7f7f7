#!/bin/sh
# page-test.sh: tests of the page, and pictures of it.
#
#   tools/page-test.sh types            the types of web/
#   tools/page-test.sh parts            what needs no browser
#   tools/page-test.sh browser [WORDS]  all of it in Chromium; tests with these words in their names
#   tools/page-test.sh shots FOLDER     pictures of every view
#   tools/page-test.sh bench            how long the first view takes with 10,000 sessions
#   tools/page-test.sh install          what the last three need from npm, into build/web/npm
#
# Status 77, with a line that says why, where something is not installed: `make test-page` installs it.
set -eu
cd "$(dirname "$0")/.."

npm=$PWD/build/web/npm
export BATON="${BATON:-$PWD/build/baton}" NODE_PATH="$npm/node_modules" AXE="$npm/node_modules/axe-core/axe.min.js"

missing() {
    echo "$1 is not installed: make test-page installs it"
    exit 77
}

# As one file for node.
bundle() {
    mkdir -p build/web/test
    esbuild "web/test/$1.ts" --bundle --platform=node --external:playwright-core --log-level=warning \
        --outfile="build/web/test/$1.cjs"
}

browser() {
    command -v node >/dev/null || missing nodejs
    [ -x "${CHROMIUM:-/usr/bin/chromium}" ] || missing chromium
    [ -d "$NODE_PATH/playwright-core" ] || missing playwright-core
    [ -e "$AXE" ] || missing axe-core
    bundle "$1"
}

case $1 in
types)
    command -v tsc >/dev/null || missing node-typescript
    tsc -p web
    ;;
parts)
    command -v node >/dev/null || missing nodejs
    for file in web/test/*.test.ts; do
        name=$(basename "$file" .ts)
        bundle "$name"
        node "build/web/test/$name.cjs"
    done
    ;;
browser)
    browser page
    node build/web/test/page.cjs "${2-}"
    ;;
shots)
    browser shots
    node build/web/test/shots.cjs "$2" "${3-}"
    ;;
bench)
    browser bench
    node build/web/test/bench.cjs
    ;;
install)
    mkdir -p "$npm"
    for package in playwright-core axe-core; do
        [ -d "$npm/node_modules/$package" ] || npm install --silent --no-fund --no-audit --prefix "$npm" "$package"
    done
    ;;
esac
