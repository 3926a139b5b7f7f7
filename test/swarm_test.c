/* swarm_test.c: many random runs, and the table of what met what.
 *
 * $BATON_SEED names the first seed, $BATON_SIM_RUNS how many runs there are, $BATON_SIM_LOG a file
 * for their log. Without them the runs go on until enough crash points were looked at. */
#include "check.h"
#include "sim/swarm.h"

#include <malloc.h>
#include <stdlib.h>

/* Sanitized, a crash point costs ten times as much, and there is no time to fill the table. */
#ifdef __SANITIZE_ADDRESS__
enum { POINTS = 1000, POINTS_PER_BATCH = 2, FILLS_TABLE = false };
#else
enum { POINTS = 10000, POINTS_PER_BATCH = 12, FILLS_TABLE = true };
#endif

/* So many runs fill most of the table; make soak has the time for all of it. */
enum { RUNS_MAX = 700, RUNS_SOAK = 2000, POINTS_RUNS = 200, EMPTY_PERCENT = 3 };

/* One run in four has many crash points, so that there are many runs: the table is large. The later
 * ones of a swarm fill the table, when enough points were looked at. By the seed alone, so that each
 * run can be had again. */
static bool fills_table(uint64_t seed)
{
    return seed % RUNS_SOAK > POINTS_RUNS;
}

static uint32_t points_of(uint64_t seed)
{
    if (fills_table(seed))
        return 2;
    return seed % 4 == 1 ? POINTS_PER_BATCH : 2;
}

/* What the server alone asks needs a secret or a digest that no draw hits: those have tests of their own,
 * and are met by other faults. */
static bool is_drawn_in_vain(const struct op *op)
{
    return strcmp(op->name, "token.exchange") == 0 || strcmp(op->name, "approval.answer") == 0;
}

static bool is_soak(void)
{
    return getenv("BATON_SOAK_SECONDS");
}

static int cells_empty(const struct op_table *t, const struct swarm_totals *totals, int *all)
{
    int empty = 0;

    *all = 0;
    for (size_t i = 0; i < op_count(t); i++)
        for (int site = 0; site < FAULT_SITE_COUNT; site++) {
            bool counts = fault_site_applies(site, op_at(t, i)) && !is_drawn_in_vain(op_at(t, i));
            *all += counts;
            empty += counts && totals->cells[i][site] == 0;
        }
    return empty;
}

static bool is_filled(const struct op_table *t, const struct swarm_totals *totals)
{
    int all, empty = cells_empty(t, totals, &all);

    return is_soak() ? empty == 0 : empty * 100 <= all * EMPTY_PERCENT;
}

static void table_show(const struct op_table *t, const struct swarm_totals *totals)
{
    struct buf line = buf_in(check_arena());

    buf_printf(&line, "%-16s", "");
    for (int site = 0; site < FAULT_SITE_COUNT; site++)
        buf_printf(&line, "%11s", fault_site_names[site]);
    check_note("%s", buf_str(&line).at);
    for (size_t i = 0; i < op_count(t); i++) {
        line.len = 0;
        buf_printf(&line, "%-16s", op_at(t, i)->name);
        for (int site = 0; site < FAULT_SITE_COUNT; site++)
            if (fault_site_applies(site, op_at(t, i)))
                buf_printf(&line, "%11llu", (unsigned long long)totals->cells[i][site]);
            else
                buf_printf(&line, "%11s", "-");
        check_note("%s", buf_str(&line).at);
    }
}

/* Until there were enough crash points, and every fault has met every operation that it can meet: nearly
 * every one, where there is little time. */
static bool is_enough(const struct op_table *t, const struct swarm_totals *totals, uint64_t runs)
{
    if (runs)
        return totals->runs == runs;
    uint64_t most = is_soak() ? RUNS_SOAK : RUNS_MAX;
    bool filled = !FILLS_TABLE || totals->runs >= most || is_filled(t, totals);
    return filled && totals->points >= POINTS;
}

