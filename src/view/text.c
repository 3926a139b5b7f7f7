/* text.c: what people read: document 001's page, and its list of what there is to do. */
#include "view/view.h"

/* On one line, whatever is in it. */
static void put(struct buf *out, str text)
{
    for (size_t i = 0; i < text.len; i++)
        buf_byte(out, text.at[i] == '\n' || text.at[i] == '\r' ? ' ' : text.at[i]);
}

static void put_value(struct buf *out, const struct json *value)
{
    if (json_is(value, JSON_STRING))
        put(out, json_text(value));
    else
        json_print(out, value);
}

/* What a phase has left: its deliverables; of other steps, what they have given. */
static void put_left(struct buf *out, const struct view *v, uint16_t i)
{
    const struct json *outputs = view_outputs(v, i), *list = view_deliverables(v, i);
    bool phases = view_is_phases(v);
    uint32_t count = phases ? list->len : outputs->len;

    for (uint32_t k = 0; k < count; k++) {
        buf_add(out, k ? STR(", ") : STR(" → "));
        put_value(out, phases ? &list->items[k] : &outputs->members[k].value);
    }
}

/* Document 001 counts phases from 0, document 002 its steps by the numbers that they have. */
static str number_of(const struct view *v, uint16_t i)
{
    int64_t number;

    if (view_is_phases(v))
        return arena_printf(v->tx->arena, "%d", i);
    str key = view_key(v, i);
    return str_to_int(key, &number) ? key : arena_printf(v->tx->arena, "%d", i + 1);
}

static const char *noun_of(const struct view *v, bool many)
{
    bool phases = view_is_phases(v) || v->graph->kind == GRAPH_PLANNING;

    return phases ? (many ? "Phases" : "Phase") : (many ? "Steps" : "Step");
}

str view_markdown(const struct view *v)
{
    struct buf out = buf_in(v->tx->arena);
    uint16_t active = view_active(v);
    str task = v->graph->description.len ? v->graph->description : v->e->workflow;

    buf_add(&out, STR("# Workflow Status: "));
    put(&out, task);
    buf_printf(&out, "\n\nStatus: " STR_FMT " | Current %s: ", STR_ARG(view_status(v)),
               noun_of(v, false));
    put(&out, active == GRAPH_NONE ? STR("-") : v->steps[active].step->title);
    buf_printf(&out, "\n\n## %s\n\n", noun_of(v, true));
    for (uint16_t i = 0; i < v->count; i++) {
        buf_printf(&out, "- [%s] %s " STR_FMT ": ",
                   str_eq(view_step_status(v, i), STR("completed")) ? "x" : " ", noun_of(v, false),
                   STR_ARG(number_of(v, i)));
        put(&out, v->steps[i].step->title);
        put_left(&out, v, i);
        buf_byte(&out, '\n');
    }
    return buf_str(&out);
}

void view_write_todos(struct json_writer *w, const struct view *v)
{
    write_begin(w, STR("todos"), '[');
    for (uint16_t i = 0; i < v->count; i++) {
        enum step_status status = v->steps[i].row.status;
        str title = v->steps[i].step->title;
        json_write_begin(w, '{');
        write_text(w, STR("content"), title);
        write_text(w, STR("status"),
                   view_is_done(v, i)                                      ? STR("completed")
                   : status == STEP_IN_PROGRESS || status == STEP_APPROVAL ? STR("in_progress")
                                                                           : STR("pending"));
        write_text(w, STR("activeForm"),
                   arena_printf(v->tx->arena, "Working on " STR_FMT, STR_ARG(title)));
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
}
