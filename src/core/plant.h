/* plant.h: a mistake on purpose, for the simulator to find; see tools/planted.sh. No build that is
 * used has it. */
#ifndef CORE_PLANT_H
#define CORE_PLANT_H

#include "core/tx.h"

/* Commits what a command has done so far, and goes on in a second transaction. */
static inline err plant_split(struct tx *tx)
{
    TRY(sql_exec(tx->sql, "UPDATE node SET seq = $1", ARGS(INT(*tx->seq))));
    TRY(sql_exec(tx->sql, "COMMIT", NO_ARGS));
    TRY(sql_exec(tx->sql, "BEGIN IMMEDIATE", NO_ARGS));
    return sql_exec(tx->sql, "SAVEPOINT command", NO_ARGS);
}

#endif
