/* demo_story.c: the log of events as a story, and whether it went as promised. */
#include "cli/demo.h"

#include "base/date.h"

enum { WHO_COLUMN = 9, WHO_WIDTH = 10, TEXT_LEAST = 24 };

/* ---- lines ---- */

static enum paint painted(const struct cli *c, enum paint paint)
{
    return c->coloured ? paint : PAINT_PLAIN;
}

/* Words in lines of at most `width` columns, those but the first indented. */
static void put_wrapped(struct buf *out, enum paint paint, str text, size_t indent, size_t width)
{
    size_t at = 0;

    while (text.len) {
        str word, rest;
        bool more = str_cut(text, ' ', &word, &rest);
        size_t columns = render_text_width(word);
        if (at && at + 1 + columns > width) {
            buf_printf(out, "\n%*s", (int)indent, "");
            at = 0;
        } else if (at) {
            buf_byte(out, ' ');
            at++;
        }
        term_put(out, paint, word);
        at += columns;
        text = more ? rest : STR("");
    }
    buf_byte(out, '\n');
}

void demo_line(struct cli *c, struct arena *a, int64_t ms, enum paint paint, str who, str what)
{
    struct buf out = buf_in(a);
    size_t width = render_width(), indent = WHO_COLUMN + WHO_WIDTH;

    buf_printf(&out, "%4lld.%llds  ", (long long)ms / 1000, (long long)ms / 100 % 10);
    term_put(&out, painted(c, PAINT_KEY), who);
    bool narrow = width < indent + TEXT_LEAST;
    size_t used = render_text_width(who);
    if (narrow)
        buf_printf(&out, "\n%*s", WHO_COLUMN, "");
    else
        buf_printf(&out, "%*s", used < WHO_WIDTH ? (int)(WHO_WIDTH - used) : 1, "");
    if (narrow)
        indent = WHO_COLUMN;
    put_wrapped(&out, painted(c, paint), what, indent,
                width > indent + TEXT_LEAST / 2 ? width - indent : TEXT_LEAST / 2);
    cli_write(c, buf_str(&out));
}

/* ---- what is told ---- */

struct narration {
    struct story *story;
    struct arena *arena;
    const struct json *event, *data;
    int64_t at_ms;
    str name;                /* of the session that it is about */
    struct story_part *part; /* of a worker; NULL: it is none */
};

static void narrate(struct narration *t, enum paint paint, str who, str what)
{
    if (!t->story->cli->json)
        demo_line(t->story->cli, t->arena, t->at_ms - t->story->began_ms, paint, who, what);
}

static bool is_lead(const struct narration *t)
{
    return str_eq(t->name, t->story->cast->lead);
}

static void schema_print(struct narration *t)
{
    narrate(t, PAINT_PLAIN, json_str(t->event, "actor"),
            arena_printf(t->arena, "registers the schema " STR_FMT ", version %lld",
                         STR_ARG(json_str(t->data, "name")),
                         (long long)json_int_or(t->data, "version", 0)));
}

static void agent_print(struct narration *t)
{
    narrate(t, PAINT_PLAIN, json_str(t->event, "actor"),
            arena_printf(t->arena, "registers the agent " STR_FMT,
                         STR_ARG(json_str(t->data, "name"))));
}

static void session_print(struct narration *t)
{
    narrate(t, PAINT_PLAIN, json_str(t->event, "actor"),
            arena_printf(t->arena, "%s " STR_FMT, is_lead(t) ? "makes the session" : "starts",
                         STR_ARG(t->name)));
}

/* A version and what it changed, its first change at least. */
static void state_print(struct narration *t)
{
    const struct json *first = json_at(t->data, 0), *value = json_get(first, "value");
    int64_t version = json_int_or(t->event, "version", 0);
    struct buf what = buf_in(t->arena);

    t->story->version = version;
    buf_printf(&what, "writes version %lld", (long long)version);
    if (version == 1)
        buf_printf(&what, " of the state that all share, " STR_FMT,
                   STR_ARG(json_str(t->event, "subject")));
    else if (first)
        buf_printf(&what, ": " STR_FMT " " STR_FMT, STR_ARG(json_str(first, "path")),
                   STR_ARG(value ? json_printed(t->arena, value) : STR("")));
    narrate(t, version == 1 ? PAINT_PLAIN : PAINT_GOOD, json_str(t->event, "actor"),
            buf_str(&what));
}

