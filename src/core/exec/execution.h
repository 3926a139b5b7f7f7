/* execution.h: workflows that run.
 *
 * An execution is a graph with marks on it. A mark is where a token of it rests: at work that somebody
 * does, at a join, at a time. What moves between two rests leaves no row. Each command that changes
 * one moves it as far as it goes (mover.c), writes the rows that have changed, renders the document
 * out of them, and emits one event that says what moved.
 *
 * Does not know workers: see job.h. */
#ifndef CORE_EXEC_EXECUTION_H
#define CORE_EXEC_EXECUTION_H

#include "core/due.h"
#include "core/exec/workflow.h"

#define EXECUTION_KEY_MAX 200
#define EXECUTION_VARIABLES_MAX (256u << 10)

struct execution {
    int64_t no; /* the number of its first event: their order, and its key in all tables */
    str id;
    str workflow;
    int64_t version;
    str digest;
    str kind; /* how its definition is written: see graph_kind_names */
    enum execution_status status;
    str reason;            /* why it has failed, was cancelled, or is paused */
    str state_id;          /* its document, which only the engine writes */
    str session_id;        /* that it was started for; empty: none */
    str root_id;           /* the root of that session's tree */
    str workflow_state_id; /* the state that its work is about; empty: none */
    str workspace;         /* document 002's session_name; empty: none */
    str project_dir;       /* where its commands run */
    str business_key;      /* no two open executions of a workflow have the same; empty: none */
    int64_t live;          /* marks outside of loops */
    int64_t next_n;        /* the number of the next mark */
    int64_t gone;          /* marks that were */
    int64_t turn;          /* of the agenda */
    int64_t agenda;        /* marks that have something left to do */
    int64_t spin;          /* moves since anything came from outside */
    int64_t incidents;     /* open ones */
    bool failing;          /* something has failed for good: what runs may finish, nothing starts */
    bool halted;           /* it moved too often by itself, and waits for a person */
    str vars;              /* printed JSON object */
    str result;            /* printed JSON; empty: it has not completed */
    str started_by;
    int64_t created_at_ms, updated_at_ms, ended_at_ms;
};

/* The table `execution`: see columns.h. */
// clang-format off
#define EXECUTION_LISTED(X, e)                                    \
    X(no,                INT,  INSERT, e->no)                     \
    X(execution_id,      TEXT, INSERT, e->id)                     \
    X(workflow,          TEXT, INSERT, e->workflow)               \
    X(version,           INT,  INSERT, e->version)                \
    X(digest,            TEXT, INSERT, e->digest)                 \
    X(kind,              TEXT, INSERT, e->kind)                   \
    X(status,            WORD, INDEX,  e->status)                 \
    X(open,              COMPUTED, INDEX, execution_is_open(e->status)) \
    X(reason,            TEXT, STORE,  e->reason)                 \
    X(state_id,          TEXT, STORE,  e->state_id)               \
    X(session_id,        TEXT, INSERT, e->session_id)             \
    X(root_id,           TEXT, INSERT, e->root_id)                \
    X(workflow_state_id, TEXT, INSERT, e->workflow_state_id)      \
    X(workspace,         TEXT, INSERT, e->workspace)              \
    X(project_dir,       TEXT, INSERT, e->project_dir)            \
    X(business_key,      TEXT, INSERT, e->business_key)           \
    X(live,              INT,  STORE,  e->live)                   \
    X(next_n,            INT,  STORE,  e->next_n)                 \
    X(gone,              INT,  STORE,  e->gone)                   \
    X(turn,              INT,  STORE,  e->turn)                   \
    X(agenda,            INT,  STORE,  e->agenda)                 \
    X(spin,              INT,  STORE,  e->spin)                   \
    X(incidents,         INT,  STORE,  e->incidents)              \
    X(failing,           FLAG, STORE,  e->failing)                \
    X(halted,            FLAG, STORE,  e->halted)                 \
    X(started_by,        TEXT, INSERT, e->started_by)             \
    X(created_at,        TIME, INSERT, e->created_at_ms)          \
    X(updated_at,        TIME, STORE,  e->updated_at_ms)          \
    X(ended_at,          TIME, STORE,  e->ended_at_ms)
