/* nodes.c: operations on the servers that share the database. A server says of itself that it is
 * there; people only look. */
#include "core/node.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/write.h"

static void write_node(struct json_writer *w, const struct tx *tx, const struct node *n)
{
    json_write_begin(w, '{');
    write_text(w, STR("node_id"), n->id);
    write_text(w, STR("name"), n->name);
    write_text(w, STR("url"), n->url);
    write_text(w, STR("version"), n->version);
    write_time(w, STR("started_at"), n->started_at_ms);
    write_time(w, STR("seen_at"), n->seen_at_ms);
    write_int(w, STR("seq"), n->seq);
    write_bool(w, STR("alive"), node_alive(tx, n));
    json_write_end(w, '}');
}

static err node_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct node *all;
    size_t count;

    TRY(node_list(tx, input_str(in, "after"), page_rows(in), &all, &count));
    size_t shown = page_begin(in, out, STR("nodes"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_node(&out->json, tx, &all[i]);
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

static err node_beat_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct node n = {
        .id = input_str(in, "node_id"),
        .name = input_str(in, "name"),
        .url = input_str(in, "url"),
        .version = input_str(in, "version"),
        .seq = input_int(in, "seq", 0),
    };
    int64_t alive;

    TRY(node_heartbeat(tx, &n, &alive));
    json_write_begin(&out->json, '{');
    write_int(&out->json, STR("nodes"), alive);
    json_write_end(&out->json, '}');
    return NULL;
}

static err node_leave_op(struct tx *tx, const struct input *in, struct answer *out)
{
    out->empty = true;
    return node_leave(tx, input_str(in, "node_id"));
}

// clang-format off
static const struct op ops[] = {
    {
        .name = "node.list", .http = "GET /nodes", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_VIEWER,
        .summary = "List the servers that share the database, those that fell silent within a day included.",
        .input = FIELDS("", PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("nodes"), SHAPE_LIST("nodes", "By id.", SHAPE(
            JSON("node_id", "name", "url", "version", "started_at", "seen_at", "seq", "alive"), JSON(
            "node_id": { "type": "string", "description": "Its id, until it stops; the next start makes another." },
            "name": { "type": "string", "description": "Its host and process, like db1:4711, for people who look for it." },
            "url": { "type": "string", "description": "Where it is reached; empty when nobody told it." },
            "version": { "type": "string", "description": "The version of baton that it runs." },
            "started_at": { "type": "string", "format": "date-time", "description": "When it was first seen, by the clock of the database." },
            "seen_at": { "type": "string", "format": "date-time", "description": "When it last said that it is there, by the clock of the database; every five seconds while it is well." },
            "seq": { "type": "integer", "minimum": 0,
                "description": "The number of the last event that it had published then." },
            "alive": { "type": "boolean", "description": "Whether it was seen within the last 15 seconds." }))) "," PAGE_NEXT),
        .run = node_list_op,
    },
    {
        .name = "node.beat", .effect = OP_WRITES, .by = BY_SYSTEM,
        .summary = "Say that a server is there.",
        .input = JSON({
            "type": "object", "required": ["node_id", "name", "url", "version", "seq"], "additionalProperties": false,
            "properties": {
                "node_id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The id that it drew when it started." },
                "name": { "type": "string", "minLength": 1, "maxLength": 300, "description": "Its host and process, like db1:4711, for people who look for it." },
                "url": { "type": "string", "maxLength": 2000, "description": "Where it is reached; empty when nobody told it." },
                "version": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The version of baton that it runs." },
                "seq": { "type": "integer", "minimum": 0, "description": "The number of the last event that it has published." } } }),
        .output = JSON({
            "type": "object", "required": ["nodes"],
            "properties": {
                "nodes": { "type": "integer", "minimum": 1, "description": "How many servers are alive, this one included." } } }),
        .run = node_beat_op,
    },
    {
        .name = "node.leave", .effect = OP_WRITES, .by = BY_SYSTEM,
        .summary = "Say that a server stops.",
        .input = JSON({
            "type": "object", "required": ["node_id"], "additionalProperties": false,
            "properties": {
                "node_id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The id that it drew when it started." } } }),
        .output = JSON({ "type": "object", "properties": {} }), .run = node_leave_op,
    },
};
// clang-format on

const struct op_list node_ops = { ops, sizeof ops / sizeof *ops };
