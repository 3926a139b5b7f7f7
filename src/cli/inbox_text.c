/* inbox_text.c: what waits for a person as text: rows of a list, and one with all there is. */
#include "cli/inbox.h"

#include "base/date.h"
#include "base/utf8.h"

enum { INDENT = 2, COMMAND_INDENT = 6 };

/* ---- in what order ---- */

/* When it is decided for you, or INT64_MAX. */
static int64_t until_of(const struct json *entry)
{
    int64_t ms;

    return date_parse(json_str(entry, "until"), &ms) ? ms : INT64_MAX;
}

static int64_t since_of(const struct json *entry)
{
    int64_t ms;

    return date_parse(json_str(entry, "since"), &ms) ? ms : INT64_MAX;
}

static bool comes_before(const struct json *a, const struct json *b)
{
    int64_t x = until_of(a), y = until_of(b);

    return x != y ? x < y : since_of(a) < since_of(b);
}

struct json inbox_sorted(struct arena *a, const struct json *entries)
{
    struct json out = json_array();

    for (uint32_t i = 0; json_is(entries, JSON_ARRAY) && i < entries->len; i++) {
        uint32_t k = out.len;
        json_push(a, &out, entries->items[i]);
        for (; k > 0 && comes_before(&out.items[k], &out.items[k - 1]); k--) {
            struct json other = out.items[k];
            out.items[k] = out.items[k - 1];
            out.items[k - 1] = other;
        }
    }
    return out;
}

/* ---- in a few words ---- */

bool inbox_takes(const struct json *entry, const char *decision)
{
    const struct json *decisions = json_get(entry, "decisions");

    for (uint32_t i = 0; decision && json_is(decisions, JSON_ARRAY) && i < decisions->len; i++)
        if (str_eq(json_str(&decisions->items[i], "decision"), str_from(decision)))
            return true;
    return !decision;
}

str inbox_who(struct arena *a, const struct json *entry)
{
    const struct json *who = json_get(entry, "who");
    str name = json_str(who, "session_name"), step = json_str(who, "step"),
        workflow = json_str(who, "workflow");

    if (name.len || !workflow.len)
        return name.len ? name : json_str(who, "session_id");
    return step.len ? arena_printf(a, STR_FMT " step " STR_FMT, STR_ARG(workflow), STR_ARG(step))
                    : workflow;
}

str inbox_otherwise(struct arena *a, const struct json *entry, int64_t now_ms)
{
    static const char *const openings[] = { "it counts as ", "it " };
    str text = json_str(entry, "if_nobody"), rest;
    int64_t until = until_of(entry);

    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++)
        if (str_starts(text, str_from(openings[i])))
            text = str_slice(text, strlen(openings[i]), text.len);
    str_cut(text, ',', &text, &rest);
    if (until == INT64_MAX)
        return text;
    return arena_printf(a, STR_FMT " in " STR_FMT, STR_ARG(text),
                        STR_ARG(render_age(a, until - now_ms)));
}

str inbox_command(struct arena *a, const struct json *entry)
{
    const struct json *decisions = json_get(entry, "decisions");
    struct buf others = buf_in(a);

    if (str_eq(json_str(entry, "kind"), STR("approval")))
        return arena_printf(a, "baton inbox show " STR_FMT, STR_ARG(json_str(entry, "id")));
    for (uint32_t i = 1; json_is(decisions, JSON_ARRAY) && i < decisions->len; i++)
        buf_printf(&others, "%s" STR_FMT, i > 1 ? ", " : "  (or ",
                   STR_ARG(json_str(&decisions->items[i], "decision")));
    return arena_printf(a, STR_FMT STR_FMT "%s",
                        STR_ARG(json_str(json_at(decisions, 0), "command")),
                        STR_ARG(buf_str(&others)), others.len ? ")" : "");
}

struct json inbox_rows(struct arena *a, const struct json *entries, int64_t now_ms)
{
    struct json rows = json_array();

