/* team_load.h: runners and agents of a benchmark: threads that claim runs by HTTP and play their agents.
 *
 * Children are scripted agents, played in the thread that claimed them, so that no
 * process is started and what is measured is the server. Their parent keeps some of
 * them at work until all have been started, and ends when the last has called back. */
#ifndef BENCH_TEAM_LOAD_H
#define BENCH_TEAM_LOAD_H

#include "bench/target.h"
#include "json/json.h"

struct team_load {
    int workers;   /* runners, each with room for one run */
    int children;  /* of the one parent */
    int at_a_time; /* at work */
    const char
        *socket; /* the server's, which its own runner uses; NULL: by TCP, as from elsewhere */

    /* Set by team_load_run: how long it took, the server's processor time, how many requests there were, and
     * how many commits came of them. */
    double seconds, cpu_s;
    int requests;
    int64_t commits;
};

/* Has a server with an empty database run one parent with its children. */
void team_load_run(struct team_load *c, const struct target *t);

/* ---- a client by hand ---- */

struct api_client {
    int fd;
    struct arena *arena; /* of the answers */
    int requests;
};

struct api_client api_client_new(int port);
void api_client_free(struct api_client *k);

/* One request with a token and a body (empty: none), which must succeed; its answer, or NULL. */
const struct json *api_client_must(struct api_client *k, const char *token, const char *method,
                                   str path, str body);

/* A new token of a runner. */
const char *api_client_runner_token(struct api_client *k, struct arena *a, const struct target *t);

#endif
