/* record.h: a connection that remembers every statement and what came back, around one that works.
 *
 * What was recorded can be run again elsewhere: on another database, to see whether it answers the
 * same. Only connections that succeed are worth recording: a failed call ends the test. */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include "store/store.h"

enum record_kind {
    RECORD_BEGIN,
    RECORD_MARK,
    RECORD_KEEP,
    RECORD_UNDO,
    RECORD_RUN,
    RECORD_COMMIT,
    RECORD_ROLLBACK,
};

struct record {
    enum record_kind kind;
    const char *text; /* the literal of a statement */
    struct sql_args args;
    const struct row *rows;
    size_t count;
    bool whole; /* these are all of its rows; else there may be more, or nobody asked for any */
    struct record *next;
};

struct recording {
    struct arena *arena; /* of the records */
    struct record *first, *last;
    size_t count;
};

/* Takes `inner` over: disconnecting the result disconnects it. */
struct sql *record_around(struct sql *inner, struct recording *r);

#endif
