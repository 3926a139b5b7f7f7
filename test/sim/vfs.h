/* vfs.h: the file system that SQLite sees in the simulator.
 *
 * It is a disk in memory (what a crash does to it: see vfs_disk.h), a
 * clock, a source of random bytes and the faults that a test asked for. Each
 * is registered as a VFS with a name of its own, so the SQLite above it is
 * the real one:
 *
 *   struct vfs *w = vfs_new(1, 4096);
 *   sqlite3_open_v2("baton.db", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs_name(w));
 *
 * Locks and shared memory work between the connections of one of them, so WAL
 * with a writer, readers and a checkpointer does. The directory is synced when
 * SQLite's own VFS for Unix would do it: at the first sync of a journal or WAL
 * that was opened to be created, and by a deletion that asks for it. The one
 * who creates a database has to sync the directory as well: vfs_sync_directory.
 *
 * Everything happens on the one thread that made it; from the same seeds
 * follow the same bytes. */
#ifndef SIM_VFS_H
#define SIM_VFS_H

#include "base/str.h"

struct vfs;

/* Also seeds SQLite's own generator (salts of the WAL, random()), which all of a process
 * share: a run can be repeated from the newest vfs_new on. */
struct vfs *vfs_new(uint64_t seed, size_t sector_bytes);

/* One with the same disk, clock and random state, in which nothing is open and no fault is
 * planned: one moment can be crashed in many ways. */
struct vfs *vfs_copy(const struct vfs *w);

/* Every connection must be closed. */
void vfs_free(struct vfs *w);

const char *vfs_name(const struct vfs *w);

/* The bytes that a reader of the file would see now, borrowed until it changes; false when
 * there is no such file. */
bool vfs_file(const struct vfs *w, const char *name, str *out);

/* What an fsync of the directory does. */
void vfs_sync_directory(struct vfs *w);

/* The clock, in milliseconds since 1970; SQLite's sleeping advances it. */
void vfs_set_time_ms(struct vfs *w, int64_t ms);
int64_t vfs_time_ms(const struct vfs *w);

/* ---- what goes wrong ---- */

/* The power goes. What was open is dead: its methods answer SQLITE_IOERR, closing it is all that is
 * left. Planned faults are forgotten and what survived can be opened. */
void vfs_crash(struct vfs *w, uint64_t seed);

/* The process dies and the machine goes on: what was open is dead, every write is still there, and
 * what was not synced can still be lost to a crash. */
void vfs_kill(struct vfs *w);

enum vfs_call {
    VFS_OPEN,
    VFS_CREATE, /* an open that makes the file */
    VFS_READ,
    VFS_WRITE,
    VFS_TRUNCATE,
    VFS_SYNC,
    VFS_DELETE,
    VFS_CALL_KINDS
};

enum vfs_fault {
    VFS_FULL,         /* a write: SQLITE_FULL       */
    VFS_BAD_WRITE,    /* SQLITE_IOERR_WRITE         */
    VFS_BAD_SYNC,     /* SQLITE_IOERR_FSYNC         */
    VFS_BAD_TRUNCATE, /* SQLITE_IOERR_TRUNCATE      */
    VFS_BAD_READ,     /* SQLITE_IOERR_READ          */
    VFS_BAD_OPEN,     /* SQLITE_CANTOPEN            */
    VFS_BAD_DELETE,   /* SQLITE_IOERR_DELETE        */
    VFS_BAD_ANY,      /* any of them, its own error */
    VFS_FAULT_KINDS
};

/* The n-th call from now (1: the next) that the fault can hit fails, once. A failed write has
 * written some first part of its bytes, none and all included; other failed calls have done
 * nothing. n = 0 takes the fault back. */
void vfs_fail_nth(struct vfs *w, uint64_t n, enum vfs_fault kind);

/* The n-th call from now that would change the disk (create, write, truncate, sync, delete) never
 * comes back: it and every later call fail with SQLITE_IOERR and do nothing, except that a write
 * is pending like those before it. Then it is time for vfs_crash or vfs_kill. */
void vfs_crash_at_nth_write(struct vfs *w, uint64_t n);

/* Calls `watch` before every call that would change the disk, so that each of these moments can be
 * kept with vfs_copy. NULL: nobody watches any more. */
void vfs_watch(struct vfs *w, void (*watch)(void *watcher), void *watcher);

/* Whether the call that vfs_fail_nth or vfs_crash_at_nth_write waited for has come. */
bool vfs_fault_fired(const struct vfs *w);

/* Writes that would make all files together larger than this are SQLITE_FULL; 0: no limit. */
void vfs_disk_bytes_max(struct vfs *w, uint64_t bytes);

struct vfs_counts {
    uint64_t calls[VFS_CALL_KINDS];
    uint64_t bytes_written;
};

/* All calls so far, failed ones included. */
const struct vfs_counts *vfs_counts(const struct vfs *w);

#endif
