/* session.h: agents' conversations, and the tree that they are.
 *
 * A session has a name, a parent unless it is a root, and shares the state of its
 * root. It works in cycles: somebody asks it for something, it takes one or more
 * turns (runs), its result is recorded, and it settles; being asked again opens the
 * next cycle. What a turn is, run.h says; when a cycle settles, callback.h does.
 *
 * A session's token reaches its own session and those below it. Everything else is
 * not there for it. */
#ifndef CORE_SESSION_H
#define CORE_SESSION_H

#include "core/event.h"
#include "core/state.h"
#include "core/team.h"
#include "json/json.h"

struct usage {
    int64_t tokens_in, tokens_out, tokens_cached;
    int64_t cost; /* in millionths of a dollar */
    str models;   /* the same by model, as a printed JSON object; empty: nobody said */
};

/* Which of them a client counts from the start of its conversation, so that what it says of a later
 * turn has all that it said before in it. */
struct usage_whole {
    bool tokens_in, tokens_out, tokens_cached, cost, models;
};

struct session {
    str id, name;
    str parent_id, root_id; /* a root has no parent and is its own root */
    str parent_name;
    int64_t depth; /* of a root: 1 */
    str agent, profile, project_dir;
    str role; /* its agent, where that was given by one who may; empty: it owns nothing by it */
    bool id_given; /* by the operator or by us: one that another session chose owns nothing */
    enum session_status status;
    str state_id;    /* empty: its tree has none */
    str pointers;    /* printed JSON array of where it may write; empty: everywhere */
    bool attended;   /* somebody outside started it: it is never resumed from here */
    bool calls_back; /* its parent is told when this cycle settles */
    bool settled;
    int64_t cycle; /* 1, 2 … */
    enum update_status update;
    int64_t update_attempts; /* prompts that it got in this cycle */
    int64_t wrote_version;   /* of its state, by itself since it was asked for something; 0: none.
                              * Of one that works for a step: 1 when it has recorded its result */
    int64_t seen_version;    /* of its state when its last turn ended */
    str run_id;              /* its live run that may be claimed or is; empty: it is not busy */
    str client_id;           /* what its client calls the conversation */
    str hostname;            /* where its client keeps it: turns after the first go there */
    str user, work_dir;      /* and as whom, and in which folder; empty: not known */
    str git;                 /* what its runner saw in its directory after its last turn; JSON */
    str result_run;          /* the run whose result is the session's */
    str error;               /* why it failed or stopped */
    struct usage usage;
    str last_event; /* the last sign of life, in a few words */
    int64_t last_event_at_ms;
    str notice;              /* what is in its way, as its client says: a rate limit */
    int64_t notice_until_ms; /* when that will be over; 0: nobody said */
    int64_t created_at_ms, updated_at_ms, ended_at_ms;
    str project;  /* of a root: the project that it is a member of, or works for; empty: none */
    str worktree; /* the top of the working tree that its client is in; empty: nobody said */
    bool wakes;   /* its idle client may be woken */
    bool silent;  /* a member of which there was no sign for long */
    str task;     /* the step that it works for, printed JSON: see exec/share.h; empty: none */
};

