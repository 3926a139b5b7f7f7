/* fault_sites.c: where a batch or a read can be hit, and how. */
#include "sim/fault_sites.h"

#include <unistd.h>

const char *const fault_site_names[FAULT_SITE_COUNT] = {
#define FAULT_SITE_NAME(id, name) name,
    FAULT_SITES(FAULT_SITE_NAME)
#undef FAULT_SITE_NAME
};

bool fault_site_applies(enum fault_site site, const struct op *op)
{
    return op->effect == OP_WRITES || site == FAULT_SITE_CALL || site == FAULT_SITE_IOERR;
}

/* A statement finds it full, one write does, or it is full from some byte on. */
static void plan_full(struct world *w, struct vfs *disk, struct random *r, uint32_t calls)
{
    str file, wal;
    uint64_t used = 0;

    switch (disk ? random_below(r, 3) : 0) {
    case 0:
        w->fault = (struct fault){ .kind = FAULT_DEATH, .nth = 1 + random_below(r, calls) };
        break;
    case 1: vfs_fail_nth(disk, 1 + random_below(r, 12), VFS_FULL); break;
    default:
        used += vfs_file(disk, "baton.db", &file) ? file.len : 0;
        used += vfs_file(disk, "baton.db-wal", &wal) ? wal.len : 0;
        vfs_disk_bytes_max(disk, used + random_below(r, 9000));
    }
}

/* Somewhere between the first message of a batch and the last, which asks for the commit. */
static void plan_cut(struct proxy *wire, struct random *r, uint32_t messages)
{
    proxy_arm(wire, random_below(r, 2) ? PROXY_CUT_BEFORE : PROXY_CUT_ANSWER,
              1 + random_below(r, messages));
}

static void plan_ioerr(struct vfs *disk, struct random *r)
{
    static const struct {
        enum vfs_fault kind;
        uint32_t most;
    } faults[] = {
        { VFS_BAD_WRITE, 16 }, { VFS_BAD_SYNC, 2 }, { VFS_BAD_READ, 4 }, { VFS_BAD_ANY, 20 }
    };
    uint32_t which = random_below(r, sizeof faults / sizeof *faults);

    vfs_fail_nth(disk, 1 + random_below(r, faults[which].most), faults[which].kind);
}

/* No fault of the disk, if there is one. */
static void disk_heal(struct vfs *disk)
{
    if (disk)
        vfs_fail_nth(disk, 0, VFS_FULL);
}

void fault_site_plan(enum fault_site site, struct world *w, const struct medium *on,
                     struct random *r, size_t count)
{
    uint32_t calls = 5 * (uint32_t)count; /* so many there are at least */

    w->fault = (struct fault){ .kind = FAULT_NONE };
    disk_heal(on->disk);
    switch (site) {
    case FAULT_SITE_CALL:
        w->fault = (struct fault){ .kind = FAULT_CALL, .nth = 1 + random_below(r, calls) };
        break;
    case FAULT_SITE_FULL: plan_full(w, on->disk, r, calls); break;
    case FAULT_SITE_IOERR:
        if (on->disk)
            plan_ioerr(on->disk, r);
        else if (on->wire)
            plan_cut(on->wire, r, 3 + (uint32_t)count);
        break;
    case FAULT_SITE_COMMIT: w->fault = (struct fault){ .kind = FAULT_COMMIT, .nth = 1 }; break;
    case FAULT_SITE_LOST: w->fault = (struct fault){ .kind = FAULT_LOST, .nth = 1 }; break;
    case FAULT_SITE_CRASH:
    case FAULT_SITE_NONE: break;
    }
}

void fault_site_plan_read(enum fault_site site, struct world *w, const struct medium *on,
                          struct random *r)
{
    w->fault = w->read_fault = (struct fault){ .kind = FAULT_NONE };
    disk_heal(on->disk);
    if (site == FAULT_SITE_CALL)
        w->read_fault = (struct fault){ .kind = FAULT_CALL, .nth = 1 + random_below(r, 2) };
    else if (site == FAULT_SITE_IOERR && on->disk)
        vfs_fail_nth(on->disk, 1 + random_below(r, 6), VFS_BAD_READ);
    else if (site == FAULT_SITE_IOERR && on->wire)
        plan_cut(on->wire, r, 3);
}

/* Whoever was cut off while it connected tries again after a moment, and refuses until then. */
static void come_back(struct sql *sql)
{
    struct arena *a = arena_new();
    struct store_node node;

    while (store_begin(sql, a, &node))
        usleep(5000);
    store_rollback(sql);
    arena_free(a);
}

static bool wire_heal(struct world *w, struct proxy *wire)
{
    if (!proxy_disarm(wire))
        return false;
    come_back(w->engine.sql);
    if (w->reader.sql)
        come_back(w->reader.sql);
    return true;
}

bool fault_site_clear(struct world *w, const struct medium *on)
{
    bool fired = w->fault.fired || w->read_fault.fired;

    w->fault.kind = w->read_fault.kind = FAULT_NONE;
    w->fault.fired = w->read_fault.fired = false;
    if (on->wire)
        fired |= wire_heal(w, on->wire);
    if (on->disk) {
        fired |= vfs_fault_fired(on->disk);
        disk_heal(on->disk);
        vfs_disk_bytes_max(on->disk, 0);
    }
    return fired;
}

bool fault_site_is_to_blame(const struct command *c)
{
    return c->error && (c->error->kind == ERR_UNAVAILABLE || c->error->kind == ERR_FULL);
}

bool fault_site_met(enum fault_site site, const struct command *c)
{
    return fault_site_is_to_blame(c) || (site != FAULT_SITE_CALL && !c->error);
}
