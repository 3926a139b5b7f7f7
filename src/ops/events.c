/* events.c: reading the log. */
#include "core/exec/execution.h"
#include "core/run.h"
#include "core/token.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/states.h"
#include "ops/write.h"

/* ---- one event ---- */

int64_t event_seq(const struct event *e)
{
    return e->seq;
}

str event_subject(const struct event *e)
{
    return e->subject;
}

str event_type_name(const struct event *e)
{
    return str_from(event_name(e->type));
}

bool event_is_of_team(const struct event *e)
{
    return e->type >= EVENT_SESSION_CREATED && e->type <= EVENT_CALLBACK_DELIVERED;
}

const struct event *event_after(const struct event *e)
{
    return e->next;
}

/* What happened. */
static void write_data(struct json_writer *w, const struct event *e)
{
    if (e->data.len)
        json_write_printed(w, e->data);
    else if (e->type == EVENT_STATE_CREATED)
        write_first_patch(w, e->body);
    else
        json_write_null(w);
}

static void write_listed(struct json_writer *w, const struct event *e)
{
    write_int(w, STR("seq"), e->seq);
    write_text(w, STR("type"), event_type_name(e));
    write_text(w, STR("subject"), e->subject);
    write_text(w, STR("actor"), e->actor);
    write_or_null(w, STR("session_id"), e->session_id);
    write_time(w, STR("time"), e->time_ms);
    write_int(w, STR("cause"), e->cause);
    write_int(w, STR("version"), e->version);
    json_write_name(w, STR("data"));
    write_data(w, e);
}

static bool is_of_state(const struct event *e)
{
    return e->type == EVENT_STATE_CREATED || e->type == EVENT_STATE_UPDATED ||
           e->type == EVENT_STATE_MIGRATED || e->type == EVENT_STATE_RENAMED ||
           e->type == EVENT_STATE_DELETED;
}

static void write_message(struct json_writer *w, const struct event *e)
{
    write_text(w, STR("event_type"), event_type_name(e));
    write_text(w, is_of_state(e) ? STR("state_id") : STR("subject"), e->subject);
    if (e->version)
        write_int(w, STR("version"), e->version);
    if (is_of_state(e))
        write_or_null(w, STR("updated_by_session"), e->session_id.len ? e->actor : STR(""));
    write_time(w, STR("timestamp"), e->time_ms);
    write_int(w, STR("seq"), e->seq);
    write_text(w, STR("actor"), e->actor);
    if (e->cause)
        write_int(w, STR("cause"), e->cause);
    if (is_of_state(e) && e->type == EVENT_STATE_DELETED)
        return;
    json_write_name(w, is_of_state(e) ? STR("patch") : STR("data"));
    write_data(w, e);
}

static void write_event(struct json_writer *w, const struct event *e, enum event_shape shape)
{
    json_write_begin(w, '{');
    if (shape == EVENT_MESSAGE)
        write_message(w, e);
    else
        write_listed(w, e);
    json_write_end(w, '}');
}

void event_print(struct buf *out, const struct event *e, enum event_shape shape)
{
    struct json_writer w = json_writer_to(out);

    write_event(&w, e, shape);
}

/* ---- the log ---- */

static err types_read(struct tx *tx, const struct json *names, uint64_t *out)
{
    *out = 0;
    for (uint32_t i = 0; names && i < names->len; i++) {
        enum event_type type;
        if (!event_type_find(json_text(&names->items[i]), &type))
            return err_new(tx->arena, ERR_INVALID,
                           "there are no events of type \"" STR_FMT "\": the documentation of "
                           "events lists the types that there are",
                           STR_ARG(json_text(&names->items[i])));
        *out |= (uint64_t)1 << type;
    }
    return NULL;
}

str event_scope(const struct actor *actor, str subject)
{
    if (subject.len || actor->state_id.len)
        return subject.len ? subject : actor->state_id;
    return actor->kind == ACTOR_SESSION ? actor->session_id : STR("");
}

/* The session that a subject is, or that a run is of. Only by its id: those who follow the log
 * compare subjects as they are. */
static err subject_session(struct tx *tx, str subject, struct session *out, bool *found)
{
    struct run r;

    TRY(session_find_id(tx, subject, out, found));
    if (*found)
        return NULL;
    err e = run_load(tx, subject, &r);
    *found = !e && !run_is_command(&r);
    if (e)
        return e->kind == ERR_NOT_FOUND ? NULL : e;
    return !*found ? NULL : session_load(tx, r.session_id, out);
}

/* Whether a subject is an execution that the actor sees. */
static err subject_execution(struct tx *tx, str subject, bool *found)
{
    struct execution x;
    err e = execution_get(tx, subject, &x);

    *found = !e;
    return e && e->kind != ERR_NOT_FOUND ? e : NULL;
}

/* What is asked for, by its id: a state may be called by its name. A session hears of its state and of
 * those that it may read, of itself, of those below it and of what these have executed; who sees one state alone, of it and of its
 * sessions. */
