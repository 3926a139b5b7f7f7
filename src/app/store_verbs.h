/* store_verbs.h: the commands `store`: what is done to a whole database at once. Private to these
 * files but for the table of commands; from below to above:
 *
 *   database.c       databases, as they are named, taken and opened
 *   store_check.c    everything in one fits together
 *   store_repair.c   damaged states, made whole from a copy
 *   store_copy.c     all rows of one into another
 *   store_backup.c   a copy into a new file, checked and synced
 *   store_verbs.c    the commands */
#ifndef APP_STORE_VERBS_H
#define APP_STORE_VERBS_H

#include "app/database.h"
#include "base/digest.h"
#include "core/rows.h"

extern const struct verb store_verbs[];

/* ---- store_check.c ---- */

/* Checks all of it in one transaction, and prints each finding as it comes (not with --json).
 * Gives how many there were. */
err check_run(struct cli *c, struct database *d, bool deep, size_t *findings);

/* `store check` of one that is open: --deep, if that is asked for, with a summary. */
err check_print(struct cli *c, struct database *d);

/* ---- store_repair.c ---- */

/* `store check --repair` of one that is open. */
err repair_run(struct cli *c, struct database *d);

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
err copy_run(struct cli *c, struct database *from, struct database *to, bool still,
             struct copy_result *out);

/* Says what was copied, to people or as JSON. */
void copy_print(struct cli *c, const struct database *from, const struct database *to,
                const struct copy_result *r);

err store_copy_verb(struct cli *c);

/* ---- store_backup.c ---- */

err store_backup_verb(struct cli *c);

#endif
