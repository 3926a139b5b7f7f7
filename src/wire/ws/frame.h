/* frame.h: WebSocket frames and the handshake's key, RFC 6455, for both ends.
 *
 * A pure codec: bytes in, events out, and messages in, bytes out. It is strict: a peer that breaks
 * a rule is refused with the close code of that rule. Does not know sockets, time, randomness or
 * what messages mean; when to answer a ping or a close is its caller's business. Extensions are
 * never negotiated, so reserved bits are always an error. */
#ifndef WIRE_WS_FRAME_H
#define WIRE_WS_FRAME_H

#include "base/err.h"
#include "base/str.h"

/* Which end we are: a server reads masked frames and writes plain ones, a client the reverse. */
enum websocket_role { WEBSOCKET_SERVER, WEBSOCKET_CLIENT };

/* Opcodes; and what an event can be, which is every one of them but the first, or a refusal. */
enum websocket_kind {
    WEBSOCKET_CONTINUATION = 0x0,
    WEBSOCKET_TEXT = 0x1,
    WEBSOCKET_BINARY = 0x2,
    WEBSOCKET_CLOSE = 0x8,
    WEBSOCKET_PING = 0x9,
    WEBSOCKET_PONG = 0xa,
    WEBSOCKET_REFUSED = 0x10, /* no opcode: the peer broke a rule, close with code and payload */
};

enum websocket_code {
    WEBSOCKET_NORMAL = 1000,
    WEBSOCKET_GOING_AWAY = 1001,
    WEBSOCKET_PROTOCOL_ERROR = 1002,
    WEBSOCKET_NO_CODE = 1005, /* a close frame without a code; never on the wire as a number */
    WEBSOCKET_BAD_TEXT = 1007,
    WEBSOCKET_POLICY = 1008,
    WEBSOCKET_TOO_BIG = 1009,
    WEBSOCKET_INTERNAL = 1011,
    WEBSOCKET_TRY_LATER = 1013,
};

enum {
    WEBSOCKET_MESSAGE_MAX = 1 << 20, /* the limit of messages when none is given */
    WEBSOCKET_HEADER_MAX = 14,
    WEBSOCKET_CONTROL_MAX = 125,
    WEBSOCKET_REASON_MAX = WEBSOCKET_CONTROL_MAX - 2,
    WEBSOCKET_KEY_BYTES = 16, /* of Sec-WebSocket-Key, before base64 */
};

/* ---- reading ---- */

struct websocket_event {
    enum websocket_kind kind;
    str payload;              /* CLOSE: the peer's reason; REFUSED: ours, fit for a close frame */
    enum websocket_code code; /* CLOSE: the peer's, or NO_CODE; REFUSED: ours */
};

struct websocket_reader {
    enum websocket_role role;
    enum { WEBSOCKET_IN_HEADER, WEBSOCKET_IN_PAYLOAD, WEBSOCKET_BROKEN, WEBSOCKET_ENDED } phase;

    /* The frame. */
    unsigned char header[WEBSOCKET_HEADER_MAX];
    unsigned header_len;       /* bytes of it that have come */
    size_t payload_len, taken; /* taken: bytes of the payload that have come */
    unsigned char key[4];      /* zeros where frames are not masked */
    char control[WEBSOCKET_CONTROL_MAX];

    /* The message, across its frames. */
    enum websocket_kind message; /* TEXT or BINARY; CONTINUATION: none has begun */
    char *at;
    size_t len, room, message_max;
    size_t valid;   /* of a text: its first bytes that are known to be UTF-8 */
    bool delivered; /* its bytes were given out, and go with the next call */

    enum websocket_code code; /* why it is broken */
    char reason[WEBSOCKET_REASON_MAX + 1];
};

/* `message_max` bounds a message over all its frames, and with it the memory of the reader;
 * 0 means WEBSOCKET_MESSAGE_MAX. */
void websocket_reader_init(struct websocket_reader *r, enum websocket_role role,
                           size_t message_max);
void websocket_reader_release(struct websocket_reader *r);

/* Takes bytes off the front of `bytes` up to the end of the next event. True with that event;
 * false when all bytes are taken and it is not complete. Its payload lives until the next call.
 * CLOSE or REFUSED is the last event: what comes behind it is taken and dropped. */
bool websocket_read(struct websocket_reader *r, str *bytes, struct websocket_event *out);

/* ---- writing ---- */

/* One whole message, or a ping or pong of at most WEBSOCKET_CONTROL_MAX bytes, as a server writes
 * it. The bytes are the same for every peer: a message for many subscribers is framed once. */
void websocket_frame(struct buf *out, enum websocket_kind opcode, str payload);

/* The same as a client writes it, with a key that nobody can foresee. */
void websocket_frame_masked(struct buf *out, enum websocket_kind opcode, str payload,
                            const unsigned char key[4]);

/* A close frame. The reason is cut to what fits, between characters, and before what is no UTF-8.
 * WEBSOCKET_NO_CODE, which answers a close without a code, sends neither code nor reason. */
void websocket_close(struct buf *out, enum websocket_code code, str reason);
void websocket_close_masked(struct buf *out, enum websocket_code code, str reason,
                            const unsigned char key[4]);

/* ---- the handshake ---- */

/* The client's Sec-WebSocket-Key, from random bytes. */
str websocket_key(struct arena *a, const unsigned char random[WEBSOCKET_KEY_BYTES]);

/* The server's Sec-WebSocket-Accept; INVALID when the key is not 16 bytes in base64. */
err websocket_accept(struct arena *a, str key, str *accept);

/* The client's look at Sec-WebSocket-Accept: INVALID when it does not belong to the key. */
err websocket_check_accept(struct arena *a, str key, str accept);

#endif
