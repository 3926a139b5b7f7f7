/* permission.c: tools that an agent may use when a person has said so. */
#include "core/permission.h"

#include <assert.h>

#include "core/columns.h"
#include "core/prompt_private.h"
#include "core/stored.h"

/* ---- rows ---- */

static void permission_read(struct tx *tx, const struct row *row, struct permission *out)
{
    *out = (struct permission){ .seq = 0 };
    COLUMNS_READ(PERMISSION_COLUMNS, tx, row, "permission", out);
}

static err permission_store(struct tx *tx, const struct permission *p)
{
    return sql_exec(tx->sql,
                    "UPDATE permission SET " SET_STORED(
                        PERMISSION_COLUMNS) " WHERE permission_id = $1",
                    ARGS(TEXT(p->id), STORED_VALUES(PERMISSION_COLUMNS, p)));
}

err permission_get(struct tx *tx, str id, struct permission *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT " PERMISSION_NAMES " FROM permission WHERE permission_id = $1",
                ARGS(TEXT(id))));
    if (!row)
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "there is no permission " STR_FMT ": permission list shows those that wait",
                       STR_ARG(id));
    permission_read(tx, row, out);
    return NULL;
}

/* Each filter has the index that its statement needs. */
static err permission_rows(struct tx *tx, const struct permission_filter *f,
                           const struct row **rows, size_t *count)
{
    if (f->session_id.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " PERMISSION_NAMES " FROM permission WHERE session_id = $1"
                       " AND ($2 = '' OR status = $2) AND permission_id > $3"
                       " ORDER BY permission_id LIMIT $4",
                       ARGS(TEXT(f->session_id), TEXT(f->status), TEXT(f->after), INT(f->limit)));
    if (f->status.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " PERMISSION_NAMES " FROM permission WHERE status = $1"
                       " AND permission_id > $2 ORDER BY permission_id LIMIT $3",
                       ARGS(TEXT(f->status), TEXT(f->after), INT(f->limit)));
    return sql_all(tx->sql, rows, count,
                   "SELECT " PERMISSION_NAMES " FROM permission WHERE permission_id > $1"
                   " ORDER BY permission_id LIMIT $2",
                   ARGS(TEXT(f->after), INT(f->limit)));
}

err permission_list(struct tx *tx, const struct permission_filter *f, const struct permission **out,
                    size_t *count)
{
    const struct row *rows;

    TRY(permission_rows(tx, f, &rows, count));
    struct permission *all = ARENA_ARRAY(tx->arena, struct permission, *count);
    for (size_t i = 0; i < *count; i++)
        permission_read(tx, &rows[i], &all[i]);
    *out = all;
    return NULL;
}

err permission_waits(struct tx *tx, str session_id, bool *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT 1 FROM permission WHERE session_id = $1 AND status = 'waiting' LIMIT 1",
                ARGS(TEXT(session_id))));
    *out = row != NULL;
    return NULL;
}

/* ---- what is told of them ---- */

static err permission_emit(struct tx *tx, enum event_type type, const struct permission *p,
                           struct event **out)
{
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);

    write_text(w, STR("kind"), STR("permission"));
    write_text(w, STR("session_id"), p->session_id);
    write_text(w, STR("session_name"), p->session_name);
    write_text(w, STR("tool_name"), p->tool);
    write_text(w, STR("status"), team_name(&permission_words, (int)p->status));
    if (type == EVENT_APPROVAL_REQUESTED) {
        write_printed(w, STR("tool_input"), p->input);
    } else {
        write_text(w, STR("decided_by"), p->decided_by);
        write_text(w, STR("reason"), p->reason);
    }
    return event_end(tx, &data, (struct event){ .type = type, .subject = p->id }, out);
}

/* ---- asking ---- */

static err permission_new(struct tx *tx, const struct session *s,
                          const struct permission_call *call, struct permission *out)
{
    struct event *event;

    *out = (struct permission){ .id = tx_id(tx, "prm_"),
                                .session_id = s->id,
                                .session_name = s->name,
                                .client = call->client,
                                .tool = call->tool,
                                .digest = call->digest,
                                .input = call->input,
                                .status = PERMISSION_WAITING,
                                .created_at_ms = tx->now_ms };
    TRY(permission_emit(tx, EVENT_APPROVAL_REQUESTED, out, &event));
    out->seq = event->seq;
    assert(out->seq == *tx->seq && out->digest.len > 0);
    TRY(sql_exec(tx->sql, INSERT_INTO(permission, PERMISSION_COLUMNS),
                 ARGS(VALUES(PERMISSION_COLUMNS, out))));
    return due_add(tx, tx->now_ms + team_rules_of(tx)->permission_ms, DUE_PERMISSION_EXPIRE,
                   out->id, 0);
}

