/* legacy.c: the session of a client before 2026-07-28.
 *
 * Its first message opens a session, whose id goes with all others. A server that was
 * restarted knows it no more: then the client's first message is said again, and the
 * client hears nothing of it; what it wanted to be told of is asked for again, too. A
 * stream is kept open for what the server says unasked. */
#include "cli/bridge/private.h"

enum { SUBSCRIPTIONS_MAX = 200 };

static void open_stream(struct bridge *b);

static bool is_opening(const struct exchange *c)
{
    return str_eq(c->rpc.method, STR("initialize"));
}

static bool is_announcement(const struct exchange *c)
{
    return str_eq(c->rpc.method, STR("notifications/initialized"));
}

/* ---- what it wants to hear of ---- */

/* A resource, and the message about it, which a server that has forgotten is sent again. */
struct subscription {
    struct list link;
    str uri, body;
    char bytes[];
};

static str uri_of(const struct exchange *c)
{
    return json_str(c->rpc.params, "uri");
}

static void subscription_drop(struct legacy *l, str uri)
{
    LIST_EACH(it, &l->subscriptions) {
        struct subscription *w = LIST_ENTRY(it, struct subscription, link);
        if (uri.len && !str_eq(w->uri, uri))
            continue;
        list_remove(&w->link);
        mem_free(w);
        l->subscription_count--;
    }
}

static void subscription_add(struct legacy *l, const struct exchange *c)
{
    str uri = uri_of(c);
    struct subscription *w = mem_alloc(sizeof *w + uri.len + c->body.len);

    subscription_drop(l, uri);
    memcpy(w->bytes, uri.at, uri.len);
    memcpy(w->bytes + uri.len, c->body.at, c->body.len);
    w->uri = (str){ w->bytes, uri.len };
    w->body = (str){ w->bytes + uri.len, c->body.len };
    list_append(&l->subscriptions, &w->link);
    l->subscription_count++;
}

static void subscription_note(struct legacy *l, const struct exchange *c)
{
    if (!uri_of(c).len)
        return;
    if (str_eq(c->rpc.method, STR("resources/subscribe")) &&
        l->subscription_count < SUBSCRIPTIONS_MAX)
        subscription_add(l, c);
    else if (str_eq(c->rpc.method, STR("resources/unsubscribe")))
        subscription_drop(l, uri_of(c));
}

static const struct exchange_kind subscription = { .head = head_message,
                                                   .ready = exchange_always,
                                                   .done = exchange_is_done,
                                                   .failed = exchange_has_failed };

static void subscribe_again(struct bridge *b)
{
    LIST_EACH(it, &b->legacy.subscriptions) {
        struct exchange *c = exchange_new(b, &subscription);
        c->body = arena_copy(c->arena, LIST_ENTRY(it, struct subscription, link)->body);
        c->rpc = (struct rpc){ .kind = RPC_REQUEST, .method = STR("resources/subscribe") };
        exchange_queue(b, c);
    }
}

void legacy_init(struct bridge *b)
{
    list_init(&b->legacy.subscriptions);
}

void legacy_release(struct bridge *b)
{
    subscription_drop(&b->legacy, STR(""));
    if (b->legacy.arena)
        arena_free(b->legacy.arena);
}

/* ---- how it begins ---- */

void legacy_note(struct bridge *b, const struct exchange *c)
{
    struct legacy *l = &b->legacy;

    if (is_announcement(c))
        l->announcing = true;
    if (!is_opening(c))
        return;
    legacy_release(b);
    *l = (struct legacy){
        .state = LEGACY_OPENING, .arena = arena_new(), .streams = l->streams, .number = l->number
    };
    legacy_init(b);
    l->opening = arena_copy(l->arena, c->body);
}

