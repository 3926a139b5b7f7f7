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

enum { PLAYS_MAX = 16 }; /* streams of one session that are played at once */

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

static void answer(struct mcp_work *w)
{
    answer_bound(w);
    if (w->http) {
        respond(w, w->call.status, STR(""), w->call.answer);
        return;
    }
    if (w->channel) {
        mcp_channel_send(w->channel, w->call.answer);
        mcp_channel_end(w->channel);
        if (w->session)
            mcp_session_trim(w->session);
    }
    work_free(w);
}

/* ---- its connection ---- */

/* Takes the connection from its request, with the request's memory, for the channel. */
static void conn_take(struct mcp_work *w, struct mcp_channel *ch)
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

/* It is answered by a stream from now on. False: the client takes none and was told so, and the work
 * is no more. */
static bool stream(struct mcp_work *w)
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
    conn_take(w, w->channel);
    mcp_channel_prime(w->channel);
    return true;
}

/* Nobody is there to be answered, and nobody will come. */
static bool is_abandoned(const struct mcp_work *w)
{
    return w->http ? !w->http->x.conn : !w->channel;
}

/* ---- the command ---- */

static void next(struct mcp_work *w);

/* Its command may wait, or be run again just now: nothing of its memory is touched. */
static void sign_of_life(struct mcp_work *w)
{
    struct server *s = w->server;

    if (!stream(w))
        return;
    struct arena *a = server_arena(s);
    str text = arena_printf(a, "still at work after %lld s",
                            (long long)(++w->signs * s->limits.mcp_progress_ms / 1000));
    mcp_channel_send(w->channel, mcp_progress(a, &w->call, w->signs, text));
    server_arena_done(s, a);
    timer_set(w->timer, s->limits.mcp_progress_ms);
}

static void play(struct mcp_work *w)
{
    if (mcp_play_on(w))
        next(w);
}

static void on_timer(void *owner)
{
    struct mcp_work *w = owner;

    if (w->call.next == MCP_PLAY)
        play(w);
    else
        sign_of_life(w);
}

static void waits(struct pending *p)
{
    struct mcp_work *w = p->owner;

    if (!w->timer && w->call.progress_token.len && takes_stream(w))
        w->timer = timer_new(w->server->loop, on_timer, w);
    if (w->timer)
        timer_set(w->timer, w->server->limits.mcp_progress_ms);
}

static void performed(struct pending *p)
{
    struct mcp_work *w = p->owner;

    if (is_abandoned(w)) {
        answer(w);
        return;
    }
    if (w->timer)
        timer_clear(w->timer);
    mcp_performed(&w->call, &p->command);
    if (w->grant && w->call.quiet_at > w->grant->quiet_at)
        w->grant->quiet_at = w->call.quiet_at;
    next(w);
}

static void perform(struct mcp_work *w)
{
    struct mcp_call *m = &w->call;
    struct pending *p = &w->pending;

    if (mcp_peek(m, w->server->cache)) {
        w->server->cache_hits++;
        next(w);
        return;
    }
    assert(w->grant); /* nothing is performed for nobody */
    p->command = (struct command){ .arena = w->arena,
                                   .op = m->op,
                                   .input = m->input,
                                   .actor = w->grant->actor,
                                   .key = m->key,
                                   .by_person = m->by_person };
    p->cached = m->plain ? m->plain_id : STR("");
    err e = pending_submit(p);
    if (!e)
        return;
    p->command.error = e;
    mcp_performed(m, &p->command);
    next(w);
}

/* ---- its end before its time ---- */

static void cancel(struct mcp_work *w, enum cancel_reason why)
{
    if (why == CANCEL_GONE)
        w->channel = NULL;
    if (w->timer)
        timer_clear(w->timer);
    if (w->call.next != MCP_PLAY) {
        pending_cancel(&w->pending, why);
    } else if (!w->channel) {
        work_free(w);
    } else {
        w->call.answer = mcp_fault(w->arena, w->call.message.id, RPC_INTERNAL, cancel_text(why));
        answer(w);
    }
}

static void on_http_cancel(struct http *h, enum cancel_reason why)
{
    cancel(h->work, why);
}

static void on_over(void *owner, enum cancel_reason why)
{
    cancel(owner, why);
}

static void on_room(void *owner)
{
    (void)owner; /* it says little, and keeps what it says */
}

