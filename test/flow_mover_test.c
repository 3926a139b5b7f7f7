/* flow_mover_test.c: the mover of executions does what the reference does, however far it goes in one
 * command, whatever ends between two of them, and on both databases. */
#include "calls.h"
#include "random.h"
#include "sim/both.h"
#include "sim/crash_points.h"
#include "sim/flow_play.h"
#include "sim/rows.h"
#include "sim/swarm.h"
#include "sim/vfs.h"

/* Sanitizers make each run several times as dear. */
#ifdef __SANITIZE_ADDRESS__
enum { RUNS = 120, RUNS_SLOW = 15, RUNS_RESTART = 5, RUNS_POSTGRES = 6, RUNS_CRASH = 1 };
#else
enum { RUNS = 2000, RUNS_SLOW = 100, RUNS_RESTART = 15, RUNS_POSTGRES = 25, RUNS_CRASH = 2 };
#endif

/* What goes in circles is given up sooner than on a server: each circle costs as much as many others. */
enum { SPIN = 1500, SPIN_SLOW = 300 };

/* Time passes as the play says, and what is not of the execution has none. */
#define LONG_MS ((int64_t)1000 * 86400 * 1000)

static struct vfs *disk;

static struct world *world_at(const char *path, const char *vfs, int64_t moves)
{
    struct world *w;

    CHECK_OK(world_open(path, vfs, &w));
    w->actor = the_operator;
    w->team.execution_moves = moves;
    w->team.execution_spin = moves == 1 ? SPIN_SLOW : SPIN;
    w->team.profile_max = FLOW_RANDOM_AT_ONCE;
    w->team.update_delay_ms = 0;
    w->team.lease_ms = w->team.match_ms = w->team.run_ms = w->team.run_grace_ms = LONG_MS;
    w->team.stop_ms = w->team.silent_ms = w->team.update_timeout_ms = LONG_MS;
    return w;
}

static struct world *world_in_memory(int64_t moves)
{
    disk = vfs_new(1, 4096);
    return world_at("baton.db", vfs_name(disk), moves);
}

/* The server ends, and another one begins with what is on the disk. */
static void reopen(struct world **w)
{
    struct world old = **w;

    world_audit(*w);
    world_close(*w);
    *w = world_at("baton.db", vfs_name(disk), old.team.execution_moves);
    (*w)->now_ms = old.now_ms;
    (*w)->ids = old.ids;
    (*w)->actor = old.actor;
}

/* Plays as many seeds, or the one that $BATON_FLOW_SEED names; $BATON_FLOW_RUNS says how many. */
static void play_all(struct world **w, unsigned runs, void (*between)(struct play *p),
                     struct vfs *watched)
{
    uint64_t one = swarm_setting("BATON_FLOW_SEED", 0);
    struct random random = random_start();
    unsigned events = 0;
    uint64_t points = 0;

    runs = one ? 1 : (unsigned)swarm_setting("BATON_FLOW_RUNS", runs);
    for (unsigned i = 0; i < runs; i++) {
        struct arena *a = arena_new();
        events +=
            play_seed(w, a, one ? one : random_next(&random) >> 32, between, watched, &points);
        arena_free(a);
        if (disk && i % 20 == 19)
            reopen(w); /* else the log of the database grows without end */
    }
    check_note("%u workflows, %u events, %llu crash points", runs, events,
               (unsigned long long)points);
}

TEST_LIMIT(random_workflows_move_as_the_reference_says, 7200)
{
    struct world *w = world_in_memory(256);

    play_all(&w, RUNS, NULL, NULL);
    world_audit(w);
    world_close(w);
}

/* Whoever looks between two moves finds all of it in rows. */
TEST_LIMIT(random_workflows_move_one_move_at_a_time_as_in_one_command, 600)
{
    struct world *w = world_in_memory(1);

    play_all(&w, RUNS_SLOW, NULL, NULL);
    world_audit(w);
    world_close(w);
}

static void restart(struct play *p)
{
    reopen(&p->w);
}

TEST_LIMIT(random_workflows_go_on_after_a_restart_behind_every_move, 600)
{
    struct world *w = world_in_memory(1);

    play_all(&w, RUNS_RESTART, restart, NULL);
    world_audit(w);
    world_close(w);
}

TEST_USING(random_workflows_move_alike_on_postgresql, 600, &postgres_service)
{
    struct postgres *p = postgres_shared();
    struct world *w = world_at(postgres_new_schema(p), NULL, 256);

    play_all(&w, RUNS_POSTGRES, NULL, NULL);
    world_audit(w);
    world_close(w);
    postgres_leave(p);
}

/* A command is done wholly or not at all, whenever the power goes. */
TEST_LIMIT(random_workflows_move_wholly_or_not_at_all_over_a_crash, 600)
{
    struct world *w = world_in_memory(1);

    play_all(&w, RUNS_CRASH, NULL, disk);
    world_close(w);
}
