/* url.h: where a server is, and what is asked of it.
 *
 *   http://127.0.0.1:8765/base   https://host   http://[::1]:8765   unix:/run/baton.sock
 *
 * Whatever becomes part of a request's first lines is checked or percent-encoded here, so that no
 * id or search text can change which operation is called. Does not resolve names or connect. */
#ifndef CLIENT_URL_H
#define CLIENT_URL_H

#include "base/arena.h"
#include "base/err.h"

enum url_scheme { URL_HTTP, URL_HTTPS, URL_UNIX };

struct url {
    enum url_scheme scheme;
    str host;      /* in small letters, an IPv6 address without brackets; empty for URL_UNIX */
    uint16_t port; /* 0 for URL_UNIX */
    str socket;    /* URL_UNIX: the path of the socket, followed by a NUL; else empty */
    str base;      /* in front of all targets, without a slash at its end: "" or "/base" */
};

/* INVALID says which part was expected and what was found. User names and passwords are refused,
 * and never repeated in a message. */
err url_parse(struct arena *a, str text, struct url *out);

/* Whether what is sent there stays on this machine: 127.0.0.0/8, ::1, localhost and unix sockets.
 * The operator's token is never sent anywhere else. */
bool url_is_loopback(const struct url *u);

/* For the Host header: the port only where it is not the scheme's own. */
str url_authority(struct arena *a, const struct url *u);

/* Percent-encodes all but letters, digits and -._~, as is right for one segment of a path and for
 * names and values of a query. */
void url_encode(struct buf *out, str text);

struct url_param {
    const char *name;
    str value;
};

/* The target of a request, behind the base of the URL. Each {name} of the pattern takes the
 * parameter of that name; the others become the query, in their order:
 *
 *   "/workflow-states/{id}" with id=a/b, limit=5 → /workflow-states/a%2Fb?limit=5
 *
 * INVALID when a segment would be empty, "." or "..": it would be another path. */
err url_target(struct arena *a, const struct url *u, const char *pattern,
               const struct url_param *params, size_t count, str *out);

#endif
