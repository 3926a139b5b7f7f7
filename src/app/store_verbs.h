/* store_verbs.h: the commands `store`: what is done to a whole database at once.
 *
 * They open databases themselves and ask no server. What people call a store is
 * sqlite:PATH, a file's path, a data directory, or postgres://…. */
#ifndef APP_STORE_VERBS_H
#define APP_STORE_VERBS_H

#include "base/digest.h"
#include "cli/cli.h"
#include "core/rows.h"
#include "store/store.h"

extern const struct verb store_verbs[];

/* ---- store_verbs.c ---- */

struct depot {
    str name;                        /* for store_open */
    str shown;                       /* for messages: without a password */
    bool shared, existing, as_it_is; /* see struct store_options */
    struct store *store;
    struct sql *sql;
    int locks[2]; /* descriptors; -1: none */
};

/* What a word means; NULL: the store that a server of the data directory would use. */
err depot_name(struct cli *c, const char *word, struct depot *out);

/* Says that it is to be there already: NOT_FOUND, from this or from depot_open, when it is not. */
err depot_exists(struct cli *c, struct depot *d);

/* Takes the files for this process alone, as a server does. CONFLICT while one uses them. */
err depot_lock(struct cli *c, struct depot *d);

/* Opens and connects. A version of 0 means that of this program's tables. */
err depot_open(struct cli *c, struct depot *d, enum store_use use, int version);
void depot_close(struct depot *d);   /* what depot_open has opened */
void depot_release(struct depot *d); /* and the locks */

/* ---- store_copy.c ---- */

struct copy_table {
    int64_t rows;
    unsigned char digest[SHA256_BYTES]; /* of all values, in the order of keys */
};

struct copy_result {
    struct copy_table tables[ROWS_TABLES_MAX]; /* in the order of rows_tables */
    int64_t rows, seq;
};

/* Copies all that is in `from`, as it is at this moment, into `to`, which must be new or empty, and
 * compares both. `still` demands that nothing was written to `from` meanwhile. */
err copy_run(struct cli *c, struct depot *from, struct depot *to, bool still,
             struct copy_result *out);

/* Says what was copied, to people or as JSON. */
void copy_print(struct cli *c, const struct depot *from, const struct depot *to,
                const struct copy_result *r);

err store_copy_verb(struct cli *c);

/* CONFLICT when a node is alive that serves this shared store. In its transaction. */
err depot_unused(struct cli *c, const struct depot *d, const struct store_node *node);

/* ---- store_backup.c ---- */

err store_backup_verb(struct cli *c);

/* ---- store_check.c ---- */

/* Checks all of it in one transaction, and prints each finding as it comes (not with --json).
 * Gives how many there were. */
err check_run(struct cli *c, struct depot *d, bool deep, size_t *findings);

err store_check_verb(struct cli *c);

#endif
