# A child whose agent is a real Codex, with a scripted model.
"$SOURCE/tools/client.sh" codex "$BATON"
