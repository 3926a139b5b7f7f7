/* documents.c: executions by what documents 001 and 002 know of them, and what is said of their steps. */
#include "core/exec/documents.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/columns.h"
#include "core/exec/private.h"
#include "core/session.h"
#include "core/stored.h"

/* ---- which there are ---- */

/* The session that asks; without an id: it is none, or none that is known. */
static err actor_session(struct tx *tx, struct session *out)
{
    bool found = false;

    *out = (struct session){ .depth = 0 };
    if (tx->actor->kind == ACTOR_SESSION)
        TRY(session_find_id(tx, tx->actor->session_id, out, &found));
    return NULL;
}

/* What it works for, when that is a step. */
static err works_for(struct tx *tx, const struct session *s, str *out)
{
    const struct json *task;

    *out = STR("");
    if (!s->task.len)
        return NULL;
    TRY(stored_parse_as(tx, THING("session", s->id), s->task, JSON_OBJECT, &task));
    *out = json_str(task, "workflow_id");
    return NULL;
}

err execution_see(struct tx *tx, str id, struct execution *out)
{
    err refused = execution_get(tx, id, out);
    const struct row *row;
    struct session s;
    str works;
    bool found;

    if (!refused || refused->kind != ERR_NOT_FOUND)
        return refused;
    TRY(actor_session(tx, &s));
    if (!s.id.len)
        return refused;
    TRY(works_for(tx, &s, &works));
    TRY(sql_one(tx->sql, &row, "SELECT no, root_id FROM execution WHERE execution_id = $1",
                ARGS(TEXT(id))));
    if (!row || !(str_eq(row_str(row, 1), s.root_id) || str_eq(id, works)))
        return refused;
    TRY(execution_load(tx, row_int(row, 0), out, &found));
    assert(found);
    return NULL;
}

/* The first condition is that of the index. */
#define OF_DOCUMENTS                                                       \
    " FROM execution e WHERE kind IN ('phases', 'generation', 'planning')" \
    " AND (($1 = '' AND kind <> 'phases') OR kind = $1)"                   \
    " AND ($2 = 0 OR workspace = $3)"                                      \
    " AND ($4 = '' OR status = $4 OR ($4 = 'open' AND open = 1))"          \
    " AND ($5 = 0 OR EXISTS (SELECT 1 FROM step s"                         \
    "   WHERE s.no = e.no AND s.status = 'waiting_approval'))"             \
    " AND ($6 = '' OR root_id = $6)"

err execution_documents(struct tx *tx, const struct execution_documents *f,
                        const struct execution **out, size_t *count, int64_t *total)
{
    bool session = tx->actor->kind == ACTOR_SESSION;
    const struct row *rows, *row;
    struct session s;

    TRY(actor_session(tx, &s));
    *count = 0;
    if (total)
        *total = 0;
    if (session && !s.id.len)
        return NULL;
    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " EXECUTION_LISTED_NAMES OF_DOCUMENTS
                " AND no < $7 ORDER BY no DESC LIMIT $8",
                ARGS(TEXT(f->kind), INT(f->of_workspace), TEXT(f->workspace), TEXT(f->status),
                     INT(f->waiting), TEXT(s.root_id), INT(f->before ? f->before : INT64_MAX),
                     INT(f->limit))));
    struct execution *all = ARENA_ARRAY(tx->arena, struct execution, *count);
    for (size_t i = 0; i < *count; i++) {
        all[i] = (struct execution){ .no = 0 };
        COLUMNS_READ(EXECUTION_LISTED, tx, &rows[i], "execution", (&all[i]));
    }
    *out = all;
    if (!total)
        return NULL;
    TRY(sql_one(tx->sql, &row, "SELECT count(*)" OF_DOCUMENTS,
                ARGS(TEXT(f->kind), INT(f->of_workspace), TEXT(f->workspace), TEXT(f->status),
                     INT(f->waiting), TEXT(s.root_id))));
    *total = row_int(row, 0);
    return NULL;
}

/* ---- what is said of a step ---- */

/* What follows from what is said, by what the step is. */
enum follows { REFUSED, SAME, BEGINS, NOTED, ENDS };

// clang-format off
static const enum follows rules[STEP_STATUS_COUNT][STEP_STATUS_COUNT] = {
    /* said */          /* is */
    [STEP_PENDING]     = { [STEP_PENDING] = SAME },
    [STEP_IN_PROGRESS] = { [STEP_PENDING] = BEGINS, [STEP_IN_PROGRESS] = NOTED },
    [STEP_COMPLETED]   = { [STEP_IN_PROGRESS] = ENDS, [STEP_COMPLETED] = SAME, [STEP_APPROVAL] = SAME },
    [STEP_FAILED]      = { [STEP_IN_PROGRESS] = ENDS, [STEP_FAILED] = SAME },
};
// clang-format on

