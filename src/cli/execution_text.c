/* execution_text.c: an execution, and what happens to it, as text for people. */
#define _GNU_SOURCE /* memmem */
#include "cli/execution_text.h"

#include "base/date.h"
#include "cli/step_text.h"

enum {
    STEP_WIDTH_MAX = 24,
    WORDS_LEAST = 20,
    MOVES_SHOWN = 12,
};

/* ---- pieces ---- */

// clang-format off
static const struct status_look {
    const char *status, *mark, *plain;
    enum paint paint;
} looks[] = {
    { "pending",          "○", "o", PAINT_DIM   },
    { "in_progress",      "●", "*", PAINT_KEY   },
    { "waiting_approval", "▲", "!", PAINT_KEY   },
    { "completed",        "✓", "+", PAINT_GOOD  },
    { "failed",           "✗", "x", PAINT_ERROR },
    { "skipped",          "–", "-", PAINT_DIM   },
};
// clang-format on

static const struct status_look *look_of(str status)
{
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (str_eq(status, str_from(looks[i].status)))
            return &looks[i];
    return &looks[0];
}

static enum paint painted(const struct execution_text *t, enum paint paint)
{
    return t->coloured ? paint : PAINT_PLAIN;
}

static bool time_of(const struct json *object, const char *name, int64_t *out)
{
    return date_parse(json_str(object, name), out);
}

/* A line of the screen: cut where it would be longer. */
static void put_line(struct buf *out, const struct execution_text *t, size_t column, str text)
{
    str line, rest;

    str_cut(text, '\n', &line, &rest);
    if (t->width) {
        size_t room = t->width > column + WORDS_LEAST ? t->width - column : WORDS_LEAST;
        line = render_cut(out->arena, line, room);
    }
    term_put(out, PAINT_PLAIN, line);
    buf_byte(out, '\n');
}

/* A text in a column of so many characters and a gap; `last`: nothing stands behind it. */
static void put_padded(struct buf *out, str text, size_t width, bool last)
{
    text = render_cut(out->arena, text, width);
    term_put(out, PAINT_PLAIN, text);
    if (last)
        return;
    for (size_t n = render_text_width(text); n < width + 2; n++)
        buf_byte(out, ' ');
}

/* ---- the head ---- */

static str status_text(struct arena *a, const struct execution_text *t, const struct json *e)
{
    struct buf out = buf_in(a);
    int64_t from, to;

    buf_add(&out, json_str(e, "status"));
    if (json_bool_or(e, "failing", false) && !json_str(e, "ended_at").len)
        buf_add(&out, STR(", failing"));
    if (time_of(e, "created_at", &from)) {
        bool ended = time_of(e, "ended_at", &to);
        buf_printf(&out, " %s " STR_FMT, ended ? "after" : "for",
                   STR_ARG(render_age(a, (ended ? to : t->now_ms) - from)));
    }
    if (json_str(e, "reason").len)
        buf_printf(&out, ": " STR_FMT, STR_ARG(json_str(e, "reason")));
    return buf_str(&out);
}

void execution_progress(const struct json *execution, int64_t *done, int64_t *total)
{
    const struct json *steps = json_get(execution, "steps");

    *done = *total = 0;
    for (uint32_t i = 0; json_is(steps, JSON_ARRAY) && i < steps->len; i++) {
        str status = json_str(&steps->items[i], "status");
        *done += str_eq(status, STR("completed")) || str_eq(status, STR("skipped"));
        ++*total;
    }
}

static void put_head(struct buf *out, const struct execution_text *t, const struct json *e)
{
    struct arena *a = out->arena;
    int64_t done, total;

    term_put(out, painted(t, PAINT_KEY), json_str(e, "workflow"));
    buf_printf(out, " version %lld", (long long)json_int_or(e, "version", 0));
    if (json_str(e, "business_key").len)
        put_line(out, t, 0, arena_printf(a, " for " STR_FMT, STR_ARG(json_str(e, "business_key"))));
    else
        buf_byte(out, '\n');
    put_line(out, t, 0,
             arena_printf(a, STR_FMT ", started by " STR_FMT, STR_ARG(json_str(e, "execution_id")),
                          STR_ARG(json_str(e, "started_by"))));
    put_line(out, t, 0, status_text(a, t, e));
    execution_progress(e, &done, &total);
    if (total)
        buf_printf(out, "%lld of %lld steps done\n", (long long)done, (long long)total);
}

