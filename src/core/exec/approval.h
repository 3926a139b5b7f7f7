/* approval.h: what only a person decides.
 *
 * A step whose definition wants an approval is not completed by its result: a row asks for it, with what
 * there is to judge and the digest of that. It is decided once, by an operator's token whatever carries
 * it, or, where the definition says `attended`, by a person through their agent's client. What is decided
 * holds for what was shown: when that changes, it is asked anew and the old question is withdrawn. */
#ifndef CORE_EXEC_APPROVAL_H
#define CORE_EXEC_APPROVAL_H

#include "core/exec/execution.h"

struct approval {
    str id;
    int64_t no, scope, n; /* the mark that waits for it */
    str execution_id, workflow;
    str node, title; /* the step: its id, and how people call it */
    str kind;        /* "approve", "select_variant" */
    str content;     /* what is to be judged, a printed JSON object */
    str digest;      /* of that */
    str options; /* printed JSON array of the variants there are to choose from; "[]": it does not say */
    str on_reject; /* the step that is done anew then; empty: the execution fails */
    bool attended; /* its person may answer through their agent's client */
    str fallback; /* what holds when nobody decides in time: "approve", "reject", or empty: it waits on */
    int64_t deadline_ms;     /* 0: none */
    str session_id, root_id; /* the execution's */
    enum approval_status status;
    str decision;   /* printed JSON object: reason, selected_variant, modifications, step; "{}" */
    str decided_by; /* the name of a token; "system" when its time was over */
    str channel;    /* by which way: "http", "cli", "mcp", "elicitation", "page"; "deadline" */
    int64_t created_at_ms, decided_at_ms;
};

/* The table `approval`: see columns.h. */
// clang-format off
#define APPROVAL_COLUMNS(X, p)                          \
    X(approval_id,  TEXT,     INSERT, p->id)            \
    X(no,           INT,      INSERT, p->no)            \
    X(scope,        INT,      INSERT, p->scope)         \
    X(n,            INT,      INSERT, p->n)             \
    X(execution_id, TEXT,     INSERT, p->execution_id)  \
    X(workflow,     TEXT,     INSERT, p->workflow)      \
    X(node,         TEXT,     INSERT, p->node)          \
    X(title,        TEXT,     INSERT, p->title)         \
    X(kind,         TEXT,     INSERT, p->kind)          \
    X(content,      JSON,     INSERT, p->content)       \
    X(digest,       TEXT,     INSERT, p->digest)        \
    X(options,      JSON,     INSERT, p->options)       \
    X(on_reject,    TEXT,     INSERT, p->on_reject)     \
    X(attended,     FLAG,     INSERT, p->attended)      \
    X(fallback,     TEXT,     INSERT, p->fallback)      \
    X(deadline,     DEADLINE, STORE,  p->deadline_ms)   \
    X(session_id,   TEXT,     INSERT, p->session_id)    \
    X(root_id,      TEXT,     INSERT, p->root_id)       \
    X(status,       WORD,     STORE,  p->status)        \
    X(decision,     JSON,     STORE,  p->decision)      \
    X(decided_by,   TEXT,     STORE,  p->decided_by)    \
    X(channel,      TEXT,     STORE,  p->channel)       \
    X(created_at,   TIME,     INSERT, p->created_at_ms) \
    X(decided_at,   TIME,     STORE,  p->decided_at_ms)
#define APPROVAL_NAMES COLUMNS(APPROVAL_COLUMNS)
// clang-format on

/* By id. A session sees those of its tree; NOT_FOUND for others. */
err approval_get(struct tx *tx, str id, struct approval *out);

struct approval_filter {
    str after;        /* an id */
    str execution_id; /* empty: any */
    str status;       /* a word; empty: any */
    int64_t limit;
};
err approval_list(struct tx *tx, const struct approval_filter *f, const struct approval **out,
                  size_t *count);

/* The one that waits at a step of an execution; `found` is false when there is none. */
err approval_at(struct tx *tx, const struct execution *e, str step, struct approval *out,
                bool *found);

struct approval_decision {
    enum approval_status status; /* APPROVED, REJECTED or REWORK */
    str step;                    /* of rework: the step that is done anew; empty: this one */
    str reason, selected_variant;
    const struct json *modifications; /* an object; NULL: none */
    str digest;                       /* of what was seen; empty: whatever there is */
    str channel;
    bool by_person; /* elicited: the actor is a session whose definition lets its person answer */
};

/* Decides it, and the execution goes on in the same command. Deciding the same again changes nothing;
 * CONFLICT for another decision, when it was withdrawn, or when another content was seen; FORBIDDEN for a
 * session, saying who decides and where. Emits approval_resolved. */
err approval_decide(struct tx *tx, str id, const struct approval_decision *d, struct approval *out,
                    struct execution *e);

/* Whether what comes after it may begin: a person has approved, or the definition does when nobody has
 * decided in time. */
bool approval_lets_pass(const struct approval *p);

/* By what a variant is chosen: a text, a number as it is written, or an object's id, variant or name;
 * empty: it cannot be named. */
str approval_option_name(struct arena *a, const struct json *option);

/* How long people were waited for, in all, until now. */
err approval_waited(struct tx *tx, const struct execution *e, int64_t *ms);

due_run approval_due_expire; /* nobody has decided: what the definition says of that holds */

#endif
