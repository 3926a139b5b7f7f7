/* nodes_chaos_test.c: three nodes on one PostgreSQL, of which none can be relied on, and nothing lost.
 *
 * Nodes are killed, and stopped for longer than they may hold the lock of the writer; the database
 * crashes. Writers, readers and subscribers go from node to node meanwhile, as behind a balancer:
 * whatever one of them was shown on one node, nobody is shown less on another. */
#include <pthread.h>

#include "black/roaming_client.h"
#include "client/socket.h"
#include "sim/postgres.h"

enum {
    NODES = 3,
    STEP_MS = 300, /* between two deeds, on average */
    DOWN_MS = 300, /* that a node, or the database, is away at most */
    PAUSE_MS = 1500,
    PATIENCE_MS = BLACK_SANITIZED ? 1000 : 400, /* or all would wait for the one that is paused */
    POLL_MS = 1000,
    CRASH_EVERY_MS = 2000,
    CRASHES_MIN = 2,
    READERS = 2,
    POLLERS = 2,
};

struct reader {
    struct roaming_client client;
    pthread_t thread;
    int64_t reads, news;
};

/* Each time on another node than before. */
static void *reader_run(void *self)
{
    struct reader *g = self;

    arena_take(g->client.arena);
    while (!g->client.chaos->over) {
        roaming_client_move(&g->client);
        roaming_client_read(&g->client, (int)random_below(&g->client.random, CHAOS_STATES), "");
        g->reads++;
        arena_reset(g->client.arena);
    }
    roaming_client_close(&g->client);
    return NULL;
}

/* Waits on one node for what is to come, by what another has shown. */
static void *poller_run(void *self)
{
    struct reader *g = self;
    struct roaming_client *v = &g->client;

    arena_take(v->arena);
    v->patience_ms += POLL_MS;
    while (!v->chaos->over) {
        int state = CHAOS_SHARED + (int)random_below(&v->random, 2);
        int64_t next = json_int_or(roaming_client_read(v, state, ""), "version", 0) + 1;
        roaming_client_move(v);
        const char *query =
            arena_printf(v->arena, "?wait_version=%lld&timeout=%d", (long long)next, POLL_MS / 1000)
                .at;
        g->news += json_int_or(roaming_client_read(v, state, query), "version", 0) >= next;
        g->reads += 2;
        arena_reset(v->arena);
    }
    roaming_client_close(v);
    return NULL;
}

static void readers_start(struct reader *readers, int count, void *(*run)(void *), struct chaos *c,
                          struct random *random)
{
    for (struct reader *g = readers; g < readers + count; g++) {
        roaming_client_open(&g->client, c, random_next(random));
        CHECK(pthread_create(&g->thread, NULL, run, g) == 0);
    }
}

/* ---- what happens ---- */

struct fate {
    struct black *nodes;
    struct postgres *postgres;
    struct random random;
    struct black *paused; /* NULL: none is */
    int64_t wake_at;
    int kills, pauses, crashes;
};

static struct black *awake_node(struct fate *f)
{
    struct black *b = &f->nodes[random_below(&f->random, NODES)];
    return b != f->paused ? b : &f->nodes[(b - f->nodes + 1) % NODES];
}

static void kill_one(struct fate *f)
{
    struct black *b = awake_node(f);

    black_kill(b);
    chaos_wait_ms((long)random_below(&f->random, DOWN_MS));
    black_start(b);
    f->kills++;
}

static void wake(struct fate *f)
{
    if (f->paused)
        black_continue(f->paused);
    f->paused = NULL;
}

static void pause_one(struct fate *f)
{
    if (f->paused)
        return;
    f->paused = awake_node(f);
    f->wake_at = socket_clock_ms() + PAUSE_MS;
    f->pauses++;
    black_pause(f->paused);
}

/* Every other time a node goes with it, as one on the same machine would. */
static void crash_database(struct fate *f)
{
    struct black *with = f->crashes++ % 2 ? awake_node(f) : NULL;

    postgres_stop(f->postgres);
    if (with)
        black_kill(with);
    chaos_wait_ms((long)random_below(&f->random, DOWN_MS));
    postgres_start_again(f->postgres);
    if (with)
        black_start(with);
    f->kills += with != NULL;
}

/* On a machine that is busy with other things, a deed may take its time. */
static bool is_all_done(const struct fate *f)
{
    return f->kills && f->pauses && f->crashes >= CRASHES_MIN;
}

static void rage(struct fate *f)
{
    int64_t now = socket_clock_ms(), end = now + chaos_ms(12, 5), crash_at = now + CRASH_EVERY_MS;

    for (; now < end || !is_all_done(f); now = socket_clock_ms()) {
        chaos_wait_ms(STEP_MS / 2 + (long)random_below(&f->random, STEP_MS));
        if (f->paused && now >= f->wake_at)
            wake(f);
        if (now >= crash_at) {
            crash_database(f);
            crash_at = socket_clock_ms() + CRASH_EVERY_MS;
        } else if (random_below(&f->random, 2)) {
            kill_one(f);
        } else {
            pause_one(f);
        }
    }
    wake(f);
}

/* ---- the test ---- */

static void readers_tell(const struct reader *readers, int count)
{
    int64_t reads = 0, news = 0;

    for (const struct reader *g = readers; g < readers + count; g++) {
        pthread_join(g->thread, NULL);
        reads += g->reads;
        news += g->news;
    }
    check_note("%lld reads on changing nodes, none of them older than one before; %lld polls woken",
               (long long)reads, (long long)news);
    CHECK(reads > 0 && news > 0);
}

TEST_LIMIT(
    nothing_is_lost_or_doubled_among_nodes_that_are_killed_and_paused_and_lose_their_database, 240)
{
    static const char *const settings[] = { "fsync=on", NULL };
    static struct black nodes[NODES];
    static struct chaos c = { .nodes = nodes, .node_count = NODES, .patience_ms = PATIENCE_MS };
    static struct reader readers[READERS + POLLERS];
    struct fate fate = { .nodes = nodes, .random = random_start() };
    struct random random = { random_next(&fate.random) };

    fate.postgres = postgres_start_with(settings);
    const char *store = postgres_new_database(fate.postgres);
    const char *const args[] = {
        "--store", store, "--set", "versions_kept=10000000", "--set", "lock_time=500ms", NULL
    };
    for (int i = 0; i < NODES; i++) {
        nodes[i] =
            (struct black){ .data = arena_printf(check_arena(), "node%d", i).at, .args = args };
        black_start(&nodes[i]);
    }
    chaos_begin(&c, &random);
    readers_start(readers, READERS, reader_run, &c, &random);
    readers_start(readers + READERS, POLLERS, poller_run, &c, &random);
    rage(&fate);
    chaos_end(&c, arena_printf(check_arena(), "%d kills, %d pauses, %d crashes of the database",
                               fate.kills, fate.pauses, fate.crashes)
                      .at);
    readers_tell(readers, READERS + POLLERS);
    black_run((const char *const[]){ "store", "check", store, "--deep", NULL });
    for (int i = 0; i < NODES; i++)
        black_stop(&nodes[i]);
    postgres_stop(fate.postgres);
}
