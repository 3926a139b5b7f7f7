/* render.c: answers of the server, for people and for programs.
 *
 * A list is a table: on a terminal as wide as that is, into a pipe whole. Anything else is JSON. Knows
 * the shape of problem documents, what an operation says about its output, and which columns people
 * look for in which list, but no operation by name. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/date.h"
#include "cli/cli.h"
#include "client/caller.h"
#include "ops/op.h"

enum {
    COLUMNS_MAX = 24,
    CELL_LEAST = 8,   /* characters of a cell that is cut because there is no room */
    WORDS_LEAST = 16, /* and of what somebody said */
    WIDTH_DEFAULT = 80,
    WIDTH_LEAST = 20,
    GAP = 2,
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

size_t render_text_width(str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return n;
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

str render_age(struct arena *a, int64_t ms)
{
    static const struct {
        int64_t ms;
        char unit;
    } units[] = { { 24 * 3600000LL, 'd' }, { 3600000, 'h' }, { 60000, 'm' }, { 0, 's' } };
    size_t i = 0;

    ms = ms < 0 ? 0 : ms;
    while (ms < units[i].ms)
        i++;
    return arena_printf(a, "%lld%c", (long long)(ms / (units[i].ms ? units[i].ms : 1000)),
                        units[i].unit);
}

/* ---- columns ---- */

enum column_is {
    AGE = 1,   /* a time, shown as how long ago it was */
    WORDS = 2, /* it has the room that the others leave */
    LESS = 4,  /* it goes where there is no room, the last one first */
};

struct column {
    const char *title, *member, *other; /* the first of the two members that says something */
    const char *none;                   /* what stands where it says nothing; NULL: that */
    unsigned is;
    size_t width;
    bool filled; /* at least one row has something to show in it */
};

struct table {
    struct column columns[COLUMNS_MAX];
    size_t count;
};

/* What people look for, ids at the end; --json has all of it. Of a list that is not here the table
 * has all that there is. */
// clang-format off
#define C(title_, ...) { .title = title_, .member = __VA_ARGS__ }

static const struct {
    const char *list;
    struct column columns[10];
} chosen[] = {
    { "sessions", { C("name", "session_name"), C("status", "status"),
                    C("age", "last_event_at", .other = "updated_at", .is = AGE),
                    C("agent", "agent_name", .other = "profile", .is = LESS), C("update", "state_update_status", .is = LESS),
                    C("parent", "parent_session_name", .is = LESS),
                    C("last", "error", .other = "last_event", .is = WORDS), C("id", "session_id") } },
    { "projects", { C("name", "name"), C("members", "members"), C("version", "state_version"),
                    C("age", "updated_at", .is = AGE), C("schema", "schema_name", .is = LESS),
                    C("folder", "project_dir", .is = WORDS), C("state", "state_id") } },
    { "messages", { C("from", "sender_name", .none = "baton"), C("to", "receiver_name"), C("status", "status"),
                    C("age", "created_at", .is = AGE), C("message", "message", .is = WORDS),
                    C("error", "error", .is = LESS), C("id", "message_id") } },
    { "runs", { C("session", "session_name", .other = "owner"), C("status", "status"),
                C("age", "ended_at", .other = "created_at", .is = AGE), C("purpose", "purpose"),
                C("try", "attempt", .is = LESS), C("agent", "agent_name", .other = "profile", .is = LESS),
                C("error", "error", .is = WORDS), C("id", "run_id") } },
    { "runners", { C("name", "name"), C("alive", "alive"), C("runs", "runs"), C("of", "capacity"),
                   C("seen", "seen_at", .is = AGE), C("host", "hostname", .is = LESS),
                   C("tags", "tags", .is = LESS), C("profiles", "profiles", .is = LESS),
                   C("folder", "project_dir", .is = WORDS), C("id", "runner_id") } },
    { "agents", { C("name", "name"), C("profile", "profile"), C("model", "model", .is = LESS),
                  C("from", "source", .is = LESS), C("description", "description", .is = WORDS) } },
    { "profiles", { C("name", "name"), C("from", "source"), C("description", "description", .is = WORDS) } },
    { "schemas", { C("name", "name"), C("version", "version"), C("age", "created_at", .is = AGE),
                   C("description", "description", .is = WORDS), C("id", "schema_id") } },
    { "files", { C("file", "path"), C("age", "changed_at", .is = AGE),
                 C("who", "names", .is = WORDS), C("folder", "worktree", .is = LESS),
                 C("host", "host", .is = LESS) } },
    { "states", { C("name", "name"), C("schema", "schema_name"), C("version", "version"),
                  C("age", "updated_at", .is = AGE), C("session", "root_session_name", .is = LESS),
                  C("about", "schema_description", .is = WORDS), C("id", "state_id") } },
    { "workflows", { C("name", "workflow"), C("version", "version"), C("age", "created_at", .is = AGE), C("kind", "kind", .is = LESS),
                     C("description", "description", .is = WORDS) } },
    { "executions", { C("workflow", "workflow"), C("status", "status"), C("age", "ended_at", .other = "created_at", .is = AGE),
                      C("stuck", "incidents"), C("key", "business_key", .is = LESS), C("reason", "reason", .is = WORDS | LESS),
                      C("by", "started_by", .is = LESS), C("id", "execution_id") } },
    { "steps", { C("step", "step"), C("status", "status"), C("try", "attempt"), C("age", "ended_at", .other = "started_at", .is = AGE),
                 C("after", "after", .is = LESS), C("waits for", "waits_for", .other = "error", .is = WORDS) } },
    { "jobs", { C("type", "type"), C("step", "step"), C("try", "attempt"), C("worker", "worker", .none = "(none)"),
                C("workflow", "workflow", .is = LESS), C("key", "business_key", .is = LESS), C("until", "lease_until", .is = LESS), C("id", "job_id") } },
    { "incidents", { C("workflow", "workflow"), C("step", "step"), C("kind", "kind"), C("status", "status", .is = LESS),
                     C("age", "raised_at", .is = AGE), C("what", "message", .is = WORDS), C("id", "incident_id") } },
    { "approvals", { C("workflow", "workflow"), C("step", "step"), C("what", "title", .is = WORDS), C("status", "status"),
                     C("age", "decided_at", .other = "created_at", .is = AGE), C("by", "decided_by", .is = LESS),
                     C("way", "channel", .is = LESS), C("id", "approval_id") } },
    { "inbox", { C("kind", "kind"), C("what", "what", .is = WORDS), C("for", "who", .is = WORDS), C("age", "since", .is = AGE),
                 C("if nobody", "otherwise"), C("why", "why", .is = WORDS | LESS), C("id", "id") } },
    { "versions", { C("version", "version"), C("age", "time", .is = AGE), C("by", "actor"),
                    C("touch", "touch", .is = LESS), C("patch", "patch", .is = WORDS) } },
    { "entries", { C("pointer", "pointer", .none = "(all of it)"), C("version", "version", .other = "before"), C("age", "time", .is = AGE),
                   C("by", "actor"), C("session", "session_id") } },
    { "events", { C("seq", "seq", .other = "number"), C("age", "time", .is = AGE), C("type", "type", .other = "event_type"),
                  C("by", "actor", .is = LESS), C("data", "data", .is = WORDS), C("subject", "subject") } },
    { "permissions", { C("session", "session_name"), C("tool", "tool_name"), C("status", "status"),
                       C("age", "created_at", .is = AGE), C("by", "decided_by", .is = LESS),
                       C("what for", "tool_input", .is = WORDS), C("id", "permission_id") } },
    { "tokens", { C("name", "name"), C("kind", "kind"), C("age", "created_at", .is = AGE),
                  C("revoked", "revoked_at", .is = AGE), C("expires", "expires_at", .is = LESS),
                  C("scope", "scope", .is = WORDS), C("id", "token_id") } },
    { "nodes", { C("name", "name"), C("alive", "alive"), C("url", "url"), C("version", "version"),
                 C("seen", "seen_at", .is = AGE), C("started", "started_at", .is = AGE | LESS),
                 C("id", "node_id") } },
};
// clang-format on

static bool columns_choose(struct table *t, str list)
{
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        if (!str_eq(str_from(chosen[i].list), list))
            continue;
        for (const struct column *column = chosen[i].columns;
             t->count < sizeof chosen->columns / sizeof *chosen->columns && column->title; column++)
            t->columns[t->count++] = *column;
        return true;
    }
    return false;
}