/* A client that does not name its calls cannot tell one from the next: each uses a decision up. */
static bool is_open(const struct permission *p, str call_id)
{
    switch (p->status) {
    case PERMISSION_WAITING:
    case PERMISSION_DENIED: return true;
    case PERMISSION_ALLOWED: return !p->used_by.len || (call_id.len && str_eq(p->used_by, call_id));
    default: return false;
    }
}

err permission_ask(struct tx *tx, const struct session *s, const struct permission_call *call,
                   struct permission *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT " PERMISSION_NAMES " FROM permission WHERE session_id = $1"
                " AND tool = $2 AND digest = $3 ORDER BY seq DESC LIMIT 1",
                ARGS(TEXT(s->id), TEXT(call->tool), TEXT(call->digest))));
    if (row)
        permission_read(tx, row, out);
    if (!row || !is_open(out, call->call_id))
        return permission_new(tx, s, call, out);
    if (out->status != PERMISSION_ALLOWED || out->used_by.len)
        return NULL;
    out->used_by = call->call_id.len ? call->call_id : STR("-");
    return permission_store(tx, out);
}

/* ---- deciding ---- */

/* What the agent reads when it goes on. */
static str decision_text(struct tx *tx, const struct permission *p)
{
    struct buf out = buf_in(tx->arena);

    buf_add(&out, STR("You asked for permission to use the tool "));
    prompt_name(&out, p->tool);
    buf_add(&out, p->status == PERMISSION_ALLOWED
                      ? STR(". It was allowed: if that call was not made yet, make it now exactly "
                            "as before, and go on with your task.\n")
                  : p->status == PERMISSION_DENIED
                      ? STR(". It was denied: do not repeat that call; go on with your task "
                            "without it, or say why that is not possible.\n")
                      : STR(". Nobody has decided in time, so it counts as denied: go on with your "
                            "task without it, or say why that is not possible.\n"));
    if (p->reason.len) {
        buf_add(&out, STR("\nThe reason that was given:\n\n"));
        prompt_fence(&out, "text", p->reason);
    }
    return buf_str(&out);
}

/* With its last question decided, the session takes another turn. One that somebody has stopped, or
 * whose client cannot be resumed, does not. */
static err session_resume(struct tx *tx, const struct permission *p)
{
    struct run_new n = {
        .type = RUN_TYPE_RESUME,
        .purpose = PURPOSE_WORK,
        .mode = MODE_POLL,
        .prompt = decision_text(tx, p),
        .metadata = arena_printf(tx->arena, "{\"permission_id\":\"" STR_FMT "\"}", STR_ARG(p->id)),
    };
    struct session s;
    struct run ignored;
    bool waits;

    TRY(permission_waits(tx, p->session_id, &waits));
    TRY(session_load(tx, p->session_id, &s));
    if (waits || s.settled || s.attended || !s.client_id.len)
        return NULL;
    return run_create(tx, &s, &n, &ignored);
}

static err permission_decide(struct tx *tx, struct permission *p, enum permission_status status,
                             str reason)
{
    assert(p->status == PERMISSION_WAITING && status != PERMISSION_WAITING);
    p->status = status;
    p->reason = reason;
    p->decided_by = tx->actor->name;
    p->decided_at_ms = tx->now_ms;
    TRY(permission_store(tx, p));
    TRY(permission_emit(tx, EVENT_APPROVAL_RESOLVED, p, NULL));
    return sql_exec(tx->sql, "DELETE FROM due WHERE kind = 'permission_expire' AND subject = $1",
                    ARGS(TEXT(p->id)));
}

err permission_resolve(struct tx *tx, str id, bool allow, str reason, struct permission *out)
{
    enum permission_status status = allow ? PERMISSION_ALLOWED : PERMISSION_DENIED;

    TRY(permission_get(tx, id, out));
    if (out->status == status)
        return NULL;
    if (out->status != PERMISSION_WAITING)
        return err_new(tx->arena, ERR_CONFLICT, "permission " STR_FMT " is " STR_FMT " already",
                       STR_ARG(id), STR_ARG(team_name(&permission_words, (int)out->status)));
    TRY(permission_decide(tx, out, status, reason));
    return session_resume(tx, out);
}

err permission_due_expire(struct tx *tx, const struct due *due)
{
    struct permission p;

    TRY(permission_get(tx, due->subject, &p));
    TRY(permission_decide(tx, &p, PERMISSION_EXPIRED, STR("")));
    return session_resume(tx, &p);
}

err permission_after_settled(struct tx *tx, const struct event *e)
{
    enum { OPEN_MAX = 1000 };
    struct permission_filter f = { .session_id = e->subject,
                                   .status = STR("waiting"),
                                   .limit = OPEN_MAX };
    const struct permission *all;
    size_t count;

    TRY(permission_list(tx, &f, &all, &count));
    for (size_t i = 0; i < count; i++) {
        struct permission p = all[i];
        TRY(permission_decide(tx, &p, PERMISSION_WITHDRAWN, STR("")));
    }
    return NULL;
}
