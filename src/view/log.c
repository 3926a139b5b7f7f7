/* log.c: what happened to an execution, a line for each thing.
 *
 * The history of its document tells what became of its steps, and when: it stays, also when the log of
 * events was cut. Failed attempts, approvals and incidents have rows of their own. */
#include <stdlib.h>

#include "core/exec/incident.h"
#include "core/state.h"
#include "core/stored.h"
#include "view/view.h"

enum { VERSIONS_MAX = 2000, ROWS_MAX = 500 };

struct line {
    int64_t ms;
    size_t order; /* of those of the same moment */
    str text;
};

struct lines {
    const struct view *view;
    struct line *at;
    size_t count, room;
};

static void add(struct lines *l, int64_t ms, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(struct lines *l, int64_t ms, const char *format, ...)
{
    struct buf text = buf_in(l->view->tx->arena);
    va_list args;

    if (l->count == l->room) {
        size_t more = l->room * 2 + 64;
        l->at =
            arena_grow(l->view->tx->arena, l->at, l->room * sizeof *l->at, more * sizeof *l->at);
        l->room = more;
    }
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    for (size_t i = 0; i < text.len; i++) /* one line each, whatever people have written */
        if (text.at[i] == '\n' || text.at[i] == '\r')
            ((char *)text.at)[i] = ' ';
    l->at[l->count] = (struct line){ ms, l->count, buf_str(&text) };
    l->count++;
}

static int line_order(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->ms != y->ms)
        return x->ms < y->ms ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* "step 3 (Verification Plan)" */
static str step_called(const struct view *v, uint16_t i)
{
    str key = view_key(v, i), title = v->steps[i].step->title;
    const char *noun = view_is_phases(v) || v->graph->kind == GRAPH_PLANNING ? "phase" : "step";

    if (view_is_phases(v) || str_eq(key, title))
        return str_eq(key, title) ? arena_printf(v->tx->arena, "%s " STR_FMT, noun, STR_ARG(key))
                                  : arena_printf(v->tx->arena, STR_FMT " (" STR_FMT ")",
                                                 STR_ARG(key), STR_ARG(title));
    return arena_printf(v->tx->arena, "%s " STR_FMT " (" STR_FMT ")", noun, STR_ARG(key),
                        STR_ARG(title));
}

static str node_called(const struct view *v, str node)
{
    uint16_t i = graph_step_find(v->graph, node);

    return i == GRAPH_NONE ? node : step_called(v, i);
}

/* ---- the history of its document ---- */

static str step_text(const struct json *doc, str step, const char *member)
{
    return json_str(json_find(json_get(doc, "steps"), step), member);
}

/* What is otherwise in a version than in the one before it. */
struct known {
    str status;
    str *steps;
    int64_t *attempts;
};

static void tell_version(struct lines *l, const struct event *row, const struct json *doc,
                         struct known *k)
{
    const struct view *v = l->view;
    str status = json_str(doc, "status"), reason = json_str(doc, "reason");

    for (uint16_t i = 0; i < v->count; i++) {
        const struct json *step = json_find(json_get(doc, "steps"), v->steps[i].step->id);
        str now = step_text(doc, v->steps[i].step->id, "status");
        int64_t attempt = json_int_or(step, "attempt", 0);
        if (!str_eq(now, k->steps[i]) && !(str_eq(now, STR("pending")) && !k->steps[i].len))
            add(l, row->time_ms, STR_FMT ": " STR_FMT " (by " STR_FMT ")",
                STR_ARG(step_called(v, i)), STR_ARG(now), STR_ARG(row->actor));
        if (attempt > 1 && attempt != k->attempts[i])
            add(l, row->time_ms, STR_FMT ": attempt %lld", STR_ARG(step_called(v, i)),
                (long long)attempt);
        k->steps[i] = arena_copy(v->tx->arena, now);
        k->attempts[i] = attempt;
    }
    if (k->status.len && !str_eq(status, k->status))
        add(l, row->time_ms, "workflow: " STR_FMT " (by " STR_FMT ")%s" STR_FMT, STR_ARG(status),
            STR_ARG(row->actor), reason.len ? ": " : "", STR_ARG(reason));
    k->status = arena_copy(v->tx->arena, status);
}

static err tell_history(struct lines *l)
{
    const struct view *v = l->view;
    struct known known = { .steps = arena_zero(v->tx->arena, v->count * sizeof *known.steps),
                           .attempts = arena_zero(v->tx->arena, v->count * sizeof(int64_t)) };
    const struct event **rows = ARENA_ARRAY(v->tx->arena, const struct event *, VERSIONS_MAX);
    const struct event *row;
    struct state s;
    struct json doc;
    size_t count = 0;

    TRY(state_load(v->tx, v->e->state_id, &s));
    TRY(state_row(v->tx, &s, s.last_seq, &row));
    while (row && count < VERSIONS_MAX) {
        rows[count++] = row;
        const struct event *before;
        TRY(state_row_before(v->tx, &s, row, &before));
        bool gap = before && before->version != row->version - 1;
        row = gap ? NULL : before;
    }
    TRY(state_at(v->tx, &s, rows[count - 1]->version, &doc));
    if (rows[count - 1]->version > 1)
        add(l, v->e->created_at_ms,
            "earlier lines are not kept here: see the history of state " STR_FMT, STR_ARG(s.id));
    tell_version(l, rows[count - 1], &doc, &known);
    for (size_t i = count - 1; i-- > 0;) {
        TRY(state_step(v->tx, &s, rows[i], &doc));
        tell_version(l, rows[i], &doc, &known);
    }
    return NULL;
}

/* ---- rows of their own ---- */

static void tell_attempts(struct lines *l, uint16_t i)
{
    const struct json *history = json_get(l->view->steps[i].data, "history");

    for (uint32_t k = 0; json_is(history, JSON_ARRAY) && k < history->len; k++) {
        const struct json *entry = &history->items[k];
        str why = json_str(entry, "error");
        int64_t ms;
        if (!date_parse(json_str(entry, "ended_at"), &ms))
            continue;
        add(l, ms, STR_FMT ": attempt %lld " STR_FMT "%s" STR_FMT, STR_ARG(step_called(l->view, i)),
            (long long)json_int_or(entry, "attempt", 0), STR_ARG(json_str(entry, "outcome")),
            why.len ? ": " : "", STR_ARG(why));
    }
}

static err tell_approvals(struct lines *l)
{
    struct approval_filter filter = { .execution_id = l->view->e->id, .limit = ROWS_MAX };
    const struct approval *all;
    size_t count;

    TRY(approval_list(l->view->tx, &filter, &all, &count));
    for (size_t i = 0; i < count; i++) {
        str where = node_called(l->view, all[i].node);
        add(l, all[i].created_at_ms, STR_FMT ": approval " STR_FMT " asked for", STR_ARG(where),
            STR_ARG(all[i].id));
        if (all[i].decided_at_ms)
            add(l, all[i].decided_at_ms, STR_FMT ": approval " STR_FMT " " STR_FMT " by " STR_FMT,
                STR_ARG(where), STR_ARG(all[i].id),
                STR_ARG(team_name(&approval_words, (int)all[i].status)),
                STR_ARG(all[i].decided_by));
    }
    return NULL;
}

static err tell_incidents(struct lines *l)
{
    struct incident_filter filter = { .execution_id = l->view->e->id, .limit = ROWS_MAX };
    const struct incident *all;
    size_t count;

    TRY(incident_list(l->view->tx, &filter, &all, &count));
    for (size_t i = 0; i < count; i++) {
        str where = all[i].node.len ? node_called(l->view, all[i].node) : STR("workflow");
        add(l, all[i].raised_at_ms, STR_FMT ": incident " STR_FMT " (" STR_FMT "): " STR_FMT,
            STR_ARG(where), STR_ARG(all[i].id), STR_ARG(all[i].kind), STR_ARG(all[i].message));
        if (all[i].resolved_at_ms)
            add(l, all[i].resolved_at_ms, STR_FMT ": incident " STR_FMT " resolved by " STR_FMT,
                STR_ARG(where), STR_ARG(all[i].id), STR_ARG(all[i].resolved_by));
    }
    return NULL;
}

err view_log(const struct view *v, str *out)
{
    struct buf text = buf_in(v->tx->arena);
    struct lines l = { .view = v };

    add(&l, v->e->created_at_ms, "started by " STR_FMT ": workflow " STR_FMT " version %lld",
        STR_ARG(v->e->started_by), STR_ARG(v->e->workflow), (long long)v->e->version);
    for (uint16_t i = 0; i < v->count; i++)
        tell_attempts(&l, i);
    TRY(tell_approvals(&l));
    TRY(tell_incidents(&l));
    TRY(tell_history(&l)); /* what became of it, behind what has led to that */
    qsort(l.at, l.count, sizeof *l.at, line_order);
    for (size_t i = 0; i < l.count; i++)
        buf_printf(&text, STR_FMT " " STR_FMT "\n", STR_ARG(view_time(v->tx, l.at[i].ms)),
                   STR_ARG(l.at[i].text));
    *out = buf_str(&text);
    return NULL;
}
