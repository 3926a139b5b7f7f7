/* approval.c: a person is asked: what there is to judge, the row that waits for an answer, and how it ends. */
#include <assert.h>

#include "base/digest.h"
#include "core/columns.h"
#include "core/exec/private.h"

enum { OPTIONS_MAX = 100 };

static const struct graph_step *definition_of(const struct exec *x, const struct mark *m)
{
    assert(x->graph->nodes[m->at].step != GRAPH_NONE);
    return &x->graph->steps[x->graph->nodes[m->at].step];
}

/* ---- what there is to judge ---- */

static void shown_put(struct exec *x, struct json *out, str name, const struct json *outputs)
{
    const struct json *value = json_find(outputs, name);

    if (!value)
        value = json_find(&x->vars, name);
    json_put(x->tx->arena, out, name, value ? *value : json_null());
}

static struct json content_of(struct exec *x, const struct mark *m, const struct json *outputs)
{
    const struct graph_step *s = definition_of(x, m);
    struct arena *a = x->tx->arena;
    struct json content = json_object(), shown = json_object();

    json_put(a, &content, STR("step"), json_string(s->id));
    json_put(a, &content, STR("title"), json_string(s->title));
    if (s->description.len)
        json_put(a, &content, STR("description"), json_string(s->description));
    for (size_t i = 0; i < s->approval->show_count; i++)
        shown_put(x, &shown, s->approval->show[i], outputs);
    json_put(a, &content, STR("outputs"), s->approval->show_count ? shown : *outputs);
    return content;
}

static str digest_of(struct exec *x, const struct json *content)
{
    unsigned char sum[SHA256_BYTES];
    struct buf text = buf_in(x->tx->arena);

    json_print_canonical(&text, content);
    sha256(buf_str(&text), sum);
    return hex_encode(x->tx->arena, (str){ (const char *)sum, sizeof sum });
}

/* By what a variant is chosen: a text, a number as it is written, or what an object says it is. */
str approval_option_name(struct arena *a, const struct json *option)
{
    static const char *const names[] = { "id", "variant", "name" };

    if (option->kind == JSON_STRING)
        return json_text(option);
    if (option->kind == JSON_INTEGER || option->kind == JSON_REAL)
        return json_printed(a, option);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_str(option, names[i]).len)
            return json_str(option, names[i]);
    return STR("");
}

/* A list of variants, each of which can be named. */
static bool are_options(struct exec *x, const struct json *list)
{
    bool good = json_is(list, JSON_ARRAY) && list->len && list->len <= OPTIONS_MAX;

    for (uint32_t i = 0; good && i < list->len; i++)
        good = approval_option_name(x->tx->arena, &list->items[i]).len;
    return good;
}

static err options_of(struct exec *x, const struct mark *m, const struct json *outputs,
                      struct json *out, str *trouble)
{
    const struct feel *options = definition_of(x, m)->approval->options;
    struct exec_scope scope;
    struct feel_result r;

    *out = json_array();
    *trouble = STR("");
    if (!options)
        return NULL;
    TRY(scope_of(x, m, &scope));
    const struct feel_scope names = { outputs, scope_names(&scope) };
    err e = feel_eval(x->tx->arena, options, &names, x->tx->now_ms, &r);
    if (!e && are_options(x, r.value))
        *out = *r.value;
    else
        *trouble = arena_printf(
            x->tx->arena,
            "the options of its approval: expected a list of 1 to %d variants, texts or objects "
            "with an \"id\", from " STR_FMT ", found " STR_FMT STR_FMT
            ": set what it names, and resolve this",
            OPTIONS_MAX, STR_ARG(feel_text(options)),
            STR_ARG(e ? e->message : str_from(json_kind_name(r.value->kind))),
            STR_ARG(!e && r.reason.len
                        ? arena_printf(x->tx->arena, " (" STR_FMT ")", STR_ARG(r.reason))
                        : STR("")));
    return NULL;
}

/* ---- what is told of it ---- */

static struct json time_json(struct exec *x, int64_t ms)
{
    char room[DATE_TEXT_MAX];

    return ms ? json_string(arena_copy(x->tx->arena, date_print(room, ms))) : json_null();
}

bool approval_lets_pass(const struct approval *p)
{
    return p->status == APPROVAL_APPROVED ||
           (p->status == APPROVAL_EXPIRED && str_eq(p->fallback, STR("approve")));
}

/* Document 002's human_approval, and who has decided what. */
static err approval_note(struct exec *x, const struct approval *p)
{
    uint16_t step = graph_step_find(x->graph, p->node);
    bool passes = approval_lets_pass(p);
    struct arena *a = x->tx->arena;
    struct json out = json_object();
    const struct json *decision;

    if (step == GRAPH_NONE)
        return NULL;
    TRY(json_parse_own(a, p->decision, &decision));
    json_put(a, &out, STR("required"), json_bool(true));
    json_put(a, &out, STR("approved"), json_bool(passes));
    json_put(a, &out, STR("approved_at"), time_json(x, passes ? p->decided_at_ms : 0));
    for (uint32_t i = 0; i < decision->len; i++)
        json_put(a, &out, json_name(&decision->members[i]), decision->members[i].value);
    json_put(a, &out, STR("approval_id"), json_string(p->id));
    json_put(a, &out, STR("status"), json_string(team_name(&approval_words, (int)p->status)));
    json_put(a, &out, STR("digest"), json_string(p->digest));
    json_put(a, &out, STR("asked_at"), time_json(x, p->created_at_ms));
    if (p->decided_at_ms) {
        json_put(a, &out, STR("decided_at"), time_json(x, p->decided_at_ms));
        json_put(a, &out, STR("decided_by"), json_string(p->decided_by));
        json_put(a, &out, STR("channel"), json_string(p->channel));
    }
    return step_note(x, exec_step(x, step), "approval", out);
}

