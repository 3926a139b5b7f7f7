/* swarm_postgres_test.c: the swarm on PostgreSQL: it answers as on SQLite, and keeps every promise
 * when connections are cut and the server restarts.
 *
 * $BATON_SEED names the first seed, $BATON_SOAK_SECONDS how long each test goes on. */
#include <stdlib.h>
#include <time.h>

#include "json_help.h"
#include "sim/both.h"
#include "sim/swarm.h"

enum { RUNS = 2 }; /* of each test, however long they take */

static time_t time_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static bool goes_on(time_t from, const struct swarm_totals *totals)
{
    uint64_t seconds = swarm_setting("BATON_SOAK_SECONDS", 0);

    return seconds ? (uint64_t)(time_now() - from) < seconds : totals->runs < RUNS;
}

static void totals_show(uint64_t seed, const struct swarm_totals *t)
{
    check_note("seeds %llu to %llu: %llu commands, %llu applied, %llu reads, %llu restarts",
               (unsigned long long)seed, (unsigned long long)(seed + t->runs - 1),
               (unsigned long long)t->commands, (unsigned long long)t->applied,
               (unsigned long long)t->reads, (unsigned long long)t->restarts);
}

/* ---- the same ---- */

/* All that a seed does and is told on a store. */
static str run_on(const char *store, uint64_t seed, struct swarm_totals *totals)
{
    char *text = NULL;
    size_t size;
    struct swarm_options options = { .store = store,
                                     .tells = true,
                                     .log = open_memstream(&text, &size) };
    unsigned char digest[SHA256_BYTES];

    swarm_run(seed, &options, totals, digest);
    fclose(options.log);
    str copy = arena_copy(check_arena(), (str){ text, size });
    free(text);
    return copy;
}

TEST_USING(a_seed_gives_the_same_run_on_sqlite_and_on_postgresql, 600, &postgres_service)
{
    struct postgres *p = postgres_shared();
    struct swarm_totals totals = { .runs = 0 }, unused = { .runs = 0 };
    uint64_t first = swarm_setting("BATON_SEED", 1);

    for (time_t from = time_now(); totals.runs == 0 || goes_on(from, &totals);) {
        uint64_t seed = first + totals.runs;
        const char *file = arena_printf(check_arena(), "%llu.db", (unsigned long long)seed).at;
        str sqlite = run_on(file, seed, &unused);
        both_compare(sqlite, run_on(postgres_new_schema(p), seed, &totals));
    }
    totals_show(first, &totals);
    postgres_leave(p);
}

/* ---- whatever fails ---- */

static void restart(void *server)
{
    postgres_stop(server);
    postgres_start_again(server);
}

TEST_LIMIT(a_swarm_on_postgresql_survives_cuts_and_restarts, 600)
{
    struct postgres *p = postgres_start();
    struct proxy *wire = proxy_start(postgres_folder(p), NULL, NULL);
    struct swarm_totals totals = { .runs = 0 };
    uint64_t first = swarm_setting("BATON_SEED", 1), cuts = 0;
    unsigned char digest[SHA256_BYTES];

    for (time_t from = time_now(); totals.runs == 0 || goes_on(from, &totals);) {
        const char *database = strrchr(postgres_new_database(p), '/') + 1;
        struct swarm_options options = {
            .store = proxy_url(wire, database), .wire = wire, .restart = restart, .server = p
        };
        swarm_run(first + totals.runs, &options, &totals, digest);
    }
    for (size_t i = 0; i < SWARM_OPS_MAX; i++)
        cuts += totals.cells[i][FAULT_SITE_IOERR];
    totals_show(first, &totals);
    check_note("%llu commands have met a cut", (unsigned long long)cuts);
    CHECK(cuts > 0);
    proxy_stop(wire);
    postgres_stop(p);
}

/* ---- a cut at every message ---- */

enum { BATCH = 3 };

