/* ws.h: what the files of a WebSocket connection know of each other. Private to them.
 *
 * ws.c          the handshake, tokens, time, closing
 * message.c  what messages ask for, and what is answered */
#ifndef WIRE_WS_WS_H
#define WIRE_WS_WS_H

#include "wire/hub.h"
#include "wire/lag.h"
#include "wire/ws/frame.h"

struct ws {
    struct conn *conn; /* NULL: gone, but its token is still being looked up */
    struct server *server;
    struct websocket_reader reader;
    struct charge charge; /* for what came and was not understood yet */
    struct list subs;
    uint32_t sub_count;
    struct lag lag;
    int64_t heard_ms; /* the last time that something came */
    int pings;        /* sent since then */
    bool closing;     /* our close frame is sent */
    bool admitting;   /* a token is being looked up */
    struct grant_wait grant_wait;
    bool asked;  /* the token came in a message */
    char *early; /* bytes that came meanwhile */
    size_t early_len;
};

/* ---- message.c ---- */

/* What is to be done about a message beyond an answer; its texts live in the arena. */
struct ws_outcome {
    str token; /* it shows one; empty: none */
    str close; /* why the connection is not to go on; empty: it does */
};

struct ws_outcome ws_message(struct ws *ws, struct arena *a, enum websocket_kind kind, str payload);
void ws_say_authenticated(struct ws *ws);
void ws_resume_all(struct ws *ws);
void ws_unsubscribe_all(struct ws *ws);

#endif
