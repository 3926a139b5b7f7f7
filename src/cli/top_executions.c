/* top_executions.c: baton top's part about workflows that run: which are open, how far they are, and what
 * each waits for. Those that wait for a person come first. */
#include "cli/execution_text.h"
#include "cli/top.h"
#include "json/write.h"

enum {
    ASKED_MAX = 50, /* open ones that are looked at */
    SHOWN_MAX = 5,  /* and how many are shown: `baton execution list` has all */
    HEIGHT_LEAST = 16,
    NAME_WIDTH = 24,
    STATUS_WIDTH = 8,
};

/* ---- asking ---- */

static bool waits_for_person(const struct json *inbox, const struct json *execution)
{
    return json_int_or(execution, "incidents", 0) > 0 ||
           top_inbox_has(inbox, json_str(execution, "execution_id"));
}

/* Those first that wait for a person, else in the order of the server, the newest first. */
static const struct json *nth_urgent(const struct json *list, const struct json *inbox, size_t n)
{
    for (int waits = 1; waits >= 0; waits--)
        for (uint32_t i = 0; i < list->len; i++)
            if (waits_for_person(inbox, &list->items[i]) == waits && n-- == 0)
                return &list->items[i];
    return NULL;
}

void top_executions_load(struct caller *k, struct arena *a, const struct json *inbox,
                         struct json *out)
{
    const struct json *page, *list, *one;
    struct call open = { .method = "GET",
                         .pattern = "/executions",
                         PARAMS({ "status", STR("open") },
                                { "limit", arena_printf(a, "%d", ASKED_MAX) }) };

    *out = json_array();
    if (caller_call(k, a, &open, &page))
        return;
    list = json_get(page, "executions");
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->len && i < SHOWN_MAX; i++) {
        struct call get = { .method = "GET",
                            .pattern = "/executions/{id}",
                            PARAMS(
                                { "id", json_str(nth_urgent(list, inbox, i), "execution_id") }) };
        if (!caller_call(k, a, &get, &one)) /* it may have gone meanwhile */
            json_push(a, out, *one);
    }
}

/* ---- as text ---- */

size_t top_executions_lines(const struct top_view *v)
{
    bool room = !v->height || v->height >= HEIGHT_LEAST;

    return room && v->executions && v->executions->len ? v->executions->len + 1 : 0;
}

static void put_padded(struct buf *out, str text, size_t width)
{
    text = render_cut(out->arena, text, width);
    term_put(out, PAINT_PLAIN, text);
    for (size_t n = render_text_width(text); n < width + 2; n++)
        buf_byte(out, ' ');
}

static str name_of(struct arena *a, const struct json *e)
{
    str key = json_str(e, "business_key");

    return arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(json_str(e, "workflow")),
                        key.len ? " " : "", STR_ARG(key));
}

static void put_row(struct buf *out, const struct top_view *v, const struct json *e)
{
    enum { BEFORE = 2 + NAME_WIDTH + 2 + STATUS_WIDTH + 2 + 7 + 2 };
    bool waits = waits_for_person(v->inbox, e);
    int64_t done, total;

    execution_progress(e, &done, &total);
    term_put(out, waits && v->coloured ? PAINT_ERROR : PAINT_PLAIN, waits ? STR("!") : STR(" "));
    buf_byte(out, ' ');
    put_padded(out, name_of(out->arena, e), NAME_WIDTH);
    put_padded(out, json_str(e, "status"), STATUS_WIDTH);
    put_padded(out, arena_printf(out->arena, "%lld/%lld", (long long)done, (long long)total), 7);
    str words = execution_waits(out->arena, e);
    if (v->width)
        words = render_cut(out->arena, words, v->width > BEFORE + 8 ? v->width - BEFORE : 8);
    term_put(out, PAINT_PLAIN, words);
    while (out->len && out->at[out->len - 1] == ' ')
        out->len--;
    buf_byte(out, '\n');
}

void top_executions_put(struct buf *out, const struct top_view *v)
{
    if (!top_executions_lines(v))
        return;
    term_put(out, v->coloured ? PAINT_DIM : PAINT_PLAIN, STR("workflows that run"));
    buf_byte(out, '\n');
    for (uint32_t i = 0; i < v->executions->len; i++)
        put_row(out, v, &v->executions->items[i]);
}

/* Without what they wait for: that says for how long, and changes by time alone. */
void top_executions_json(struct json_writer *w, const struct top_view *v)
{
    static const char *const members[] = { "execution_id", "workflow", "business_key", "status",
                                           "incidents" };

    json_write_begin(w, '[');
    for (uint32_t i = 0; v->executions && i < v->executions->len; i++) {
        const struct json *e = &v->executions->items[i];
        int64_t done, total;
        execution_progress(e, &done, &total);
        json_write_begin(w, '{');
        for (size_t m = 0; m < sizeof members / sizeof *members; m++)
            if (json_get(e, members[m]))
                write_value(w, str_from(members[m]), json_get(e, members[m]));
        write_int(w, STR("steps_done"), done);
        write_int(w, STR("steps"), total);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
}
