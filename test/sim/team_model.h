/* team_model.h: what must be true of sessions, runs and callbacks.
 *
 * The model is told the events of the log and what was asked for and answered, and nothing else.
 * It knows no rule of core/: it does not foresee what a session does next, but whatever is said of
 * it must fit what was said before. */
#ifndef SIM_TEAM_MODEL_H
#define SIM_TEAM_MODEL_H

#include "base/map.h"
#include "core/event.h"
#include "core/team.h"

enum { TEAM_CYCLES_MAX = 64, TEAM_ALL_MAX = 256 };

/* One cycle of a session, after it has settled. */
struct seen_cycle {
    bool settled;
    bool owed; /* the parent is to be told */
    bool told;
};

struct seen_session {
    str id, name;
    struct seen_session *parent, *root; /* a root has no parent */
    int64_t depth, cycle;
    str state_id;
    enum session_status status;
    bool attended, calls_back, settled, deleted;
    bool known;            /* what its client calls the conversation: so it can be resumed */
    struct seen_run *held; /* its run that somebody has; NULL: nobody has one */
    int64_t live_runs;     /* that have not ended */
    int64_t opened_seq;    /* of the event that opened its cycle */
    int64_t asked_seq;     /* of that, or of the claim of the last turn it was asked for in it */
    int64_t work_seq;      /* of the start of its last turn but those for the update */
    int64_t wrote_seq;     /* of its last write of the state */
    int64_t update_seq;    /* of the last event about its update, */
    enum update_status update; /* and what that said */
    struct seen_cycle cycles[TEAM_CYCLES_MAX];
};

struct seen_run {
    str id;
    struct seen_session *session;
    enum run_purpose purpose;
    enum run_status status;
    bool queued;
    bool opens; /* it came with its cycle */
    bool began;
    int64_t fence, attempt;
    struct seen_runner *runner; /* who claimed it last */
    int64_t sign_ms;            /* the last sign of life that was accepted */
};

struct seen_runner {
    str id;
    bool removed;
};

struct team_model {
    struct arena *arena;
    const struct team_rules *rules;
    int64_t seq, time_ms; /* of the last event */
    struct map by_id;     /* id → struct seen_…: ids of different nouns differ */
    struct map versions;  /* of states: id → the newest, as a pointer to int64_t */
    struct seen_session *sessions[TEAM_ALL_MAX];
    struct seen_run *runs[TEAM_ALL_MAX];
    size_t session_count, run_count;
    uint64_t told;
};

struct team_model *team_model_new(struct arena *a, const struct team_rules *rules);

/* The next event of the log. */
void team_model_follow(struct team_model *m, const struct event *e);

struct seen_session *team_model_session(const struct team_model *m, str id);
struct seen_run *team_model_run(const struct team_model *m, str id);
struct seen_runner *team_model_runner(const struct team_model *m, str id);

/* A turn was asked for: of a new session (`starts`) or of one that has begun, which is to call its
 * parent back or not. */
void team_model_asked(struct team_model *m, str run_id, bool starts, bool calls_back);

/* All who hold something have a new term. */
void team_model_restarted(struct team_model *m, int64_t now_ms);

/* Whether a cycle is open, or a turn not over. */
bool team_model_busy(const struct team_model *m);

/* A parent that was not told of a cycle it is to hear of, and could be; NULL: there is none. */
struct seen_session *team_model_untold(const struct team_model *m);

/* At the end: all has settled, and every parent that is there was told once of all it had to be. */
void team_model_end(const struct team_model *m);

#endif
