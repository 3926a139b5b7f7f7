/* tables_requests.c: reads and writes beside servers that do nothing. */
#include "bench/tables.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "bench/echo.h"
#include "bench/set.h"
#include "bench/tools.h"

/* ---- those who take part ---- */

enum { OURS, KEYED, LOOP, EPOLL, LOG, CONTESTANTS };

static struct contestant ours(const struct target *t, enum traffic_kind kind, uint32_t connections)
{
    return (
        struct contestant){ .name = "baton",
                            .port = t->port,
                            .pid = t->pid,
                            .connections = connections,
                            .traffic = { .kind = kind, .token = t->token, .count = SMALL_STATES } };
}

/* The same requests, sent to somebody else. */
static struct contestant echo(const struct contestant *like, const char *name, enum echo_kind kind,
                              const char *document, const char *log)
{
    struct contestant c = *like;

    c.name = name;
    c.pid = echo_start(kind, document, log, &c.port);
    return c;
}

static void echo_stop(struct contestant *c)
{
    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
}

static void row(const struct contestant *c, const struct contestant *beside)
{
    printf("%-30s", c->name);
    report_rate(c->rate);
    report_us(c->cpu_us);
    report_us(c->p50_us);
    report_us(c->p99_us);
    if (beside) {
        report_ratio(c->rate / beside->rate);
        report_ratio(c->cpu_us / beside->cpu_us);
    }
    putchar('\n');
}

static const char columns[] = "     rate       cpu       p50       p99  of the loop's rate, cpu";

/* ---- what an answer looks like ---- */

static str answer_of(struct arena *a, const struct contestant *c)
{
    struct traffic t = c->traffic;
    struct buf request = buf_in(a);
    str body;

    traffic_request(&t, &request, 0, 0);
    int status = load_once(a, c->port, buf_str(&request), &body);
    if (status != 200)
        fail("unexpected answer", body);
    return arena_copy(a, body);
}

/* ---- the tables ---- */

static void wrk_row(const struct bench_paths *s, const struct target *t, enum traffic_kind kind)
{
    struct wrk w = wrk_run(s->folder, t, kind, 64, SMALL_STATES, 2);

    printf("%-30s", "baton, asked by wrk");
    report_rate(w.rate);
    report_us(w.cpu_us);
    report_us(w.p50_us);
    report_us(w.p99_us);
    putchar('\n');
}

void table_get(const struct bench_paths *s, const struct target *t)
{
    struct arena *a = arena_new();
    struct contestant all[3] = { ours(t, TRAFFIC_GET, 64) };
    const char *document = answer_of(a, &all[0]).at;

    all[1] = echo(&all[0], "our loop, a fixed answer", ECHO_LOOP, document, NULL);
    all[2] = echo(&all[0], "bare epoll, a fixed answer", ECHO_EPOLL, document, NULL);
    contest(all, 3, 5, 0.6);
    report_title("GET of 1 KB, 64 connections", columns);
    for (int i = 0; i < 3; i++)
        row(&all[i], &all[1]);
    wrk_row(s, t, TRAFFIC_GET);
    goal_most("cpu at most 1.18 times the loop's", all[0].cpu_us / all[1].cpu_us, 1.18);
    echo_stop(&all[1]);
    echo_stop(&all[2]);
    arena_free(a);
}

static void patch_goals(const struct contestant *all)
{
    goal_least("rate at least 0.20 of the loop's", all[OURS].rate / all[LOOP].rate, 0.20);
    goal_least("with a key, at least 0.10", all[KEYED].rate / all[LOOP].rate, 0.10);
    goal_most("p99 at most 10 ms", all[OURS].p99_us / 1e3, 10);
}

