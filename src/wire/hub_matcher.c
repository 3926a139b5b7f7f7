/* hub_matcher.c: waiters with a predicate.
 *
 * A run that is enqueued is for one runner, so it wakes one of the claims that wait; all of them at
 * once would do the same work for nothing. One that runs may find nothing and wait again. It may
 * not have seen what was published in between, and that has woken nobody else: so it is noted, and
 * the matcher runs once more. Does not know what is matched. */
#include <assert.h>

#include "wire/hub_private.h"

struct hub_matcher {
    struct hub *hub;
    struct list link; /* in the hub: among those that wait, or those that run */
    struct due due;
    bool waits;
    op_wakes *wakes;
    const void *self;
    int64_t seq;   /* it has seen all up to this number */
    int64_t noted; /* the last event that it may match and was not woken for */
    void (*fn)(void *owner);
    void *owner;
};

/* Nobody has asked it about what was published before its first wait. */
struct hub_matcher *hub_matcher_new(struct hub *h, void (*fn)(void *owner), void *owner)
{
    struct hub_matcher *c = mem_alloc(sizeof *c);

    *c = (struct hub_matcher){ .hub = h, .noted = h->newest, .fn = fn, .owner = owner };
    list_init(&c->link);
    list_init(&c->due.link);
    return c;
}

void hub_matcher_free(struct hub_matcher *c)
{
    list_remove(&c->link);
    due_clear(&c->due);
    mem_free(c);
}

static void matcher_move(struct hub_matcher *c, bool waits)
{
    c->waits = waits;
    list_remove(&c->link);
    list_append(waits ? &c->hub->matchers_waiting : &c->hub->matchers_running, &c->link);
}

static void matcher_wake(struct hub_matcher *c)
{
    assert(c->waits);
    due_clear(&c->due);
    matcher_move(c, false);
    c->fn(c->owner);
}

static void matcher_due(struct due *d)
{
    matcher_wake(LIST_ENTRY(d, struct hub_matcher, due));
}

bool hub_match(struct hub_matcher *c, op_wakes *wakes, const void *self, int64_t seq,
               int64_t until_ms)
{
    assert(!c->waits);
    c->wakes = wakes;
    c->self = self;
    c->seq = seq;
    matcher_move(c, c->noted <= seq);
    if (c->waits)
        due_set(c->hub, &c->due, until_ms, matcher_due);
    return c->waits;
}

void matchers_wake(struct hub *h, const struct publication *t)
{
    LIST_EACH(it, &h->matchers_waiting) {
        struct hub_matcher *c = LIST_ENTRY(it, struct hub_matcher, link);
        if (c->seq < t->seq && c->wakes(c->self, t->event)) {
            matcher_wake(c);
            return;
        }
    }
    LIST_EACH(it, &h->matchers_running) {
        struct hub_matcher *c = LIST_ENTRY(it, struct hub_matcher, link);
        if (c->wakes(c->self, t->event))
            c->noted = t->seq;
    }
}

void hub_wake_all(struct hub *h)
{
    LIST_EACH(it, &h->matchers_waiting)
        matcher_wake(LIST_ENTRY(it, struct hub_matcher, link));
}
