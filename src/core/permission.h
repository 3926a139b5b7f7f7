/* permission.h: tools that an agent may use when a person has said so.
 *
 * An agent that nobody sits in front of asks before it uses a tool that its role lists. The
 * question is a row that outlives its run: the run ends, the session waits, and when the operator
 * has decided, the session is resumed and asks again, and then it is answered. A decision is for
 * one call: the same tool with the same input. What nobody decides in time is refused.
 *
 * Does not know which tools a role lists, nor how a client asks. */
#ifndef CORE_PERMISSION_H
#define CORE_PERMISSION_H

#include "core/run.h"

struct permission {
    str id, session_id, session_name;
    str client, tool;
    str digest; /* of the whole input */
    str input;  /* printed JSON, as much of it as a person needs */
    enum permission_status status;
    str reason, decided_by; /* of a decision */
    str used_by;            /* the call that it has allowed; empty: none yet */
    int64_t seq, created_at_ms, decided_at_ms;
};

/* The table `permission`: see columns.h. */
// clang-format off
#define PERMISSION_COLUMNS(X, p)                     \
    X(permission_id, TEXT, INSERT, p->id)            \
    X(session_id,    TEXT, INSERT, p->session_id)    \
    X(session_name,  TEXT, INSERT, p->session_name)  \
    X(client,        TEXT, INSERT, p->client)        \
    X(tool,          TEXT, INSERT, p->tool)          \
    X(digest,        TEXT, INSERT, p->digest)        \
    X(input,         JSON, INSERT, p->input)         \
    X(status,        WORD, STORE,  p->status)        \
    X(reason,        TEXT, STORE,  p->reason)        \
    X(decided_by,    TEXT, STORE,  p->decided_by)    \
    X(used_by,       TEXT, STORE,  p->used_by)       \
    X(seq,           INT,  INSERT, p->seq)           \
    X(created_at,    TIME, INSERT, p->created_at_ms) \
    X(decided_at,    TIME, STORE,  p->decided_at_ms)
#define PERMISSION_NAMES COLUMNS(PERMISSION_COLUMNS)
// clang-format on

/* A use of a tool that must be decided. */
struct permission_call {
    str client, tool, input, digest;
    str call_id; /* what the client calls it; empty: nothing */
};

/* What was decided on a call, or that it waits: a new question where none is open. An allowed call
 * uses its decision up, and is answered so again when it comes again. Emits approval_requested. */
err permission_ask(struct tx *tx, const struct session *s, const struct permission_call *call,
                   struct permission *out);

/* Decides a question, and has its session resumed when none of its others waits. Deciding the same
 * again changes nothing; another decision is CONFLICT. Emits approval_resolved. */
err permission_resolve(struct tx *tx, str id, bool allow, str reason, struct permission *out);

struct permission_filter {
    str after, session_id, status; /* empty: any */
    int64_t limit;
};

/* By id. */
err permission_list(struct tx *tx, const struct permission_filter *f, const struct permission **out,
                    size_t *count);

err permission_get(struct tx *tx, str id, struct permission *out);

/* Whether a question of a session waits. */
err permission_waits(struct tx *tx, str session_id, bool *out);

/* A consequence of session_settled: what it has asked for is not wanted any more. */
err permission_after_settled(struct tx *tx, const struct event *e);

due_run permission_due_expire; /* nobody has decided */

#endif
