/* adversary_test.c: honest clients beside thousands of others that mean ill.
 *
 * Whatever those do within or beyond the limits: the server lives, its memory is bounded, honest
 * clients lose nothing, and wait not much longer than beside as many who are merely busy. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "black/adversary.h"
#include "black/chaos.h"
#include "client/socket.h"

/* By its default settings, everything together. */
enum { PEAK_KIB = 256 << 10 };

/* Each takes minutes, and the whole machine. */
static void soak_only(void)
{
    if (black_times() == 1)
        check_skip("it takes minutes: make soak runs it");
}

/* ---- somebody who behaves ---- */

struct honest {
    const struct black *server;
    str token, state_id;
    pthread_t thread;
    atomic_bool over;
    _Atomic int64_t written;
    int64_t again;    /* requests that were sent again: refused for the moment, or cut off */
    int64_t *took_us; /* of each write that was acknowledged, with all that it was sent again */
};

enum { HONEST = 4, TOOK_MOST = 1 << 20 };

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Until there is an answer that says more than "not now". */
static struct response ask(struct honest *h, struct http_client *client, struct arena *a,
                           const char *method, int64_t n)
{
    struct response_field key = { STR("Idempotency-Key"),
                                  arena_printf(a, "honest-%lld", (long long)n) };
    struct http_call call = {
        .method = method,
        .target = arena_printf(a, "/workflow-states/" STR_FMT, STR_ARG(h->state_id)),
        .fields = &key,
        .field_count = n ? 1 : 0,
        .repeatable = true,
        .timeout_ms = 60000,
    };
    struct response r;

    if (n)
        call.body =
            arena_printf(a, "{\"operations\":[{\"op\":\"add\",\"path\":\"/n\",\"value\":%lld}]}",
                         (long long)n);
    while (http_client_call(client, a, &call, &r) || r.status == 503 || r.status == 429)
        h->again++;
    if (r.status != 200)
        check_fail(__FILE__, __LINE__, "an honest %s: status %d: " STR_FMT, method, r.status,
                   STR_ARG(r.body));
    return r;
}

/* Each write makes the next version, and is what is read afterwards. */
static void *honest_run(void *self)
{
    struct honest *h = self;
    struct endpoint as = h->server->endpoint;

    as.token = h->token;
    struct http_client *client = http_client_new(&as);
    for (int64_t n = 1; !h->over && n < TOOK_MOST; n++) {
        struct arena *a = arena_new();
        int64_t began = now_us(), found;

        struct response r = ask(h, client, a, "PATCH", n);
        h->took_us[n - 1] = now_us() - began;
        const struct json *json = json_parsed(a, r.body);
        CHECK_INT(json_int_or(json, "version", 0), n + 1);
        r = ask(h, client, a, "GET", 0);
        json = json_parsed(a, r.body);
        CHECK(json_to_int(json_get(json_get(json, "current_data"), "n"), &found));
        CHECK_INT(found, n);
        h->written = n;
        arena_free(a);
    }
    http_client_free(client);
    return NULL;
}

/* The first is the operator, the others are agents. */
static void honest_begin(struct honest *all, const struct black *b)
{
    for (int i = 0; i < HONEST; i++) {
        struct honest *h = &all[i];

        *h = (struct honest){ .server = b };
        h->state_id = black_add_state(b, "{}");
        str name = arena_printf(check_arena(), "honest-%d", i);
        h->token = i ? adversary_token(b, name.at, h->state_id, "") : b->endpoint.token;
        h->took_us = ARENA_ARRAY(check_arena(), int64_t, TOOK_MOST);
        CHECK(pthread_create(&h->thread, NULL, honest_run, h) == 0);
    }
}

/* Waits until each has written so many times more. */
static void honest_go_on(const struct honest *all, int64_t writes)
{
    for (int i = 0; i < HONEST; i++)
        for (int64_t until = all[i].written + writes; all[i].written < until;) {
            black_alive(all[i].server);
            usleep(1000); /* the test's own time limit ends a wait in vain */
        }
}

static void honest_end(struct honest *all)
{
    int64_t written = 0, again = 0;

    for (int i = 0; i < HONEST; i++)
        all[i].over = true;
    for (int i = 0; i < HONEST; i++) {
        pthread_join(all[i].thread, NULL);
        written += all[i].written;
        again += all[i].again;
    }
    check_note("honest clients: %lld writes acknowledged and found again, %lld requests sent again",
               (long long)written, (long long)again);
}

