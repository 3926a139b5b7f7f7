/* message.c: what the messages of a WebSocket ask for, and what is answered.
 *
 * Every message that can be understood is answered, each mistake with what was expected. Events
 * themselves are framed by the hub and only pass through here. */
#include "wire/ws/ws.h"

#include "base/utf8.h"
#include "json/write.h"

enum { SUBS_MAX = 100, TYPES_MAX = 64, ID_MAX = 200, FIELDS_MAX = 5, SUBJECT_MAX = 500 };

struct sub {
    struct list link; /* in the connection */
    struct ws *ws;
    struct subscriber *subscriber;
    bool of_state;  /* it named a state_id */
    bool replaying; /* it asked for what was, and was not told yet that it has all of it */
    str id;         /* printed JSON; empty: none */
    str subject;
};

/* ---- messages to the peer ---- */

struct message {
    struct arena *arena;
    struct buf text;
    struct json_writer w;
};

static void message_begin(struct message *m, struct ws *ws, const char *type)
{
    m->arena = server_arena(ws->server);
    m->text = buf_in(m->arena);
    m->w = json_writer_to(&m->text);
    json_write_begin(&m->w, '{');
    write_text(&m->w, STR("type"), str_from(type));
}

static void message_int(struct message *m, str name, int64_t value)
{
    write_int(&m->w, name, value);
}

static void message_id(struct message *m, str id)
{
    if (id.len == 0)
        return;
    write_printed(&m->w, STR("id"), id);
}

/* By what a subscription is known to the peer. */
static void message_sub(struct message *m, const struct sub *s)
{
    message_id(m, s->id);
    if (s->subject.len)
        write_text(&m->w, s->of_state ? STR("state_id") : STR("subject"), s->subject);
}

static void message_send(struct message *m, struct ws *ws)
{
    struct buf frame = buf_in(m->arena);

    json_write_end(&m->w, '}');
    websocket_frame(&frame, WEBSOCKET_TEXT, buf_str(&m->text));
    conn_send(ws->conn, buf_str(&frame));
    conn_flush_later(ws->conn);
    server_arena_done(ws->server, m->arena);
}

static void say_error(struct ws *ws, err e, str id, const struct sub *s)
{
    struct message m;
    const struct error_kind_info *look = error_kind_info(e->kind);

    message_begin(&m, ws, "error");
    message_int(&m, STR("status"), look->http);
    write_text(&m.w, STR("title"), str_from(look->title));
    write_text(&m.w, STR("detail"), e->message);
    if (s)
        message_sub(&m, s);
    else
        message_id(&m, id);
    message_send(&m, ws);
}

void ws_say_authenticated(struct ws *ws)
{
    struct message m;

    message_begin(&m, ws, "authenticated");
    message_send(&m, ws);
}

/* ---- subscriptions ---- */

static void sub_end(struct sub *s)
{
    hub_unsubscribe(s->subscriber);
    list_remove(&s->link);
    s->ws->sub_count--;
    mem_free(s);
}

void ws_unsubscribe_all(struct ws *ws)
{
    LIST_EACH(it, &ws->subs)
        sub_end(LIST_ENTRY(it, struct sub, link));
}

void ws_resume_all(struct ws *ws)
{
    LIST_EACH(it, &ws->subs)
        hub_resume(LIST_ENTRY(it, struct sub, link)->subscriber);
}

static void on_started(void *owner, int64_t seq)
{
    struct sub *s = owner;
    struct message m;

    message_begin(&m, s->ws, "snapshot");
    message_int(&m, STR("seq"), seq);
    message_sub(&m, s);
    message_send(&m, s->ws);
}

static void on_event(void *owner, struct shared *framed, int64_t seq)
{
    struct ws *ws = ((struct sub *)owner)->ws;

    (void)seq;
    if (lag_put(&ws->lag, ws->conn, framed))
        LIST_EACH(it, &ws->subs)
            hub_pause(LIST_ENTRY(it, struct sub, link)->subscriber);
}

static void on_caught_up(void *owner, int64_t seq)
{
    struct sub *s = owner;
    struct message m;

    if (!s->replaying)
        return;
    s->replaying = false;
    message_begin(&m, s->ws, "caught_up");
    message_int(&m, STR("seq"), seq);
    message_sub(&m, s);
    message_send(&m, s->ws);
}

static void on_gap(void *owner, int64_t oldest, int64_t newest)
{
    struct sub *s = owner;
    struct message m;

    s->replaying = true;
    message_begin(&m, s->ws, "reset");
    message_int(&m, STR("oldest"), oldest);
    message_int(&m, STR("newest"), newest);
    message_sub(&m, s);
    message_send(&m, s->ws);
}