static bool is_phases(const struct exec *x)
{
    return x->graph->kind == GRAPH_PHASES;
}

static const char *noun_of(const struct exec *x)
{
    return is_phases(x) ? "phase" : "step";
}

/* A status in the words of the document. */
static const char *word_of(const struct exec *x, enum step_status s)
{
    if (is_phases(x) && (s == STEP_IN_PROGRESS || s == STEP_APPROVAL))
        return s == STEP_APPROVAL ? "waiting for an approval" : "active";
    return team_name(&step_words, (int)s).at;
}

/* The steps before it that are not done; empty: all are. */
static str missing_before(struct exec *x, uint16_t step)
{
    const struct graph_step *s = &x->graph->steps[step];
    struct buf out = buf_in(x->tx->arena);

    for (size_t i = 0; i < s->after_count; i++) {
        const struct step *before = exec_step(x, s->after[i]);
        if (before->status == STEP_COMPLETED || before->status == STEP_SKIPPED)
            continue;
        buf_printf(&out, "%s" STR_FMT " (%s)", out.len ? ", " : "", STR_ARG(before->node),
                   word_of(x, before->status));
    }
    return buf_str(&out);
}

/* What there is to do instead. */
static str advice(struct exec *x, const struct step *s, uint16_t step)
{
    struct arena *a = x->tx->arena;
    str missing = missing_before(x, step);

    if (s->status == STEP_PENDING && missing.len)
        return arena_printf(a, "it begins by itself when what comes before it is done: " STR_FMT,
                            STR_ARG(missing));
    if (s->status == STEP_PENDING)
        return arena_printf(a, "say first that it is %s", word_of(x, STEP_IN_PROGRESS));
    if (s->status == STEP_IN_PROGRESS)
        return STR("say that it is completed, or that it has failed");
    if (s->status == STEP_APPROVAL)
        return STR("a person decides about what it has given");
    return arena_printf(a,
                        "it is done anew only when the workflow is resumed from it "
                        "('baton execution resume " STR_FMT " --from " STR_FMT "')",
                        STR_ARG(x->row.id), STR_ARG(s->node));
}

static err refuse(struct exec *x, const struct step_told *t, uint16_t step)
{
    const struct step *s = exec_step(x, step);

    return err_new(x->tx->arena, ERR_CONFLICT,
                   "%s " STR_FMT " is %s, and cannot become %s: " STR_FMT, noun_of(x),
                   STR_ARG(s->node), word_of(x, s->status), word_of(x, t->status),
                   STR_ARG(advice(x, s, step)));
}

/* The same again, as whoever has not heard the answer says it; anything else would change what others
 * have built on. */
static err same(struct exec *x, const struct step_told *t, const struct step *s)
{
    const struct json *data;

    TRY(stored_parse_as(x->tx, THING("execution", x->row.id), s->data, JSON_OBJECT, &data));
    const struct json *outputs = json_get(data, "outputs");
    if (!outputs)
        outputs = json_get(json_get(data, "told"), "outputs");
    for (uint32_t i = 0; t->outputs && i < t->outputs->len; i++) {
        const struct json_member *m = &t->outputs->members[i];
        const struct json *there = json_find(outputs, json_name(m));
        if (!there || !json_equal(there, &m->value))
            return err_new(x->tx->arena, ERR_CONFLICT,
                           "%s " STR_FMT " is %s already, with another \"" STR_FMT
                           "\": what came of it does not change any more, unless it is done anew "
                           "('baton execution resume " STR_FMT " --from " STR_FMT "')",
                           noun_of(x), STR_ARG(s->node), word_of(x, s->status),
                           STR_ARG(json_name(m)), STR_ARG(x->row.id), STR_ARG(s->node));
    }
    return NULL;
}

/* All that was said of this attempt. */
static err told_together(struct exec *x, const struct step_told *t, const struct step *s,
                         struct json *out)
{
    const struct json *data, *told;

    TRY(stored_parse_as(x->tx, THING("execution", x->row.id), s->data, JSON_OBJECT, &data));
    told = json_get(data, "told");
    const struct json *before =
        json_int_or(told, "attempt", 0) == s->attempt ? json_get(told, "outputs") : NULL;
    *out = json_object();
    for (uint32_t i = 0; before && i < before->len; i++)
        if (!t->outputs || !json_find(t->outputs, json_name(&before->members[i])))
            json_put(x->tx->arena, out, json_name(&before->members[i]), before->members[i].value);
    for (uint32_t i = 0; t->outputs && i < t->outputs->len; i++)
        json_put(x->tx->arena, out, json_name(&t->outputs->members[i]),
                 t->outputs->members[i].value);
    return NULL;
}

