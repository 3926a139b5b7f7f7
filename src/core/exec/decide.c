/* decide.c: approvals, as a person sees them and decides. */
#include <assert.h>

#include "base/utf8.h"
#include "core/columns.h"
#include "core/exec/documents.h"
#include "core/exec/private.h"

/* ---- looking ---- */

static err approval_load(struct tx *tx, str id, struct approval *out, bool *found)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT " APPROVAL_NAMES " FROM approval WHERE approval_id = $1",
                ARGS(TEXT(id))));
    *found = row;
    if (row)
        COLUMNS_READ(APPROVAL_COLUMNS, tx, row, "approval", out);
    return NULL;
}

static err approval_find(struct tx *tx, str id, struct approval *out, struct execution *e)
{
    bool found;
    err gone = NULL;

    TRY(approval_load(tx, id, out, &found));
    if (found)
        gone = execution_see(tx, out->execution_id, e);
    if (found && !gone)
        return NULL;
    if (gone && gone->kind != ERR_NOT_FOUND)
        return gone;
    return err_new(tx->arena, ERR_NOT_FOUND,
                   "there is no approval " STR_FMT ": 'baton inbox' shows those that wait",
                   STR_ARG(utf8_cut(id, 80)));
}

err approval_get(struct tx *tx, str id, struct approval *out)
{
    struct execution e;

    return approval_find(tx, id, out, &e);
}

/* Of an execution, of those that a session sees, or of all. */
static err approval_rows(struct tx *tx, const struct approval_filter *f, int64_t no,
                         const struct row **rows, size_t *count)
{
    if (no)
        return sql_all(tx->sql, rows, count,
                       "SELECT " APPROVAL_NAMES " FROM approval WHERE no = $1"
                       " AND ($2 = '' OR status = $2) AND approval_id > $3"
                       " ORDER BY approval_id LIMIT $4",
                       ARGS(INT(no), TEXT(f->status), TEXT(f->after), INT(f->limit)));
    if (tx->actor->kind == ACTOR_SESSION)
        return sql_all(tx->sql, rows, count,
                       "SELECT " APPROVAL_NAMES " FROM approval WHERE no IN"
                       " (SELECT e.no FROM execution e JOIN session s ON s.session_id = $1"
                       "  WHERE e.root_id = s.root_id AND e.root_id <> ''"
                       "  AND (s.parent_id = '' OR e.session_id = $1))"
                       " AND ($2 = '' OR status = $2) AND approval_id > $3"
                       " ORDER BY approval_id LIMIT $4",
                       ARGS(TEXT(tx->actor->session_id), TEXT(f->status), TEXT(f->after),
                            INT(f->limit)));
    if (f->status.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " APPROVAL_NAMES " FROM approval WHERE status = $1"
                       " AND approval_id > $2 ORDER BY approval_id LIMIT $3",
                       ARGS(TEXT(f->status), TEXT(f->after), INT(f->limit)));
    return sql_all(tx->sql, rows, count,
                   "SELECT " APPROVAL_NAMES " FROM approval WHERE approval_id > $1"
                   " ORDER BY approval_id LIMIT $2",
                   ARGS(TEXT(f->after), INT(f->limit)));
}

err approval_list(struct tx *tx, const struct approval_filter *f, const struct approval **out,
                  size_t *count)
{
    struct execution e = { .no = 0 };
    const struct row *rows;

    if (f->execution_id.len)
        TRY(execution_see(tx, f->execution_id, &e));
    TRY(approval_rows(tx, f, e.no, &rows, count));
    struct approval *all = ARENA_ARRAY(tx->arena, struct approval, *count);
    for (size_t i = 0; i < *count; i++)
        COLUMNS_READ(APPROVAL_COLUMNS, tx, &rows[i], "approval", (&all[i]));
    *out = all;
    return NULL;
}

err approval_at(struct tx *tx, const struct execution *e, str step, struct approval *out,
                bool *found)
{
    const struct approval_filter waiting = { .status = STR("waiting"), .limit = GRAPH_NODES_MAX };
    const struct row *rows;
    size_t count;

    *found = false;
    TRY(approval_rows(tx, &waiting, e->no, &rows, &count));
    for (size_t i = 0; i < count && !*found; i++) {
        COLUMNS_READ(APPROVAL_COLUMNS, tx, &rows[i], "approval", out);
        *found = str_eq(out->node, step);
    }
    return NULL;
}

