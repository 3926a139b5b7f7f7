# MCP as the TypeScript SDK of the older revisions finds it, over HTTP and stdio.
"$SOURCE/tools/client.sh" sdk_v1 "$BATON"
