/* vfs_file.c: what SQLite calls on a file that is open.
 *
 * Locks are not kept in one place and counted: each handle knows what it holds,
 * and whoever wants more asks the other handles of the same file. There are
 * never more than a few, and nothing can get out of step. */
#include "sim/vfs_private.h"

#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>

#define REGIONS_MAX 64 /* 262,144 pages in the WAL */

/* The memory that the connections of one WAL share. Dead connections keep theirs until they are
 * closed, because SQLite still looks into it. */
struct shm {
    struct list link; /* in its file system; in no list when its connections are dead */
    struct disk_file *file;
    unsigned users;
    char *regions[REGIONS_MAX];
};

static struct handle *handle_of(sqlite3_file *file)
{
    struct handle *h = (struct handle *)file;
    assert(pthread_equal(h->vfs->thread, pthread_self()));
    return h;
}

static bool handle_dead(const struct handle *h)
{
    return !h->file || h->vfs->crashed;
}

/* ---- contents ---- */

static int file_read(sqlite3_file *file, void *to, int len, sqlite3_int64 offset)
{
    struct handle *h = handle_of(file);
    if (handle_dead(h))
        return SQLITE_IOERR;
    int rc = vfs_enter(h->vfs, VFS_READ);
    if (rc != SQLITE_OK)
        return rc;

    str all = h->file->live.len ? (str){ h->file->live.at, h->file->live.len } : STR("");
    str found = str_slice(all, (size_t)offset, (size_t)offset + (size_t)len);
    if (found.len > 0)
        memcpy(to, found.at, found.len);
    if (found.len == (size_t)len)
        return SQLITE_OK;
    memset((char *)to + found.len, 0, (size_t)len - found.len);
    return SQLITE_IOERR_SHORT_READ;
}

/* How many of the bytes the disk has room for. */
static size_t room_for(const struct vfs *w, const struct disk_file *f, size_t offset, size_t len)
{
    if (!w->disk_bytes_max || offset + len <= f->live.len)
        return len;
    size_t others = disk_bytes_used(&w->disk) - f->live.len;
    size_t end_max = w->disk_bytes_max > others ? w->disk_bytes_max - others : 0;
    if (end_max < f->live.len)
        end_max = f->live.len;
    if (offset + len <= end_max)
        return len;
    return end_max > offset ? end_max - offset : 0;
}

static int file_write(sqlite3_file *file, const void *from, int len, sqlite3_int64 offset)
{
    struct handle *h = handle_of(file);
    struct vfs *w = h->vfs;
    if (handle_dead(h))
        return SQLITE_IOERR;

    int rc = vfs_enter(w, VFS_WRITE);
    str bytes = { from, (size_t)len };
    /* At a crash the disk decides how much of the write there is: one that was cut here and torn
     * there would be torn at both ends, which no disk does and SQLite does not expect. */
    if (rc != SQLITE_OK && !w->crashed)
        bytes.len = random_draw(&w->random) % (bytes.len + 1);
    size_t room = room_for(w, h->file, (size_t)offset, bytes.len);
    if (room < bytes.len) {
        bytes.len = room;
        rc = rc != SQLITE_OK ? rc : SQLITE_FULL;
    }
    disk_write(h->file, (size_t)offset, bytes);
    w->counts.bytes_written += bytes.len;
    return rc;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 len)
{
    struct handle *h = handle_of(file);
    if (handle_dead(h))
        return SQLITE_IOERR;
    int rc = vfs_enter(h->vfs, VFS_TRUNCATE);
    if (rc == SQLITE_OK)
        disk_truncate(h->file, (size_t)len);
    return rc;
}

static int file_sync(sqlite3_file *file, int flags)
{
    struct handle *h = handle_of(file);
    (void)flags;
    if (handle_dead(h))
        return SQLITE_IOERR;
    int rc = vfs_enter(h->vfs, VFS_SYNC);
    if (rc != SQLITE_OK)
        return rc;
    disk_sync(h->file);
    if (h->syncs_names)
        disk_sync_names(&h->vfs->disk);
    h->syncs_names = false;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    struct handle *h = handle_of(file);
    if (handle_dead(h))
        return SQLITE_IOERR;
    *size = (sqlite3_int64)h->file->live.len;
    return SQLITE_OK;
}

/* ---- locks ---- */

/* The highest lock that others hold on the file. */
static int locked_by_others(const struct handle *h)
{
    int most = SQLITE_LOCK_NONE;

    LIST_EACH(it, &h->vfs->handles) {
        const struct handle *other = LIST_ENTRY(it, struct handle, link);
        if (other != h && other->file == h->file && other->lock > most)
            most = other->lock;
    }
    return most;
}

