/* team.c: words, the changes that there are, and what holds when nobody has configured anything. */
#include "core/team.h"

#include <assert.h>

#include "json/json.h"

// clang-format off
#define WORD(id, name) name,
#define WORDS(table, LIST)                                     \
    static const char *const table##_names[] = { LIST(WORD) }; \
    const struct team_words table##_words = { table##_names,   \
                                              sizeof table##_names / sizeof *table##_names };
// clang-format on

WORDS(session, SESSION_STATUSES)
WORDS(update, UPDATE_STATUSES)
WORDS(run, RUN_STATUSES)
WORDS(run_type, RUN_TYPES)
WORDS(purpose, RUN_PURPOSES)
WORDS(mode, RUN_MODES)
WORDS(callback, CALLBACK_STATUSES)
WORDS(permission, PERMISSION_STATUSES)
WORDS(message, MESSAGE_STATUSES)
WORDS(execution, EXECUTION_STATUSES)
WORDS(step, STEP_STATUSES)
WORDS(mark, MARK_STATUSES)
WORDS(incident, INCIDENT_STATUSES)
WORDS(share, SHARE_STATUSES)
WORDS(approval, APPROVAL_STATUSES)
WORDS(way, WAKE_WAYS)

int team_word_find(const struct team_words *w, str name)
{
    for (int i = 0; i < w->count; i++)
        if (str_eq(name, str_from(w->names[i])))
            return i;
    return -1;
}

int team_word(const struct team_words *w, str name)
{
    int number = team_word_find(w, name);

    assert(number >= 0);
    return number;
}

str team_name(const struct team_words *w, int number)
{
    assert(number >= 0 && number < w->count);
    return str_from(w->names[number]);
}

/* ---- what may become what ---- */

#define TO(status) (1u << (status))

// clang-format off

/* The end of a session that was asked again is where its next cycle begins: it may fail or be
 * stopped before its first turn does. */
static const unsigned session_changes[SESSION_STATUS_COUNT] = {
    [SESSION_PENDING]  = TO(SESSION_RUNNING) | TO(SESSION_IDLE) | TO(SESSION_FINISHED) |
                         TO(SESSION_FAILED) | TO(SESSION_STOPPED),
    [SESSION_RUNNING]  = TO(SESSION_IDLE) | TO(SESSION_FINISHED) | TO(SESSION_FAILED) |
                         TO(SESSION_STOPPED),
    [SESSION_IDLE]     = TO(SESSION_RUNNING) | TO(SESSION_FINISHED) | TO(SESSION_FAILED) |
                         TO(SESSION_STOPPED),
    [SESSION_FINISHED] = TO(SESSION_RUNNING) | TO(SESSION_FAILED) | TO(SESSION_STOPPED),
    [SESSION_FAILED]   = TO(SESSION_RUNNING) | TO(SESSION_STOPPED),
    [SESSION_STOPPED]  = TO(SESSION_RUNNING) | TO(SESSION_FAILED),
};

/* Back to none: the next turn of work, and the next cycle, owe an update of their own. */
static const unsigned update_changes[UPDATE_STATUS_COUNT] = {
    [UPDATE_NONE]      = TO(UPDATE_PENDING) | TO(UPDATE_FAILED) | TO(UPDATE_SKIPPED),
    [UPDATE_PENDING]   = TO(UPDATE_COMPLETED) | TO(UPDATE_FAILED),
    [UPDATE_COMPLETED] = TO(UPDATE_NONE),
    [UPDATE_FAILED]    = TO(UPDATE_NONE),
    [UPDATE_SKIPPED]   = TO(UPDATE_NONE),
};

/* A pending run may end in any way: its runner's lease has passed, and its report comes late. */
#define ENDS (TO(RUN_COMPLETED) | TO(RUN_FAILED) | TO(RUN_TIMED_OUT) | TO(RUN_STOPPED))

static const unsigned run_changes[RUN_STATUS_COUNT] = {
    [RUN_PENDING]  = TO(RUN_CLAIMED) | TO(RUN_STOPPING) | ENDS,
    [RUN_CLAIMED]  = TO(RUN_PENDING) | TO(RUN_RUNNING) | TO(RUN_STOPPING) | ENDS,
    [RUN_RUNNING]  = TO(RUN_PENDING) | TO(RUN_STOPPING) | ENDS,
    [RUN_STOPPING] = ENDS,
};

/* Waiting again: the turn that carried it did not begin. Delivered at once: an attended parent. */
static const unsigned callback_changes[CALLBACK_STATUS_COUNT] = {
    [CALLBACK_WAITING]   = TO(CALLBACK_IN_FLIGHT) | TO(CALLBACK_DELIVERED) | TO(CALLBACK_DROPPED),
    [CALLBACK_IN_FLIGHT] = TO(CALLBACK_WAITING) | TO(CALLBACK_DELIVERED) | TO(CALLBACK_DROPPED),
};

