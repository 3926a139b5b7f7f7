/* workflow_bench.c: what workflows cost, beside other engines of them.
 *
 *   workflow_bench PROGRAM DIRECTORY [TABLE…]
 *
 * Data directories are made in DIRECTORY. BENCH_ENGINES is the folder that has the other engines among its
 * packages; without it they are left out. Times are of the clock and of the processor: on a machine that
 * has more to do, the second says more. It judges by goals and exits 0 whatever the figures are. */
#include <math.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/clock.h"
#include "bench/cluster.h"
#include "bench/measure.h"
#include "bench/set.h"
#include "bench/stolen.h"
#include "bench/tables.h"
#include "bench/team_load.h"
#include "sim/postgres.h"

enum { BATCH = 32, WAITING = 10000, THREADS_MAX = 16, TURNS = 3 };
static const double TURN_SECONDS = 2;

/* ---- the workflows ---- */

#define SET(id) "{\"id\":\"" id "\",\"set\":{\"" id "\":\"=x + 1\"}}"
#define JOB(id) "{\"id\":\"" id "\",\"job\":\"work\"}"
#define THREE(name, STEP)                                                                          \
    "{\"definition\":{\"workflow\":\"" name "\",\"nodes\":[{\"id\":\"start\",\"kind\":\"start\"}," \
    "{\"id\":\"split\",\"kind\":\"and\"}," STEP("a") "," STEP("b") "," STEP(                       \
        "c") ",{\"id\":\"join\",\"kind\":\"and\"},{\"id\":\"end\",\"kind\":\"end\"}],"             \
             "\"flows\":[{\"from\":\"start\",\"to\":\"split\"},"                                   \
             "{\"from\":\"split\",\"to\":\"a\"},{\"from\":\"split\",\"to\":\"b\"},"                \
             "{\"from\":\"split\",\"to\":\"c\"},{\"from\":\"a\",\"to\":\"join\"},"                 \
             "{\"from\":\"b\",\"to\":\"join\"},{\"from\":\"c\",\"to\":\"join\"},"                  \
             "{\"from\":\"join\",\"to\":\"end\"}]}}"

static const char *const definitions[] = {
    THREE("inline", SET),
    THREE("jobs", JOB),
    "{\"definition\":{\"workflow\":\"two\",\"steps\":[{\"id\":\"first\",\"job\":\"work\","
    "\"outputs\":[\"y\"]},{\"id\":\"second\",\"after\":[\"first\"],\"job\":\"work\"}]}}",
    "{\"definition\":{\"workflow\":\"late\",\"steps\":[{\"id\":\"a\",\"timeout\":\"30s\"}]}}",
};

enum { LATE_MS = 30000 };

#define START(name) "{\"workflow\":\"" name "\",\"input\":{\"x\":1}}"
#define CLAIM(max) "{\"types\":[\"work\"],\"max\":" #max "}"

/* ---- the writer's part, without a server ---- */

/* All connections of this process to SQLite since the last filler was opened: they count their rows. */
static sqlite3 *handles[8];
static int handle_count;

static int handle_note(sqlite3 *db, char **why, const void *api)
{
    (void)why, (void)api;
    if (handle_count == sizeof handles / sizeof *handles)
        fail("connections", STR("there are more than were expected"));
    handles[handle_count++] = db;
    return SQLITE_OK;
}

static int64_t rows_written(void)
{
    int64_t rows = 0;

    for (int i = 0; i < handle_count; i++)
        rows += sqlite3_total_changes64(handles[i]);
    return rows;
}

static struct filler *engine_open(const char *folder)
{
    struct arena *a = arena_new();

    data_dir_empty(folder);
    handle_count = 0;
    struct filler *f = fill_open(folder);
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
        fill_call(f, a, STR(""), "workflow.deploy", str_from(definitions[i]), NULL, NULL);
    arena_free(a);
    return f;
}

/* What one of some calls has cost. */
enum { ROUNDS = 101 };
struct cost {
    double us[ROUNDS], cpu_us[ROUNDS];
    int rounds;
    double rows;
};

/* A transaction of some calls; the answers live in the arena. `each` is what a figure is of. */
static void cost_add(struct cost *c, struct filler *f, struct arena *a, const char *op,
                     const str *inputs, size_t count, const struct json **answers, double each)
{
    int64_t before = rows_written();

    fill_batch(f, a, op, inputs, count, answers, &c->us[c->rounds], &c->cpu_us[c->rounds]);
    c->us[c->rounds] /= each;
    c->cpu_us[c->rounds++] /= each;
    c->rows = (double)(rows_written() - before) / each;
}

