/* session.c: the rows of sessions, one by one and in lists; who reaches which. */
#include "core/session.h"

#include <assert.h>

#include "core/columns.h"

/* A session, and the name of its parent. */
#define SESSION_READ \
    SESSION_NAMES    \
    ", (SELECT p.name FROM session p WHERE p.session_id = session.parent_id)"

static void session_read(struct tx *tx, const struct row *row, struct session *out)
{
    *out = (struct session){ .depth = 0 };
    size_t next = COLUMNS_READ(SESSION_COLUMNS, tx, row, "session", out);
    out->parent_name = row_str(row, next);
}

/* ---- what a command knows ---- */

/* One turn of a session is heard of by several rules in one command, each of which begins with its
 * row: it is read once. */
struct session_known {
    struct session stored;
    struct session_known *next;
};

static struct session_known *known_find(const struct tx *tx, str id)
{
    struct session_known *k = tx->sessions;

    while (k && !str_eq(k->stored.id, id))
        k = k->next;
    return k;
}

static void known_set(struct tx *tx, const struct session *s)
{
    struct session_known *k = known_find(tx, s->id);

    if (!k) {
        k = ARENA_NEW(tx->arena, struct session_known);
        k->next = tx->sessions;
        tx->sessions = k;
    }
    k->stored = *s;
}

/* ---- one ---- */

err session_find_id(struct tx *tx, str id, struct session *out, bool *found)
{
    const struct session_known *k = known_find(tx, id);
    const struct row *row;

    *found = k;
    if (k) {
        *out = k->stored;
        return NULL;
    }
    TRY(sql_one(tx->sql, &row, "SELECT " SESSION_READ " FROM session WHERE session_id = $1",
                ARGS(TEXT(id))));
    *found = row;
    if (row) {
        session_read(tx, row, out);
        known_set(tx, out);
    }
    return NULL;
}

err session_find(struct tx *tx, str id_or_name, struct session *out, bool *found)
{
    const struct row *row;

    TRY(session_find_id(tx, id_or_name, out, found));
    if (*found)
        return NULL;
    TRY(sql_one(tx->sql, &row, "SELECT " SESSION_READ " FROM session WHERE name = $1",
                ARGS(TEXT(id_or_name))));
    *found = row;
    if (row) {
        session_read(tx, row, out);
        known_set(tx, out);
    }
    return NULL;
}

static err session_not_there(struct tx *tx, str id_or_name)
{
    return err_new(tx->arena, ERR_NOT_FOUND, "there is no session \"" STR_FMT "\"%s",
                   STR_ARG(id_or_name),
                   tx->actor->kind == ACTOR_SESSION
                       ? " at or below this one; list_agent_sessions tells which there are"
                       : "");
}

err session_get(struct tx *tx, str id_or_name, struct session *out)
{
    bool there;

    TRY(session_find(tx, id_or_name, out, &there));
    if (there)
        TRY(session_in_reach(tx, out, &there));
    return there ? NULL : session_not_there(tx, id_or_name);
}

/* The project of the actor's tree; empty: none. */
static err project_of_actor(struct tx *tx, str *out)
{
    const struct row *row = NULL;

    if (tx->actor->kind == ACTOR_SESSION)
        TRY(sql_one(tx->sql, &row, "SELECT project FROM session WHERE session_id = $1",
                    ARGS(TEXT(tx->actor->session_id))));
    *out = row ? row_str(row, 0) : STR("");
    return NULL;
}

err session_see(struct tx *tx, str id_or_name, struct session *out)
{
    bool there, reached = false;
    str project;

    TRY(session_find(tx, id_or_name, out, &there));
    if (there)
        TRY(session_in_reach(tx, out, &reached));
    if (there && !reached) {
        TRY(project_of_actor(tx, &project));
        reached = project.len && session_is_member(out) && str_eq(out->project, project);
    }
    return reached ? NULL : session_not_there(tx, id_or_name);
}

/* ---- groups ---- */

#define BELOW(id)                                            \
    "WITH RECURSIVE below (id) AS ("                         \
    " SELECT session_id FROM session WHERE session_id = " id \
    " UNION ALL SELECT s.session_id FROM session s JOIN below b ON s.parent_id = b.id)"

