/* session_new.c: how sessions come, come again, and go. */
#include <assert.h>

#include "core/agent.h"
#include "core/columns.h"
#include "core/project.h"
#include "core/session.h"
#include "core/alias.h"
#include "core/token.h"

enum { NAME_MAX_BYTES = 60, ID_MAX_BYTES = 100 };

/* ---- names ---- */

static bool is_word(str s, size_t most, const char *more)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && (!c || !strchr(more, c)))
            return false;
    }
    return s.len > 0 && s.len <= most;
}

/* An id of the caller's own never looks like one of another noun's: those have an underscore. */
err session_id_check(struct tx *tx, str id)
{
    if (is_word(id, ID_MAX_BYTES, str_starts(id, STR("ses_")) ? "_-" : "-"))
        return NULL;
    return err_new(tx->arena, ERR_INVALID,
                   "expected a session_id of 1 to %d letters, digits and \"-\", like a UUID, or "
                   "one that begins with \"ses_\", found \"" STR_FMT "\"",
                   ID_MAX_BYTES, STR_ARG(id));
}

static err names_check(struct tx *tx, const struct session_new *n)
{
    if (!is_word(n->name, NAME_MAX_BYTES, "_-"))
        return err_new(tx->arena, ERR_INVALID,
                       "expected a session_name of 1 to %d letters, digits, \"_\" and \"-\", found "
                       "\"" STR_FMT "\"",
                       NAME_MAX_BYTES, STR_ARG(n->name));
    return n->id.len ? session_id_check(tx, n->id) : NULL;
}

/* Sessions are found by id or name, so neither may be another's id or name. An id whose last end a
 * parent has yet to hear of is still in use. */
static err taken_check(struct tx *tx, str id, str name)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT name, session_id FROM session WHERE session_id = $1"
                " UNION ALL SELECT name, session_id FROM session WHERE session_id = $2"
                " UNION ALL SELECT name, session_id FROM session WHERE name = $1"
                " UNION ALL SELECT name, session_id FROM session WHERE name = $2"
                " UNION ALL SELECT child_name, child_id FROM callback WHERE child_id = $1 LIMIT 1",
                ARGS(TEXT(id), TEXT(name))));
    if (!row)
        return NULL;
    /* It may be one that a session must not hear of. */
    if (tx->actor->kind == ACTOR_SESSION)
        return err_new(tx->arena, ERR_CONFLICT,
                       "the name \"" STR_FMT "\" or the id is taken: choose another, or resume "
                       "that session if it is below this one",
                       STR_ARG(name));
    return err_new(tx->arena, ERR_CONFLICT,
                   "there is a session " STR_FMT " named \"" STR_FMT
                   "\": choose another name, go on with that one (`baton session resume " STR_FMT
                   "`), or delete it (`baton session delete " STR_FMT "`) to begin anew",
                   STR_ARG(row_str(row, 1)), STR_ARG(row_str(row, 0)), STR_ARG(row_str(row, 0)),
                   STR_ARG(row_str(row, 0)));
}

/* An id that a token was minted for is its holder's, or the operator's to register; and a name that is
 * another's id would speak for it. */
static err reserved_check(struct tx *tx, const struct session_new *n)
{
    bool may = tx->actor->kind != ACTOR_SESSION || str_eq(n->id, tx->actor->session_id);
    bool id = false, name = false;

    if (n->id.len && !may)
        TRY(token_stands_for(tx, n->id, &id));
    if (!str_eq(n->name, n->id))
        TRY(token_stands_for(tx, n->name, &name));
    if (!id && !name)
        return NULL;
    return err_new(tx->arena, ERR_CONFLICT,
                   "\"" STR_FMT "\" is the id of a session that a token stands for: %s",
                   STR_ARG(id ? n->id : n->name),
                   tx->actor->kind == ACTOR_SESSION
                       ? "choose another"
                       : "choose another name, or register that session by its session_id");
}

/* ---- limits ---- */

static err beyond(struct tx *tx, const char *limit, int64_t most, const char *what)
{
    err e = err_new(tx->arena, ERR_LIMIT, "%s: at most %lld are allowed (%s)", what,
                    (long long)most, limit);
    return err_with(tx->arena, e, arena_printf(tx->arena, "\"limit\":\"%s\"", limit));
}

