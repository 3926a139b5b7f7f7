/* sites.c: where a batch or a read can be hit, and how. */
#include "sim/sites.h"

const char *const site_names[SITE_COUNT] = {
#define SITE_NAME(id, name) name,
    SITES(SITE_NAME)
#undef SITE_NAME
};

bool site_applies(enum site site, const struct op *op)
{
    return op->effect == OP_WRITES || site == SITE_CALL || site == SITE_IOERR;
}

/* A statement finds it full, one write does, or it is full from some byte on. */
static void plan_full(struct world *w, struct vfs_world *disk, struct random *r, uint32_t calls)
{
    str file, wal;
    uint64_t used = 0;

    switch (random_below(r, 3)) {
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

static void plan_ioerr(struct vfs_world *disk, struct random *r)
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

void site_plan(enum site site, struct world *w, struct vfs_world *disk, struct random *r,
               size_t count)
{
    uint32_t calls = 5 * (uint32_t)count; /* so many there are at least */

    w->fault = (struct fault){ .kind = FAULT_NONE };
    vfs_fail_nth(disk, 0, VFS_FULL);
    switch (site) {
    case SITE_CALL:
        w->fault = (struct fault){ .kind = FAULT_CALL, .nth = 1 + random_below(r, calls) };
        break;
    case SITE_FULL: plan_full(w, disk, r, calls); break;
    case SITE_IOERR: plan_ioerr(disk, r); break;
    case SITE_COMMIT: w->fault = (struct fault){ .kind = FAULT_COMMIT, .nth = 1 }; break;
    case SITE_LOST: w->fault = (struct fault){ .kind = FAULT_LOST, .nth = 1 }; break;
    case SITE_CRASH:
    case SITE_NONE: break;
    }
}

void site_plan_read(enum site site, struct world *w, struct vfs_world *disk, struct random *r)
{
    w->fault = w->read_fault = (struct fault){ .kind = FAULT_NONE };
    vfs_fail_nth(disk, 0, VFS_FULL);
    if (site == SITE_CALL)
        w->read_fault = (struct fault){ .kind = FAULT_CALL, .nth = 1 + random_below(r, 2) };
    else if (site == SITE_IOERR)
        vfs_fail_nth(disk, 1 + random_below(r, 6), VFS_BAD_READ);
}

bool site_clear(struct world *w, struct vfs_world *disk)
{
    bool fired = w->fault.fired || w->read_fault.fired || vfs_fault_fired(disk);

    w->fault.kind = w->read_fault.kind = FAULT_NONE;
    w->fault.fired = w->read_fault.fired = false;
    vfs_fail_nth(disk, 0, VFS_FULL);
    vfs_disk_bytes_max(disk, 0);
    return fired;
}

bool site_is_to_blame(const struct command *c)
{
    return c->error && (c->error->kind == ERR_UNAVAILABLE || c->error->kind == ERR_FULL);
}

bool site_met(enum site site, const struct command *c)
{
    return site_is_to_blame(c) || (site != SITE_CALL && !c->error);
}
