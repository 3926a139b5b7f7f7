/* tables_team.c: a team of agents, and claims from a long queue. */
#include "bench/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/cluster.h"
#include "bench/team_load.h"
#include "bench/set.h"
#include "sim/postgres.h"

/* A new server on an empty database, with settings that let all of a team be there. */
static struct target server_fresh(struct arena *a, const struct bench_paths *s, const char *name)
{
    str folder = bench_path(a, s, name);

    data_dir_empty(folder.at);
    fill_close(fill_open(folder.at));
    FILE *file = fopen(arena_printf(a, STR_FMT "/baton.toml", STR_ARG(folder)).at, "w");
    if (!file)
        fail("cannot write settings into", folder);
    fputs("tree_sessions_max = 2000\nprofile_sessions_max = 2000\npoll_time = \"1s\"\n", file);
    fclose(file);
    return target_start(s->program, folder.at, NULL);
}

/* ---- a team ---- */

enum { TEAM_ROUNDS = 5, CHILDREN = 1000, AT_A_TIME = 50 };

/* The median of some teams, each on a server of its own, in microseconds of a child. */
static double team_row(const struct bench_paths *s, const char *name, bool local)
{
    struct arena *a = arena_new();
    double cpu_us[TEAM_ROUNDS], seconds[TEAM_ROUNDS], requests = 0, commits = 0;
    str folder = bench_path(a, s, "team");

    for (int i = 0; i < TEAM_ROUNDS; i++) {
        struct target server = server_fresh(a, s, "team");
        struct team_load load = { .workers = AT_A_TIME,
                                  .children = CHILDREN,
                                  .at_a_time = AT_A_TIME };
        if (local)
            load.socket = arena_printf(a, STR_FMT "/baton.sock", STR_ARG(folder)).at;
        team_load_run(&load, &server);
        target_stop(&server);
        cpu_us[i] = load.cpu_s * 1e6 / CHILDREN;
        seconds[i] = load.seconds;
        requests = (double)load.requests / CHILDREN;
        commits = (double)load.commits / CHILDREN;
    }
    double cpu = median(cpu_us, TEAM_ROUNDS);
    printf("%-30s", name);
    report_us(cpu);
    report_rate(CHILDREN / median(seconds, TEAM_ROUNDS));
    printf(" %9.1f %9.2f\n", requests, commits);
    arena_free(a);
    return cpu;
}

void table_team(const struct bench_paths *s, const struct target *t)
{
    (void)t;
    report_title("a child of 1,000, 50 at a time", "      cpu      rate  requests   commits");
    double local = team_row(s, "by the server's own socket", true);
    team_row(s, "by TCP, as from elsewhere", false);
    goal_most("at most 2 ms of processor time for a child", local / 1e3, 2);
}

/* ---- claims ---- */

enum { QUEUED = 100000, SHARED_QUEUED = 20000, RUNNERS = 20, ROOM = 50, CLAIMS = RUNNERS * ROOM };

// clang-format off
static const struct queue {
    const char *name;
    uint64_t tag_sets, directories;
    const char *only; /* the directory that runners keep to; NULL: none */
    bool shared;      /* on PostgreSQL too */
} queues[] = {
    { "one demand",                 1,      0,      NULL,    true },
    { "1,000 demands",              1000,   0,      NULL,    false },
    { "all of them different",      QUEUED, 0,      NULL,    true },
    { "in different directories",   1,      QUEUED, NULL,    false },
    { "these below a runner's own", 1,      QUEUED, "/projects", true },
};
// clang-format on

enum { QUEUES = sizeof queues / sizeof *queues };

/* Times of claims, to be sorted. */
struct times {
    double us[CLAIMS];
    int count;
};

/* What was seen of one queue: claims that get nothing and that get a run, by the processor's time
 * and by the clock; those that were asked by HTTP; and what a small write takes beside them. */
struct seen {
    struct times none, none_cpu, all, all_cpu, asked, write, write_cpu;
};

