/* rows.h: the tables row by row, for whoever moves all of them: a copy, a backup.
 *
 * Here are those that hold what people have stored. Not here are `node`, which is
 * the store's own, and `cluster_node`: who runs on a database does not move with it.
 *
 * A table is read in pages, in the order of a key that is the same order of bytes
 * on every database. Texts are for sql_all_ and sql_exec_: they stand in a table,
 * and so are not in the list that sql.h keeps; the tests of copying run them all. */
#ifndef CORE_ROWS_H
#define CORE_ROWS_H

#include "core/columns.h"

enum { ROWS_KEYS_MAX = 3, ROWS_TABLES_MAX = 32 };

struct rows_table {
    const char *name;
    size_t keys; /* columns of the key, which come first and order it */
    const struct column *columns;
    size_t column_count;
    const char *count;  /* how many there are */
    const char *page;   /* those after a key, in order: the key's values, and how many at most */
    const char *insert; /* puts a row, with the values of a page */
    const char *times,
        *deadlines; /* set back those that are ahead: see columns.h; NULL: it has none */
    bool seeded;    /* a new database has its row already: it is no sign of use */
};

extern const struct rows_table rows_tables[];
extern const size_t rows_table_count;

/* Whether a column of it holds JSON. */
bool rows_hold_json(const struct rows_table *t);

/* The arguments of a page: after the row `last`, or from the start (NULL). `room` holds them. */
struct sql_args rows_after(const struct rows_table *t, const struct row *last, int64_t limit,
                           struct sql_value room[ROWS_KEYS_MAX + 1]);

#endif
