/* event.h: the log of everything that happened.
 *
 * One row is both: what subscribers are told, and a version in the history of
 * its subject. Numbers are gapless; a row exists exactly when its transaction
 * has committed. Below the floor, which follows the newest events (see retain.h),
 * rows are there as history alone. */
#ifndef CORE_EVENT_H
#define CORE_EVENT_H

#include "core/tx.h"
#include "json/write.h"

// clang-format off
#define EVENT_TYPES(X)                                 \
    X(SCHEMA_REGISTERED, "schema_registered")          \
    X(STATE_CREATED,     "workflow_state_created")     \
    X(STATE_UPDATED,     "workflow_state_updated")     \
    X(STATE_MIGRATED,    "workflow_state_migrated")    \
    X(STATE_RENAMED,     "workflow_state_renamed")     \
    X(STATE_DELETED,     "workflow_state_deleted")     \
    X(TOKEN_REVOKED,     "token_revoked")              \
    X(AGENT_UPDATED,     "agent_updated")              \
    X(PROFILE_UPDATED,   "profile_updated")            \
    X(SESSION_CREATED,   "session_created")            \
    X(SESSION_UPDATED,   "session_updated")            \
    X(SESSION_BOUND,     "session_bound")              \
    X(SESSION_SETTLED,   "session_settled")            \
    X(SESSION_DELETED,   "session_deleted")            \
    X(RUN_ENQUEUED,      "run_enqueued")               \
    X(RUN_CLAIMED,       "run_claimed")                \
    X(RUN_STARTED,       "run_started")                \
    X(RUN_STOPPING,      "run_stopping")               \
    X(RUN_FINISHED,      "run_finished")               \
    X(CALLBACK_WAITING,  "callback_waiting")           \
    X(WAKE_OFFERED,      "wake_offered")               \
    X(MESSAGE_SENT,      "message_sent")               \
    X(MESSAGE_DELIVERED, "message_delivered")          \
    X(CALLBACK_DELIVERED, "callback_delivered")        \
    X(APPROVAL_REQUESTED, "approval_requested")        \
    X(APPROVAL_RESOLVED, "approval_resolved")          \
    X(WORKFLOW_DEPLOYED, "workflow_deployed")          \
    X(WORKFLOW_DELETED,  "workflow_deleted")           \
    X(DOCUMENT_USED,     "document_used")              \
    X(EXECUTION_STARTED, "execution_started")          \
    X(EXECUTION_MOVED,   "execution_moved")            \
    X(EXECUTION_ENDED,   "execution_ended")            \
    X(EXECUTION_DELETED, "execution_deleted")          \
    X(INCIDENT_RAISED,   "incident_raised")            \
    X(INCIDENT_RESOLVED, "incident_resolved")          \
    X(PROJECT_UPDATED,   "project_updated")            \
    X(PROJECT_DELETED,   "project_deleted")            \
    X(MIRROR_FOUND,      "mirror_found")               \
    X(RUNNER_JOINED,     "runner_joined")              \
    X(RUNNER_UPDATED,    "runner_updated")             \
    X(RUNNER_LOST,       "runner_lost")

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
    str type_name; /* event_name of it: set where it is stored or read */
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

/* The table `log`, see columns.h: what lists have of it, and all of it. */
// clang-format off
#define LOG_HEAD(X, e)                         \
    X(seq,        INT,  INSERT, e->seq)        \
    X(type,       TEXT, INSERT, e->type_name)  \
    X(subject,    TEXT, INSERT, e->subject)    \
    X(actor,      TEXT, INSERT, e->actor)      \
    X(session_id, TEXT, INSERT, e->session_id) \
    X(time,       TIME, INSERT, e->time_ms)    \
    X(cause,      INT,  INSERT, e->cause)      \
    X(version,    INT,  INSERT, e->version)    \
    X(prev_seq,   INT,  INSERT, e->prev_seq)   \
    X(snap_seq,   INT,  INSERT, e->snap_seq)
#define LOG_HEAD_NAMES COLUMNS(LOG_HEAD)
#define LOG_TEXTS(X, e)                \
    X(data, JSON,     INSERT, e->data) \
    X(body, NULLABLE, INSERT, e->body)
// clang-format on
#define LOG_COLUMNS(X, e) LOG_HEAD(X, e) LOG_TEXTS(X, e)
#define LOG_NAMES COLUMNS(LOG_COLUMNS)

/* Where the log begins. */
struct replay {
    int64_t id; /* 1: there is one row */
    int64_t floor;
};

/* The table `replay`: see columns.h. */
// clang-format off
#define REPLAY_COLUMNS(X, r)         \
    X(replay_id, INT, INSERT, r->id) \
    X(floor,     INT, INSERT, r->floor)
#define REPLAY_NAMES COLUMNS(REPLAY_COLUMNS)
// clang-format on

const char *event_name(enum event_type type);

/* False when there is no such type. */
bool event_type_find(str name, enum event_type *out);

/* Appends a row. Fills in number, time, actor and cause; of the rest, what the caller has set. */
err event_emit(struct tx *tx, struct event event, struct event **out);

/* An event whose data is an object: its members are written to what event_begin gives, by the
 * functions of json/write.h; then event_end appends the row, with that for its data. */
struct event_writer {
    struct buf text;
    struct json_writer json;
};
struct json_writer *event_begin(struct tx *tx, struct event_writer *data);
err event_end(struct tx *tx, struct event_writer *data, struct event event, struct event **out);

/* What happened, parsed; damage when it is not JSON any more. */
err event_parsed(struct tx *tx, const struct event *e, const struct json **out);

/* One event by its number; NULL when it is not there (any more). */
err event_get(struct tx *tx, int64_t seq, const struct event **out);

/* The same without what can be large: neither data nor body; or with a body only where no data tells
 * what happened. */
err event_get_head(struct tx *tx, int64_t seq, const struct event **out);
err event_get_change(struct tx *tx, int64_t seq, const struct event **out);

/* The number of the oldest event that can be listed; there may be none yet. */
err event_floor(struct tx *tx, int64_t *floor);

struct event_query {
    int64_t after;
    str subject;      /* empty: all */
    int64_t last_seq; /* the newest event of the subject, where it is known: then the chain of its
                       * events is followed, however long the log is; else 0 */
    uint64_t types;   /* a bit for each type, 1 << EVENT_…; 0: all */
    int64_t limit;
};

struct event_page {
    const struct event *events; /* in order */
    size_t count;
    int64_t next;   /* the last number that was looked at, so where to go on */
    int64_t oldest; /* the floor */
};

/* Events after a number. One call looks at a bounded part of the log and gives a bounded number of
 * bytes: it may give none, or fewer than the limit, while `next` is below the newest number. GONE, with the oldest number among its
 * members, when events after `after` are below the floor. */
err event_list(struct tx *tx, const struct event_query *q, struct event_page *out);

#endif