static err subject_seen(struct tx *tx, str asked, str *out)
{
    const struct actor *a = tx->actor;
    struct session s;
    bool seen = a->kind != ACTOR_SESSION && !a->state_id.len;
    str state_id = asked;

    TRY(state_resolve(tx, &state_id));
    *out = event_scope(a, actor_reads(a, state_id) ? state_id : asked);
    if (!seen)
        seen = out->len && actor_reads(a, *out);
    if (!seen && asked.len) {
        TRY(subject_session(tx, asked, &s, &seen));
        if (seen)
            TRY(session_in_reach(tx, &s, &seen));
        else
            TRY(subject_execution(tx, asked, &seen));
    }
    if (seen || (!asked.len && out->len))
        return NULL;
    return err_new(tx->arena, ERR_NOT_FOUND,
                   "there is nothing to see of " STR_FMT ": leave the subject out to list the "
                   "events of " STR_FMT,
                   STR_ARG(asked), STR_ARG(event_scope(a, STR(""))));
}

/* The events of a state that is there are a chain, which is followed from its newest. */
static err chain_find(struct tx *tx, str subject, int64_t *last_seq)
{
    struct state s;

    *last_seq = 0;
    if (!state_is_id(subject))
        return NULL;
    err e = state_get(tx, subject, &s);
    if (e)
        return e->kind == ERR_NOT_FOUND ? NULL : e;
    *last_seq = s.last_seq;
    return NULL;
}

/* The subject is told where it was called by a name. */
static void write_page(struct tx *tx, struct answer *out, const struct event_page *page,
                       str subject, enum event_shape shape)
{
    size_t shown = page->count;

    json_write_begin(&out->json, '{');
    write_begin(&out->json, STR("events"), '[');
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_event(&out->json, &page->events[i], shape);
    int64_t next = shown < page->count ? page->events[shown - 1].seq : page->next;
    json_write_end(&out->json, ']');
    write_int(&out->json, STR("next"), next);
    write_int(&out->json, STR("seen"), *tx->seq);
    write_int(&out->json, STR("oldest"), page->oldest);
    if (subject.len)
        write_text(&out->json, STR("subject"), subject);
    json_write_end(&out->json, '}');
    if (next < *tx->seq)
        out->next = arena_printf(tx->arena, "%lld", (long long)next);
}

static err event_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct event_query q = { .after = input_int(in, "after", 0),
                             .limit = input_int(in, "limit", 100) };
    bool message = str_eq(input_str(in, "shape"), STR("message"));
    int64_t wait_s = input_int(in, "wait", 0);
    str asked = input_str(in, "subject");
    struct event_page page;

    TRY(types_read(tx, input_json(in, "type"), &q.types));
    TRY(subject_seen(tx, asked, &q.subject));
    TRY(chain_find(tx, q.subject, &q.last_seq));
    TRY(event_list(tx, &q, &page));
    bool at_the_end = page.count == 0 && page.next >= *tx->seq;
    if (wait_s && at_the_end && !in->wait_over) {
        out->waits = true;
        out->wait_subject = q.subject;
        out->wait_seq = *tx->seq;
        out->wait_until_ms = tx->now_ms + wait_s * 1000;
        return NULL;
    }
    bool named = asked.len && !str_eq(asked, q.subject);
    write_page(tx, out, &page, named ? q.subject : STR(""), message ? EVENT_MESSAGE : EVENT_LISTED);
    return NULL;
}

// clang-format off
static const struct op ops[] = {
    {
        .name = "event.list", .http = "GET /events", .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION | BY_VIEWER, .wait = true,
        .summary = "List what happened after a number, in order; or wait for it.",
        .input = JSON({
            "type": "object", "additionalProperties": false,
            "properties": {
                "after": { "type": "integer", "minimum": 0, "default": 0,
                    "description": "Events with a higher number than this; 410 when they are not all kept any more." },
                "subject": { "type": "string",
                    "description": "Only those of one state (by id or name), session, run, schema or token (by id). A session sees those of its state, of states that it may read, of itself and of sessions below it; without this, of its state, or of itself while it has none." },
                "type": { "type": "array", "items": { "type": "string" }, "maxItems": 64,
                    "description": "Only those of these types; may be repeated." },
                "wait": { "type": "integer", "minimum": 0, "maximum": 60, "default": 0,
                    "description": "Seconds to wait for an event when there is none yet." },
                "limit": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100,
                    "description": "How many at most." },
                "shape": { "enum": ["event", "message"], "default": "event",
                    "description": "As the log has them, or as subscribers of a WebSocket get them." } } }),
        .output = JSON({
            "type": "object", "required": ["events", "next", "seen", "oldest"],
            "properties": {
                "events": { "type": "array", "items": { "type": "object" },
                    "description": "In order; each with seq, type, subject, actor, time, cause and data." },
                "next": { "type": "integer",
                    "description": "What to ask for with after, to go on. Below seen there is more to look at, even if no event fitted." },
                "seen": { "type": "integer", "description": "The number of the newest event of all." },
                "oldest": { "type": "integer",
                    "description": "The number of the oldest event that can be listed." },
                "subject": { "type": "string",
                    "description": "The id of the state, where it was called by its name." } } }),
        .run = event_list_op,
    },
};
// clang-format on

const struct op_list event_ops = { ops, sizeof ops / sizeof *ops };
