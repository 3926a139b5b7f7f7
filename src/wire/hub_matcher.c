/* hub_matcher.c: those who wait for an event of their own choice.
 *
 * A run that is enqueued is for one runner, so one of them looks; all of them at once
 * would do the same work for nothing. One who looks may find that there is nothing
 * for him and wait again. What was published in between he has not seen, perhaps, and
 * nobody who waits has wanted it: so it is noted, and he looks once more. Does not know what
 * is chosen. */
#include <assert.h>

#include "wire/hub_private.h"

struct hub_chooser {
    struct hub *hub;
    struct list link; /* in the hub: among those who wait, or those who look */
    struct due due;
    bool waits;
    op_wakes *wakes;
    const void *self;
    int64_t seq;   /* all up to this number he has seen */
    int64_t noted; /* the last event that he may want and was not told of */
    void (*fn)(void *owner);
    void *owner;
};

/* What was published before his first wait nobody has asked him about. */
struct hub_chooser *hub_chooser_new(struct hub *h, void (*fn)(void *owner), void *owner)
{
    struct hub_chooser *c = mem_alloc(sizeof *c);

    *c = (struct hub_chooser){ .hub = h, .noted = h->newest, .fn = fn, .owner = owner };
    list_init(&c->link);
    list_init(&c->due.link);
    return c;
}

void hub_chooser_free(struct hub_chooser *c)
{
    list_remove(&c->link);
    due_clear(&c->due);
    mem_free(c);
}

static void chooser_move(struct hub_chooser *c, bool waits)
{
    c->waits = waits;
    list_remove(&c->link);
    list_append(waits ? &c->hub->choosing : &c->hub->looking, &c->link);
}

static void chooser_look(struct hub_chooser *c)
{
    assert(c->waits);
    due_clear(&c->due);
    chooser_move(c, false);
    c->fn(c->owner);
}

static void chooser_due(struct due *d)
{
    chooser_look(LIST_ENTRY(d, struct hub_chooser, due));
}

bool hub_choose(struct hub_chooser *c, op_wakes *wakes, const void *self, int64_t seq,
                int64_t until_ms)
{
    assert(!c->waits);
    c->wakes = wakes;
    c->self = self;
    c->seq = seq;
    chooser_move(c, c->noted <= seq);
    if (c->waits)
        due_set(c->hub, &c->due, until_ms, chooser_due);
    return c->waits;
}

void choosers_tell(struct hub *h, const struct telling *t)
{
    LIST_EACH(it, &h->choosing) {
        struct hub_chooser *c = LIST_ENTRY(it, struct hub_chooser, link);
        if (c->seq < t->seq && c->wakes(c->self, t->event)) {
            chooser_look(c);
            return;
        }
    }
    LIST_EACH(it, &h->looking) {
        struct hub_chooser *c = LIST_ENTRY(it, struct hub_chooser, link);
        if (c->wakes(c->self, t->event))
            c->noted = t->seq;
    }
}

void hub_pass_on(struct hub *h)
{
    LIST_EACH(it, &h->choosing)
        chooser_look(LIST_ENTRY(it, struct hub_chooser, link));
}
