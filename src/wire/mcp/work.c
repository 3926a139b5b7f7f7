/* work.c: one message of MCP: performed, waited for, answered.
 *
 * Most are answered at once, as one JSON text, like any other request. One that waits says from
 * time to time that it is still at work, if its client wants to hear that: then its answer becomes a
 * stream. A client that goes away is not worked for any more, unless it can come back for the
 * answer. Does not know what the messages mean. */
#include <assert.h>

#include "wire/http/text.h"
#include "wire/mcp/private.h"

#define TYPE_JSON "application/json"

/* ---- its end ---- */

static void release(struct mcp_work *w)
{
    if (w->timer)
        timer_free(w->timer);
    if (w->grant)
        grant_unref(w->grant);
    list_remove(&w->link);
}

/* Without a request, its memory is its own. */
static void work_free(struct mcp_work *w)
{
    release(w);
    server_arena_done(w->server, w->arena);
}

/* The request goes on; the work is in its memory, and is gone by that. */
static void respond(struct mcp_work *w, int status, str fields, str body)
{
    struct http *h = w->http;

    release(w);
    h->work = NULL;
    if (h->x.conn)
        http_respond_with(h, status, body.len ? TYPE_JSON : NULL, fields, body);
    http_go_on(h);
}

/* What a message is answered by holds more than the operation's answer: that as a text, and as it
 * is. */
static void answer_bound(struct mcp_work *w)
{
    uint64_t most = w->server->limits.answer_max;

    if (w->call.answer.len > most)
        w->call.answer =
            mcp_fault(w->arena, w->call.message.id, RPC_INTERNAL,
                      arena_printf(w->arena,
                                   "the answer would be larger than %llu bytes (answer_bytes): ask "
                                   "for less of it, by a pointer, a query or max_chars",
                                   (unsigned long long)most)
                          .at);
}

void mcp_work_answer(struct mcp_work *w)
{
    answer_bound(w);
    if (w->http) {
        respond(w, w->call.status, STR(""), w->call.answer);
        return;
    }
    if (w->channel) {
        mcp_channel_send(w->channel, w->call.answer);
        mcp_channel_end(w->channel);
    }
    work_free(w);
}

/* ---- its connection ---- */

void mcp_work_take(struct mcp_work *w, struct mcp_channel *ch)
{
    struct http *h = w->http;

    w->http = NULL;
    h->work = NULL;
    h->x.arena = NULL;
    mcp_channel_attach(ch, h, 0);
    http_go_on(h);
}

/* Whether the client takes one for an answer. It is asked when a sign of life is due, too: then the
 * work's own arena may be at another thread, with its command. */
static bool takes_stream(const struct mcp_work *w)
{
    struct arena *a = server_arena(w->server);
    str accept;
    bool takes = !http_header_list(a, &w->request, "accept", &accept) ||
                 http_accepts(accept, STR("text/event-stream"), NULL) > 0;

    server_arena_done(w->server, a);
    return takes;
}

static const struct mcp_channel_events events;

static void refuse_stream(struct mcp_work *w)
{
    struct http *h = w->http;

    release(w);
    h->work = NULL;
    http_problem(h, 406,
                 STR("this is answered by a stream: expected Accept to allow text/event-stream"),
                 STR(""));
    http_go_on(h);
}

static void refuse_busy(struct mcp_work *w)
{
    struct http *h = w->http;

    release(w);
    h->work = NULL;
    http_refuse_busy(h, "too many bytes of requests are held (buffered_bytes, token_bytes)");
    http_go_on(h);
}

bool mcp_work_stream(struct mcp_work *w)
{
    struct mcp_session *session = w->session;

    if (w->channel)
        return true;
    if (!takes_stream(w)) {
        refuse_stream(w);
        return false;
    }
    w->channel = mcp_channel_new(w->server, session, &events, w);
    if (session) {
        w->channel->number = session->channel_next++;
        list_append(&session->channels, &w->channel->link);
    }
    mcp_work_take(w, w->channel);
    mcp_channel_prime(w->channel);
    return true;
}