err approval_waited(struct tx *tx, const struct execution *e, int64_t *ms)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT CAST(coalesce(sum(CASE WHEN status = 'waiting' THEN $2 ELSE decided_at END"
                " - created_at), 0) AS BIGINT) FROM approval WHERE no = $1",
                ARGS(INT(e->no), INT(tx->now_ms))));
    *ms = row_int(row, 0);
    return NULL;
}

/* ---- who may ---- */

/* A session's agent never decides, whatever it says; a person in front of its client may, through it, where
 * the definition lets them. */
static err may_decide(struct tx *tx, const struct approval *p, const struct approval_decision *d)
{
    const struct actor *who = tx->actor;

#ifdef PLANT_MOVER_AGENT_DECIDES
    return NULL;
#endif
    if (who->kind == ACTOR_OPERATOR || who->kind == ACTOR_SYSTEM ||
        (who->kind == ACTOR_SESSION && who->is_attended && d->by_person && p->attended))
        return NULL;
    return err_new(tx->arena, ERR_FORBIDDEN,
                   "approval " STR_FMT " of step " STR_FMT
                   " is decided by a person: the operator, with 'baton inbox approve " STR_FMT
                   "' (or reject, or rework) or on the page of this server%s. Say so, and wait",
                   STR_ARG(p->id), STR_ARG(p->node), STR_ARG(p->id),
                   p->attended ? "; or whoever sits in front of your client, when it asks them"
                               : "");
}

/* ---- what was decided ---- */

static struct json decision_json(struct tx *tx, const struct approval_decision *d)
{
    struct arena *a = tx->arena;
    struct json out = json_object();

    if (d->selected_variant.len)
        json_put(a, &out, STR("selected_variant"), json_string(d->selected_variant));
    if (d->modifications && d->modifications->len)
        json_put(a, &out, STR("modifications"), *d->modifications);
    if (d->step.len)
        json_put(a, &out, STR("step"), json_string(d->step));
    if (d->reason.len)
        json_put(a, &out, STR("reason"), json_string(d->reason));
    return out;
}

/* Whether it asks for what was decided already; what it leaves out is as it was. */
static err is_same(struct tx *tx, const struct approval *p, const struct approval_decision *d,
                   bool *out)
{
    const struct json *was;

    TRY(json_parse_own(tx->arena, p->decision, &was));
    *out = p->status == d->status &&
           (!d->selected_variant.len ||
            str_eq(json_str(was, "selected_variant"), d->selected_variant)) &&
           (!d->step.len || str_eq(json_str(was, "step"), d->step)) &&
           (!d->modifications || !d->modifications->len ||
            (json_get(was, "modifications") &&
             json_equal(json_get(was, "modifications"), d->modifications)));
    return NULL;
}

static err not_any_more(struct tx *tx, const struct approval *p)
{
    if (p->status == APPROVAL_WITHDRAWN)
        return err_new(tx->arena, ERR_CONFLICT,
                       "approval " STR_FMT " was withdrawn: what it was about has changed, or its "
                       "execution has ended; 'baton inbox' shows what waits now",
                       STR_ARG(p->id));
    return err_new(tx->arena, ERR_CONFLICT,
                   "approval " STR_FMT " is " STR_FMT " already, by " STR_FMT, STR_ARG(p->id),
                   STR_ARG(team_name(&approval_words, (int)p->status)), STR_ARG(p->decided_by));
}

/* ---- whether it can be ---- */

static err variant_check(struct tx *tx, const struct approval *p, const struct approval_decision *d)
{
    struct buf names = buf_in(tx->arena);
    const struct json *options;

    if (d->status != APPROVAL_APPROVED && !d->selected_variant.len)
        return NULL;
    if (!str_eq(p->kind, STR("select_variant")))
        return d->selected_variant.len
                   ? err_new(tx->arena, ERR_UNFIT,
                             "step " STR_FMT " has no variants: approve it without one",
                             STR_ARG(p->node))
                   : NULL;
    TRY(json_parse_own(tx->arena, p->options, &options));
    for (uint32_t i = 0; i < options->len; i++) {
        str name = approval_option_name(tx->arena, &options->items[i]);
        if (d->selected_variant.len && str_eq(name, d->selected_variant))
            return NULL;
        buf_printf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(name));
    }
    if (d->selected_variant.len && !options->len)
        return NULL;
    return err_new(tx->arena, ERR_UNFIT,
                   "expected \"selected_variant\", one of the variants of step " STR_FMT
                   "%s" STR_FMT ", found %s" STR_FMT,
                   STR_ARG(p->node), names.len ? ": " : "", STR_ARG(buf_str(&names)),
                   d->selected_variant.len ? "" : "none",
                   STR_ARG(utf8_cut(d->selected_variant, 80)));
}

