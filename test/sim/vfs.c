/* vfs.c: file systems, their directories and clocks, and what goes wrong in them. */
#include "sim/vfs_private.h"

#include "base/arena.h"
#include "store/sqlite_private.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_BYTES_MAX 255

#define CALL(call) (1u << VFS_##call)

// clang-format off
static const int call_errors[VFS_CALL_KINDS] = {
    [VFS_OPEN]     = SQLITE_CANTOPEN,
    [VFS_CREATE]   = SQLITE_CANTOPEN,
    [VFS_READ]     = SQLITE_IOERR_READ,
    [VFS_WRITE]    = SQLITE_IOERR_WRITE,
    [VFS_TRUNCATE] = SQLITE_IOERR_TRUNCATE,
    [VFS_SYNC]     = SQLITE_IOERR_FSYNC,
    [VFS_DELETE]   = SQLITE_IOERR_DELETE,
};

static const unsigned fault_calls[VFS_FAULT_KINDS] = {
    [VFS_FULL]         = CALL(WRITE),
    [VFS_BAD_WRITE]    = CALL(WRITE),
    [VFS_BAD_SYNC]     = CALL(SYNC),
    [VFS_BAD_TRUNCATE] = CALL(TRUNCATE),
    [VFS_BAD_READ]     = CALL(READ),
    [VFS_BAD_OPEN]     = CALL(OPEN) | CALL(CREATE),
    [VFS_BAD_DELETE]   = CALL(DELETE),
    [VFS_BAD_ANY]      = ~0u,
};
// clang-format on

static const unsigned changing_calls = CALL(CREATE) | CALL(WRITE) | CALL(TRUNCATE) | CALL(SYNC) |
                                       CALL(DELETE);

int vfs_enter(struct vfs *w, enum vfs_call call)
{
    unsigned bit = 1u << call;

    assert(!w->crashed);
    w->counts.calls[call]++;
    if (w->watch && changing_calls & bit)
        w->watch(w->watcher);
    if (w->crash_in > 0 && changing_calls & bit && --w->crash_in == 0) {
        w->crashed = w->fired = true;
        return SQLITE_IOERR;
    }
    if (w->fault_in > 0 && fault_calls[w->fault] & bit && --w->fault_in == 0) {
        w->fired = true;
        return w->fault == VFS_FULL ? SQLITE_FULL : call_errors[call];
    }
    return SQLITE_OK;
}

static struct vfs *vfs_of(sqlite3_vfs *vfs)
{
    struct vfs *w = vfs->pAppData;
    assert(pthread_equal(w->thread, pthread_self()));
    return w;
}