static void on_failed(void *owner, err e)
{
    struct sub *s = owner;

    say_error(s->ws, e, STR(""), s);
    sub_end(s);
}

static const struct hub_events sub_events = { .started = on_started,
                                              .event = on_event,
                                              .caught_up = on_caught_up,
                                              .gap = on_gap,
                                              .failed = on_failed };

/* ---- what a message says ---- */

struct request {
    str id, subject; /* the id as printed JSON */
    bool of_state, has_after;
    struct hub_filter filter;
};

static err types_read(struct arena *a, const struct json *types, struct hub_filter *out)
{
    str *names = ARENA_ARRAY(a, str, TYPES_MAX);
    bool fits = json_is(types, JSON_ARRAY) && types->len <= TYPES_MAX;

    for (uint32_t i = 0; fits && i < types->len; i++) {
        fits = json_is(&types->items[i], JSON_STRING) && types->items[i].len <= ID_MAX;
        names[i] = fits ? json_text(&types->items[i]) : STR("");
    }
    if (!fits)
        return err_new(a, ERR_INVALID,
                       "types: expected an array of at most %d names of event types, such as"
                       " [\"workflow_state_updated\"]",
                       TYPES_MAX);
    out->types = names;
    out->type_count = types->len;
    return NULL;
}

/* Which subject: by either name, of which there may be one. */
static err subject_read(struct arena *a, const struct json *m, struct request *out)
{
    const struct json *state_id = json_get(m, "state_id"), *subject = json_get(m, "subject");
    const struct json *named = state_id ? state_id : subject;

    if (state_id && subject)
        return err_new(a, ERR_INVALID, "expected state_id or subject, found both");
    if (!named)
        return NULL;
    if (!json_is(named, JSON_STRING) || named->len == 0 || named->len > SUBJECT_MAX)
        return err_new(a, ERR_INVALID, "%s: expected a string of 1 to %d bytes, found " STR_FMT,
                       state_id ? "state_id" : "subject", SUBJECT_MAX,
                       STR_ARG(utf8_cut(json_printed(a, named), SUBJECT_MAX)));
    out->of_state = state_id;
    out->subject = out->filter.subject = json_text(named);
    return NULL;
}

static err request_read(struct arena *a, const struct json *m, str id, struct request *out)
{
    const struct json *after = json_get(m, "after"), *types = json_get(m, "types");

    *out = (struct request){ .id = id,
                             .subject = STR(""),
                             .filter = { .subject = STR(""), .after = -1 } };
    TRY(subject_read(a, m, out));
    if (types)
        TRY(types_read(a, types, &out->filter));
    if (after) {
        out->has_after = true;
        if (!json_is_number(after) || !json_to_int(after, &out->filter.after) ||
            out->filter.after < 0)
            return err_new(a, ERR_INVALID,
                           "after: expected the number of the last event that you have, 0 or"
                           " more, found %s",
                           json_printed(a, after).at);
    }
    return NULL;
}

/* The subscription of that id, or of that subject where none was given. */
static struct sub *sub_find(struct ws *ws, const struct request *r)
{
    LIST_EACH(it, &ws->subs) {
        struct sub *s = LIST_ENTRY(it, struct sub, link);
        if (r->id.len ? str_eq(s->id, r->id) : !s->id.len && str_eq(s->subject, r->subject))
            return s;
    }
    return NULL;
}

/* ---- actions ---- */

static err act_subscribe(struct ws *ws, struct arena *a, const struct json *m, str id, str *shown)
{
    struct request r;

    (void)shown;
    TRY(request_read(a, m, id, &r));
    if (sub_find(ws, &r))
        return err_new(a, ERR_CONFLICT,
                       "there is such a subscription already: unsubscribe first, or give each an"
                       " id of its own");
    if (ws->sub_count == SUBS_MAX)
        return err_new(a, ERR_LIMIT,
                       "a connection has at most %d subscriptions: unsubscribe from"
                       " one, or open another connection",
                       SUBS_MAX);
    TRY(quota_check_wait(ws->server, ws->conn->quota, 1, a));
    struct sub *s = mem_alloc(sizeof *s + r.id.len + r.subject.len);
    char *texts = (char *)(s + 1);
    *s = (struct sub){ .ws = ws,
                       .of_state = r.of_state,
                       .replaying = r.has_after,
                       .id = { texts, r.id.len },
                       .subject = { texts + r.id.len, r.subject.len } };
    memcpy(texts, r.id.at, r.id.len);
    memcpy(texts + r.id.len, r.subject.at, r.subject.len);
    s->subscriber =
        hub_subscribe(ws->server->hub, &r.filter, ws->conn->grant, HUB_WEBSOCKET, &sub_events, s);
    list_append(&ws->subs, &s->link);
    ws->sub_count++;
    if (ws->lag.behind)
        hub_pause(s->subscriber);
    return NULL;
}

