/* run.h: turns of sessions, and commands, queued until a runner claims them.
 *
 * A run is one turn of one session: "start it" or "resume it with this prompt". Or it
 * is of purpose command: then it has no session, and a runner executes what a definition
 * or a project says, never words of an agent. Beyond that both go the same way. It
 * is pending until a runner claims it, then its runner's under a lease until it
 * ends. A lease that passes its time puts it back into the queue, so a runner that
 * dies costs a delay and never a lost run. Each claim raises the fence: a report
 * under an older one changes nothing, except that the completion of a run which
 * nobody has claimed since is as good as any.
 *
 * A session is busy with one run at a time, session.run_id; its others wait outside of
 * the queue. What a run asks of its runner is its demand key; a claim looks at the
 * head of each key that may fit, and never through the queue.
 *
 * The directory of a run counts only for runners that keep to one: such a runner takes
 * what is in its directory or below it, and what is in none. For others all directories
 * are the same, and their order is that of priority and age whatever those are.
 *
 * Does not know what the end of a run means: see consequence.h. */
#ifndef CORE_RUN_H
#define CORE_RUN_H

#include "core/due.h"
#include "core/runner.h"
#include "core/session.h"

struct run {
    str id, session_id, session_name; /* of a command: empty */
    enum run_type type;               /* of a command: none */
    enum run_purpose purpose;
    enum run_status status;
    enum run_mode mode;
    bool queued; /* it may be claimed now */
    str profile, agent, project_dir;
    str demand;                /* its key: see run_demand.c */
    str queue_position;        /* for runners that take all directories */
    str queue_position_in_dir; /* for others */
    int64_t priority;          /* more is sooner */
    int64_t not_before_ms, max_ms;
    int64_t cycle;   /* of its session */
    int64_t attempt; /* 1, and one more for each runner that lost it */
    int64_t fence;   /* 0: never claimed */
    str runner_id;   /* who claimed it last */
    str token_id;    /* of its session while it runs */
    int64_t lease_until_ms;
    int64_t created_at_ms, claimed_at_ms, started_at_ms, ended_at_ms;
    str metadata; /* printed JSON object */
    str prompt;
    str result, error; /* the agent's last words; why it did not end well */
    bool result_cut;   /* they were more */
    int64_t exit_code; /* of its process; −1: it has none */
    int64_t seq;       /* of its enqueuing: the order of the queue */

    /* Of a command alone. */
    str owner; /* by which its maker knows it again; it means nothing here */
    str argv;  /* printed JSON array of strings */
    str input; /* what it gets on its standard input */
};

/* The table `run`, see columns.h: what lists have of it, and what only a whole run has. */
// clang-format off
#define RUN_LISTED(X, r)                                               \
    X(run_id,                TEXT,     INSERT, r->id)                  \
    X(session_id,            TEXT,     INSERT, r->session_id)          \
    X(session_name,          TEXT,     INSERT, r->session_name)        \
    X(type,                  WORD,     INSERT, r->type)                \
    X(purpose,               WORD,     INSERT, r->purpose)             \
    X(status,                WORD,     STORE,  r->status)              \
    X(mode,                  WORD,     INSERT, r->mode)                \
    X(live,                  COMPUTED, STORE,  run_is_live(r->status)) \
    X(queued,                FLAG,     STORE,  r->queued)              \
    X(profile,               TEXT,     INSERT, r->profile)             \
    X(agent,                 TEXT,     INSERT, r->agent)               \
    X(project_dir,           TEXT,     INSERT, r->project_dir)         \
    X(demand,                JSON,     STORE,  r->demand)              \
    X(priority,              INT,      INSERT, r->priority)            \
    X(not_before,            DEADLINE, INSERT, r->not_before_ms)       \
    X(max_ms,                INT,      INSERT, r->max_ms)              \
    X(cycle,                 INT,      INSERT, r->cycle)               \
    X(attempt,               INT,      STORE,  r->attempt)             \
    X(fence,                 INT,      STORE,  r->fence)               \
    X(runner_id,             TEXT,     STORE,  r->runner_id)           \
    X(token_id,              TEXT,     STORE,  r->token_id)            \
    X(lease_until,           DEADLINE, STORE,  r->lease_until_ms)      \
    X(created_at,            TIME,     INSERT, r->created_at_ms)       \
    X(claimed_at,            TIME,     STORE,  r->claimed_at_ms)       \
    X(started_at,            TIME,     STORE,  r->started_at_ms)       \
    X(ended_at,              TIME,     STORE,  r->ended_at_ms)         \
    X(seq,                   INT,      INSERT, r->seq)                 \
    X(metadata,              JSON,     INSERT, r->metadata)            \
    X(error,                 TEXT,     STORE,  r->error)               \
    X(exit_code,             INT,      STORE,  r->exit_code)           \
    X(owner,                 TEXT,     INSERT, r->owner)               \
    X(queue_position,        TEXT,     STORE,  r->queue_position)      \
    X(queue_position_in_dir, TEXT,     STORE,  r->queue_position_in_dir)