/* A batch of patches of a new state, each with a key of its own, or all without. */
static void batch_make(struct world *w, struct command *batch[BATCH], bool keyed)
{
    CHECK_OK(world_call(w, "state.create", "{'schema_name':'any','initial_data':{}}", "")->error);
    for (int i = 0; i < BATCH; i++)
        batch[i] = world_command(
            w, "state.patch",
            arena_printf(check_arena(), "{'state_id':'wfstate_%d','merge':{'n%d':1}}", w->ids, i)
                .at,
            keyed ? arena_printf(check_arena(), "%d of %d", i, w->ids).at : "");
}

static struct command *state_read(struct world *w)
{
    return world_call(w, "state.read",
                      arena_printf(check_arena(), "{'state_id':'wfstate_%d'}", w->ids).at, "");
}

/* Whether the cut came. Nobody can ask again what was asked without a key: what was acknowledged is
 * there once, and what was refused is not. */
static bool cut_without_keys(struct world *w, struct proxy *wire, enum proxy_plan plan,
                             unsigned nth)
{
    struct command *batch[BATCH];
    int applied = 0;

    batch_make(w, batch, false);
    proxy_arm(wire, plan, nth);
    op_perform(&w->engine, batch, BATCH);
    bool fired = proxy_disarm(wire);
    CHECK(!w->engine.stopped);
    struct command *read = state_read(w);
    CHECK_OK(read->error);
    const struct json *answer = json_parsed(check_arena(), read->answer.text);
    for (int i = 0; i < BATCH; i++) {
        const char *name = arena_printf(check_arena(), "n%d", i).at;
        CHECK_INT(json_get(json_get(answer, "current_data"), name) != NULL, !batch[i]->error);
        CHECK(!batch[i]->error || (fired && batch[i]->error->kind == ERR_UNAVAILABLE));
        applied += !batch[i]->error;
    }
    CHECK_INT(read->answer.version, 1 + applied);
    return fired;
}

/* Whether the cut came. What was acknowledged was applied, and what was refused was not. */
static bool cut_once(struct world *w, struct proxy *wire, enum proxy_plan plan, unsigned nth)
{
    struct command *batch[BATCH];

    batch_make(w, batch, true);
    proxy_arm(wire, plan, nth);
    op_perform(&w->engine, batch, BATCH);
    bool fired = proxy_disarm(wire);
    CHECK(!w->engine.stopped);
    for (int i = 0; i < BATCH; i++) {
        bool refused = batch[i]->error != NULL;
        CHECK(!refused || (fired && batch[i]->error->kind == ERR_UNAVAILABLE));
        op_perform(&w->engine, &batch[i], 1);
        CHECK_OK(batch[i]->error);
        CHECK_INT(batch[i]->repeated, !refused);
    }
    CHECK_INT(state_read(w)->answer.version, 1 + BATCH);
    return fired;
}

TEST_USING(a_batch_survives_a_cut_at_every_message, 60, &postgres_service)
{
    static const enum proxy_plan plans[] = { PROXY_CUT_BEFORE, PROXY_CUT_ANSWER };
    struct postgres *p = postgres_shared();
    struct proxy *wire = proxy_start(postgres_folder(p), NULL, NULL);
    const char *database = strrchr(postgres_new_database(p), '/') + 1;
    struct world *w;
    int cuts = 0;

    CHECK_OK(world_open(proxy_url(wire, database), NULL, &w));
    CHECK_OK(world_call(w, "schema.create", "{'name':'any','json_schema':true}", "")->error);
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++)
        for (unsigned nth = 1; cut_once(w, wire, plans[k], nth); nth++)
            cuts++;
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++)
        for (unsigned nth = 1; cut_without_keys(w, wire, plans[k], nth); nth++)
            cuts++;
    world_audit(w);
    check_note("%d cuts", cuts);
    CHECK(cuts >= 12); /* where it begins, reads and commits */
    world_close(w);
    proxy_stop(wire);
    postgres_leave(p);
}
