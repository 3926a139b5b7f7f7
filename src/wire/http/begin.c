/* begin.c: a request whose head is there: who asks, for what, and whether its body is wanted.
 *
 * All that can be refused is refused here, so that nobody has to send a body in
 * vain. The order of the checks is from what concerns everybody to what concerns
 * one operation. Does not look into bodies. */
#include <assert.h>

#include "wire/http/glue.h"

static void refuse(struct http *h, err e)
{
    http_refuse(&h->x, e);
}

/* ---- what it asks for ---- */

/* The methods of operations; HEAD and OPTIONS go with them. */
static const str methods[] = { STR("GET"), STR("POST"), STR("PUT"), STR("PATCH"), STR("DELETE") };

static bool is_method(str method)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (str_eq(method, methods[i]))
            return true;
    return str_eq(method, STR("HEAD")) || str_eq(method, STR("OPTIONS"));
}

static void refuse_method(struct http *h)
{
    str method = h->parser.request.method;

    if (h->match.allowed_count == 0)
        refuse(h, err_new(h->x.arena, ERR_NOT_FOUND,
                          "there is nothing at " STR_FMT "; GET /openapi.json lists what there is",
                          STR_ARG(http_legible(h->x.arena, h->parser.request.path))));
    else if (str_eq(method, STR("OPTIONS")))
        http_answer_options(h);
    else
        http_problem(h, 405,
                     arena_printf(h->x.arena, STR_FMT " cannot be done here, see Allow",
                                  STR_ARG(method)),
                     STR(""));
}

static bool is_allowed(const struct http *h)
{
    const struct http_request *r = h->x.request;

    for (size_t i = 0; i < h->match.allowed_count; i++)
        if (str_eq(r->method, h->match.allowed[i]))
            return true;
    return h->bodiless && route_has_head(route_find(h->server, r));
}

static void begin_route(struct http *h)
{
    const struct http_request *r = &h->parser.request;
    struct conn *c = h->x.conn;

    const struct http_route *route = route_find(h->server, r);
    h->match.allowed_count = 0;
    for (size_t i = 0; i < sizeof route->methods / sizeof *route->methods; i++)
        if (route->methods[i].len)
            h->match.allowed[h->match.allowed_count++] = route->methods[i];
    if (!is_allowed(h)) {
        refuse_method(h);
        return;
    }
    if (http_has_body(r) && !str_eq(r->method, STR("POST"))) {
        refuse(h, err_new(h->x.arena, ERR_INVALID, "expected no body here, found one"));
        return;
    }
    if (route->file)
        http_answer_file(h, route->file);
    else
        route->answer(&h->x);
    if (c->state != h)
        h->phase = HTTP_SWITCHED;
    else if (c->closing || c->closed)
        h->phase = HTTP_CLOSING;
    assert(h->phase != HTTP_HEAD);
}

/* HEAD changes nothing, whatever GET does: a runner's GET claims a run. */
static bool is_unsafe_head(struct http *h)
{
    if (!h->bodiless || h->match.op->effect == OP_READS)
        return false;
    h->match.allowed[h->match.allowed_count++] = STR("GET");
    return true;
}

void http_want_body(struct http *h, void (*then)(struct http *h))
{
    const struct http_request *r = &h->parser.request;

    h->reserved = h->x.arena->bytes + r->content_length;
    if (!http_count(h)) {
        h->reserved = 0;
        http_refuse_busy(h, "too many bytes of requests are held (buffered_bytes, token_bytes)");
        return;
    }
    if (r->expect_continue) {
        conn_send(h->x.conn, STR("HTTP/1.1 100 Continue\r\n\r\n"));
        conn_flush(h->x.conn);
    }
    h->with_body = then;
    h->phase = HTTP_BODY;
}

static void begin_op(struct http *h)
{
    const struct http_request *r = &h->parser.request;
    const struct server *s = h->server;
    err e;

    op_route(s->options.table, h->bodiless ? STR("GET") : r->method, r->path, &h->match);
    if (str_eq(r->path, STR("*"))) { /* OPTIONS of the server as a whole */
        memcpy(h->match.allowed, methods, sizeof methods);
        h->match.allowed_count = sizeof methods / sizeof *methods;
    }
    if (!h->match.op || is_unsafe_head(h)) {
        refuse_method(h);
        return;
    }
    e = http_check_state(h);
    if (!e)
        e = http_check_media(h);
    if (e) {
        refuse(h, e);
        return;
    }
    http_want_body(h, NULL);
}

