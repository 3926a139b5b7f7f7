/* document.c: the document of an execution, made of its rows.
 *
 * Steps and tokens are members, by id: so a change of one is a change at one place, which a pointer can
 * name and a reader can wait for. It says nothing of who works at what: that changes without a move. */
#include <assert.h>

#include "core/exec/private.h"

enum { TOKENS_SHOWN = 200 };

#define JSON(...) #__VA_ARGS__
#define DOCUMENT_SCHEMA_NAME "execution"

/* The text below is found by this: another text has another one. */
#define DOCUMENT_SCHEMA_ABOUT "Written by the engine alone, with what a person is asked"

static const char document_schema[] =
    JSON({
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A workflow that runs",
    "x-baton": { "writer": "engine", "state_bytes_max": 1048576 },
    "type": "object",
    "required": ["execution_id", "workflow", "version", "status", "steps", "tokens", "variables"],
    "properties": {
        "execution_id": { "type": "string" },
        "workflow": { "type": "string" },
        "version": { "type": "integer", "minimum": 1 },
        "status": { "enum": ["RUNNING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"] },
        "reason": { "type": ["string", "null"] },
        "business_key": { "type": ["string", "null"] },
        "created_at": { "type": "string", "format": "date-time" },
        "ended_at": { "type": ["string", "null"], "format": "date-time" },
        "progress": { "type": "object",
            "properties": { "done": { "type": "integer" }, "total": { "type": "integer" } } },
        "steps": { "type": "object", "additionalProperties": { "type": "object",
            "required": ["status"],
            "properties": {
                "status": { "enum": ["pending", "in_progress", "waiting_approval", "completed", "failed", "skipped"] },
                "attempt": { "type": "integer" },
                "started_at": { "type": ["string", "null"] },
                "ended_at": { "type": ["string", "null"] },
                "error": { "type": "string" },
                "approval": { "type": "string" },
                "items": { "type": "object" } } } },
        "tokens": { "type": "object", "additionalProperties": { "type": "object",
            "required": ["at", "status"] } },
        "tokens_more": { "type": "integer" },
        "incidents": { "type": "integer", "minimum": 0 },
        "variables": { "type": "object" },
        "result": true
    }
});

/* ---- what is in it ---- */

static void put(struct exec *x, struct json *object, const char *name, struct json value)
{
    json_put(x->tx->arena, object, str_from(name), value);
}

static struct json text_or_null(str text)
{
    return text.len ? json_string(text) : json_null();
}

static struct json time_or_null(struct exec *x, int64_t ms)
{
    char room[DATE_TEXT_MAX];

    return ms ? json_string(arena_copy(x->tx->arena, date_print(room, ms))) : json_null();
}

/* The mark of a step that is a loop; NULL: it has none now. */
static const struct mark *loop_of(const struct exec *x, uint16_t step)
{
    const struct graph_node *node = &x->graph->nodes[x->graph->steps[step].node];

    for (size_t i = 0; node->loop && i < MARK_BUCKETS; i++)
        for (const struct mark *m = x->marks[i]; m; m = m->next)
            if (!m->dead && !m->scope && m->at == x->graph->steps[step].node &&
                (m->status == MARK_LOOP || m->status == MARK_MORE))
                return m;
    return NULL;
}

static err step_json(struct exec *x, uint16_t i, struct json *out)
{
    const struct step *s = &x->steps[i];
    const struct mark *loop = loop_of(x, i);
    struct arena *a = x->tx->arena;

    *out = json_object();
    put(x, out, "status", json_string(team_name(&step_words, (int)s->status)));
    if (s->attempt)
        put(x, out, "attempt", json_int(a, s->attempt));
    if (s->started_at_ms)
        put(x, out, "started_at", time_or_null(x, s->started_at_ms));
    if (s->ended_at_ms)
        put(x, out, "ended_at", time_or_null(x, s->ended_at_ms));
    if (s->status == STEP_FAILED) {
        const struct json *data;
        TRY(json_parse_own(a, s->data, &data));
        put(x, out, "error", json_string(json_str(data, "error")));
    }
    if (s->status == STEP_APPROVAL) {
        const struct json *approval;
        TRY(step_noted(x, s, "approval", &approval));
        put(x, out, "approval", json_string(json_str(approval, "approval_id")));
    }
    if (loop) {
        struct json items = json_object();
        put(x, &items, "total", json_int(a, loop->total));
        put(x, &items, "done", json_int(a, loop->done));
        put(x, &items, "begun", json_int(a, loop->started));
        put(x, out, "items", items);
    }
    return NULL;
}

