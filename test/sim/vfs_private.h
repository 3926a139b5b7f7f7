/* vfs_private.h: what a file system and its open files know of each other. */
#ifndef SIM_VFS_PRIVATE_H
#define SIM_VFS_PRIVATE_H

#include "sim/vfs.h"
#include "sim/vfs_disk.h"

#include <pthread.h>
#include <sqlite3.h>

struct vfs {
    sqlite3_vfs vfs;
    char name[32];
    pthread_t thread;
    struct disk disk;
    struct list handles, shms;
    uint64_t random;
    int64_t now_us;
    uint64_t disk_bytes_max;
    struct vfs_counts counts;

    enum vfs_fault fault;
    uint64_t fault_in, crash_in; /* calls until it happens; 0: it does not */
    bool fired;
    bool crashed; /* and vfs_crash has not been called yet */

    void (*watch)(void *watcher); /* before every call that changes the disk */
    void *watcher;
};

struct handle {
    sqlite3_file base;
    struct list link;
    struct vfs *vfs;
    struct disk_file *file; /* NULL: dead */
    int lock;               /* SQLITE_LOCK_… */
    bool syncs_names;       /* with its next sync */
    bool removes;           /* the file when it is closed */
    struct shm *shm;
    unsigned shm_shared, shm_exclusive; /* a bit for each lock that it holds */
};

/* The methods of an open file. */
extern const sqlite3_io_methods vfs_file_methods;

/* Counts a call and gives the error that it has to fail with, or SQLITE_OK. */
int vfs_enter(struct vfs *w, enum vfs_call call);

/* The file is no longer open, and the handle can only be closed. */
void vfs_handle_die(struct handle *h);

#endif
