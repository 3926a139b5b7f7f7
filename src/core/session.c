/* session.c: the rows of sessions, one by one and in lists; who reaches which. */
#include "core/session.h"

#include <assert.h>

#include "core/stored.h"

#define SESSION_COLUMNS                                                                    \
    "session_id, name, parent_id, root_id, depth, agent, profile, project_dir, status,"    \
    " state_id, pointers, attended, calls_back, settled, cycle, update_status,"            \
    " update_attempts, wrote_version, seen_version, run_id, client_id, hostname, git,"     \
    " result_run, error, tokens_in, tokens_out, tokens_cached, cost, usage_models, heard," \
    " heard_at, created_at, updated_at, ended_at, notice, notice_until, role, id_given,"   \
    " work_user, work_dir,"                                                                \
    " (SELECT p.name FROM session p WHERE p.session_id = session.parent_id)"

static void session_read(struct tx *tx, const struct row *r, struct session *out)
{
    struct stored of = THING("session", row_str(r, 0));

    *out = (struct session){
        .id = row_str(r, 0),
        .name = row_str(r, 1),
        .parent_id = row_str(r, 2),
        .root_id = row_str(r, 3),
        .depth = row_int(r, 4),
        .agent = row_str(r, 5),
        .profile = row_str(r, 6),
        .project_dir = row_str(r, 7),
        .status = (enum session_status)stored_word(tx, of, &session_words, row_str(r, 8)),
        .state_id = row_str(r, 9),
        .pointers = row_str(r, 10),
        .attended = row_int(r, 11),
        .calls_back = row_int(r, 12),
        .settled = row_int(r, 13),
        .cycle = row_int(r, 14),
        .update = (enum update_status)stored_word(tx, of, &update_words, row_str(r, 15)),
        .update_attempts = row_int(r, 16),
        .wrote_version = row_int(r, 17),
        .seen_version = row_int(r, 18),
        .run_id = row_str(r, 19),
        .client_id = row_str(r, 20),
        .hostname = row_str(r, 21),
        .git = row_str(r, 22),
        .result_run = row_str(r, 23),
        .error = row_str(r, 24),
        .usage = { row_int(r, 25), row_int(r, 26), row_int(r, 27), row_int(r, 28), row_str(r, 29) },
        .heard = row_str(r, 30),
        .heard_at_ms = row_int(r, 31),
        .created_at_ms = row_int(r, 32),
        .updated_at_ms = row_int(r, 33),
        .ended_at_ms = row_int(r, 34),
        .notice = row_str(r, 35),
        .notice_until_ms = row_int(r, 36),
        .role = row_str(r, 37),
        .id_given = row_int(r, 38),
        .user = row_str(r, 39),
        .work_dir = row_str(r, 40),
        .parent_name = row_str(r, 41),
    };
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

static err row_by_id(struct tx *tx, str id, const struct row **row)
{
    return sql_one(tx->sql, row, "SELECT " SESSION_COLUMNS " FROM session WHERE session_id = $1",
                   ARGS(TEXT(id)));
}

err session_find_id(struct tx *tx, str id, struct session *out, bool *found)
{
    const struct session_known *k = known_find(tx, id);
    const struct row *row;

    *found = k;
    if (k) {
        *out = k->stored;
        return NULL;
    }
    TRY(row_by_id(tx, id, &row));
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
    TRY(sql_one(tx->sql, &row, "SELECT " SESSION_COLUMNS " FROM session WHERE name = $1",
                ARGS(TEXT(id_or_name))));
    *found = row;
    if (row) {
        session_read(tx, row, out);
        known_set(tx, out);
    }
    return NULL;
}

err session_get(struct tx *tx, str id_or_name, struct session *out)
{
    bool there;

    TRY(session_find(tx, id_or_name, out, &there));
    if (there)
        TRY(session_in_reach(tx, out, &there));
    if (!there)
        return err_new(tx->arena, ERR_NOT_FOUND, "there is no session \"" STR_FMT "\"%s",
                       STR_ARG(id_or_name),
                       tx->actor->kind == ACTOR_SESSION
                           ? " at or below this one; list_agent_sessions tells which there are"
                           : "");
    return NULL;
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

#define STORED                                                                             \
    " agent = $2, project_dir = $3, state_id = $4, pointers = $5, attended = $6,"          \
    " calls_back = $7, cycle = $8, update_status = $9, update_attempts = $10,"             \
    " wrote_version = $11, seen_version = $12, run_id = $13, client_id = $14,"             \
    " hostname = $15, git = $16, result_run = $17, error = $18, tokens_in = $19,"          \
    " tokens_out = $20, tokens_cached = $21, cost = $22, usage_models = $23, heard = $24," \
    " heard_at = $25, updated_at = $26, ended_at = $27, notice = $28, notice_until = $29," \
    " role = $30"

/* Every index of what is set is written anew, whether its value is another or not; and most changes
 * are to none of them. */
static bool is_indexed_alike(const struct session *a, const struct session *b)
{
    return a->status == b->status && a->settled == b->settled && str_eq(a->profile, b->profile);
}

err session_store(struct tx *tx, struct session *s)
{
    const struct session_known *k = known_find(tx, s->id);
    bool alike = k && is_indexed_alike(&k->stored, s);

    s->updated_at_ms = tx->now_ms;
    struct sql_args args =
        ARGS(TEXT(s->id), TEXT(s->agent), TEXT(s->project_dir), TEXT(s->state_id),
             TEXT(s->pointers), INT(s->attended), INT(s->calls_back), INT(s->cycle),
             TEXT(team_name(&update_words, s->update)), INT(s->update_attempts),
             INT(s->wrote_version), INT(s->seen_version), TEXT(s->run_id), TEXT(s->client_id),
             TEXT(s->hostname), TEXT(s->git), TEXT(s->result_run), TEXT(s->error),
             INT(s->usage.tokens_in), INT(s->usage.tokens_out), INT(s->usage.tokens_cached),
             INT(s->usage.cost), TEXT(s->usage.models), TEXT(s->heard), INT(s->heard_at_ms),
             INT(s->updated_at_ms), INT(s->ended_at_ms), TEXT(s->notice), INT(s->notice_until_ms),
             TEXT(s->role), TEXT(team_name(&session_words, s->status)),
             INT(session_is_live(s->status)), INT(s->settled), TEXT(s->profile));
    known_set(tx, s);
    if (!alike)
        return sql_exec(tx->sql,
                        "UPDATE session SET" STORED
                        ", status = $31, live = $32, settled = $33, profile = $34"
                        " WHERE session_id = $1",
                        args);
    args.count = 30;
    return sql_exec(tx->sql, "UPDATE session SET" STORED " WHERE session_id = $1", args);
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
    str data = arena_printf(tx->arena,
                            "{\"session_name\":\"" STR_FMT "\",\"status\":\"" STR_FMT
                            "\",\"was\":\"" STR_FMT "\"}",
                            STR_ARG(s->name), STR_ARG(team_name(&session_words, status)),
                            STR_ARG(team_name(&session_words, was)));
    return event_emit(
        tx, (struct event){ .type = EVENT_SESSION_UPDATED, .subject = s->id, .data = data }, NULL);
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
    str seen = STR("");

    return sql_all(tx->sql, rows, count,
                   "WITH RECURSIVE below (id) AS ("
                   " SELECT session_id FROM session WHERE session_id = $7"
                   " UNION ALL"
                   " SELECT s.session_id FROM session s JOIN below b ON s.parent_id = b.id)"
                   " SELECT " SESSION_COLUMNS " FROM session"
                   " WHERE session_id IN (SELECT id FROM below) AND" PAGE,
                   ARGS(PAGE_ARGS, TEXT(tx->actor->session_id)));
}

/* Each filter has the index that its statement needs. */
static err rows_list(struct tx *tx, const struct session_filter *f, const struct row **rows,
                     size_t *count)
{
    str seen = tx->actor->state_id;

    if (f->parent_id.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " SESSION_COLUMNS " FROM session WHERE parent_id = $3 AND" PAGE,
                       ARGS(PAGE_ARGS));
    if (f->root_id.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " SESSION_COLUMNS " FROM session WHERE root_id = $2 AND" PAGE,
                       ARGS(PAGE_ARGS));
    if (f->status.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " SESSION_COLUMNS " FROM session WHERE status = $4 AND" PAGE,
                       ARGS(PAGE_ARGS));
    return sql_all(tx->sql, rows, count, "SELECT " SESSION_COLUMNS " FROM session WHERE" PAGE,
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
