/* caller.h: calls of a server, one after the other.
 *
 * All programs of ours that ask and wait do it here. The server is found at the first call, and
 * looked for again when it could not be reached or did not take the token: it may have come back
 * elsewhere, with another one. A connection that is lost costs one repetition of what may be
 * repeated. Knows no operation. */
#ifndef CLIENT_CALLER_H
#define CLIENT_CALLER_H

#include "client/http_client.h"
#include "json/json.h"

struct caller {
    /* As endpoint_find takes it; it lives as long as the caller. */
    const char *data;

    /* What may be set before the first call. */
    str token;          /* shown instead of the one that is found; empty: that */
    int64_t timeout_ms; /* of calls that say none; 0: as http_client.h says */
    err (*refusal)(struct arena *a, const struct response *r); /* NULL: response_error */

    struct arena *arena;        /* of the endpoint */
    struct endpoint endpoint;   /* where the server was last found */
    struct http_client *client; /* NULL: it is to be looked for */
    bool reached;               /* it has answered at least once */
};

struct call {
    const char *method, *pattern; /* "/sessions/{session_id}/result" */
    const struct url_param *params;
    size_t param_count;
    const struct response_field *fields; /* more lines of the head */
    size_t field_count;
    str body;           /* JSON; empty: none */
    str key;            /* an Idempotency-Key; empty: none */
    bool reads;         /* it changes nothing, though its method is not GET */
    bool once;          /* it is never repeated, though it reads or has a key */
    int64_t timeout_ms; /* 0: the caller's */
};

#define PARAMS(...)                                \
    .params = (struct url_param[]){ __VA_ARGS__ }, \
    .param_count = sizeof((struct url_param[]){ __VA_ARGS__ }) / sizeof(struct url_param)

void caller_init(struct caller *c, const char *data);
void caller_release(struct caller *c);

/* It is used by one thread at a time: passed on as an arena is, see arena_give. */
void caller_give(struct caller *c);
void caller_take(struct caller *c);

/* Where the server is, unless that is known; errors are those of endpoint_find, in the arena. */
err caller_find(struct caller *c, struct arena *a);

/* The response, whatever its status. UNAVAILABLE: there is no server, or no answer. */
err caller_request(struct caller *c, struct arena *a, const struct call *call,
                   struct response *out);

/* The answer, in the arena; NULL: it has nothing to show. A refusal is the error that the caller
 * makes of it. */
err caller_call(struct caller *c, struct arena *a, const struct call *call,
                const struct json **out);

/* A key for a write that happens once, however often it is sent. */
str idempotency_key(struct arena *a);

/* The error that a response with a status of 400 or more is: the title and the detail of its problem
 * document, with the members that it has besides. */
err response_error(struct arena *a, const struct response *r);

/* The detail alone; empty: it has none. */
str response_detail(struct arena *a, const struct response *r);

/* How long to wait before the n-th repetition, n from 0 on: longer each time, up to `most`. */
int64_t retry_delay_ms(int n, int64_t most_ms);

#endif