static int file_lock(sqlite3_file *file, int wanted)
{
    struct handle *h = handle_of(file);
    if (handle_dead(h))
        return SQLITE_IOERR_LOCK;
    if (wanted <= h->lock)
        return SQLITE_OK;

    int others = locked_by_others(h);
    if (wanted == SQLITE_LOCK_SHARED) {
        if (others >= SQLITE_LOCK_PENDING)
            return SQLITE_BUSY;
    } else {
        assert(h->lock >= SQLITE_LOCK_SHARED);
        if (others >= SQLITE_LOCK_RESERVED)
            return SQLITE_BUSY;
    }
    /* Who waits for the last readers to leave keeps new ones out. */
    if (wanted == SQLITE_LOCK_EXCLUSIVE && others >= SQLITE_LOCK_SHARED) {
        h->lock = SQLITE_LOCK_PENDING;
        return SQLITE_BUSY;
    }
    h->lock = wanted;
    return SQLITE_OK;
}

static int file_unlock(sqlite3_file *file, int wanted)
{
    struct handle *h = handle_of(file);
    assert(wanted <= SQLITE_LOCK_SHARED);
    if (wanted < h->lock)
        h->lock = wanted;
    return SQLITE_OK;
}

static int file_check_reserved_lock(sqlite3_file *file, int *reserved)
{
    struct handle *h = handle_of(file);
    if (handle_dead(h))
        return SQLITE_IOERR_CHECKRESERVEDLOCK;
    *reserved = h->lock >= SQLITE_LOCK_RESERVED || locked_by_others(h) >= SQLITE_LOCK_RESERVED;
    return SQLITE_OK;
}

/* ---- shared memory ---- */

static struct shm *shm_attach(struct handle *h)
{
    LIST_EACH(it, &h->vfs->shms) {
        struct shm *shm = LIST_ENTRY(it, struct shm, link);
        if (shm->file == h->file) {
            shm->users++;
            return shm;
        }
    }
    struct shm *shm = mem_alloc(sizeof *shm);
    *shm = (struct shm){ .file = h->file, .users = 1 };
    list_append(&h->vfs->shms, &shm->link);
    return shm;
}

/* The last to leave takes the memory along: what it held is in the WAL, and the next one to come
 * would read it from there also if it had been left. */
static void shm_detach(struct handle *h)
{
    struct shm *shm = h->shm;

    h->shm = NULL;
    h->shm_shared = h->shm_exclusive = 0;
    if (!shm || --shm->users > 0)
        return;
    list_remove(&shm->link);
    for (int i = 0; i < REGIONS_MAX; i++)
        free(shm->regions[i]);
    free(shm);
}

static int shm_map(sqlite3_file *file, int region, int bytes, int extend, void volatile **out)
{
    struct handle *h = handle_of(file);
    *out = NULL;
    if (handle_dead(h))
        return SQLITE_IOERR_SHMMAP;
    if (region >= REGIONS_MAX)
        return SQLITE_IOERR_SHMSIZE;
    if (!h->shm)
        h->shm = shm_attach(h);
    char **at = &h->shm->regions[region];
    if (!*at && extend)
        *at = memset(mem_alloc((size_t)bytes), 0, (size_t)bytes);
    *out = *at;
    return SQLITE_OK;
}

static int shm_lock(sqlite3_file *file, int first, int count, int flags)
{
    struct handle *h = handle_of(file);
    unsigned mask = ((1u << count) - 1) << first;
    if (handle_dead(h))
        return SQLITE_IOERR_SHMLOCK;
    assert(h->shm && first + count <= SQLITE_SHM_NLOCK);

    if (flags & SQLITE_SHM_UNLOCK) {
        h->shm_shared &= ~mask;
        h->shm_exclusive &= ~mask;
        return SQLITE_OK;
    }
    bool exclusive = flags & SQLITE_SHM_EXCLUSIVE;
    LIST_EACH(it, &h->vfs->handles) {
        const struct handle *other = LIST_ENTRY(it, struct handle, link);
        if (other == h || other->shm != h->shm)
            continue;
        if (mask & (other->shm_exclusive | (exclusive ? other->shm_shared : 0)))
            return SQLITE_BUSY;
    }
    *(exclusive ? &h->shm_exclusive : &h->shm_shared) |= mask;
    return SQLITE_OK;
}

static void shm_barrier(sqlite3_file *file)
{
    (void)handle_of(file);
}

static int shm_unmap(sqlite3_file *file, int remove)
{
    (void)remove;
    shm_detach(handle_of(file));
    return SQLITE_OK;
}

/* ---- the rest of a file's methods ---- */

void vfs_handle_die(struct handle *h)
{
    if (h->file)
        disk_leave(h->file);
    h->file = NULL;
    h->lock = SQLITE_LOCK_NONE;
    h->shm_shared = h->shm_exclusive = 0;
}

static int file_close(sqlite3_file *file)
{
    struct handle *h = handle_of(file);

    if (h->removes && !handle_dead(h) && h->file->named)
        disk_remove(&h->vfs->disk, h->file);
    shm_detach(h);
    vfs_handle_die(h);
    list_remove(&h->link);
    return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int op, void *argument)
{
    (void)op, (void)argument;
    return handle_dead(handle_of(file)) ? SQLITE_IOERR : SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *file)
{
    return (int)handle_of(file)->vfs->disk.sector_bytes;
}

/* What SQLite's VFS for Unix claims too, and vfs_disk.h holds: a write changes no other bytes. */
static int file_device_characteristics(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

const sqlite3_io_methods vfs_file_methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_device_characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};
