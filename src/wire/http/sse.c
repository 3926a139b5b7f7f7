/* sse.c: events as a stream that a browser's EventSource reads, or curl.
 *
 * The response never ends by itself. Each event carries its number, so that a client that connects
 * again says where it was. The head is sent when the first look at the log has shown that the
 * client may read it: until then the answer can still be a refusal. */
#include "wire/hub.h"
#include "json/write.h"
#include "wire/http/text.h"
#include "wire/lag.h"

enum { TYPES_MAX = 64 };

struct sse {
    struct conn *conn;
    struct subscriber *subscriber; /* NULL: the stream has ended */
    struct lag lag;
    bool started;
};

/* Sends a text that is the stream's own. */
static void say(struct sse *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct sse *s, const char *format, ...)
{
    struct arena *a = server_arena(s->conn->server);
    struct buf text = buf_in(a);
    va_list args;

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    conn_send(s->conn, buf_str(&text));
    conn_flush_later(s->conn);
    server_arena_done(s->conn->server, a);
}

static void sse_end(struct sse *s)
{
    if (!s->subscriber)
        return;
    hub_unsubscribe(s->subscriber);
    s->subscriber = NULL;
}

/* ---- what the hub says ---- */

/* An id without data dispatches nothing, but the client remembers it. */
static void on_started(void *owner, int64_t seq)
{
    struct sse *s = owner;
    struct arena *a = server_arena(s->conn->server);
    struct buf head = buf_in(a);

    s->started = true;
    http_write_status(&head, 200);
    http_write_field(&head, STR("Content-Type"), STR("text/event-stream"));
    http_write_field(&head, STR("Cache-Control"), STR("no-cache"));
    http_write_field(&head, STR("X-Accel-Buffering"), STR("no"));
    http_write_field(&head, STR("Connection"), STR("close"));
    http_write_end(&head);
    conn_send(s->conn, buf_str(&head));
    server_arena_done(s->conn->server, a);
    say(s, "retry: 1000\nid: %lld\n\n", (long long)seq);
    conn_deadline(s->conn, s->conn->server->limits.ping_ms);
}

static void on_event(void *owner, struct shared *framed, int64_t seq)
{
    struct sse *s = owner;

    (void)seq;
    if (lag_put(&s->lag, s->conn, framed))
        hub_pause(s->subscriber);
}

static void on_caught_up(void *owner, int64_t seq)
{
    say(owner, ": caught up\nid: %lld\n\n", (long long)seq);
}

static void on_gap(void *owner, int64_t oldest, int64_t newest)
{
    say(owner, "id: %lld\nevent: reset\ndata: {\"oldest\":%lld,\"newest\":%lld}\n\n",
        (long long)oldest - 1, (long long)oldest, (long long)newest);
}

static str problem(struct arena *a, err e)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);
    const struct error_kind_info *look = error_kind_info(e->kind);

    json_write_begin(&w, '{');
    write_text(&w, STR("type"), STR("about:blank"));
    write_text(&w, STR("title"), str_from(look->title));
    write_int(&w, STR("status"), look->http);
    write_text(&w, STR("detail"), e->message);
    json_write_end(&w, '}');
    return buf_str(&out);
}

static void refuse(struct sse *s, struct arena *a, err e)
{
    struct buf out = buf_in(a);
    str body = problem(a, e);

    http_write_status(&out, error_kind_info(e->kind)->http);
    http_write_field(&out, STR("Content-Type"), STR("application/problem+json"));
    http_write_field(&out, STR("Connection"), STR("close"));
    http_write_number(&out, STR("Content-Length"), (int64_t)body.len);
    http_write_end(&out);
    buf_add(&out, body);
    conn_send(s->conn, buf_str(&out));
}

static void on_failed(void *owner, err e)
{
    struct sse *s = owner;
    struct arena *a = server_arena(s->conn->server);

    if (s->started)
        say(s, "event: error\ndata: " STR_FMT "\n\n", STR_ARG(problem(a, e)));
    else
        refuse(s, a, e);
    server_arena_done(s->conn->server, a);
    sse_end(s);
    conn_finish(s->conn);
}

