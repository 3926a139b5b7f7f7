/* top_screen.c: a moment of baton top as text. */
#include "cli/top.h"

#include "base/date.h"
#include "cli/cli.h"
#include "cli/inbox.h"
#include "cli/unheard.h"

enum {
    LINES_AROUND = 3,  /* totals, titles, and the last line */
    FILES_LIVE = 3,    /* that a terminal shows, */
    UNHEARD_LIVE = 3,  /* and who has not heard, */
    FILES_HEIGHT = 12, /* of at least so many lines */
};

static enum paint painted(const struct top_view *v, enum paint paint)
{
    return v->coloured ? paint : PAINT_PLAIN;
}

/* A line of its own, cut at the edge. */
static void put_line(struct buf *out, const struct top_view *v, enum paint paint, str text)
{
    term_put(out, painted(v, paint), v->width ? render_cut(out->arena, text, v->width) : text);
    buf_byte(out, '\n');
}

/* ---- totals ---- */

static void put_count(struct buf *out, int64_t n, const char *what)
{
    if (n > 0)
        buf_printf(out, "%s%lld %s", out->len ? ", " : "", (long long)n, what);
}

static void put_runners(struct buf *out, const struct json *runners)
{
    int64_t alive = 0, capacity = 0, busy = 0;

    if (!json_is(runners, JSON_ARRAY))
        return;
    for (uint32_t i = 0; i < runners->len; i++) {
        if (!json_bool_or(&runners->items[i], "alive", false))
            continue;
        alive++;
        capacity += json_int_or(&runners->items[i], "capacity", 0);
        busy += json_int_or(&runners->items[i], "runs", 0);
    }
    if (!alive)
        buf_add(out, STR("  no runner: `baton runner` starts one"));
    else
        buf_printf(out, "  %lld runner%s, %lld of %lld busy", (long long)alive,
                   alive == 1 ? "" : "s", (long long)busy, (long long)capacity);
}

/* The server's own is missed at once, before it counts as silent. */
static void put_own_runner(struct buf *out, const struct json *own)
{
    str state = json_str(own, "state"), end = json_str(own, "last_end");

    if (str_eq(state, STR("ended")))
        buf_printf(out, "  the server's runner is gone: " STR_FMT "; it is started again",
                   STR_ARG(end));
    else if (str_eq(state, STR("removed")))
        buf_add(out, STR("  the server's runner was removed"));
}

static str totals(struct arena *a, const struct top_view *v)
{
    static const char *const words[RANKS] = { [RANK_NEEDS_YOU] = "need you",
                                              [RANK_RUNNING] = "running",
                                              [RANK_IDLE] = "idle",
                                              [RANK_SILENT] = "silent",
                                              [RANK_ENDED] = "ended" };
    const struct session_tree *t = v->tree;
    struct buf out = buf_in(a);

    for (int rank = 0; rank < RANKS; rank++)
        put_count(&out, t->ranks[rank], words[rank]);
    put_count(&out, t->queued, t->queued == 1 ? "run queued" : "runs queued");
    if (!out.len)
        buf_add(&out, STR("no sessions"));
    if (t->sum.tokens)
        buf_printf(&out, "  " STR_FMT " tokens", STR_ARG(tree_count(a, t->sum.tokens)));
    if (t->sum.cost)
        buf_printf(&out, "  " STR_FMT, STR_ARG(tree_money(a, t->sum.cost)));
    put_runners(&out, v->runners);
    put_own_runner(&out, v->own);
    if (v->cut)
        buf_printf(&out, "  (the first %zu sessions)", t->count);
    return buf_str(&out);
}

/* ---- who has not heard ---- */

static size_t unheard_lines(const struct top_view *v)
{
    size_t count = v->unheard ? v->unheard->len : 0;

    if (!v->height)
        return count;
    return v->height < FILES_HEIGHT ? 0 : count < UNHEARD_LIVE ? count : UNHEARD_LIVE;
}