/* It is kept as what there is so far, of the attempt that says it. */
static err note(struct exec *x, struct step *s, int64_t attempt, const struct json *outputs)
{
    struct json told = json_object();

    json_put(x->tx->arena, &told, STR("attempt"), json_int(x->tx->arena, attempt));
    json_put(x->tx->arena, &told, STR("outputs"), *outputs);
    return step_note(x, s, "told", told);
}

static err told_begins(struct exec *x, const struct step_told *t, uint16_t step,
                       struct execution *out)
{
    struct step *s = exec_step(x, step);
    struct mark *m = mark_after(x, 0);

    while (m && !(m->at == x->graph->steps[step].node && m->status == MARK_READY))
        m = mark_after(x, m->n);
    if (!m)
        return refuse(x, t, step);
    if (x->row.status == EXECUTION_PAUSED)
        return err_new(x->tx->arena, ERR_CONFLICT,
                       "workflow " STR_FMT " is paused, and nothing of it begins: resume it first "
                       "('baton execution resume " STR_FMT "')",
                       STR_ARG(x->row.id), STR_ARG(x->row.id));
    if (x->row.failing)
        return err_new(x->tx->arena, ERR_CONFLICT,
                       "workflow " STR_FMT
                       " is failing, and nothing of it begins any more: " STR_FMT,
                       STR_ARG(x->row.id), STR_ARG(x->row.reason));
    mark_todo(x, m, MARK_BEGIN);
    exec_told(x);
    TRY(exec_drain(x));
    if (t->outputs && t->outputs->len)
        TRY(note(x, s, s->attempt, t->outputs));
    return exec_close(x, out);
}

static err told_noted(struct exec *x, const struct step_told *t, uint16_t step,
                      struct execution *out)
{
    struct execution_report r = { .step = t->step, .item = -1 };
    struct step *s = exec_step(x, step);
    struct json all;
    struct mark *m;

    TRY(report_find(x, &r, &m));
    if (!t->outputs || !t->outputs->len)
        return NULL;
    TRY(told_together(x, t, s, &all));
    TRY(note(x, s, s->attempt, &all));
    return exec_close(x, out);
}

static err told_ends(struct exec *x, const struct step_told *t, uint16_t step,
                     struct execution *out)
{
    struct execution_report r = {
        .step = t->step, .item = -1, .failed = t->status == STEP_FAILED, .error = t->error
    };
    struct step *s = exec_step(x, step);
    struct json all;
    struct mark *m;

    TRY(report_find(x, &r, &m));
    TRY(told_together(x, t, s, &all));
    if (r.failed && !r.error.len)
        r.error = arena_printf(x->tx->arena, "%s " STR_FMT " was said to have failed", noun_of(x),
                               STR_ARG(s->node));
    if (r.failed && all.len)
        TRY(note(x, s, s->attempt, &all));
    if (!r.failed)
        TRY(outputs_check(x, m, &all));
    struct outcome o = { .what = r.failed ? "failed" : "completed",
                         .outputs = &all,
                         .error = r.error };
    return work_told(x, m, &o, out);
}

err execution_tell(struct tx *tx, str id, const struct step_told *t, struct execution *out)
{
    struct exec x;

    assert(t->status < STEP_STATUS_COUNT);
    TRY(execution_see(tx, id, out));
    TRY(exec_open(tx, out, &x));
    uint16_t step = graph_step_find(x.graph, t->step);
    if (step == GRAPH_NONE)
        return err_new(tx->arena, ERR_NOT_FOUND, "workflow " STR_FMT " has no %s \"" STR_FMT "\"",
                       STR_ARG(id), noun_of(&x), STR_ARG(utf8_cut(t->step, 80)));
    const struct step *s = exec_step(&x, step);
    enum follows follows = rules[t->status][s->status];
    if (follows == SAME)
        return same(&x, t, s);
    if (!execution_is_open(out->status))
        return err_new(tx->arena, ERR_CONFLICT,
                       "workflow " STR_FMT " has ended (" STR_FMT "), and %s " STR_FMT
                       " is %s: resume it from a %s ('baton execution resume " STR_FMT
                       " --from " STR_FMT "'), or start another",
                       STR_ARG(out->id), STR_ARG(team_name(&execution_words, (int)out->status)),
                       noun_of(&x), STR_ARG(s->node), word_of(&x, s->status), noun_of(&x),
                       STR_ARG(out->id), STR_ARG(s->node));
    switch (follows) {
    case BEGINS: return told_begins(&x, t, step, out);
    case NOTED: return told_noted(&x, t, step, out);
    case ENDS: return told_ends(&x, t, step, out);
    default: return refuse(&x, t, step);
    }
}
