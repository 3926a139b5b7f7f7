/* moments.h: what was on the disk before each of its changes.
 *
 * While somebody works, every moment is kept as a copy of the disk. Afterwards the power goes at
 * each of them: what is found then must be what was there before the work, or what is there after
 * it, row for row, and nothing in between. */
#ifndef SIM_MOMENTS_H
#define SIM_MOMENTS_H

#include "base/digest.h"
#include "json_help.h"
#include "sim/vfs.h"

struct moments {
    struct vfs_world *disk; /* that is watched */
    struct vfs_world **copies;
    size_t count, room;
};

/* Where there is no disk (NULL) there are no moments. */
void moments_begin(struct moments *m, struct vfs_world *disk);

/* The last moment is now: the work is done, and those who asked for it are answered. */
void moments_end(struct moments *m);

/* The power goes at up to `most` of the moments, the last one always among them, where only what is
 * there after the work will do. Gives how many there were. */
uint32_t moments_crash(struct moments *m, struct random *r, uint32_t most,
                       const unsigned char before[SHA256_BYTES],
                       const unsigned char after[SHA256_BYTES]);

/* The power goes now: what can be read must be there. */
void moments_crash_now(const struct vfs_world *disk, uint64_t seed,
                       const unsigned char now[SHA256_BYTES]);

/* One moment, which is the caller's from now on. */
struct vfs_world *moments_take(struct moments *m, size_t which);
void moments_drop(struct moments *m);

#endif
