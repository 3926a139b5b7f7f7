# What clients of agents find in a project that baton init has wired.
"$SOURCE/tools/client.sh" lists "$BATON"
