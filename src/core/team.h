/* team.h: words and settings of sessions, runs, runners and callbacks.
 *
 * Each noun has one enum and one table of the changes that may happen to it; the
 * names are those that are stored and shown. What is configurable is one struct,
 * which a rule finds in its transaction. */
#ifndef CORE_TEAM_H
#define CORE_TEAM_H

#include "core/tx.h"

// clang-format off
#define SESSION_STATUSES(X) \
    X(PENDING, "pending") X(RUNNING, "running") X(IDLE, "idle") \
    X(FINISHED, "finished") X(FAILED, "failed") X(STOPPED, "stopped")

#define UPDATE_STATUSES(X) \
    X(NONE, "") X(PENDING, "pending") X(COMPLETED, "completed") X(FAILED, "failed") X(SKIPPED, "skipped")

#define RUN_STATUSES(X) \
    X(PENDING, "pending") X(CLAIMED, "claimed") X(RUNNING, "running") X(STOPPING, "stopping") \
    X(COMPLETED, "completed") X(FAILED, "failed") X(TIMED_OUT, "timed_out") X(STOPPED, "stopped")

#define RUN_TYPES(X) X(START, "start_session") X(RESUME, "resume_session") X(NONE, "")

#define RUN_PURPOSES(X) \
    X(WORK, "work") X(STATE_UPDATE, "state_update") X(CALLBACK, "callback") X(TASK, "task") \
    X(COMMAND, "command")

#define RUN_MODES(X) X(SYNC, "sync") X(POLL, "async_poll") X(CALLBACK, "async_callback")

#define CALLBACK_STATUSES(X) \
    X(WAITING, "waiting") X(IN_FLIGHT, "in_flight") X(DELIVERED, "delivered") X(DROPPED, "dropped")

#define PERMISSION_STATUSES(X) \
    X(WAITING, "waiting") X(ALLOWED, "allowed") X(DENIED, "denied") \
    X(EXPIRED, "expired") X(WITHDRAWN, "withdrawn")

#define MESSAGE_STATUSES(X) \
    X(PENDING, "pending") X(DELIVERED, "delivered") X(FAILED, "failed")

#define EXECUTION_STATUSES(X) \
    X(RUNNING, "RUNNING") X(PAUSED, "PAUSED") \
    X(COMPLETED, "COMPLETED") X(FAILED, "FAILED") X(CANCELLED, "CANCELLED")

#define STEP_STATUSES(X) \
    X(PENDING, "pending") X(IN_PROGRESS, "in_progress") X(COMPLETED, "completed") \
    X(FAILED, "failed") X(SKIPPED, "skipped") X(APPROVAL, "waiting_approval")

/* Those up to PROVE are what a mark has left to do; at the others it rests. */
#define MARK_STATUSES(X) \
    X(ENTER, "enter") X(BEGIN, "begin") X(LEAVE, "leave") X(MORE, "more") \
    X(PROVE, "prove") \
    X(JOIN, "join") X(WORK, "work") X(BACKOFF, "backoff") X(LOOP, "loop") \
    X(INCIDENT, "incident") X(HELD, "held") X(DONE, "done") \
    X(CHECK, "check") X(APPROVAL, "approval") X(READY, "ready")

#define SHARE_STATUSES(X) \
    X(WAITING, "waiting") X(WORKING, "working") \
    X(COMPLETED, "completed") X(FAILED, "failed") X(WITHDRAWN, "withdrawn")

#define APPROVAL_STATUSES(X) \
    X(WAITING, "waiting") X(APPROVED, "approved") X(REJECTED, "rejected") X(REWORK, "rework") \
    X(EXPIRED, "expired") X(WITHDRAWN, "withdrawn")

#define INCIDENT_STATUSES(X) X(OPEN, "open") X(RESOLVED, "resolved")

#define WAKE_WAYS(X) X(REWAKE, "rewake") X(QUEUE, "queue") X(PLUGIN, "plugin") X(CLOSED, "closed")

