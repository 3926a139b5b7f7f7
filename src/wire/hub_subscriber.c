/* hub_subscriber.c: listeners, and how they catch up with the log.
 *
 * A listener that is not live has a page of the log on its way. What is published meanwhile is kept
 * for it, because the page may not show it yet: behind the last page it gets what was kept, and so
 * needs no second look at a log that never stands still. Does not know sockets. */
#include <assert.h>

#include "wire/hub_private.h"
#include "wire/ws/frame.h"

enum {
    PAGE_MIN = 25,  /* events of one read: of the first, and after one that was too much */
    PAGE_MAX = 200, /* and at most */
    KEPT_MAX = 256, /* events kept for one listener; beyond it, it reads again */
    PAGES_MAX = 8, /* on their way at a time: each may be megabytes, and others are read for, too */
    RETRY_MS = 50, /* until a page is asked for again, when there was no room for it */
    FROM_NOW = -1, /* of hub_wish.after */
};

struct kept {
    struct shared *framed;
    int64_t seq;
};

/* ---- frames: an event as each look has it ---- */

void sse_write(struct buf *out, int64_t seq, str type, str json)
{
    buf_printf(out, "id: %lld\nevent: " STR_FMT "\ndata: ", (long long)seq, STR_ARG(type));
    buf_add(out, json); /* printed JSON has no line ends */
    buf_add(out, STR("\n\n"));
}

static struct shared *frame_make(struct arena *a, enum hub_look look, int64_t seq, str type,
                                 str json)
{
    struct buf out = buf_in(a);

    if (look == HUB_WEBSOCKET)
        websocket_frame(&out, WEBSOCKET_TEXT, json);
    else
        sse_write(&out, seq, type, json);
    return shared_new(buf_str(&out));
}

static struct shared *telling_frame(struct hub *h, struct telling *t, enum hub_look look)
{
    if (!t->framed[look]) {
        struct buf json = buf_in(h->scratch);
        event_print(&json, t->event, look == HUB_WEBSOCKET ? EVENT_MESSAGE : EVENT_LISTED);
        t->framed[look] = frame_make(h->scratch, look, t->seq, t->type, buf_str(&json));
        arena_reset(h->scratch);
    }
    return t->framed[look];
}

/* ---- followers ---- */

static bool follower_wants(const struct follower *f, str type)
{
    for (size_t i = 0; i < f->type_count; i++)
        if (str_eq(f->types[i], type))
            return true;
    return f->type_count == 0;
}

static void kept_drop(struct follower *f)
{
    for (uint32_t i = 0; i < f->kept_count; i++)
        shared_release(f->hub->server, f->kept[i].framed);
    mem_free(f->kept);
    f->kept = NULL;
    f->kept_count = 0;
    f->kept_lost = false;
}

static void kept_add(struct follower *f, struct shared *framed, int64_t seq)
{
    if (f->kept_count == KEPT_MAX || held_is_full(f->hub->server)) {
        f->kept_lost = true;
        return;
    }
    if ((f->kept_count & (f->kept_count - 1)) == 0) /* 0 or a power of two: it is full */
        f->kept = mem_grow(f->kept, (f->kept_count ? 2 * f->kept_count : 1) * sizeof(struct kept));
    f->kept[f->kept_count++] = (struct kept){ shared_ref(framed), seq };
    shared_hold(f->hub->server, framed);
}

static void follower_unref(struct follower *f)
{
    if (--f->refs > 0)
        return;
    kept_drop(f);
    grant_unref(f->grant);
    mem_free(f);
}

static void follower_give(struct follower *f, struct shared *framed, int64_t seq)
{
    assert(seq > f->given);
    f->given = seq;
    f->events->event(f->owner, framed, seq);
}

static void follower_start(struct follower *f)
{
    if (f->started)
        return;
    f->started = true;
    f->events->started(f->owner, f->given);
}

/* Whether its owner, who was told something, can be told more. */
static bool follower_listens(const struct follower *f)
{
    return !f->left && !f->paused;
}

/* ---- pages of the log ---- */

static void page_done(struct command *c);

static void page_stall(struct follower *f)
{
    struct hub *h = f->hub;

    if (list_empty(&h->stalled))
        timer_set(h->retry, RETRY_MS);
    list_append(&h->stalled, &f->stalled);
}

static struct json *page_input(struct arena *a, const struct follower *f)
{
    struct json *in = arena_alloc(a, sizeof *in), types = json_array();
    bool from_now = f->given == FROM_NOW, message = f->look == HUB_WEBSOCKET;
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
static void page_ask(struct follower *f)
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
    kept_drop(f);
    if (!server_submit(s, c)) {
        server_arena_done(s, a);
        page_stall(f);
        return;
    }
    f->kept_from = f->hub->newest;
    f->hub->pages++;
    f->reading = true;
    f->refs++;
}

/* Behind the last page: what was published while it was on its way, and then live. */
static void page_last(struct follower *f)
{
    for (uint32_t i = 0; i < f->kept_count; i++) {
        if (f->kept[i].seq > f->given)
            follower_give(f, f->kept[i].framed, f->kept[i].seq);
        if (!follower_listens(f))
            return;
    }
    if (f->kept_lost) {
        page_ask(f);
        return;
    }
    f->live = true;
    f->events->caught_up(f->owner, f->given);
}

