/* lag.c: whether a subscriber keeps up with what it is sent. */
#include "wire/held.h"
#include "wire/lag.h"

enum { BYTES_SCARCE = 16 << 10 }; /* that each may be behind when much waits for others too */

size_t lag_max(const struct conn *c)
{
    const struct server_limits *l = &c->server->limits;

    if (l->behind_bytes > BYTES_SCARCE && held_is_scarce(c->server))
        return BYTES_SCARCE;
    return l->behind_bytes;
}

static bool too_much_waits(const struct lag *p, const struct conn *c)
{
    const struct server_limits *l = &c->server->limits;

    return c->out_bytes > 0 && (p->events > l->behind_events || c->out_bytes > lag_max(c));
}

bool lag_put(struct lag *p, struct conn *c, struct shared *framed)
{
    if (c->out_bytes == 0)
        p->events = 0;
    p->events++;
    conn_send_shared(c, framed);
    conn_flush_later(c);
    if (!too_much_waits(p, c) || p->behind)
        return false;
    conn_flush(c); /* it may only be this turn that is long */
    p->behind = too_much_waits(p, c);
    return p->behind;
}

bool lag_sent(struct lag *p)
{
    bool was_behind = p->behind;

    p->behind = false;
    p->events = 0;
    return was_behind;
}
