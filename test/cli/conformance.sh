# The server in fixture mode, as the conformance suite of MCP finds it.
"$SOURCE/tools/conformance.sh" "$BATON-suites"