/* The answer to the first message, the client's or our own repetition of it. */
static bool opened(struct bridge *b, str message, const struct response *r)
{
    struct legacy *l = &b->legacy;
    struct rpc_fault fault;
    struct rpc answer;
    str id;

    if (!rpc_read(b->scratch, message, &answer, &fault) || !answer.result)
        return false;
    l->version = arena_copy(l->arena, json_str(answer.result, "protocolVersion"));
    l->session_id = response_value(r, "Mcp-Session-Id", &id) ? arena_copy(l->arena, id) : STR("");
    l->last_event_len = 0;
    l->number++;
    return true;
}

void legacy_answered(struct bridge *b, const struct exchange *c, str message,
                     const struct response *r)
{
    if (is_opening(c))
        b->legacy.state = opened(b, message, r) ? LEGACY_OPEN : LEGACY_NONE;
}

void legacy_over(struct bridge *b, const struct exchange *c, int status)
{
    struct legacy *l = &b->legacy;

    if (is_opening(c) && l->state == LEGACY_OPENING)
        l->state = LEGACY_NONE;
    if (status == 200)
        subscription_note(l, c);
    if (!is_announcement(c))
        return;
    l->announcing = false;
    l->initialized = status >= 200 && status < 300 && l->state == LEGACY_OPEN;
    if (l->initialized)
        open_stream(b);
}

void legacy_lost(struct bridge *b, const struct exchange *c)
{
    if (b->legacy.state == LEGACY_OPEN && c->session == b->legacy.number)
        b->legacy.state = LEGACY_LOST;
}

static void left_head(struct bridge *b, struct exchange *c, struct buf *out)
{
    (void)b;
    buf_add(out, c->version);
}

static const struct exchange_kind left = { .head = left_head,
                                           .ready = exchange_always,
                                           .done = exchange_is_done,
                                           .failed = exchange_has_failed };

/* It is ended by the token that it was begun with, whose time is over when this is sent. */
void legacy_leave(struct bridge *b)
{
    struct legacy *l = &b->legacy;

    if (l->state != LEGACY_OPEN)
        return;
    if (l->session_id.len) {
        struct exchange *c = exchange_new(b, &left);
        struct buf head = buf_in(c->arena);
        head_begin(b, &head, "DELETE", "/mcp", STR(""), false);
        head_session(b, c, &head);
        c->version = buf_str(&head);
        exchange_queue(b, c);
    }
    l->state = LEGACY_LOST;
}

/* ---- how it begins again ---- */

static void again_failed(struct bridge *b, struct exchange *c, err e)
{
    b->legacy.state = LEGACY_LOST;
    exchanges_fail(b, e);
    exchange_end(b, c);
}

static void announced_again(struct bridge *b, struct exchange *c, const struct response *r)
{
    (void)r;
    b->legacy.state = LEGACY_OPEN;
    open_stream(b);
    subscribe_again(b);
    exchange_end(b, c);
}

static const struct exchange_kind announcement = {
    .head = head_message, .ready = exchange_always, .done = announced_again, .failed = again_failed
};

static void reopened(struct bridge *b, struct exchange *c, str message, const struct response *r)
{
    if (!opened(b, message, r)) {
        again_failed(b, c, exchange_refusal(b->scratch, r));
        return;
    }
    lines_note("its session with the server was begun again");
    c->answered = true;
    if (!b->legacy.initialized) {
        b->legacy.state = LEGACY_OPEN;
        return;
    }
    c = exchange_new(b, &announcement);
    c->body = STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    c->rpc = (struct rpc){ .kind = RPC_NOTIFICATION, .method = STR("notifications/initialized") };
    exchange_queue(b, c);
}

static void again_event(struct bridge *b, struct exchange *c, str data)
{
    reopened(b, c, data, &c->connection->parser.response);
}

static void again_done(struct bridge *b, struct exchange *c, const struct response *r)
{
    if (!c->answered)
        reopened(b, c, r->body, r);
    if (c->answered)
        exchange_end(b, c);
}

