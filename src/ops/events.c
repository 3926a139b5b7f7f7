/* events.c: reading the log. */
#include "core/event.h"
#include "ops/ops.h"
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

const struct event *event_after(const struct event *e)
{
    return e->next;
}

/* What happened. The first version of a state is a patch too, of nothing. */
static void write_data(struct json_writer *w, const struct event *e)
{
    if (e->data.len) {
        json_write_printed(w, e->data);
    } else if (e->type == EVENT_STATE_CREATED) {
        json_write_begin(w, '[');
        json_write_begin(w, '{');
        write_text(w, STR("op"), STR("add"));
        write_text(w, STR("path"), STR(""));
        json_write_name(w, STR("value"));
        json_write_printed(w, e->body);
        json_write_end(w, '}');
        json_write_end(w, ']');
    } else {
        json_write_null(w);
    }
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
           e->type == EVENT_STATE_MIGRATED || e->type == EVENT_STATE_DELETED;
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

static err event_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    int64_t after = input_int(in, "after", 0), last = after;
    enum event_shape shape = str_eq(input_str(in, "shape"), STR("message")) ? EVENT_MESSAGE
                                                                            : EVENT_LISTED;
    const struct event *all;
    size_t count;

    TRY(event_list(tx, after, input_str(in, "subject"), input_int(in, "limit", 100), &all, &count));
    json_write_begin(&out->json, '{');
    json_write_name(&out->json, STR("events"));
    json_write_begin(&out->json, '[');
    for (size_t i = 0; i < count; i++) {
        write_event(&out->json, &all[i], shape);
        last = all[i].seq;
    }
    json_write_end(&out->json, ']');
    write_int(&out->json, STR("next"), last);
    write_int(&out->json, STR("seen"), *tx->seq);
    json_write_end(&out->json, '}');
    return NULL;
}

// clang-format off
static const struct op ops[] = {
    {
        .name = "event.list", .http = "GET /events", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_VIEWER,
        .summary = "List what happened after a number, in order.",
        .input = JSON({
            "type": "object", "additionalProperties": false,
            "properties": { "after": { "type": "integer", "minimum": 0 }, "subject": { "type": "string" },
                "shape": { "enum": ["event", "message"] }, "limit": { "type": "integer", "minimum": 1, "maximum": 1000 } } }),
        .output = JSON({
            "type": "object", "required": ["events", "next"],
            "properties": { "events": { "type": "array" }, "next": { "type": "integer" },
                "seen": { "type": "integer" } } }),
        .run = event_list_op,
    },
};
// clang-format on

const struct op_list event_ops = { ops, sizeof ops / sizeof *ops };
