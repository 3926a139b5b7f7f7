/* gather.h: a file system for SQLite that writes the log in large pieces.
 *
 * SQLite writes each page of a commit to its write-ahead log by two calls to the
 * system, and a batch of commands has a hundred pages. Here they are gathered and
 * written by one call when the log is synced, which at synchronous = FULL is
 * before anybody looks at them. All other files, and all other calls, go straight
 * to the file system below. Private to store/. */
#ifndef STORE_GATHER_H
#define STORE_GATHER_H

struct sqlite3_vfs;

/* On top of the file system of that name (NULL: the default one); NULL: there is none of that name.
 * Belongs to one store: connections that use it must be closed first. */
struct sqlite3_vfs *gather_new(const char *below);
void gather_free(struct sqlite3_vfs *v);

#endif
