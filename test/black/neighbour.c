/* neighbour.c: a client that behaves, beside one that does not. */
#include "black/neighbour.h"

#include <time.h>

#include "client/socket.h"

/* Far beyond what a request takes, far below what a server that hangs would make of it. */
enum { LONGEST_MS = BLACK_SANITIZED ? 20000 : 5000 };

static void one(struct neighbour *n, struct http_client *client, const char *method, str body)
{
    struct arena *a = arena_new();
    struct http_call call = {
        .method = method,
        .target = arena_printf(a, "/workflow-states/" STR_FMT, STR_ARG(n->state_id)),
        .body = body,
        .repeatable = true, /* a connection that idled too long may be gone */
    };
    int64_t began = socket_clock_ms();
    struct response r;

    CHECK_OK(http_client_call(client, a, &call, &r));
    if (r.status != 200)
        check_fail(__FILE__, __LINE__, "a neighbour's %s: status %d: " STR_FMT, method, r.status,
                   STR_ARG(r.body));
    int64_t took = socket_clock_ms() - began;
    if (took > n->longest_ms)
        n->longest_ms = took;
    n->requests++;
    arena_free(a);
}

static void *neighbour_run(void *self)
{
    struct neighbour *n = self;
    struct http_client *client = http_client_new(&n->server->endpoint);

    while (!n->over) {
        one(n, client, "PATCH",
            STR("{\"operations\":[{\"op\":\"add\",\"path\":\"/seen\",\"value\":true}],\"touch\":true}"));
        one(n, client, "GET", STR(""));
    }
    http_client_free(client);
    return NULL;
}

void neighbour_start(struct neighbour *n, const struct black *b)
{
    *n = (struct neighbour){ .server = b };
    n->state_id = black_add_state(b, "{}");
    CHECK(pthread_create(&n->thread, NULL, neighbour_run, n) == 0);
}

void neighbour_goes_on(const struct neighbour *n, int64_t requests)
{
    int64_t until = n->requests + requests;

    while (n->requests < until) /* the test's own time limit ends a wait in vain */
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

void neighbour_stop(struct neighbour *n)
{
    neighbour_goes_on(n, 10);
    n->over = true;
    pthread_join(n->thread, NULL);
    check_note("a neighbour had %lld answers, each within %lld ms", (long long)n->requests,
               (long long)n->longest_ms);
    CHECK(n->longest_ms < LONGEST_MS);
}