/* An ended one goes on from a step that is done anew. */
static const unsigned execution_changes[EXECUTION_STATUS_COUNT] = {
    [EXECUTION_RUNNING]   = TO(EXECUTION_PAUSED) | TO(EXECUTION_COMPLETED) | TO(EXECUTION_FAILED) |
                            TO(EXECUTION_CANCELLED),
    [EXECUTION_PAUSED]    = TO(EXECUTION_RUNNING) | TO(EXECUTION_CANCELLED) | TO(EXECUTION_FAILED),
    [EXECUTION_COMPLETED] = TO(EXECUTION_RUNNING),
    [EXECUTION_FAILED]    = TO(EXECUTION_RUNNING),
    [EXECUTION_CANCELLED] = TO(EXECUTION_RUNNING),
};

/* Back to pending: it is done anew. Where there are circles, a step that is done may begin again. */
static const unsigned step_changes[STEP_STATUS_COUNT] = {
    [STEP_PENDING]     = TO(STEP_IN_PROGRESS) | TO(STEP_COMPLETED) | TO(STEP_SKIPPED),
    [STEP_IN_PROGRESS] = TO(STEP_APPROVAL) | TO(STEP_COMPLETED) | TO(STEP_FAILED) |
                         TO(STEP_PENDING),
    [STEP_APPROVAL]    = TO(STEP_COMPLETED) | TO(STEP_FAILED) | TO(STEP_PENDING) |
                         TO(STEP_IN_PROGRESS),
    [STEP_COMPLETED]   = TO(STEP_PENDING) | TO(STEP_IN_PROGRESS) | TO(STEP_SKIPPED),
    [STEP_FAILED]      = TO(STEP_PENDING) | TO(STEP_IN_PROGRESS),
    [STEP_SKIPPED]     = TO(STEP_PENDING) | TO(STEP_IN_PROGRESS) | TO(STEP_COMPLETED),
};
// clang-format on

bool session_may_become(enum session_status from, enum session_status to)
{
    return session_changes[from] & TO(to);
}

bool update_may_become(enum update_status from, enum update_status to)
{
    return update_changes[from] & TO(to);
}

bool run_may_become(enum run_status from, enum run_status to)
{
    return run_changes[from] & TO(to);
}

bool callback_may_become(enum callback_status from, enum callback_status to)
{
    return callback_changes[from] & TO(to);
}

bool execution_may_become(enum execution_status from, enum execution_status to)
{
    return execution_changes[from] & TO(to);
}

bool step_may_become(enum step_status from, enum step_status to)
{
    return step_changes[from] & TO(to);
}

bool execution_is_open(enum execution_status s)
{
    return s == EXECUTION_RUNNING || s == EXECUTION_PAUSED;
}

bool session_is_live(enum session_status s)
{
    return s == SESSION_PENDING || s == SESSION_RUNNING || s == SESSION_IDLE;
}

bool run_is_live(enum run_status s)
{
    return s == RUN_PENDING || s == RUN_CLAIMED || s == RUN_RUNNING || s == RUN_STOPPING;
}

/* ---- texts ---- */

err team_text_check(struct arena *a, const char *what, str text, size_t most)
{
    struct json value = json_string(text);
    size_t bytes = json_print_size(&value);

    if (bytes <= most)
        return NULL;
    return err_new(a, ERR_INVALID, "expected %s of at most %zu bytes as JSON, found %zu", what,
                   most, bytes);
}

/* ---- settings ---- */

const struct team_rules team_rules_default = {
    .update_attempts = 3,
    .update_timeout_ms = 120 * 1000,
    .update_delay_ms = 5 * 1000,
    .lease_ms = 60 * 1000,
    .claim_max = 3,
    .match_ms = 10 * 60 * 1000,
    .run_ms = 4 * 60 * 60 * 1000,
    .run_grace_ms = 30 * 1000,
    .stop_ms = 30 * 1000,
    .poll_ms = 30 * 1000,
    .beat_ms = 10 * 1000,
    .silent_ms = 60 * 1000,
    .depth_max = 10,
    .tree_max = 64,
    .profile_max = 16,
    .output_bytes = 1 << 20,
    .session_events = 1000,
    .state_warn_bytes = 256 << 10,
    .permission_ms = 24 * 60 * 60 * 1000,
    .wake = 1,
    .wake_grace_ms = 2 * 1000,
    .wake_return_ms = 5 * 1000,
    .execution_moves = 256,
    .execution_spin = 10000,
    .execution_marks = 10000,
    .loop_items = 1000,
    .job_lease_ms = 60 * 1000,
    .execution_retention_ms = 0,
    .member_silent_ms = 10 * 60 * 1000,
};
