/* wait.c: commands that wait for an event or a time.
 *
 * An operation that has nothing to answer yet says what it waits for. It is run again when that may
 * have come, as often as it likes to wait, and a last time when its time is up. Whoever submitted
 * the command sees none of this: `done` is called once, with an answer. Each run has an arena of its
 * own, which is kept until the next has looked at what it waited for: so a command that was woken a
 * thousand times holds as much as one that was woken once. */
#include <assert.h>

#include "wire/hub.h"

enum { RETRY_MS = 50 }; /* until a command for which there was no room is submitted again */

struct waiting {
    struct server *server;
    struct command *command;
    struct arena *arena;     /* the command's own, with what it was asked for */
    struct arena *run;       /* of its last run, with its wait_self; NULL: they are in its own */
    bool performing;         /* it is with another thread; else one of these calls: */
    struct hub_watch *watch; /* of a subject, or of the time to try again */
    struct hub_matcher *matcher; /* NULL: it waits for a subject */
    int64_t mark;                /* wait_mark, before it was last performed */
    int64_t until_ms;            /* the earliest that it said: running again puts off no end */
    bool cancelled;
    void (*done)(struct command *c); /* of the one who submitted it */
    void *owner;
};

static int64_t wall_ms(const struct waiting *w)
{
    return w->server->options.now_ms(w->server->options.self);
}

static void arena_release(void *arena)
{
    arena_free(arena);
}

/* What the last run has made is the command's. */
static void wait_end(struct waiting *w, err e)
{
    struct command *c = w->command;

    if (e)
        c->error = e;
    c->answer.waits = false;
    c->done = w->done;
    c->owner = w->owner;
    if (c->arena != w->arena)
        arena_on_release(w->arena, arena_release, c->arena);
    c->arena = w->arena;
    if (w->matcher)
        hub_matcher_free(w->matcher);
    if (w->run)
        server_arena_done(w->server, w->run);
    mem_free(w);
    c->done(c);
}

static void wait_abandon(struct waiting *w)
{
    wait_end(w, err_new(w->arena, ERR_UNAVAILABLE, "whoever waited for this is gone"));
}

static void wait_woken(void *owner);

static void wait_run(struct waiting *w)
{
    struct hub *h = w->server->hub;
    int64_t now = wall_ms(w);
    struct hub_wait retry = { .seq = INT64_MAX,
                              .notifications = INT64_MAX,
                              .until_ms = now + RETRY_MS };

    w->mark = wait_mark(w->server);
    w->command->wait_over = now >= w->until_ms;
    w->command->waited = w->command->answer.wait_self;
    w->command->arena = server_arena(w->server);
    w->performing = server_submit(w->server, w->command);
    if (w->performing)
        return;
    server_arena_done(w->server, w->command->arena);
    w->command->arena = w->arena;
    w->watch = hub_watch(h, &retry, wait_woken, w);
}

static void wait_woken(void *owner)
{
    struct waiting *w = owner;

    w->watch = NULL;
    wait_run(w);
}

/* What it waits for is in its last run's arena; the one before is not needed any more. */
static void wait_keep_run(struct waiting *w)
{
    struct command *c = w->command;

    if (c->arena == w->arena)
        return;
    if (w->run)
        server_arena_done(w->server, w->run);
    w->run = c->arena;
    c->arena = w->arena;
}

/* False: what it waits for may have come already. */
static bool wait_begins(struct waiting *w)
{
    const struct command *c = w->command;
    struct hub *h = w->server->hub;
    bool again = c->answer.wait_again_ms && c->answer.wait_again_ms < w->until_ms;
    int64_t until = again ? c->answer.wait_again_ms : w->until_ms;
    struct hub_wait what = { .subject = c->answer.wait_subject,
                             .seq = c->answer.wait_seq,
                             .notifications = w->mark,
                             .until_ms = until };

    if (c->answer.wakes && !w->matcher)
        w->matcher = hub_matcher_new(h, wait_woken, w);
    if (w->matcher)
        return hub_match(w->matcher, c->answer.wakes, c->answer.wait_self, c->answer.wait_seq,
                         until);
    w->watch = hub_watch(h, &what, wait_woken, w);
    return w->watch;
}

static void wait_park(struct waiting *w)
{
    const struct command *c = w->command;

    assert(!c->wait_over); /* whose time is up answers */
    w->performing = false;
    if (c->answer.wait_until_ms < w->until_ms)
        w->until_ms = c->answer.wait_until_ms;
    bool begins = wait_begins(w);
    wait_keep_run(w);
    if (!begins)
        wait_run(w);
}

static void wait_done(struct command *c)
{
    struct waiting *w = c->owner;

    if (w->matcher && c->error)
        hub_wake_all(w->server->hub);
    if (w->cancelled)
        wait_abandon(w);
    else if (c->error || !c->answer.waits)
        wait_end(w, NULL);
    else
        wait_park(w);
}

int64_t wait_mark(const struct server *s)
{
    return hub_notifications(s->hub);
}

struct waiting *wait_begin(struct server *s, struct command *c, int64_t mark)
{
    struct waiting *w = mem_alloc(sizeof *w);

    *w = (struct waiting){ .server = s,
                           .command = c,
                           .arena = c->arena,
                           .mark = mark,
                           .done = c->done,
                           .owner = c->owner };
    w->until_ms = wall_ms(w) + s->limits.wait_max_ms;
    c->done = wait_done;
    c->owner = w;
    wait_park(w);
    return w;
}

void wait_cancel(struct waiting *w)
{
    if (w->performing) {
        w->cancelled = true;
        return;
    }
    if (w->watch) {
        hub_unwatch(w->watch);
        if (w->matcher)
            hub_wake_all(w->server->hub); /* it was to look, and had no room */
    }
    wait_abandon(w);
}
