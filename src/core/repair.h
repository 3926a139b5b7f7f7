/* repair.h: a damaged state, made whole again from what is known better.
 *
 * A copy of the store, however old, has the rows of its time as they were: an
 * event is never changed but by being linked past what was let go. So rows of a
 * history that are damaged or missing come from the copy, and a document that is
 * newer than the copy is replayed from them. Without a copy, only a document that
 * is no JSON is: its own history knows what it was.
 *
 * Does not judge: who calls checks before that the state is damaged here and whole
 * in the copy, checks afterwards that it is whole here, and takes all of it back
 * when it is not. */
#ifndef CORE_REPAIR_H
#define CORE_REPAIR_H

#include "core/tx.h"

struct repair {
    int64_t events; /* rows of its history that came from the copy */
    bool row;       /* its row did */
    bool document;  /* its document was made anew from its history */
    bool schema;    /* the text of its schema came from the copy */
};

/* `copy` is a transaction on the copy that reads; NULL: there is none. */
err repair_state(struct tx *tx, struct tx *copy, str id, struct repair *out);

/* The log lost its end: it begins anew after that number, and whoever listens is told so. The
 * number of the last event is the caller's to set, with the commit. */
err repair_log_end(struct tx *tx, int64_t named);

#endif