static double share(struct times *t, double part)
{
    figures_sort(t->us, (size_t)t->count);
    return t->us[(int)(part * (t->count - 1))];
}

/* What a runner says that it is; one with tags fits every run, one without fits none. */
static str runner_input(struct arena *a, const struct queue *q, int number, bool fits)
{
    struct buf out = buf_in(a);

    buf_printf(&out, "{\"name\":\"%s-%td-%d\",\"hostname\":\"bench\",\"capacity\":%d,\"tags\":[",
               fits ? "all" : "none", q - queues, number, ROOM);
    buf_add(&out, fits ? STR("\"all\"") : STR("\"other\""));
    for (int i = 0; fits && i < FILL_TAGS; i++) {
        char tag[8];
        fill_tag(tag, i);
        buf_printf(&out, ",\"%s\"", tag);
    }
    buf_byte(&out, ']');
    if (q->only)
        buf_printf(&out, ",\"project_dir\":\"%s\"", q->only);
    buf_byte(&out, '}');
    return buf_str(&out);
}

static str claim_input(struct arena *a, str id)
{
    return arena_printf(a, "{\"runner_id\":\"" STR_FMT "\"}", STR_ARG(id));
}

static str started_input(struct arena *a, str id, const struct json *run)
{
    return arena_printf(a,
                        "{\"runner_id\":\"" STR_FMT "\",\"run_id\":\"" STR_FMT "\",\"fence\":%lld}",
                        STR_ARG(id), STR_ARG(json_str(run, "run_id")),
                        (long long)json_int_or(run, "fence", 0));
}

/* A runner's claims, one after the other, without a server. */
static void claims_performed(struct filler *f, const struct queue *q, int number, bool fits,
                             struct seen *out)
{
    struct arena *a = arena_new(), *own = arena_new();
    struct times *wall = fits ? &out->all : &out->none;
    struct times *cpu = fits ? &out->all_cpu : &out->none_cpu;
    str token = STR("rn_bench");
    str id =
        json_str(fill_call(f, own, token, "runner.register", runner_input(own, q, number, fits),
                           &out->write.us[out->write.count++],
                           &out->write_cpu.us[out->write_cpu.count++]),
                 "runner_id");

    for (int i = 0; i < ROOM; i++) {
        const struct json *answer = fill_call(f, a, token, "runner.claim", claim_input(a, id),
                                              &wall->us[wall->count++], &cpu->us[cpu->count++]);
        const struct json *run = json_get(answer, "run");
        if (fits != (run != NULL))
            fail("a claim", STR("got what it must not, or nothing"));
        if (run)
            fill_call(f, a, token, "runner.started", started_input(a, id, run), NULL, NULL);
        arena_reset(a);
    }
    arena_free(own);
    arena_free(a);
}

/* The same through a server; only claims that get a run, since others wait for one. */
static void claims_asked(const struct target *t, const struct queue *q, int number,
                         const char *token, struct times *wall)
{
    struct api_client k = api_client_new(t->port);
    struct arena *own = arena_new();
    str id = arena_copy(own, json_str(api_client_must(&k, token, "POST", STR("/runner/register"),
                                                      runner_input(own, q, number, true)),
                                      "runner_id"));
    str path = arena_printf(own, "/runner/runs?runner_id=" STR_FMT, STR_ARG(id));

    for (int i = 0; i < ROOM; i++) {
        double began = now_s();
        const struct json *run = json_get(api_client_must(&k, token, "GET", path, STR("")), "run");
        wall->us[wall->count++] = (now_s() - began) * 1e6;
        str report = arena_printf(k.arena, "/runner/runs/" STR_FMT "/started",
                                  STR_ARG(json_str(run, "run_id")));
        api_client_must(&k, token, "POST", report,
                        arena_printf(k.arena, "{\"runner_id\":\"" STR_FMT "\",\"fence\":%lld}",
                                     STR_ARG(id), (long long)json_int_or(run, "fence", 0)));
        arena_reset(k.arena);
    }
    arena_free(own);
    api_client_free(&k);
}

