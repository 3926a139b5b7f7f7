/* execution.c: executions as rows: how they begin, what is asked of them, and how they go. */
#include "core/exec/execution.h"

#include <assert.h>

#include "base/digest.h"
#include "base/utf8.h"
#include "core/columns.h"
#include "core/exec/documents.h"
#include "core/exec/private.h"
#include "core/session.h"
#include "core/stored.h"

/* ---- rows ---- */

static void execution_read(struct tx *tx, const struct row *row, bool whole, struct execution *out)
{
    *out = (struct execution){ .no = 0 };
    if (whole)
        COLUMNS_READ(EXECUTION_COLUMNS, tx, row, "execution", out);
    else
        COLUMNS_READ(EXECUTION_LISTED, tx, row, "execution", out);
}

err execution_load(struct tx *tx, int64_t no, struct execution *out, bool *found)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT " EXECUTION_NAMES " FROM execution WHERE no = $1",
                ARGS(INT(no))));
    *found = row;
    if (row)
        execution_read(tx, row, true, out);
    return NULL;
}

/* A session sees what was started for it and for those below it. */
static err in_reach(struct tx *tx, const struct execution *e, bool *out)
{
    struct session s;
    bool found;

    *out = tx->actor->kind != ACTOR_SESSION && !tx->actor->state_id.len;
    if (tx->actor->kind != ACTOR_SESSION || !e->session_id.len)
        return NULL;
    TRY(session_find_id(tx, e->session_id, &s, &found));
    return found ? session_in_reach(tx, &s, out) : NULL;
}

err execution_get(struct tx *tx, str id, struct execution *out)
{
    const struct row *row;
    bool reached = false;

    TRY(sql_one(tx->sql, &row, "SELECT " EXECUTION_NAMES " FROM execution WHERE execution_id = $1",
                ARGS(TEXT(id))));
    if (row) {
        execution_read(tx, row, true, out);
        TRY(in_reach(tx, out, &reached));
    }
    if (reached)
        return NULL;
    return err_new(tx->arena, ERR_NOT_FOUND,
                   "there is no execution " STR_FMT ": 'baton execution list' shows those that are",
                   STR_ARG(utf8_cut(id, 120)));
}

err execution_list(struct tx *tx, const struct execution_filter *f, const struct execution **out,
                   size_t *count)
{
    bool session = tx->actor->kind == ACTOR_SESSION;
    str only = session ? tx->actor->session_id : f->session;
    const struct row *rows;
    struct session s = { .id = only };

    if (only.len && !session) {
        TRY(session_get(tx, only, &s));
        only = s.id;
    }
    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " EXECUTION_LISTED_NAMES " FROM execution WHERE no < $1"
                " AND ($2 = '' OR workflow = $2)"
                " AND ($3 = '' OR status = $3 OR ($3 = 'open' AND open = 1))"
                " AND ($4 = '' OR session_id = $4 OR root_id = $4)"
                " AND ($5 = '' OR workspace = $5) AND ($6 = '' OR business_key = $6)"
                " ORDER BY no DESC LIMIT $7",
                ARGS(INT(f->before ? f->before : INT64_MAX), TEXT(f->workflow), TEXT(f->status),
                     TEXT(only), TEXT(f->workspace), TEXT(f->business_key), INT(f->limit))));
    struct execution *all = ARENA_ARRAY(tx->arena, struct execution, *count);
    for (size_t i = 0; i < *count; i++)
        execution_read(tx, &rows[i], false, &all[i]);
    *out = all;
    return NULL;
}

err execution_steps(struct tx *tx, const struct execution *e, struct step **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " STEP_NAMES " FROM step WHERE no = $1 ORDER BY node", ARGS(INT(e->no))));
    *out = arena_zero(tx->arena, (*count + 1) * sizeof **out);
    for (size_t i = 0; i < *count; i++)
        COLUMNS_READ(STEP_COLUMNS, tx, &rows[i], "step", (&(*out)[i]));
    return NULL;
}

