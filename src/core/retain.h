/* retain.h: how long things are kept, and the work of letting them go.
 *
 * The log is two things, so it is cut in two ways. Whoever replays it gets every
 * event from the floor on; the floor follows the newest events. As the history
 * of a state a row stays longer: as long as its state has not outgrown it.
 * So no row from the floor on is ever dropped, and below it only what is no
 * history any more. All of it is due work: see due.h. */
#ifndef CORE_RETAIN_H
#define CORE_RETAIN_H

#include "core/due.h"

struct retention {
    int64_t events;        /* the newest ones that can always be replayed */
    int64_t events_ms;     /* and none that is younger than this is dropped */
    int64_t versions;      /* of a state: the newest ones are all kept */
    int64_t versions_step; /* of the older ones, each so many-th stays */
    int64_t keys_ms;       /* how long the key of a request is remembered */
    int64_t sessions_ms;   /* how long ended trees of sessions, messages that were read, and
                              commands that have ended are kept; 0: for good */
    int64_t tokens_ms;     /* how long tokens are listed after they were revoked or have expired */
    int64_t rows;          /* that one firing deals with at most */
};

extern const struct retention retention_default;

static inline const struct retention *retention_of(const struct tx *tx)
{
    return tx->retention ? tx->retention : &retention_default;
}

/* The works, for the table of who fires them. */
due_run retain_compact_state, retain_purge_state, retain_forget_keys, retain_move_floor;

/* ---- retain_ended.c: trees of sessions that have ended, and their states ---- */

struct event;

/* What follows from the end of a session: see consequence.h. */
err retain_after_settled(struct tx *tx, const struct event *e);
err retain_after_deleted(struct tx *tx, const struct event *e);

due_run retain_state, retain_tree;

#endif
