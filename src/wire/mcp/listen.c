/* listen.c: who hears of what has changed: of a resource, a list, a task.
 *
 * A listener has topics. What has changed is not kept but noted: each topic owes one message at
 * most, which is sent when the client has room for it. So one that is slow, or away for a while, is
 * told once of many changes, and costs no memory. What may be heard is the hub's business: each
 * topic follows the log by the token of whoever asked for it. */
#include <assert.h>

#include "wire/mcp/private.h"

enum {
    TOPICS_MAX = 256, /* of one listener */
    NAME_MAX_BYTES = 1000,
};

struct mcp_listener {
    struct server *server;
    struct list all; /* of the server */
    struct mcp_channel *channel;
    struct list topics;
    uint32_t topic_count;

    /* Of one that is a request of its own; else empty. */
    struct arena *arena;
    struct grant *grant;
    const struct json *id;
    str subscription; /* the printed id */
};

struct mcp_topic {
    struct mcp_listener *listener;
    struct list link;
    enum mcp_topic_kind kind;
    str name; /* an address or an id; empty: it is a list */
    struct subscriber *subscriber;
    struct subscriber *session; /* of a task: it ends when the session behind the run has settled */
    struct asking *asking;
    bool owes;
};

/* How a task is, is asked before it is told. It lives in the call's arena. */
struct asking {
    struct mcp_call call;
    struct pending pending;
    struct server *server;
    struct grant *grant;
    struct mcp_topic *topic; /* NULL: nobody wants to know any more */
};

/* ---- publication ---- */

static void pay(struct mcp_topic *t);

static void follow_session(struct mcp_topic *t, const struct command *run);

static bool ask_on(struct asking *q);

static void ask_end(struct asking *q)
{
    grant_unref(q->grant);
    server_arena_done(q->server, q->call.arena);
}

/* A task is told as it is, or not at all: of one that is gone there is nothing to tell. */
static void asked(struct pending *p)
{
    struct asking *q = p->owner;
    struct mcp_topic *t = q->topic;
    const struct command *c = &p->command;

    if (t && !c->error) {
        follow_session(t, c);
        mcp_performed(&q->call, c);
        if (q->call.next == MCP_PERFORM && ask_on(q))
            return;
    }
    if (t) {
        t->asking = NULL;
        t->owes = t->owes || (c->error && c->error->kind == ERR_UNAVAILABLE);
        if (!c->error && q->call.next == MCP_ANSWER)
            mcp_channel_send(t->listener->channel, q->call.answer);
        pay(t);
    }
    ask_end(q);
}

/* False: there is no room for it. */
static bool ask_on(struct asking *q)
{
    q->pending = (struct pending){ .server = q->server,
                                   .command = { .arena = q->call.arena,
                                                .op = q->call.op,
                                                .input = q->call.input,
                                                .actor = q->call.actor },
                                   .cached = STR(""),
                                   .done = asked,
                                   .owner = q };
    return !pending_submit(&q->pending);
}

static bool ask_task(struct mcp_topic *t)
{
    const struct mcp_listener *l = t->listener;
    struct server *s = l->server;
    struct arena *a = server_arena(s);
    struct asking *q = ARENA_NEW(a, struct asking);

    *q = (struct asking){ .server = s, .topic = t, .grant = grant_ref(l->grant) };
    q->call = (struct mcp_call){ .arena = a,
                                 .mcp = s->options.mcp,
                                 .actor = q->grant->actor,
                                 .now_ms = s->options.now_ms(s->options.self) };
    mcp_task_status(&q->call, arena_copy(a, t->name), arena_copy(a, l->subscription));
    if (ask_on(q)) {
        t->asking = q;
        return true;
    }
    ask_end(q);
    return false;
}

static void say(const struct mcp_topic *t)
{
    static const char *const lists[] = {
        [TOPIC_TOOLS] = "tools", [TOPIC_PROMPTS] = "prompts", [TOPIC_RESOURCES] = "resources"
    };
    const struct mcp_listener *l = t->listener;
    struct arena *a = server_arena(l->server);

    mcp_channel_send(l->channel, t->kind == TOPIC_URI
                                     ? mcp_resource_updated(a, t->name, l->subscription)
                                     : mcp_list_changed(a, lists[t->kind], l->subscription));
    server_arena_done(l->server, a);
}

/* One that could not be asked for stays owed until there is room again. */
static void pay(struct mcp_topic *t)
{
    if (!t->owes || t->asking || !mcp_channel_has_room(t->listener->channel))
        return;
    t->owes = false;
    if (t->kind == TOPIC_TASK)
        t->owes = !ask_task(t);
    else
        say(t);
}

