/* wait.c: commands that wait for an event or a time.
 *
 * An operation that has nothing to answer yet says what it waits for. It is run again when that may
 * have come, as often as it likes to wait, and a last time when its time is up. Whoever submitted
 * the command sees none of this: `done` is called once, with an answer. */
#include <assert.h>

#include "wire/hub.h"

enum { RETRY_MS = 50 }; /* until a command for which there was no room is submitted again */

struct waiting {
    struct server *server;
    struct command *command;
    struct hub_watch *watch; /* NULL: it is being performed */
    int64_t until_ms;        /* as it said first: running again must not move its end */
    bool cancelled;
    void (*done)(struct command *c); /* of the one who submitted it */
    void *owner;
};

static int64_t wall_ms(const struct waiting *w)
{
    return w->server->options.now_ms(w->server->options.self);
}

static void wait_end(struct waiting *w, err e)
{
    struct command *c = w->command;

    if (e)
        c->error = e;
    c->waits = false;
    c->done = w->done;
    c->owner = w->owner;
    mem_free(w);
    c->done(c);
}

static void wait_woken(void *owner, bool over);

static void wait_run(struct waiting *w)
{
    int64_t now = wall_ms(w);

    w->watch = NULL;
    w->command->wait_over = now >= w->until_ms;
    if (!server_submit(w->server, w->command))
        w->watch = hub_watch(w->server->hub, STR(""), INT64_MAX, now + RETRY_MS, wait_woken, w);
}

static void wait_woken(void *owner, bool over)
{
    (void)over; /* the clock knows */
    wait_run(owner);
}

static void wait_park(struct waiting *w)
{
    const struct command *c = w->command;

    assert(!c->wait_over); /* whose time is up answers */
    w->watch = hub_watch(w->server->hub, c->wait_subject, c->wait_seq, w->until_ms, wait_woken, w);
    if (!w->watch)
        wait_run(w);
}

static void wait_done(struct command *c)
{
    struct waiting *w = c->owner;

    if (w->cancelled)
        wait_end(w, err_new(c->arena, ERR_UNAVAILABLE, "whoever waited for this is gone"));
    else if (c->error || !c->waits)
        wait_end(w, NULL);
    else
        wait_park(w);
}

struct waiting *wait_begin(struct server *s, struct command *c)
{
    struct waiting *w = mem_alloc(sizeof *w);
    int64_t latest;

    *w = (struct waiting){ .server = s, .command = c, .done = c->done, .owner = c->owner };
    latest = wall_ms(w) + s->limits.wait_max_ms;
    w->until_ms = c->wait_until_ms < latest ? c->wait_until_ms : latest;
    c->done = wait_done;
    c->owner = w;
    wait_park(w);
    return w;
}

void wait_cancel(struct waiting *w)
{
    if (!w->watch) {
        w->cancelled = true;
        return;
    }
    hub_unwatch(w->watch);
    wait_end(w, err_new(w->command->arena, ERR_UNAVAILABLE, "whoever waited for this is gone"));
}