#define COST_COLUMNS "      all       cpu      rows      rate"

static double cost_row(const char *name, struct cost *c)
{
    double us = median(c->us, c->rounds);

    printf("%-30s", name);
    report_us(us);
    report_us(median(c->cpu_us, c->rounds));
    printf(" %9.2f", c->rows);
    report_rate(1e6 / us);
    putchar('\n');
    return us;
}

static void starts_add(struct cost *c, struct filler *f, struct arena *a, const char *input)
{
    const struct json *answers[BATCH];
    str inputs[BATCH];

    for (int i = 0; i < BATCH; i++)
        inputs[i] = str_from(input);
    cost_add(c, f, a, "execution.start", inputs, BATCH, answers, BATCH);
}

/* Has many of them waiting, without measuring. */
static void waiting_start(struct filler *f, const char *input, int count)
{
    struct arena *a = arena_new();
    struct cost unused;

    for (; count > 0; count -= BATCH) {
        unused.rounds = 0;
        starts_add(&unused, f, a, input);
        arena_reset(a);
    }
    arena_free(a);
}

static double inline_engine(const struct bench_paths *s)
{
    struct arena *a = arena_new();
    struct filler *f = engine_open(bench_path(a, s, "workflows").at);
    struct cost c = { 0 };

    waiting_start(f, START("inline"), 10 * BATCH); /* caches are warm */
    for (int i = 0; i < ROUNDS; i++) {
        starts_add(&c, f, a, START("inline"));
        arena_reset(a);
    }
    fill_close(f);
    arena_free(a);
    return cost_row("the writer, batches of 32", &c);
}

/* ---- jobs, without a server ---- */

static str complete_input(struct arena *a, const struct json *job)
{
    return arena_printf(a, "{\"job_id\":\"" STR_FMT "\",\"outputs\":{\"y\":1}}",
                        STR_ARG(json_str(job, "job_id")));
}

/* 32 of them, in one transaction or in one each, of `jobs`. */
static void completes_add(struct cost *c, struct filler *f, struct arena *a,
                          const struct json *jobs, int at_once)
{
    const struct json *answers[BATCH];
    str inputs[BATCH];

    for (int i = 0; i < BATCH; i++)
        inputs[i] = complete_input(a, json_at(jobs, (uint32_t)i));
    for (int i = 0; i < BATCH && c->rounds < ROUNDS; i += at_once)
        cost_add(c, f, a, "job.complete", &inputs[i], (size_t)at_once, answers, at_once);
}

static const struct json *claim_add(struct cost *c, struct filler *f, struct arena *a)
{
    const struct json *answer;

    cost_add(c, f, a, "job.claim", &STR(CLAIM(32)), 1, &answer, BATCH);
    const struct json *jobs = json_get(answer, "jobs");
    if (!jobs || jobs->len != BATCH)
        fail("a claim of 32", STR("got another number of jobs"));
    return jobs;
}

struct job_costs {
    struct cost start, claim, batch, alone;
};

/* Three jobs for each start, of which two are completed: so there are always some. */
static void jobs_round(struct job_costs *c, struct filler *f)
{
    struct arena *a = arena_new();

    starts_add(&c->start, f, a, START("jobs"));
    completes_add(&c->batch, f, a, claim_add(&c->claim, f, a), BATCH);
    if (c->alone.rounds < ROUNDS) {
        struct cost unused = { 0 };
        completes_add(&c->alone, f, a, claim_add(&unused, f, a), 1);
    }
    arena_free(a);
}

static void table_jobs(const struct bench_paths *s)
{
    struct arena *a = arena_new();
    struct filler *f = engine_open(bench_path(a, s, "workflows").at);
    struct job_costs *c = ARENA_NEW(a, struct job_costs);

    waiting_start(f, START("jobs"), 10 * BATCH);
    for (int i = 0; i < ROUNDS; i++)
        jobs_round(c, f);
    fill_close(f);
    report_title("jobs by the writer: each", COST_COLUMNS);
    cost_row("start, three jobs wait", &c->start);
    cost_row("claim of 32", &c->claim);
    cost_row("complete, batches of 32", &c->batch);
    cost_row("complete, alone", &c->alone);
    arena_free(a);
}

/* ---- other engines ---- */

/* By the clock and by the processor; NAN: not measured. */
struct rate {
    double per_second, cpu_us;
};

