/* traffic.c: the requests of a load, and loads that take turns. */
#include "bench/traffic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/fill.h"
#include "bench/set.h"
#include "random.h"

/* ---- requests ---- */

static void head_add(struct buf *out, struct traffic *t, const char *method)
{
    char id[FILL_ID_BYTES];

    fill_id(id, t->first + random_draw(&t->random) % t->count);
    buf_printf(out,
               "%s /workflow-states/%s%s HTTP/1.1\r\nHost: 127.0.0.1\r\n"
               "Authorization: Bearer %s\r\n",
               method, id, t->behind ? t->behind : "", t->token);
}

static void text_add(struct buf *out, size_t bytes)
{
    static const char prose[] = "all tests of this module ran and the review found nothing new. ";

    while (bytes > 0) {
        size_t some = bytes < sizeof prose - 1 ? bytes : sizeof prose - 1;
        buf_add(out, (str){ prose, some });
        bytes -= some;
    }
}

/* The length goes before the body, so the rest of the body has a fixed one. */
static void patch_add(struct buf *out, struct traffic *t)
{
    static const char *const status[] = { "pending", "review", "failed" };
    size_t bytes = t->text_bytes ? t->text_bytes : 20 + random_draw(&t->random) % 180;
    char start[160];

    head_add(out, t, "PATCH");
    if (t->kind == TRAFFIC_KEYED)
        buf_printf(out, "Idempotency-Key: bench-%016llx%016llx\r\n",
                   (unsigned long long)random_draw(&t->random),
                   (unsigned long long)random_draw(&t->random));
    int fixed =
        snprintf(start, sizeof start,
                 "{\"operations\":[{\"op\":\"replace\",\"path\":\"/status\",\"value\":\"%s\"},"
                 "{\"op\":\"add\",\"path\":\"/summary\",\"value\":\"%016llx ",
                 status[random_draw(&t->random) % 3], (unsigned long long)random_draw(&t->random));
    buf_printf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
               (size_t)fixed + bytes + 4, start);
    text_add(out, bytes);
    buf_add(out, STR("\"}]}"));
}

void traffic_request(void *self, struct buf *out, uint32_t connection, uint64_t n)
{
    struct traffic *t = self;

    (void)connection, (void)n;
    if (t->kind == TRAFFIC_PATCH || t->kind == TRAFFIC_KEYED) {
        patch_add(out, t);
        return;
    }
    head_add(out, t, "GET");
    buf_add(out, STR("\r\n"));
}

/* ---- taking turns ---- */

struct load_result traffic_round(const struct contestant *c, double seconds)
{
    static uint64_t seed; /* keys must be new ones in every round and every run */
    struct traffic t = c->traffic;

    t.random = ((uint64_t)getpid() << 32) + ++seed * 1000003;
    struct load_result r = load_run(&(struct load){ .port = c->port,
                                                    .pid = c->pid,
                                                    .connections = c->connections,
                                                    .seconds = seconds,
                                                    .request = traffic_request,
                                                    .self = &t });
    if (r.broken || r.refused) {
        printf("%s: %llu of %llu refused, the last with %d%s\n", c->name,
               (unsigned long long)r.refused, (unsigned long long)r.requests, r.refusal,
               r.broken ? "; a connection ended" : "");
    }
    return r;
}

void contest(struct contestant *all, size_t count, int rounds, double seconds)
{
    enum { RATE, CPU, P50, P99, FIGURES };
    double(*figures)[FIGURES][ROUNDS_MAX] = mem_alloc(count * sizeof *figures);

    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            struct load_result r = traffic_round(&all[i], seconds);
            figures[i][RATE][round] = (double)r.requests / r.seconds;
            figures[i][CPU][round] = r.cpu_us;
            figures[i][P50][round] = r.p50_us;
            figures[i][P99][round] = r.p99_us;
        }
    }
    for (size_t i = 0; i < count; i++) {
        all[i].rate = median(figures[i][RATE], rounds);
        all[i].cpu_us = median(figures[i][CPU], rounds);
        all[i].p50_us = median(figures[i][P50], rounds);
        all[i].p99_us = median(figures[i][P99], rounds);
    }
    mem_free(figures);
}