/* What is left of the connections is for the operator, who must be able to see to it. */
static bool is_crowded(const struct http *h)
{
    const struct server *s = h->server;
    const struct grant *g = h->x.conn->grant;

    return s->known_count + s->limits.connections_kept > s->limits.connections_max &&
           !(g && g->operates);
}

/* The one who asks is known, or need not be. */
static void admitted(struct http *h, enum route_need need)
{
    const struct http_request *r = &h->parser.request;

    if (need != ROUTE_OPEN && is_crowded(h)) {
        h->close = true;
        conn_admit(h->x.conn, NULL); /* it goes before anybody who may stay */
        http_refuse_busy(h, "there are too many connections");
    } else if (!is_method(r->method)) {
        http_problem(h, 501,
                     arena_printf(h->x.arena, "no operation has the method " STR_FMT,
                                  STR_ARG(r->method)),
                     STR(""));
    } else if (need != ROUTE_NONE) {
        begin_route(h);
    } else {
        begin_op(h);
    }
}

static void grant_came(void *owner, struct grant *g, err refused)
{
    struct http *h = owner;

    h->phase = HTTP_HEAD;
    if (h->x.conn)
        h->x.conn->admitting = false;
    if (!h->x.conn) {
        if (g)
            grant_unref(g);
    } else if (g && !(refused = server_check_welcome(h->x.conn, g, h->x.arena))) {
        conn_admit(h->x.conn, g);
        http_count(h);
        http_remember(h);
        admitted(h, route_needs(h->server, route_find(h->server, h->x.request)));
    } else {
        refuse(h, refused);
        if (g)
            grant_unref(g);
    }
    http_go_on(h);
}

static void admit(struct http *h, enum route_need need)
{
    str token;

    if (http_is_known(h)) {
        admitted(h, need);
        return;
    }
    if (need == ROUTE_SELF && !http_header(h->x.request, "authorization", &token)) {
        conn_admit(h->x.conn, NULL); /* what an earlier request showed is not this one's */
        admitted(h, need);
        return;
    }
    err e = http_bearer(h, &token);
    if (e) {
        refuse(h, e);
        return;
    }
    h->phase = HTTP_ADMITTING;
    h->x.conn->admitting = true;
    h->grant_wait = (struct grant_wait){ .then = grant_came, .owner = h };
    server_grant(h->server, token, &h->grant_wait);
}

/* From here on, what this node knows is not older than the request. */
static void barrier_passed(void *owner, err refused)
{
    struct http *h = owner;

    h->phase = HTTP_HEAD;
    if (h->x.conn) {
        h->x.conn->admitting = false;
        h->pumping = true; /* what is said at once is dealt with below */
        if (refused)
            refuse(h, refused);
        else
            admit(h, route_needs(h->server, route_find(h->server, h->x.request)));
        h->pumping = false;
    }
    http_go_on(h);
}

/* Other nodes may have changed the document, or revoked the token, without this one having heard of
 * it. What was acknowledged anywhere before the request was sent counts for it: reads out of the
 * cache and tokens that are known are good only after the barrier. */
static void admit_behind_barrier(struct http *h)
{
    h->phase = HTTP_ADMITTING;
    h->x.conn->admitting = true;
    h->barrier = (struct barrier){ .then = barrier_passed, .owner = h };
    server_barrier(h->server, &h->barrier);
}

void http_begin(struct http *h)
{
    enum route_need need = route_needs(h->server, route_find(h->server, h->x.request));

    h->bodiless = str_eq(h->x.request->method, STR("HEAD"));
    err e = http_check_host(h);
    if (!e)
        e = http_check_origin(h);
    if (!e)
        e = http_check_single(h);
    if (e)
        refuse(h, e);
    else if (need == ROUTE_OPEN)
        admitted(h, need);
    else if ((need == ROUTE_NONE || need == ROUTE_FENCED) && h->server->options.shared)
        admit_behind_barrier(h);
    else
        admit(h, need);
}
