/* tables_events.c: fan-out, and readers beside a busy writer. */
#include "bench/tables.h"

#include <stdio.h>
#include <unistd.h>

#include "bench/audience.h"
#include "bench/set.h"

enum { SUBSCRIBERS = 500, BURST_MAX = 64 };

/* ---- fan-out ---- */

struct writers {
    int fds[BURST_MAX];
    int count;
    struct traffic traffic;
    struct arena *arena;
};

/* All ask at once; then all have their answer, and every listener has heard of all of it. */
static void writers_turn(struct writers *w, struct audience *heard)
{
    str body;

    for (int i = 0; i < w->count; i++) {
        struct buf request = buf_in(w->arena);
        traffic_request(&w->traffic, &request, 0, 0);
        load_ask(w->fds[i], buf_str(&request));
    }
    for (int i = 0; i < w->count; i++)
        if (load_answer(w->arena, w->fds[i], &body) != 200)
            fail("unexpected answer", body);
    if (heard)
        audience_hear(heard, (uint64_t)w->count);
    arena_reset(w->arena);
}

/* The server's processor time for one event, in microseconds. */
static double cpu_us_each(const struct target *t, struct writers *w, struct audience *heard,
                          int turns)
{
    double before = process_cpu_s(t->pid);

    for (int i = 0; i < turns; i++)
        writers_turn(w, heard);
    return (process_cpu_s(t->pid) - before) * 1e6 / turns / w->count;
}

static struct writers writers_of(const struct target *t, int count)
{
    struct writers w = { .count = count,
                         .arena = arena_new(),
                         .traffic = { .kind = TRAFFIC_PATCH,
                                      .token = t->token,
                                      .count = SMALL_STATES,
                                      .random = (uint64_t)count } };

    for (int i = 0; i < count; i++)
        w.fds[i] = load_connect(t->port);
    return w;
}

static void writers_close(struct writers *w)
{
    for (int i = 0; i < w->count; i++)
        close(w->fds[i]);
    arena_free(w->arena);
}

/* What an event costs with listeners, less what it costs without, in rounds that take turns. */
static double delivery_us(const struct target *t, int burst, int turns, double *events_each_read)
{
    enum { ROUNDS = 3 };
    struct writers w = writers_of(t, burst);
    double us[ROUNDS], reads = 0;

    for (int i = 0; i < ROUNDS; i++) {
        double alone = cpu_us_each(t, &w, NULL, turns);
        struct audience *heard = audience_new(t->port, t->token, SUBSCRIBERS);
        writers_turn(&w, heard);
        audience_events_each_read(heard);
        us[i] = (cpu_us_each(t, &w, heard, turns) - alone) / SUBSCRIBERS;
        reads += audience_events_each_read(heard) / ROUNDS;
        audience_free(heard);
    }
    writers_close(&w);
    *events_each_read = reads;
    return median(us, ROUNDS);
}

void table_fan_out(const struct site *s, const struct target *t)
{
    static const struct {
        const char *name, *goal;
        int burst, turns;
        double most;
    } rows[] = { { "one event at a time", "at most 4.5 us for one delivery", 1, 300, 4.5 },
                 { "64 events at a time", "at most 1.0 us with 8 or more events for each send",
                   BURST_MAX, 20, 1.0 } };

    (void)s;
    report_title("fan-out to 500 subscribers", "   cpu for a delivery   events with a read");
    for (size_t i = 0; i < 2; i++) {
        double events, us = delivery_us(t, rows[i].burst, rows[i].turns, &events);
        printf("%-30s %18.2f us %20.1f\n", rows[i].name, us, events);
        goal_most(rows[i].goal, us, rows[i].most);
    }
}

/* ---- readers beside a writer ---- */

void table_readers(const struct site *s, const struct target *t)
{
    struct contestant get = { .name = "GET",
                              .port = t->port,
                              .connections = 4,
                              .traffic = {
                                  .kind = TRAFFIC_GET, .token = t->token, .count = SMALL_STATES } };
    struct traffic small = { .kind = TRAFFIC_PATCH, .token = t->token, .count = SMALL_STATES };
    struct traffic huge = small;
    struct {
        const char *name;
        uint32_t connections;
        struct traffic *traffic;
    } rows[] = { { "alone", 0, NULL },
                 { "beside 64 PATCH of 1 KB", 64, &small },
                 { "beside 2 PATCH of 1 MiB", 2, &huge } };

    (void)s;
    huge.first = FILL_LARGE;
    huge.count = 2;
    huge.text_bytes = 950000;
    report_title("GET of 1 KB, 4 connections", "     rate       p50       p99       max");
    for (size_t i = 0; i < 3; i++) {
        struct load_aside aside = { 0 };
        struct load load = { .port = t->port,
                             .connections = rows[i].connections,
                             .seconds = 2.5,
                             .request = traffic_request,
                             .self = rows[i].traffic };
        if (rows[i].traffic)
            aside = load_begin(&load);
        usleep(300 * 1000);
        struct load_result r = traffic_round(&get, 2);
        printf("%-30s", rows[i].name);
        report_rate((double)r.requests / r.seconds);
        report_us(r.p50_us);
        report_us(r.p99_us);
        report_us(r.max_us);
        if (rows[i].traffic) {
            struct load_result w = load_end(&aside);
            printf("  (%.0f PATCH/s%s)", (double)w.requests / w.seconds,
                   w.broken || w.refused ? ", some refused" : "");
        }
        putchar('\n');
    }
}