static const struct hub_events stream_events = { .started = on_started,
                                                 .event = on_event,
                                                 .caught_up = on_caught_up,
                                                 .gap = on_gap,
                                                 .failed = on_failed };

/* ---- what the connection says ---- */

static void on_bytes(struct conn *c, str bytes)
{
    (void)c, (void)bytes; /* there is no next request: the response has no end */
}

static void on_sent(struct conn *c)
{
    struct sse *s = c->state;

    if (lag_sent(&s->lag) && s->subscriber)
        hub_resume(s->subscriber);
}

static void on_ended(struct conn *c)
{
    conn_abort(c);
}

static void finish(struct conn *c)
{
    sse_end(c->state);
    conn_finish(c);
}

/* Something must be sent from time to time, or what is between us takes the silence for an end. */
static void on_late(struct conn *c)
{
    say(c->state, ":\n\n");
    conn_deadline(c, c->server->limits.ping_ms);
}

static void on_closed(struct conn *c)
{
    sse_end(c->state);
    mem_free(c->state);
}

static const struct protocol sse_protocol = { .name = "sse",
                                              .bytes = on_bytes,
                                              .sent = on_sent,
                                              .ended = on_ended,
                                              .late = on_late,
                                              .revoked = finish,
                                              .stopping = finish,
                                              .closed = on_closed };

/* ---- the request ---- */

static err number_read(struct arena *a, const char *name, str text, int64_t *out)
{
    if (str_to_int(text, out) && *out >= 0)
        return NULL;
    return err_new(a, ERR_INVALID, "%s: expected the number of an event, 0 or more", name);
}

static err pair_read(struct arena *a, const struct http_pair *pair, struct hub_filter *out,
                     str *types)
{
    if (str_eq(pair->name, STR("after")))
        return number_read(a, "after", pair->value, &out->after);
    if (str_eq(pair->name, STR("subject"))) {
        out->subject = pair->value;
        return NULL;
    }
    if (!str_eq(pair->name, STR("type")))
        return err_new(a, ERR_INVALID,
                       "a stream of events takes after, subject and type, not \"" STR_FMT "\"",
                       STR_ARG(pair->name));
    if (out->type_count == TYPES_MAX)
        return err_new(a, ERR_INVALID, "type: expected at most %d of them", TYPES_MAX);
    types[out->type_count++] = pair->value;
    return NULL;
}

err sse_filter(struct arena *a, const struct http_request *r, struct hub_filter *out)
{
    str *types = ARENA_ARRAY(a, str, TYPES_MAX);
    struct http_pair *pairs;
    size_t count;
    str last;

    *out = (struct hub_filter){ .subject = STR(""), .types = types, .after = -1 };
    TRY(http_query(a, r->query, &pairs, &count));
    for (size_t i = 0; i < count; i++)
        TRY(pair_read(a, &pairs[i], out, types));
    /* A client that connects again sends the address that it began with, and where it is now. */
    if (http_header(r, "Last-Event-ID", &last) && last.len)
        TRY(number_read(a, "Last-Event-ID", last, &out->after));
    return NULL;
}

void sse_begin(struct http_exchange *x)
{
    struct conn *c = x->conn;
    struct hub_filter filter;
    err e = sse_filter(x->arena, x->request, &filter);

    if (!e)
        e = quota_check_wait(c->server, c->quota, 1, x->arena);
    if (e) {
        http_refuse(x, e);
        return;
    }
    struct sse *s = mem_alloc(sizeof *s);
    *s = (struct sse){ .conn = c };
    s->subscriber = hub_subscribe(c->server->hub, &filter, c->grant, HUB_SSE, &stream_events, s);
    conn_switch(c, &sse_protocol, s);
    conn_deadline(c, 0);
}
