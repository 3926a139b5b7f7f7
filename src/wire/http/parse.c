/* parse.c: a strict reader of HTTP/1.x requests, RFC 9112.
 *
 * A state is what is expected next; each has one function that takes it from
 * the bytes. The head, chunk sizes and trailers are read line by line, a line
 * only when it is whole, so that no result depends on how the bytes were cut.
 *
 * Where the RFC leaves a choice: one empty line before the request is skipped,
 * a second is refused; a target is a path, http://host/path, or * for OPTIONS;
 * the host of such a target must be the one of Host; the fields of a trailer
 * must be well-formed and are dropped. */
#include "wire/http/private.h"

#include <assert.h>

enum {
    CHUNK_LINE_MAX = 256,  /* a size and its extensions */
    EXTENSIONS_MAX = 4096, /* of a whole body */
    CHUNK_DIGITS_MAX = 16, /* what 64 bits hold */
};

enum state {
    AT_START,      /* the request line, or one empty line before it */
    AT_LINE,       /* the request line */
    AT_FIELD,      /* a field, or the empty line behind them */
    AT_BODY,       /* the head was told */
    AT_CONTENT,    /* a body of known length */
    AT_CHUNK_SIZE, /* a chunk's first line */
    AT_CHUNK,      /* its bytes */
    AT_CHUNK_END,  /* the CR LF behind them */
    AT_TRAILER,    /* a field, or the empty line that ends all */
    AT_END,
};

/* ---- lines ---- */

/* Takes a line and its CR LF. False: it has not ended, or was refused. The line lives until the
 * next one is taken. */
static bool take_line(struct http_parser *p, str *rest, size_t most, str *line)
{
    size_t room = most + 2 - p->line.len;
    size_t seen = rest->len < room ? rest->len : room;
    const char *end = seen ? memchr(rest->at, '\n', seen) : NULL;
    str piece = str_slice(*rest, 0, end ? (size_t)(end + 1 - rest->at) : seen);

    *rest = http_drop(*rest, piece.len);
    if (!end || p->line.len > 0)
        buf_add(&p->line, piece);
    if (!end)
        return false;
    *line = p->line.len > 0 ? (str){ p->line.at, p->line.len } : piece;
    p->line.len = 0;
    if (line->len < 2 || line->at[line->len - 2] != '\r')
        return parse_refuse(p, 400, "expected CR LF at the end of a line, found LF alone");
    line->len -= 2;
    return true;
}

/* Whether the line that take_line did not give can no longer be within its limit. */
static bool too_long(const struct http_parser *p, size_t most)
{
    return p->line.len == most + 2;
}

/* ---- the head ---- */

static bool take_request_line(struct http_parser *p, str *rest)
{
    str line;

    if (!take_line(p, rest, p->limits.request_line_max, &line)) {
        if (too_long(p, p->limits.request_line_max))
            return parse_refuse(p, 414, "expected a request line of at most %u bytes, found more",
                                (unsigned)p->limits.request_line_max);
        return false;
    }
    if (line.len == 0 && p->state == AT_START) {
        p->state = AT_LINE;
        return true;
    }
    p->state = AT_FIELD;
    return http_read_request_line(p, arena_copy(p->arena, line));
}

/* Takes one line of the fields, in the head or the trailer. */
static bool take_field_line(struct http_parser *p, str *rest, str *line)
{
    uint32_t left = p->limits.fields_max - p->field_bytes;
    uint32_t most = left < p->limits.field_max ? left : p->limits.field_max;

    if (take_line(p, rest, most, line)) {
        p->field_bytes += (uint32_t)line->len;
        if (line->len > 0 && p->request.field_count + p->trailer_count == p->limits.field_count_max)
            return parse_refuse(p, 431, "expected at most %u fields, found more",
                                (unsigned)p->limits.field_count_max);
        return true;
    }
    if (too_long(p, most) && most < left)
        return parse_refuse(p, 431, "expected a field of at most %u bytes, found more",
                            (unsigned)most);
    if (too_long(p, most))
        return parse_refuse(p, 431, "expected fields of at most %u bytes together, found more",
                            (unsigned)p->limits.fields_max);
    return false;
}

static void add_field(struct http_parser *p, struct http_field field)
{
    struct http_request *r = &p->request;

    if (r->field_count == p->field_room) {
        uint32_t room = p->field_room ? p->field_room * 2 : 16;
        r->fields = arena_grow(p->arena, r->fields, p->field_room * sizeof *r->fields,
                               room * sizeof *r->fields);
        p->field_room = room;
    }
    r->fields[r->field_count++] = field;
}

static bool take_field(struct http_parser *p, str *rest)
{
    struct http_field field;
    str line;

    if (!take_field_line(p, rest, &line))
        return false;
    if (line.len > 0) {
        if (!http_read_field(p, arena_copy(p->arena, line), &field))
            return false;
        add_field(p, field);
        return http_read_framing(p, field);
    }
    if (http_check_head(p))
        p->state = AT_BODY;
    return false; /* also when all is well: this is where the caller is told */
}

/* ---- the body ---- */

static bool begin_body(struct http_parser *p, str *rest)
{
    (void)rest;
    p->left = p->request.content_length;
    if (!http_check_length(p))
        return false;
    p->body = buf_in(p->arena);
    if (p->left > 0)
        buf_reserve(&p->body, p->left + 1); /* whoever lets it come has counted it */
    p->state = p->request.chunked ? AT_CHUNK_SIZE : AT_CONTENT;
    return true;
}

static bool end_body(struct http_parser *p)
{
    p->request.body = p->body.len > 0 ? buf_str(&p->body) : STR("");
    p->state = AT_END;
    return false;
}

