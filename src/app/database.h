/* database.h: a database as people name it, for commands that open it themselves and ask no server.
 *
 * What people call a store is sqlite:PATH, a file's path, a data directory, or postgres://…. */
#ifndef APP_DATABASE_H
#define APP_DATABASE_H

#include "cli/cli.h"
#include "store/store.h"

struct database {
    str name;                        /* for store_open */
    str shown;                       /* for messages: without a password */
    bool shared, existing, as_it_is; /* see struct store_options */
    struct store *store;
    struct sql *sql;
    int locks[2]; /* descriptors; -1: none */
};

/* What a word means; NULL: the store that a server of the data directory would use. */
err database_name(struct cli *c, const char *word, struct database *out);

/* Says that it is to be there already: NOT_FOUND, from this or from database_open, when it is not. */
err database_exists(struct cli *c, struct database *d);

/* Takes the files for this process alone, as a server does. CONFLICT while one uses them. */
err database_lock(struct cli *c, struct database *d);

/* CONFLICT when a node is alive that serves it, shared as it is. In a transaction of it. */
err database_unused(struct cli *c, const struct database *d, const struct store_node *node);

/* Opens and connects. A version of 0 means that of this program's tables. */
err database_open(struct cli *c, struct database *d, enum store_use use, int version);
void database_close(struct database *d);   /* what database_open has opened */
void database_release(struct database *d); /* and the locks */

#endif