/* ---- steps ---- */

static str after_text(struct arena *a, const struct json *step)
{
    const struct json *after = json_get(step, "after");
    struct buf out = buf_in(a);

    for (uint32_t i = 0; json_is(after, JSON_ARRAY) && i < after->len; i++)
        buf_printf(&out, "%s" STR_FMT, i ? ", " : "after ", STR_ARG(json_text(&after->items[i])));
    return buf_str(&out);
}

static str step_words(struct arena *a, const struct json *step)
{
    str status = json_str(step, "status"), error = json_str(step, "error"),
        waits = json_str(step, "waits_for");
    int64_t attempt = json_int_or(step, "attempt", 0), from, to;
    struct buf out = buf_in(a);

    if (str_eq(status, STR("completed")) && time_of(step, "started_at", &from) &&
        time_of(step, "ended_at", &to))
        buf_printf(&out, "in " STR_FMT, STR_ARG(render_age(a, to - from)));
    else if (str_eq(status, STR("skipped")))
        buf_add(&out, STR("skipped: its condition was not true"));
    else if (str_eq(status, STR("failed")))
        buf_printf(&out, "failed%s" STR_FMT, error.len ? ": " : "", STR_ARG(error));
    else if (waits.len)
        buf_printf(&out, "waits %s" STR_FMT, str_starts(waits, STR("until")) ? "" : "for ",
                   STR_ARG(waits));
    else if (str_eq(status, STR("pending")))
        buf_add(&out, after_text(a, step));
    if (attempt > 1)
        buf_printf(&out, "%sattempt %lld", out.len ? ", " : "", (long long)attempt);
    return buf_str(&out);
}

/* Its id; where that is a number, with what people call it. */
static str step_called(struct arena *a, const struct json *step)
{
    str id = json_str(step, "step"), title = json_str(step, "title");
    int64_t n;

    return str_to_int(id, &n) && title.len && !str_eq(id, title)
               ? arena_printf(a, STR_FMT " " STR_FMT, STR_ARG(id), STR_ARG(title))
               : id;
}

static size_t step_width(struct arena *a, const struct json *steps)
{
    size_t width = 0;

    for (uint32_t i = 0; i < steps->len; i++) {
        size_t len = render_text_width(step_called(a, &steps->items[i]));
        width = len > width ? len : width;
    }
    return width < STEP_WIDTH_MAX ? width : STEP_WIDTH_MAX;
}

static const struct json *whole_of(const struct json *steps, str id)
{
    for (uint32_t i = 0; json_is(steps, JSON_ARRAY) && i < steps->len; i++)
        if (str_eq(json_str(&steps->items[i], "step"), id))
            return &steps->items[i];
    return NULL;
}

static void put_steps(struct buf *out, const struct execution_text *t, const struct json *e,
                      const struct json *whole)
{
    const struct json *steps = json_get(e, "steps");

    if (!json_is(steps, JSON_ARRAY) || !steps->len)
        return;
    size_t width = step_width(out->arena, steps);
    buf_byte(out, '\n');
    for (uint32_t i = 0; i < steps->len; i++) {
        const struct json *step = &steps->items[i];
        const struct status_look *look = look_of(json_str(step, "status"));
        str words = step_words(out->arena, step);
        buf_add(out, STR("  "));
        term_put(out, painted(t, look->paint), str_from(t->unicode ? look->mark : look->plain));
        buf_byte(out, ' ');
        put_padded(out, step_called(out->arena, step), width, !words.len);
        put_line(out, t, width + 6, words);
        if (whole_of(whole, json_str(step, "step")))
            step_notes_put(out, t, width + 6, whole_of(whole, json_str(step, "step")));
    }
}