#define EXECUTION_LISTED_NAMES COLUMNS(EXECUTION_LISTED)
#define EXECUTION_COLUMNS(X, e) EXECUTION_LISTED(X, e)            \
    X(vars,              JSON,     STORE, e->vars)                \
    X(result,            NULLABLE, STORE, e->result)
#define EXECUTION_NAMES COLUMNS(EXECUTION_COLUMNS)
// clang-format on

/* What a mark is about: where a token rests, an instance of a loop, or the loop as a whole. */
struct mark {
    int64_t no, scope, n; /* scope: the mark of its loop; 0: none */
    str node, via;        /* by their ids: a later compiler may number otherwise */
    enum mark_status status;
    enum mark_status again;             /* of an incident, or held: what it goes on with */
    int64_t todo;                       /* its turn on the agenda; 0: it rests */
    int64_t total, started, done, live; /* of a loop: instances in all, begun, done, at work */
    int64_t item;                       /* of an instance: its index from 0; else −1 */
    int64_t attempt;                    /* of its work, from 1 */
    int64_t fence;                      /* of that attempt: no other of this execution has it */
    int64_t spared; /* of its attempts, those that do not count: lost, or before a person helped */
    int64_t lost;   /* workers that were lost */
    str ref;        /* the run that does its work, or checks it; empty: none */
    str job_type;   /* of a job; empty: it is none */
    int64_t job_place; /* in the queue of its type; 0: it is not in it; below: it is paused */
    str worker, claim; /* who has it, and by which claim */
    int64_t lease_until_ms;
    int64_t timer_ms; /* when its attempt has taken too long, or the next one begins; 0: no time */
    int64_t since_ms; /* it rests so */
    str vars; /* of a loop: its items; of what is done and yet to be proven, or an instance: its result */

    /* of a command that moves it */
    uint16_t at, by; /* node and via, in the graph */
    bool stored, changed, dead;
    const struct json *items;    /* of a loop: parsed */
    struct mark *next, *follows; /* all that are known; on the agenda */
};

/* The table `mark`: see columns.h. */
// clang-format off
#define MARK_COLUMNS(X, m)                          \
    X(no,          INT,      INSERT, m->no)         \
    X(scope,       INT,      INSERT, m->scope)      \
    X(n,           INT,      INSERT, m->n)          \
    X(node,        TEXT,     STORE,  m->node)       \
    X(via,         TEXT,     STORE,  m->via)        \
    X(status,      WORD,     STORE,  m->status)     \
    X(again,       WORD,     STORE,  m->again)      \
    X(todo,        INT,      STORE,  m->todo)       \
    X(total,       INT,      STORE,  m->total)      \
    X(started,     INT,      STORE,  m->started)    \
    X(done,        INT,      STORE,  m->done)       \
    X(live,        INT,      STORE,  m->live)       \
    X(item,        INT,      INSERT, m->item)       \
    X(attempt,     INT,      STORE,  m->attempt)    \
    X(fence,       INT,      STORE,  m->fence)      \
    X(spared,      INT,      STORE,  m->spared)     \
    X(lost,        INT,      STORE,  m->lost)       \
    X(ref,         TEXT,     STORE,  m->ref)        \
    X(job_type,    TEXT,     STORE,  m->job_type)   \
    X(job_place,   INT,      STORE,  m->job_place)  \
    X(worker,      TEXT,     STORE,  m->worker)     \
    X(claim,       TEXT,     STORE,  m->claim)      \
    X(lease_until, DEADLINE, STORE,  m->lease_until_ms) \
    X(timer,       DEADLINE, STORE,  m->timer_ms)   \
    X(since,       TIME,     STORE,  m->since_ms)   \
    X(vars,        NULLABLE, STORE,  m->vars)
#define MARK_NAMES COLUMNS(MARK_COLUMNS)
// clang-format on

