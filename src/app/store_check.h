/* store_check.h: how a database is checked, for those who repair it. Private to store_check.c and
 * store_repair.c. */
#ifndef APP_STORE_CHECK_H
#define APP_STORE_CHECK_H

#include "app/store_verbs.h"
#include "base/map.h"
#include "core/audit.h"

struct checking {
    struct cli *cli;
    struct json_writer *json; /* where findings go as JSON; NULL: to people */
    bool quiet;               /* they go nowhere, and are counted */
    size_t findings;
    str *damaged; /* ids of states, each once, in the arena of cli */
    size_t damaged_count, damaged_room;
    struct map known;       /* of those */
    struct arena *turns[2]; /* memory of the step at hand, and of the one before */
    int64_t states, total;  /* that were looked at, and that there are; for progress */
    bool shown;             /* progress is */
};

void checking_init(struct checking *k, struct cli *c, struct json_writer *json);
void checking_release(struct checking *k);

/* A transaction as rules see it, on a connection that has begun one. With schemas of its own, which
 * checking_end gives back. */
struct tx checking_begin(struct checking *k, struct sql *sql, struct store_node *node);
void checking_end(struct tx *tx);

/* All rules, and with `deep` all documents, histories and texts. */
err checking_run(struct checking *k, struct tx *tx, bool deep);

/* What is wrong with one state; NULL: it is whole. */
err checking_state(struct checking *k, struct tx *tx, str id, err *wrong);

#endif