static err group_read(struct tx *tx, const struct row *rows, size_t count, struct session **out)
{
    *out = ARENA_ARRAY(tx->arena, struct session, count);
    for (size_t i = 0; i < count; i++)
        session_read(tx, &rows[i], &(*out)[i]);
    return NULL;
}

err session_with_role(struct tx *tx, str agent, int64_t limit, struct session **out, size_t *count)
{
    const struct actor *a = tx->actor;
    const struct row *rows;
    str project;

    TRY(project_of_actor(tx, &project));
    if (a->kind == ACTOR_SESSION)
        TRY(sql_all(
            tx->sql, &rows, count,
            BELOW("$1") " SELECT " SESSION_READ " FROM session"
                        " WHERE agent = $2 AND live = 1 AND session_id <> $1"
                        " AND (session_id IN (SELECT id FROM below)"
                        "  OR (project = $3 AND project <> '' AND attended = 1 AND parent_id = ''))"
                        " ORDER BY session_id LIMIT $4",
            ARGS(TEXT(a->session_id), TEXT(agent), TEXT(project), INT(limit))));
    else
        TRY(sql_all(tx->sql, &rows, count,
                    "SELECT " SESSION_READ " FROM session WHERE agent = $1 AND live = 1"
                    " AND ($2 = '' OR state_id = $2) ORDER BY session_id LIMIT $3",
                    ARGS(TEXT(agent), TEXT(a->state_id), INT(limit))));
    return group_read(tx, rows, *count, out);
}

err session_in_tree(struct tx *tx, const struct session *top, int64_t limit, struct session **out,
                    size_t *count)
{
    const struct row *rows;
    bool reached;

    TRY(session_in_reach(tx, top, &reached));
    TRY(sql_all(
        tx->sql, &rows, count,
        BELOW("$1") " SELECT " SESSION_READ " FROM session"
                    " WHERE session_id IN (SELECT id FROM below) AND live = 1 AND session_id <> $2"
                    " AND ($3 = 1 OR session_id = $1) AND ($4 = '' OR state_id = $4)"
                    " ORDER BY session_id LIMIT $5",
        ARGS(TEXT(top->id), TEXT(tx->actor->session_id), INT(reached),
             TEXT(tx->actor->kind == ACTOR_SESSION ? STR("") : tx->actor->state_id), INT(limit))));
    return group_read(tx, rows, *count, out);
}

err session_load(struct tx *tx, str id, struct session *out)
{
    bool found;

    TRY(session_find_id(tx, id, out, &found));
    assert(found);
    return NULL;
}

/* ---- reach ---- */

/* Whether `id` stands above a session, or is it. The way up is as long as the tree is deep. */
static err is_at_or_above(struct tx *tx, str id, const struct session *s, bool *out)
{
    str at = s->id, up = s->parent_id;
    const struct row *row;

    while (!str_eq(at, id) && up.len) {
        at = up;
        TRY(sql_one(tx->sql, &row, "SELECT parent_id FROM session WHERE session_id = $1",
                    ARGS(TEXT(at))));
        up = row ? row_str(row, 0) : STR("");
    }
    *out = str_eq(at, id);
    return NULL;
}

err session_in_reach(struct tx *tx, const struct session *s, bool *out)
{
    const struct actor *a = tx->actor;

    if (a->kind == ACTOR_SESSION)
        return is_at_or_above(tx, a->session_id, s, out);
    *out = !a->state_id.len || str_eq(a->state_id, s->state_id);
    return NULL;
}

/* ---- changing ---- */

/* Every index of what is set is written anew, whether its value is another or not; and most changes
 * are to none of them. */
static bool is_indexed_alike(const struct session *a, const struct session *b)
{
    return a->status == b->status && a->settled == b->settled && str_eq(a->profile, b->profile) &&
           str_eq(a->agent, b->agent) && str_eq(a->state_id, b->state_id) &&
           str_eq(a->project, b->project);
}

