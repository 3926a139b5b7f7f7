/* hub.c: publishing to subscribers and watches.
 *
 * They hang on topics, one for each subject that somebody cares about and one for all events. Does not know sockets, nor how a subscriber catches up. */
#include <assert.h>

#include "base/hash.h"
#include "wire/hub_private.h"

struct hub_watch {
    struct hub *hub;
    struct topic *topic;
    struct list link; /* in the topic */
    struct due due;
    int64_t seq;
    void (*fn)(void *owner);
    void *owner;
};

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
        struct topic *topic = *topic_slot(h, subject, hash_bytes(subject.at, subject.len));
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
    struct topic *topic = *topic_slot(h, subject, hash_bytes(subject.at, subject.len));

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
