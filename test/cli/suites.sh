# What only suites and tests ask for is not in the product, but in baton-suites.
. "${0%/*}/lib"

run json batch
exits 2
complains "there is no command 'batch'"
run serve --mcp-fixtures
exits 2
complains 'mcp-fixtures'
"$BATON-suites" serve --help | grep -q -e --mcp-fixtures || fail 'expected baton-suites to know --mcp-fixtures'
"$BATON-suites" json --help | grep -q '^  batch ' || fail 'expected baton-suites to know json batch'

if command -v nm >/dev/null; then
    nm "$BATON" >symbols
    grep -q ' program_main$' symbols || fail 'expected the names of functions in the product'
    ! grep -E ' (fixture_|fixtures_|mcp_fixtures|json_batch)' symbols || fail 'expected none of these in the product'
fi