str execution_waits(struct arena *a, const struct json *execution)
{
    const struct json *steps = json_get(execution, "steps");
    struct buf out = buf_in(a);

    for (uint32_t i = 0; json_is(steps, JSON_ARRAY) && i < steps->len; i++) {
        str waits = json_str(&steps->items[i], "waits_for");
        if (waits.len)
            buf_printf(&out, "%s" STR_FMT ": " STR_FMT, out.len ? "; " : "",
                       STR_ARG(json_str(&steps->items[i], "step")), STR_ARG(waits));
    }
    return buf_str(&out);
}

/* ---- what a person does ---- */

static void put_command(struct buf *out, const struct execution_text *t, str command)
{
    buf_add(out, STR("      "));
    term_put(out, painted(t, PAINT_GOOD), command);
    buf_byte(out, '\n');
}

static void put_incidents(struct buf *out, const struct execution_text *t, const struct json *e)
{
    const struct json *incidents = json_get(e, "open_incidents");
    struct arena *a = out->arena;

    for (uint32_t i = 0; json_is(incidents, JSON_ARRAY) && i < incidents->len; i++) {
        const struct json *incident = &incidents->items[i];
        str step = json_str(incident, "step"), text;
        text = arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(step), step.len ? ": " : "",
                            STR_ARG(json_str(incident, "message")));
        buf_add(out, STR("  "));
        term_put(out, painted(t, PAINT_ERROR), STR("!"));
        buf_byte(out, ' ');
        help_put(out, 4, text);
        buf_byte(out, '\n');
        put_command(out, t,
                    arena_printf(a, "baton execution retry " STR_FMT "%s" STR_FMT,
                                 STR_ARG(json_str(e, "execution_id")), step.len ? " " : "",
                                 STR_ARG(step)));
    }
}

static void put_approval(struct buf *out, const struct execution_text *t,
                         const struct json *approval)
{
    bool choose = str_eq(json_str(approval, "kind"), STR("select_variant"));

    buf_add(out, STR("  "));
    term_put(out, painted(t, PAINT_KEY), t->unicode ? STR("▲") : STR("!"));
    buf_byte(out, ' ');
    help_put(out, 4,
             arena_printf(out->arena, STR_FMT ": %s", STR_ARG(json_str(approval, "step")),
                          choose ? "it is done, and you choose a variant"
                                 : "it is done, and you judge what it has given"));
    buf_byte(out, '\n');
    put_command(out, t,
                arena_printf(out->arena, "baton inbox show " STR_FMT,
                             STR_ARG(json_str(approval, "approval_id"))));
}

/* In the order of the steps. */
static void put_approvals(struct buf *out, const struct execution_text *t, const struct json *e)
{
    const struct json *approvals = json_get(e, "open_approvals"), *steps = json_get(e, "steps");

    if (!json_is(approvals, JSON_ARRAY) || !approvals->len)
        return;
    for (uint32_t i = 0; json_is(steps, JSON_ARRAY) && i < steps->len; i++)
        for (uint32_t k = 0; k < approvals->len; k++)
            if (str_eq(json_str(&steps->items[i], "step"), json_str(&approvals->items[k], "step")))
                put_approval(out, t, &approvals->items[k]);
}

static void put_waits(struct buf *out, const struct execution_text *t, const struct json *e)
{
    const struct json *approvals = json_get(e, "open_approvals"),
                      *incidents = json_get(e, "open_incidents");

    if (!(json_is(approvals, JSON_ARRAY) && approvals->len) &&
        !(json_is(incidents, JSON_ARRAY) && incidents->len))
        return;
    buf_add(out, STR("\nwaits for you\n"));
    put_approvals(out, t, e);
    put_incidents(out, t, e);
}

static void put_next(struct buf *out, const struct execution_text *t, const struct json *e)
{
    str id = json_str(e, "execution_id"), status = json_str(e, "status");
    bool stopped = str_eq(status, STR("FAILED")) || str_eq(status, STR("CANCELLED"));

    if (!stopped && !str_eq(status, STR("PAUSED")))
        return;
    buf_printf(out, "\n%s\n", stopped ? "to do a step and all after it anew" : "to let it go on");
    put_command(out, t,
                arena_printf(out->arena, "baton execution resume " STR_FMT "%s", STR_ARG(id),
                             stopped ? " --from STEP" : ""));
}