/* Counting costs as much as there are, up to the limit. */
static err tree_check(struct tx *tx, const struct session *s, int64_t most)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT count(*) FROM"
                " (SELECT 1 FROM session WHERE root_id = $1 AND live = 1 LIMIT $2) AS there",
                ARGS(TEXT(s->root_id), INT(most))));
    if (row_int(row, 0) < most)
        return NULL;
    return beyond(tx, "tree_sessions_max", most,
                  "this tree has too many live sessions; wait for some to end, or stop some");
}

static err profile_check(struct tx *tx, const struct session *s, int64_t most)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT count(*) FROM"
                " (SELECT 1 FROM session WHERE profile = $1 AND live = 1 LIMIT $2) AS there",
                ARGS(TEXT(s->profile), INT(most))));
    if (row_int(row, 0) < most)
        return NULL;
    return beyond(tx, "profile_sessions_max", most,
                  "this profile has too many live sessions; wait for some to end, or stop some");
}

static err limits_check(struct tx *tx, const struct session *s)
{
    const struct team_rules *rules = team_rules_of(tx);

    if (s->depth > rules->depth_max)
        return beyond(tx, "tree_depth_max", rules->depth_max,
                      "this would be too many sessions below each other");
    if (rules->tree_max)
        TRY(tree_check(tx, s, rules->tree_max));
    return s->profile.len && rules->profile_max ? profile_check(tx, s, rules->profile_max) : NULL;
}

/* ---- what a new one gets from above ---- */

/* Who holds a token for a session that is not there makes it by its own id. */
static bool registers_itself(const struct tx *tx, const struct session_new *n)
{
    return tx->actor->kind == ACTOR_SESSION && n->attended && !n->parent.len && n->id.len &&
           str_eq(n->id, tx->actor->session_id);
}

static err parent_find(struct tx *tx, const struct session_new *n, struct session *parent,
                       bool *has)
{
    bool own = !n->parent.len && tx->actor->kind == ACTOR_SESSION;
    str who = own ? tx->actor->session_id : n->parent;

    *has = who.len && !registers_itself(tx, n);
    if (!*has)
        return NULL;
    if (own)
        TRY(session_find_id(tx, who, parent, has));
    if (!*has)
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "session \"" STR_FMT "\", which this token stands for, is not registered: "
                       "register it first, by session.create with that session_id",
                       STR_ARG(who));
    return own ? NULL : session_get(tx, who, parent);
}

static str pointers_printed(struct tx *tx, const struct actor *a)
{
    struct json all = json_array();

    for (size_t i = 0; i < a->pointer_count; i++)
        json_push(tx->arena, &all, json_string(a->pointers[i]));
    return a->pointers ? json_printed(tx->arena, &all) : STR("");
}

/* What is asked for, or what its parent has, or what the actor has. A restricted actor hands on no
 * more than it has, whichever session it puts the new one below. */
static err pointers_of(struct tx *tx, const struct session_new *n, const struct session *parent,
                       str *out)
{
    struct actor above = { .pointers = NULL };
    const str *all;
    size_t count;

    TRY(pointers_check(tx, n->pointers));
    *out = n->pointers            ? json_printed(tx->arena, n->pointers)
           : parent->pointers.len ? parent->pointers
                                  : pointers_printed(tx, tx->actor);
    if (!out->len)
        return NULL;
    if (parent->pointers.len)
        TRY(pointers_read(tx, parent->id, parent->pointers, &above.pointers, &above.pointer_count));
    TRY(pointers_read(tx, parent->id, *out, &all, &count));
    for (size_t i = 0; i < count; i++)
        if (!actor_may_write(&above, all[i]) || !actor_may_write(tx->actor, all[i]))
            return err_new(tx->arena, ERR_FORBIDDEN,
                           "the pointer \"" STR_FMT "\" is outside of what its parent may write",
                           STR_ARG(all[i]));
    return NULL;
}

static bool is_within(str path, str directory)
{
    while (directory.len > 1 && directory.at[directory.len - 1] == '/')
        directory.len--;
    bool below = str_starts(path, directory) &&
                 (path.len == directory.len || directory.len == 1 || path.at[directory.len] == '/');
    for (str step, rest = path; below && rest.len;) {
        str_cut(rest, '/', &step, &rest);
        if (str_eq(step, STR("..")))
            return false;
    }
    return below && directory.len;
}

