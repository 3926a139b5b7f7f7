/* endpoint.h: where the server is, and with which token it is asked.
 *
 * BATON_URL and BATON_TOKEN (or BATON_TOKEN_FILE) say so; else the data directory of a server on
 * this machine does, by its socket and the operator's token. Opens no connection. */
#ifndef CLIENT_ENDPOINT_H
#define CLIENT_ENDPOINT_H

#include "client/url.h"

struct endpoint {
    struct url url;
    str token;
    str down; /* what to say when nothing listens there, and what to do then */
};

/* The data directory: `given` (may be NULL), else $BATON_DATA, else baton in $XDG_STATE_HOME, else
 * ~/.local/state/baton. INVALID when nothing of all that is set. */
err data_dir_find(struct arena *a, const char *given, str *out);

/* Where to go: to the server of a directory when one is given, else to BATON_URL when it is set,
 * else to the server of the directory that data_dir_find finds; there by its Unix socket if it has one,
 * so that a program which took its port never sees the token. The operator's token leaves this
 * machine for nobody. UNAVAILABLE: no server was started there. UNAUTHENTICATED: there is no token
 * to show. INVALID: BATON_URL, a token or server.json is not what it should be. */
err endpoint_find(struct arena *a, const char *given, struct endpoint *out);

/* The address at which programs of others reach it, for whom a directory's socket is not: http://…;
 * empty as long as nobody knows. */
str endpoint_url(struct arena *a, const char *given);

#endif
