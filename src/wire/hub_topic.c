/* hub_topic.c: who cares about which subject, and when somebody's time is up.
 *
 * A topic is a subject that somebody cares about; there is one more for all events. Does not know
 * what is told to whom. */
#include <assert.h>

#include "base/hash.h"
#include "wire/hub_private.h"

enum { SLOTS_MIN = 64 }; /* of topics */

/* ---- topics ---- */

void topic_init(struct topic *t)
{
    list_init(&t->subscribers);
    list_init(&t->watches);
}

struct topic **topic_slot(const struct hub *h, str subject, uint32_t hash)
{
    struct topic **at = &h->slots[hash & (h->slot_count - 1)];

    while (*at && ((*at)->hash != hash || !str_eq((*at)->subject, subject)))
        at = &(*at)->next;
    return at;
}

void topics_widen(struct hub *h)
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
    struct topic **at = topic_slot(h, subject, hash);
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
    *topic_slot(h, t->subject, t->hash) = t->next;
    h->topic_count--;
    mem_free(t);
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

void alarm_ring(void *owner)
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
