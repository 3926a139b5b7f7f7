/* render.c: answers of the server, for people and for programs.
 *
 * A terminal gets a table for a list, and names and values for anything else; a
 * pipe gets the answer as it came. Knows the shape of problem documents and what
 * an operation says about its output, but no operation by name. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "client/caller.h"
#include "ops/op.h"

enum {
    COLUMNS_MAX = 24,
    CELL_LEAST = 8,
    CELL_MAX = 40, /* characters of a cell that is not the last of its row */
    WIDTH_DEFAULT = 80,
    WIDTH_LEAST = 20,
    WIDE_LEAST = 24, /* characters in which a document can still be read */
    BELOW_INDENT = 4,
};

/* ---- values ---- */

static enum paint painted(const struct cli *c, enum paint paint)
{
    return c->coloured ? paint : PAINT_PLAIN;
}

void render_json(struct cli *c, struct buf *out, const struct json *j, bool pretty)
{
    struct buf printed = buf_in(c->arena);

    (pretty ? json_print_pretty : json_print)(&printed, j);
    if (c->coloured)
        term_put_json(out, buf_str(&printed));
    else
        buf_add(out, buf_str(&printed));
}

static bool is_container(const struct json *j)
{
    return j->kind == JSON_ARRAY || j->kind == JSON_OBJECT;
}

/* A value in one line, as people write it: a text without quotes, nothing for null. */
static str value_shown(struct arena *a, const struct json *j)
{
    if (!j || j->kind == JSON_NULL)
        return STR("");
    return j->kind == JSON_STRING ? json_text(j) : json_printed(a, j);
}

size_t render_text_width(str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return n;
}

static void put_padding(struct buf *out, size_t have, size_t want)
{
    for (; have < want; have++)
        buf_byte(out, ' ');
}

static void put_padded(struct buf *out, enum paint paint, str text, size_t width)
{
    term_put(out, paint, text);
    put_padding(out, render_text_width(text), width);
}

/* ---- tables ---- */

struct column {
    str name;
    size_t width;
    bool filled; /* at least one row has something to show in it */
    bool wide;   /* it holds containers: such columns come last */
};

struct table {
    struct column columns[COLUMNS_MAX];
    size_t count;
    bool fixed; /* no columns but these */
};

/* What of a long row people want to see first; --json has all of it. The table of a list that is
 * not here has all columns. */
static const struct {
    const char *list, *columns[12];
} chosen[] = {
    { "sessions",
      { "session_name", "status", "state_update_status", "agent_name", "profile",
        "parent_session_name", "session_id", "last_event_at", "error" } },
    { "runs",
      { "run_id", "session_name", "status", "purpose", "attempt", "profile", "runner_id",
        "created_at", "ended_at", "error" } },
    { "runners",
      { "runner_id", "name", "alive", "hostname", "runs", "capacity", "seen_at", "project_dir",
        "tags", "profiles" } },
    { "states",
      { "name", "schema_name", "schema_description", "root_session_name", "version", "updated_at",
        "state_id" } },
    { "agents", { "name", "profile", "model", "description" } },
    { "profiles", { "name", "description" } },
};

static void columns_choose(struct table *t, str list)
{
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        if (!str_eq(str_from(chosen[i].list), list))
            continue;
        for (const char *const *name = chosen[i].columns; *name; name++)
            t->columns[t->count++] =
                (struct column){ .name = str_from(*name), .width = strlen(*name) };
        t->fixed = true;
    }
}

static struct column *column_of(struct table *t, str name)
{
    for (size_t i = 0; i < t->count; i++)
        if (str_eq(t->columns[i].name, name))
            return &t->columns[i];
    if (t->fixed || t->count == COLUMNS_MAX)
        return NULL;
    struct column *column = &t->columns[t->count++];
    *column = (struct column){ .name = name, .width = render_text_width(name) };
    return column;
}

static void table_measure(struct arena *a, struct table *t, const struct json *rows)
{
    for (uint32_t r = 0; r < rows->len; r++) {
        const struct json *row = &rows->items[r];
        for (uint32_t i = 0; json_is(row, JSON_OBJECT) && i < row->len; i++) {
            struct column *column = column_of(t, json_name(&row->members[i]));
            if (!column)
                continue;
            size_t width = render_text_width(value_shown(a, &row->members[i].value));
            column->filled = column->filled || width > 0;
            column->wide = column->wide || is_container(&row->members[i].value);
            column->width = width > column->width ? width : column->width;
        }
    }
}

