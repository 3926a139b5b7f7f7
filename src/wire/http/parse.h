/* parse.h: bytes → one HTTP/1.x request.
 *
 * Bytes may come in any pieces; the results are the same for all of them. A
 * piece is looked at once, taken as far as the request goes, and can be thrown
 * away after the call: the request owns what it shows, in its arena, so it can
 * travel to another thread while the connection reads on.
 *
 * It is strict, because what two programs on one connection read differently is
 * how requests are smuggled: what RFC 9112 lets a server repair is refused. It
 * knows no routes, no tokens, no sockets and no time. */
#ifndef WIRE_HTTP_PARSE_H
#define WIRE_HTTP_PARSE_H

#include "base/arena.h"

/* In bytes without the CR LF; 0 is the default. A trailer's fields count with those of the head. */
struct http_limits {
    uint32_t request_line_max; /* 8 KiB; beyond it 414 */
    uint32_t field_max;        /* of one name, colon and value: 8 KiB; 431 */
    uint32_t fields_max;       /* of all of them: 32 KiB; 431 */
    uint32_t field_count_max;  /* 64; 431 */
    uint64_t body_max;         /* 4 MiB; 413 */
};

struct http_field {
    str name, value; /* the value without spaces around it */
};

struct http_request {
    str method;
    str target;      /* as it was sent */
    str path, query; /* still percent-encoded, the query without its '?'; dots are not resolved */
    str host;        /* of the target, else of Host; empty where HTTP/1.0 names none */
    uint8_t minor;   /* of HTTP/1.minor: 0 or 1 */
    bool has_length; /* Content-Length was sent: content_length is the body's */
    bool chunked;
    bool keep_alive;      /* the connection may be used again */
    bool upgrade;         /* Connection asks for what the field Upgrade names */
    bool expect_continue; /* there is a body, and its sender waits for 100 */
    uint32_t field_count;
    struct http_field *fields;
    uint64_t content_length;
    str body; /* without the chunks; whole at HTTP_REQUEST_DONE */
};

enum http_result {
    HTTP_NEED_MORE,
    HTTP_HEAD_DONE,    /* all but the body: time to refuse it, or to send 100; then call again */
    HTTP_REQUEST_DONE, /* bytes after `used` are the next request's */
    HTTP_REFUSED,      /* answer with status and message, and close the connection */
};

struct http_parser {
    struct arena *arena;
    struct http_limits limits; /* body_max may be made smaller at HTTP_HEAD_DONE */
    struct http_request request;
    int status; /* of a refusal, which is for good; 0: none */
    str message;

    uint8_t state;
    uint8_t saw;     /* fields of the head, see head.c */
    struct buf line; /* what came of a line that has not ended */
    struct buf body;
    uint32_t field_room, field_bytes, extension_bytes, trailer_count;
    uint64_t left; /* of the body or the chunk */
};

/* Begins a request; `limits` may be NULL. A parser has nothing to release but the arena. */
void http_parser_init(struct http_parser *p, struct arena *a, const struct http_limits *limits);

/* Reads on. `used` is how many of the bytes belong to this request; fewer than all of them only
 * with a result other than HTTP_NEED_MORE. HTTP_HEAD_DONE comes once before HTTP_REQUEST_DONE, also
 * where there is no body; the last two results come again when called again. */
enum http_result http_parse(struct http_parser *p, str bytes, size_t *used);

/* The value of the first field of that name, in any case; false: there is none. */
bool http_header(const struct http_request *r, const char *name, str *value);
uint32_t http_header_count(const struct http_request *r, const char *name);

/* The values of all fields of that name as one list, which is what several of them mean. */
bool http_header_list(struct arena *a, const struct http_request *r, const char *name, str *list);

bool http_same_bytes(const char *a, const char *b, size_t len);

/* Equal but for the case of ASCII letters. */
static inline bool http_same(str a, str b)
{
    return a.len == b.len && http_same_bytes(a.at, b.at, a.len);
}

/* Whether it can be a name; whether it can be a value, as printable text with spaces and tabs. */
bool http_is_token(str s);
bool http_is_value(str s);

#endif
