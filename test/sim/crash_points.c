/* crash_points.c: what was on the disk before each of its changes. */
#include "sim/crash_points.h"

#include "sim/model.h"

static void keep(void *self)
{
    struct crash_points *m = self;

    if (m->count == m->room) {
        m->room = m->room ? 2 * m->room : 64;
        m->copies = mem_grow(m->copies, m->room * sizeof *m->copies);
    }
    m->copies[m->count] = vfs_copy(m->disk);
    vfs_disk_bytes_max(m->copies[m->count++], 0);
}

void crash_points_begin(struct crash_points *m, struct vfs *disk)
{
    CHECK(m->count == 0);
    m->disk = disk;
    if (disk)
        vfs_watch(disk, keep, m);
}

void crash_points_end(struct crash_points *m)
{
    if (!m->disk)
        return;
    vfs_watch(m->disk, NULL, NULL);
    keep(m);
}

static void crash_check(const struct vfs *moment, uint64_t seed, const unsigned char *before,
                        const unsigned char *after)
{
    struct vfs *disk = vfs_copy(moment);
    struct arena *a = arena_new();
    unsigned char found[SHA256_BYTES];
    struct world *w;

    vfs_crash(disk, seed);
    CHECK_OK(world_open_in(a, "baton.db", vfs_name(disk), &w));
    world_digest(w, found);
    bool is_after = memcmp(found, after, SHA256_BYTES) == 0;
    if (!is_after && !(before && memcmp(found, before, SHA256_BYTES) == 0))
        check_fail(__FILE__, __LINE__, "after a crash (%llu), the rows are not those %safter it",
                   (unsigned long long)seed, before ? "before the batch or " : "");
    world_close(w);
    vfs_free(disk);
    arena_free(a);
}

void crash_now(const struct vfs *disk, uint64_t seed, const unsigned char now[SHA256_BYTES])
{
    crash_check(disk, seed, NULL, now);
}

uint32_t crash_points_check(struct crash_points *m, struct random *r, uint32_t most,
                            const unsigned char before[SHA256_BYTES],
                            const unsigned char after[SHA256_BYTES])
{
    uint32_t total = (uint32_t)m->count, points = total < most ? total : most;

    for (uint32_t i = 0; i < points; i++) {
        uint32_t which = total - 1 - (uint32_t)((uint64_t)i * total / points);
        crash_check(m->copies[which], random_next(r), which + 1 < total ? before : NULL, after);
    }
    return points;
}

struct vfs *crash_points_take(struct crash_points *m, size_t which)
{
    struct vfs *taken = m->copies[which];

    m->copies[which] = m->copies[--m->count];
    return taken;
}

void crash_points_drop(struct crash_points *m)
{
    while (m->count > 0)
        vfs_free(m->copies[--m->count]);
    mem_free(m->copies);
    *m = (struct crash_points){ 0 };
}
