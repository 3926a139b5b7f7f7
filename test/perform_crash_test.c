/* perform_crash_test.c: the power goes at every write, and what was acknowledged is there.
 *
 * Real SQLite on a disk that forgets what was not synced. Batches of writes with keys run until the
 * n-th change of the disk; then the world is opened again on what survived, in several ways, and
 * every command is repeated with its key. */
#include <stdio.h>

#include "check.h"
#include "sim/engine.h"
#include "sim/vfs.h"

enum { BATCHES = 3, PER_BATCH = 2, COMMANDS = BATCHES * PER_BATCH };

static void prepare(struct world *w)
{
    CHECK_OK(
        world_call(w, "schema.create", "{'name':'s','json_schema':{'type':'object'}}", "")->error);
    CHECK_OK(world_call(w, "state.create", "{'schema_name':'s','initial_data':{}}", "")->error);
}

static struct command *write_command(struct world *w, int i)
{
    return world_command(w, "state.patch",
                         arena_printf(check_arena(),
                                      "{'state_id':'wfstate_2','operations':[{'op':'add','path':"
                                      "'/n%d','value':%d}]}",
                                      i, i)
                             .at,
                         arena_printf(check_arena(), "key%d", i).at);
}

/* Runs all batches until the engine stops; gives how many commands were acknowledged. */
static int batches_run(struct world *w)
{
    int acknowledged = 0;

    for (int b = 0; b < BATCHES && !w->engine.stopped; b++) {
        struct command *batch[PER_BATCH];
        for (int i = 0; i < PER_BATCH; i++)
            batch[i] = write_command(w, b * PER_BATCH + i);
        op_perform(&w->engine, batch, PER_BATCH);
        for (int i = 0; i < PER_BATCH && !w->engine.stopped; i++)
            acknowledged += !batch[i]->error;
    }
    return acknowledged;
}

/* Versions are 1, 2, 3 …, each with its row in the log, and replaying gives the current body. */
static int64_t history_check(struct world *w)
{
    struct command *c = world_call(w, "state.read", "{'state_id':'wfstate_2'}", "");
    CHECK_OK(c->error);
    for (int64_t v = 1; v <= c->version; v++) {
        struct command *old = world_call(
            w, "state.read",
            arena_printf(check_arena(), "{'state_id':'wfstate_2','version':%lld}", (long long)v).at,
            "");
        CHECK_OK(old->error);
        CHECK_INT(old->version, v);
    }
    return c->version;
}

static void survivors_check(struct vfs_world *disk, int acknowledged)
{
    struct world *w;

    CHECK_OK(world_open("baton.db", vfs_name(disk), &w));
    w->ids = 100;
    int64_t version = history_check(w);
    CHECK(version >= 1 + acknowledged && version <= 1 + COMMANDS);
    for (int i = 0; i < COMMANDS; i++) {
        struct command *c = write_command(w, i);
        op_perform(&w->engine, &c, 1);
        CHECK_OK(c->error);
        CHECK(i >= acknowledged || c->repeated);
    }
    CHECK_INT(history_check(w), 1 + COMMANDS); /* each was applied once */
    world_close(w);
}

TEST_LIMIT(what_was_acknowledged_survives_a_crash_at_every_write, 60)
{
    enum { SEEDS = 6 };
    int crashes = 0;

    for (uint64_t n = 1;; n++) {
        struct vfs_world *disk = vfs_world_new(n, n % 2 ? 512 : 4096);
        struct world *w;
        CHECK_OK(world_open("baton.db", vfs_name(disk), &w));
        vfs_sync_directory(disk);
        prepare(w);
        vfs_crash_at_nth_write(disk, n);
        int acknowledged = batches_run(w);
        bool fired = vfs_fault_fired(disk);
        CHECK(fired || acknowledged == COMMANDS);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct vfs_world *copy = vfs_world_copy(disk);
            vfs_crash(copy, n * 1000 + seed);
            survivors_check(copy, acknowledged);
            vfs_world_free(copy);
            crashes++;
        }
        world_close(w);
        vfs_world_free(disk);
        if (!fired)
            break;
    }
    check_note("%d crashes", crashes);
    CHECK(crashes > 50);
}

/* On a full disk writes are refused and reads go on; when there is space again, so do writes. */
TEST(a_full_disk_refuses_writes_and_recovers)
{
    struct vfs_world *disk = vfs_world_new(1, 4096);
    struct world *w;
    str text = arena_printf(check_arena(), "%0100000d", 7);

    CHECK_OK(world_open("baton.db", vfs_name(disk), &w));
    prepare(w);
    vfs_disk_bytes_max(disk, 400000);
    str update = arena_printf(check_arena(), "{'state_id':'wfstate_2','data':{'x':'" STR_FMT "'}}",
                              STR_ARG(text));
    err e = NULL;
    int64_t version = 1;
    for (int i = 0; i < 20 && !e; i++) {
        e = world_call(w, "state.update", update.at, "")->error;
        version += !e;
    }
    CHECK_ERR(e, ERR_FULL);
    CHECK_INT(history_check(w), version);
    vfs_disk_bytes_max(disk, 0);
    CHECK_OK(world_call(w, "state.update", update.at, "")->error);
    CHECK_INT(history_check(w), version + 1);
    world_close(w);
    vfs_world_free(disk);
}
