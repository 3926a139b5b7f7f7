/* hub.c: who listens to which events: topics, publishing, watches.
 *
 * Listeners and watches hang on topics, one for each subject that somebody cares about and one for
 * all events. Does not know sockets, nor how a subscriber catches up. */
#include <assert.h>

#include "base/hash.h"
#include "wire/hub_private.h"

enum { SLOTS_MIN = 64 }; /* of topics */

struct hub_watch {
    struct hub *hub;
    struct topic *topic;
    struct list link; /* in the topic */
    struct due due;
    int64_t seq;
    void (*fn)(void *owner);
    void *owner;
};

/* ---- topics ---- */

static void topic_init(struct topic *t)
{
    list_init(&t->subscribers);
    list_init(&t->watches);
}

static struct topic **topic_place(const struct hub *h, str subject, uint32_t hash)
{
    struct topic **at = &h->slots[hash & (h->slot_count - 1)];

    while (*at && ((*at)->hash != hash || !str_eq((*at)->subject, subject)))
        at = &(*at)->next;
    return at;
}

static void topics_widen(struct hub *h)
{
    struct topic **old = h->slots;
    uint32_t old_count = h->slot_count;

    h->slot_count = old_count ? old_count * 2 : SLOTS_MIN;
    h->slots = mem_alloc(h->slot_count * sizeof(struct topic *));
    memset(h->slots, 0, h->slot_count * sizeof(struct topic *));
    for (uint32_t i = 0; i < old_count; i++) {
        while (old[i]) {
            struct topic *t = old[i];
            old[i] = t->next;
            struct topic **slot = &h->slots[t->hash & (h->slot_count - 1)];
            t->next = *slot;
            *slot = t;
        }
    }
    mem_free(old);
}

struct topic *topic_use(struct hub *h, str subject)
{
    if (subject.len == 0) {
        h->all.users++;
        return &h->all;
    }
    if (h->topic_count == h->slot_count)
        topics_widen(h);
    uint32_t hash = hash_bytes(subject.at, subject.len);
    struct topic **at = topic_place(h, subject, hash);
    if (!*at) {
        struct topic *t = mem_alloc(sizeof *t + subject.len);
        *t = (struct topic){ .subject = { (char *)(t + 1), subject.len }, .hash = hash };
        memcpy(t + 1, subject.at, subject.len);
        topic_init(t);
        *at = t;
        h->topic_count++;
    }
    (*at)->users++;
    return *at;
}

void topic_done(struct hub *h, struct topic *t)
{
    assert(t->users > 0);
    if (--t->users > 0 || t == &h->all)
        return;
    *topic_place(h, t->subject, t->hash) = t->next;
    h->topic_count--;
    mem_free(t);
}

/* ---- publishing ---- */

static void watch_end(struct hub_watch *w)
{
    void (*fn)(void *) = w->fn;
    void *owner = w->owner;

    hub_unwatch(w);
    fn(owner);
}

/* Ends the watches of those who have seen less than that. */
static void topic_wake(struct topic *topic, int64_t seq)
{
    struct list woken;

    list_init(&woken);
    LIST_EACH(it, &topic->watches) {
        if (LIST_ENTRY(it, struct hub_watch, link)->seq < seq) {
            list_remove(it);
            list_append(&woken, it);
        }
    }
    while (!list_empty(&woken))
        watch_end(LIST_ENTRY(woken.next, struct hub_watch, link));
}

/* Those who are told may leave, and make others leave. */
static void topic_tell(struct hub *h, struct topic *topic, struct publication *t)
{
    for (struct list *it = topic->subscribers.next; it != &topic->subscribers; it = h->next) {
        h->next = it->next;
        subscriber_send(LIST_ENTRY(it, struct subscriber, link), t);
    }
    h->next = NULL;
    topic_wake(topic, t->seq);
}

static uint32_t mark_of(str subject)
{
    return hash_bytes(subject.at, subject.len) % RECENT;
}