static void put_unheard(struct buf *out, const struct top_view *v)
{
    for (size_t i = 0; i < unheard_lines(v); i++)
        put_line(out, v, PAINT_KEY, unheard_told(out->arena, &v->unheard->items[i], v->now_ms));
}

/* ---- files that two are at ---- */

/* How many have a line. */
static size_t files_shown(const struct top_view *v)
{
    size_t count = json_is(v->files, JSON_ARRAY) ? v->files->len : 0;

    if (!v->height)
        return count;
    return v->height < FILES_HEIGHT ? 0 : count < FILES_LIVE ? count : FILES_LIVE;
}

static size_t files_lines(const struct top_view *v)
{
    return files_shown(v) ? files_shown(v) + 1 : 0;
}

static void put_file_member(struct buf *out, const struct top_view *v, const struct json *m)
{
    int64_t wrote_ms;

    buf_add(out, json_str(m, "session_name"));
    if (!date_parse(json_str(m, "wrote_at"), &wrote_ms)) {
        buf_add(out, STR(" (read)"));
        return;
    }
    buf_printf(out, " (%s, +%lld -%lld)", render_age(out->arena, v->now_ms - wrote_ms).at,
               (long long)json_int_or(m, "added", 0), (long long)json_int_or(m, "removed", 0));
}

/* The folder that a path ends with. */
static str last_part(str path)
{
    size_t from = path.len;

    while (from > 0 && path.at[from - 1] != '/')
        from--;
    return str_slice(path, from, path.len);
}

static void put_files(struct buf *out, const struct top_view *v)
{
    size_t shown = files_shown(v);

    if (!shown)
        return;
    put_line(out, v, PAINT_KEY,
             arena_printf(out->arena,
                          shown < v->files->len ? "files that two are at, %zu of %u:"
                                                : "files that two are at:",
                          shown, (unsigned)v->files->len));
    for (size_t i = 0; i < shown; i++) {
        const struct json *f = &v->files->items[i], *members = json_get(f, "members");
        struct buf line = buf_in(out->arena);
        buf_printf(&line, "  " STR_FMT "/" STR_FMT ": ",
                   STR_ARG(last_part(json_str(f, "worktree"))), STR_ARG(json_str(f, "path")));
        for (uint32_t k = 0; json_is(members, JSON_ARRAY) && k < members->len; k++) {
            buf_add(&line, k ? STR(", ") : STR(""));
            put_file_member(&line, v, &members->items[k]);
        }
        put_line(out, v, PAINT_PLAIN, buf_str(&line));
    }
}

/* ---- the list ---- */

size_t top_selected(const struct top_view *v)
{
    for (size_t i = 0; v->selected.len && i < v->tree->count; i++)
        if (str_eq(v->tree->rows[i].node->id, v->selected))
            return i;
    return 0;
}

static size_t rows_shown(const struct top_view *v)
{
    size_t around = LINES_AROUND + files_lines(v) + unheard_lines(v) + top_inbox_lines(v) +
                    top_executions_lines(v);

    return v->height > around ? v->height - around : 1;
}

void top_scroll(struct top_view *v)
{
    size_t at = top_selected(v), rows = rows_shown(v);

    if (at < v->from)
        v->from = at;
    if (at >= v->from + rows)
        v->from = at - rows + 1;
    if (v->from + rows > v->tree->count)
        v->from = v->tree->count > rows ? v->tree->count - rows : 0;
}

