/* http_client.h: one request after the other to one server, blocking.
 *
 * A connection is kept between requests where both ends agree. A connection that
 * is lost costs one repetition of what can be repeated; nothing else is tried
 * twice. Knows no operation and no JSON. */
#ifndef CLIENT_HTTP_CLIENT_H
#define CLIENT_HTTP_CLIENT_H

#include "client/endpoint.h"
#include "client/http_response.h"

struct http_client;

struct http_call {
    const char *method;
    str target; /* as url_target makes it */
    const struct response_field *fields;
    size_t field_count;
    str body;           /* JSON; empty: none */
    bool repeatable;    /* doing it twice is as good as once */
    int64_t timeout_ms; /* for all of it; 0: 30 s */
};

/* The endpoint lives at least as long as the client. */
struct http_client *http_client_new(const struct endpoint *p);
void http_client_free(struct http_client *c);

/* Asks and waits for the whole answer, whatever its status. UNAVAILABLE: no server, no answer in
 * time, or the connection was lost; what it had asked for may have been done or not. */
err http_client_call(struct http_client *c, struct arena *a, const struct http_call *call,
                     struct response *out);

/* The lines of a request that all of them have, for those who speak another protocol later: the
 * first line, Host and Authorization. */
void http_client_head(struct buf *out, const struct endpoint *p, const char *method, str target);

#endif
