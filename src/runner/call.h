/* call.h: requests to the server, wherever it is now.
 *
 * The server is looked for again whenever a request did not come through, since it may
 * have come back at another place. Nothing is tried twice here: who asks knows what a
 * repetition costs. Knows no operation. */
#ifndef RUNNER_CALL_H
#define RUNNER_CALL_H

#include "client/http_client.h"
#include "json/json.h"

struct caller;

/* `data` is the directory of a server on this machine; empty: BATON_URL says where it is. The
 * environment says which token is shown (client/endpoint.h). */
struct caller *caller_new(str data);

/* The same, showing this token instead. */
struct caller *caller_with(str data, str token);
void caller_free(struct caller *c);

struct call {
    const char *method, *pattern; /* "/runner/runs/{run_id}" */
    const struct url_param *params;
    size_t param_count;
    str body, key; /* key: an Idempotency-Key; empty: none */
    int64_t timeout_ms;
};

/* Asks once. UNAVAILABLE: there is no server, or no answer; a refusal is the error that its status
 * stands for. *answer is NULL when there is nothing to show (204). */
err caller_ask(struct caller *c, struct arena *a, const struct call *call,
               const struct json **answer);

/* It is used by one thread at a time: passed on as an arena is, see arena_give. */
void caller_give(struct caller *c);
void caller_take(struct caller *c);

/* The address at which programs of others reach it: http://…; empty as long as nobody knows. */
str caller_url(struct caller *c, struct arena *a);

/* How long to wait before the n-th repetition, n from 0 on: longer each time, up to `most`. */
int64_t retry_delay_ms(int n, int64_t most_ms);

#endif