static err steps_json(struct exec *x, struct json *out, struct json *progress)
{
    int64_t done = 0;

    *out = json_object();
    *progress = json_object();
    for (uint16_t i = 0; i < x->graph->step_count; i++) {
        struct json one;
        TRY(step_json(x, i, &one));
        json_put(x->tx->arena, out, x->steps[i].node, one);
        done += x->steps[i].status == STEP_COMPLETED || x->steps[i].status == STEP_SKIPPED;
    }
    put(x, progress, "done", json_int(x->tx->arena, done));
    put(x, progress, "total", json_int(x->tx->arena, x->graph->step_count));
    return NULL;
}

static struct json token_json(struct exec *x, const struct mark *m)
{
    struct json one = json_object();

    put(x, &one, "at", json_string(m->node));
    put(x, &one, "status", json_string(team_name(&mark_words, (int)m->status)));
    if (m->status == MARK_WORK)
        put(x, &one, "attempt", json_int(x->tx->arena, m->attempt));
    if (m->timer_ms && m->status == MARK_BACKOFF)
        put(x, &one, "until", time_or_null(x, m->timer_ms));
    if (m->job_type.len)
        put(x, &one, "job", json_string(m->job_type));
    return one;
}

/* Those outside of loops, the lowest first. */
static void tokens_json(struct exec *x, struct json *doc)
{
    struct arena *a = x->tx->arena;
    struct json all = json_object();

    for (struct mark *m = mark_after(x, 0); m && all.len < TOKENS_SHOWN; m = mark_after(x, m->n))
        if (!m->scope)
            json_put(a, &all, arena_printf(a, "token-%lld", (long long)m->n), token_json(x, m));
    put(x, doc, "tokens", all);
    if (x->row.live > all.len)
        put(x, doc, "tokens_more", json_int(a, x->row.live - all.len));
}

static err document_make(struct exec *x, struct json *doc)
{
    const struct execution *e = &x->row;
    struct json steps, progress;
    const struct json *result;

    *doc = json_object();
    TRY(steps_json(x, &steps, &progress));
    put(x, doc, "execution_id", json_string(e->id));
    put(x, doc, "workflow", json_string(e->workflow));
    put(x, doc, "version", json_int(x->tx->arena, e->version));
    put(x, doc, "status", json_string(team_name(&execution_words, (int)e->status)));
    put(x, doc, "reason", text_or_null(e->reason));
    put(x, doc, "business_key", text_or_null(e->business_key));
    put(x, doc, "created_at", time_or_null(x, e->created_at_ms));
    put(x, doc, "ended_at", time_or_null(x, e->ended_at_ms));
    put(x, doc, "progress", progress);
    put(x, doc, "steps", steps);
    tokens_json(x, doc);
    put(x, doc, "incidents", json_int(x->tx->arena, e->incidents));
    put(x, doc, "variables", x->vars);
    if (e->result.len) {
        TRY(json_parse_own(x->tx->arena, e->result, &result));
        put(x, doc, "result", *result);
    }
    return NULL;
}

/* ---- where it is kept ---- */

/* Another schema of that name, which somebody has registered, does not get in the way. */
static err schema_for(struct tx *tx, struct schema_version *out)
{
    const struct schema_rules *rules;
    const struct row *row;
    const struct json *text;
    struct schema_ready *ready;
    bool created;

    TRY(sql_one(tx->sql, &row,
                "SELECT schema_id, name, version FROM schema WHERE name = $1 AND description = $2"
                " ORDER BY version DESC LIMIT 1",
                ARGS(TEXT(STR(DOCUMENT_SCHEMA_NAME)), TEXT(STR(DOCUMENT_SCHEMA_ABOUT)))));
    if (row) {
        *out = (struct schema_version){ .id = row_str(row, 0),
                                        .name = row_str(row, 1),
                                        .version = row_int(row, 2) };
        TRY(schema_rules(tx, out->id, &rules));
        if (rules->policy.engine_writes)
            return NULL;
    }
    TRY(json_parse_own(tx->arena, str_from(document_schema), &text));
    TRY(schema_prepare(tx->arena, text, &ready));
    return schema_register(tx, STR(DOCUMENT_SCHEMA_NAME), ready, STR(DOCUMENT_SCHEMA_ABOUT), out,
                           &created);
}

err document_new(struct exec *x)
{
    struct schema_version schema;
    struct state state;
    struct json doc;

    TRY(document_make(x, &doc));
    TRY(schema_for(x->tx, &schema));
    TRY(state_render_new(x->tx, &schema, &doc, &state));
    x->row.state_id = state.id;
    return NULL;
}

err document_render(struct exec *x)
{
    struct state state;
    struct json doc;

    TRY(document_make(x, &doc));
    return state_render(x->tx, x->row.state_id, &doc, &state);
}
