/* gather.c: a file system for SQLite that writes the log in large pieces. */
#include "store/gather.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>

#include "base/arena.h"

/* SQLite's own file system takes less than 128 KiB in one call, and says "full" of some longer
 * ones. */
enum { PIECE_MAX = 96 << 10 };

/* An open log. The file below lies behind it. */
struct log_file {
    sqlite3_file file;
    sqlite3_file *below;
    char *bytes; /* that are not written yet; made when there are any */
    int len, room;
    sqlite3_int64 at; /* where they belong */
};

static struct log_file *log_of(sqlite3_file *file)
{
    return (struct log_file *)file; /* its first member */
}

/* ---- what is gathered ---- */

static int flush(struct log_file *f)
{
    int len = f->len;

    f->len = 0;
    return len ? f->below->pMethods->xWrite(f->below, f->bytes, len, f->at) : SQLITE_OK;
}

static void add(struct log_file *f, const void *bytes, int len)
{
    if (f->len + len > f->room) {
        f->room = 2 * (f->len + len);
        f->bytes = mem_grow(f->bytes, (size_t)f->room);
    }
    memcpy(f->bytes + f->len, bytes, (size_t)len);
    f->len += len;
}

static int log_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    struct log_file *f = log_of(file);

    if (f->len && (at != f->at + f->len || f->len + len > PIECE_MAX)) {
        int code = flush(f);
        if (code != SQLITE_OK)
            return code;
    }
    if (!f->len)
        f->at = at;
    add(f, bytes, len);
    return SQLITE_OK;
}

/* ---- calls that see the file, and so must see all of it ---- */

static int log_read(sqlite3_file *file, void *to, int len, sqlite3_int64 at)
{
    struct log_file *f = log_of(file);
    int code = flush(f);

    return code ? code : f->below->pMethods->xRead(f->below, to, len, at);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct log_file *f = log_of(file);
    int code = flush(f);

    return code ? code : f->below->pMethods->xTruncate(f->below, size);
}

static int log_sync(sqlite3_file *file, int flags)
{
    struct log_file *f = log_of(file);
    int code = flush(f);

    return code ? code : f->below->pMethods->xSync(f->below, flags);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size)
{
    struct log_file *f = log_of(file);
    int code = flush(f);

    return code ? code : f->below->pMethods->xFileSize(f->below, size);
}

/* What was not synced belongs to no commit. */
static int log_close(sqlite3_file *file)
{
    struct log_file *f = log_of(file);

    mem_free(f->bytes);
    return f->below->pMethods->xClose(f->below);
}

/* ---- calls that do not concern it ---- */

static int log_lock(sqlite3_file *file, int level)
{
    return log_of(file)->below->pMethods->xLock(log_of(file)->below, level);
}

static int log_unlock(sqlite3_file *file, int level)
{
    return log_of(file)->below->pMethods->xUnlock(log_of(file)->below, level);
}

static int log_check_lock(sqlite3_file *file, int *out)
{
    return log_of(file)->below->pMethods->xCheckReservedLock(log_of(file)->below, out);
}

static int log_control(sqlite3_file *file, int what, void *arg)
{
    return log_of(file)->below->pMethods->xFileControl(log_of(file)->below, what, arg);
}

static int log_sector(sqlite3_file *file)
{
    return log_of(file)->below->pMethods->xSectorSize(log_of(file)->below);
}

static int log_device(sqlite3_file *file)
{
    return log_of(file)->below->pMethods->xDeviceCharacteristics(log_of(file)->below);
}

static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_check_lock,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_device,
};

/* ---- the file system ---- */

/* The calls that the one below answers get it as their first argument, so it is copied whole and
 * only opening is another one; the original is kept for that. */
struct gather {
    sqlite3_vfs vfs;
    sqlite3_vfs *below;
    char name[64];
};

static int gather_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    sqlite3_vfs *below = ((struct gather *)vfs)->below;
    struct log_file *f = log_of(file);

    if (!(flags & SQLITE_OPEN_WAL))
        return below->xOpen(below, name, file, flags, out);
    *f = (struct log_file){ .below = (sqlite3_file *)(void *)(f + 1) };
    int code = below->xOpen(below, name, f->below, flags, out);
    if (f->below->pMethods)
        f->file.pMethods = &log_methods;
    return code;
}

struct sqlite3_vfs *gather_new(const char *below)
{
    static atomic_uint count;
    sqlite3_vfs *found = sqlite3_vfs_find(below);

    if (!found)
        return NULL;
    struct gather *g = mem_alloc(sizeof *g);
    *g = (struct gather){ .vfs = *found, .below = found };
    sqlite3_snprintf(sizeof g->name, g->name, "gather-%u", atomic_fetch_add(&count, 1));
    g->vfs.zName = g->name;
    g->vfs.pNext = NULL;
    g->vfs.szOsFile = found->szOsFile + (int)sizeof(struct log_file);
    g->vfs.xOpen = gather_open;
    sqlite3_vfs_register(&g->vfs, 0);
    return &g->vfs;
}

void gather_free(struct sqlite3_vfs *v)
{
    sqlite3_vfs_unregister(v);
    mem_free(v);
}