    for (uint32_t i = 0; i < entries->len; i++) {
        const struct json *e = &entries->items[i];
        struct json row = json_object();
        json_put(a, &row, STR("kind"), json_string(json_str(e, "kind")));
        json_put(a, &row, STR("what"), json_string(json_str(e, "title")));
        str workflow = json_str(json_get(e, "who"), "workflow"); /* the step is in what is asked */
        json_put(a, &row, STR("who"), json_string(workflow.len ? workflow : inbox_who(a, e)));
        json_put(a, &row, STR("since"), json_string(json_str(e, "since")));
        json_put(a, &row, STR("otherwise"), json_string(inbox_otherwise(a, e, now_ms)));
        json_put(a, &row, STR("why"), json_string(json_str(e, "why")));
        json_put(a, &row, STR("id"), json_string(json_str(e, "id")));
        json_push(a, &rows, row);
    }
    return rows;
}

str inbox_variants(struct arena *a, const struct json *entry)
{
    static const char *const names[] = { "id", "variant", "name" };
    const struct json *options = json_get(json_get(entry, "content"), "options");
    struct buf out = buf_in(a);

    for (uint32_t i = 0; json_is(options, JSON_ARRAY) && i < options->len; i++) {
        const struct json *option = &options->items[i];
        str name = json_is(option, JSON_STRING) ? json_text(option) : STR("");
        for (size_t k = 0; k < sizeof names / sizeof *names && !name.len; k++)
            name = json_str(option, names[k]);
        buf_printf(&out, "%s" STR_FMT, i ? ", " : "",
                   STR_ARG(name.len ? name : json_printed(a, option)));
    }
    return buf_str(&out);
}

/* ---- what there is to judge ---- */

struct page {
    struct buf *out;
    const struct execution_text *t;
    size_t lines, most; /* that were put; 0: any number */
};

static enum paint painted(const struct execution_text *t, enum paint paint)
{
    return t->coloured ? paint : PAINT_PLAIN;
}

/* A text on one line, each sign that a terminal would obey as a box. */
static str boxed(struct arena *a, const struct execution_text *t, str text)
{
    struct buf out = buf_in(a);

    text = term_utf8(a, text);
    while (text.len) {
        str before = text;
        uint32_t c = utf8_next(&text);
        if (c == '\t')
            buf_add(&out, STR("    "));
        else if (utf8_is_control(c))
            buf_add(&out, t->unicode ? STR("□") : STR("?"));
        else
            buf_add(&out, str_slice(before, 0, before.len - text.len));
    }
    return buf_str(&out);
}

/* Each line of it as a line of the screen; what there is no room for is counted. */
static void put_text(struct page *p, size_t indent, str text)
{
    str line, rest = text;

    for (bool more = true; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        if (!more && !line.len && text.len)
            break;
        if (!p->most || p->lines < p->most)
            buf_printf(p->out, "%*s" STR_FMT "\n", line.len ? (int)indent : 0, "",
                       STR_ARG(boxed(p->out->arena, p->t, line)));
        p->lines++;
    }
}

static void put_value(struct page *p, size_t indent, const struct json *value)
{
    struct buf printed = buf_in(p->out->arena);

    if (json_is(value, JSON_STRING)) {
        put_text(p, indent, json_text(value));
        return;
    }
    json_print_pretty(&printed, value);
    put_text(p, indent, buf_str(&printed));
}

/* A member, in one line where it has room beside its name. */
static void put_member(struct page *p, str name, const struct json *value)
{
    struct arena *a = p->out->arena;
    bool text = json_is(value, JSON_STRING);
    str shown = text ? json_text(value) : json_printed(a, value), line, rest;
    bool lines = str_cut(shown, '\n', &line, &rest);
    size_t room = p->t->width ? p->t->width : 80;

    if (!lines && render_text_width(name) + 2 + render_text_width(shown) + INDENT <= room) {
        put_text(p, INDENT, arena_printf(a, STR_FMT ": " STR_FMT, STR_ARG(name), STR_ARG(shown)));
        return;
    }
    put_text(p, INDENT, arena_printf(a, STR_FMT ":", STR_ARG(name)));
    put_value(p, INDENT * 2, value);
}

static void put_members(struct page *p, const struct json *object)
{
    for (uint32_t i = 0; json_is(object, JSON_OBJECT) && i < object->len; i++)
        put_member(p, json_name(&object->members[i]), &object->members[i].value);
}

