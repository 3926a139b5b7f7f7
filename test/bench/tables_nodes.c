/* tables_nodes.c: nodes that share a PostgreSQL, beside SQLite and a plain UPDATE. */
#include "bench/tables.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/cluster.h"
#include "bench/set.h"

enum { NODES = 2, CONNECTIONS = 64, ROUNDS = 5 };

struct field {
    const struct target *embedded; /* SQLite */
    struct target nodes[NODES];
    struct cluster cluster;
};

/* One of those that take turns. What is counted of a server has a count of requests beside it. */
struct player {
    const char *name;
    void (*round)(const struct field *f, struct player *p, double seconds);
    int target;       /* −1: the embedded one */
    uint32_t count;   /* of connections */
    uint32_t writers; /* of other connections that write meanwhile */
    double rates[ROUNDS], p50[ROUNDS], p99[ROUNDS];
    int rounds;
    double trips, commits, again, requests;
    double rate; /* the median, when all have had their turns */
};

/* ---- rounds ---- */

static const struct target *target_of(const struct field *f, int target)
{
    return target < 0 ? f->embedded : &f->nodes[target];
}

static struct contestant asking(const struct target *t, enum traffic_kind kind, uint32_t count)
{
    return (
        struct contestant){ .name = "a node",
                            .port = t->port,
                            .pid = t->pid,
                            .connections = count,
                            .traffic = { .kind = kind, .token = t->token, .count = SMALL_STATES } };
}

static void note(struct player *p, double rate, double p50_us, double p99_us)
{
    p->rates[p->rounds] = rate;
    p->p50[p->rounds] = p50_us;
    p->p99[p->rounds++] = p99_us;
}

/* Adds what two servers count, or takes it away again. */
static void counters_add(const struct field *f, struct player *p, double sign)
{
    for (int i = 0; i < NODES; i++) {
        const struct target *t = p->target < 0 ? f->embedded : &f->nodes[i];
        p->trips += sign * target_metric(t, "baton_store_trips_total");
        p->commits += sign * target_metric(t, "baton_batches_total");
        p->again += sign * target_metric(t, "baton_batches_again_total");
        p->requests += sign * target_metric(t, "baton_batch_commands_total");
        if (p->target < 0)
            break;
    }
}

static struct load load_of(struct contestant *c, double seconds)
{
    return (struct load){ .port = c->port,
                          .connections = c->connections,
                          .seconds = seconds,
                          .request = traffic_request,
                          .self = &c->traffic };
}

static void patch_one(const struct field *f, struct player *p, double seconds)
{
    struct contestant c = asking(target_of(f, p->target), TRAFFIC_PATCH, p->count);

    counters_add(f, p, -1);
    struct load_result r = traffic_round(&c, seconds);
    counters_add(f, p, 1);
    note(p, (double)r.requests / r.seconds, r.p50_us, r.p99_us);
}

/* Both at once; the slower node's latencies count. */
static void patch_both(const struct field *f, struct player *p, double seconds)
{
    struct contestant one = asking(&f->nodes[0], TRAFFIC_PATCH, p->count);
    struct contestant other = asking(&f->nodes[1], TRAFFIC_PATCH, p->count);
    struct load load = load_of(&one, seconds);

    counters_add(f, p, -1);
    one.traffic.random = (uint64_t)(now_s() * 1e6);
    struct load_aside aside = load_begin(&load);
    struct load_result b = traffic_round(&other, seconds), a = load_end(&aside);
    counters_add(f, p, 1);
    if (a.refused || a.broken)
        printf("the first node refused %llu\n", (unsigned long long)a.refused);
    note(p, (double)a.requests / a.seconds + (double)b.requests / b.seconds,
         fmax(a.p50_us, b.p50_us), fmax(a.p99_us, b.p99_us));
}

static void update_plain(const struct field *f, struct player *p, double seconds)
{
    struct updates u = updates_run(f->cluster.plain, p->count, seconds);

    note(p, u.rate, u.p50_us, u.p99_us);
}

/* GET, while the first node (the embedded one: itself) is written to, if there are writers. */
static void get_beside(const struct field *f, struct player *p, double seconds)
{
    struct contestant get = asking(target_of(f, p->target), TRAFFIC_GET, p->count);
    struct contestant put = asking(target_of(f, p->target < 0 ? -1 : 0), TRAFFIC_PATCH, p->writers);
    struct load load = load_of(&put, seconds + 0.4);
    struct load_aside aside = { 0 };

    put.traffic.random = (uint64_t)(now_s() * 1e6);
    if (p->writers) {
        aside = load_begin(&load);
        usleep(200 * 1000);
    }
    struct load_result r = traffic_round(&get, seconds);
    if (p->writers) {
        struct load_result w = load_end(&aside);
        p->requests += (double)w.requests / w.seconds / ROUNDS;
    }
    note(p, (double)r.requests / r.seconds, r.p50_us, r.p99_us);
}