void table_patch(const struct bench_paths *s, const struct target *t)
{
    static const uint32_t connections[] = { 1, 16, 64, 256 };
    struct arena *a = arena_new();
    const char *log = bench_path(a, s, "echo.log").at;
    struct contestant all[CONTESTANTS] = {
        [OURS] = ours(t, TRAFFIC_PATCH, 1), [KEYED] = ours(t, TRAFFIC_KEYED, 1)
    };
    const char *document = answer_of(a, &all[OURS]).at;

    all[KEYED].name = "baton, Idempotency-Key";
    all[LOOP] = echo(&all[OURS], "our loop, echo", ECHO_LOOP, document, NULL);
    all[EPOLL] = echo(&all[OURS], "bare epoll, a fixed answer", ECHO_EPOLL, document, NULL);
    all[LOG] = echo(&all[OURS], "our loop, append to a log", ECHO_LOG, document, log);
    for (size_t i = 0; i < 4; i++) {
        char title[64];
        for (int k = 0; k < CONTESTANTS; k++)
            all[k].connections = connections[i];
        contest(all, CONTESTANTS, 3, connections[i] == 64 ? 1.0 : 0.6);
        snprintf(title, sizeof title, "PATCH of 1 KB, %u connection%s", connections[i],
                 connections[i] == 1 ? "" : "s");
        report_title(title, columns);
        for (int k = 0; k < CONTESTANTS; k++)
            row(&all[k], &all[LOOP]);
        if (connections[i] == 64) {
            wrk_row(s, t, TRAFFIC_PATCH);
            patch_goals(all);
        }
    }
    for (int k = LOOP; k < CONTESTANTS; k++)
        echo_stop(&all[k]);
    arena_free(a);
}

void table_large_and_hot(const struct bench_paths *s, const struct target *t)
{
    struct contestant all[3] = { ours(t, TRAFFIC_PATCH, 64), ours(t, TRAFFIC_PATCH, 64),
                                 ours(t, TRAFFIC_PATCH, 16) };

    (void)s;
    all[0].name = "1 KB, 64 connections";
    all[1].name = "50 KB, 64 connections";
    all[1].traffic.first = FILL_LARGE;
    all[1].traffic.count = LARGE_STATES;
    all[2].name = "one hot state, 16 connections";
    all[2].traffic.count = 1;
    contest(all, 3, 3, 1);
    report_title("PATCH of others",
                 "     rate       cpu       p50       p99  of the first's rate, cpu");
    for (int i = 0; i < 3; i++)
        row(&all[i], &all[0]);
    goal_least("50 KB at least 0.2 of the rate of 1 KB", all[1].rate / all[0].rate, 0.2);
}

/* The tracer slows the server down, and what comes in meanwhile is committed together: so beside its
 * count stands the server's own of batches in an undisturbed round. */
void table_syncs(const struct bench_paths *s, const struct target *t)
{
    static const struct {
        const char *name, *goal;
        uint32_t connections;
        double most;
    } rows[] = { { "64 connections", "at most 4 fdatasync for 100 updates", 64, 4 },
                 { "256 connections", "at most 1.5 fdatasync for 100 updates", 256, 1.5 } };

    report_title("PATCH: for 100 updates", "fdatasync (strace)   batches (undisturbed)");
    for (size_t i = 0; i < 2; i++) {
        struct contestant c = ours(t, TRAFFIC_PATCH, rows[i].connections);
        double batches = target_metric(t, "baton_batches_total");
        double updates = target_metric(t, "baton_batch_commands_total");
        traffic_round(&c, 1);
        batches = target_metric(t, "baton_batches_total") - batches;
        updates = target_metric(t, "baton_batch_commands_total") - updates;

        struct strace trace = strace_begin(s->folder, t->pid);
        double before = target_metric(t, "baton_batch_commands_total");
        traffic_round(&c, 2);
        double after = target_metric(t, "baton_batch_commands_total");
        double syncs = strace_end(&trace) * 100 / (after - before);
        printf("%-30s %18.2f %23.2f\n", rows[i].name, syncs, batches * 100 / updates);
        goal_most(rows[i].goal, syncs, rows[i].most);
    }
}
