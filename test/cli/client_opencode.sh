# A child whose agent is a real opencode, with a scripted model.
"$SOURCE/tools/client.sh" opencode "$BATON"
