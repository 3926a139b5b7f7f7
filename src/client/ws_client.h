/* ws_client.h: a WebSocket to a server, blocking.
 *
 * Answers pings and the closing handshake by itself; its user sees text messages
 * and the end. Does not know what messages mean, and does not connect again. */
#ifndef CLIENT_WS_CLIENT_H
#define CLIENT_WS_CLIENT_H

#include "client/endpoint.h"

struct ws_client;

/* Connects and shakes hands. The server's own refusal comes as the error kind of its status;
 * UNAVAILABLE: there is no server, or not in time. */
err ws_client_open(struct arena *a, const struct endpoint *p, const char *path, int64_t timeout_ms,
                   struct ws_client **out);
void ws_client_free(struct ws_client *c);

err ws_client_send(struct ws_client *c, struct arena *a, str text, int64_t timeout_ms);

/* The next message, which lives in the arena. UNAVAILABLE: the connection has ended, or not even a
 * ping came for so long. */
err ws_client_next(struct ws_client *c, struct arena *a, int64_t silence_ms, str *out);

#endif