/* Nobody is there to be answered, and nobody will come. */
static bool is_abandoned(const struct mcp_work *w)
{
    return w->http ? !w->http->x.conn : !w->channel;
}

static bool may_wait(const struct mcp_work *w)
{
    return !is_abandoned(w) && !(w->http && w->http->ended) && !w->server->stopping;
}

/* ---- the command ---- */

static void next(struct mcp_work *w);
static void performed(struct command *c);

static bool hand_in(struct mcp_work *w)
{
    assert(w->grant); /* nothing is performed for nobody */
    w->command.actor = w->grant->actor;
    w->command.done = performed;
    w->command.owner = w;
    w->wait_mark = wait_mark(w->server);
    w->performing = server_submit(w->server, &w->command);
    w->charge->quota->requests += w->performing;
    return w->performing;
}

static void perform(struct mcp_work *w)
{
    struct mcp_call *m = &w->call;
    struct server *s = w->server;

    if (mcp_peek(m, s->cache)) {
        s->cache_hits++;
        next(w);
        return;
    }
    w->command =
        (struct command){ .arena = w->arena, .op = m->op, .input = m->input, .key = m->key };
    w->wrote = NULL;
    if (m->plain)
        w->cache_mark = op_cache_mark(s->cache, m->plain_id);
    w->command.error = quota_check_request(s, w->charge->quota, w->arena);
    if (!w->command.error && hand_in(w))
        return;
    if (!w->command.error)
        w->command.error = err_new(w->arena, ERR_UNAVAILABLE,
                                   "more is asked for than can be done: try again in a moment");
    mcp_performed(m, &w->command);
    next(w);
}

/* What it has written is committed, and the answer is that of a read behind it, which may wait. */
static bool read_behind(struct mcp_work *w)
{
    struct command *wrote = ARENA_NEW(w->arena, struct command);

    *wrote = w->command;
    w->wrote = wrote;
    w->command =
        (struct command){ .arena = w->arena,
                          .op = op_find(w->server->options.table, str_from(wrote->answer.then)),
                          .input = &wrote->answer.then_input };
    if (hand_in(w))
        return true;
    w->command = *wrote;
    return false;
}

/* ---- waiting ---- */

/* Its command may wait, or be run again just now: nothing of its memory is touched. */
static void on_sign(void *owner)
{
    struct mcp_work *w = owner;
    struct server *s = w->server;

    if (!mcp_work_stream(w))
        return;
    struct arena *a = server_arena(s);
    str text = arena_printf(a, "still at work after %lld s",
                            (long long)(++w->signs * s->limits.mcp_progress_ms / 1000));
    mcp_channel_send(w->channel, mcp_progress(a, &w->call, w->signs, text));
    server_arena_done(s, a);
    timer_set(w->timer, s->limits.mcp_progress_ms);
}

static void wait_for(struct mcp_work *w)
{
    struct command *c = &w->command;

    if (c->answer.wait_until_ms > w->wait_until_ms)
        c->answer.wait_until_ms = w->wait_until_ms;
    if (!w->timer && w->call.progress_token.len && takes_stream(w))
        w->timer = timer_new(w->server->loop, on_sign, w);
    if (w->timer)
        timer_set(w->timer, w->server->limits.mcp_progress_ms);
    w->charge->quota->waits++;
    w->waiting = wait_begin(w->server, c, w->wait_mark);
}

static const char stops[] = "the server stops: ask again when it is back";

/* Why it is not waited for any more. What has an answer already keeps it. */
static void take_cut(struct mcp_work *w, bool waited)
{
    struct command *c = &w->command;

    if (c->answer.waits && !may_wait(w)) {
        w->cut = stops;
        w->cut_kind = ERR_UNAVAILABLE;
    }
    if (w->cut && (c->answer.waits || waited))
        c->error = err_new(w->arena, w->cut_kind, "%s", w->cut);
}