static void owe(struct mcp_topic *t)
{
    t->owes = true;
    pay(t);
}

/* ---- what the hub says ---- */

static void on_number(void *owner, int64_t seq)
{
    (void)owner, (void)seq;
}

static void on_event(void *owner, struct shared *framed, int64_t seq)
{
    (void)framed, (void)seq;
    owe(owner);
}

static void on_gap(void *owner, int64_t oldest, int64_t newest)
{
    (void)oldest, (void)newest;
    owe(owner); /* whatever was lost */
}

/* There is nothing here for the one that asked, and it was told what it may hear of. */
static void on_failed(void *owner, err e)
{
    (void)owner, (void)e;
}

static const struct hub_events topic_events = { .started = on_number,
                                                .event = on_event,
                                                .caught_up = on_number,
                                                .gap = on_gap,
                                                .failed = on_failed };

/* A client that was told that it listens hears of all that is published from that moment on. */
static void follow(struct mcp_topic *t, struct grant *g)
{
    static const str lists[] = { STR("workflow_state_created"), STR("workflow_state_deleted"),
                                 STR("session_bound") };
    struct server *s = t->listener->server;
    struct hub_filter filter = { .subject = t->name, .after = s->published };

    if (t->kind == TOPIC_URI && !mcp_uri_state(t->name, &filter.subject))
        return;
    if (t->kind == TOPIC_RESOURCES) {
        filter.types = lists;
        filter.type_count = event_scope(g->actor, STR("")).len ? 3
                                                               : 2; /* who sees all has no own */
    }
    t->subscriber = hub_subscribe(s->hub, &filter, g, HUB_SSE, &topic_events, t);
}

/* It is known when the run was looked at; from then on, since what it was then is in the answer. */
static void follow_session(struct mcp_topic *t, const struct command *run)
{
    static const str types[] = { STR("session_settled"), STR("session_deleted") };
    struct server *s = t->listener->server;
    struct hub_filter filter = { .types = types, .type_count = 2, .after = s->published };
    const struct json *answer;

    if (t->session || json_parse_own(run->arena, run->answer.text, &answer))
        return;
    filter.subject = json_str(answer, "session_id");
    if (filter.subject.len)
        t->session = hub_subscribe(s->hub, &filter, t->listener->grant, HUB_SSE, &topic_events, t);
}

/* ---- topics ---- */

static void topic_free(struct mcp_topic *t)
{
    if (t->subscriber)
        hub_unsubscribe(t->subscriber);
    if (t->session)
        hub_unsubscribe(t->session);
    if (t->asking)
        t->asking->topic = NULL;
    list_remove(&t->link);
    t->listener->topic_count--;
    mem_free(t);
}

static struct mcp_topic *topic_find(struct mcp_listener *l, enum mcp_topic_kind kind, str name)
{
    LIST_EACH(it, &l->topics) {
        struct mcp_topic *t = LIST_ENTRY(it, struct mcp_topic, link);
        if (t->kind == kind && str_eq(t->name, name))
            return t;
    }
    return NULL;
}

err mcp_listener_add(struct mcp_listener *l, struct arena *a, enum mcp_topic_kind kind, str name,
                     struct grant *g)
{
    if (topic_find(l, kind, name))
        return NULL;
    if (l->topic_count == TOPICS_MAX)
        return err_new(a, ERR_INVALID, "one listener hears of %d things at most", TOPICS_MAX);
    if (name.len > NAME_MAX_BYTES)
        return err_new(a, ERR_INVALID, "expected a name of at most %d bytes, found %zu",
                       NAME_MAX_BYTES, name.len);
    if (g) {
        struct quota *sh = quota_of(l->server, g);
        err e = quota_check_wait(l->server, sh, kind == TOPIC_TASK ? 2 : 1, a);
        quota_unref(sh);
        TRY(e);
    }
    struct mcp_topic *t = mem_alloc(sizeof *t + name.len);
    *t = (struct mcp_topic){ .listener = l, .kind = kind, .name = { (char *)(t + 1), name.len } };
    if (name.len)
        memcpy(t + 1, name.at, name.len);
    list_append(&l->topics, &t->link);
    l->topic_count++;
    if (g && kind != TOPIC_TOOLS && kind != TOPIC_PROMPTS)
        follow(t, g);
    if (g && kind == TOPIC_TASK)
        owe(t); /* it may have ended before anybody listened */
    return NULL;
}

void mcp_listener_drop(struct mcp_listener *l, enum mcp_topic_kind kind, str name)
{
    struct mcp_topic *t = topic_find(l, kind, name);

    if (t)
        topic_free(t);
}

