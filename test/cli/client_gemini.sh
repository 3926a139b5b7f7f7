# A child whose agent is a real Gemini CLI, with a scripted model.
"$SOURCE/tools/client.sh" gemini "$BATON"