err execution_marks(struct tx *tx, const struct execution *e, int64_t limit, struct mark **out,
                    size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "SELECT " MARK_NAMES " FROM mark WHERE no = $1 ORDER BY scope, n LIMIT $2",
                ARGS(INT(e->no), INT(limit))));
    *out = arena_zero(tx->arena, (*count + 1) * sizeof **out);
    for (size_t i = 0; i < *count; i++)
        COLUMNS_READ(MARK_COLUMNS, tx, &rows[i], "mark", (&(*out)[i]));
    return NULL;
}

/* ---- ids ---- */

/* Eight bytes of time and then chance, as UUID 7 has it: ids rise with time, so that rows of one time
 * are near each other. */
static str uuid_id(struct tx *tx)
{
    unsigned char b[16];
    uint64_t ms = (uint64_t)tx->now_ms;

    tx->source->random(tx->source->self, b, sizeof b);
    for (int i = 0; i < 6; i++)
        b[i] = (unsigned char)(ms >> (40 - 8 * i));
    b[6] = (unsigned char)(0x70 | (b[6] & 0x0f));
    b[8] = (unsigned char)(0x80 | (b[8] & 0x3f));
    const char *hex = hex_encode(tx->arena, (str){ (const char *)b, sizeof b }).at;
    return arena_printf(tx->arena, "exec-%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
                        hex + 16, hex + 20);
}

/* 20261118_195200, or with a hyphen. */
static str stamp(struct tx *tx, char between)
{
    char room[DATE_TEXT_MAX];
    str t = date_print(room, tx->now_ms);

    return arena_printf(tx->arena, "%.4s%.2s%.2s%c%.2s%.2s%.2s", t.at, t.at + 5, t.at + 8, between,
                        t.at + 11, t.at + 14, t.at + 17);
}

/* What may be part of an id that is part of a path. */
static str id_part(struct tx *tx, str text)
{
    struct buf out = buf_in(tx->arena);

    for (size_t i = 0; i < text.len && out.len < 80; i++) {
        char c = text.at[i], low = (char)(c | 0x20);
        bool good = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                    c == '.';
        buf_byte(&out, good ? c : '-');
    }
    return buf_str(&out);
}

static err id_taken(struct tx *tx, str id, bool *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT 1 FROM execution WHERE execution_id = $1", ARGS(TEXT(id))));
    *out = row;
    return NULL;
}

/* Of planning: the level, and the numbers from the chapter on (of an act its own), two digits each. */
static str context_numbers(struct exec *x)
{
    static const char *const parts[] = { "act", "chapter", "scene" };
    const struct json *context = json_get(&x->vars, "context");
    struct buf out = buf_in(x->tx->arena);
    bool below = json_get(context, "chapter") || json_get(context, "scene");

    for (size_t i = below; i < sizeof parts / sizeof *parts; i++) {
        int64_t number = json_int_or(context, parts[i], -1);
        if (number >= 0)
            buf_printf(&out, "%02lld", (long long)number);
    }
    if (!out.len || !x->graph->level.len)
        return STR("");
    return arena_printf(x->tx->arena, STR_FMT "-" STR_FMT, STR_ARG(x->graph->level),
                        STR_ARG(buf_str(&out)));
}

/* Document 002's context: what its input says of the scene, or what a template of the definition does. */
static err context_of(struct exec *x, str *out)
{
    struct feel_scope names = { .vars = &x->vars };
    const struct json *scene = json_get(&x->vars, "scene_id");
    str text = STR("");

    if (x->graph->context)
        TRY(template_render(x->tx->arena, x->graph->context, &names, x->tx->now_ms, &text));
    else if (json_is(scene, JSON_STRING))
        text = arena_printf(x->tx->arena, "scene-" STR_FMT, STR_ARG(json_text(scene)));
    else if (x->graph->kind == GRAPH_PLANNING)
        text = context_numbers(x);
    *out = id_part(x->tx, text);
    return NULL;
}