err session_store(struct tx *tx, struct session *s)
{
    const struct session_known *k = known_find(tx, s->id);
    bool alike = k && is_indexed_alike(&k->stored, s);

    /* A cycle is never gone back to, and nobody moves in a tree. */
    assert(s->id.len > 0);
    assert(!k || (s->cycle >= k->stored.cycle && s->depth == k->stored.depth &&
                  str_eq(s->parent_id, k->stored.parent_id)));
    s->updated_at_ms = tx->now_ms;
    struct sql_args args = ARGS(TEXT(s->id), ALL_VALUES(SESSION_COLUMNS, s));
    known_set(tx, s);
    if (!alike)
        return sql_exec(tx->sql,
                        "UPDATE session SET " SET_ALL(SESSION_COLUMNS) " WHERE session_id = $1",
                        args);
    args.count = 1 + STORED_COUNT(SESSION_COLUMNS);
    return sql_exec(tx->sql,
                    "UPDATE session SET " SET_STORED(SESSION_COLUMNS) " WHERE session_id = $1",
                    args);
}

err session_become(struct tx *tx, struct session *s, enum session_status status)
{
    enum session_status was = s->status;

    assert(status == was || session_may_become(was, status));
    s->status = status;
    s->ended_at_ms = session_is_live(status) ? 0 : tx->now_ms;
    TRY(session_store(tx, s));
    if (status == was)
        return NULL;
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);
    write_text(w, STR("session_name"), s->name);
    write_text(w, STR("status"), team_name(&session_words, status));
    write_text(w, STR("was"), team_name(&session_words, was));
    return event_end(tx, &data, (struct event){ .type = EVENT_SESSION_UPDATED, .subject = s->id },
                     NULL);
}

/* ---- many ---- */

/* What every list asks for: the page, and the filters that its own index does not answer. */
#define PAGE                                                        \
    " session_id > $1 AND ($2 = '' OR root_id = $2)"                \
    " AND ($3 = '' OR parent_id = $3) AND ($4 = '' OR status = $4)" \
    " AND ($5 = '' OR state_id = $5) ORDER BY session_id LIMIT $6"
#define PAGE_ARGS \
    TEXT(f->after), TEXT(f->root_id), TEXT(f->parent_id), TEXT(f->status), TEXT(seen), INT(f->limit)

static err below_list(struct tx *tx, const struct session_filter *f, const struct row **rows,
                      size_t *count)
{
    str seen = STR(""), project;

    TRY(project_of_actor(tx, &project));
    return sql_all(tx->sql, rows, count,
                   "WITH RECURSIVE below (id) AS ("
                   " SELECT session_id FROM session WHERE session_id = $7"
                   " UNION ALL"
                   " SELECT s.session_id FROM session s JOIN below b ON s.parent_id = b.id)"
                   " SELECT " SESSION_READ " FROM session"
                   " WHERE (session_id IN (SELECT id FROM below) OR session_id IN"
                   "  (SELECT session_id FROM session WHERE project = $8 AND project <> ''"
                   "   AND attended = 1)) AND" PAGE,
                   ARGS(PAGE_ARGS, TEXT(tx->actor->session_id), TEXT(project)));
}

/* Each filter has the index that its statement needs. */
static err rows_list(struct tx *tx, const struct session_filter *f, const struct row **rows,
                     size_t *count)
{
    str seen = tx->actor->state_id;

    if (f->parent_id.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " SESSION_READ " FROM session WHERE parent_id = $3 AND" PAGE,
                       ARGS(PAGE_ARGS));
    if (f->root_id.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " SESSION_READ " FROM session WHERE root_id = $2 AND" PAGE,
                       ARGS(PAGE_ARGS));
    if (f->status.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " SESSION_READ " FROM session WHERE status = $4 AND" PAGE,
                       ARGS(PAGE_ARGS));
    return sql_all(tx->sql, rows, count, "SELECT " SESSION_READ " FROM session WHERE" PAGE,
                   ARGS(PAGE_ARGS));
}

err session_list(struct tx *tx, const struct session_filter *f, const struct session **out,
                 size_t *count)
{
    const struct row *rows;

    TRY(tx->actor->kind == ACTOR_SESSION ? below_list(tx, f, &rows, count)
                                         : rows_list(tx, f, &rows, count));
    struct session *all = ARENA_ARRAY(tx->arena, struct session, *count);
    for (size_t i = 0; i < *count; i++)
        session_read(tx, &rows[i], &all[i]);
    *out = all;
    return NULL;
}