/* Runs a program of test/bench/peers that prints both; `arguments` go behind the folder of packages and
 * the seconds. */
static struct rate peer_run(const struct bench_paths *s, const char *name, str arguments)
{
    struct rate r = { NAN, NAN };
    const char *packages = getenv("BENCH_ENGINES");
    struct arena *a = arena_new();

    if (packages) {
        str command = arena_printf(a,
                                   "timeout 60 node test/bench/peers/%s.mjs '%s' %g " STR_FMT
                                   " 2>>'%s/peers.log'",
                                   name, packages, TURN_SECONDS, STR_ARG(arguments), s->folder);
        fflush(stdout);
        FILE *said = popen(command.at, "r");
        if (!said || fscanf(said, "%lf %lf", &r.per_second, &r.cpu_us) != 2)
            r = (struct rate){ NAN, NAN };
        if (said)
            pclose(said);
    }
    if (isnan(r.per_second))
        printf("skipped: %s: %s\n", name,
               packages ? "it failed, see peers.log" : "BENCH_ENGINES does not say where it is");
    arena_free(a);
    return r;
}

/* Of what has taken turns. */
static struct rate rate_median(const struct rate *all)
{
    double per_second[TURNS], cpu_us[TURNS];

    for (int i = 0; i < TURNS; i++) {
        if (isnan(all[i].per_second))
            return all[i];
        per_second[i] = all[i].per_second;
        cpu_us[i] = all[i].cpu_us;
    }
    return (struct rate){ median(per_second, TURNS), median(cpu_us, TURNS) };
}

static void rate_row(const char *name, struct rate r, struct rate peer)
{
    printf("%-30s", name);
    report_rate(r.per_second);
    report_us(r.cpu_us);
    report_ratio(r.per_second / peer.per_second);
    report_ratio(peer.cpu_us / r.cpu_us);
    putchar('\n');
}

#define RATE_COLUMNS "     rate       cpu   by rate    by cpu"

/* ---- through a server ---- */

/* A server on a new directory, with the workflows. */
static struct target workflows_serve(const struct bench_paths *s)
{
    struct arena *a = arena_new();
    str folder = bench_path(a, s, "workflows");

    fill_close(engine_open(folder.at));
    struct target t = target_start(s->program, folder.at, NULL);
    arena_free(a);
    return t;
}

static void start_request(void *self, struct buf *out, uint32_t connection, uint64_t n)
{
    static const char body[] = START("inline");
    const struct target *t = self;

    (void)connection, (void)n;
    buf_printf(out,
               "POST /executions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
               "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
               t->token, sizeof body - 1, body);
}

static struct rate inline_asked(struct target *t)
{
    struct load_result r = load_run(&(struct load){ .port = t->port,
                                                    .pid = t->pid,
                                                    .connections = 16,
                                                    .seconds = TURN_SECONDS,
                                                    .request = start_request,
                                                    .self = t });

    if (r.broken || r.refused)
        fail("starting executions", STR("some were refused"));
    return (struct rate){ (double)r.requests / r.seconds, r.cpu_us };
}

static void table_inline(const struct bench_paths *s)
{
    struct target t = workflows_serve(s);
    struct rate asked[TURNS], peers[TURNS];

    for (int i = 0; i < TURNS; i++) {
        asked[i] = inline_asked(&t);
        peers[i] = peer_run(s, "bpmn", STR(""));
    }
    target_stop(&t);
    struct rate peer = rate_median(peers);
    report_title("start, 3 steps at once, end", COST_COLUMNS);
    double writer = 1e6 / inline_engine(s);
    report_title("beside bpmn-engine", RATE_COLUMNS);
    rate_row("HTTP, 16 connections", rate_median(asked), peer);
    rate_row("bpmn-engine, one process", peer, peer);
    goal_least("the writer: at least 50 times bpmn-engine", writer / peer.per_second, 50);
}

/* ---- two durable steps: three requests ---- */

struct chain {
    pthread_t thread;
    const struct target *target;
    double until_s;
    int done;
};

/* Completes the one job that an answer has. */
static const struct json *job_ask(struct api_client *k, const char *token,
                                  const struct json *answer, const char *body)
{
    str id = json_str(json_at(json_get(answer, "jobs"), 0), "job_id");

    return api_client_must(k, token, "POST",
                           arena_printf(k->arena, "/jobs/" STR_FMT "/complete", STR_ARG(id)),
                           str_from(body));
}