/* What became of a step; one that has not been reached has no row. */
struct step {
    int64_t no;
    str node;
    enum step_status status;
    int64_t attempt; /* the highest, of all that were at it */
    int64_t before;  /* attempts that count, before it was done anew: theirs go on from there */
    int64_t opened;  /* how often it was begun anew */
    int64_t started_at_ms, ended_at_ms;
    str data; /* printed JSON object: outputs, error, evidence, approval, history */

    bool stored, changed;
};

/* The table `step`: see columns.h. */
// clang-format off
#define STEP_COLUMNS(X, s)                           \
    X(no,         INT,  INSERT, s->no)               \
    X(node,       TEXT, INSERT, s->node)             \
    X(status,     WORD, STORE,  s->status)           \
    X(attempt,    INT,  STORE,  s->attempt)          \
    X(before,     INT,  STORE,  s->before)           \
    X(opened,     INT,  STORE,  s->opened)           \
    X(started_at, TIME, STORE,  s->started_at_ms)    \
    X(ended_at,   TIME, STORE,  s->ended_at_ms)      \
    X(data,       JSON, STORE,  s->data)
#define STEP_NAMES COLUMNS(STEP_COLUMNS)
// clang-format on

/* ---- coming ---- */

struct execution_new {
    str workflow;
    int64_t version;          /* 0: the newest */
    const struct json *input; /* an object; NULL: {} */
    str business_key, workspace, project_dir;
    str session;           /* that it is for, by id or name; empty: the actor's own, if it is one */
    str workflow_state_id; /* by id or name */
};

/* UNFIT when the input does not fit the definition's schema; CONFLICT for a business key that an open
 * execution of this workflow has. */
err execution_start(struct tx *tx, const struct execution_new *n, struct execution *out);

/* ---- looking ---- */

/* By id; NOT_FOUND when it is out of the actor's reach: a session sees those of its tree. */
err execution_get(struct tx *tx, str id, struct execution *out);

struct execution_filter {
    str workflow, session, workspace, business_key;
    str status;     /* a word, "open", or empty: all */
    int64_t before; /* a number; 0: from the newest on */
    int64_t limit;
};
/* The newest first, without variables and result. */
err execution_list(struct tx *tx, const struct execution_filter *f, const struct execution **out,
                   size_t *count);

/* Rows of its steps, and its marks in their order, at most so many. */
err execution_steps(struct tx *tx, const struct execution *e, struct step **out, size_t *count);
err execution_marks(struct tx *tx, const struct execution *e, int64_t limit, struct mark **out,
                    size_t *count);

/* ---- changing ---- */

/* Nothing new is begun until it is resumed; reports are taken. Doing so again changes nothing; CONFLICT
 * when it has ended. */
err execution_pause(struct tx *tx, str id, str reason, struct execution *out);

/* Goes on: a paused one as it was; or, with a step, from that step: it and all after it are done
 * anew, also when the execution had failed or was cancelled. */
err execution_resume(struct tx *tx, str id, str step, struct execution *out);

err execution_cancel(struct tx *tx, str id, str reason, struct execution *out);

/* Sets variables, by a person. */
err execution_set(struct tx *tx, str id, const struct json *variables, struct execution *out);

/* An ended one goes, with its document. CONFLICT while it is open. */
err execution_delete(struct tx *tx, str id);

/* What somebody says of a step that is done by report. */
struct execution_report {
    str step;
    int64_t item;    /* of a loop, from 0; −1: none */
    int64_t attempt; /* that it is of; 0: the present one */
    int64_t n;       /* of its token, where several are at the step; 0: the lowest */
    bool failed;
    str error;                  /* why it has failed */
    const struct json *outputs; /* an object; NULL: {} */
};
/* CONFLICT when the step is not at work, or is not done by report. */
err execution_report(struct tx *tx, str id, const struct execution_report *r,
                     struct execution *out);

/* ---- what becomes due ---- */

due_run execution_due_go, /* the agenda goes on */
    execution_due_mark,   /* an attempt has taken too long, or the next one begins */
    execution_due_retain; /* an ended one is deleted */

/* ---- consequences: see consequence.h ---- */

err execution_after_run(struct tx *tx, const struct event *e); /* run_finished: of a command */

#endif