/* The step that is done anew: this one, or one before it. */
static err rework_target(struct exec *x, const struct approval *p, str step, uint16_t *out)
{
    uint16_t here = graph_step_find(x->graph, p->node);
    struct buf names = buf_in(x->tx->arena);

    if (x->graph->kind == GRAPH_NODES)
        return err_new(x->tx->arena, ERR_CONFLICT,
                       "workflow \"" STR_FMT
                       "\" is made of nodes and flows, where a flow says what "
                       "is done again: approve or reject it",
                       STR_ARG(x->row.workflow));
    if (x->row.failing)
        return err_new(x->tx->arena, ERR_CONFLICT,
                       "execution " STR_FMT " is about to fail, and waits for what is at work: "
                       "resume it from a step when it has ended",
                       STR_ARG(x->row.id));
    *out = step.len ? graph_step_find(x->graph, step) : here;
    if (*out != GRAPH_NONE && graph_downstream(x->tx->arena, x->graph, *out)[here])
        return NULL;
    for (uint16_t i = 0; i < x->graph->step_count && names.len < 300; i++)
        if (graph_downstream(x->tx->arena, x->graph, i)[here])
            buf_printf(&names, "%s" STR_FMT, names.len ? ", " : "", STR_ARG(x->graph->steps[i].id));
    return err_new(x->tx->arena, ERR_UNFIT,
                   "expected this step or one before it (" STR_FMT "), found \"" STR_FMT "\"",
                   STR_ARG(buf_str(&names)), STR_ARG(utf8_cut(step, 80)));
}

/* ---- what follows ---- */

static str with_reason(struct tx *tx, const char *what, str by, str reason)
{
    return arena_printf(tx->arena, "%s by " STR_FMT "%s" STR_FMT, what, STR_ARG(by),
                        reason.len ? ": " : "", STR_ARG(reason));
}

/* Decisions are variables, so that conditions and prompts know them. */
static err variables_set(struct exec *x, const char *word, const struct approval_decision *d)
{
    const struct json decision = json_string(str_from(word)),
                      variant = json_string(d->selected_variant);

    TRY(vars_set(x, STR("decision"), &decision));
    if (d->selected_variant.len)
        TRY(vars_set(x, STR("selected_variant"), &variant));
    if (d->modifications && d->modifications->len)
        TRY(vars_set(x, STR("modifications"), d->modifications));
    str trouble = vars_trouble(x);
    return trouble.len ? err_new(x->tx->arena, ERR_TOO_LARGE, STR_FMT, STR_ARG(trouble)) : NULL;
}

static err go_on(struct exec *x, struct mark *m)
{
    struct step *s = step_of(x, m);

    exec_move(x, m, "approved");
    if (s)
        step_become(x, s, STEP_COMPLETED);
    mark_todo(x, m, MARK_LEAVE);
    return NULL;
}

static err go_back(struct exec *x, struct mark *m, uint16_t step, const char *what, str why)
{
    exec_move(x, m, what);
    mark_gone(x, m);
    return exec_reopen(x, step, false, why);
}

static err refuse(struct exec *x, struct mark *m, const struct approval *p, str reason)
{
    str error = with_reason(x->tx, "it was rejected", p->decided_by, reason);
    uint16_t back = graph_step_find(x->graph, p->on_reject);

    if (p->on_reject.len && back != GRAPH_NONE && !x->row.failing)
        return go_back(x, m, back, "rejected", error);
    exec_move(x, m, "rejected");
    return work_refused(x, m, error,
                        arena_printf(x->tx->arena, "step " STR_FMT " was rejected%s" STR_FMT,
                                     STR_ARG(p->node), reason.len ? ": " : "", STR_ARG(reason)));
}