static int larger(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Of the writes of all of them since `from` of each. */
struct waits {
    int64_t p50_us, p99_us, longest_us;
};

static struct waits waits_since(const struct honest *all, const int64_t from[HONEST])
{
    int64_t count = 0, n = 0;

    for (int i = 0; i < HONEST; i++)
        count += all[i].written - from[i];
    int64_t *us = ARENA_ARRAY(check_arena(), int64_t, (size_t)count + 1);
    for (int i = 0; i < HONEST; i++)
        for (int64_t w = from[i]; w < all[i].written && n < count; w++)
            us[n++] = all[i].took_us[w];
    qsort(us, (size_t)n, sizeof *us, larger);
    return (struct waits){ us[n / 2], us[n * 99 / 100], us[n - 1] };
}

/* ---- one kind after the other, and all at once ---- */

static void memory_note(const struct black *b, const char *what)
{
    check_note("%s: %ld MiB now, %ld MiB at most so far", what, black_memory(b) >> 10,
               black_memory_peak(b) >> 10);
}

enum {
    EACH = BLACK_SANITIZED ? 250 : 1000,
    TOGETHER = BLACK_SANITIZED ? 100 : 600,
    AT_ONCE = 25, /* of each kind, beside every other load */
    WRITES = 20,
    LIMIT_S = 1800,
};

TEST_LIMIT(adversary_of_any_kind_costs_bounded_memory_and_honest_clients_nothing, LIMIT_S)
{
    static struct honest honest[HONEST];
    struct black b = { 0 };

    soak_only();
    black_start(&b);
    black_add_schema(&b);
    struct adversary_setup *setup = adversary_setup_new(&b);
    honest_begin(honest, &b);
    honest_go_on(honest, WRITES);
    memory_note(&b, "before");
    for (size_t kind = 0; kind < adversary_kinds(); kind++) {
        struct adversary *a = adversary_begin(setup, kind, EACH);
        adversary_wait(a);
        honest_go_on(honest, WRITES);
        adversary_end(a);
        memory_note(&b, adversary_name(kind));
    }
    struct adversary *a = adversary_begin_all(setup, TOGETHER, random_start().state);
    adversary_wait(a);
    honest_go_on(honest, WRITES);
    adversary_end(a);
    memory_note(&b, "all kinds at once");
    honest_end(honest);
    if (!BLACK_SANITIZED)
        CHECK(black_memory_peak(&b) < PEAK_KIB);
    black_stop(&b);
}

/* ---- beside those who are merely busy ---- */

/* A write waits for the command that is being performed, and that may be as long as one of somebody who
 * means no harm: to mean ill is to gain no more than that. What one command may cost at most is a matter
 * of writer_time_test.c, and how many of them one waits for, of fair_test.c. */

static struct waits waits_beside(struct honest *honest, struct adversary *a, int64_t writes)
{
    int64_t from[HONEST];

    adversary_wait(a);
    for (int i = 0; i < HONEST; i++)
        from[i] = honest[i].written;
    honest_go_on(honest, writes);
    struct waits w = waits_since(honest, from);
    adversary_end(a);
    return w;
}

static void waits_note(const char *beside, const struct waits *w)
{
    check_note("beside %s: p50 %lld µs, p99 %lld µs, the longest %lld µs", beside,
               (long long)w->p50_us, (long long)w->p99_us, (long long)w->longest_us);
}

TEST_LIMIT(honest_clients_wait_little_longer_beside_an_adversary_than_beside_busy_clients, LIMIT_S)
{
    static struct honest honest[HONEST];
    struct black b = { 0 };
    int count = BLACK_SANITIZED ? 60 : 600;
    int64_t writes = BLACK_SANITIZED ? 50 : 500;

    soak_only();
    black_start(&b);
    black_add_schema(&b);
    struct adversary_setup *setup = adversary_setup_new(&b);
    honest_begin(honest, &b);
    struct waits busy = waits_beside(honest, adversary_begin_busy(setup, count), writes);
    waits_note("as many busy clients", &busy);
    struct waits ill =
        waits_beside(honest, adversary_begin_all(setup, count, random_start().state), writes);
    waits_note("an adversary of all kinds", &ill);
    honest_end(honest);
    if (!BLACK_SANITIZED)
        CHECK(ill.p99_us <= 3 * busy.p99_us);
    black_stop(&b);
}

/* ---- for a long time, everything at once ---- */

/* Writers and subscribers who keep account of all that they were told, agents at work, and an
 * adversary. */
TEST_LIMIT(adversary_beside_every_other_load_loses_nothing_for_anybody, 4 * 3600)
{
    static struct honest honest[HONEST];
    struct black b = { .args = (const char *[]){ "--set", "versions_kept=100000000", NULL } };
    struct chaos c = { .nodes = &b, .node_count = 1, .patience_ms = 60000, .calm = true };
    struct random random = random_start();

    soak_only();
    black_start(&b);
    chaos_begin(&c, &random);
    struct adversary_setup *setup = adversary_setup_new(&b);
    honest_begin(honest, &b);
    int64_t until = socket_clock_ms() + chaos_ms(5, 5);
    while (socket_clock_ms() < until) {
        struct adversary *a = adversary_begin_all(setup, AT_ONCE, random_next(&random));
        adversary_wait(a);
        honest_go_on(honest, WRITES);
        adversary_end(a);
    }
    honest_end(honest);
    memory_note(&b, "at the end");
    chaos_end(&c, "beside an adversary");
    black_stop(&b);
}