/* Drops what is empty in all rows, and puts containers last; the order stays otherwise. */
static void table_arrange(struct table *t)
{
    struct table arranged = { .fixed = t->fixed };

    for (int wide = 0; wide <= 1; wide++)
        for (size_t i = 0; i < t->count; i++)
            if (t->columns[i].filled && t->columns[i].wide == wide)
                arranged.columns[arranged.count++] = t->columns[i];
    for (size_t i = 0; i + 1 < arranged.count; i++)
        if (arranged.columns[i].width > CELL_MAX)
            arranged.columns[i].width = CELL_MAX;
    *t = arranged;
}

/* Of a text that is too long for its place the start is shown, and that there is more. */
str render_cut(struct arena *a, str text, size_t width)
{
    size_t bytes = 0, n = 0;

    if (render_text_width(text) <= width)
        return text;
    for (; bytes < text.len; bytes++) {
        bool starts = ((unsigned char)text.at[bytes] & 0xc0) != 0x80;
        if (starts && ++n == width)
            break;
    }
    return arena_printf(a, STR_FMT "…", STR_ARG(str_slice(text, 0, bytes)));
}

size_t render_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int64_t n = 0;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        n = size.ws_col;
    else if (!columns || !str_to_int(str_from(columns), &n) || n <= 0)
        n = WIDTH_DEFAULT;
    return n < WIDTH_LEAST ? WIDTH_LEAST : (size_t)n;
}

static void end_line(struct buf *out)
{
    while (out->len > 0 && out->at[out->len - 1] == ' ')
        out->len--;
    buf_byte(out, '\n');
}

/* A document that would have no room beside the other cells stands below them. */
static void put_below(struct cli *c, struct buf *out, const struct column *column,
                      const struct json *row)
{
    str text = row ? value_shown(c->arena, json_find(row, column->name)) : STR("");

    if (!text.len)
        return;
    end_line(out);
    put_padding(out, 0, BELOW_INDENT);
    term_put(out, painted(c, PAINT_DIM), render_cut(c->arena, text, render_width() - BELOW_INDENT));
}

static void put_row(struct cli *c, struct buf *out, const struct table *t, const struct json *row)
{
    size_t left = render_width();
    str more;

    for (size_t i = 0; i < t->count; i++) {
        const struct column *column = &t->columns[i];
        bool last = i + 1 == t->count;
        str text = row ? value_shown(c->arena, json_find(row, column->name)) : column->name;
        if (column->wide && left < WIDE_LEAST && column->width > left) {
            put_below(c, out, column, row);
            continue;
        }
        size_t room = last && (t->fixed || left > column->width) ? left : column->width;
        if (t->fixed) /* of what agents said, the first line */
            str_cut(text, '\n', &text, &more);
        put_padded(out, row ? PAINT_PLAIN : painted(c, PAINT_DIM),
                   render_cut(c->arena, text, column->wide ? left : room),
                   last ? 0 : column->width + 2);
        left -= left > column->width + 2 ? column->width + 2 : left;
    }
    end_line(out);
}

/* Of chosen columns those go that would begin beyond the edge of the terminal. */
static void put_table(struct cli *c, struct buf *out, str list, const struct json *rows)
{
    struct table t = { .count = 0 };
    size_t at = 0, n = 0;

    columns_choose(&t, list);
    table_measure(c->arena, &t, rows);
    table_arrange(&t);
    for (; n < t.count && (n == 0 || at + CELL_LEAST <= render_width()); n++)
        at += t.columns[n].width + 2;
    t.count = t.fixed ? n : t.count;
    if (t.count == 0) {
        term_put(out, painted(c, PAINT_DIM), STR("none"));
        buf_byte(out, '\n');
        return;
    }
    put_row(c, out, &t, NULL);
    for (uint32_t i = 0; i < rows->len; i++)
        put_row(c, out, &t, &rows->items[i]);
}

/* ---- objects ---- */

