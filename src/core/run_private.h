/* run_private.h: what the files of runs share. Private to run*.c. */
#ifndef CORE_RUN_PRIVATE_H
#define CORE_RUN_PRIVATE_H

#include "core/run.h"

/* ---- run_demand.c ---- */

/* The rank, at the end of a position: priority and then age, in digits that sort so. */
enum { RANK_CHARS = 20 };

/* Its position in the queue, from its demand, priority and number; in memory. */
void run_find_position(struct arena *a, struct run *r);

/* ---- run.c ---- */

/* By id; out->id is empty when there is none: what was due may come after the run is gone. */
err run_find(struct tx *tx, str id, struct run *out);

/* Changes the status in memory; the table in team.h allows it. */
void run_become(struct run *r, enum run_status status);

/* Lets a pending run into the queue, now or when its time comes; stores it, and emits run_enqueued
 * when it is in. */
err run_enter(struct tx *tx, struct run *r);

err run_emit(struct tx *tx, enum event_type type, const struct run *r, struct event **out);

#endif
