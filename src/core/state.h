/* state.h: versioned documents, each bound to one version of a schema.
 *
 * Every write makes the next version and one row of the log, which holds the
 * patch from the version before. Any version can be had again: from the nearest
 * whole body before it, by replaying patches. Does not know sessions: who wrote
 * is whatever the actor says. What is outside of an actor's reach is not there
 * for it, here and in all that follows. */
#ifndef CORE_STATE_H
#define CORE_STATE_H

#include "core/event.h"
#include "core/schema.h"

#define STATE_BYTES_MAX (1u << 20)
#define STATE_NAME_MAX 100
#define STATE_OPERATIONS_MAX 1000                  /* of one patch */
#define STATE_COPY_BYTES_MAX (2 * STATE_BYTES_MAX) /* by all of its copies together */

struct state {
    str id;
    str name; /* that the operator gave it; empty: none */
    str schema_id, schema_name;
    str schema_description; /* in lists alone */
    int64_t schema_version;
    str root_session, root_name; /* the session that it belongs to; empty: the operator's */
    int64_t version;
    int64_t last_seq, snap_seq, snap_version, patch_bytes;
    int64_t created_at_ms, updated_at_ms;
    bool unchanged; /* of what a write gives: all was so already, and there is no new version */
    str body;       /* printed; empty in lists */
};

/* The table `state`, see columns.h: what lists have of it, and all. */
// clang-format off
#define STATE_LISTED(X, s)                             \
    X(state_id,       TEXT, INSERT, s->id)             \
    X(schema_id,      TEXT, INSERT, s->schema_id)      \
    X(schema_name,    TEXT, INSERT, s->schema_name)    \
    X(schema_version, INT,  INSERT, s->schema_version) \
    X(root_session,   TEXT, INSERT, s->root_session)   \
    X(version,        INT,  INSERT, s->version)        \
    X(last_seq,       INT,  INSERT, s->last_seq)       \
    X(snap_seq,       INT,  INSERT, s->snap_seq)       \
    X(snap_version,   INT,  INSERT, s->snap_version)   \
    X(patch_bytes,    INT,  INSERT, s->patch_bytes)    \
    X(created_at,     TIME, INSERT, s->created_at_ms)  \
    X(updated_at,     TIME, INSERT, s->updated_at_ms)  \
    X(name,           TEXT, INSERT, s->name)
#define STATE_LISTED_NAMES COLUMNS(STATE_LISTED)
#define STATE_COLUMNS(X, s) STATE_LISTED(X, s) X(body, TEXT, INSERT, s->body)
// clang-format on

/* ---- state.c ---- */

/* Whether a text is an id, or could be a name, which never looks like one. */
bool state_is_id(str text);
bool state_is_name(str text);

/* What was given as a state becomes its id, where it is the name of one; else it stays as it is. A
 * name is good for one moment, since another state may have it later: only ids are kept. */
err state_resolve(struct tx *tx, str *id_or_name);

/* By id or name: NOT_FOUND when it is out of the actor's reach. */
err state_get(struct tx *tx, str id_or_name, struct state *out);
err state_head(struct tx *tx, str id_or_name, struct state *out); /* without its body */

/* The same for a write: FORBIDDEN when the actor may only read it. */
err state_get_to_write(struct tx *tx, str id_or_name, struct state *out);

/* The same for several to have as theirs: FORBIDDEN for the document of an execution, which none of them
 * could write, and which goes with that. */
err state_get_to_share(struct tx *tx, str id_or_name, struct state *out);

/* By id, as the server itself sees it. */
err state_load(struct tx *tx, str id, struct state *out);

/* Reads these into tx->ahead. They live in the arena of tx. */
err state_read_ahead(struct tx *tx, const str *ids, size_t count);

/* For writes: what is there from now on; NULL: nothing. */
void state_remember(struct tx *tx, str id, const struct state *now);

struct state_filter {
    str after; /* an id */
    str root_session, schema_name;
    bool active; /* only those whose root session is live */
    int64_t limit;
};

/* By id, without their bodies. */
err state_list(struct tx *tx, const struct state_filter *f, const struct state **out,
               size_t *count);

/* ---- state_write.c ---- */

/* UNFIT when the data does not fit, with the violations; TOO_LARGE; INVALID when it is too deep.
 * Whose it may be, session_state_create says. */
err state_create(struct tx *tx, const struct schema_version *schema, const struct json *data,
                 str root_session, struct state *out);

