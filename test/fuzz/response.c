/* response.c: any bytes as an HTTP response.
 * fuzz: src/client/http_response.c */
#include <assert.h>
#include <stdlib.h>

#include "client/http_response.h"

enum { HEAD_MAX = 512, BODY_MAX = 256 };

/* What became of the bytes, in one text. Each piece is a block of its own, so that reading beyond
 * it is noticed. */
static str outcome(struct arena *a, str bytes, size_t size, const struct response_limits *limits)
{
    struct response_parser p;
    struct buf out = buf_in(a);
    size_t at = 0, used = 0;
    bool done = false;
    err e = NULL;

    response_parser_init(&p, a, limits);
    while (at < bytes.len && !done && !e) {
        str piece = str_slice(bytes, at, at + size);
        char *exact = malloc(piece.len);
        memcpy(exact, piece.at, piece.len);
        e = response_parse(&p, (str){ exact, piece.len }, &used, &done);
        free(exact);
        assert(e || done || used == piece.len);
        at += used;
    }
    if (!e && !done)
        e = response_end(&p);
    if (e) {
        assert(e->kind == ERR_INTERNAL || e->kind == ERR_TOO_LARGE || e->kind == ERR_UNAVAILABLE);
        buf_printf(&out, "%d", (int)e->kind);
        return buf_str(&out);
    }
    assert(p.response.status >= 101 && p.response.status <= 599);
    if (limits)
        assert(p.response.body.len <= limits->body_max);
    buf_printf(&out, "%d %d %zu ", p.response.status, p.response.keep_alive, at);
    for (size_t i = 0; i < p.response.field_count; i++) {
        buf_add(&out, p.response.fields[i].name);
        buf_byte(&out, '=');
        buf_add(&out, p.response.fields[i].value);
        buf_byte(&out, '\n');
    }
    buf_add(&out, p.response.body);
    return buf_str(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct response_limits small = { .head_max = HEAD_MAX, .body_max = BODY_MAX };
    const struct response_limits *limits[] = { NULL, &small };
    struct arena *a = arena_new();
    str bytes = { (const char *)data, size };

    for (int i = 0; i < 2; i++) {
        str whole = outcome(a, bytes, size + 1, limits[i]);
        for (size_t piece = 1; piece <= 7; piece += 3)
            assert(str_eq(outcome(a, bytes, piece, limits[i]), whole));
    }
    arena_free(a);
    return 0;
}