static void run_started_print(struct narration *t)
{
    str purpose = json_str(t->data, "purpose");

    if (str_eq(purpose, STR("work")))
        narrate(t, PAINT_PLAIN, t->name, STR("begins its work"));
}

static void run_finished_print(struct narration *t)
{
    bool work = str_eq(json_str(t->data, "purpose"), STR("work"));
    bool good = str_eq(json_str(t->data, "status"), STR("completed"));
    str error = json_str(t->data, "error");

    if (work && !good) {
        if (t->part)
            t->part->failed = true;
        str_cut(error, '\n', &error, &(str){ 0 });
        narrate(t, PAINT_ERROR, t->name, arena_printf(t->arena, "fails: " STR_FMT, STR_ARG(error)));
    } else if (work) {
        narrate(t, PAINT_PLAIN, t->name,
                is_lead(t) ? STR("ends its turn, and waits for the three")
                           : STR("says that it is done"));
    } else if (t->part && !t->part->recorded) {
        narrate(t, PAINT_ERROR, t->name, STR("ends its turn, and has recorded nothing"));
    }
}

static void update_print(struct narration *t)
{
    str update = json_str(t->data, "state_update_status");
    bool failed = t->part && t->part->failed;
    long long number = (long long)json_int_or(t->data, "state_update_attempts", 0);

    if (!t->part || !update.len)
        return;
    if (str_eq(update, STR("pending"))) {
        t->part->prompts++;
        narrate(t, PAINT_PLAIN, STR("baton"),
                arena_printf(t->arena, "asks " STR_FMT " to record its %s: prompt %lld of %d%s",
                             STR_ARG(t->name), failed ? "failure" : "result", number, DEMO_PROMPTS,
                             failed ? ", the only one after a failure" : ""));
    }
    t->part->recorded = str_eq(update, STR("completed")) || str_eq(update, STR("skipped"));
}

/* "is finished", but "has failed". */
static str status_text(struct narration *t, str status)
{
    bool verb = str_eq(status, STR("failed"));

    return arena_printf(t->arena, "%s " STR_FMT, verb ? "has" : "is", STR_ARG(status));
}

static void settled_print(struct narration *t)
{
    str status = json_str(t->data, "status");
    bool good = str_eq(status, STR("finished"));

    if (t->part) {
        t->part->settled = true;
        t->part->status = arena_copy(t->story->cli->arena, status);
    }
    if (is_lead(t))
        t->story->lead_finished = good;
    struct buf what = buf_in(t->arena);
    buf_printf(&what, STR_FMT, STR_ARG(status_text(t, status)));
    if (t->part)
        buf_printf(&what, "; its %s is%s recorded", t->part->failed ? "failure" : "result",
                   t->part->recorded ? "" : " not");
    narrate(t, good ? PAINT_GOOD : PAINT_ERROR, t->name, buf_str(&what));
}

static void callback_print(struct narration *t)
{
    if (!t->part)
        return;
    t->part->callbacks++;
    t->part->called_early = t->part->called_early || !t->part->settled;
    narrate(t, PAINT_PLAIN, STR("baton"),
            arena_printf(t->arena, "tells " STR_FMT " that " STR_FMT " " STR_FMT,
                         STR_ARG(t->story->cast->lead), STR_ARG(t->name),
                         STR_ARG(status_text(t, t->part->status))));
}

/* What the story is made of; the log has more. */
static const struct {
    const char *type;
    void (*print)(struct narration *t);
} prints[] = {
    { "schema_registered", schema_print },     { "agent_updated", agent_print },
    { "session_created", session_print },      { "workflow_state_created", state_print },
    { "workflow_state_updated", state_print }, { "run_started", run_started_print },
    { "run_finished", run_finished_print },    { "session_updated", update_print },
    { "session_settled", settled_print },      { "callback_delivered", callback_print },
};

static struct story_part *part_of(struct story *s, str name)
{
    for (int i = 0; i < WORKERS; i++)
        if (str_eq(name, s->cast->workers[i]))
            return &s->parts[i];
    return NULL;
}