static err approval_emit(struct exec *x, enum event_type type, const struct approval *p)
{
    struct event_writer data;
    struct json_writer *w = event_begin(x->tx, &data);

    write_text(w, STR("kind"), STR("approval"));
    write_text(w, STR("execution_id"), p->execution_id);
    write_text(w, STR("workflow"), p->workflow);
    write_text(w, STR("step"), p->node);
    write_text(w, STR("title"), p->title);
    write_or_null(w, STR("session_id"), p->session_id);
    write_text(w, STR("status"), team_name(&approval_words, (int)p->status));
    write_text(w, STR("digest"), p->digest);
    if (type == EVENT_APPROVAL_RESOLVED) {
        write_printed(w, STR("decision"), p->decision);
        write_text(w, STR("decided_by"), p->decided_by);
        write_text(w, STR("channel"), p->channel);
    }
    return event_end(x->tx, &data, (struct event){ .type = type, .subject = p->id }, NULL);
}

/* ---- asking ---- */

static bool expires(const struct approval *p)
{
    return p->deadline_ms && p->fallback.len;
}

static struct approval approval_new(struct exec *x, const struct mark *m,
                                    const struct json *outputs, const struct json *options)
{
    const struct graph_step *s = definition_of(x, m);
    const struct graph_approval *a = s->approval;
    struct json content = content_of(x, m, outputs);

    return (struct approval){
        .id = tx_id(x->tx, "apr_"),
        .no = m->no,
        .scope = m->scope,
        .n = m->n,
        .execution_id = x->row.id,
        .workflow = x->row.workflow,
        .node = s->id,
        .title = s->title,
        .kind = a->variant ? STR("select_variant") : STR("approve"),
        .content = json_printed(x->tx->arena, &content),
        .digest = digest_of(x, &content),
        .options = json_printed(x->tx->arena, options),
        .on_reject = a->on_reject == GRAPH_NONE ? STR("") : x->graph->steps[a->on_reject].id,
        .attended = a->attended,
        .fallback = a->fallback,
        .deadline_ms = a->deadline_ms ? x->tx->now_ms + a->deadline_ms : 0,
        .session_id = x->row.session_id,
        .root_id = x->row.root_id,
        .status = APPROVAL_WAITING,
        .decision = STR("{}"),
        .created_at_ms = x->tx->now_ms,
    };
}

err approval_ask(struct exec *x, struct mark *m, const struct json *outputs)
{
    struct step *s = step_of(x, m);
    struct json options;
    str trouble;

    assert(!m->scope);
    if (x->row.failing) {
        mark_hold(x, m);
        return NULL;
    }
    TRY(options_of(x, m, outputs, &options, &trouble));
    m->vars = trouble.len ? json_printed(x->tx->arena, outputs) : STR("");
    if (trouble.len)
        return incident_raise(x, m, MARK_PROVE, "expression", trouble);
    struct approval p = approval_new(x, m, outputs, &options);
    exec_move(x, m, "asked");
    mark_rest(x, m, MARK_APPROVAL);
    if (s)
        step_become(x, s, STEP_APPROVAL);
    TRY(sql_exec(x->tx->sql, INSERT_INTO(approval, APPROVAL_COLUMNS),
                 ARGS(VALUES(APPROVAL_COLUMNS, (&p)))));
    if (expires(&p))
        TRY(due_add(x->tx, p.deadline_ms, DUE_APPROVAL_EXPIRE, p.id, 0));
    TRY(approval_note(x, &p));
    return approval_emit(x, EVENT_APPROVAL_REQUESTED, &p);
}

/* ---- ending ---- */

err approval_end(struct exec *x, struct approval *p)
{
    assert(p->status != APPROVAL_WAITING);
    p->decided_by = x->tx->actor->name;
    p->decided_at_ms = x->tx->now_ms;
    TRY(sql_exec(x->tx->sql,
                 "UPDATE approval SET " SET_STORED(APPROVAL_COLUMNS) " WHERE approval_id = $1",
                 ARGS(TEXT(p->id), STORED_VALUES(APPROVAL_COLUMNS, p))));
    if (expires(p))
        TRY(due_drop(x->tx, DUE_APPROVAL_EXPIRE, p->id));
    TRY(approval_note(x, p));
    return approval_emit(x, EVENT_APPROVAL_RESOLVED, p);
}

err approval_of_mark(struct exec *x, const struct mark *m, struct approval *out, bool *found)
{
    const struct row *row;

    TRY(sql_one(x->tx->sql, &row,
                "SELECT " APPROVAL_NAMES " FROM approval WHERE no = $1 AND scope = $2 AND n = $3"
                " AND status = 'waiting' LIMIT 1",
                ARGS(INT(m->no), INT(m->scope), INT(m->n))));
    *found = row;
    if (row)
        COLUMNS_READ(APPROVAL_COLUMNS, x->tx, row, "approval", out);
    return NULL;
}

err approval_withdraw(struct exec *x, const struct mark *m)
{
    struct step *s = step_of(x, m);
    struct approval p;
    bool found;

    TRY(approval_of_mark(x, m, &p, &found));
    if (!found)
        return NULL;
    p.status = APPROVAL_WITHDRAWN;
    if (s)
        step_become(x, s, STEP_IN_PROGRESS); /* it waits for nobody any more */
    return approval_end(x, &p);
}