#define RUN_LISTED_NAMES COLUMNS(RUN_LISTED)

#define RUN_TEXTS(X, r)                    \
    X(prompt,     TEXT, INSERT, r->prompt) \
    X(result,     TEXT, STORE,  r->result) \
    X(result_cut, FLAG, INSERT, r->result_cut) \
    X(argv,       JSON, INSERT, r->argv) \
    X(input,      TEXT, INSERT, r->input)
// clang-format on
#define RUN_COLUMNS(X, r) RUN_LISTED(X, r) RUN_TEXTS(X, r)
#define RUN_NAMES COLUMNS(RUN_COLUMNS)

/* What a run asks of its runner; empty: anything will do. */
struct demand {
    str hostname, profile, project_dir;
    str user;        /* as whom it runs agents */
    const str *tags; /* all of them */
    size_t tag_count;
    bool command;    /* that it takes commands; there is no profile then */
    bool unreadable; /* what is stored is damaged: no runner fits */
    str agent;       /* that it offers, since nobody has registered it: see agent_offer.h */
    str agent_dir;   /* where it is to be good, in the order without directories; else empty */
};

#define DEMAND_UNREADABLE "what it asks of its runner is not known"

/* ---- run_demand.c: demands ---- */

/* The canonical text of a demand, and back. Equal demands have equal keys. */
str demand_key(struct arena *a, const struct demand *d);
void demand_read(struct arena *a, str key, struct demand *out);
/* INVALID when a part of it is too long for a position in the queue. */
err demand_check(struct arena *a, const struct demand *d);
bool demand_fits(struct arena *a, const struct demand *d, const struct runner *r);

/* ---- run.c: rows, coming and ending ---- */

/* NOT_FOUND when its session is out of reach; a command is out of every session's. */
err run_get(struct tx *tx, str id, struct run *out);
err run_load(struct tx *tx, str id, struct run *out);
err run_store(struct tx *tx, const struct run *r);

struct run_filter {
    str after, session_id, status;
    int64_t limit;
};
err run_list(struct tx *tx, const struct run_filter *f, const struct run **out, size_t *count);

struct run_new {
    enum run_type type;
    enum run_purpose purpose;
    enum run_mode mode;
    str prompt;
    struct demand demand; /* profile and, for a session that has one, hostname are added */
    int64_t priority, not_before_ms, max_ms; /* 0: at once; the setting */
    str metadata;                            /* printed JSON object; empty: {} */
};

/* Enqueues a run of a session, which must be loaded and is changed: it becomes busy with it, unless
 * it is busy already. Emits run_enqueued. */
err run_create(struct tx *tx, struct session *s, const struct run_new *n, struct run *out);

struct run_command {
    const str *argv; /* the first is looked for in PATH; no shell reads any of it */
    size_t argv_count;
    str stdin_text;
    str owner;                               /* see struct run */
    struct demand demand;                    /* its profile is empty */
    int64_t max_ms, priority, not_before_ms; /* 0: the setting; at once */
    str metadata;                            /* printed JSON object; empty: {} */
};

/* Enqueues a run without a session. INVALID when argv is none, TOO_LARGE when it or the input is more
 * than a process may be given. Emits run_enqueued; its end is run_finished, with the exit code. */
err run_command_create(struct tx *tx, const struct run_command *c, struct run *out);

bool run_is_command(const struct run *r);

/* Whether a session has or had a turn: a run of it is live, or was started once. */
err run_begun(struct tx *tx, str session_id, bool *out);

/* What was found in a run's output, or said by its runner. */
struct run_facts {
    str result, error, client_id, git;
    struct usage usage;
    struct usage_whole whole;
    int64_t exit_code; /* −1: none */
    bool result_cut;   /* the result is the end of a longer one */
};

/* Ends a live run: stores, revokes its token, adds the usage to its session, lets the session's
 * next run into the queue, emits run_finished. The session, if it has one, is loaded and stored here. */