/* Where it works: as its parent, unless somebody says. A session cannot choose a place outside of
 * its own. */
static err directory_of(struct tx *tx, const struct session_new *n, const struct session *parent,
                        str *out)
{
    *out = n->project_dir.len ? n->project_dir : parent->project_dir;
    TRY(team_text_check(tx->arena, "a project_dir", *out, DEMAND_DIR_MAX));
    if (tx->actor->kind != ACTOR_SESSION || !n->project_dir.len ||
        is_within(n->project_dir, parent->project_dir))
        return NULL;
    if (!parent->project_dir.len)
        return err_new(tx->arena, ERR_FORBIDDEN,
                       "the session that it is below has no project_dir, so it cannot choose one: "
                       "leave it out");
    return err_new(tx->arena, ERR_FORBIDDEN,
                   "the project_dir \"" STR_FMT "\" is outside of its parent's, \"" STR_FMT
                   "\": leave it out to work there, or name a directory below it",
                   STR_ARG(n->project_dir), STR_ARG(parent->project_dir));
}

/* A tree shares one state, so a child names the tree's or none. */
static err inherited_check(struct tx *tx, const struct session_new *n, const struct session *parent)
{
    str state_id = n->state_id;

    TRY(state_resolve(tx, &state_id));
    if (!state_id.len || str_eq(state_id, parent->state_id))
        return NULL;
    if (!parent->state_id.len)
        return err_new(tx->arena, ERR_CONFLICT,
                       "the tree of session " STR_FMT " has no state: a session below it cannot "
                       "have " STR_FMT "; its root creates one for all",
                       STR_ARG(parent->name), STR_ARG(n->state_id));
    return err_new(tx->arena, ERR_CONFLICT,
                   "the tree of session " STR_FMT " shares the state " STR_FMT ", not " STR_FMT,
                   STR_ARG(parent->name), STR_ARG(parent->state_id), STR_ARG(n->state_id));
}

/* The operator gives any role. One that a session chooses for another counts where the agent's entry
 * says so. */
err session_role(struct tx *tx, str agent, str *out)
{
    struct session by;
    bool may = tx->actor->kind != ACTOR_SESSION, found = false;

    if (!may && agent.len)
        TRY(session_find_id(tx, tx->actor->session_id, &by, &found));
    if (found)
        TRY(agent_startable(tx, agent,
                            &(struct agent_starter){ .session_id = by.id_given ? by.id : STR(""),
                                                     .role = by.role,
                                                     .is_root = !by.parent_id.len },
                            &may));
    *out = may ? agent : STR("");
    return NULL;
}

/* ---- creating ---- */

/* With all that tokens know of a session: one may have been minted before it was made. */
static err created_emit(struct tx *tx, const struct session *s)
{
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);

    write_or_null(w, STR("session_name"), s->name);
    write_or_null(w, STR("parent_session_id"), s->parent_id);
    write_or_null(w, STR("root_session_id"), s->root_id);
    write_or_null(w, STR("agent_name"), s->agent);
    write_or_null(w, STR("workflow_state_id"), s->state_id);
    write_int(w, STR("depth"), s->depth);
    write_bool(w, STR("attended"), s->attended);
    write_printed(w, STR("pointers"), s->pointers.len ? s->pointers : STR("null"));
    return event_end(tx, &data, (struct event){ .type = EVENT_SESSION_CREATED, .subject = s->id },
                     NULL);
}

