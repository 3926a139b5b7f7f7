/* step_text.c: what is kept of a step of an execution as text. */
#include "cli/step_text.h"

#include "base/date.h"

enum { WORDS_LEAST = 20, PART_INDENT = 2, SUM_SHOWN = 12 };

static enum paint painted(const struct execution_text *t, enum paint paint)
{
    return t->coloured ? paint : PAINT_PLAIN;
}

/* The first line of a text as a line of the screen, cut where it would be longer. */
static void put_line(struct buf *out, const struct execution_text *t, size_t indent,
                     enum paint paint, str text)
{
    str line, rest;

    str_cut(text, '\n', &line, &rest);
    if (t->width) {
        size_t room = t->width > indent + WORDS_LEAST ? t->width - indent : WORDS_LEAST;
        line = render_cut(out->arena, line, room);
    }
    buf_printf(out, "%*s", (int)indent, "");
    term_put(out, painted(t, paint), line);
    buf_byte(out, '\n');
}

/* All lines of it. */
static void put_lines(struct buf *out, const struct execution_text *t, size_t indent, str text)
{
    str line, rest = text;

    for (bool more = text.len > 0; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        put_line(out, t, indent, PAINT_PLAIN, line);
    }
}

static bool is_list(const struct json *j)
{
    return json_is(j, JSON_ARRAY) && j->len;
}

/* "in 3s", from one time to another; empty: it has not ended. */
static str took(struct arena *a, const struct json *object)
{
    int64_t from, to;

    if (!date_parse(json_str(object, "started_at"), &from) ||
        !date_parse(json_str(object, "ended_at"), &to))
        return STR("");
    return arena_printf(a, " in " STR_FMT, STR_ARG(render_age(a, to - from)));
}

/* ---- what a runner has found ---- */

static const char *mark_of(const struct execution_text *t, bool good)
{
    return good ? (t->unicode ? "✓" : "+") : t->unicode ? "✗" : "x";
}

static str evidence_line(struct arena *a, const struct json *one)
{
    str sum = json_str(one, "sha256");
    struct buf out = buf_in(a);

    buf_printf(&out, STR_FMT ": " STR_FMT, STR_ARG(json_str(one, "what")),
               STR_ARG(json_str(one, "found")));
    if (sum.len > SUM_SHOWN)
        buf_printf(&out, ", sha256 " STR_FMT "…", STR_ARG(str_slice(sum, 0, SUM_SHOWN)));
    return buf_str(&out);
}

static void put_evidence(struct buf *out, const struct execution_text *t, const struct json *all)
{
    for (uint32_t i = 0; i < all->len; i++) {
        const struct json *one = &all->items[i];
        bool good = json_bool_or(one, "ok", false);
        buf_printf(out, "%*s", PART_INDENT, "");
        term_put(out, painted(t, good ? PAINT_GOOD : PAINT_ERROR), str_from(mark_of(t, good)));
        put_line(out, t, 1, PAINT_PLAIN, evidence_line(out->arena, one));
        put_lines(out, t, PART_INDENT * 3, json_str(one, "output"));
    }
}

/* How much of it holds, and the first that does not. */
static str evidence_told(struct arena *a, const struct json *all)
{
    const struct json *bad = NULL;
    uint32_t good = 0;

    for (uint32_t i = 0; i < all->len; i++) {
        bool ok = json_bool_or(&all->items[i], "ok", false);
        good += ok;
        bad = !ok && !bad ? &all->items[i] : bad;
    }
    if (!bad)
        return all->len == 1 ? arena_printf(a, "evidence: " STR_FMT,
                                            STR_ARG(evidence_line(a, &all->items[0])))
                             : arena_printf(a, "evidence: all %u as wanted", all->len);
    return arena_printf(a, "evidence: %u of %u as wanted; " STR_FMT, good, all->len,
                        STR_ARG(evidence_line(a, bad)));
}

/* ---- what a person has decided ---- */

/* Empty: nothing yet. */
static str approval_told(struct arena *a, const struct json *approval)
{
    str by = json_str(approval, "decided_by"), channel = json_str(approval, "channel"),
        variant = json_str(approval, "selected_variant"), reason = json_str(approval, "reason");
    struct buf out = buf_in(a);

    if (!by.len)
        return STR("");
    buf_printf(&out, STR_FMT " by " STR_FMT, STR_ARG(json_str(approval, "status")), STR_ARG(by));
    if (channel.len)
        buf_printf(&out, " (" STR_FMT ")", STR_ARG(channel));
    if (variant.len)
        buf_printf(&out, ", variant " STR_FMT, STR_ARG(variant));
    if (reason.len)
        buf_printf(&out, ": " STR_FMT, STR_ARG(reason));
    return buf_str(&out);
}

/* ---- attempts ---- */

/* With the first thing that was wrong with it, unless that is told below. */
static str attempt_line(struct arena *a, const struct json *one, bool alone)
{
    const struct json *violations = json_get(one, "violations");
    str error = json_str(one, "error"), line, rest;
    struct buf out = buf_in(a);

    buf_printf(&out, "attempt %lld", (long long)json_int_or(one, "attempt", 0));
    if (json_get(one, "item"))
        buf_printf(&out, " of item %lld", (long long)json_int_or(one, "item", 0));
    buf_printf(&out, ": " STR_FMT STR_FMT, STR_ARG(json_str(one, "outcome")),
               STR_ARG(took(a, one)));
    if (!error.len && is_list(violations) && json_is(&violations->items[0], JSON_STRING))
        error = json_text(&violations->items[0]);
    str_cut(error, '\n', &line, &rest);
    if (line.len && (alone || !is_list(violations)))
        buf_printf(&out, "; " STR_FMT, STR_ARG(line));
    return buf_str(&out);
}

