/* traffic.h: the requests of a load, and loads that take turns. */
#ifndef BENCH_TRAFFIC_H
#define BENCH_TRAFFIC_H

#include "bench/load.h"
#include "bench/measure.h"

enum traffic_kind {
    TRAFFIC_GET,
    TRAFFIC_PATCH, /* two operations, a text of 20 to 200 bytes that is another one each time */
    TRAFFIC_KEYED, /* the same with an Idempotency-Key that was never used */
    TRAFFIC_PATH,  /* GET of the state's path with something behind it */
};

/* What a load asks for. */
struct traffic {
    enum traffic_kind kind;
    const char *token;
    const char *behind;    /* TRAFFIC_PATH: "?version=7" */
    uint64_t first, count; /* numbers of states, all with the same chance */
    size_t text_bytes;     /* of a patch: a text this long; 0: see above */
    uint64_t random;
};

/* For load.request, with a struct traffic for self. */
void traffic_request(void *self, struct buf *out, uint32_t connection, uint64_t n);

/* One of several that take turns. */
struct contestant {
    const char *name;
    int port;
    pid_t pid;
    struct traffic traffic;
    uint32_t connections;

    /* Medians of the rounds. */
    double rate, cpu_us, p50_us, p99_us;
};

enum { ROUNDS_MAX = 9 };

/* Each gets a round of that length, in turn, that many times: what else goes on in the machine then
 * happens to all of them. */
void contest(struct contestant *all, size_t count, int rounds, double seconds);

/* One short round alone. */
struct load_result traffic_round(const struct contestant *c, double seconds);

#endif