/* The table `session`: see columns.h. */
// clang-format off
#define SESSION_COLUMNS(X, s)                                        \
    X(session_id,      TEXT,     INSERT, s->id)                      \
    X(name,            TEXT,     INSERT, s->name)                    \
    X(parent_id,       TEXT,     INSERT, s->parent_id)               \
    X(root_id,         TEXT,     INSERT, s->root_id)                 \
    X(depth,           INT,      INSERT, s->depth)                   \
    X(agent,           TEXT,     INDEX,  s->agent)                   \
    X(profile,         TEXT,     INDEX,  s->profile)                 \
    X(project_dir,     TEXT,     STORE,  s->project_dir)             \
    X(status,          WORD,     INDEX,  s->status)                  \
    X(live,            COMPUTED, INDEX,  session_is_live(s->status)) \
    X(state_id,        TEXT,     INDEX,  s->state_id)                \
    X(pointers,        JSON,     STORE,  s->pointers)                \
    X(attended,        FLAG,     STORE,  s->attended)                \
    X(calls_back,      FLAG,     STORE,  s->calls_back)              \
    X(settled,         FLAG,     INDEX,  s->settled)                 \
    X(cycle,           INT,      STORE,  s->cycle)                   \
    X(update_status,   WORD,     STORE,  s->update)                  \
    X(update_attempts, INT,      STORE,  s->update_attempts)         \
    X(wrote_version,   INT,      STORE,  s->wrote_version)           \
    X(seen_version,    INT,      STORE,  s->seen_version)            \
    X(run_id,          TEXT,     STORE,  s->run_id)                  \
    X(client_id,       TEXT,     STORE,  s->client_id)               \
    X(hostname,        TEXT,     STORE,  s->hostname)                \
    X(git,             JSON,     STORE,  s->git)                     \
    X(result_run,      TEXT,     STORE,  s->result_run)              \
    X(error,           TEXT,     STORE,  s->error)                   \
    X(tokens_in,       INT,      STORE,  s->usage.tokens_in)         \
    X(tokens_out,      INT,      STORE,  s->usage.tokens_out)        \
    X(tokens_cached,   INT,      STORE,  s->usage.tokens_cached)     \
    X(cost,            INT,      STORE,  s->usage.cost)              \
    X(usage_models,    JSON,     STORE,  s->usage.models)            \
    X(last_event,      TEXT,     STORE,  s->last_event)              \
    X(last_event_at,   TIME,     STORE,  s->last_event_at_ms)        \
    X(created_at,      TIME,     INSERT, s->created_at_ms)           \
    X(updated_at,      TIME,     STORE,  s->updated_at_ms)           \
    X(ended_at,        TIME,     STORE,  s->ended_at_ms)             \
    X(notice,          TEXT,     STORE,  s->notice)                  \
    X(notice_until,    DEADLINE, STORE,  s->notice_until_ms)         \
    X(role,            TEXT,     STORE,  s->role)                    \
    X(id_given,        FLAG,     INSERT, s->id_given)                \
    X(work_user,       TEXT,     INSERT, s->user)                    \
    X(work_dir,        TEXT,     INSERT, s->work_dir)                \
    X(project,         TEXT,     INDEX,  s->project)                 \
    X(worktree,        TEXT,     STORE,  s->worktree)                \
    X(wake,            FLAG,     STORE,  s->wakes)                   \
    X(silent,          FLAG,     STORE,  s->silent)                  \
    X(task,            TEXT,     STORE,  s->task)
#define SESSION_NAMES COLUMNS(SESSION_COLUMNS)
// clang-format on

/* ---- session.c: rows ---- */

/* By id or name. NOT_FOUND also when it is outside of the actor's reach. */
err session_get(struct tx *tx, str id_or_name, struct session *out);

/* The same for reading and writing to: a member sees the other members of its project as well. */
err session_see(struct tx *tx, str id_or_name, struct session *out);

/* Those that are live, the actor itself not among them, in the order of their ids, at most `limit`:
 * whose agent this is, among those that it may write to; or a session that it sees, with those below it
 * where it reaches them. */
err session_with_role(struct tx *tx, str agent, int64_t limit, struct session **out, size_t *count);
err session_in_tree(struct tx *tx, const struct session *top, int64_t limit, struct session **out,
                    size_t *count);

/* By id or name, whoever asks; `found` is false, and `out` as it was, when there is none. */
err session_find(struct tx *tx, str id_or_name, struct session *out, bool *found);

/* By id alone, whoever asks: for what stands for a session, since a name is chosen by anybody. */
err session_find_id(struct tx *tx, str id, struct session *out, bool *found);

/* By id, whoever asks: for rules. It is there. */
err session_load(struct tx *tx, str id, struct session *out);

/* Whether the actor reaches it: a session itself and what is below it; others everything, or what
 * shares the one state that they see. */
err session_in_reach(struct tx *tx, const struct session *s, bool *out);

/* Writes all that can change and sets updated_at. Emits nothing. */
err session_store(struct tx *tx, struct session *s);

/* Changes the status (the table in team.h allows it, or it is an assertion), stores, and emits
 * session_updated, with what changed. Staying what it is stores alone. */
err session_become(struct tx *tx, struct session *s, enum session_status status);

struct session_filter {
    str after;                      /* an id */
    str root_id, parent_id, status; /* empty: any */
    int64_t limit;
};

/* By id; only what the actor reaches. */
err session_list(struct tx *tx, const struct session_filter *f, const struct session **out,
                 size_t *count);

/* ---- session_new.c: coming and going ---- */

struct session_new {
    str id; /* the caller's wish; empty: a new one. A session that is not there yet, and whose token
             * it is, is registered by its own id, as a root */
    str name;
    str parent;   /* id or name; empty: a root, or for a session's token, itself */
    str state_id; /* id or name; must be what it inherits, where it inherits one */
    str agent, profile, project_dir;
    const struct json *pointers; /* NULL: its parent's */
    str project;                 /* of a root: that it works for */
    bool attended, calls_back;
};