err session_create(struct tx *tx, const struct session_new *n, struct session *out)
{
    struct session parent = { .depth = 0 };
    struct project project = { .state_id = STR("") };
    bool has;

    TRY(names_check(tx, n));
    TRY(parent_find(tx, n, &parent, &has));
    str id = n->id.len ? n->id : tx_id(tx, "ses_");
    bool itself = registers_itself(tx, n);
    str state_id = itself && !n->state_id.len ? tx->actor->state_id : n->state_id;
    TRY(taken_check(tx, id, n->name));
    TRY(reserved_check(tx, n));
    if (n->project.len && has)
        return err_new(tx->arena, ERR_INVALID,
                       "a session below another one has the state of its tree: leave \"project\" "
                       "out");
    if (n->project.len)
        TRY(project_get(tx, n->project, &project));
    *out = (struct session){
        .id = id,
        .name = n->name,
        .parent_id = parent.id,
        .parent_name = parent.name,
        .root_id = has ? parent.root_id : id,
        .depth = parent.depth + 1,
        .agent = n->agent,
        .id_given = tx->actor->kind != ACTOR_SESSION || !n->id.len || itself,
        .profile = n->profile,
        .status = SESSION_PENDING,
        .state_id = parent.state_id,
        .attended = n->attended,
        .calls_back = n->calls_back && has,
        .cycle = 1,
        .created_at_ms = tx->now_ms,
        .updated_at_ms = tx->now_ms,
        .project = has ? STR("") : n->project,
        .wakes = true,
    };
    TRY(limits_check(tx, out));
    assert(out->depth <= team_rules_of(tx)->depth_max);
    assert(has || (out->depth == 1 && !out->calls_back && !out->state_id.len));
    TRY(pointers_of(tx, n, &parent, &out->pointers));
    TRY(directory_of(tx, n, &parent, &out->project_dir));
    TRY(session_role(tx, out->agent, &out->role));
    if (has)
        TRY(inherited_check(tx, n, &parent));
    TRY(sql_exec(tx->sql, INSERT_INTO(session, SESSION_COLUMNS),
                 ARGS(VALUES(SESSION_COLUMNS, out))));
    TRY(created_emit(tx, out));
    if (has || !(state_id.len || project.state_id.len))
        return NULL;
    if (state_id.len) {
        TRY(session_state_attach(tx, out, state_id));
        TRY(state_resolve(tx, &state_id));
    } else {
        TRY(session_state_select(tx, out->id, project.state_id));
    }
    out->state_id = state_id.len ? state_id : project.state_id;
    return NULL;
}

/* ---- the next cycle ---- */

err session_reopen(struct tx *tx, struct session *s, bool calls_back)
{
    if (!s->settled)
        return NULL;
    s->cycle++;
    s->settled = false;
    s->update = UPDATE_NONE;
    s->update_attempts = s->wrote_version = s->ended_at_ms = 0;
    s->error = STR("");
    s->calls_back = calls_back && s->parent_id.len;
    TRY(session_store(tx, s));
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);
    write_text(w, STR("session_name"), s->name);
    write_int(w, STR("cycle"), s->cycle);
    return event_end(tx, &data, (struct event){ .type = EVENT_SESSION_UPDATED, .subject = s->id },
                     NULL);
}

err session_begin_work(struct tx *tx, struct session *s)
{
    s->update_attempts = s->notice_until_ms = 0;
    s->error = s->notice = STR("");
    if (s->update != UPDATE_NONE && s->update != UPDATE_PENDING)
        s->update = UPDATE_NONE;
    return session_store(tx, s);
}

err session_awaited(struct tx *tx, str id, int64_t *count)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT count(*) FROM session WHERE parent_id = $1 AND settled = 0"
                " AND calls_back = 1",
                ARGS(TEXT(id))));
    *count = row_int(row, 0);
    return NULL;
}

/* ---- deleting ---- */

/* A session and all below it, parents first. */
static err tree_below(struct tx *tx, str id, const struct row **rows, size_t *count)
{
    return sql_all(tx->sql, rows, count,
                   "WITH RECURSIVE below (id) AS ("
                   " SELECT session_id FROM session WHERE session_id = $1"
                   " UNION ALL"
                   " SELECT s.session_id FROM session s JOIN below b ON s.parent_id = b.id)"
                   " SELECT session_id, name, CASE WHEN live = 1 OR settled = 0 OR run_id <> ''"
                   "  THEN 1 ELSE 0 END, parent_id, state_id"
                   " FROM session WHERE session_id IN (SELECT id FROM below)"
                   " ORDER BY depth, session_id",
                   ARGS(TEXT(id)));
}

/* All that hangs on one session. Tokens of its runs were revoked when those ended; others are now,
 * since they would still reach the state that they were minted for. */