/* In the form of the document that the definition is of; a second one in a second gets _2. */
static err id_make(struct exec *x, str *out)
{
    static const char *const types[GRAPH_KINDS] = {
        [GRAPH_GENERATION] = "generation", [GRAPH_PLANNING] = "planning"
    };
    struct tx *tx = x->tx;
    str context, id;
    bool taken = true;

    TRY(context_of(x, &context));
    if (x->graph->kind == GRAPH_PHASES)
        id = arena_printf(tx->arena, "wf_" STR_FMT, STR_ARG(stamp(tx, '_')));
    else if (types[x->graph->kind] || context.len)
        id = arena_printf(tx->arena, STR_FMT "-" STR_FMT "%s" STR_FMT,
                          STR_ARG(types[x->graph->kind] ? str_from(types[x->graph->kind])
                                                        : id_part(tx, x->row.workflow)),
                          STR_ARG(context), context.len ? "-" : "", STR_ARG(stamp(tx, '-')));
    else
        id = uuid_id(tx);
    *out = id;
    TRY(id_taken(tx, *out, &taken));
    for (int i = 2; taken; i++) {
        *out = arena_printf(tx->arena, STR_FMT "_%d", STR_ARG(id), i);
        TRY(id_taken(tx, *out, &taken));
    }
    return NULL;
}

/* ---- beginning ---- */

static err key_check(struct tx *tx, const struct execution_new *n)
{
    const struct row *row;

    if (!n->business_key.len)
        return NULL;
    if (n->business_key.len > EXECUTION_KEY_MAX)
        return err_new(tx->arena, ERR_INVALID, "expected a business_key of at most %d bytes",
                       EXECUTION_KEY_MAX);
    TRY(sql_one(tx->sql, &row,
                "SELECT execution_id FROM execution WHERE workflow = $1 AND business_key = $2"
                " AND business_key <> '' AND open = 1 LIMIT 1",
                ARGS(TEXT(n->workflow), TEXT(n->business_key))));
    if (!row)
        return NULL;
    err e = err_new(tx->arena, ERR_CONFLICT,
                    "execution " STR_FMT " of workflow \"" STR_FMT
                    "\" has the business key \"" STR_FMT
                    "\" and has not ended: go on with that one, or cancel it first",
                    STR_ARG(row_str(row, 0)), STR_ARG(n->workflow), STR_ARG(n->business_key));
    return err_with(tx->arena, e,
                    arena_printf(tx->arena, "\"execution_id\":\"" STR_FMT "\"",
                                 STR_ARG(row_str(row, 0))));
}

/* Whose tree it belongs to, and which state it is about. */
static err bind(struct tx *tx, const struct execution_new *n, struct execution *e)
{
    bool own = tx->actor->kind == ACTOR_SESSION && !n->session.len;
    str session = own ? tx->actor->session_id : n->session;
    struct session s;
    struct state state;

    if (session.len) {
        TRY(session_get(tx, session, &s));
        e->session_id = s.id;
        e->root_id = s.root_id;
        e->workflow_state_id = s.state_id;
        if (!e->project_dir.len)
            e->project_dir = s.project_dir;
    }
    if (n->workflow_state_id.len) {
        TRY(state_head(tx, n->workflow_state_id, &state));
        e->workflow_state_id = state.id;
    }
    return NULL;
}

static err input_check(struct tx *tx, const struct workflow_program *p, const struct json *input)
{
    err e = p->input ? schema_require(tx->arena, p->input, input) : NULL;

    return e ? err_within(tx->arena, e, "the input of the workflow does not fit its definition")
             : NULL;
}

