/* held.c: what waits for slow readers, and who goes when there is no room for more. */
#include "wire/held.h"

#include "wire/server_private.h"

enum { STALLED_MS = 1000 }; /* who has taken nothing for that long may be dropped for others */

static bool is_before(const struct conn *a, const struct conn *b)
{
    return a->quota->operates != b->quota->operates ? b->quota->operates : a->sent_ms < b->sent_ms;
}

/* Drops the one who has taken nothing for longest, at least for so long: of one quota, or of all,
 * and then operators only when nobody else is slow. False: there is none. */
static bool slowest_drop(struct server *s, const struct quota *of, const struct conn *but,
                         int64_t ms)
{
    int64_t latest = loop_now_ms(s->loop) - ms;
    struct conn *found = NULL;

    LIST_EACH(it, &s->conns) {
        struct conn *c = LIST_ENTRY(it, struct conn, all);
        bool counts = c != but && c->sending && !c->closed && (!of || c->quota == of);
        if (counts && conn_progress_ms(c) <= latest && (!found || is_before(c, found)))
            found = c;
    }
    if (!found)
        return false;
    s->dropped++;
    conn_abort(found);
    return true;
}

static bool has_room(const struct server *s, const struct conn *c, size_t bytes)
{
    return bytes <= quota_room(s, c->quota, s->limits.held_max, s->held, c->quota->held);
}

/* Who would have more than a token may, or than what is left, makes room in its own quota, and not
 * in others'. */
static const struct quota *who_gives(const struct server *s, const struct conn *c, size_t bytes)
{
    uint64_t left = bytes_least(bytes_left(s->limits.held_max, s->held), s->limits.token_bytes);
    bool own = !c->quota->operates && c->quota->held + bytes > left;

    return own ? c->quota : NULL;
}

bool held_takes(struct server *s, struct conn *c, size_t bytes, bool must)
{
    int64_t ms = must ? 0 : STALLED_MS;

    if (has_room(s, c, bytes))
        return true;
    LIST_EACH(it, &s->dirty)
        conn_flush(LIST_ENTRY(it, struct conn, dirty)); /* it may only be this turn that is long */
    while (!has_room(s, c, bytes) && slowest_drop(s, who_gives(s, c, bytes), c, ms)) {
    }
    return must || c->quota->operates || has_room(s, c, bytes);
}

bool held_is_scarce(const struct server *s)
{
    return s->held > s->limits.held_max / 2;
}

bool held_is_full(struct server *s)
{
    uint64_t most = s->limits.held_max / 4 * 3;

    while (s->held > most && slowest_drop(s, NULL, NULL, STALLED_MS)) {
    }
    return s->held > most;
}