#define TEAM_SESSION(id, name) SESSION_##id,
#define TEAM_UPDATE(id, name) UPDATE_##id,
#define TEAM_RUN(id, name) RUN_##id,
#define TEAM_RUN_TYPE(id, name) RUN_TYPE_##id,
#define TEAM_PURPOSE(id, name) PURPOSE_##id,
#define TEAM_MODE(id, name) MODE_##id,
#define TEAM_CALLBACK(id, name) CALLBACK_##id,
#define TEAM_PERMISSION(id, name) PERMISSION_##id,
#define TEAM_MESSAGE(id, name) MESSAGE_##id,
#define TEAM_EXECUTION(id, name) EXECUTION_##id,
#define TEAM_STEP(id, name) STEP_##id,
#define TEAM_MARK(id, name) MARK_##id,
#define TEAM_INCIDENT(id, name) INCIDENT_##id,
#define TEAM_SHARE(id, name) SHARE_##id,
#define TEAM_APPROVAL(id, name) APPROVAL_##id,
#define TEAM_WAY(id, name) WAY_##id,

enum session_status { SESSION_STATUSES(TEAM_SESSION) SESSION_STATUS_COUNT };
enum update_status { UPDATE_STATUSES(TEAM_UPDATE) UPDATE_STATUS_COUNT };
enum run_status { RUN_STATUSES(TEAM_RUN) RUN_STATUS_COUNT };
enum run_type { RUN_TYPES(TEAM_RUN_TYPE) RUN_TYPE_COUNT };
enum run_purpose { RUN_PURPOSES(TEAM_PURPOSE) PURPOSE_COUNT };
enum run_mode { RUN_MODES(TEAM_MODE) MODE_COUNT };
enum callback_status { CALLBACK_STATUSES(TEAM_CALLBACK) CALLBACK_STATUS_COUNT };
enum permission_status { PERMISSION_STATUSES(TEAM_PERMISSION) PERMISSION_STATUS_COUNT };
enum message_status { MESSAGE_STATUSES(TEAM_MESSAGE) MESSAGE_STATUS_COUNT };
enum execution_status { EXECUTION_STATUSES(TEAM_EXECUTION) EXECUTION_STATUS_COUNT };
enum step_status { STEP_STATUSES(TEAM_STEP) STEP_STATUS_COUNT };
enum mark_status { MARK_STATUSES(TEAM_MARK) MARK_STATUS_COUNT };
enum incident_status { INCIDENT_STATUSES(TEAM_INCIDENT) INCIDENT_STATUS_COUNT };
enum share_status { SHARE_STATUSES(TEAM_SHARE) SHARE_STATUS_COUNT };
enum approval_status { APPROVAL_STATUSES(TEAM_APPROVAL) APPROVAL_STATUS_COUNT };
enum wake_way { WAKE_WAYS(TEAM_WAY) WAY_COUNT };
// clang-format on

/* A list of words: a status by its name, and the name of one. */
struct team_words {
    const char *const *names;
    int count;
};

extern const struct team_words session_words, update_words, run_words, run_type_words,
    purpose_words, mode_words, callback_words, permission_words, message_words, execution_words,
    step_words, mark_words, incident_words, share_words, approval_words, way_words;

/* The words of an enum, by a value of it. */
// clang-format off
#define WORDS_OF(value) \
    _Generic((value), enum session_status: &session_words, enum update_status: &update_words, \
             enum run_status: &run_words, enum run_type: &run_type_words, \
             enum run_purpose: &purpose_words, enum run_mode: &mode_words, \
             enum callback_status: &callback_words, enum permission_status: &permission_words, \
             enum message_status: &message_words, enum execution_status: &execution_words, \
             enum step_status: &step_words, enum mark_status: &mark_words, \
             enum incident_status: &incident_words, enum share_status: &share_words, \
             enum approval_status: &approval_words, enum wake_way: &way_words)
// clang-format on