static void chain_run(struct api_client *k, const char *token)
{
    const struct json *answer =
        api_client_must(k, token, "POST", STR("/executions"),
                        STR("{\"workflow\":\"two\",\"input\":{\"x\":1},\"claim\":" CLAIM(1) "}"));

    answer = job_ask(k, token, answer, "{\"outputs\":{\"y\":2},\"claim\":" CLAIM(1) "}");
    answer = job_ask(k, token, answer, "{\"outputs\":{}}");
    if (!str_eq(json_str(answer, "status"), STR("COMPLETED")))
        fail("two steps", STR("are not the whole workflow"));
}

static void *chain_main(void *self)
{
    struct chain *c = self;
    struct api_client k = api_client_new(c->target->port);

    for (; now_s() < c->until_s; c->done++) {
        chain_run(&k, c->target->token);
        arena_reset(k.arena);
    }
    api_client_free(&k);
    return NULL;
}

static struct rate chains_asked(const struct target *t, int connections)
{
    struct chain all[THREADS_MAX];
    double began = now_s(), cpu = process_cpu_s(t->pid);
    int done = 0;

    for (int i = 0; i < connections; i++) {
        all[i] = (struct chain){ .target = t, .until_s = began + TURN_SECONDS };
        if (pthread_create(&all[i].thread, NULL, chain_main, &all[i]) != 0)
            fail("a thread", STR("cannot be started"));
    }
    for (int i = 0; i < connections; i++) {
        pthread_join(all[i].thread, NULL);
        done += all[i].done;
    }
    return (struct rate){ done / (now_s() - began), (process_cpu_s(t->pid) - cpu) * 1e6 / done };
}

/* Ours and theirs take turns; theirs each time in a new database. Gives our rate in theirs. */
static double durable_rows(const struct bench_paths *s, const struct target *t,
                           struct cluster *cluster, int connections)
{
    struct rate ours[TURNS], theirs[TURNS];
    struct arena *a = arena_new();

    for (int i = 0; i < TURNS; i++) {
        ours[i] = chains_asked(t, connections);
        theirs[i] = (struct rate){ NAN, NAN };
        if (cluster)
            theirs[i] = peer_run(s, "dbos",
                                 arena_printf(a, "%d '%s'", connections,
                                              postgres_new_database(cluster->server)));
    }
    struct rate us = rate_median(ours), peer = rate_median(theirs);
    rate_row(arena_printf(a, "baton, %d at once", connections).at, us, peer);
    rate_row(arena_printf(a, "DBOS, %d at once", connections).at, peer, peer);
    arena_free(a);
    return us.per_second / peer.per_second;
}

static void table_durable(const struct bench_paths *s)
{
    struct arena *a = arena_new();
    struct target t = workflows_serve(s);
    struct cluster cluster;
    bool has_peer = getenv("BENCH_ENGINES") &&
                    cluster_start(&cluster, bench_path(a, s, "postgres").at);

    chains_asked(&t, 1); /* warm */
    report_title("two durable steps", RATE_COLUMNS);
    durable_rows(s, &t, has_peer ? &cluster : NULL, 1);
    goal_least("16 at once: at least 10 times DBOS",
               durable_rows(s, &t, has_peer ? &cluster : NULL, THREADS_MAX), 10);
    if (has_peer)
        cluster_stop(&cluster);
    target_stop(&t);
    arena_free(a);
}

/* ---- what waits ---- */

static void waiting_ask(const struct target *t, int count)
{
    struct api_client k = api_client_new(t->port);

    for (int i = 0; i < count; i++) {
        api_client_must(&k, t->token, "POST", STR("/executions"), STR(START("jobs")));
        arena_reset(k.arena);
    }
    api_client_free(&k);
}

/* A server's memory once its caches are full, and with as many again. */
static double waiting_memory(const struct bench_paths *s)
{
    struct target t = workflows_serve(s);

    waiting_ask(&t, WAITING);
    double before = process_bytes(t.pid, "VmRSS");
    waiting_ask(&t, WAITING);
    double after = process_bytes(t.pid, "VmRSS");
    target_stop(&t);
    return (after - before) / WAITING;
}

