/* pending.c: a command on its way, from its submission to its answer. */
#include "wire/pending.h"

#include <assert.h>

#include "wire/server_private.h"

// clang-format off
static const struct {
    enum error_kind kind;
    const char *text;
} reasons[] = {
    [CANCEL_GONE]     = { ERR_UNAVAILABLE,     "whoever waited for this is gone" },
    [CANCEL_REVOKED]  = { ERR_UNAUTHENTICATED, "this token is not valid any more" },
    [CANCEL_STOPPING] = { ERR_UNAVAILABLE,     "the server stops: ask again when it is back" },
    [CANCEL_ASKED]    = { ERR_UNAVAILABLE,     "the client has cancelled this" },
    [CANCEL_SESSION]  = { ERR_UNAVAILABLE,     "the session has ended: begin another one" },
};
// clang-format on

const char *cancel_text(enum cancel_reason why)
{
    assert(why != CANCEL_NOT);
    return reasons[why].text;
}

static void performed(struct command *c);

static bool hand_in(struct pending *p)
{
    assert(!p->performing && !p->waiting && p->command.actor);
    p->command.done = performed;
    p->command.owner = p;
    p->wait_mark = wait_mark(p->server);
    p->performing = server_submit(p->server, &p->command);
    if (p->charge)
        p->charge->quota->requests += p->performing;
    return p->performing;
}

err pending_submit(struct pending *p)
{
    struct arena *a = p->command.arena;

    p->wrote = NULL;
    if (p->charge)
        TRY(quota_check_request(p->server, p->charge->quota, a));
    if (p->cached.len)
        p->cache_mark = op_cache_mark(p->server->cache, p->cached);
    if (hand_in(p))
        return NULL;
    return err_new(a, ERR_UNAVAILABLE, "more is asked for than can be done: try again in a moment");
}

/* What it has written is committed, and published; the answer is that of a read behind it, which may
 * wait. False: there is no room for that. */
static bool read_behind(struct pending *p)
{
    struct arena *a = p->command.arena;
    struct command *wrote = ARENA_NEW(a, struct command);

    *wrote = p->command;
    p->wrote = wrote;
    p->command =
        (struct command){ .arena = a,
                          .op = op_find(p->server->options.table, str_from(wrote->answer.then)),
                          .input = &wrote->answer.then_input,
                          .actor = wrote->actor };
    if (hand_in(p))
        return true;
    p->command = *wrote;
    return false;
}

/* True: it waits now. */
static bool wait_if_it_may(struct pending *p, bool waited)
{
    struct command *c = &p->command;
    bool waits = c->answer.waits && !c->error;

    if (waits && p->server->stopping && !p->cancelled)
        p->cancelled = CANCEL_STOPPING;
    if (p->cancelled && (waits || waited))
        c->error = err_new(c->arena, reasons[p->cancelled].kind, "%s", cancel_text(p->cancelled));
    else if (waits && p->charge)
        c->error = quota_check_wait(p->server, p->charge->quota, 1, c->arena);
    if (!waits || c->error)
        return false;
    if (p->wait_until_ms && c->answer.wait_until_ms > p->wait_until_ms)
        c->answer.wait_until_ms = p->wait_until_ms;
    if (p->charge)
        p->charge->quota->waits++;
    if (p->waits)
        p->waits(p);
    p->waiting = wait_begin(p->server, c, p->wait_mark);
    return true;
}

/* The command was performed; or it waited and does so no more. */
static void performed(struct command *c)
{
    struct pending *p = c->owner;
    bool waited = p->waiting;

    if (p->charge) {
        p->charge->quota->requests -= p->performing;
        p->charge->quota->waits -= waited;
        charge_set(p->charge, p->charge->quota, c->arena->bytes);
    }
    p->performing = false;
    p->waiting = NULL;
    if (p->cached.len)
        op_cache_read(p->server->cache, c, p->cached, p->cache_mark);
    if (wait_if_it_may(p, waited))
        return;
    if (c->answer.then && !c->error && !p->cancelled && read_behind(p))
        return;
    if (p->wrote && c->error)
        *c = *p->wrote; /* whatever has become of the read: what was written is */
    if (p->wrote)
        c->repeated = p->wrote->repeated;
    p->done(p);
}

void pending_cancel(struct pending *p, enum cancel_reason why)
{
    assert(why != CANCEL_NOT);
    if (!p->cancelled)
        p->cancelled = why;
    if (p->waiting)
        wait_cancel(p->waiting); /* and then `performed` is called, now or later */
}
