/* events.c: reading the log. */
#include "core/event.h"
#include "ops/ops.h"
#include "ops/write.h"

static void write_event(struct json_writer *w, const struct event *e)
{
    json_write_begin(w, '{');
    write_int(w, STR("seq"), e->seq);
    write_text(w, STR("type"), str_from(event_name(e->type)));
    write_text(w, STR("subject"), e->subject);
    write_text(w, STR("actor"), e->actor);
    write_or_null(w, STR("session_id"), e->session_id);
    write_time(w, STR("time"), e->time_ms);
    write_int(w, STR("cause"), e->cause);
    write_int(w, STR("version"), e->version);
    json_write_name(w, STR("data"));
    json_write_printed(w, e->data.len ? e->data : STR("null"));
    json_write_end(w, '}');
}

static err event_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    int64_t after = input_int(in, "after", 0), last = after;
    const struct event *all;
    size_t count;

    TRY(event_list(tx, after, input_str(in, "subject"), input_int(in, "limit", 100), &all, &count));
    json_write_begin(&out->json, '{');
    json_write_name(&out->json, STR("events"));
    json_write_begin(&out->json, '[');
    for (size_t i = 0; i < count; i++) {
        write_event(&out->json, &all[i]);
        last = all[i].seq;
    }
    json_write_end(&out->json, ']');
    write_int(&out->json, STR("next"), last);
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
                "limit": { "type": "integer", "minimum": 1, "maximum": 1000 } } }),
        .output = JSON({
            "type": "object", "required": ["events", "next"],
            "properties": { "events": { "type": "array" }, "next": { "type": "integer" } } }),
        .run = event_list_op,
    },
};
// clang-format on

const struct op_list event_ops = { ops, sizeof ops / sizeof *ops };
