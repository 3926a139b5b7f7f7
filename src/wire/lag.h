/* lag.h: whether a subscriber keeps up with what it is sent.
 *
 * One that does not is behind: no more events are put to its connection until all that waits there
 * is sent. One that takes nothing at all is conn.c's business. */
#ifndef WIRE_LAG_H
#define WIRE_LAG_H

#include "wire/server_private.h"

struct lag {
    uint32_t events; /* put since nothing was waiting */
    bool behind;
};

/* Puts an event, to be sent at the end of the turn. True: it has fallen behind by that. */
bool lag_put(struct lag *p, struct conn *c, struct shared *framed);

/* Called when all that had to wait is sent. True: it was behind. */
bool lag_sent(struct lag *p);

/* Bytes that may wait for a peer: fewer when much waits for others too. */
size_t lag_max(const struct conn *c);

#endif
