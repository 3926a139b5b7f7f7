/* crash_points.h: what was on the disk before each of its changes.
 *
 * While somebody works, every crash point is kept as a copy of the disk. Afterwards the power goes at
 * each of them: what is found then must be what was there before the work, or what is there after
 * it, row for row, and nothing in between. */
#ifndef SIM_CRASH_POINTS_H
#define SIM_CRASH_POINTS_H

#include "base/digest.h"
#include "json_help.h"
#include "sim/vfs.h"

struct crash_points {
    struct vfs *disk; /* that is watched */
    struct vfs **copies;
    size_t count, room;
};

/* Where there is no disk (NULL) there are no crash points. */
void crash_points_begin(struct crash_points *m, struct vfs *disk);

/* The last crash point is now: the work is done, and those who asked for it are answered. */
void crash_points_end(struct crash_points *m);

/* The power goes at up to `most` of the crash points, the last one always among them, where only what is
 * there after the work will do. Gives how many there were. */
uint32_t crash_points_check(struct crash_points *m, struct random *r, uint32_t most,
                            const unsigned char before[SHA256_BYTES],
                            const unsigned char after[SHA256_BYTES]);

/* The power goes now: what can be read must be there. */
void crash_now(const struct vfs *disk, uint64_t seed, const unsigned char now[SHA256_BYTES]);

/* One crash point, which is the caller's from now on. */
struct vfs *crash_points_take(struct crash_points *m, size_t which);
void crash_points_drop(struct crash_points *m);

#endif