void execution_text_put(struct buf *out, const struct execution_text *t,
                        const struct json *execution, const struct json *whole)
{
    put_head(out, t, execution);
    put_steps(out, t, execution, whole);
    put_waits(out, t, execution);
    put_next(out, t, execution);
}

/* ---- events ---- */

/* The time of day of a listed event, or of one that a subscriber got. */
static str event_clock(const struct json *event)
{
    str time = json_str(event, "time");

    if (!time.len)
        time = json_str(event, "timestamp");
    return time.len > 19 ? str_slice(time, 11, 19) : time;
}

static str move_part(const struct json *moves, uint32_t i, size_t part)
{
    return json_text(json_at(&moves->items[i], part));
}

static bool is_same_move(const struct json *moves, uint32_t a, uint32_t b)
{
    return str_eq(move_part(moves, a, 0), move_part(moves, b, 0)) &&
           str_eq(move_part(moves, a, 1), move_part(moves, b, 1));
}

/* That something was entered says nothing where it is told what became of it, nor does a move that was
 * told with how often it is there. */
static bool is_told(const struct json *moves, uint32_t i)
{
    bool entered = str_eq(move_part(moves, i, 1), STR("entered"));

    for (uint32_t k = 0; k < i; k++)
        if (is_same_move(moves, k, i))
            return false;
    for (uint32_t k = i + 1; entered && k < moves->len; k++)
        if (str_eq(move_part(moves, i, 0), move_part(moves, k, 0)) && !is_same_move(moves, i, k))
            return false;
    return true;
}

/* Words of the engine that people would not know. */
static str move_told(const struct json *moves, uint32_t i)
{
    static const struct {
        const char *move, *told;
    } words[] = {
        { "proving", "is looked at by a runner" },
        { "asked", "waits for you to judge" },
        { "gave_up", "has failed for good" },
        { "incident", "stands still" },
    };
    str move = move_part(moves, i, 1);

    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (str_eq(move, str_from(words[k].move)))
            return str_from(words[k].told);
    return move;
}

static void put_moves(struct buf *out, const struct json *moves)
{
    uint32_t told = 0, more = 0;

    for (uint32_t i = 0; i < moves->len; i++) {
        uint32_t times = 0;
        if (!is_told(moves, i))
            continue;
        if (told == MOVES_SHOWN) {
            more++;
            continue;
        }
        for (uint32_t k = i; k < moves->len; k++)
            times += is_same_move(moves, i, k);
        buf_printf(out, "%s" STR_FMT " " STR_FMT, told++ ? ", " : "",
                   STR_ARG(move_part(moves, i, 0)), STR_ARG(move_told(moves, i)));
        if (times > 1)
            buf_printf(out, " %u times", times);
    }
    if (more)
        buf_printf(out, " and %u more", more);
}

/* What people look for in the data of an event: the first that is there. */
static str event_words(struct arena *a, const struct json *data)
{
    static const char *const told[] = { "message", "reason", "status", "workflow" };
    const struct json *moves = json_get(data, "moves");
    struct buf out = buf_in(a);

    if (json_is(moves, JSON_ARRAY) && moves->len) {
        put_moves(&out, moves);
        return buf_str(&out);
    }
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (json_str(data, told[i]).len)
            return json_str(data, told[i]);
    return STR("");
}

void execution_event_put(struct buf *out, const struct execution_text *t, const struct json *event)
{
    str type = json_str(event, "type"), who = json_str(event, "actor");
    const struct json *data = json_get(event, "data");

    if (!type.len)
        type = json_str(event, "event_type");
    if (str_starts(type, STR("execution_")))
        type = str_slice(type, strlen("execution_"), type.len);
    str words = event_words(out->arena, json_is(data, JSON_OBJECT) ? data : event);
    term_put(out, painted(t, PAINT_DIM), event_clock(event));
    buf_add(out, STR("  "));
    for (size_t i = 0; i < type.len; i++)
        buf_byte(out, type.at[i] == '_' ? ' ' : type.at[i]);
    buf_add(out, STR(" by "));
    term_put(out, painted(t, PAINT_KEY), who);
    if (words.len)
        buf_add(out, STR(": "));
    put_line(out, t, render_text_width(event_clock(event)) + type.len + who.len + 8, words);
}