static err act_unsubscribe(struct ws *ws, struct arena *a, const struct json *m, str id, str *shown)
{
    struct request r;
    struct message out;

    (void)shown;
    TRY(request_read(a, m, id, &r));
    struct sub *s = sub_find(ws, &r);
    if (!s)
        return err_new(a, ERR_NOT_FOUND,
                       "there is no such subscription: name it by the id, or by"
                       " the state_id or subject, that it was made with");
    message_begin(&out, ws, "unsubscribed");
    message_sub(&out, s);
    message_send(&out, ws);
    sub_end(s);
    return NULL;
}

static err act_ping(struct ws *ws, struct arena *a, const struct json *m, str id, str *shown)
{
    struct message out;

    (void)a, (void)m, (void)shown;
    message_begin(&out, ws, "pong");
    message_id(&out, id);
    message_send(&out, ws);
    return NULL;
}

static err act_auth(struct ws *ws, struct arena *a, const struct json *m, str id, str *shown)
{
    str token = json_str(m, "token");

    (void)id;
    if (ws->conn->grant)
        return err_new(a, ERR_CONFLICT, "this connection is authenticated already");
    if (token.len == 0)
        return err_new(a, ERR_INVALID, "expected a token, as a string");
    ws->asked = true;
    *shown = token;
    return NULL;
}

// clang-format off
static const struct action {
    const char *name;
    err (*act)(struct ws *ws, struct arena *a, const struct json *m, str id, str *shown);
    const char *fields[FIELDS_MAX]; /* beside action and id */
} actions[] = {
    { "subscribe",   act_subscribe,   { "state_id", "subject", "types", "after" } },
    { "unsubscribe", act_unsubscribe, { "state_id", "subject" } },
    { "ping",        act_ping,        { 0 } },
    { "auth",        act_auth,        { "token" } },
};
// clang-format on

static const struct action *action_find(str name)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (str_eq(name, str_from(actions[i].name)))
            return &actions[i];
    return NULL;
}

static err fields_check(struct arena *a, const struct json *m, const struct action *action)
{
    for (uint32_t i = 0; i < m->len; i++) {
        str name = json_name(&m->members[i]);
        bool known = str_eq(name, STR("action")) || str_eq(name, STR("id"));
        for (int f = 0; !known && action->fields[f]; f++)
            known = str_eq(name, str_from(action->fields[f]));
        if (!known)
            return err_new(a, ERR_INVALID, "%s has no field \"" STR_FMT "\"", action->name,
                           STR_ARG(name));
    }
    return NULL;
}

/* What an answer is recognised by. */
static err id_read(struct arena *a, const struct json *m, str *id)
{
    const struct json *given = json_get(m, "id");

    *id = STR("");
    if (!given)
        return NULL;
    if ((!json_is(given, JSON_STRING) && !json_is(given, JSON_INTEGER)) || given->len > ID_MAX)
        return err_new(a, ERR_INVALID, "id: expected an integer or a string of at most %d bytes",
                       ID_MAX);
    *id = json_printed(a, given);
    return NULL;
}

static err message_take(struct ws *ws, struct arena *a, enum websocket_kind kind, str payload,
                        str *id, str *shown)
{
    const struct json *m;

    if (kind != WEBSOCKET_TEXT)
        return err_new(a, ERR_UNSUPPORTED, "expected a text message with JSON, found a binary one");
    TRY(json_parse(a, payload, NULL, &m));
    TRY(id_read(a, m, id));
    const struct action *action = action_find(json_str(m, "action"));
    if (!action)
        return err_new(a, ERR_INVALID,
                       "expected an object whose action is subscribe, unsubscribe, ping or auth");
    TRY(fields_check(a, m, action));
    if (!ws->conn->grant && action->act != act_auth)
        return err_new(a, ERR_UNAUTHENTICATED,
                       "expected {\"action\":\"auth\",\"token\":\"…\"} first");
    return action->act(ws, a, m, *id, shown);
}

/* A mistake is answered and the connection lives; but strangers get no second try. */
struct ws_outcome ws_message(struct ws *ws, struct arena *a, enum websocket_kind kind, str payload)
{
    struct ws_outcome outcome = { STR(""), STR("") };
    str id = STR("");
    err e = message_take(ws, a, kind, payload, &id, &outcome.token);

    if (e && ws->conn->grant)
        say_error(ws, e, id, NULL);
    else if (e)
        outcome.close = e->message;
    return outcome;
}