static const struct mcp_channel_events events = { .room = on_room, .over = on_over };

/* ---- what is next ---- */

/* A client of an older revision, which may not know what becomes of a closed connection, says that
 * it wants no answer. It gets one all the same, at once: its request must end. */
static void cancel_message(struct mcp_session *session, const struct json *id)
{
    LIST_EACH(it, &session->works) {
        struct mcp_work *w = LIST_ENTRY(it, struct mcp_work, link);
        if (id && w->call.message.id && json_equal(w->call.message.id, id)) {
            cancel(w, CANCEL_ASKED);
            return;
        }
    }
}

static void accept_message(struct mcp_work *w)
{
    const struct rpc *message = &w->call.message;

    if (w->session && message->kind == RPC_RESPONSE) {
        struct mcp_work *asker = mcp_play_reply(w->session, message);
        if (asker)
            play(asker);
    } else if (w->session && str_eq(message->method, STR("notifications/cancelled"))) {
        cancel_message(w->session, json_get(message->params, "requestId"));
    }
    respond(w, 202, STR(""), STR(""));
}

static void initialize(struct mcp_work *w)
{
    struct mcp_session *session;
    err full = mcp_session_begin(w->server, w->arena, &w->call.client, w->grant, cancel, &session);

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
    answer(w);
}

static void unsubscribe(struct mcp_work *w)
{
    if (w->session)
        mcp_listener_drop(w->session->listener, TOPIC_URI, w->call.uri);
    answer(w);
}

static void set_level(struct mcp_work *w)
{
    if (w->session)
        w->session->client.log_level = w->call.client.log_level;
    answer(w);
}

static void listen(struct mcp_work *w)
{
    const struct mcp_listen *wishes = &w->call.listen;
    struct mcp_channel *channel;

    assert(w->http);
    if (!takes_stream(w)) {
        refuse_stream(w);
        return;
    }
    if (!mcp_listener_can(wishes)) {
        w->call.status = 400;
        w->call.answer = mcp_fault(w->arena, w->call.message.id, RPC_PARAMS,
                                   "one listener hears of 250 things at most: use several");
        answer(w);
        return;
    }
    struct mcp_listener *l =
        mcp_listener_open(w->server, w->arena, w->grant, w->call.message.id, &channel);
    w->grant = NULL;
    conn_take(w, channel);
    mcp_listener_start(l, w->call.answer, wishes);
}

/* Who has gone is not known by a session's stream, and may leave any number of questions behind. */
static bool plays_too_many(const struct mcp_work *w)
{
    uint32_t count = 0;

    if (w->session)
        LIST_EACH(it, &w->session->works)
            count += LIST_ENTRY(it, struct mcp_work, link)->call.next == MCP_PLAY;
    return count > PLAYS_MAX;
}

static void play_begin(struct mcp_work *w)
{
    if (plays_too_many(w)) {
        w->call.next = MCP_ANSWER;
        w->call.status = 200;
        w->call.answer = mcp_fault(w->arena, w->call.message.id, RPC_INTERNAL,
                                   "16 questions to this client wait for an answer: answer one of "
                                   "them, or cancel its call, and call again");
        answer(w);
        return;
    }
    if (!stream(w))
        return;
    if (!w->timer)
        w->timer = timer_new(w->server->loop, on_timer, w);
    timer_clear(w->timer); /* of signs of life, which it gives by itself from now on */
    play(w);
}

static void next(struct mcp_work *w)
{
    // clang-format off
    static void (*const steps[])(struct mcp_work *w) = {
        [MCP_ANSWER]      = answer,
        [MCP_ACCEPTED]    = accept_message,
        [MCP_PERFORM]     = perform,
        [MCP_LISTEN]      = listen,
        [MCP_PLAY]        = play_begin,
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
    w->grant = s->options.mcp_open ? NULL : grant_ref(h->x.conn->grant);
    w->session = mcp_session_find(s, h->x.request, w->grant);
    list_init(&w->link);
    w->pending = (struct pending){ .server = s,
                                   .charge = w->charge,
                                   .cached = STR(""),
                                   .wait_until_ms = now + s->limits.mcp_wait_ms,
                                   .done = performed,
                                   .waits = waits,
                                   .owner = w };
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
    h->cancel = on_http_cancel;
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
