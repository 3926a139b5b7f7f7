/* http_response.h: bytes → one HTTP/1.x response.
 *
 * Bytes may come in any pieces; the results are the same for all of them. The
 * response owns what it shows, in its arena. It knows the three ways in which a
 * body ends (a length, chunks, the end of the connection) and passes over
 * interim responses; 101 has no body: what follows is another protocol. It knows
 * no sockets, no time, and not what was asked. */
#ifndef CLIENT_HTTP_RESPONSE_H
#define CLIENT_HTTP_RESPONSE_H

#include "base/arena.h"
#include "base/err.h"

struct response_field {
    str name, value; /* the value without spaces around it */
};

struct response {
    int status;
    bool keep_alive; /* the connection may be used again */
    size_t field_count;
    struct response_field *fields; /* of the head */
    str body;                      /* without chunks */
};

/* In bytes; 0 is the default. */
struct response_limits {
    size_t head_max; /* of all lines that are not body, interim responses included: 64 KiB */
    size_t body_max; /* 64 MiB */
};

struct response_parser {
    struct arena *arena;
    struct response_limits limits;
    struct response response;

    uint8_t state;
    uint8_t minor; /* of HTTP/1.minor */
    bool has_length, chunked, closes;
    struct buf line, body; /* line: what came of one that has not ended */
    size_t head_bytes, field_room;
    uint64_t length;
    uint64_t left; /* of the body or the chunk */
};

/* Begins a response; `limits` may be NULL. A parser has nothing to release but the arena. */
void response_parser_init(struct response_parser *p, struct arena *a,
                          const struct response_limits *limits);

/* Reads on. `used` is how many of the bytes belong to this response: fewer than all of them only
 * when it is `done`, which comes again when called again. INTERNAL: this is not HTTP. TOO_LARGE:
 * more than the limits. After an error, the connection and the parser are of no more use. */
err response_parse(struct response_parser *p, str bytes, size_t *used, bool *done);

/* The connection has ended: NULL when that makes the response complete, else UNAVAILABLE. */
err response_end(struct response_parser *p);

/* Whether a byte of it has come. */
bool response_begun(const struct response_parser *p);

/* The kind of error that a status of 400 or more stands for. */
enum error_kind response_kind(int status);

/* The value of the first field of that name, in any case; false: there is none. */
bool response_value(const struct response *r, const char *name, str *value);

#endif