static void put_attempt(struct buf *out, const struct execution_text *t, const struct json *one)
{
    const struct json *violations = json_get(one, "violations");

    put_line(out, t, PART_INDENT, PAINT_PLAIN, attempt_line(out->arena, one, false));
    for (uint32_t i = 0; is_list(violations) && i < violations->len; i++) {
        const struct json *v = &violations->items[i];
        put_lines(out, t, PART_INDENT * 2,
                  json_is(v, JSON_STRING) ? json_text(v) : json_printed(out->arena, v));
    }
}

/* ---- below a step ---- */

void step_notes_put(struct buf *out, const struct execution_text *t, size_t indent,
                    const struct json *step)
{
    const struct json *history = json_get(step, "history"), *evidence = json_get(step, "evidence");
    str again = json_str(step, "again"),
        approval = approval_told(out->arena, json_get(step, "approval"));
    bool failed = str_eq(json_str(step, "status"), STR("failed"));

    if (is_list(history) && !(failed && history->len == 1))
        put_line(out, t, indent, PAINT_DIM,
                 attempt_line(out->arena, &history->items[history->len - 1], true));
    if (again.len)
        put_line(out, t, indent, PAINT_DIM,
                 arena_printf(out->arena, "done anew: " STR_FMT, STR_ARG(again)));
    if (is_list(evidence))
        put_line(out, t, indent, PAINT_DIM, evidence_told(out->arena, evidence));
    if (approval.len)
        put_line(out, t, indent, PAINT_DIM, approval);
}

/* ---- one step ---- */

static void put_title(struct buf *out, const struct execution_text *t, const char *title)
{
    buf_byte(out, '\n');
    term_put(out, painted(t, PAINT_DIM), str_from(title));
    buf_byte(out, '\n');
}

static void put_head(struct buf *out, const struct execution_text *t, const struct json *step)
{
    struct arena *a = out->arena;
    str id = json_str(step, "step"), title = json_str(step, "title"),
        waits = json_str(step, "waits_for"), error = json_str(step, "error");
    int64_t opened = json_int_or(step, "opened", 0);

    term_put(out, painted(t, PAINT_KEY), id);
    if (title.len && !str_eq(title, id)) {
        buf_add(out, STR("  "));
        term_put(out, PAINT_PLAIN, title);
    }
    buf_byte(out, '\n');
    put_line(out, t, 0, PAINT_PLAIN,
             arena_printf(a, STR_FMT STR_FMT ", attempt %lld%s", STR_ARG(json_str(step, "status")),
                          STR_ARG(took(a, step)), (long long)json_int_or(step, "attempt", 0),
                          opened ? ", done anew" : ""));
    if (waits.len)
        put_line(out, t, 0, PAINT_PLAIN, arena_printf(a, "waits for " STR_FMT, STR_ARG(waits)));
    put_lines(out, t, 0, json_str(step, "again"));
    if (str_eq(json_str(step, "status"), STR("failed")))
        put_lines(out, t, 0, error);
}

static void put_sessions(struct buf *out, const struct execution_text *t, const struct json *all)
{
    struct arena *a = out->arena;

    for (uint32_t i = 0; i < all->len; i++) {
        const struct json *one = &all->items[i];
        put_line(out, t, PART_INDENT, PAINT_PLAIN,
                 arena_printf(a, STR_FMT " for attempt %lld: " STR_FMT STR_FMT ", session " STR_FMT,
                              STR_ARG(json_str(one, "agent")),
                              (long long)json_int_or(one, "attempt", 0),
                              STR_ARG(json_str(one, "status")), STR_ARG(took(a, one)),
                              STR_ARG(json_str(one, "session_name"))));
    }
}

static void put_outputs(struct buf *out, const struct execution_text *t, const struct json *outputs)
{
    for (uint32_t i = 0; i < outputs->len; i++) {
        const struct json *value = &outputs->members[i].value;
        bool text = json_is(value, JSON_STRING) && !str_contains(json_text(value), STR("\n"));
        put_line(out, t, PART_INDENT, PAINT_PLAIN,
                 arena_printf(out->arena, STR_FMT ": " STR_FMT,
                              STR_ARG(json_name(&outputs->members[i])),
                              STR_ARG(text ? json_text(value) : json_printed(out->arena, value))));
    }
}

void step_text_put(struct buf *out, const struct execution_text *t, const struct json *step)
{
    const struct json *sessions = json_get(step, "sessions"), *outputs = json_get(step, "outputs"),
                      *evidence = json_get(step, "evidence"), *history = json_get(step, "history");
    str approval = approval_told(out->arena, json_get(step, "approval"));

    put_head(out, t, step);
    if (json_is(outputs, JSON_OBJECT) && outputs->len) {
        put_title(out, t, "what it has given");
        put_outputs(out, t, outputs);
    }
    if (is_list(evidence)) {
        put_title(out, t, "what a runner has found");
        put_evidence(out, t, evidence);
    }
    if (approval.len) {
        put_title(out, t, "what a person has decided");
        put_line(out, t, PART_INDENT, PAINT_PLAIN, approval);
    }
    if (is_list(sessions)) {
        put_title(out, t, "who has worked for it");
        put_sessions(out, t, sessions);
    }
    if (is_list(history)) {
        put_title(out, t, "attempts that did not do");
        for (uint32_t i = 0; i < history->len; i++)
            put_attempt(out, t, &history->items[i]);
    }
}