void story_take(struct story *s, struct arena *a, const struct json *event)
{
    str type = json_str(event, "type");
    struct narration t = { .story = s,
                           .arena = a,
                           .event = event,
                           .data = json_get(event, "data"),
                           .at_ms = s->began_ms };

    date_parse(json_str(event, "time"), &t.at_ms);
    if (!s->began_ms)
        s->began_ms = t.at_ms;
    t.name =
        json_str(t.data, str_eq(type, STR("callback_delivered")) ? "child_name" : "session_name");
    t.part = part_of(s, t.name);
    if (s->cli->json)
        cli_write(s->cli, arena_printf(a, STR_FMT "\n", STR_ARG(json_printed(a, event))));
    for (size_t i = 0; i < sizeof prints / sizeof *prints; i++)
        if (str_eq(type, str_from(prints[i].type)))
            prints[i].print(&t);
    cli_flush(s->cli);
}

/* ---- the end ---- */

bool story_is_over(const struct story *s)
{
    bool over = s->lead_finished;

    for (int i = 0; i < WORKERS; i++)
        over = over && s->parts[i].callbacks > 0;
    return over;
}

static bool ended(const struct story_part *p, const char *status, int prompts)
{
    return p->settled && p->recorded && p->prompts == prompts &&
           str_eq(p->status, str_from(status));
}

static bool all_told_once(const struct story *s)
{
    bool good = s->lead_finished;

    for (int i = 0; i < WORKERS; i++)
        good = good && s->parts[i].callbacks == 1 && !s->parts[i].called_early;
    return good;
}

static void promises_json(struct cli *c, struct arena *a, const struct demo_promise *all,
                          size_t count, bool kept, int64_t version)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    json_write_name(&w, STR("type"));
    json_write_str(&w, STR("demo_ended"));
    json_write_name(&w, STR("as_promised"));
    json_write_bool(&w, kept);
    json_write_name(&w, STR("version"));
    json_write_int(&w, version);
    json_write_name(&w, STR("promises"));
    json_write_begin(&w, '[');
    for (size_t i = 0; i < count; i++) {
        json_write_begin(&w, '{');
        json_write_name(&w, STR("promise"));
        json_write_str(&w, all[i].text);
        json_write_name(&w, STR("kept"));
        json_write_bool(&w, all[i].kept);
        json_write_end(&w, '}');
    }
    json_write_end(&w, ']');
    json_write_end(&w, '}');
    buf_byte(&out, '\n');
    cli_write(c, buf_str(&out));
}

static void promises_print(struct cli *c, struct arena *a, const struct demo_promise *all,
                           size_t count)
{
    struct buf out = buf_in(a);
    size_t width = render_width();

    buf_add(&out, STR("\nWhat was promised:\n"));
    for (size_t i = 0; i < count; i++) {
        buf_add(&out, STR("  "));
        term_put(&out, painted(c, all[i].kept ? PAINT_GOOD : PAINT_ERROR),
                 all[i].kept ? STR("yes") : STR("NO "));
        buf_add(&out, STR("  "));
        put_wrapped(&out, PAINT_PLAIN, all[i].text, 7, width > 7 + 12 ? width - 7 : 12);
    }
    cli_write(c, buf_str(&out));
}

bool demo_promises(struct cli *c, struct arena *a, const struct demo_promise *all, size_t count,
                   int64_t version)
{
    bool kept = true;

    for (size_t i = 0; i < count; i++)
        kept = kept && all[i].kept;
    if (c->json)
        promises_json(c, a, all, count, kept, version);
    else
        promises_print(c, a, all, count);
    return kept;
}

bool story_end(struct story *s, struct arena *a)
{
    const struct story_part *p = s->parts;
    const str *names = s->cast->workers;
    const struct demo_promise all[] = {
        { ended(&p[WORKER_GOOD], "finished", 0),
          arena_printf(a, STR_FMT " recorded its result as it worked, and was asked for nothing",
                       STR_ARG(names[0])) },
        { ended(&p[WORKER_FORGETFUL], "finished", DEMO_PROMPTS),
          arena_printf(a, STR_FMT " ignored two requests, and recorded its result at the third",
                       STR_ARG(names[1])) },
        { p[WORKER_FAILING].failed && ended(&p[WORKER_FAILING], "failed", 1),
          arena_printf(a, STR_FMT " failed, and that is recorded", STR_ARG(names[2])) },
        { all_told_once(s),
          arena_printf(a, STR_FMT " was told of each of them once, after it had settled",
                       STR_ARG(s->cast->lead)) },
        { s->state_right, arena_printf(a, "the state holds what came of it, in version %lld",
                                       (long long)s->version) },
    };

    return demo_promises(s->cli, a, all, sizeof all / sizeof *all, s->version);
}