err run_end(struct tx *tx, struct run *r, enum run_status end, const struct run_facts *facts);

/* Asks a live run to stop: a pending one is stopped at once, another when its runner says so, or
 * after a time. Again: nothing. Emits run_stopping for the runner. */
err run_stop(struct tx *tx, struct run *r, str why);

/* All live runs of a session, the queued ones too. The session is as it is then. */
err run_stop_all(struct tx *tx, struct session *s, str why);

/* Deletes commands that ended before that time with their output, those first that ended first and at
 * most so many, and says how many. Runs of sessions go with those. */
err run_forget_commands(struct tx *tx, int64_t before_ms, int64_t limit, int64_t *count);

/* ---- run_request.c: asking a session for a turn ---- */

struct run_request {
    str session_id, session_name; /* one of them, or both of one session */
    str parent, project_dir;      /* of a session that is made for it */
    str project;                  /* that it works for, where it has no parent */
    const struct json *pointers;  /* and where it may write; NULL: as its parent */
    str agent, profile;           /* the profile is a wish: the agent's own comes first */
    struct run_new run;
};

/* A start makes the session, or takes one that is there and has had no turn; a resume goes on with
 * one that has had some. CONFLICT when it is the other way round, or when a person runs it; else as
 * session_create, session_get and run_create. The session is as it is then. */
err run_request(struct tx *tx, const struct run_request *q, struct session *s, struct run *out);

/* ---- run_queue.c: claims ---- */

/* What a runner holds. `known` is an array of ids that it has heard of (NULL: none): runs that it
 * is about to start, or to stop. It is not told of them again. */
struct run_held {
    int64_t count;   /* claimed, running or stopping */
    str again;       /* one that it has claimed and does not know; empty: none */
    const str *stop; /* those that it is to stop and does not know */
    size_t stop_count;
};
err run_held_by(struct tx *tx, const struct runner *r, const struct json *known,
                struct run_held *out);

/* A runner's way through the queue, in several steps. Once around there is nothing for it that it has
 * not seen, until something is enqueued. */
struct run_tour {
    str began; /* where r->claim_cursor was then */
    bool over; /* it has come around */
};

/* Takes the run that is next for a runner: what it has claimed and not started comes first, again,
 * under a new fence; else the highest priority and then the oldest of what fits. out->id is empty
 * when there is none, or when the runner has as many as it can take. `token` is the session's,
 * minted for this run; a command has none, and it is empty. Emits run_claimed.
 *
 * Of very many different demands it looks at some, and the next time at others, from r->claim_cursor on:
 * the order is that of the ones it has looked at, and each gets its turn. */
err run_claim(struct tx *tx, struct runner *r, const struct run_held *held, struct run_tour *tour,
              struct run *out, str *token);

/* Whether an event may be what a claim of this runner waits for. */
bool run_wakes(const struct runner *r, const struct event *e);

/* ---- run_report.c: what runners say ---- */

/* Checks runner and fence. CONFLICT when it is not theirs (any more). `late`: the run went back to
 * the queue, and nobody has claimed it since; only its end may be reported. */
err run_holder(struct tx *tx, str run_id, const struct runner *by, int64_t fence, struct run *out,
               bool *late);

/* The agent is there. Repeating it changes nothing. Emits run_started. */
err run_started(struct tx *tx, struct run *r, str work_dir);

/* A sign of life: the lease begins anew. A run that has ended stays so. */
err run_renew(struct tx *tx, struct run *r);

/* The same for a run that a runner names without a fence: one that it does not hold stays as is. */
err run_renew_held(struct tx *tx, const struct runner *by, str run_id);

/* What its agent was heard of meanwhile: what the client calls the conversation, and a few words.
 * Either may be empty. */
err run_note_activity(struct tx *tx, const struct run *r, str client_id, str words);

/* The same end reported again changes nothing; another is CONFLICT. */
err run_report_end(struct tx *tx, struct run *r, enum run_status end,
                   const struct run_facts *facts);

#define RUN_TAIL_BYTES 2000 /* of what an agent wrote to stderr, in the error of its run */

/* ---- what becomes due ---- */

due_run run_due_ready, /* not_before has come */
    run_due_match,     /* nobody could take it for so long */
    run_due_lease,     /* its runner was not heard */
    run_due_time,      /* it takes longer than it may, and its runner does not say so */
    run_due_stop;      /* it was asked to stop, and nobody says that it did */

/* After all servers were away: every live lease gets a full new term. */
err run_renew_all(struct tx *tx);

#endif