static const struct exchange_kind again = { .head = head_message,
                                            .ready = exchange_always,
                                            .event = again_event,
                                            .done = again_done,
                                            .failed = again_failed };

static void open_again(struct bridge *b)
{
    struct legacy *l = &b->legacy;
    struct arena *fresh = arena_new();
    struct exchange *c = exchange_new(b, &again);

    /* What it had been told is forgotten, so that a bridge may live through many servers. */
    l->opening = arena_copy(fresh, l->opening);
    l->version = arena_copy(fresh, l->version);
    l->session_id = STR("");
    arena_free(l->arena);
    l->arena = fresh;
    l->state = LEGACY_OPENING;
    c->body = arena_copy(c->arena, l->opening);
    c->rpc = (struct rpc){ .kind = RPC_REQUEST, .method = STR("initialize") };
    exchange_queue(b, c);
}

bool legacy_ready(struct bridge *b, const struct exchange *c)
{
    struct legacy *l = &b->legacy;

    if (is_opening(c))
        return true;
    if (l->state == LEGACY_LOST)
        open_again(b);
    if (is_announcement(c))
        return l->state != LEGACY_OPENING;
    return l->state == LEGACY_NONE || (l->state == LEGACY_OPEN && !l->announcing);
}

/* ---- what the server says unasked ---- */

static void stream_head(struct bridge *b, struct exchange *c, struct buf *out)
{
    struct legacy *l = &b->legacy;

    head_begin(b, out, "GET", "/mcp", STR(""), false);
    buf_add(out, STR("Accept: text/event-stream\r\n"));
    head_session(b, c, out);
    if (l->last_event_len)
        head_value(out, "Last-Event-ID", (str){ l->last_event, l->last_event_len });
}

static bool stream_ready(struct bridge *b, struct exchange *c)
{
    return identity_token(b, c) && legacy_ready(b, c);
}

static void stream_event(struct bridge *b, struct exchange *c, str data)
{
    str id = event_last_id(&c->connection->events);

    memcpy(b->legacy.last_event, id.at, id.len);
    b->legacy.last_event_len = id.len;
    lines_put(b, data);
}

static void stream_failed(struct bridge *b, struct exchange *c, err e)
{
    (void)e;
    exchange_retry(b, c, b->options.pause_ms);
}

/* A server without such a stream says so, and is not asked again. */
static void stream_done(struct bridge *b, struct exchange *c, const struct response *r)
{
    if (r->status == 404)
        legacy_lost(b, c);
    if (r->status == 401)
        identity_renew(b);
    if (r->status >= 400 && r->status < 500 && r->status != 404 && r->status != 401) {
        exchange_end(b, c);
        return;
    }
    exchange_retry(b, c, b->options.pause_ms);
}

static const struct exchange_kind stream = { .head = stream_head,
                                             .ready = stream_ready,
                                             .event = stream_event,
                                             .done = stream_done,
                                             .failed = stream_failed };

/* One is enough: it goes on in the session that follows. */
static void open_stream(struct bridge *b)
{
    if (b->legacy.streams || !b->legacy.session_id.len)
        return;
    struct exchange *c = exchange_new(b, &stream);
    c->rpc = (struct rpc){ .kind = RPC_NOTIFICATION, .method = STR("") };
    c->lasting = b->legacy.streams = true;
    exchange_queue(b, c);
}

/* ---- how it ends ---- */

static void end_head(struct bridge *b, struct exchange *c, struct buf *out)
{
    head_begin(b, out, "DELETE", "/mcp", STR(""), false);
    head_session(b, c, out);
}

static const struct exchange_kind farewell = { .head = end_head,
                                               .ready = exchange_always,
                                               .done = exchange_is_done,
                                               .failed = exchange_has_failed };

void legacy_end(struct bridge *b)
{
    if (b->legacy.state == LEGACY_OPEN && b->legacy.session_id.len)
        exchange_queue(b, exchange_new(b, &farewell));
}