/* Gives the events of a page; false when its owner wants no more of them. */
static bool page_give(struct follower *f, struct arena *a, const struct json *events)
{
    const char *type_of = f->look == HUB_WEBSOCKET ? "event_type" : "type";

    for (uint32_t i = 0; i < events->len; i++) {
        const struct json *e = &events->items[i];
        int64_t seq = json_int_or(e, "seq", 0);
        struct shared *framed =
            frame_make(a, f->look, seq, json_str(e, type_of), json_printed(a, e));
        follower_give(f, framed, seq);
        shared_unref(framed);
        if (!follower_listens(f))
            return false;
    }
    return true;
}

/* Where a listener begins. One that has seen more than there is saw another log, of which all is
 * lost. */
static void page_start(struct follower *f, int64_t seen)
{
    bool elsewhere = f->given > seen && !f->started;

    if (f->given == FROM_NOW)
        f->given = seen;
    follower_start(f);
    if (elsewhere && follower_listens(f)) {
        f->given = seen;
        f->events->gap(f->owner, seen + 1, seen);
    }
}

static err page_take(struct follower *f, struct command *c)
{
    const struct json *answer;

    TRY(json_parse_own(c->arena, c->answer, &answer));
    const struct json *events = json_get(answer, "events");
    int64_t seen = json_int_or(answer, "seen", -1), next = json_int_or(answer, "next", -1);
    if (!json_is(events, JSON_ARRAY) || seen < 0 || next < 0)
        return err_new(c->arena, ERR_INTERNAL, "event.list answered without events, seen or next");
    page_start(f, seen);
    f->page = PAGE_MIN;
    if (!follower_listens(f) || !page_give(f, c->arena, events))
        return NULL;
    f->page = PAGE_MAX;
    int64_t looked_at = next < seen ? next : seen;
    if (f->given < looked_at)
        f->given = looked_at;
    if (looked_at < seen || seen < f->kept_from)
        page_ask(f);
    else
        page_last(f);
    return NULL;
}

/* The log begins later than what was asked for: says so, and goes on from there. */
static err page_gone(struct follower *f, struct command *c)
{
    const struct json *members;
    str text = arena_printf(c->arena, "{" STR_FMT "}", STR_ARG(c->error->members));

    TRY(json_parse_own(c->arena, text, &members));
    int64_t oldest = json_int_or(members, "oldest", 0);
    int64_t newest = f->hub->newest > c->seq ? f->hub->newest : c->seq;
    if (oldest - 1 <= f->given)
        return c->error;
    follower_start(f);
    if (!follower_listens(f))
        return NULL;
    f->given = oldest - 1;
    f->events->gap(f->owner, oldest, newest > oldest ? newest : oldest);
    if (follower_listens(f))
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
    page_ask(LIST_ENTRY(first, struct follower, stalled));
}

static void page_done(struct command *c)
{
    struct follower *f = c->owner;
    struct hub *h = f->hub;
    err e = NULL;

    h->pages--;
    f->reading = false;
    f->giving = true;
    if (!follower_listens(f))
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
        kept_drop(f);
    server_arena_done(f->hub->server, c->arena);
    follower_unref(f);
    page_next(h);
}

void followers_retry(void *owner)
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
        page_ask(LIST_ENTRY(it, struct follower, stalled));
    }
}

/* ---- listening ---- */

struct follower *hub_listen(struct hub *h, const struct hub_wish *wish, struct grant *g,
                            enum hub_look look, const struct hub_events *events, void *owner)
{
    size_t types = wish->type_count * sizeof(str), bytes = 0;
    for (size_t i = 0; i < wish->type_count; i++)
        bytes += wish->types[i].len;
    struct follower *f = mem_alloc(sizeof *f + types + bytes);

    *f = (struct follower){ .hub = h,
                            .topic = topic_use(h, event_scope(g->actor, wish->subject)),
                            .grant = grant_ref(g),
                            .quota = quota_of(h->server, g),
                            .look = look,
                            .events = events,
                            .owner = owner,
                            .refs = 1,
                            .given = wish->after,
                            .page = PAGE_MIN,
                            .type_count = wish->type_count };
    char *at = (char *)(f->types + wish->type_count);
    for (size_t i = 0; i < wish->type_count; i++) {
        f->types[i] =
            (str){ memcpy(at, wish->types[i].at, wish->types[i].len), wish->types[i].len };
        at += wish->types[i].len;
    }
    f->quota->waits++;
    list_append(&f->topic->followers, &f->link);
    list_init(&f->stalled);
    page_ask(f);
    return f;
}

void hub_leave(struct follower *f)
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
    follower_unref(f);
}

void hub_pause(struct follower *f)
{
    /* A quiet subject gives nothing for days, and is complete all the same. */
    if (f->live && f->hub->newest > f->given)
        f->given = f->hub->newest;
    f->paused = true;
    f->live = false;
    list_remove(&f->stalled);
}

void hub_resume(struct follower *f)
{
    if (!f->paused)
        return;
    f->paused = false;
    if (!f->reading && !f->giving)
        page_ask(f);
}

/* ---- publishing ---- */

void follower_tell(struct follower *f, struct telling *t)
{
    if (t->seq <= f->given || !(f->live || (f->reading && !f->kept_lost)))
        return;
    if (!follower_wants(f, t->type)) {
        if (f->live)
            f->given = t->seq;
        return;
    }
    struct shared *framed = telling_frame(f->hub, t, f->look);
    if (f->live)
        follower_give(f, framed, t->seq);
    else
        kept_add(f, framed, t->seq);
}