/* Gives a state a name, or (empty) takes it away; that is a version, too, whose document is that of
 * the one before. INVALID when it is no name, CONFLICT when another state has it. */
err state_rename(struct tx *tx, str id_or_name, str name, struct state *out);

/* The same for one that this command has just created: no version of its own. */
err state_name_new(struct tx *tx, struct state *s, str name);

/* Values that others have written and a new document has not any more, or otherwise. */
#define STATE_DROPPED_SHOWN 20
struct state_dropped {
    str pointers[STATE_DROPPED_SHOWN]; /* the first of them */
    size_t count;                      /* of all; what was below them is not counted */
};

/* Writes: each makes the next version; one that is refused, or after which the document would be
 * what it is (`unchanged`), makes none. `expected` is the version that must be current, 0 for any;
 * CONFLICT, with current_version among its members, when another one is.
 * FORBIDDEN when the change reaches what the actor may not write. `base` is the version that the new
 * document was made from, 0: not said; INVALID when there is no such version yet. `dropped` may be NULL. */
err state_replace(struct tx *tx, str id, const struct json *data, int64_t expected, int64_t base,
                  struct state *out, struct state_dropped *dropped);
err state_patch(struct tx *tx, str id, const struct json *operations, int64_t expected,
                struct state *out);
err state_merge(struct tx *tx, str id, const struct json *patch, int64_t expected,
                struct state *out);

/* Makes a version of what a write has just left unchanged: somebody says on purpose that it stays as
 * it is. Its patch is empty, and no other update's is. */
err state_touch(struct tx *tx, struct state *s);

/* A new version with the content of an older one. */
err state_rollback(struct tx *tx, str id, int64_t version, int64_t expected, struct state *out);

/* What a state is to become: another version of its schema, after operations (NULL: none). */
struct state_migration {
    int64_t schema_version, expected;
    const struct json *operations;
};

/* Binds it to another version of its schema. */
err state_migrate(struct tx *tx, str id, const struct state_migration *m, struct state *out);

/* The same without writing: the state as it is, the document that it would hold, and why that
 * cannot be; NULL: it can. */
struct state_trial {
    struct state state;
    struct json doc;
    err unfit;
};
err state_migrate_try(struct tx *tx, str id, const struct state_migration *m,
                      struct state_trial *out);

err state_delete(struct tx *tx, str id, int64_t expected);

/* The document of an execution becomes this; only its moves call this, and what else would write to
 * it is FORBIDDEN. The same again makes no version. And it goes, with its execution. */
err state_render_new(struct tx *tx, const struct schema_version *schema,
                     const struct json *document, struct state *out);
err state_render(struct tx *tx, str id, const struct json *document, struct state *out);
err state_forget(struct tx *tx, str id);

/* ---- state_dropped.c ---- */

/* What is taken from others when a document becomes another one: what they wrote since `base` (0: since
 * the actor's own last write), and is not so any more. The state is as it was before. */
err state_dropped_find(struct tx *tx, const struct state *s, const struct json *old,
                       const struct json *new, int64_t base, struct state_dropped *out);

/* ---- state_history.c ---- */

/* A row of its history, which must be there; and the one before a row, NULL when there is none.
 * Damage when what is found is not of it, or does not lead back. */
err state_row(struct tx *tx, const struct state *s, int64_t seq, const struct event **out);
err state_row_before(struct tx *tx, const struct state *s, const struct event *row,
                     const struct event **out);

/* The same without what can be large, data and body: who wrote it and when. Before NULL is the newest. */
err state_row_head_before(struct tx *tx, const struct state *s, const struct event *row,
                          const struct event **out);

/* Brings the document from the version before that row to the row's. */
err state_step(struct tx *tx, const struct state *s, const struct event *row, struct json *doc);

/* The document as it was at a version. NOT_FOUND beyond the newest, GONE when it was compacted. */
err state_at(struct tx *tx, const struct state *state, int64_t version, struct json *out);

/* The patch from one version to another. */
err state_diff(struct tx *tx, const struct state *state, int64_t from, int64_t to,
               struct json *patch);

/* The versions before `before` (0: from the newest on), newest first, as their log rows. Of those
 * that were compacted, a few are left. `cut`: the last of them was one too many, by its bytes. */
err state_history(struct tx *tx, const struct state *state, int64_t before, int64_t limit,
                  const struct event **out, size_t *count, bool *cut);

#endif
