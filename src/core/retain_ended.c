/* retain_ended.c: what is kept of trees of sessions that have ended.
 *
 * Two things, each for its own time: the state of a root, as its schema says, and the sessions
 * themselves with their runs and output, as the settings say. Both are kept for good unless
 * somebody says otherwise. When the time has come, all is looked at again: what has gone on
 * meanwhile, or is still waited for, stays. */
#include "core/project.h"
#include "core/retain.h"
#include "core/schema.h"
#include "core/session.h"

enum { SESSIONS_MAX = 100, AGAIN_MS = 60 * 60 * 1000 };

/* ---- when it is to be looked at ---- */

/* The time that a schema gives to states whose root has ended; −1: for good. */
static err state_time(struct tx *tx, const struct state *s, int64_t *ms)
{
    const struct schema_rules *rules;

    TRY(schema_rules(tx, s->schema_id, &rules));
    *ms = rules->policy.retention_ms;
    return NULL;
}

/* A state that is there; one that is not is no error. */
static err state_there(struct tx *tx, str id, struct state *out, bool *there)
{
    err e = state_head(tx, id, out);

    *there = !e;
    return e && e->kind != ERR_NOT_FOUND ? e : NULL;
}

/* Only the one that it belongs to keeps a state: others have selected it. */
static err state_plan(struct tx *tx, str state_id, str root_id)
{
    struct state s;
    bool there;
    int64_t ms;

    TRY(state_there(tx, state_id, &s, &there));
    if (!there || !str_eq(s.root_session, root_id))
        return NULL;
    TRY(state_time(tx, &s, &ms));
    return ms < 0 ? NULL : due_add(tx, tx->now_ms + ms, DUE_RETAIN_STATE, s.id, 0);
}

err retain_after_settled(struct tx *tx, const struct event *e)
{
    int64_t ms = retention_of(tx)->sessions_ms;
    struct session s;

    TRY(session_load(tx, e->subject, &s));
    if (ms)
        TRY(due_add(tx, tx->now_ms + ms, DUE_RETAIN_TREE, s.root_id, 0));
    return s.parent_id.len || !s.state_id.len ? NULL : state_plan(tx, s.state_id, s.id);
}

err retain_after_deleted(struct tx *tx, const struct event *e)
{
    const struct json *data;

    TRY(event_parsed(tx, e, &data));
    str state_id = json_str(data, "workflow_state_id");
    if (json_str(data, "parent_session_id").len || !state_id.len)
        return NULL;
    return state_plan(tx, state_id, e->subject);
}

/* ---- when the time has come ---- */

/* Whether one of a tree is at work. Who waits for a child has not settled; a callback that waits for one
 * who has, and who was not there for all that time, keeps nothing. */
static err tree_is_held(struct tx *tx, str root_id, bool *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT 1 FROM session WHERE root_id = $1"
                " AND (live = 1 OR settled = 0 OR run_id <> '') LIMIT 1",
                ARGS(TEXT(root_id))));
    *out = row;
    return NULL;
}

/* Whether a session of any tree that has this state is at work: those are few. */
static err state_is_held(struct tx *tx, str state_id, bool *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT 1 FROM session WHERE live = 1 AND state_id = $1"
                " UNION ALL SELECT 1 FROM session WHERE settled = 0 AND state_id = $1 LIMIT 1",
                ARGS(TEXT(state_id))));
    *out = row;
    return NULL;
}

err retain_state(struct tx *tx, const struct due *due)
{
    struct session root;
    struct state s;
    bool there, known = false, held, tree_held = false;
    int64_t ms;
    str project;

    TRY(state_there(tx, due->subject, &s, &there));
    if (!there)
        return NULL;
    TRY(state_time(tx, &s, &ms));
    if (ms < 0)
        return NULL; /* it was bound to another version of its schema */
    TRY(project_of_state(tx, s.id, &project));
    if (project.len)
        return NULL; /* others share it, for as long as there is the project */
    TRY(session_find_id(tx, s.root_session, &root, &known));
    TRY(state_is_held(tx, s.id, &held));
    if (known)
        TRY(tree_is_held(tx, root.id, &tree_held));
    if (held || tree_held)
        return due_add(tx, tx->now_ms + (ms > AGAIN_MS ? ms : AGAIN_MS), DUE_RETAIN_STATE, s.id, 0);
    if (known && root.ended_at_ms + ms > tx->now_ms)
        return due_add(tx, root.ended_at_ms + ms, DUE_RETAIN_STATE, s.id, 0);
    return session_state_delete(tx, s.id, 0);
}

/* When the last of a tree has ended. */
static err tree_end(struct tx *tx, str root_id, int64_t *at_ms)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT coalesce(max(ended_at), 0) FROM session WHERE root_id = $1",
                ARGS(TEXT(root_id))));
    *at_ms = row_int(row, 0);
    return NULL;
}

/* The deepest first, so that nothing is ever left without what is above it. */
static err tree_drop(struct tx *tx, str root_id, bool *more)
{
    const struct row *rows;
    size_t count;

    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT session_id FROM session WHERE root_id = $1"
                " ORDER BY depth DESC, session_id LIMIT $2",
                ARGS(TEXT(root_id), INT(SESSIONS_MAX))));
    for (size_t i = 0; i < count; i++) {
        struct session s;
        TRY(session_load(tx, row_str(&rows[i], 0), &s));
        TRY(session_delete(tx, &s, false));
    }
    *more = count == SESSIONS_MAX;
    return NULL;
}

/* A tree goes as one: who is at work may ask what was below it, as long as it lives. */
err retain_tree(struct tx *tx, const struct due *due)
{
    int64_t ms = retention_of(tx)->sessions_ms, ended;
    bool held, more;

    if (!ms)
        return NULL;
    TRY(tree_is_held(tx, due->subject, &held));
    TRY(tree_end(tx, due->subject, &ended));
    if (held)
        return due_add(tx, tx->now_ms + (ms > AGAIN_MS ? ms : AGAIN_MS), DUE_RETAIN_TREE,
                       due->subject, 0);
    if (ended + ms > tx->now_ms)
        return due_add(tx, ended + ms, DUE_RETAIN_TREE, due->subject, 0);
    TRY(tree_drop(tx, due->subject, &more));
    return more ? due_add(tx, tx->now_ms, DUE_RETAIN_TREE, due->subject, 0) : NULL;
}