static err rows_delete(struct tx *tx, str id)
{
    struct sql_args self = ARGS(TEXT(id));

    TRY(token_revoke_session(tx, id));
    TRY(sql_exec(tx->sql,
                 "DELETE FROM run_output WHERE run_id IN"
                 " (SELECT run_id FROM run WHERE session_id = $1)",
                 self));
    TRY(sql_exec(tx->sql,
                 "DELETE FROM due WHERE subject IN (SELECT run_id FROM run WHERE session_id = $1)"
                 " AND kind IN ('run_ready', 'run_match', 'run_lease', 'run_time', 'run_stop')",
                 self));
    TRY(sql_exec(tx->sql,
                 "DELETE FROM due WHERE subject = $1"
                 " AND kind IN ('session_stop', 'update_overdue', 'callback_deliver',"
                 "  'member_silent', 'wake_return', 'wake_offer', 'retain_tree')",
                 self));
    TRY(sql_exec(tx->sql,
                 "DELETE FROM due WHERE kind = 'permission_expire' AND subject IN"
                 " (SELECT permission_id FROM permission WHERE session_id = $1)",
                 self));
    TRY(sql_exec(tx->sql, "DELETE FROM permission WHERE session_id = $1", self));
    TRY(run_change(tx, "DELETE FROM run WHERE session_id = $1", self));
    TRY(sql_exec(tx->sql, "DELETE FROM session_event WHERE session_id = $1", self));
    TRY(sql_exec(tx->sql, "DELETE FROM message WHERE receiver_id = $1", self));
    TRY(sql_exec(tx->sql,
                 "DELETE FROM due WHERE kind = 'wake_lease' AND subject IN"
                 " (SELECT waker_id FROM waker WHERE session_id = $1)",
                 self));
    TRY(sql_exec(tx->sql, "DELETE FROM waker WHERE session_id = $1", self));
    TRY(sql_exec(tx->sql, "DELETE FROM wake_queue WHERE session_id = $1", self));
    TRY(sql_exec(tx->sql, "DELETE FROM file_touch WHERE session_id = $1", self));
    TRY(sql_exec(tx->sql, "DELETE FROM todo_list WHERE session_id = $1", self));
    TRY(sql_exec(tx->sql, "DELETE FROM sub_agent WHERE session_id = $1", self));
    TRY(alias_drop(tx, id));
    TRY(sql_exec(tx->sql,
                 "DELETE FROM callback WHERE child_id = $1"
                 " AND status IN ('delivered', 'dropped')",
                 self));
    return session_change(tx, "DELETE FROM session WHERE session_id = $1", self);
}

static err deleted_emit(struct tx *tx, const struct row *row)
{
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);

    write_text(w, STR("session_name"), row_str(row, 1));
    write_or_null(w, STR("parent_session_id"), row_str(row, 3));
    write_or_null(w, STR("workflow_state_id"), row_str(row, 4));
    return event_end(tx, &data,
                     (struct event){ .type = EVENT_SESSION_DELETED, .subject = row_str(row, 0) },
                     NULL);
}

err session_delete(struct tx *tx, struct session *s, bool with_state)
{
    const struct row *rows;
    size_t count;

    TRY(tree_below(tx, s->id, &rows, &count));
    for (size_t i = 0; i < count; i++)
        if (row_int(&rows[i], 2))
            return err_new(tx->arena, ERR_CONFLICT,
                           "session " STR_FMT " is live: stop it first, with all that is below it",
                           STR_ARG(row_str(&rows[i], 1)));
    if (with_state && !s->parent_id.len && s->state_id.len)
        TRY(session_state_delete(tx, s->state_id, 0));
    for (size_t i = 0; i < count; i++) {
        struct sql_args parent = ARGS(TEXT(row_str(&rows[i], 0)));
        TRY(sql_exec(tx->sql,
                     "UPDATE callback SET status = 'dropped' WHERE parent_id = $1"
                     " AND status = 'waiting'",
                     parent));
        TRY(sql_exec(tx->sql, /* that a waker has taken */
                     "UPDATE callback SET status = 'dropped' WHERE parent_id = $1"
                     " AND status = 'in_flight'",
                     parent));
    }
    for (size_t i = count; i > 0; i--) {
        TRY(rows_delete(tx, row_str(&rows[i - 1], 0)));
        TRY(deleted_emit(tx, &rows[i - 1]));
    }
    return NULL;
}