static void put_list(struct buf *out, const struct top_view *v)
{
    struct tree_style look = { .columns = TREE_STATUS | TREE_UPDATE | TREE_AGENT | TREE_AGE |
                                          TREE_TOKENS | TREE_COST | TREE_COST_ALL | TREE_QUEUED |
                                          TREE_LAST,
                               .width = v->width,
                               .unicode = v->unicode,
                               .coloured = v->coloured,
                               .now_ms = v->now_ms,
                               .from = v->height ? v->from : 0,
                               .count = v->height ? rows_shown(v) : 0,
                               .selected = v->live ? v->selected : STR("") };
    if (v->tree->count)
        session_tree_print(out, v->tree, &look);
    else
        put_line(out, v, PAINT_PLAIN, STR("`baton session start NAME -p PROMPT` starts one"));
    put_unheard(out, v);
    put_files(out, v);
    top_inbox_put(out, v);
    top_executions_put(out, v);
}

/* ---- one session ---- */

/* Values in one line each, but the error, whose lines are kept. */
static void put_value(struct buf *out, const struct top_view *v, const char *name, str value)
{
    str line, rest = value;

    for (bool more = value.len > 0, first = true; more; first = false) {
        more = str_cut(rest, '\n', &line, &rest);
        put_line(out, v, PAINT_PLAIN,
                 arena_printf(out->arena, "%-20s " STR_FMT, first ? name : "", STR_ARG(line)));
    }
}

static void put_commands(struct buf *out, const struct top_view *v, str name)
{
    static const struct {
        const char *before, *after;
    } commands[] = { { "baton logs ", " -f" },
                     { "baton session result ", "" },
                     { "baton session resume ", " -p PROMPT" },
                     { "baton session stop ", "" } };

    buf_byte(out, '\n');
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        put_line(out, v, PAINT_DIM,
                 arena_printf(out->arena, "%s" STR_FMT "%s", commands[i].before, STR_ARG(name),
                              commands[i].after));
}

static void put_details(struct buf *out, const struct top_view *v)
{
    static const char *const names[] = { "session_name",
                                         "status",
                                         "state_update_status",
                                         "error",
                                         "project",
                                         "worktree",
                                         "last_event",
                                         "last_event_at",
                                         "agent_name",
                                         "profile",
                                         "project_dir",
                                         "hostname",
                                         "parent_session_name",
                                         "workflow_state_id",
                                         "run_id",
                                         "client_id",
                                         "session_id",
                                         "created_at",
                                         "ended_at" };
    const struct tree_node *n = v->tree->rows[top_selected(v)].node;
    struct arena *a = out->arena;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_value(out, v, names[i], json_str(n->session, names[i]));
    put_value(out, v, "tokens", tree_count(a, n->own.tokens));
    put_value(out, v, "cost", tree_money(a, n->own.cost));
    put_value(out, v, "cost with all", tree_money(a, n->all.cost));
    put_value(out, v, "children", tree_count(a, n->children));
    put_value(out, v, "queued runs", tree_count(a, n->queued));
    put_commands(out, v, n->name);
}

/* ---- the frame ---- */

static str which_line(struct arena *a, const struct top_view *v)
{
    const char *decision = v->decisions->asked;
    struct buf out = buf_in(a);
    size_t first = 0;

    top_decide_rows(v, decision, &first);
    buf_printf(&out, "%s which? ", decision);
    for (size_t i = first; i < top_inbox_shown(v); i++)
        if (inbox_takes(&v->inbox->items[i], decision))
            buf_printf(&out, "%s%zu", i > first ? ", " : "", i + 1);
    buf_printf(&out, "; enter: %zu, any other key: none", first + 1);
    return buf_str(&out);
}

static str pending_line(struct arena *a, const struct top_view *v)
{
    const struct top_decisions *d = v->decisions;
    const struct top_pending *p = &d->all[d->count - 1];

    return arena_printf(a, "z: take it back  %s in %llds: %s%s", p->decision,
                        (long long)(p->due_ms - v->clock_ms + 999) / 1000, p->title,
                        d->count > 1 ? ", and others" : "");
}