static void table_waiting(const struct bench_paths *s)
{
    struct arena *a = arena_new();
    const char *folder = bench_path(a, s, "workflows").at;

    fill_close(engine_open(folder));
    double empty = file_bytes(folder, "baton.db");
    struct filler *f = engine_open(folder);
    int count = (WAITING + BATCH - 1) / BATCH * BATCH;
    waiting_start(f, START("jobs"), WAITING);
    fill_close(f);
    double disk = (file_bytes(folder, "baton.db") - empty) / count, memory = waiting_memory(s);
    report_title("an instance that waits", "     disk    memory");
    printf("%-30s", "three jobs wait");
    report_bytes(disk);
    report_bytes(memory);
    putchar('\n');
    goal_most("on disk: at most 8 KB", disk / 1e3, 8);
    goal_most("in memory: nothing, which is below 100 bytes", memory, 100);
    arena_free(a);
}

/* ---- how a move grows ---- */

static void table_growth_of_moves(const struct bench_paths *s)
{
    static const int counts[] = { 100, 1000, 10000, 100000 };
    struct arena *a = arena_new();
    int rows = getenv("BATON_BENCH_LARGE") ? 4 : 3, there = 0;
    struct filler *f = engine_open(bench_path(a, s, "workflows").at);
    double first = NAN, last = NAN;

    report_title("one move, among that many", COST_COLUMNS);
    for (int i = 0; i < rows; i++) {
        struct job_costs *c = ARENA_NEW(a, struct job_costs);
        waiting_start(f, START("jobs"), counts[i] - there);
        there = counts[i];
        for (int k = 0; k < ROUNDS / 4; k++)
            jobs_round(c, f);
        there += ROUNDS / 4 * BATCH;
        cost_row(arena_printf(a, "%d: complete one", counts[i]).at, &c->batch);
        last = median(c->batch.cpu_us, c->batch.rounds);
        if (i == 0)
            first = last;
    }
    goal_most("flat: at most 1.5 times as long, by cpu", last / first, 1.5);
    fill_close(f);
    arena_free(a);
}

/* ---- timers ---- */

/* From the moment that all are due until nothing is open any more. */
static double timers_wait(const struct target *t)
{
    struct api_client k = api_client_new(t->port);
    double began = now_s();

    for (uint32_t open = 1; open; arena_reset(k.arena)) {
        usleep(5000);
        const struct json *page =
            api_client_must(&k, t->token, "GET", STR("/executions?status=open&limit=1"), STR(""));
        open = json_get(page, "executions")->len;
    }
    api_client_free(&k);
    return now_s() - began;
}

/* They are made at one moment of a clock that stands still, so that the server, which is started
 * meanwhile, has them all due at one moment of its own. */
static void table_timers(const struct bench_paths *s)
{
    struct arena *a = arena_new();
    const char *folder = bench_path(a, s, "workflows").at;
    struct filler *f = engine_open(folder);
    int64_t due_ms = clock_wall_ms() + LATE_MS;

    fill_freeze(f, due_ms - LATE_MS);
    waiting_start(f, START("late"), WAITING);
    fill_close(f);
    struct target t = target_start(s->program, folder, NULL);
    int64_t left_ms = due_ms - clock_wall_ms();
    if (left_ms > 0)
        usleep((unsigned)left_ms * 1000);
    double cpu = process_cpu_s(t.pid);
    double seconds = timers_wait(&t);
    cpu = process_cpu_s(t.pid) - cpu;
    target_stop(&t);
    report_title("10,000 timers of one moment", "      all       cpu");
    printf("%-30s", "until all have fired");
    report_us(left_ms > 0 ? seconds * 1e6 : NAN);
    report_us(left_ms > 0 ? cpu * 1e6 : NAN);
    putchar('\n');
    goal_most("at most 1 s", left_ms > 0 ? seconds : NAN, 1);
    arena_free(a);
}

/* ---- the tables ---- */

// clang-format off
static const struct {
    const char *name;
    void (*print)(const struct bench_paths *s);
} tables[] = {
    { "inline",  table_inline },
    { "jobs",    table_jobs },
    { "waiting", table_waiting },
    { "growth",  table_growth_of_moves },
    { "timers",  table_timers },
    { "durable", table_durable }, /* last: where no PostgreSQL can be set up, the program ends */
};
// clang-format on

int main(int count, char **words)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* a row is shown when it is known, through a pipe too */
    if (count < 3)
        fail("usage", STR("PROGRAM DIRECTORY [TABLE…]"));
    sqlite3_auto_extension((void (*)(void))handle_note);
    struct bench_paths paths = { words[1], words[2] };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (int k = 3; k <= count; k++)
            if (k == count ? count == 3 : strcmp(words[k], tables[i].name) == 0) {
                struct stolen before = stolen_now();
                tables[i].print(&paths);
                stolen_print(before);
            }
    report_end();
    return 0;
}
