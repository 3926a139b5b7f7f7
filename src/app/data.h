/* data.h: the data directory of a server and the files in it.
 *
 *   baton.db         the database, unless it is elsewhere
 *   baton.toml       settings; written by people
 *   baton.lock       held by the one server that uses the directory
 *   baton.sock       where it listens for programs of this machine
 *   operator.token   what the operator's programs show
 *   server.json      how the running server is reached; gone when it has stopped
 *
 * The directory is its owner's alone (0700), and so are the files (0600). */
#ifndef APP_DATA_H
#define APP_DATA_H

#include "base/arena.h"
#include "base/err.h"

struct data {
    str folder;
    str database;            /* its file */
    int lock, database_lock; /* descriptors; −1: none */
};

/* Makes the directory when it is not there. */
err data_make(struct arena *a, str folder);

/* FORBIDDEN when others can write to it, or read a token in it: says what mends that. */
err data_check(struct arena *a, str folder);

/* Takes the directory and the database in it, or the file at `database` unless that is empty, for
 * this process alone. CONFLICT, naming the process that has it. data_close gives back what was
 * taken, after an error too. */
err data_open(struct arena *a, str folder, str database, struct data *out);
void data_close(struct data *d);

/* The path of a file in it. */
str data_path(struct arena *a, str folder, const char *name);

/* A whole file; empty when there is none. */
err data_read(struct arena *a, str path, str *out);

/* Replaces a file: after a crash it is the old one or the new one, and never half of it. */
err data_write(struct arena *a, str path, str text);

/* What server.json says. */
struct data_server {
    str url;
    str socket; /* empty: none */
    str store;  /* without a password */
    int64_t pid;
    const char *version;
    str started_at;
};

err data_announce(struct arena *a, const struct data *d, const struct data_server *s);
void data_retract(struct arena *a, const struct data *d);

/* Bytes that are free on the disk of the database; INT64_MAX when the system does not say. */
int64_t data_free_bytes(const struct data *d);

#endif