static bool has_column(const struct table *t, str member)
{
    for (size_t i = 0; i < t->count; i++)
        if (str_eq(str_from(t->columns[i].member), member))
            return true;
    return false;
}

/* All that rows have, ids behind the rest. */
static void columns_collect(struct arena *a, struct table *t, const struct json *rows)
{
    for (int ids = 0; ids <= 1; ids++) {
        for (uint32_t r = 0; r < rows->len; r++) {
            const struct json *row = &rows->items[r];
            for (uint32_t i = 0; json_is(row, JSON_OBJECT) && i < row->len; i++) {
                str name = json_name(&row->members[i]);
                if (t->count == COLUMNS_MAX || str_ends(name, STR("_id")) != ids ||
                    has_column(t, name))
                    continue;
                const char *copy = arena_copy(a, name).at;
                t->columns[t->count++] =
                    (struct column){ .title = copy,
                                     .member = copy,
                                     .is = (t->count && !ids ? LESS : 0) |
                                           (str_ends(name, STR("_at")) ? AGE : 0) };
            }
        }
    }
}

/* ---- cells ---- */

static bool is_texts(const struct json *j)
{
    for (uint32_t i = 0; j->kind == JSON_ARRAY && i < j->len; i++)
        if (j->items[i].kind != JSON_STRING)
            return false;
    return j->kind == JSON_ARRAY;
}

