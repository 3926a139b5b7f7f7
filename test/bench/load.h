/* load.h: a client that asks a server as fast as it answers.
 *
 * Each of a number of connections has one request under way. One thread, epoll,
 * no locks: what it costs itself is small and the same for every server that it
 * measures. Latencies are counted in buckets of about 2 %. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <sys/types.h>

#include "base/arena.h"

enum { LOAD_BUCKETS = 64 * 32 };

struct load {
    int port;
    pid_t pid; /* of the server, whose processor time is looked at; 0: it is not */
    uint32_t connections;
    double seconds;        /* of measuring, after a tenth of it to warm up */
    uint64_t requests_max; /* 0: no limit but the time */

    /* Appends the n-th request of a connection. */
    void (*request)(void *self, struct buf *out, uint32_t connection, uint64_t n);
    void *self;
};

struct load_result {
    uint64_t requests, refused; /* refused: the status was not 2xx */
    int refusal;                /* the last such status */
    double seconds;
    double cpu_us; /* of the server, for each request */
    double p50_us, p99_us, max_us;
    bool broken; /* a connection ended */
};

struct load_result load_run(const struct load *l);

/* The same in a process of its own, beside what is done between the two calls. */
struct load_aside {
    pid_t pid;
    int result;
};

struct load_aside load_begin(const struct load *l);
struct load_result load_end(struct load_aside *aside);

/* By hand: a connection, a request on it, and the answer: its status, and the body in the arena. */
int load_connect(int port);
int load_connect_local(const char *socket);
void load_ask(int fd, str request);
int load_answer(struct arena *a, int fd, str *body);

/* All of that for one request. */
int load_once(struct arena *a, int port, str request, str *body);

#endif