static void performed(struct command *c)
{
    struct mcp_work *w = c->owner;
    bool waited = w->waiting;

    w->charge->quota->requests -= w->performing;
    w->performing = false;
    w->charge->quota->waits -= waited;
    w->waiting = NULL;
    charge_set(w->charge, w->charge->quota, w->arena->bytes);
    if (c->answer.waits && !c->error)
        c->error = quota_check_wait(w->server, w->charge->quota, 1, w->arena);
    if (w->call.plain)
        op_cache_read(w->server->cache, c, w->cache_mark);
    take_cut(w, waited);
    if (c->answer.waits && !c->error) {
        wait_for(w);
        return;
    }
    if (may_wait(w) && c->answer.then && !c->error && read_behind(w))
        return;
    if (w->wrote && c->error)
        *c = *w->wrote; /* what was written is, and must not be asked for again */
    if (is_abandoned(w)) {
        mcp_work_answer(w);
        return;
    }
    if (w->timer)
        timer_clear(w->timer);
    mcp_performed(&w->call, c);
    if (w->grant && w->call.quiet_at > w->grant->quiet_at)
        w->grant->quiet_at = w->call.quiet_at;
    next(w);
}

void mcp_work_cut(struct mcp_work *w, enum error_kind kind, const char *why)
{
    w->cut = why;
    w->cut_kind = kind;
    if (w->timer)
        timer_clear(w->timer);
    if (w->waiting)
        wait_cancel(w->waiting); /* and then `performed` is called, now or later */
    else if (w->call.next == MCP_PLAY && w->channel == NULL)
        work_free(w);
    else if (w->call.next == MCP_PLAY)
        mcp_play_cut(w, why);
}

void mcp_work_over(struct mcp_work *w, enum mcp_over why)
{
    static const struct {
        enum error_kind kind;
        const char *why;
    } reasons[] = {
        [MCP_GONE] = { ERR_UNAVAILABLE, "whoever waited for this is gone" },
        [MCP_REVOKED] = { ERR_UNAUTHENTICATED, "this token is not valid any more" },
        [MCP_STOPPING] = { ERR_UNAVAILABLE, stops },
    };

    if (why == MCP_GONE)
        w->channel = NULL;
    mcp_work_cut(w, reasons[why].kind, reasons[why].why);
}

static void on_over(void *owner, enum mcp_over why)
{
    mcp_work_over(owner, why);
}

static void on_room(void *owner)
{
    (void)owner; /* it says little, and keeps what it says */
}

static const struct mcp_channel_events events = { .room = on_room, .over = on_over };

/* ---- what is next ---- */

/* A client of an older revision, which may not know what becomes of a closed connection, says that
 * it wants no answer. It gets one all the same, at once: its request must end. */
static void cancel(struct mcp_session *session, const struct json *id)
{
    LIST_EACH(it, &session->works) {
        struct mcp_work *w = LIST_ENTRY(it, struct mcp_work, link);
        if (id && w->call.message.id && json_equal(w->call.message.id, id)) {
            mcp_work_cut(w, ERR_UNAVAILABLE, "the client has cancelled this");
            return;
        }
    }
}

static void accept_message(struct mcp_work *w)
{
    const struct rpc *message = &w->call.message;

    if (w->session && message->kind == RPC_RESPONSE)
        mcp_play_hear(w->session, message);
    else if (w->session && str_eq(message->method, STR("notifications/cancelled")))
        cancel(w->session, json_get(message->params, "requestId"));
    respond(w, 202, STR(""), STR(""));
}

static void initialize(struct mcp_work *w)
{
    struct mcp_session *session;
    err full = mcp_session_begin(w->server, w->arena, &w->call.client, w->grant, &session);

    if (full) {
        respond(w, error_kind_info(full->kind)->http, STR("Retry-After: 1\r\n"),
                mcp_fault(w->arena, w->call.message.id, RPC_INTERNAL, full->message.at));
        return;
    }
    str id = { session->id, MCP_ID_CHARS };
    respond(w, 200, arena_printf(w->arena, "Mcp-Session-Id: " STR_FMT "\r\n", STR_ARG(id)),
            w->call.answer);
}