static void put_content(struct page *p, const struct json *entry)
{
    const struct json *content = json_get(entry, "content"), *judged = json_get(content, "content"),
                      *options = json_get(content, "options");
    str description = json_str(judged, "description");

    if (!judged) {
        put_members(p, content);
        return;
    }
    if (description.len)
        put_text(p, INDENT, description);
    put_members(p, json_get(judged, "outputs"));
    if (json_is(options, JSON_ARRAY) && options->len)
        put_text(p, INDENT,
                 arena_printf(p->out->arena, "choose one of: " STR_FMT,
                              STR_ARG(inbox_variants(p->out->arena, entry))));
}

/* ---- one of them ---- */

static void put_line(struct buf *out, const struct execution_text *t, str text)
{
    help_put(out, 0, boxed(out->arena, t, text));
    buf_byte(out, '\n');
}

static void put_head(struct buf *out, const struct execution_text *t, const struct json *entry)
{
    const struct json *who = json_get(entry, "who");
    struct arena *a = out->arena;
    str execution = json_str(who, "execution_id");
    int64_t since = since_of(entry), until = until_of(entry);

    term_put(out, painted(t, PAINT_KEY), json_str(entry, "title"));
    buf_byte(out, '\n');
    put_line(out, t,
             arena_printf(a, STR_FMT " " STR_FMT ", for " STR_FMT "%s" STR_FMT,
                          STR_ARG(json_str(entry, "kind")), STR_ARG(json_str(entry, "id")),
                          STR_ARG(inbox_who(a, entry)), execution.len ? " of " : "",
                          STR_ARG(execution)));
    if (!json_bool_or(entry, "waits", false)) {
        put_line(out, t,
                 arena_printf(a, "it waits for nobody any more: it is " STR_FMT,
                              STR_ARG(json_str(entry, "status"))));
        return;
    }
    put_line(out, t, json_str(entry, "why"));
    put_line(out, t,
             until == INT64_MAX
                 ? arena_printf(a, "it waits for " STR_FMT "; if nobody decides, " STR_FMT,
                                STR_ARG(render_age(a, t->now_ms - since)),
                                STR_ARG(json_str(entry, "if_nobody")))
                 : arena_printf(a,
                                "it waits for " STR_FMT "; if nobody decides within " STR_FMT
                                ", " STR_FMT,
                                STR_ARG(render_age(a, t->now_ms - since)),
                                STR_ARG(render_age(a, until - t->now_ms)),
                                STR_ARG(json_str(entry, "if_nobody"))));
}

/* What stands behind the command of a decision. */
static const struct {
    const char *decision, *more;
} wanted[] = {
    { "reject", " --reason WHY" },
    { "rework", " --reason WHY" },
};

static void put_decisions(struct buf *out, const struct execution_text *t, const struct json *entry)
{
    const struct json *decisions = json_get(entry, "decisions");

    for (uint32_t i = 0; json_is(decisions, JSON_ARRAY) && i < decisions->len; i++) {
        str decision = json_str(&decisions->items[i], "decision");
        const char *more = "";
        for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
            if (str_eq(decision, str_from(wanted[k].decision)))
                more = wanted[k].more;
        buf_printf(out, "%s%*s", i ? "" : "\nto decide\n", COMMAND_INDENT, "");
        term_put(out, painted(t, PAINT_GOOD),
                 arena_printf(out->arena, STR_FMT "%s",
                              STR_ARG(json_str(&decisions->items[i], "command")), more));
        buf_byte(out, '\n');
    }
}

void inbox_entry_put(struct buf *out, const struct execution_text *t, const struct json *entry,
                     size_t lines)
{
    struct page p = { .out = out, .t = t, .most = lines };

    put_head(out, t, entry);
    buf_byte(out, '\n');
    put_content(&p, entry);
    if (p.most && p.lines > p.most)
        buf_printf(out, "  (%zu more lines: baton inbox show " STR_FMT " --all)\n",
                   p.lines - p.most, STR_ARG(json_str(entry, "id")));
    put_decisions(out, t, entry);
}