/* Takes what has come of the bytes that are left; true when that was all. */
static bool take_bytes(struct http_parser *p, str *rest)
{
    str piece = str_slice(*rest, 0, p->left < rest->len ? (size_t)p->left : rest->len);

    buf_add(&p->body, piece);
    *rest = http_drop(*rest, piece.len);
    p->left -= piece.len;
    return p->left == 0;
}

static bool take_content(struct http_parser *p, str *rest)
{
    return take_bytes(p, rest) && end_body(p);
}

static bool read_chunk_size(struct http_parser *p, str line)
{
    uint64_t size = 0;
    size_t digits = 0;

    for (; digits < line.len && http_hex_digit(line.at[digits]) >= 0; digits++)
        size = size << 4 | (uint64_t)http_hex_digit(line.at[digits]);
    if (digits == 0 || digits > CHUNK_DIGITS_MAX || (digits < line.len && line.at[digits] != ';'))
        return parse_refuse(p, 400,
                            "expected the size of a chunk as 1 to %d hexadecimal digits, found %s",
                            CHUNK_DIGITS_MAX, http_found(p, line, digits));

    str extensions = http_drop(line, digits);
    p->extension_bytes += (uint32_t)extensions.len;
    if (!http_is_value(extensions))
        return parse_refuse(p, 400,
                            "expected no control bytes in the extension of a chunk, found %s",
                            http_found(p, extensions, http_value_span(extensions)));
    if (p->extension_bytes > EXTENSIONS_MAX)
        return parse_refuse(p, 400,
                            "expected chunk extensions of at most %d bytes together, found more",
                            EXTENSIONS_MAX);
    if (size > p->limits.body_max || p->body.len > p->limits.body_max - size)
        return parse_refuse(p, 413, "expected a body of at most %llu bytes, found more",
                            (unsigned long long)p->limits.body_max);
    p->left = size;
    p->state = size > 0 ? AT_CHUNK : AT_TRAILER;
    return true;
}

static bool take_chunk_size(struct http_parser *p, str *rest)
{
    str line;

    if (take_line(p, rest, CHUNK_LINE_MAX, &line))
        return read_chunk_size(p, line);
    if (too_long(p, CHUNK_LINE_MAX))
        return parse_refuse(
            p, 400, "expected a chunk's size and extensions in at most %d bytes, found more",
            CHUNK_LINE_MAX);
    return false;
}

static bool take_chunk(struct http_parser *p, str *rest)
{
    if (!take_bytes(p, rest))
        return false;
    p->state = AT_CHUNK_END;
    return true;
}

static bool take_chunk_end(struct http_parser *p, str *rest)
{
    str line;

    if (take_line(p, rest, 0, &line)) {
        p->state = AT_CHUNK_SIZE;
        return true;
    }
    if (too_long(p, 0))
        return parse_refuse(p, 400, "expected CR LF behind a chunk, found %s",
                            http_found(p, (str){ p->line.at, p->line.len }, p->line.at[0] == '\r'));
    return false;
}

static bool take_trailer(struct http_parser *p, str *rest)
{
    struct http_field dropped;
    str line;

    if (!take_field_line(p, rest, &line))
        return false;
    if (line.len == 0)
        return end_body(p);
    p->trailer_count++;
    return http_read_field(p, line, &dropped);
}

/* ---- the whole ---- */

static bool stay(struct http_parser *p, str *rest)
{
    (void)p;
    (void)rest;
    return false;
}

// clang-format off
/* What takes the next part, true where it can go on at once; and what to say when it cannot. */
static const struct {
    bool (*take)(struct http_parser *p, str *rest);
    enum http_result result;
} states[] = {
    [AT_START]      = { take_request_line, HTTP_NEED_MORE    },
    [AT_LINE]       = { take_request_line, HTTP_NEED_MORE    },
    [AT_FIELD]      = { take_field,        HTTP_NEED_MORE    },
    [AT_BODY]       = { begin_body,        HTTP_HEAD_DONE    },
    [AT_CONTENT]    = { take_content,      HTTP_NEED_MORE    },
    [AT_CHUNK_SIZE] = { take_chunk_size,   HTTP_NEED_MORE    },
    [AT_CHUNK]      = { take_chunk,        HTTP_NEED_MORE    },
    [AT_CHUNK_END]  = { take_chunk_end,    HTTP_NEED_MORE    },
    [AT_TRAILER]    = { take_trailer,      HTTP_NEED_MORE    },
    [AT_END]        = { stay,              HTTP_REQUEST_DONE },
};
// clang-format on

void http_parser_init(struct http_parser *p, struct arena *a, const struct http_limits *limits)
{
    struct http_limits l = limits ? *limits : (struct http_limits){ 0 };

    *p = (struct http_parser){
        .arena = a,
        .limits = {
            .request_line_max = l.request_line_max ? l.request_line_max : 8 << 10,
            .field_max = l.field_max ? l.field_max : 8 << 10,
            .fields_max = l.fields_max ? l.fields_max : 32 << 10,
            .field_count_max = l.field_count_max ? l.field_count_max : 64,
            .body_max = l.body_max ? l.body_max : 4 << 20,
        },
        .line = buf_in(a),
    };
}

enum http_result http_parse(struct http_parser *p, str bytes, size_t *used)
{
    str rest = bytes;

    while (!p->status && states[p->state].take(p, &rest)) {
    }
    enum http_result result = p->status ? HTTP_REFUSED : states[p->state].result;
    *used = bytes.len - rest.len;
    assert(result != HTTP_NEED_MORE || rest.len == 0);
    return result;
}
