/* hub_subscriber.c: subscribers, and how they catch up with the log.
 *
 * A subscriber that is not live has a page of the log on its way. What is published meanwhile is its
 * backlog, because the page may not show it yet: behind the last page it gets the backlog, and so
 * needs no second read of a log that never stands still. Does not know sockets. */
#include <assert.h>

#include "wire/held.h"
#include "wire/hub_private.h"
#include "wire/ws/frame.h"

enum {
    PAGE_MIN = 25,     /* events of one read: of the first, and after one that was too much */
    PAGE_MAX = 200,    /* and at most */
    BACKLOG_MAX = 256, /* events of one subscriber's backlog; beyond it, it reads again */
    PAGES_MAX = 8, /* on their way at a time: each may be megabytes, and others are read for, too */
    RETRY_MS = 50, /* until a page is asked for again, when there was no room for it */
    FROM_NOW = -1, /* of hub_filter.after */
};

struct backlog {
    struct shared *framed;
    int64_t seq;
};

/* ---- frames: an event as each encoding has it ---- */

void sse_write(struct buf *out, int64_t seq, str type, str json)
{
    buf_printf(out, "id: %lld\nevent: " STR_FMT "\ndata: ", (long long)seq, STR_ARG(type));
    buf_add(out, json); /* printed JSON has no line ends */
    buf_add(out, STR("\n\n"));
}

static struct shared *frame_make(struct arena *a, enum hub_encoding encoding, int64_t seq, str type,
                                 str json)
{
    struct buf out = buf_in(a);

    if (encoding == HUB_WEBSOCKET)
        websocket_frame(&out, WEBSOCKET_TEXT, json);
    else
        sse_write(&out, seq, type, json);
    return shared_new(buf_str(&out));
}

static struct shared *publication_frame(struct hub *h, struct publication *t,
                                        enum hub_encoding encoding)
{
    if (!t->framed[encoding]) {
        struct buf json = buf_in(h->scratch);
        event_print(&json, t->event, encoding == HUB_WEBSOCKET ? EVENT_MESSAGE : EVENT_LISTED);
        t->framed[encoding] = frame_make(h->scratch, encoding, t->seq, t->type, buf_str(&json));
        arena_reset(h->scratch);
    }
    return t->framed[encoding];
}

/* ---- subscribers ---- */

static bool subscriber_wants(const struct subscriber *f, str type)
{
    for (size_t i = 0; i < f->type_count; i++)
        if (str_eq(f->types[i], type))
            return true;
    return f->type_count == 0;
}

static void backlog_drop(struct subscriber *f)
{
    for (uint32_t i = 0; i < f->backlog_count; i++)
        shared_release(f->hub->server, f->backlog[i].framed);
    mem_free(f->backlog);
    f->backlog = NULL;
    f->backlog_count = 0;
    f->backlog_lost = false;
}

static void backlog_add(struct subscriber *f, struct shared *framed, int64_t seq)
{
    if (f->backlog_count == BACKLOG_MAX || held_is_full(f->hub->server)) {
        f->backlog_lost = true;
        return;
    }
    if ((f->backlog_count & (f->backlog_count - 1)) == 0) /* 0 or a power of two: it is full */
        f->backlog = mem_grow(f->backlog, (f->backlog_count ? 2 * f->backlog_count : 1) *
                                              sizeof(struct backlog));
    f->backlog[f->backlog_count++] = (struct backlog){ shared_ref(framed), seq };
    shared_hold(f->hub->server, framed);
}

static void subscriber_unref(struct subscriber *f)
{
    if (--f->refs > 0)
        return;
    backlog_drop(f);
    grant_unref(f->grant);
    mem_free(f);
}

static void subscriber_give(struct subscriber *f, struct shared *framed, int64_t seq)
{
    assert(seq > f->given);
    f->given = seq;
    f->events->event(f->owner, framed, seq);
}

static void subscriber_start(struct subscriber *f)
{
    if (f->started)
        return;
    f->started = true;
    f->events->started(f->owner, f->given);
}

/* Whether its owner, who was told something, can be told more. */
static bool subscriber_is_joined(const struct subscriber *f)
{
    return !f->left && !f->paused;
}

/* ---- pages of the log ---- */

static void page_done(struct command *c);

static void page_stall(struct subscriber *f)
{
    struct hub *h = f->hub;

    if (list_empty(&h->stalled))
        timer_set(h->retry, RETRY_MS);
    list_append(&h->stalled, &f->stalled);
}

static struct json *page_input(struct arena *a, const struct subscriber *f)
{
    struct json *in = arena_alloc(a, sizeof *in), types = json_array();
    bool from_now = f->given == FROM_NOW, message = f->encoding == HUB_WEBSOCKET;
    str subject = arena_copy(a, f->topic->subject);

