# The server's WebSocket, as a library that others wrote finds it.
. "${0%/*}/lib"

export BATON_CLIENTS="${BATON_CLIENTS:-$HOME/.cache/baton-clients}"
if ! command -v node >/dev/null || [ ! -d "$BATON_CLIENTS/node_modules/ws" ]; then
    echo 'the library ws of Node.js is not here: make test-clients gets it'
    exit 77
fi

export BATON_PING_TIME=50ms
serve --runner off
BATON_URL=$url BATON_TOKEN=$(cat data/operator.token) BATON_PID=$server \
    node "${0%/*}/../clients/ws.mjs" || { cat serve.log; exit 1; }
wait "$server" || { echo 'the server did not end in peace:'; cat serve.log; exit 1; }