/* INVALID unless an id is one that a session can have. */
err session_id_check(struct tx *tx, str id);

/* INVALID for a bad name or id; CONFLICT when it is taken, or kept for who has a token for it; LIMIT, naming the limit, when the tree
 * is too deep or too many are live; NOT_FOUND for a parent or a state out of reach; FORBIDDEN when
 * the pointers or the directory are not within the parent's. Emits session_created. */
err session_create(struct tx *tx, const struct session_new *n, struct session *out);

/* The role that comes with an agent which the actor gives to a session: the agent itself when the
 * operator does, or a session that the agent's entry lets start it; else none. */
err session_role(struct tx *tx, str agent, str *out);

/* Opens the next cycle of a settled session; does nothing to one that is not settled. */
err session_reopen(struct tx *tx, struct session *s, bool calls_back);

/* A turn of work owes an update of its own, whatever was recorded before it: also after its
 * children. Who was asked already stays asked, but is counted anew. */
err session_begin_work(struct tx *tx, struct session *s);

/* Takes it and all below it away, with their runs; CONFLICT while any of them is live. Of its
 * state, the root's end is also the state's end where `with_state`. Callbacks to them are dropped;
 * those from them that wait are told. Emits session_deleted for each. */
err session_delete(struct tx *tx, struct session *s, bool with_state);

/* How many children of it have not settled and will call back. */
err session_awaited(struct tx *tx, str id, int64_t *count);

/* Whether it owes a record before its end counts: of the step that it works for, and only that; else of
 * its parent's work an update of their state. */
static inline bool session_owes(const struct session *s)
{
    return s->task.len || (s->parent_id.len && s->state_id.len);
}

/* Whether its client has said that it may go on later: a limit of a rate. */
bool session_is_limited(const struct session *s);

/* Whether somebody started it in a project's folder: see member.h. */
static inline bool session_is_member(const struct session *s)
{
    return s->attended && s->project.len && !s->parent_id.len;
}

/* ---- session_state.c: the state that a tree shares ---- */

/* Gives the tree of a root a state that it does not own, in place of one that it does not own either:
 * its project's, or one that whoever runs it has named. */
err session_state_select(struct tx *tx, str root_id, str state_id);

/* Whether the state that a tree has is its root's own; false also when it has none. */
err session_state_owned(struct tx *tx, const struct session *root, bool *out);

/* Makes a state for whoever asks. A session's belongs to its tree: FORBIDDEN unless it is the root,
 * CONFLICT when the tree has one already. Another actor names a root, by id or name, or nobody; a
 * session that is not known (yet) is kept as a label. All of the tree is bound to it. */
err session_state_create(struct tx *tx, const struct schema_version *schema,
                         const struct json *data, str root_session, struct state *out);

/* Gives a new root the state that it asks for: NOT_FOUND when it is not there, CONFLICT when it is
 * another session's. The state is the root's from now on. */
err session_state_attach(struct tx *tx, const struct session *root, str state_id);

/* Deletes a state, whatever has it: its tree has none any more, which session_bound tells. CONFLICT
 * while one of them is live. */
err session_state_delete(struct tx *tx, str state_id, int64_t expected);

/* ---- session_event.c: what agents and hooks tell of themselves ---- */

struct session_event {
    str session_id;
    int64_t number; /* of the session's: 1, 2 … */
    str type;       /* session_start, pre_tool, post_tool, message, session_stop … */
    int64_t at_ms;
    str data; /* printed JSON */
};

/* The table `session_event`: see columns.h. */
// clang-format off
#define SESSION_EVENT_COLUMNS(X, e)            \
    X(session_id, TEXT, INSERT, e->session_id) \
    X(number,     INT,  INSERT, e->number)     \
    X(type,       TEXT, INSERT, e->type)       \
    X(at,         TIME, INSERT, e->at_ms)      \
    X(data,       JSON, INSERT, e->data)
#define SESSION_EVENT_NAMES COLUMNS(SESSION_EVENT_COLUMNS)
// clang-format on

/* Appends one, forgets the oldest beyond the limit, and notes that the session was heard, and that
 * nothing is in its way (any more). Not an event of the log: they are many, and nobody replays
 * them. */
err session_event_note(struct tx *tx, struct session *s, str type, str data, int64_t *number);

/* The same. An attended session that says anything but that it stops is at work: it becomes
 * running, in a new cycle when it had settled. */
err session_event_add(struct tx *tx, struct session *s, str type, str data, int64_t *number);

/* After a number, in order. */
err session_event_list(struct tx *tx, str session_id, int64_t after, int64_t limit,
                       const struct session_event **out, size_t *count);

#endif