/* The number of a word that is there. For one that was stored see stored.h. */
int team_word(const struct team_words *w, str name);

/* The same for a word from outside; −1: there is no such word. */
int team_word_find(const struct team_words *w, str name);
str team_name(const struct team_words *w, int number);

/* Whether a noun may go from one status to another; only these changes exist. Staying is none. */
bool session_may_become(enum session_status from, enum session_status to);
bool update_may_become(enum update_status from, enum update_status to);
bool run_may_become(enum run_status from, enum run_status to);
bool callback_may_become(enum callback_status from, enum callback_status to);
bool execution_may_become(enum execution_status from, enum execution_status to);
bool step_may_become(enum step_status from, enum step_status to);

/* Pending, running or idle: it may still do something by itself. */
bool session_is_live(enum session_status s);

/* Pending, claimed, running or stopping. */
bool run_is_live(enum run_status s);

/* Running or paused. */
bool execution_is_open(enum execution_status s);

/* Texts that become part of a key of the queue, in bytes as JSON has them. A database has a limit for
 * a key (PostgreSQL: 2,704 bytes), so their sum has: see run_demand.c. */
enum { DEMAND_DIR_MAX = 1200, DEMAND_HOST_MAX = 400, DEMAND_TAGS_MAX = 600, DEMAND_USER_MAX = 200 };

/* INVALID when it is longer. */
err team_text_check(struct arena *a, const char *what, str text, size_t most);

struct team_rules {
    /* Two-phase completion; a schema may say otherwise (x-baton.state_update). */
    int64_t update_attempts;   /* prompts for the state update before it has failed: 3 */
    int64_t update_timeout_ms; /* of each: 120 s */
    int64_t update_delay_ms;   /* between them: 5 s */

    int64_t lease_ms;     /* a claimed run is its runner's for so long after the last sign: 60 s */
    int64_t claim_max;    /* runners that may lose a run before it has failed: 3 */
    int64_t match_ms;     /* a run that no runner could take has failed after this: 10 min */
    int64_t run_ms;       /* how long a run may take when nobody says: 4 h */
    int64_t run_grace_ms; /* beyond its time, before the server ends it: 30 s */
    int64_t stop_ms;      /* from asking a run to stop to taking it for stopped: 30 s */
    int64_t poll_ms;      /* how long a claim waits: 30 s */
    int64_t beat_ms;      /* how often a runner says that it is there: 10 s */
    int64_t silent_ms;    /* a runner that was not heard for so long is lost: 60 s */
    int64_t depth_max;    /* of a tree: 10 */
    int64_t tree_max;     /* live sessions of one tree; 0: as many as they like: 64 */
    int64_t profile_max;  /* and of one profile: 16 */
    int64_t output_bytes; /* kept of what a run has written: 1 MiB */
    int64_t session_events;   /* kept of one session: 1,000 */
    int64_t state_warn_bytes; /* a state of so many is warned of: 256 KiB */
    int64_t permission_ms;    /* what nobody has decided for so long is refused: 24 h */
    int64_t wake;             /* idle clients may be woken: 1 */
    int64_t wake_grace_ms;   /* while one works, its hooks and tools have so long to tell it: 2 s */
    int64_t wake_return_ms;  /* after a stop, what never arrived is offered again: 5 s */
    int64_t execution_moves; /* of an execution in one command: 256 */
    int64_t execution_spin;  /* of an execution, without anything from outside: 10,000 */
    int64_t execution_marks; /* that one may have: 10,000 */
    int64_t loop_items;      /* of one loop: 1,000 */
    int64_t job_lease_ms;    /* of a job, when its worker does not say: 60 s */
    int64_t execution_retention_ms; /* an ended one is kept for so long; 0: for good */
    int64_t member_silent_ms;       /* a member without a sign for so long is silent: 10 min */
};

extern const struct team_rules team_rules_default;

static inline const struct team_rules *team_rules_of(const struct tx *tx)
{
    return tx->team ? tx->team : &team_rules_default;
}

#endif
