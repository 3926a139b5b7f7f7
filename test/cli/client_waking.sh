# Idle clients that a person runs are woken when an agent that they have started is done.
"$SOURCE/tools/client.sh" waking "$BATON"
