/* fault.h: a connection that fails on purpose, around one that works.
 *
 * Four faults, because they are the ones that differ in kind. The last is the
 * one that finds missing idempotency. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "store/store.h"

enum fault_kind {
    FAULT_NONE,
    FAULT_CALL,   /* a statement or savepoint fails; the transaction lives */
    FAULT_DEATH,  /* it fails as on a full disk, and takes the whole transaction with it */
    FAULT_COMMIT, /* the commit fails; nothing of it is there */
    FAULT_LOST,   /* the commit succeeds, but its answer is lost */
};

struct fault {
    enum fault_kind kind;
    uint64_t nth;   /* the call, or the commit, that fails, counted from 1 */
    uint64_t calls; /* so far: statements and savepoints */
    uint64_t commits;
    bool fired;
};

/* Takes `inner` over: disconnecting the result disconnects it. `plan` is read at every call, so it
 * may be changed in between, and must live as long. */
struct sql *fault_around(struct sql *inner, struct fault *plan);

#endif
