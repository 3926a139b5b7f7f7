/* database_url.h: the URL of a PostgreSQL database, and how messages name it.
 *
 * A URL may hold a password, and one that is not written as URLs are may hold it where nobody
 * looks for one. So messages show a form of their own, made of the parts that are no secret, and a
 * URL is refused when they may be more than they seem. Private to store/. */
#ifndef STORE_DATABASE_URL_H
#define STORE_DATABASE_URL_H

#include "store/libpq.h"

struct database_url {
    const struct libpq *pq;
    char *password;       /* of the environment, which may forget it; NULL: none */
    char *url, *redacted; /* only `redacted` goes into messages */
};

/* INVALID when libpq would take the URL for something else than was meant. */
err database_url_init(struct database_url *p, struct arena *a, str url);
void database_url_release(struct database_url *p);

#endif
