/* connection.c: one connection: what is on it, and its end. */
#include <unistd.h>

#include "cli/bridge/private.h"

struct exchange *connection_first(const struct connection *c)
{
    return list_empty(&c->exchanges) ? NULL
                                     : LIST_ENTRY(c->exchanges.next, struct exchange, pipeline);
}

bool connection_is_shared(const struct connection *c)
{
    return c->exchanges.next != c->exchanges.prev;
}

struct exchange *connection_shift(struct connection *c)
{
    struct exchange *exchange = connection_first(c);

    list_remove(&exchange->pipeline);
    exchange->connection = NULL;
    return exchange;
}

void connection_close(struct bridge *b, struct connection *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    if (b->filling == c)
        b->filling = NULL;
    while (connection_first(c)) {
        connection_shift(c);
        b->stranded = true;
    }
}