TEST_LIMIT(swarm_keeps_every_promise_whatever_fails, 900)
{
    uint64_t seed = swarm_setting("BATON_SEED", 1), runs = swarm_setting("BATON_SIM_RUNS", 0);
    const char *path = getenv("BATON_SIM_LOG");
    struct swarm_options options = { .log = NULL };
    struct swarm_totals totals = { .runs = 0 };
    unsigned char digest[SHA256_BYTES];
    struct op_table *table;

    /* Thousands of disks come and go: what they were made of is not given back meanwhile. */
    mallopt(M_MMAP_THRESHOLD, 256 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    if (path)
        options.log = fopen(path, "we");
    CHECK(!path || options.log);
    CHECK_OK(op_table_all(check_arena(), &table));
    CHECK(op_count(table) <= SWARM_OPS_MAX);
    while (!is_enough(table, &totals, runs)) {
        options.points_per_batch = points_of(seed + totals.runs);
        options.evenly = fills_table(seed + totals.runs);
        swarm_run(seed + totals.runs, &options, &totals, digest);
    }
    check_note("seeds %llu to %llu: %llu commands, %llu applied, %llu reads, %llu restarts, %llu "
               "versions dropped, %llu crash points",
               (unsigned long long)seed, (unsigned long long)(seed + totals.runs - 1),
               (unsigned long long)totals.commands, (unsigned long long)totals.applied,
               (unsigned long long)totals.reads, (unsigned long long)totals.restarts,
               (unsigned long long)totals.dropped, (unsigned long long)totals.points);
    table_show(table, &totals);
    CHECK(runs || !FILLS_TABLE || is_filled(table, &totals));
    op_table_free(table);
    if (options.log)
        fclose(options.log);
}

/* On a disk that is full and stays so, writes are refused and reads go on; when there is space
 * again, so do writes. */
TEST(a_full_disk_refuses_writes_and_recovers)
{
    struct vfs *disk = vfs_new(1, 4096);
    struct world *w;
    str text = arena_printf(check_arena(), "%0100000d", 7);
    const char *update = arena_printf(check_arena(),
                                      "{'state_id':'wfstate_2','data':{'x':'" STR_FMT "'}}",
                                      STR_ARG(text))
                             .at;
    err e = NULL;
    int64_t version = 1;

    CHECK_OK(world_open("baton.db", vfs_name(disk), &w));
    CHECK_OK(world_call(w, "schema.create", "{'name':'s','json_schema':{}}", "")->error);
    CHECK_OK(world_call(w, "state.create", "{'schema_name':'s','initial_data':{}}", "")->error);
    vfs_disk_bytes_max(disk, 400000);
    for (int i = 0; i < 20 && !e; i++) {
        e = world_call(w, "state.update", update, "")->error;
        version += !e;
    }
    CHECK_ERR(e, ERR_FULL);
    CHECK_INT(world_call(w, "state.read", "{'state_id':'wfstate_2'}", "")->answer.version, version);
    vfs_disk_bytes_max(disk, 0);
    CHECK_INT(world_call(w, "state.update", update, "")->answer.version, version + 1);
    world_close(w);
    vfs_free(disk);
}

TEST_LIMIT(the_same_seed_gives_the_same_run, 60)
{
    struct swarm_options options = { .points_per_batch = 1, .tells = true };
    struct swarm_totals totals = { .runs = 0 };
    unsigned char first[SHA256_BYTES], second[SHA256_BYTES], other[SHA256_BYTES];
    uint64_t seed = swarm_setting("BATON_SEED", 1);

    swarm_run(seed, &options, &totals, first);
    swarm_run(seed + 1, &options, &totals, other);
    swarm_run(seed, &options, &totals, second);
    CHECK(memcmp(first, second, sizeof first) == 0);
    CHECK(memcmp(first, other, sizeof first) != 0);
}
