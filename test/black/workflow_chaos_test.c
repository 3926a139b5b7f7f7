/* workflow_chaos_test.c: workflows whose servers and workers are killed again and again, and nothing lost
 * and nothing done twice. */
#include "black/workforce.h"
#include "client/socket.h"
#include "sim/postgres.h"

enum {
    UP_MS = 400, /* that a server lives, on average */
    PAUSE_MS = 700,
    NODES = 2,
    PATIENCE_MS = BLACK_SANITIZED ? 1000 : 400, /* or all would wait for the one that is stopped */
    EXECUTIONS = 120,
    EXECUTIONS_SOAK = 500,
};

/* Where there are others, one is stopped now and then for longer than it may hold the lock. */
static bool pauses_instead(struct black *b, int count, struct random *random)
{
    if (count == 1 || random_below(random, 3))
        return false;
    black_pause(b);
    chaos_wait_ms(PAUSE_MS);
    black_continue(b);
    return true;
}

/* For so long, and as long as there are executions to be started. */
static int kill_now_and_then(struct workforce *f, int64_t for_ms, struct random *random)
{
    int count = f->chaos.node_count;
    int64_t end = socket_clock_ms() + for_ms;
    int kills = 0;

    while (socket_clock_ms() < end || !kills || f->starting) {
        struct black *b = &f->chaos.nodes[random_below(random, (uint32_t)count)];
        chaos_wait_ms(UP_MS / 2 + (long)random_below(random, UP_MS));
        if (pauses_instead(b, count, random))
            continue;
        black_kill(b);
        black_start(b);
        kills++;
    }
    return kills;
}

static void go_through(struct workforce *f)
{
    struct random random = random_start();
    int64_t for_ms = chaos_ms(3, 3);

    f->count = black_times() > 1 ? EXECUTIONS_SOAK : EXECUTIONS;
    f->pace_ms = for_ms / f->count;
    workforce_begin(f, &random);
    int kills = kill_now_and_then(f, for_ms, &random);
    workforce_end(f, arena_printf(check_arena(), "%d kills", kills).at);
}

TEST_LIMIT(no_step_is_lost_or_done_twice_by_a_server_that_is_killed_again_and_again, 240)
{
    static const char *const args[] = { "--set", "versions_kept=10000000", NULL };
    static struct black server = { .args = args };
    static struct workforce f = { .chaos = {
                                      .nodes = &server, .node_count = 1, .patience_ms = 20000 } };

    black_start(&server);
    go_through(&f);
    black_stop(&server);
    black_run((const char *const[]){ "store", "check", "--data", "data", "--deep", NULL });
}

TEST_LIMIT(no_step_is_lost_or_done_twice_by_nodes_that_are_killed_again_and_again, 240)
{
    static const char *const settings[] = { "fsync=on", NULL };
    static struct black nodes[NODES];
    static struct workforce f = {
        .chaos = { .nodes = nodes, .node_count = NODES, .patience_ms = PATIENCE_MS }
    };
    struct postgres *postgres = postgres_start_with(settings);
    const char *store = postgres_new_database(postgres);
    const char *const args[] = {
        "--store", store, "--set", "versions_kept=10000000", "--set", "lock_time=500ms", NULL
    };

    for (int i = 0; i < NODES; i++) {
        nodes[i] =
            (struct black){ .data = arena_printf(check_arena(), "node%d", i).at, .args = args };
        black_start(&nodes[i]);
    }
    go_through(&f);
    for (int i = 0; i < NODES; i++)
        black_stop(&nodes[i]);
    black_run((const char *const[]){ "store", "check", store, "--deep", NULL });
    postgres_stop(postgres);
}