/* Scalars beside their names, documents below theirs; `but` is a member that is shown elsewhere. */
static void put_object(struct cli *c, struct buf *out, const struct json *object,
                       const struct json *but)
{
    size_t width = 0;

    for (uint32_t i = 0; i < object->len; i++)
        if (object->members[i].name_len + 2 > width)
            width = object->members[i].name_len + 2;
    for (uint32_t i = 0; i < object->len; i++) {
        const struct json_member *m = &object->members[i];
        if (&m->value == but)
            continue;
        put_padded(out, painted(c, PAINT_KEY), json_name(m), is_container(&m->value) ? 0 : width);
        if (is_container(&m->value)) {
            buf_byte(out, '\n');
            render_json(c, out, &m->value, true);
        } else if (m->value.kind == JSON_NULL) {
            term_put(out, painted(c, PAINT_DIM), STR("null"));
        } else {
            term_put(out, PAINT_PLAIN, value_shown(c->arena, &m->value));
        }
        buf_byte(out, '\n');
    }
}

/* The member that is a list, and its name, if the operation says that its output has one. */
static const struct json *list_of(struct cli *c, const struct json *answer, str *name)
{
    const struct json *output, *properties;

    if (!c->verb->op || json_parse(c->arena, str_from(c->verb->op->output), NULL, &output))
        return NULL;
    properties = json_get(output, "properties");
    for (uint32_t i = 0; json_is(properties, JSON_OBJECT) && i < properties->len; i++) {
        const struct json_member *m = &properties->members[i];
        const struct json *found = json_find(answer, json_name(m));
        *name = json_name(m);
        if (str_eq(json_str(&m->value, "type"), STR("array")) && json_is(found, JSON_ARRAY))
            return found;
    }
    return NULL;
}

static void render_for_people(struct cli *c, struct buf *out, const struct json *answer)
{
    str name = STR("");
    const struct json *list = list_of(c, answer, &name);

    if (!json_is(answer, JSON_OBJECT)) {
        render_json(c, out, answer, true);
        buf_byte(out, '\n');
        return;
    }
    if (list)
        put_table(c, out, name, list);
    put_object(c, out, answer, list);
}

/* ---- problems ---- */

/* Each violation in a line of its own, below the error, unless that has said it. */
static void show_violations(struct cli *c, const struct json *errors, str said)
{
    struct buf out = buf_in(c->arena);

    if (!json_is(errors, JSON_ARRAY) || errors->len == 0)
        return;
    if (errors->len == 1 && str_ends(said, json_str(&errors->items[0], "message")))
        return;
    for (uint32_t i = 0; i < errors->len; i++) {
        str pointer = json_str(&errors->items[i], "pointer");
        buf_add(&out, STR("  "));
        term_put(&out, PAINT_PLAIN, pointer.len ? pointer : STR("(all of it)"));
        buf_add(&out, STR(": "));
        term_put(&out, PAINT_PLAIN, json_str(&errors->items[i], "message"));
        buf_byte(&out, '\n');
    }
    fwrite(out.at, 1, out.len, stderr);
}

static err render_problem(struct cli *c, const struct response *r)
{
    err e = response_error(c->arena, r);
    const struct json *problem;

    if (c->json || json_parse(c->arena, r->body, &json_limits_own, &problem) ||
        !json_is(problem, JSON_OBJECT))
        return e;
    cli_warn(c, e);
    show_violations(c, json_get(problem, "errors"), json_str(problem, "detail"));
    c->exit = error_kind_info(e->kind)->exit;
    return NULL;
}

/* ---- answers ---- */

err render_answer(struct cli *c, const struct response *r)
{
    struct buf out = buf_in(c->arena);
    const struct json *answer, *valid;

    if (r->status >= 400)
        return render_problem(c, r);
    if (r->body.len == 0)
        return NULL;
    err e = json_parse(c->arena, r->body, &json_limits_own, &answer);
    if (e)
        return err_within(c->arena, e, "the server's answer is not JSON");

    if (c->terminal && !c->json) {
        render_for_people(c, &out, answer);
    } else {
        json_print(&out, answer);
        buf_byte(&out, '\n');
    }
    cli_write(c, buf_str(&out));
    valid = json_get(answer, "valid");
    if (json_is(valid, JSON_BOOL) && !valid->len) /* as `baton json check` does */
        c->exit = error_kind_info(ERR_UNFIT)->exit;
    return NULL;
}
