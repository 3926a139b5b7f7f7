/* tables_events.c: fan-out, and readers beside a busy writer. */
#include "bench/tables.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/subscribers.h"
#include "bench/echo.h"
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
static void writers_turn(struct writers *w, struct subscribers *heard)
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
        subscribers_receive(heard, (uint64_t)w->count);
    arena_reset(w->arena);
}

/* The server's processor time for one event, in microseconds. */
static double cpu_us_each(const struct target *t, struct writers *w, struct subscribers *heard,
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

enum { FAN_ROUNDS = 3 };

/* What an event costs with listeners, less what it costs without, in rounds that take turns. */
static double delivery_us(const struct target *t, int burst, int turns,
                          struct subscribers_received *heard)
{
    struct writers w = writers_of(t, burst);
    double us[FAN_ROUNDS];

    for (int i = 0; i < FAN_ROUNDS; i++) {
        double alone = cpu_us_each(t, &w, NULL, turns);
        struct subscribers *subscribers = subscribers_new(t->port, t->token, SUBSCRIBERS);
        writers_turn(&w, subscribers);
        subscribers_received(subscribers);
        us[i] = (cpu_us_each(t, &w, subscribers, turns) - alone) / SUBSCRIBERS;
        *heard = subscribers_received(subscribers);
        subscribers_free(subscribers);
    }
    writers_close(&w);
    return median(us, FAN_ROUNDS);
}

/* The same frames by bare calls to the system. */
static double bare_us(const struct target *t, size_t frame_bytes, int turns)
{
    int port, tell;
    double us[FAN_ROUNDS];
    pid_t pid = echo_fan_start(SUBSCRIBERS, frame_bytes, &port, &tell);
    struct subscribers *subscribers = subscribers_new(port, t->token, SUBSCRIBERS);

    for (int i = 0; i < FAN_ROUNDS; i++) {
        double before = process_cpu_s(pid);
        for (int k = 0; k < turns; k++) {
            if (write(tell, "!", 1) != 1)
                fail("the bare sender", STR("is gone"));
            subscribers_receive(subscribers, 1);
        }
        us[i] = (process_cpu_s(pid) - before) * 1e6 / turns / SUBSCRIBERS;
    }
    subscribers_free(subscribers);
    close(tell);
    waitpid(pid, NULL, 0);
    return median(us, FAN_ROUNDS);
}

static void fan_out_row(const char *name, double us, double events)
{
    printf("%-30s %18.2f us %20.1f\n", name, us, events);
}

void table_fan_out(const struct bench_paths *s, const struct target *t)
{
    struct subscribers_received one, many;
    double one_us = delivery_us(t, 1, 300, &one), many_us = delivery_us(t, BURST_MAX, 20, &many);
    double least_us = bare_us(t, (size_t)one.bytes_each_event, 300);

    (void)s;
    report_title("fan-out to 500 subscribers", "   cpu for a delivery   events with a read");
    fan_out_row("one event at a time", one_us, one.events_each_read);
    fan_out_row("the same, by a bare send()", least_us, 1);
    fan_out_row("64 events at a time", many_us, many.events_each_read);
    goal_most("one at a time, at most 4.5 us", one_us, 4.5);
    goal_most("8 or more with a send, at most 1.0 us", many_us, 1.0);
}

/* ---- readers beside a writer ---- */

void table_readers(const struct bench_paths *s, const struct target *t)
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
