/* vfs_disk.h: a disk in memory that forgets what was not synced.
 *
 * One flat directory of files. Of each file it keeps what a program reads, what
 * the platter holds for certain, and the writes in between, in their order.
 * What a crash may do:
 *
 *  - A sync makes all earlier writes of that file durable. Of the writes since
 *    then any set of sectors survives, and a sector may be torn: only its
 *    beginning or only its end is new. Bytes that nobody wrote never change.
 *  - A file may have grown although what it grew by is lost; it reads as zeros
 *    there. A truncation may be lost although later writes are not.
 *  - Names are another matter than contents, as POSIX has it: syncing a file
 *    says nothing about its name. Creations and removals become durable when
 *    the directory is synced; of the later ones a first part survives, because
 *    ext4 and xfs log changes of directories in order.
 *
 * ext4 and xfs are kinder in one way: there an fsync of a new file keeps its
 * name too. Nothing should lean on that. Does not know SQLite. */
#ifndef SIM_VFS_DISK_H
#define SIM_VFS_DISK_H

#include "base/list.h"
#include "base/str.h"
#include "random.h"

struct disk_bytes {
    char *at;
    size_t len, room;
};

/* A write or a truncation that no sync has made durable yet. */
struct disk_write {
    size_t offset, len; /* a truncation: to `offset` */
    size_t from;        /* where its bytes are in pending_bytes */
    bool truncates;
};

struct disk_file {
    struct list link;
    char *name;         /* NULL: it never had one */
    bool named;         /* its name is in the directory */
    bool named_durably; /* and will be after any crash */
    unsigned users;     /* who holds the file itself, named or not */
    unsigned changes;   /* of its name, that are pending */
    struct disk_bytes live, durable, pending_bytes;
    struct disk_write *pending; /* in the order in which they were made */
    size_t pending_count, pending_room;
};

/* A creation or a removal that no sync of the directory has made durable yet. */
struct disk_change {
    struct disk_file *file;
    bool creates;
};

struct disk {
    struct list files;
    struct disk_change *changes;
    size_t change_count, change_room;
    size_t sector_bytes;
};

void disk_init(struct disk *d, size_t sector_bytes);
void disk_release(struct disk *d);

/* The same files with the same writes pending, used by nobody. */
void disk_copy(struct disk *to, const struct disk *from);

/* The file of that name, or NULL. */
struct disk_file *disk_find(const struct disk *d, const char *name);

/* A new, empty file; without a name it lives only as long as it is used. */
struct disk_file *disk_create(struct disk *d, const char *name);
void disk_remove(struct disk *d, struct disk_file *f);
void disk_sync_names(struct disk *d);

/* Bytes in all files, also in those that are removed but used. */
size_t disk_bytes_used(const struct disk *d);

/* Whoever uses a file keeps it from being forgotten. */
void disk_use(struct disk_file *f);
void disk_leave(struct disk_file *f);

/* A write behind the end fills the gap with zeros. */
void disk_write(struct disk_file *f, size_t offset, str bytes);
void disk_truncate(struct disk_file *f, size_t len);
void disk_sync(struct disk_file *f);

/* The power goes: what is left is decided by `random`, a state of random_draw. Nobody may use a
 * file then. */
void disk_crash(struct disk *d, uint64_t *random);

#endif
