/* sign_in.c: how a page gets a token of its own: a code of `token.code` is shown here once.
 *
 * Whoever asks has no token, so little is read of it, and there are few tries in all: a code cannot be
 * guessed, but trying costs the one writer its time. What a code is worth, token.exchange says. */
#include "wire/http/sign_in.h"

#include "wire/http/text.h"

enum {
    BODY_MAX = 512,      /* bytes */
    TRY_MS = 1000,       /* there is one more try after so long, */
    TRIES_TOGETHER = 30, /* and so many without waiting */
    DEPTH_MAX = 4,       /* of the body's JSON */
};

/* `sign_in_at_ms` is when all tries have come back. */
static bool may_try(struct server *s)
{
    int64_t now = loop_now_ms(s->loop), from = s->sign_in_at_ms > now ? s->sign_in_at_ms : now;

    if (from - now > (TRIES_TOGETHER - 1) * TRY_MS)
        return false;
    s->sign_in_at_ms = from + TRY_MS;
    return true;
}

static void exchanged(struct pending *p)
{
    struct http *h = p->owner;
    const struct command *c = &p->command;

    if (h->x.conn && c->error)
        http_refuse(&h->x, c->error);
    else if (h->x.conn)
        http_respond(&h->x, 200, "application/json", c->answer.text);
    http_go_on(h);
}

/* A page of another site cannot send this type without asking first, which is refused. */
static err check(struct http *h)
{
    const struct http_request *r = h->x.request;
    str type = STR("");

    if (!http_header(r, "content-type", &type) || !http_media_is(type, STR("application/json")))
        return err_new(h->x.arena, ERR_UNSUPPORTED,
                       "expected Content-Type to be application/json, found \"" STR_FMT "\"",
                       STR_ARG(http_legible(h->x.arena, type)));
    if (r->chunked || r->content_length > BODY_MAX)
        return err_new(h->x.arena, ERR_TOO_LARGE,
                       "expected {\"code\":\"…\"} in at most %d bytes, with their number in "
                       "Content-Length",
                       BODY_MAX);
    return NULL;
}

static void exchange(struct http *h)
{
    const struct server_options *o = &h->server->options;
    const struct op *op = op_find(o->table, STR("token.exchange"));
    struct json_limits limits = { .depth_max = DEPTH_MAX, .bytes_max = BODY_MAX };
    const struct json *body;
    err e = json_parse(h->x.arena, h->x.request->body, &limits, &body);

    if (!e && body->kind != JSON_OBJECT)
        e = err_new(h->x.arena, ERR_INVALID, "expected {\"code\":\"…\"}, found %s",
                    json_kind_name(body->kind));
    if (!e && (!o->system || !op))
        e = err_new(h->x.arena, ERR_NOT_FOUND, "nobody can sign in here");
    if (!e && !may_try(h->server))
        e = err_new(h->x.arena, ERR_LIMIT, "too many have tried to sign in: try again in a moment");
    if (!e) {
        h->pending = (struct pending){
            .server = h->server,
            .command = { .arena = h->x.arena, .op = op, .input = body, .actor = o->system },
            .cached = STR(""),
            .done = exchanged,
            .owner = h
        };
        h->phase = HTTP_PENDING;
        e = pending_submit(&h->pending);
    }
    if (e)
        http_refuse(&h->x, e);
}

void sign_in(struct http_exchange *x)
{
    struct http *h = http_of(x);
    err e = check(h);

    if (e)
        http_refuse(x, e);
    else
        http_want_body(h, exchange);
}