err execution_start(struct tx *tx, const struct execution_new *n, struct execution *out)
{
    const struct workflow_program *program;
    struct json none = json_object();
    const struct json *input = n->input ? n->input : &none;
    struct workflow w;
    struct exec x;

    TRY(workflow_find(tx, n->workflow, n->version, &w));
    TRY(workflow_program(tx, w.name, w.version, w.digest, &program));
    TRY(workflow_begun(tx, &w));
    TRY(input_check(tx, program, input));
    TRY(key_check(tx, n));
    struct execution e = {
        .workflow = w.name,
        .version = w.version,
        .digest = w.digest,
        .kind = w.kind,
        .status = EXECUTION_RUNNING,
        .workspace = n->workspace,
        .project_dir = n->project_dir,
        .business_key = n->business_key,
        .vars = json_printed(tx->arena, input),
        .started_by = tx->actor->name,
        .created_at_ms = tx->now_ms,
    };
    TRY(bind(tx, n, &e));
    TRY(documents_begin(tx, e.kind, e.root_id));
    e.no = *tx->seq + 1; /* its first event comes with it */
    TRY(exec_open(tx, &e, &x));
    str trouble = vars_trouble(&x);
    if (trouble.len)
        return err_new(tx->arena, ERR_TOO_LARGE, STR_FMT, STR_ARG(trouble));
    TRY(id_make(&x, &x.row.id));
    mark_todo(&x, mark_new(&x, 0, x.graph->start, GRAPH_NONE), MARK_ENTER);
    TRY(exec_drain(&x));
    return exec_close(&x, out);
}

/* ---- what is asked of one that is there ---- */

err execution_get_open(struct tx *tx, str id, struct execution *out)
{
    TRY(execution_get(tx, id, out));
    if (execution_is_open(out->status))
        return NULL;
    return err_new(tx->arena, ERR_CONFLICT,
                   "execution " STR_FMT " has ended (" STR_FMT
                   "): resume it from a step ('baton execution resume " STR_FMT
                   " --from STEP'), or start another",
                   STR_ARG(out->id), STR_ARG(team_name(&execution_words, (int)out->status)),
                   STR_ARG(out->id));
}

/* Jobs that nobody has are offered no more, or again. */
static err queue_hold(struct tx *tx, const struct execution *e)
{
    return sql_exec(tx->sql,
                    "UPDATE mark SET job_place = -job_place WHERE no = $1 AND job_type <> ''",
                    ARGS(INT(e->no)));
}

err execution_pause(struct tx *tx, str id, str reason, struct execution *out)
{
    struct exec x;

    TRY(execution_get_open(tx, id, out));
    if (out->status == EXECUTION_PAUSED)
        return NULL;
    TRY(queue_hold(tx, out));
    TRY(exec_open(tx, out, &x));
    x.row.status = EXECUTION_PAUSED;
    x.row.reason = reason;
    return exec_close(&x, out);
}

static err step_find(struct exec *x, str step, uint16_t *out)
{
    struct buf names = buf_in(x->tx->arena);

    if (x->graph->kind == GRAPH_NODES)
        return err_new(x->tx->arena, ERR_CONFLICT,
                       "workflow \"" STR_FMT "\" is made of nodes and flows, which may go in "
                       "circles: only one made of steps can be resumed from a step",
                       STR_ARG(x->row.workflow));
    *out = graph_step_find(x->graph, step);
    if (*out != GRAPH_NONE)
        return NULL;
    for (uint16_t i = 0; i < x->graph->step_count && names.len < 300; i++)
        buf_printf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(x->graph->steps[i].id));
    return err_new(x->tx->arena, ERR_NOT_FOUND,
                   "workflow \"" STR_FMT "\" has no step \"" STR_FMT "\"; its steps are: " STR_FMT,
                   STR_ARG(x->row.workflow), STR_ARG(utf8_cut(step, 80)), STR_ARG(buf_str(&names)));
}

/* The same business key may have come again meanwhile, and the definition may be gone: only open
 * executions keep it. */
static err reopen_check(struct tx *tx, const struct execution *e)
{
    struct execution_new n = { .workflow = e->workflow, .business_key = e->business_key };
    struct workflow w;

    if (execution_is_open(e->status))
        return NULL;
    TRY(workflow_still(tx, e->workflow, e->version, e->digest, &w));
    TRY(workflow_begun(tx, &w));
    return key_check(tx, &n);
}