    *in = json_object();
    json_put(a, in, STR("after"), json_int(a, from_now ? INT64_MAX : f->given));
    json_put(a, in, STR("limit"), json_int(a, f->page));
    json_put(a, in, STR("shape"), json_string(message ? STR("message") : STR("event")));
    if (subject.len)
        json_put(a, in, STR("subject"), json_string(subject));
    for (size_t i = 0; i < f->type_count; i++)
        json_push(a, &types, json_string(arena_copy(a, f->types[i])));
    if (f->type_count)
        json_put(a, in, STR("type"), types);
    return in;
}

/* Asks for what comes after all that was given. */
static void page_ask(struct subscriber *f)
{
    struct server *s = f->hub->server;

    assert(!f->reading && !f->live && f->hub->list);
    if (f->hub->pages == PAGES_MAX || (f->started && held_is_full(s))) {
        page_stall(f); /* it is not its turn yet; or what it would be given has no room */
        return;
    }
    struct arena *a = server_arena(s);
    struct command *c = ARENA_NEW(a, struct command);
    *c = (struct command){ .arena = a,
                           .op = f->hub->list,
                           .input = page_input(a, f),
                           .actor = f->grant->actor,
                           .done = page_done,
                           .owner = f };
    backlog_drop(f);
    if (!server_submit(s, c)) {
        server_arena_done(s, a);
        page_stall(f);
        return;
    }
    f->backlog_from = f->hub->newest;
    f->hub->pages++;
    f->reading = true;
    f->refs++;
}

/* Behind the last page: what was published while it was on its way, and then live. */
static void page_last(struct subscriber *f)
{
    for (uint32_t i = 0; i < f->backlog_count; i++) {
        if (f->backlog[i].seq > f->given)
            subscriber_give(f, f->backlog[i].framed, f->backlog[i].seq);
        if (!subscriber_is_joined(f))
            return;
    }
    if (f->backlog_lost) {
        page_ask(f);
        return;
    }
    f->live = true;
    f->events->caught_up(f->owner, f->given);
}

/* Gives the events of a page; false when its owner wants no more of them. */
static bool page_give(struct subscriber *f, struct arena *a, const struct json *events)
{
    const char *type_of = f->encoding == HUB_WEBSOCKET ? "event_type" : "type";

    for (uint32_t i = 0; i < events->len; i++) {
        const struct json *e = &events->items[i];
        int64_t seq = json_int_or(e, "seq", 0);
        struct shared *framed =
            frame_make(a, f->encoding, seq, json_str(e, type_of), json_printed(a, e));
        subscriber_give(f, framed, seq);
        shared_unref(framed);
        if (!subscriber_is_joined(f))
            return false;
    }
    return true;
}

/* Where a subscriber begins. One that has seen more than there is saw another log, of which all is
 * lost. */
static void page_start(struct subscriber *f, int64_t seen)
{
    bool elsewhere = f->given > seen && !f->started;

    if (f->given == FROM_NOW)
        f->given = seen;
    subscriber_start(f);
    if (elsewhere && subscriber_is_joined(f)) {
        f->given = seen;
        f->events->gap(f->owner, seen + 1, seen);
    }
}

/* A state may be called by its name, and events have its id: the log says whose they are. What was
 * published meanwhile was not noted for it, so the log is asked again. True: it was another. */
static bool page_subject(struct subscriber *f, str subject)
{
    if (!subject.len || str_eq(subject, f->topic->subject))
        return false;
    list_remove(&f->link);
    topic_done(f->hub, f->topic);
    f->topic = topic_use(f->hub, subject);
    list_append(&f->topic->subscribers, &f->link);
    return true;
}

static err page_take(struct subscriber *f, struct command *c)
{
    const struct json *answer;

    TRY(json_parse_own(c->arena, c->answer.text, &answer));
    const struct json *events = json_get(answer, "events");
    int64_t seen = json_int_or(answer, "seen", -1), next = json_int_or(answer, "next", -1);
    if (!json_is(events, JSON_ARRAY) || seen < 0 || next < 0)
        return err_new(c->arena, ERR_INTERNAL, "event.list answered without events, seen or next");
    bool moved = page_subject(f, json_str(answer, "subject"));
    page_start(f, seen);
    f->page = PAGE_MIN;
    if (!subscriber_is_joined(f) || !page_give(f, c->arena, events))
        return NULL;
    f->page = PAGE_MAX;
    int64_t looked_at = next < seen ? next : seen;
    if (f->given < looked_at)
        f->given = looked_at;
    if (looked_at < seen || seen < f->backlog_from || moved)
        page_ask(f);
    else
        page_last(f);
    return NULL;
}

