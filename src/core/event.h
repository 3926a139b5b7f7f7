/* event.h: the log of everything that happened.
 *
 * One row is both: what subscribers are told, and a version in the history of
 * its subject. Numbers are gapless; a row exists exactly when its transaction
 * has committed. */
#ifndef CORE_EVENT_H
#define CORE_EVENT_H

#include "core/tx.h"

// clang-format off
#define EVENT_TYPES(X)                                 \
    X(SCHEMA_REGISTERED, "schema_registered")          \
    X(STATE_CREATED,     "workflow_state_created")     \
    X(STATE_UPDATED,     "workflow_state_updated")     \
    X(STATE_MIGRATED,    "workflow_state_migrated")    \
    X(STATE_DELETED,     "workflow_state_deleted")     \
    X(TOKEN_REVOKED,     "token_revoked")

enum event_type {
#define EVENT_ENUM(id, name) EVENT_##id,
    EVENT_TYPES(EVENT_ENUM)
#undef EVENT_ENUM
    EVENT_TYPE_COUNT
};
// clang-format on

struct event {
    int64_t seq;
    enum event_type type;
    str subject;
    str actor, session_id;
    int64_t time_ms;
    int64_t cause;              /* the event that led to it; 0: a command */
    int64_t version;            /* of the subject, where it has versions; else 0 */
    int64_t prev_seq, snap_seq; /* of the subject: the event before, and the last one with a body */
    str data; /* printed JSON: for a version of a state the patch from the one before it */
    str body; /* the whole document after it, for some versions, so that none is far from one */
    struct event *next;
};

const char *event_name(enum event_type type);

/* False when there is no such type. */
bool event_type_find(str name, enum event_type *out);

/* Appends a row. Fills in number, time, actor and cause; of the rest, what the caller has set. */
err event_emit(struct tx *tx, struct event event, struct event **out);

/* One event by its number; NULL when it is not there (any more). */
err event_get(struct tx *tx, int64_t seq, const struct event **out);

/* Events after a number, in order, at most `limit`; of one subject unless it is empty. */
err event_list(struct tx *tx, int64_t after, str subject, int64_t limit, const struct event **out,
               size_t *count);

#endif
