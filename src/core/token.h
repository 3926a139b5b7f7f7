/* token.h: who may come in, and as whom.
 *
 * A token is an id, a dot and a secret: "op_abc.XYZ". Only the SHA-256 of the
 * whole is stored, so that the database tells nobody how to come in. What is
 * revoked or expired is as unknown as what never was. */
#ifndef CORE_TOKEN_H
#define CORE_TOKEN_H

#include "core/tx.h"
#include "json/json.h"

struct token {
    str id;
    enum actor_kind kind;
    str name;       /* as history shows its actor */
    str hash;       /* SHA-256 of the whole token, in hex */
    str scope;      /* printed JSON object: session_id, run_id, state_id, pointers, reads,
                       jobs */
    str session_id; /* of the scope; empty where it ends with a run */
    int64_t created_at_ms, expires_at_ms, revoked_at_ms; /* 0: never */
};

/* The table `token`: see columns.h. */
// clang-format off
#define TOKEN_COLUMNS(X, t)                           \
    X(token_id,   TEXT,     INSERT, t->id)            \
    X(kind,       INT,      INSERT, t->kind)          \
    X(name,       TEXT,     INSERT, t->name)          \
    X(hash,       TEXT,     INSERT, t->hash)          \
    X(scope,      JSON,     INSERT, t->scope)         \
    X(session_id, TEXT,     INSERT, t->session_id)    \
    X(created_at, TIME,     INSERT, t->created_at_ms) \
    X(expires_at, DEADLINE, INSERT, t->expires_at_ms) \
    X(revoked_at, TIME,     INSERT, t->revoked_at_ms)
#define TOKEN_NAMES COLUMNS(TOKEN_COLUMNS)
// clang-format on

const char *actor_kind_name(enum actor_kind kind);
bool actor_kind_find(str name, enum actor_kind *out);

/* Mints one. `scope` may be NULL; INVALID when a session's names no session, its pointers are
 * malformed, or it has types of jobs and is no runner's. A session may be called by its name there; one that is not there yet is named by the id
 * that it will have, which is kept for it while the token is good: see session_create. `text` is the
 * token, shown this once. */
err token_create(struct tx *tx, enum actor_kind kind, str name, const struct json *scope,
                 int64_t expires_in_ms, struct token *out, str *text);

/* The actor that a token stands for. UNAUTHENTICATED, whatever the reason. Of a session that is
 * known, the state, its place in the tree and (where the scope has none) the pointers are those of
 * its row; of another, those of the scope, and it is a root. */
err token_actor(struct tx *tx, str text, struct token *token, struct actor *out);

/* A code that whoever shows it first, within a time, gets a token for: an operator's or a viewer's of
 * that name, which is valid for `expires_in_ms`. It is listed and revoked like a token, and is none. */
err token_code(struct tx *tx, enum actor_kind kind, str name, int64_t valid_ms,
               int64_t expires_in_ms, struct token *out, str *text);

/* UNAUTHENTICATED, whatever the reason; a code that was good is used up. */
err token_exchange(struct tx *tx, str code, struct token *out, str *text);

/* Whether a session's token that is good, and not one of a run, stands for that id. */
err token_stands_for(struct tx *tx, str session_id, bool *out);

/* NOT_FOUND; revoking again succeeds. */
err token_revoke(struct tx *tx, str id);

/* All that stand for a session, except those of its runs, which end with them. */
err token_revoke_session(struct tx *tx, str session_id);

/* Has it revoked after a time unless this is called again before: see callback_due_lease. NOT_FOUND
 * when it is not valid any more. */
err token_lease(struct tx *tx, str id, int64_t lease_ms);

/* After all servers were away: every such time begins anew. */
err token_lease_all(struct tx *tx);

/* Whether a token is valid; the session that it stands for, empty for others and when it is forgotten;
 * and how many more valid ones stand for that. */
err token_holder(struct tx *tx, str id, bool *valid, str *session_id, int64_t *others);

/* Drops those that were revoked or have expired before a time, so many at most; and says how many. */
err token_forget(struct tx *tx, int64_t before_ms, int64_t limit, int64_t *count);

/* By id, after one, revoked and expired ones included as long as they are kept. */
err token_list(struct tx *tx, str after, int64_t limit, const struct token **out, size_t *count);

/* ---- reach ---- */

/* Whether a state is there for an actor, to write to it too, as far as else allowed. A session without
 * one sees none, nor does a runner. */
bool actor_sees(const struct actor *a, str state_id);

/* Whether an actor may read a state: what it sees, and what its token names beside that. */
bool actor_reads(const struct actor *a, str state_id);

/* Whether a pointer lies at or below one that the actor may write. */
bool actor_may_write(const struct actor *a, str pointer);

/* Whether an actor may have jobs of a type: the operator of any, a worker of those that its token names,
 * where a name that ends in * stands for all that begin so. Nobody else has jobs. */
bool actor_works(const struct actor *a, str type);

/* INVALID unless it is NULL or an array of JSON Pointers. */
err pointers_check(struct tx *tx, const struct json *pointers);

/* The pointers of a printed array. */
err pointers_read(struct tx *tx, str session_id, str printed, const str **out, size_t *count);

#endif
