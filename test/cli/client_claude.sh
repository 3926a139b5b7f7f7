# A child whose agent is a real Claude Code, with a scripted model.
"$SOURCE/tools/client.sh" claude "$BATON"