/* The log begins later than what was asked for: says so, and goes on from there. */
static err page_gone(struct subscriber *f, struct command *c)
{
    const struct json *members;
    str text = arena_printf(c->arena, "{" STR_FMT "}", STR_ARG(c->error->members));

    TRY(json_parse_own(c->arena, text, &members));
    int64_t oldest = json_int_or(members, "oldest", 0);
    int64_t newest = f->hub->newest > c->seq ? f->hub->newest : c->seq;
    if (oldest - 1 <= f->given)
        return c->error;
    subscriber_start(f);
    if (!subscriber_is_joined(f))
        return NULL;
    f->given = oldest - 1;
    f->events->gap(f->owner, oldest, newest > oldest ? newest : oldest);
    if (subscriber_is_joined(f))
        page_ask(f);
    return NULL;
}

/* The next of those whose turn it was not. */
static void page_next(struct hub *h)
{
    if (list_empty(&h->stalled))
        return;
    struct list *first = h->stalled.next;
    list_remove(first);
    page_ask(LIST_ENTRY(first, struct subscriber, stalled));
}

static void page_done(struct command *c)
{
    struct subscriber *f = c->owner;
    struct hub *h = f->hub;
    err e = NULL;

    h->pages--;
    f->reading = false;
    f->giving = true;
    if (!subscriber_is_joined(f))
        ; /* it reads again when it is resumed */
    else if (!c->error)
        e = page_take(f, c);
    else if (c->error->kind == ERR_UNAVAILABLE)
        page_stall(f);
    else
        e = c->error->kind == ERR_GONE ? page_gone(f, c) : c->error;
    if (e)
        f->events->failed(f->owner, e);
    f->giving = false;
    if (!f->reading)
        backlog_drop(f);
    server_arena_done(f->hub->server, c->arena);
    subscriber_unref(f);
    page_next(h);
}

void subscribers_retry(void *owner)
{
    struct hub *h = owner;
    struct list again;

    list_init(&again);
    LIST_EACH(it, &h->stalled) {
        list_remove(it);
        list_append(&again, it);
    }
    LIST_EACH(it, &again) {
        list_remove(it);
        page_ask(LIST_ENTRY(it, struct subscriber, stalled));
    }
}

/* ---- listening ---- */

struct subscriber *hub_subscribe(struct hub *h, const struct hub_filter *filter, struct grant *g,
                                 enum hub_encoding encoding, const struct hub_events *events,
                                 void *owner)
{
    size_t types = filter->type_count * sizeof(str), bytes = 0;
    for (size_t i = 0; i < filter->type_count; i++)
        bytes += filter->types[i].len;
    struct subscriber *f = mem_alloc(sizeof *f + types + bytes);

    *f = (struct subscriber){ .hub = h,
                              .topic = topic_use(h, event_scope(g->actor, filter->subject)),
                              .grant = grant_ref(g),
                              .quota = quota_of(h->server, g),
                              .encoding = encoding,
                              .events = events,
                              .owner = owner,
                              .refs = 1,
                              .given = filter->after,
                              .page = PAGE_MIN,
                              .type_count = filter->type_count };
    char *at = (char *)(f->types + filter->type_count);
    for (size_t i = 0; i < filter->type_count; i++) {
        f->types[i] =
            (str){ memcpy(at, filter->types[i].at, filter->types[i].len), filter->types[i].len };
        at += filter->types[i].len;
    }
    f->quota->waits++;
    list_append(&f->topic->subscribers, &f->link);
    list_init(&f->stalled);
    page_ask(f);
    return f;
}

void hub_unsubscribe(struct subscriber *f)
{
    assert(!f->left);
    f->left = true;
    f->live = false;
    if (f->hub->next == &f->link)
        f->hub->next = f->link.next;
    list_remove(&f->link);
    list_remove(&f->stalled);
    topic_done(f->hub, f->topic);
    f->quota->waits--;
    quota_unref(f->quota);
    subscriber_unref(f);
}

void hub_pause(struct subscriber *f)
{
    /* A quiet subject gives nothing for days, and is complete all the same. */
    if (f->live && f->hub->newest > f->given)
        f->given = f->hub->newest;
    f->paused = true;
    f->live = false;
    list_remove(&f->stalled);
}

void hub_resume(struct subscriber *f)
{
    if (!f->paused)
        return;
    f->paused = false;
    if (!f->reading && !f->giving)
        page_ask(f);
}

/* ---- publishing ---- */

void subscriber_send(struct subscriber *f, struct publication *t)
{
    if (t->seq <= f->given || !(f->live || (f->reading && !f->backlog_lost)))
        return;
    if (!subscriber_wants(f, t->type)) {
        if (f->live)
            f->given = t->seq;
        return;
    }
    struct shared *framed = publication_frame(f->hub, t, f->encoding);
    if (f->live)
        subscriber_give(f, framed, t->seq);
    else
        backlog_add(f, framed, t->seq);
}
