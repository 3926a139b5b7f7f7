/* channel_private.h: what channel.c and channel_open.c share: errors after which the connection may
 * be gone. */
#ifndef STORE_CHANNEL_PRIVATE_H
#define STORE_CHANNEL_PRIVATE_H

#include "store/channel.h"

/* It is gone, for the reason that libpq gives, or for this one. */
err channel_broken(struct channel *c);
err channel_lost(struct channel *c, str message);

/* The server said no. `ends` says whether it takes the transaction with it. */
err channel_refused(struct channel *c, const PGresult *r);

#endif
