# MCP as the TypeScript SDK of both eras finds it, in each of its modes, over HTTP and stdio.
"$SOURCE/tools/client.sh" sdk_v2 "$BATON"