void hub_publish(struct hub *h, const struct event *e)
{
    struct publication t = { .event = e, .seq = event_seq(e), .type = event_type_name(e) };
    str subject = event_subject(e);

    h->recent[mark_of(subject)] = t.seq;
    h->recent[mark_of(STR(""))] = t.seq;
    if (h->topic_count) {
        struct topic *topic = *topic_place(h, subject, hash_bytes(subject.at, subject.len));
        if (topic) {
            topic->users++;
            topic_tell(h, topic, &t);
            topic_done(h, topic);
        }
    }
    topic_tell(h, &h->all, &t);
    matchers_wake(h, &t);
    for (int i = 0; i < HUB_ENCODINGS; i++)
        if (t.framed[i])
            shared_unref(t.framed[i]);
    h->newest = t.seq;
}

/* ---- times ---- */

static void alarm_set(struct hub *h)
{
    if (list_empty(&h->due)) {
        timer_clear(h->alarm);
        return;
    }
    const struct server_options *o = &h->server->options;
    int64_t ms = LIST_ENTRY(h->due.next, struct due, link)->at_ms - o->now_ms(o->self);
    timer_set(h->alarm, ms > 0 ? ms : 0);
}

static void alarm_ring(void *owner)
{
    struct hub *h = owner;
    int64_t now = h->server->options.now_ms(h->server->options.self);

    while (!list_empty(&h->due)) {
        struct due *d = LIST_ENTRY(h->due.next, struct due, link);
        if (d->at_ms > now)
            break;
        due_clear(d);
        d->ring(d);
    }
    alarm_set(h);
}

/* Most wait for the same time, so the place of a new one is near the end. */
void due_set(struct hub *h, struct due *d, int64_t at_ms, void (*ring)(struct due *d))
{
    struct list *before = h->due.prev;

    *d = (struct due){ .at_ms = at_ms, .ring = ring };
    while (before != &h->due && LIST_ENTRY(before, struct due, link)->at_ms > at_ms)
        before = before->prev;
    list_append(before->next, &d->link);
    if (h->due.next == &d->link)
        alarm_set(h);
}

void due_clear(struct due *d)
{
    list_remove(&d->link);
}

/* ---- watches ---- */

static void watch_due(struct due *d)
{
    watch_end(LIST_ENTRY(d, struct hub_watch, due));
}

struct hub_watch *hub_watch(struct hub *h, const struct hub_wait *what, void (*fn)(void *owner),
                            void *owner)
{
    uint32_t mark = mark_of(what->subject);

    if (h->recent[mark] > what->seq || h->notified[mark] > what->notifications)
        return NULL;
    struct hub_watch *w = mem_alloc(sizeof *w);
    *w = (struct hub_watch){
        .hub = h, .topic = topic_use(h, what->subject), .seq = what->seq, .fn = fn, .owner = owner
    };
    list_append(&w->topic->watches, &w->link);
    due_set(h, &w->due, what->until_ms, watch_due);
    return w;
}

void hub_unwatch(struct hub_watch *w)
{
    list_remove(&w->link);
    due_clear(&w->due);
    topic_done(w->hub, w->topic);
    mem_free(w);
}

void hub_notify(struct hub *h, str subject)
{
    struct topic *topic = *topic_place(h, subject, hash_bytes(subject.at, subject.len));

    h->notified[mark_of(subject)] = ++h->notifications;
    if (!topic)
        return;
    topic->users++;
    topic_wake(topic, INT64_MAX);
    topic_done(h, topic);
}

int64_t hub_notifications(const struct hub *h)
{
    return h->notifications;
}

/* ---- the hub ---- */

struct hub *hub_new(struct server *s)
{
    struct hub *h = mem_alloc(sizeof *h);

    *h = (struct hub){ .server = s, .list = op_find(s->options.table, STR("event.list")) };
    topic_init(&h->all);
    topics_widen(h);
    list_init(&h->matchers_waiting);
    list_init(&h->matchers_running);
    list_init(&h->stalled);
    list_init(&h->due);
    h->retry = timer_new(s->loop, subscribers_retry, h);
    h->alarm = timer_new(s->loop, alarm_ring, h);
    h->scratch = arena_new();
    return h;
}

void hub_free(struct hub *h)
{
    assert(h->topic_count == 0 && h->all.users == 0);
    assert(list_empty(&h->matchers_waiting) && list_empty(&h->matchers_running));
    timer_free(h->retry);
    timer_free(h->alarm);
    arena_free(h->scratch);
    mem_free(h->slots);
    mem_free(h);
}