static void play(const struct field *f, struct player *all, size_t count, double seconds)
{
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < count; i++)
            all[i].round(f, &all[i], seconds);
    for (size_t i = 0; i < count; i++)
        all[i].rate = median(all[i].rates, ROUNDS);
}

/* ---- tables ---- */

static void row(struct player *p, const struct player *beside)
{
    printf("%-30s", p->name);
    report_rate(p->rate);
    report_us(median(p->p50, ROUNDS));
    report_us(median(p->p99, ROUNDS));
    report_ratio(p->rate / beside->rate);
}

static void writes_table(const struct field *f)
{
    enum { EMBEDDED, ONE, TWO, SINGLE, FEW, MANY, PLAYERS };
    struct player all[PLAYERS] = {
        [EMBEDDED] = { .name = "SQLite", .round = patch_one, .target = -1, .count = CONNECTIONS },
        [ONE] = { .name = "PostgreSQL, one node", .round = patch_one, .count = CONNECTIONS },
        [TWO] = { .name = "two nodes, half each", .round = patch_both, .count = CONNECTIONS / 2 },
        [SINGLE] = { .name = "plain UPDATE, 1 connection", .round = update_plain, .count = 1 },
        [FEW] = { .name = "plain UPDATE, 16 connections", .round = update_plain, .count = 16 },
        [MANY] = { .name = "plain UPDATE, 64 connections", .round = update_plain, .count = 64 },
    };

    play(f, all, PLAYERS, 1);
    const struct player *plain = &all[all[MANY].rate > all[FEW].rate ? MANY : FEW];
    report_title("PATCH of 1 KB, 64 connections", "     rate       p50       p99  of UPDATE's"
                                                  "   for 100: waits, commits");
    for (int i = 0; i < PLAYERS; i++) {
        row(&all[i], plain);
        if (all[i].requests > 0)
            printf(" %12.1f %8.1f", all[i].trips * 100 / all[i].requests,
                   all[i].commits * 100 / all[i].requests);
        putchar('\n');
    }
    goal_least("one node at least 3,000/s", all[ONE].rate, 3000);
    goal_least("at least 2.3 times the best plain UPDATE", all[ONE].rate / plain->rate, 2.3);
    goal_least("two nodes at least 0.8 of one", all[TWO].rate / all[ONE].rate, 0.8);
    goal_most("batches that ran again", all[ONE].again + all[TWO].again, 0);
}

static void reads_table(const struct field *f)
{
    enum { QUIET, BUSY, OTHER_QUIET, OTHER_BUSY, PLAYERS };
    struct player all[PLAYERS] = {
        [QUIET] = { .name = "SQLite", .target = -1 },
        [BUSY] = { .name = "SQLite, beside 64 PATCH", .target = -1, .writers = CONNECTIONS },
        [OTHER_QUIET] = { .name = "a node that does not write", .target = 1 },
        [OTHER_BUSY] = { .name = "it, while the other has 64",
                         .target = 1,
                         .writers = CONNECTIONS },
    };

    for (int i = 0; i < PLAYERS; i++) {
        all[i].round = get_beside;
        all[i].count = CONNECTIONS;
    }
    play(f, all, PLAYERS, 1);
    report_title("GET of 1 KB, 64 connections", "     rate       p50       p99  of SQLite's");
    for (int i = 0; i < PLAYERS; i++) {
        row(&all[i], &all[i == OTHER_BUSY ? BUSY : QUIET]);
        if (all[i].writers)
            printf("  (%.0f PATCH/s)", all[i].requests);
        putchar('\n');
    }
    goal_least("at least 0.3 of the embedded one's", all[OTHER_QUIET].rate / all[QUIET].rate, 0.3);
    goal_least("the same while PATCHes go on", all[OTHER_BUSY].rate / all[BUSY].rate, 0.3);
}

static struct target node_start(const struct bench_paths *s, struct field *f, const char *name)
{
    struct arena *a = arena_new();
    str folder = bench_path(a, s, name);

    data_dir_empty(folder.at);
    struct target t =
        target_start(s->program, folder.at, arena_printf(a, "store=%s", f->cluster.url).at);
    arena_free(a);
    return t;
}

void table_nodes(const struct bench_paths *s, const struct target *t)
{
    struct arena *a = arena_new();
    struct field f = { .embedded = t };

    if (cluster_start(&f.cluster, bench_path(a, s, "postgres").at)) {
        f.nodes[0] = node_start(s, &f, "node-1");
        f.nodes[1] = node_start(s, &f, "node-2");
        writes_table(&f);
        reads_table(&f);
        target_stop(&f.nodes[1]);
        target_stop(&f.nodes[0]);
        cluster_stop(&f.cluster);
    }
    arena_free(a);
}