static str keys_line(struct arena *a, const struct top_view *v)
{
    static const char *const decisions[] = { "approve", "reject", "rework" };
    struct buf out = buf_in(a);
    size_t first;

    if (v->mode == TOP_DETAILS)
        return STR("enter: back  s: stop  q: quit");
    buf_add(&out, STR("j, k: move  enter: details  s: stop"));
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++)
        if (top_decide_rows(v, decisions[i], &first))
            buf_printf(&out, "  %c: %s", "arw"[i], decisions[i]);
    buf_add(&out, STR("  q: quit"));
    return buf_str(&out);
}

static str last_line(struct arena *a, const struct top_view *v)
{
    if (v->mode == TOP_CONFIRM)
        return arena_printf(a, "stop " STR_FMT " and all below it? y: yes, any other key: no",
                            STR_ARG(v->tree->rows[top_selected(v)].node->name));
    if (v->mode == TOP_WHICH)
        return which_line(a, v);
    if (v->decisions && v->decisions->count)
        return pending_line(a, v);
    return v->notice.len ? v->notice : keys_line(a, v);
}

/* Cut or filled up to so many lines. */
static void put_height(struct buf *out, str text, size_t lines)
{
    str line, rest = text;

    for (; lines > 0; lines--) {
        bool more = str_cut(rest, '\n', &line, &rest);
        buf_add(out, line);
        buf_byte(out, '\n');
        if (!more)
            rest = STR("");
    }
}

void top_frame(struct buf *out, const struct top_view *v)
{
    struct buf body = buf_in(out->arena);
    bool details = v->mode == TOP_DETAILS && v->tree->count > 0;
    enum paint paint = v->tree->ranks[RANK_NEEDS_YOU] ? PAINT_ERROR : PAINT_KEY;

    put_line(out, v, paint, totals(out->arena, v));
    if (details)
        put_details(&body, v);
    else
        put_list(&body, v);
    if (v->height)
        put_height(out, buf_str(&body), v->height > 2 ? v->height - 2 : 1);
    else
        buf_add(out, buf_str(&body));
    if (v->live)
        put_line(out, v, v->mode == TOP_CONFIRM || v->mode == TOP_WHICH ? PAINT_ERROR : PAINT_DIM,
                 last_line(out->arena, v));
}

void top_json(struct buf *out, const struct top_view *v)
{
    const struct session_tree *t = v->tree;
    struct json_writer w = json_writer_to(out);
    const struct {
        const char *name;
        int64_t n;
    } counts[] = { { "needs_you", t->ranks[RANK_NEEDS_YOU] },
                   { "running", t->ranks[RANK_RUNNING] },
                   { "idle", t->ranks[RANK_IDLE] },
                   { "silent", t->ranks[RANK_SILENT] },
                   { "ended", t->ranks[RANK_ENDED] },
                   { "queued_runs", t->queued },
                   { "tokens", t->sum.tokens } };

    json_write_begin(&w, '{');
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        json_write_name(&w, str_from(counts[i].name));
        json_write_int(&w, counts[i].n);
    }
    json_write_name(&w, STR("cost_usd"));
    json_write_printed(&w,
                       arena_printf(out->arena, "%lld.%06lld", (long long)(t->sum.cost / 1000000),
                                    (long long)(t->sum.cost % 1000000)));
    if (v->own) {
        json_write_name(&w, STR("runner"));
        json_write_str(&w, json_str(v->own, "state"));
    }
    if (v->unheard) {
        json_write_name(&w, STR("unheard"));
        json_write_value(&w, v->unheard);
    }
    if (v->files) {
        json_write_name(&w, STR("files"));
        json_write_value(&w, v->files);
    }
    if (v->inbox) {
        json_write_name(&w, STR("inbox"));
        top_inbox_json(&w, v);
    }
    if (v->executions) {
        json_write_name(&w, STR("executions"));
        top_executions_json(&w, v);
    }
    json_write_name(&w, STR("sessions"));
    session_tree_json(&w, t);
    json_write_end(&w, '}');
    buf_byte(out, '\n');
}