static void subscribe(struct mcp_work *w)
{
    err e = NULL;

    if (w->session)
        e = mcp_listener_add(w->session->listener, w->arena, TOPIC_URI, w->call.uri, w->grant);
    if (e)
        w->call.answer = mcp_fault(w->arena, w->call.message.id, RPC_PARAMS, e->message.at);
    mcp_work_answer(w);
}

static void unsubscribe(struct mcp_work *w)
{
    if (w->session)
        mcp_listener_drop(w->session->listener, TOPIC_URI, w->call.uri);
    mcp_work_answer(w);
}

static void set_level(struct mcp_work *w)
{
    if (w->session)
        w->session->client.log_level = w->call.client.log_level;
    mcp_work_answer(w);
}

static void listen(struct mcp_work *w)
{
    assert(w->http);
    if (!takes_stream(w))
        refuse_stream(w);
    else
        mcp_listener_open(w);
}

static void next(struct mcp_work *w)
{
    // clang-format off
    static void (*const steps[])(struct mcp_work *w) = {
        [MCP_ANSWER]      = mcp_work_answer,
        [MCP_ACCEPTED]    = accept_message,
        [MCP_PERFORM]     = perform,
        [MCP_LISTEN]      = listen,
        [MCP_PLAY]        = mcp_play_begin,
        [MCP_INITIALIZE]  = initialize,
        [MCP_SUBSCRIBE]   = subscribe,
        [MCP_UNSUBSCRIBE] = unsubscribe,
        [MCP_SET_LEVEL]   = set_level,
    };
    // clang-format on

    if (w->call.changed)
        mcp_listeners_tell(w->server, w->call.changed);
    w->call.changed = NULL;
    steps[w->call.next](w);
}

/* ---- its beginning ---- */

static bool head_field(const void *request, const char *name, str *value)
{
    return http_header(request, name, value);
}

/* The session may end before the message is answered. */
static const struct mcp_client *client_copy(struct arena *a, const struct mcp_session *session)
{
    struct mcp_client *copy = ARENA_NEW(a, struct mcp_client);

    if (!session)
        return NULL;
    *copy = session->client;
    copy->name = arena_copy(a, copy->name);
    copy->client_version = arena_copy(a, copy->client_version);
    return copy;
}

void mcp_work_begin(struct http *h)
{
    struct server *s = h->server;
    struct mcp_work *w = ARENA_NEW(h->x.arena, struct mcp_work);
    int64_t now = s->options.now_ms(s->options.self);

    w->server = s;
    w->arena = h->x.arena;
    w->request = *h->x.request;
    w->charge = h->charge;
    w->http = h;
    w->wait_until_ms = now + s->limits.mcp_wait_ms;
    w->grant = s->options.mcp_open ? NULL : grant_ref(h->x.conn->grant);
    w->session = mcp_session_find(s, h->x.request, w->grant);
    list_init(&w->link);
    w->call = (struct mcp_call){ .arena = w->arena,
                                 .mcp = s->options.mcp,
                                 .head = { head_field, &w->request },
                                 .actor = w->grant ? w->grant->actor : NULL,
                                 .session = client_copy(w->arena, w->session),
                                 .now_ms = now,
                                 .quiet = w->grant && w->grant->quiet_at &&
                                          w->grant->quiet_at >= s->team_published };
    http_header(h->x.request, "idempotency-key", &w->call.key);
    h->work = w;
    h->phase = HTTP_AWAY;
    w->call.memory_max = HTTP_GROWTH * h->parser.limits.body_max;
    bool fits = charge_fits(w->charge, w->charge->bytes + HTTP_GROWTH * h->x.request->body.len);
    if (fits)
        mcp_begin(&w->call, h->x.request->body);
    if (!http_count(h) || !fits) {
        refuse_busy(w);
        return;
    }
    if (mcp_is_modern(w->call.client.version))
        w->session = NULL; /* it names one by mistake */
    if (w->session)
        list_append(&w->session->works, &w->link);
    next(w);
}