void mcp_listeners_tell(struct server *s, const char *what)
{
    enum mcp_topic_kind kind = strcmp(what, "tools") == 0 ? TOPIC_TOOLS : TOPIC_PROMPTS;

    LIST_EACH(it, &s->mcp->listeners) {
        struct mcp_topic *t = topic_find(LIST_ENTRY(it, struct mcp_listener, all), kind, STR(""));
        if (t)
            owe(t);
    }
}

void mcp_hear(struct server *s, const struct event *e)
{
    if (s->mcp && str_eq(event_type_name(e), STR("document_used")))
        mcp_listeners_tell(s, "tools");
}

/* ---- listeners ---- */

static void on_room(void *owner)
{
    struct mcp_listener *l = owner;

    LIST_EACH(it, &l->topics)
        pay(LIST_ENTRY(it, struct mcp_topic, link));
}

static struct mcp_listener *listener_make(struct server *s)
{
    struct mcp_listener *l = mem_alloc(sizeof *l);

    *l = (struct mcp_listener){ .server = s };
    list_init(&l->topics);
    list_append(&s->mcp->listeners, &l->all);
    return l;
}

static void listener_release(struct mcp_listener *l)
{
    while (!list_empty(&l->topics))
        topic_free(LIST_ENTRY(l->topics.next, struct mcp_topic, link));
    list_remove(&l->all);
    if (l->grant)
        grant_unref(l->grant);
    if (l->arena)
        server_arena_done(l->server, l->arena);
    mem_free(l);
}

/* ---- of a session ---- */

/* The session stays, and another connection may come for it. */
static void on_session_over(void *owner, enum cancel_reason why)
{
    struct mcp_listener *l = owner;

    assert(why != CANCEL_GONE); /* a session's channel outlives its connections */
    mcp_channel_cut(l->channel, 0);
}

static const struct mcp_channel_events session_events = { .room = on_room,
                                                          .over = on_session_over };

struct mcp_listener *mcp_listener_new(struct mcp_session *session)
{
    struct mcp_listener *l = listener_make(session->server);

    l->channel = mcp_channel_new(session->server, session, &session_events, l);
    session->general = l->channel;
    return l;
}

void mcp_listener_free(struct mcp_listener *l)
{
    mcp_channel_end(l->channel);
    mcp_channel_forget(l->channel);
    listener_release(l);
}

/* ---- of a request ---- */

static void on_over(void *owner, enum cancel_reason why)
{
    struct mcp_listener *l = owner;

    if (why == CANCEL_STOPPING) {
        struct arena *a = server_arena(l->server);
        mcp_channel_send(l->channel, mcp_listen_over(a, l->id));
        server_arena_done(l->server, a);
    }
    if (why != CANCEL_GONE)
        mcp_channel_end(l->channel);
    listener_release(l);
}

static const struct mcp_channel_events events = { .room = on_room, .over = on_over };

static err add_all(struct mcp_listener *l, struct arena *a, enum mcp_topic_kind kind,
                   const str *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        TRY(mcp_listener_add(l, a, kind, names[i], l->grant));
    return NULL;
}

static err add_wishes(struct mcp_listener *l, struct arena *a, const struct mcp_listen *wishes)
{
    static const str list[] = { STR("") };

    TRY(add_all(l, a, TOPIC_TOOLS, list, wishes->tools));
    TRY(add_all(l, a, TOPIC_PROMPTS, list, wishes->prompts));
    TRY(add_all(l, a, TOPIC_RESOURCES, list, wishes->resources));
    TRY(add_all(l, a, TOPIC_URI, wishes->uris, wishes->uri_count));
    return add_all(l, a, TOPIC_TASK, wishes->tasks, wishes->task_count);
}

bool mcp_listener_can(const struct mcp_listen *wishes)
{
    return wishes->uri_count + wishes->task_count + 3 <= TOPICS_MAX;
}

struct mcp_listener *mcp_listener_open(struct server *s, struct arena *a, struct grant *g,
                                       const struct json *id, struct mcp_channel **channel)
{
    struct mcp_listener *l = listener_make(s);

    l->arena = a;
    l->grant = g;
    l->id = id;
    l->subscription = json_printed(a, id);
    l->channel = *channel = mcp_channel_new(s, NULL, &events, l);
    return l;
}

void mcp_listener_start(struct mcp_listener *l, str answer, const struct mcp_listen *wishes)
{
    mcp_channel_send(l->channel, answer);
    err e = add_wishes(l, l->arena, wishes);
    if (!e)
        return;
    mcp_channel_send(l->channel,
                     mcp_fault(l->arena, l->id, RPC_PARAMS, arena_copy(l->arena, e->message).at));
    mcp_channel_end(l->channel);
    listener_release(l);
}