static void queue_perform(const char *store, const struct queue *q, uint64_t count,
                          struct seen *out)
{
    struct filler *f = fill_open_store(store);

    fill_runs(f, count, q->tag_sets, q->directories);
    for (int i = 0; i < RUNNERS; i++) {
        claims_performed(f, q, i, false, out);
        claims_performed(f, q, i, true, out);
    }
    fill_close(f);
}

static void queue_ask(const struct bench_paths *s, const char *folder, const struct queue *q,
                      struct seen *out)
{
    struct arena *a = arena_new();
    struct target t = target_start(s->program, folder, "match_time=1d");
    struct api_client k = api_client_new(t.port);
    const char *token = api_client_runner_token(&k, a, &t);

    for (int i = 0; i < RUNNERS; i++)
        claims_asked(&t, q, RUNNERS + i, token, &out->asked);
    api_client_free(&k);
    target_stop(&t);
    arena_free(a);
}

static void queue_row(const char *name, struct times *none, struct times *all, struct times *write,
                      struct times *asked)
{
    printf("%-30s", name);
    report_us(share(none, 0.5));
    report_us(share(none, 0.99));
    report_us(share(all, 0.5));
    report_us(share(all, 0.99));
    report_us(share(write, 0.5));
    report_us(asked ? share(asked, 0.5) : NAN);
    report_us(asked ? share(asked, 0.99) : NAN);
    putchar('\n');
}

#define CLAIM_COLUMNS "     none:      p99       all:      p99   a write     asked       p99"

static bool same_runs(const struct queue *a, const struct queue *b)
{
    return a->tag_sets == b->tag_sets && a->directories == b->directories;
}

static void folder_renew(const char *folder)
{
    data_dir_empty(folder);
    fill_close(fill_open(folder));
}

static void claims_embedded(const struct bench_paths *s)
{
    struct arena *a = arena_new();
    const char *folder = bench_path(a, s, "claims").at;
    double none = 0, all = 0;

    report_title("a claim, 100,000 queued: cpu", CLAIM_COLUMNS);
    for (int i = 0; i < QUEUES; i++) {
        struct seen *seen = ARENA_NEW(a, struct seen);
        bool filled = i > 0 && same_runs(&queues[i], &queues[i - 1]);
        if (!filled)
            folder_renew(folder);
        queue_perform(arena_printf(a, "%s/baton.db", folder).at, &queues[i], filled ? 0 : QUEUED,
                      seen);
        queue_ask(s, folder, &queues[i], seen);
        queue_row(queues[i].name, &seen->none_cpu, &seen->all_cpu, &seen->write_cpu, &seen->asked);
        none = fmax(none, share(&seen->none_cpu, 0.99));
        all = fmax(all, share(&seen->all_cpu, 0.99));
    }
    goal_most("none fits: p99 at most 1 ms", none / 1e3, 1);
    goal_most("all fit: p99 at most 1 ms", all / 1e3, 1);
    arena_free(a);
}

static void claims_shared(const struct bench_paths *s)
{
    struct arena *a = arena_new();
    struct cluster cluster;

    if (cluster_start(&cluster, bench_path(a, s, "postgres").at)) {
        report_title("PostgreSQL, 20,000: all time", CLAIM_COLUMNS);
        for (int i = 0; i < QUEUES; i++) {
            struct seen *seen = ARENA_NEW(a, struct seen);
            if (!queues[i].shared)
                continue;
            queue_perform(postgres_new_database(cluster.server), &queues[i], SHARED_QUEUED, seen);
            queue_row(queues[i].name, &seen->none, &seen->all, &seen->write, NULL);
        }
        cluster_stop(&cluster);
    }
    arena_free(a);
}

void table_claims(const struct bench_paths *s, const struct target *t)
{
    (void)t;
    claims_embedded(s);
    claims_shared(s);
}
