# MCP as the Inspector finds it, over HTTP and stdio.
"$SOURCE/tools/client.sh" inspector "$BATON"
