/* exchange.c: the memory of one request, and what it counts for. */
#include "wire/http/glue.h"

bool http_count(struct http *h)
{
    uint64_t bytes = h->x.arena->bytes > h->reserved ? h->x.arena->bytes : h->reserved;
    struct quota *sh = h->x.conn ? h->x.conn->quota : h->charge->quota;
    bool fits = charge_fits(h->charge, bytes);

    charge_set(h->charge, sh, bytes);
    return fits;
}

size_t http_memory(const struct http *h)
{
    uint64_t most = HTTP_GROWTH * h->parser.limits.body_max;
    uint64_t room = charge_most(h->charge) - h->charge->bytes;

    return room < most ? room + 1 : most; /* 0 would be no limit */
}

void http_exchange_begin(struct http *h)
{
    h->x.arena = server_arena(h->server);
    h->charge = charge_new(h->server, h->x.arena, h->x.conn->quota);
    h->reserved = 0;
    http_parser_init(&h->parser, h->x.arena, &h->server->limits.http);
    h->phase = HTTP_HEAD;
    h->timed = HTTP_ANSWERED; /* which has no time: the deadline is another one's */
    h->whole = h->close = h->bodiless = h->match_any = false;
    h->applied = PREFER_NOTHING;
    h->match.op = NULL;
    h->match.allowed_count = 0;
    h->with_body = NULL;
    h->caching = NULL;
}

void http_exchange_end(struct http *h)
{
    if (h->grant)
        grant_unref(h->grant);
    h->grant = NULL;
    if (h->x.arena)
        server_arena_done(h->server, h->x.arena);
    h->x.arena = NULL;
    h->charge = NULL;
}
