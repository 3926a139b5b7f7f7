/* top_inbox.c: baton top's part about what waits for a person: each with the command that shows or decides
 * it. */
#include "base/date.h"
#include "cli/inbox.h"
#include "cli/top.h"

enum {
    INBOX_MAX = 500,
    HEIGHT_LEAST = 14,
    TITLE_WIDTH = 32,
    AGE_WIDTH = 3,
};

void top_inbox_load(struct caller *k, struct arena *a, struct json *out)
{
    struct json all;
    bool cut;

    *out = json_array();
    if (!call_pages(k, a, "/inbox", NULL, "entries", INBOX_MAX, &all, &cut))
        *out = inbox_sorted(a, &all);
}

bool top_inbox_has(const struct json *inbox, str execution)
{
    for (uint32_t i = 0; json_is(inbox, JSON_ARRAY) && i < inbox->len; i++)
        if (str_eq(json_str(json_get(&inbox->items[i], "who"), "execution_id"), execution))
            return true;
    return false;
}

/* ---- as text ---- */

size_t top_inbox_shown(const struct top_view *v)
{
    size_t count = v->inbox ? v->inbox->len : 0;

    if (v->height && v->height < HEIGHT_LEAST)
        return 0;
    return count < TOP_INBOX_SHOWN_MAX ? count : TOP_INBOX_SHOWN_MAX;
}

size_t top_inbox_lines(const struct top_view *v)
{
    size_t rows = top_inbox_shown(v);

    return rows ? 1 + rows + (v->inbox->len > rows) : 0;
}

static void put_padded(struct buf *out, str text, size_t width)
{
    text = render_cut(out->arena, text, width);
    term_put(out, PAINT_PLAIN, text);
    for (size_t n = render_text_width(text); n < width + 2; n++)
        buf_byte(out, ' ');
}

/* The decision that is on its way for something, or NULL. */
static const struct top_pending *pending_of(const struct top_decisions *d, str id)
{
    for (size_t i = 0; d && i < d->count; i++)
        if (str_eq(str_from(d->all[i].id), id))
            return &d->all[i];
    return NULL;
}

/* What is decided already, or what to type. */
static str command_of(struct arena *a, const struct top_view *v, const struct json *entry)
{
    const struct top_pending *p = pending_of(v->decisions, json_str(entry, "id"));
    str command, rest;

    if (p)
        return arena_printf(a, "%s in %llds", p->decision,
                            (long long)(p->due_ms - v->clock_ms + 999) / 1000);
    str_cut(inbox_command(a, entry), '(', &command, &rest);
    return str_trim(command);
}

void top_inbox_put(struct buf *out, const struct top_view *v)
{
    size_t rows = top_inbox_shown(v);

    if (!rows)
        return;
    term_put(out, v->coloured ? PAINT_DIM : PAINT_PLAIN, STR("waits for you"));
    buf_byte(out, '\n');
    for (size_t i = 0; i < rows; i++) {
        const struct json *e = &v->inbox->items[i];
        int64_t since = v->now_ms;
        (void)date_parse(json_str(e, "since"), &since);
        term_put(out, v->coloured ? PAINT_ERROR : PAINT_PLAIN, STR("!"));
        buf_byte(out, ' ');
        if (v->live)
            buf_printf(out, "%zu ", i + 1);
        put_padded(out, json_str(e, "title"), TITLE_WIDTH);
        buf_printf(out, "%*s  ", AGE_WIDTH, render_age(out->arena, v->now_ms - since).at);
        term_put(out, v->coloured ? PAINT_GOOD : PAINT_PLAIN, command_of(out->arena, v, e));
        buf_byte(out, '\n');
    }
    if (v->inbox->len > rows)
        buf_printf(out, "  and %zu more: baton inbox\n", v->inbox->len - rows);
}

void top_inbox_json(struct json_writer *w, const struct top_view *v)
{
    static const char *const members[] = { "id", "kind", "title", "since", "until" };

    json_write_begin(w, '[');
    for (uint32_t i = 0; v->inbox && i < v->inbox->len; i++) {
        const struct json *e = &v->inbox->items[i];
        json_write_begin(w, '{');
        for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
            json_write_name(w, str_from(members[m]));
            json_write_value(w, json_get(e, members[m]));
        }
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
}