/* ---- the directory, the clock, random bytes ---- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    const int journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
    struct vfs *w = vfs_of(vfs);
    struct handle *h = (struct handle *)file;

    h->base.pMethods = NULL;
    if (w->crashed)
        return SQLITE_IOERR;
    struct disk_file *f = name ? disk_find(&w->disk, name) : NULL;
    if (f ? flags & SQLITE_OPEN_EXCLUSIVE : !(flags & SQLITE_OPEN_CREATE))
        return SQLITE_CANTOPEN;
    int rc = vfs_enter(w, f ? VFS_OPEN : VFS_CREATE);
    if (rc != SQLITE_OK)
        return rc;

    *h = (struct handle){
        .base.pMethods = &vfs_file_methods,
        .vfs = w,
        .file = f ? f : disk_create(&w->disk, name),
        .syncs_names = flags & SQLITE_OPEN_CREATE && flags & journals,
        .removes = flags & SQLITE_OPEN_DELETEONCLOSE,
    };
    disk_use(h->file);
    list_append(&w->handles, &h->link);
    if (out)
        *out = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    struct vfs *w = vfs_of(vfs);
    if (w->crashed)
        return SQLITE_IOERR;
    struct disk_file *f = disk_find(&w->disk, name);
    if (!f)
        return SQLITE_IOERR_DELETE_NOENT;
    int rc = vfs_enter(w, VFS_DELETE);
    if (rc != SQLITE_OK)
        return rc;
    disk_remove(&w->disk, f);
    if (sync_directory)
        disk_sync_names(&w->disk);
    return SQLITE_OK;
}

/* An empty file does not exist: so says SQLite's VFS for Unix. */
static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *yes)
{
    struct vfs *w = vfs_of(vfs);
    if (w->crashed)
        return SQLITE_IOERR_ACCESS;
    const struct disk_file *f = disk_find(&w->disk, name);
    *yes = f && (flags != SQLITE_ACCESS_EXISTS || f->live.len > 0);
    return SQLITE_OK;
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    (void)vfs;
    int len = snprintf(out, (size_t)size, "%s", name);
    return len < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_randomness(sqlite3_vfs *vfs, int len, char *out)
{
    struct vfs *w = vfs_of(vfs);
    for (int i = 0; i < len; i++)
        out[i] = (char)random_draw(&w->random);
    return len;
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
    vfs_of(vfs)->now_us += us;
    return us;
}

/* SQLite counts days from noon, November 24th of the year -4713. */
static int vfs_current_time(sqlite3_vfs *vfs, sqlite3_int64 *ms)
{
    const int64_t ms_before_1970 = 210866760000000;
    *ms = ms_before_1970 + vfs_time_ms(vfs_of(vfs));
    return SQLITE_OK;
}

/* ---- file systems ---- */

static struct vfs *vfs_registered(void)
{
    static unsigned count;
    struct vfs *w = mem_alloc(sizeof *w);

    *w = (struct vfs){
        .vfs = {
            .iVersion = 2,
            .szOsFile = sizeof(struct handle),
            .mxPathname = NAME_BYTES_MAX,
            .zName = w->name,
            .pAppData = w,
            .xOpen = vfs_open,
            .xDelete = vfs_delete,
            .xAccess = vfs_access,
            .xFullPathname = vfs_full_pathname,
            .xRandomness = vfs_randomness,
            .xSleep = vfs_sleep,
            .xCurrentTimeInt64 = vfs_current_time,
        },
        .thread = pthread_self(),
    };
    snprintf(w->name, sizeof w->name, "sim-%u", ++count);
    list_init(&w->handles);
    list_init(&w->shms);
    sqlite_start(); /* before SQLite does by itself, and keeps statistics from then on */
    if (sqlite3_vfs_register(&w->vfs, 0) != SQLITE_OK)
        abort();
    return w;
}

struct vfs *vfs_new(uint64_t seed, size_t sector_bytes)
{
    struct vfs *w = vfs_registered();

    w->random = seed;
    disk_init(&w->disk, sector_bytes);
    /* To SQLite 0 means "ask the system". */
    int sqlite_seed = (int)(random_draw(&w->random) >> 33) | 1;
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, sqlite_seed, NULL);
    return w;
}

struct vfs *vfs_copy(const struct vfs *from)
{
    struct vfs *w = vfs_registered();

    w->random = from->random;
    w->now_us = from->now_us;
    w->disk_bytes_max = from->disk_bytes_max;
    disk_copy(&w->disk, &from->disk);
    return w;
}

void vfs_free(struct vfs *w)
{
    assert(list_empty(&w->handles) && list_empty(&w->shms));
    sqlite3_vfs_unregister(&w->vfs);
    disk_release(&w->disk);
    free(w);
}

const char *vfs_name(const struct vfs *w)
{
    return w->name;
}

bool vfs_file(const struct vfs *w, const char *name, str *out)
{
    const struct disk_file *f = disk_find(&w->disk, name);
    if (f)
        *out = f->live.len ? (str){ f->live.at, f->live.len } : STR("");
    return f;
}

void vfs_sync_directory(struct vfs *w)
{
    assert(!w->crashed);
    disk_sync_names(&w->disk);
}

void vfs_set_time_ms(struct vfs *w, int64_t ms)
{
    w->now_us = ms * 1000;
}

int64_t vfs_time_ms(const struct vfs *w)
{
    return w->now_us / 1000;
}

/* ---- what goes wrong ---- */

void vfs_kill(struct vfs *w)
{
    LIST_EACH(it, &w->handles)
        vfs_handle_die(LIST_ENTRY(it, struct handle, link));
    LIST_EACH(it, &w->shms)
        list_remove(it);
    w->fault_in = w->crash_in = 0;
    w->crashed = false;
}

void vfs_crash(struct vfs *w, uint64_t seed)
{
    vfs_kill(w);
    disk_crash(&w->disk, &seed);
}

void vfs_fail_nth(struct vfs *w, uint64_t n, enum vfs_fault kind)
{
    w->fault = kind;
    w->fault_in = n;
    w->fired = false;
}

void vfs_crash_at_nth_write(struct vfs *w, uint64_t n)
{
    w->crash_in = n;
    w->fired = false;
}

void vfs_watch(struct vfs *w, void (*watch)(void *watcher), void *watcher)
{
    w->watch = watch;
    w->watcher = watcher;
}

bool vfs_fault_fired(const struct vfs *w)
{
    return w->fired;
}

void vfs_disk_bytes_max(struct vfs *w, uint64_t bytes)
{
    w->disk_bytes_max = bytes;
}

const struct vfs_counts *vfs_counts(const struct vfs *w)
{
    return &w->counts;
}