/* A value in one line, as people write it: texts without quotes, nothing for null. */
static str value_shown(struct arena *a, const struct json *j)
{
    struct buf out = buf_in(a);

    if (!j || j->kind == JSON_NULL ||
        ((j->kind == JSON_OBJECT || j->kind == JSON_ARRAY) && !j->len))
        return STR("");
    if (j->kind == JSON_BOOL)
        return j->len ? STR("yes") : STR("no");
    if (j->kind == JSON_STRING)
        buf_add(&out, json_text(j));
    else if (!is_texts(j))
        return json_printed(a, j);
    for (uint32_t i = 0; j->kind == JSON_ARRAY && i < j->len; i++)
        buf_printf(&out, "%s" STR_FMT, i ? "," : "", STR_ARG(json_text(&j->items[i])));
    for (size_t i = 0; i < out.len; i++)
        if (out.at[i] == '\n' || out.at[i] == '\r' || out.at[i] == '\t')
            out.at[i] = ' ';
    return buf_str(&out);
}

/* What a cell shows, its control characters as people see them: what is measured is what is printed. */
static str cell_shown(struct arena *a, const struct column *column, const struct json *row)
{
    const struct json *value = json_get(row, column->member);
    struct buf out = buf_in(a);
    int64_t ms;

    if (column->other && !value_shown(a, value).len)
        value = json_get(row, column->other);
    if (column->is & AGE && json_is(value, JSON_STRING) && date_parse(json_text(value), &ms))
        return render_age(a, cli_now_ms() - ms);
    str text = value_shown(a, value);
    term_put(&out, PAINT_PLAIN, text.len ? text : str_from(column->none));
    return buf_str(&out);
}

static void table_measure(struct arena *a, struct table *t, const struct json *rows)
{
    struct table filled = { .count = 0 };

    for (size_t i = 0; i < t->count; i++) {
        struct column *column = &t->columns[i];
        column->width = render_text_width(str_from(column->title));
        for (uint32_t r = 0; r < rows->len; r++) {
            size_t width = render_text_width(cell_shown(a, column, &rows->items[r]));
            column->filled = column->filled || width > 0;
            column->width = width > column->width ? width : column->width;
        }
        if (column->filled)
            filled.columns[filled.count++] = *column;
    }
    *t = filled;
}

/* ---- tables ---- */

static size_t table_width(const struct table *t)
{
    size_t width = 0;

    for (size_t i = 0; i < t->count; i++)
        width += t->columns[i].width + (i ? GAP : 0);
    return width;
}

/* Makes columns that are so narrower, down to `least`, as far as the table is too wide. */
static void columns_narrow(struct table *t, unsigned is, size_t least, size_t width)
{
    for (size_t i = 0; i < t->count; i++) {
        struct column *column = &t->columns[i];
        size_t now = table_width(t), over = now > width ? now - width : 0;
        if ((column->is & is) != is || column->width <= least)
            continue;
        column->width = column->width - least > over ? column->width - over : least;
    }
}