err execution_resume(struct tx *tx, str id, str step, struct execution *out)
{
    struct exec x;
    uint16_t from = GRAPH_NONE;

    if (step.len)
        TRY(execution_get(tx, id, out));
    else
        TRY(execution_get_open(tx, id, out));
    if (!step.len && out->status == EXECUTION_RUNNING)
        return NULL;
    TRY(reopen_check(tx, out));
    if (out->status == EXECUTION_PAUSED) {
        TRY(queue_hold(tx, out));
        TRY(share_turn_by(tx, tx->now_ms));
    }
    TRY(exec_open(tx, out, &x));
    if (step.len) {
        if (x.row.failing && execution_is_open(x.row.status))
            return err_new(tx->arena, ERR_CONFLICT,
                           "execution " STR_FMT " is about to fail, and waits for what is at work: "
                           "resume it from a step when it has ended, or cancel it first",
                           STR_ARG(x.row.id));
        TRY(step_find(&x, step, &from));
        TRY(exec_reopen(&x, from, false, STR("")));
    }
    x.row.status = EXECUTION_RUNNING;
    x.row.reason = x.row.failing ? x.row.reason : STR("");
    exec_told(&x);
    TRY(exec_drain(&x));
    return exec_close(&x, out);
}

err execution_cancel(struct tx *tx, str id, str reason, struct execution *out)
{
    struct exec x;

    TRY(execution_get(tx, id, out));
    if (out->status == EXECUTION_CANCELLED)
        return NULL;
    TRY(execution_get_open(tx, id, out));
    TRY(exec_open(tx, out, &x));
    TRY(exec_end(&x, EXECUTION_CANCELLED, reason.len ? reason : STR("it was cancelled"), true));
    return exec_close(&x, out);
}

err execution_set(struct tx *tx, str id, const struct json *variables, struct execution *out)
{
    struct exec x;

    TRY(execution_get_open(tx, id, out));
    TRY(exec_open(tx, out, &x));
    TRY(vars_set_all(&x, variables));
    str trouble = vars_trouble(&x);
    if (trouble.len)
        return err_new(tx->arena, ERR_TOO_LARGE, STR_FMT, STR_ARG(trouble));
    exec_told(&x);
    return exec_close(&x, out);
}

static err execution_remove(struct tx *tx, const struct execution *e)
{
    struct sql_args self = ARGS(INT(e->no));

    assert(!execution_is_open(e->status));
    TRY(state_forget(tx, e->state_id));
    TRY(sql_exec(tx->sql, "DELETE FROM incident WHERE no = $1", self));
    TRY(sql_exec(tx->sql, "DELETE FROM approval WHERE no = $1", self));
    TRY(sql_exec(tx->sql, "DELETE FROM step WHERE no = $1", self));
    TRY(sql_exec(tx->sql, "DELETE FROM execution WHERE no = $1", self));
    TRY(workflow_let_go(tx, e->workflow));
    return event_emit(tx, (struct event){ .type = EVENT_EXECUTION_DELETED, .subject = e->id },
                      NULL);
}

err execution_delete(struct tx *tx, str id)
{
    struct execution e;

    TRY(execution_get(tx, id, &e));
    if (execution_is_open(e.status))
        return err_new(tx->arena, ERR_CONFLICT,
                       "execution " STR_FMT " has not ended: cancel it first ('baton execution "
                       "cancel " STR_FMT "')",
                       STR_ARG(e.id), STR_ARG(e.id));
    return execution_remove(tx, &e);
}

err execution_due_retain(struct tx *tx, const struct due *due)
{
    int64_t most = team_rules_of(tx)->execution_retention_ms;
    struct execution e;
    int64_t no;
    bool found;

    if (!str_to_int(due->subject, &no))
        return stored_damage(tx, THING("what is due for an execution", due->subject),
                             "it names none");
    TRY(execution_load(tx, no, &e, &found));
    if (!found || execution_is_open(e.status) || !most)
        return NULL;
    if (e.ended_at_ms + most >
        tx->now_ms) /* it was resumed, and ended again; or the setting grew */
        return due_add(tx, e.ended_at_ms + most, DUE_RETAIN_EXECUTION, due->subject, 0);
    return execution_remove(tx, &e);
}