/* `as` is what holds: of an approval whose time is over, what the definition says then. */
static err apply(struct exec *x, struct approval *p, struct mark *m, enum approval_status as,
                 const struct approval_decision *d)
{
    static const char *const words[APPROVAL_STATUS_COUNT] = { [APPROVAL_APPROVED] = "approve",
                                                              [APPROVAL_REJECTED] = "reject",
                                                              [APPROVAL_REWORK] = "rework" };
    struct json decision = decision_json(x->tx, d);
    uint16_t back = GRAPH_NONE;

    assert(words[as]);
    if (as == APPROVAL_REWORK)
        TRY(rework_target(x, p, d->step, &back));
    p->status = d->status;
    p->channel = d->channel;
    p->decision = json_printed(x->tx->arena, &decision);
    TRY(variables_set(x, words[as], d));
    TRY(approval_end(x, p));
    if (as == APPROVAL_APPROVED)
        return go_on(x, m);
    if (as == APPROVAL_REJECTED)
        return refuse(x, m, p, d->reason);
    return go_back(x, m, back, "reworked",
                   with_reason(x->tx, "rework was asked for", p->decided_by, d->reason));
}

static err decided(struct tx *tx, struct approval *p, enum approval_status as,
                   const struct approval_decision *d, struct execution *e)
{
    struct exec x;
    struct mark *m;

    TRY(exec_open(tx, e, &x));
    TRY(mark_find(&x, p->scope, p->n, &m));
    if (!m || m->status != MARK_APPROVAL)
        return stored_damage(tx, THING("approval", p->id), "nothing of its execution waits for it");
    TRY(apply(&x, p, m, as, d));
    exec_told(&x);
    TRY(exec_drain(&x));
    return exec_close(&x, e);
}

#ifdef PLANT_APPROVAL_TWICE
#define IS_DECIDED(approval) ((approval)->status == APPROVAL_WITHDRAWN)
#else
#define IS_DECIDED(approval) ((approval)->status != APPROVAL_WAITING)
#endif

err approval_decide(struct tx *tx, str id, const struct approval_decision *d, struct approval *out,
                    struct execution *e)
{
    bool same;

    assert(d->status == APPROVAL_APPROVED || d->status == APPROVAL_REJECTED ||
           d->status == APPROVAL_REWORK);
    TRY(approval_find(tx, id, out, e));
    TRY(may_decide(tx, out, d));
#ifndef PLANT_APPROVAL_UNSEEN
    if (d->digest.len && !str_eq(d->digest, out->digest))
        return err_new(tx->arena, ERR_CONFLICT,
                       "approval " STR_FMT " is of another content than the one that was seen "
                       "(digest " STR_FMT ", expected " STR_FMT "): look at it again",
                       STR_ARG(id), STR_ARG(utf8_cut(d->digest, 80)), STR_ARG(out->digest));
#endif
    TRY(is_same(tx, out, d, &same));
    if (IS_DECIDED(out))
        return same ? NULL : not_any_more(tx, out);
    TRY(variant_check(tx, out, d));
    return decided(tx, out, d->status, d, e);
}

/* ---- when nobody has decided ---- */

/* Of variants the first: the definition has named them in its order. */
static err fallback_variant(struct tx *tx, const struct approval *p, str *out)
{
    const struct json *options;

    TRY(json_parse_own(tx->arena, p->options, &options));
    *out = options->len ? approval_option_name(tx->arena, &options->items[0]) : STR("");
    return NULL;
}

err approval_due_expire(struct tx *tx, const struct due *due)
{
    struct approval_decision d = { .status = APPROVAL_EXPIRED,
                                   .channel = STR("deadline"),
                                   .reason = STR("nobody has decided in time") };
    enum approval_status as;
    struct approval p;
    struct execution e;
    bool found;

    TRY(approval_load(tx, due->subject, &p, &found));
    if (!found || p.status != APPROVAL_WAITING)
        return NULL;
    as = str_eq(p.fallback, STR("approve")) ? APPROVAL_APPROVED : APPROVAL_REJECTED;
    if (as == APPROVAL_APPROVED)
        TRY(fallback_variant(tx, &p, &d.selected_variant));
    TRY(execution_load(tx, p.no, &e, &found));
    assert(found);
    return decided(tx, &p, as, &d, &e);
}