/* Words are cut first, then columns go that are wanted less, then the other cells are cut, of ids the
 * last. */
static void table_fit(struct table *t, size_t width)
{
    struct table cut = *t;

    columns_narrow(&cut, WORDS, WORDS_LEAST, width);
    for (size_t i = t->count; i-- > 0 && table_width(&cut) > width;) {
        if (!(t->columns[i].is & LESS))
            continue;
        memmove(&t->columns[i], &t->columns[i + 1], (t->count - i - 1) * sizeof *t->columns);
        t->count--;
        cut = *t;
        columns_narrow(&cut, WORDS, WORDS_LEAST, width);
    }
    *t = cut;
    columns_narrow(t, 0, CELL_LEAST, width);
    while (t->count > 1 && table_width(t) > width)
        t->count--;
}

static void put_row(struct cli *c, struct buf *out, const struct table *t, const struct json *row)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct column *column = &t->columns[i];
        str text = row ? cell_shown(c->arena, column, row) : str_from(column->title);
        text = render_cut(c->arena, text, column->width);
        term_put(out, row ? PAINT_PLAIN : painted(c, PAINT_DIM), text);
        for (size_t n = render_text_width(text); n < column->width + GAP; n++)
            buf_byte(out, ' ');
    }
    while (out->len > 0 && out->at[out->len - 1] == ' ')
        out->len--;
    buf_byte(out, '\n');
}

static void put_table(struct cli *c, struct buf *out, str list, const struct json *rows)
{
    struct table t = { .count = 0 };

    if (!columns_choose(&t, list))
        columns_collect(c->arena, &t, rows);
    table_measure(c->arena, &t, rows);
    if (c->terminal)
        table_fit(&t, render_width());
    if (t.count == 0) {
        term_put(out, painted(c, PAINT_DIM), STR("none"));
        buf_byte(out, '\n');
        return;
    }
    put_row(c, out, &t, NULL);
    for (uint32_t i = 0; i < rows->len; i++)
        put_row(c, out, &t, &rows->items[i]);
}

void render_rows(struct cli *c, struct buf *out, const char *list, const struct json *rows)
{
    put_table(c, out, str_from(list), rows);
}

/* ---- lists ---- */

static bool is_chosen(str list)
{
    struct table t = { .count = 0 };

    return columns_choose(&t, list);
}

const struct json *render_list(struct cli *c, const struct json *answer, str *name)
{
    const struct json *output, *properties, *required;

    if (!c->verb->op || json_parse(c->arena, str_from(c->verb->op->output), NULL, &output))
        return NULL;
    properties = json_get(output, "properties");
    required = json_get(output, "required");
    for (uint32_t i = 0; json_is(required, JSON_ARRAY) && i < required->len; i++) {
        *name = json_text(&required->items[i]);
        const struct json *found = json_find(answer, *name);
        if (str_eq(json_str(json_find(properties, *name), "type"), STR("array")) &&
            json_is(found, JSON_ARRAY) && (i == 0 || is_chosen(*name)))
            return found;
    }
    return NULL;
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

void render_value(struct cli *c, const struct json *answer)
{
    struct buf out = buf_in(c->arena);
    str name = STR("");
    const struct json *list = c->json ? NULL : render_list(c, answer, &name);
    const struct json *valid = json_get(answer, "valid");

    if (list) {
        put_table(c, &out, name, list);
    } else {
        render_json(c, &out, answer, c->terminal && !c->json);
        buf_byte(&out, '\n');
    }
    cli_write(c, buf_str(&out));
    if (json_is(valid, JSON_BOOL) && !valid->len) /* as `baton json check` does */
        c->exit = error_kind_info(ERR_UNFIT)->exit;
}

err render_answer(struct cli *c, const struct response *r)
{
    const struct json *answer;

    if (r->status >= 400)
        return render_problem(c, r);
    if (r->body.len == 0)
        return NULL;
    err e = json_parse(c->arena, r->body, &json_limits_own, &answer);
    if (e)
        return err_within(c->arena, e, "the server's answer is not JSON");
    render_value(c, answer);
    return NULL;
}
