/* step.c: what became of a step, and what it tells of that. */
#include <assert.h>

#include "core/exec/private.h"
#include "core/stored.h"

enum { HISTORY_MAX = 50 }; /* attempts that a step tells of, the last ones */

/* Where there are circles several tokens may be at a step, and it is what the last of them has made of it. */
void step_become(struct exec *x, struct step *s, enum step_status to)
{
    if (x->graph->kind == GRAPH_NODES && s->status != to && !step_may_become(s->status, to))
        step_become(x, s, STEP_IN_PROGRESS);
    assert(s->status == to || step_may_become(s->status, to));
    s->status = to;
    s->changed = true;
    if (to == STEP_IN_PROGRESS && !s->started_at_ms)
        s->started_at_ms = x->tx->now_ms;
    if (to == STEP_IN_PROGRESS || to == STEP_PENDING || to == STEP_APPROVAL)
        s->ended_at_ms = 0;
    else
        s->ended_at_ms = x->tx->now_ms;
    if (to == STEP_PENDING)
        s->started_at_ms = 0;
}

/* ---- what is kept of attempts ---- */

/* The members of a step's data, to be changed. */
static err data_read(struct exec *x, const struct step *s, struct json *out)
{
    const struct json *data;

    TRY(stored_parse_as(x->tx, THING("execution", x->row.id), s->data, JSON_OBJECT, &data));
    *out = *data;
    return NULL;
}

static void data_put(struct exec *x, struct json *data, const char *name, struct json value)
{
    struct json *there = (struct json *)json_get(data, name);

    if (there)
        *there = value;
    else
        json_put(x->tx->arena, data, str_from(name), value);
}

static void data_write(struct exec *x, struct step *s, const struct json *data)
{
    s->data = json_printed(x->tx->arena, data);
    s->changed = true;
}

static struct json time_json(struct exec *x, int64_t ms)
{
    char room[DATE_TEXT_MAX];

    return json_string(arena_copy(x->tx->arena, date_print(room, ms)));
}

/* The last ones of a list, with room for one more. */
static struct json history_kept(struct exec *x, const struct json *before)
{
    uint32_t count = before ? before->len : 0;
    struct json list = json_array();

    for (uint32_t i = count >= HISTORY_MAX ? count - HISTORY_MAX + 1 : 0; i < count; i++)
        json_push(x->tx->arena, &list, before->items[i]);
    return list;
}

/* One more attempt that did not do. */
err history_add(struct exec *x, const struct mark *m, const struct outcome *o)
{
    struct step *s = step_of(x, m);
    struct arena *a = x->tx->arena;
    struct json data, entry = json_object();

    if (!s)
        return NULL;
    TRY(data_read(x, s, &data));
    struct json list = history_kept(x, json_get(&data, "history"));
    json_put(a, &entry, STR("attempt"), json_int(a, m->attempt));
    if (m->scope)
        json_put(a, &entry, STR("item"), json_int(a, m->item));
    json_put(a, &entry, STR("outcome"), json_string(str_from(o->what)));
    json_put(a, &entry, STR("started_at"), time_json(x, m->since_ms));
    json_put(a, &entry, STR("ended_at"), time_json(x, x->tx->now_ms));
    if (o->error.len)
        json_put(a, &entry, STR("error"), json_string(o->error));
    if (o->violations)
        json_put(a, &entry, STR("violations"), *o->violations);
    if (m->worker.len)
        json_put(a, &entry, STR("worker"), json_string(m->worker));
    json_push(a, &list, entry);
    data_put(x, &data, "history", list);
    data_write(x, s, &data);
    return NULL;
}

/* What happened to the step as a whole is of all of its items; a worker that was lost has nothing to do
 * with the work. */
static bool tells(const struct json *entry, const struct mark *m)
{
    return json_int_or(entry, "item", m->item) == m->item &&
           !str_eq(json_str(entry, "outcome"), STR("lost"));
}

err violations_of(struct exec *x, const struct mark *m, struct json *out)
{
    const struct step *s = step_of(x, m);
    const struct json *history, *said;
    struct json data;

    *out = json_array();
    if (!s)
        return NULL;
    TRY(data_read(x, s, &data));
    history = json_get(&data, "history");
    for (uint32_t i = history ? history->len : 0; i > 0; i--) {
        const struct json *entry = &history->items[i - 1];
        if (!tells(entry, m))
            continue;
        said = json_get(entry, "violations");
        if (json_is(said, JSON_ARRAY))
            *out = *said;
        else if (json_str(entry, "error").len)
            json_push(x->tx->arena, out, json_string(json_str(entry, "error")));
        return NULL;
    }
    return NULL;
}

err step_note(struct exec *x, struct step *s, const char *name, struct json value)
{
    struct json data;

    TRY(data_read(x, s, &data));
    data_put(x, &data, name, value);
    data_write(x, s, &data);
    return NULL;
}

err step_noted(struct exec *x, const struct step *s, const char *name, const struct json **out)
{
    struct json data;

    TRY(data_read(x, s, &data));
    *out = json_get(&data, name);
    return NULL;
}
