/* session_state.c: the state that a tree of sessions shares.
 *
 * It belongs to the root, which makes at most one; whoever is below it has it, from
 * the start or from the moment it is made. Whatever binds or unbinds a session says
 * so in an event, since what its tokens reach has changed. */
#include <assert.h>

#include "core/session.h"
#include "core/token.h"

/* ---- binding ---- */

static err bound_emit(struct tx *tx, str session_id, str state_id)
{
    const struct row *row;
    struct event_writer data;

    TRY(sql_one(tx->sql, &row,
                "SELECT p.state_id FROM session s JOIN session r ON r.session_id = s.root_id"
                " JOIN project p ON p.name = r.project WHERE s.session_id = $1",
                ARGS(TEXT(session_id))));
    struct json_writer *w = event_begin(tx, &data);
    write_or_null(w, STR("workflow_state_id"), state_id);
    write_or_null(w, STR("project_state_id"), row ? row_str(row, 0) : STR(""));
    return event_end(tx, &data,
                     (struct event){ .type = EVENT_SESSION_BOUND, .subject = session_id }, NULL);
}

/* Binds all sessions of a tree to its state; emits session_bound for each, so that tokens are read
 * again. What was seen of another is worth nothing for this one; what was written there in this cycle
 * still counts. */
static err session_bind(struct tx *tx, str root_id, str state_id)
{
    const struct row *rows;
    size_t count;

    assert(root_id.len > 0 && state_id.len > 0);
    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT session_id FROM session WHERE root_id = $1 ORDER BY session_id",
                ARGS(TEXT(root_id))));
    TRY(session_change(tx,
                       "UPDATE session SET state_id = $2, updated_at = $3,"
                       " seen_version = CASE WHEN state_id = $2 THEN seen_version ELSE 0 END"
                       " WHERE root_id = $1",
                       ARGS(TEXT(root_id), TEXT(state_id), INT(tx->now_ms))));
    for (size_t i = 0; i < count; i++)
        TRY(bound_emit(tx, row_str(&rows[i], 0), state_id));
    return NULL;
}

/* ---- a state that is there ---- */

err session_state_owned(struct tx *tx, const struct session *root, bool *out)
{
    struct state state;

    *out = false;
    if (!root->state_id.len)
        return NULL;
    TRY(state_load(tx, root->state_id, &state));
    *out = str_eq(state.root_session, root->id);
    return NULL;
}

err session_state_select(struct tx *tx, str root_id, str state_id)
{
    return session_bind(tx, root_id, state_id);
}

err session_state_attach(struct tx *tx, const struct session *root, str state_id)
{
    struct session owner;
    struct state state;
    bool owned = false;

    assert(!root->parent_id.len);
    TRY(state_get_to_share(tx, state_id, &state));
    if (state.root_session.len)
        TRY(session_find_id(tx, state.root_session, &owner, &owned));
    if (owned && !str_eq(owner.id, root->id))
        return err_new(tx->arena, ERR_CONFLICT,
                       "the state " STR_FMT " belongs to the session " STR_FMT
                       ": start this one below it, or create a state for it",
                       STR_ARG(state.id), STR_ARG(owner.name));
    TRY(sql_exec(tx->sql, "UPDATE state SET root_session = $2 WHERE state_id = $1",
                 ARGS(TEXT(state.id), TEXT(root->id))));
    return session_bind(tx, root->id, state.id);
}

/* ---- a new state ---- */

static err has_already(struct tx *tx, str state_id)
{
    return err_new(tx->arena, ERR_CONFLICT,
                   "this session has the state " STR_FMT " already: write to that one",
                   STR_ARG(state_id));
}

/* A session that is not known here owns what it makes by its id alone. */
static err owner_check(struct tx *tx, const struct session *s, bool known)
{
    if (!known)
        return tx->actor->state_id.len ? has_already(tx, tx->actor->state_id) : NULL;
    if (s->parent_id.len && tx->actor->kind == ACTOR_SESSION)
        return err_new(tx->arena, ERR_FORBIDDEN,
                       "only the root of a tree creates its state, and session " STR_FMT
                       " is below another one: write to the tree's state",
                       STR_ARG(s->name));
    if (s->parent_id.len)
        return err_new(tx->arena, ERR_CONFLICT,
                       "session " STR_FMT " is below another one: a state belongs to a root",
                       STR_ARG(s->name));
    bool owned;
    TRY(session_state_owned(tx, s, &owned));
    return owned ? has_already(tx, s->state_id) : NULL;
}

err session_state_create(struct tx *tx, const struct schema_version *schema,
                         const struct json *data, str root_session, struct state *out)
{
    bool own = tx->actor->kind == ACTOR_SESSION, known = false;
    str owner = own ? tx->actor->session_id : root_session;
    struct session s;

    if (owner.len)
        TRY(own ? session_find_id(tx, owner, &s, &known) : session_find(tx, owner, &s, &known));
    TRY(owner_check(tx, &s, known));
    TRY(state_create(tx, schema, data, known ? s.id : owner, out));
    if (!known)
        return NULL;
    out->root_name = s.name;
    return session_bind(tx, s.id, out->id);
}

/* ---- the end of a state ---- */

/* Somebody of a tree that has it is at work. */
static err live_check(struct tx *tx, str root_id, str state_id)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT name FROM session WHERE root_id = $1"
                " AND (live = 1 OR settled = 0 OR run_id <> '') ORDER BY depth LIMIT 1",
                ARGS(TEXT(root_id))));
    if (!row)
        return NULL;
    return err_new(tx->arena, ERR_CONFLICT,
                   "session " STR_FMT ", which has the state " STR_FMT ", is live: stop it first",
                   STR_ARG(row_str(row, 0)), STR_ARG(state_id));
}

static err unbind(struct tx *tx, str root_id)
{
    const struct row *rows;
    size_t count;

    TRY(session_change_all(tx, &rows, &count,
                           "UPDATE session SET state_id = '', wrote_version = 0, seen_version = 0,"
                           " updated_at = $2 WHERE root_id = $1 RETURNING session_id",
                           ARGS(TEXT(root_id), INT(tx->now_ms))));
    for (size_t i = 0; i < count; i++)
        TRY(bound_emit(tx, row_str(&rows[i], 0), STR("")));
    return NULL;
}

err session_state_delete(struct tx *tx, str state_id, int64_t expected)
{
    const struct row *project, *roots;
    struct state state;
    size_t count;

    TRY(state_get_to_write(tx, state_id, &state));
    TRY(sql_one(tx->sql, &project, "SELECT name FROM project WHERE state_id = $1 LIMIT 1",
                ARGS(TEXT(state.id))));
    if (project)
        return err_new(tx->arena, ERR_CONFLICT,
                       "the state " STR_FMT " is that of project \"" STR_FMT
                       "\": give that another state, or delete the project first",
                       STR_ARG(state.id), STR_ARG(row_str(project, 0)));
    TRY(sql_all(tx->sql, &roots, &count,
                "SELECT session_id FROM session WHERE state_id = $1 AND state_id <> ''"
                " AND parent_id = '' ORDER BY session_id",
                ARGS(TEXT(state.id))));
    for (size_t i = 0; i < count; i++)
        TRY(live_check(tx, row_str(&roots[i], 0), state.id));
    TRY(state_delete(tx, state.id, expected));
    for (size_t i = 0; i < count; i++)
        TRY(unbind(tx, row_str(&roots[i], 0)));
    return NULL;
}
