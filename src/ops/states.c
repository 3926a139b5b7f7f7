/* states.c: operations on states. */
#include "core/state.h"
#include "json/path.h"
#include "json/pointer.h"
#include "ops/ops.h"
#include "ops/write.h"

/* ---- what answers look like ---- */

/* The members of a state but its data; the object is left open for that. */
static err write_head(struct tx *tx, struct json_writer *w, const struct state *s, int64_t version)
{
    struct schema_version schema;

    TRY(schema_by_id(tx, s->schema_id, &schema));
    json_write_begin(w, '{');
    write_text(w, STR("state_id"), s->id);
    write_text(w, STR("schema_id"), s->schema_id);
    write_text(w, STR("schema_name"), schema.name);
    write_int(w, STR("schema_version"), schema.version);
    write_or_null(w, STR("root_session_id"), s->root_session);
    write_int(w, STR("version"), version);
    write_time(w, STR("created_at"), s->created_at_ms);
    write_time(w, STR("updated_at"), s->updated_at_ms);
    return NULL;
}

static err write_state(struct tx *tx, struct answer *out, const struct state *s)
{
    out->version = s->version;
    TRY(write_head(tx, &out->json, s, s->version));
    json_write_name(&out->json, STR("current_data"));
    json_write_printed(&out->json, s->body);
    json_write_end(&out->json, '}');
    return NULL;
}

/* What is outside of an actor's reach is not there for it. */
static err state_seen(struct tx *tx, str id, struct state *out)
{
    if (tx->actor->state_id.len && !str_eq(tx->actor->state_id, id))
        return err_new(tx->arena, ERR_NOT_FOUND, "there is no state " STR_FMT, STR_ARG(id));
    return state_get(tx, id, out);
}

/* ---- reading ---- */

static err write_matches(struct tx *tx, struct json_writer *w, const struct json *doc, str query)
{
    const struct json_path *path;
    struct json_matches found;

    TRY(json_path_compile(tx->arena, query, &path));
    TRY(json_path_run(tx->arena, path, doc, &found));
    json_write_name(w, STR("matches"));
    json_write_begin(w, '[');
    for (size_t i = 0; i < found.count; i++) {
        struct buf pointer = buf_in(tx->arena);
        json_path_print_pointer(&pointer, found.items[i].place);
        json_write_begin(w, '{');
        write_text(w, STR("pointer"), buf_str(&pointer));
        json_write_name(w, STR("value"));
        json_write_value(w, found.items[i].value);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    return NULL;
}

/* A part of a version, or all of it. */
static err write_part(struct tx *tx, struct json_writer *w, const struct json *doc,
                      const struct input *in)
{
    const struct json *part = doc;

    if (input_json(in, "query"))
        return write_matches(tx, w, doc, input_str(in, "query"));
    if (input_json(in, "pointer")) {
        TRY(json_pointer_get(tx->arena, doc, input_str(in, "pointer"), &part));
        write_text(w, STR("pointer"), input_str(in, "pointer"));
        json_write_name(w, STR("value"));
    } else {
        json_write_name(w, STR("current_data"));
    }
    json_write_value(w, part);
    return NULL;
}

static err state_read_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct state s;
    struct json doc;

    TRY(state_seen(tx, input_str(in, "state_id"), &s));
    int64_t version = input_int(in, "version", s.version);
    bool whole = version == s.version && !input_json(in, "pointer") && !input_json(in, "query");
    if (whole)
        return write_state(tx, out, &s);

    TRY(state_at(tx, &s, version, &doc));
    out->version = version;
    TRY(write_head(tx, &out->json, &s, version));
    TRY(write_part(tx, &out->json, &doc, in));
    json_write_end(&out->json, '}');
    return NULL;
}

static err state_history_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    const struct event *rows;
    struct state s;
    size_t count;

    TRY(state_seen(tx, input_str(in, "state_id"), &s));
    TRY(state_history(tx, &s, input_int(in, "before", 0), input_int(in, "limit", 50), &rows,
                      &count));
    json_write_begin(w, '{');
    json_write_name(w, STR("versions"));
    json_write_begin(w, '[');
    for (size_t i = 0; i < count; i++) {
        json_write_begin(w, '{');
        write_int(w, STR("version"), rows[i].version);
        write_int(w, STR("seq"), rows[i].seq);
        write_time(w, STR("time"), rows[i].time_ms);
        write_text(w, STR("actor"), rows[i].actor);
        write_or_null(w, STR("session_id"), rows[i].session_id);
        json_write_name(w, STR("patch"));
        json_write_printed(w, rows[i].data.len ? rows[i].data : STR("[]"));
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    json_write_end(w, '}');
    return NULL;
}

/* ---- writing ---- */

static err state_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct schema_version schema;
    struct state s;

    TRY(schema_find(tx, input_str(in, "schema_name"), input_int(in, "schema_version", 0), &schema));
    TRY(state_create(tx, &schema, input_json(in, "initial_data"), input_str(in, "root_session"),
                     &s));
    out->created = true;
    return write_state(tx, out, &s);
}

static err state_update_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct state s;

    TRY(state_seen(tx, input_str(in, "state_id"), &s));
    TRY(state_replace(tx, s.id, input_json(in, "data"), input_int(in, "expected_version", 0), &s));
    return write_state(tx, out, &s);
}

static err state_patch_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct json *merge = input_json(in, "merge");
    int64_t expected = input_int(in, "expected_version", 0);
    struct state s;

    TRY(state_seen(tx, input_str(in, "state_id"), &s));
    TRY(merge ? state_merge(tx, s.id, merge, expected, &s)
              : state_patch(tx, s.id, input_json(in, "operations"), expected, &s));
    return write_state(tx, out, &s);
}

static err state_rollback_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct state s;

    TRY(state_seen(tx, input_str(in, "state_id"), &s));
    TRY(state_rollback(tx, s.id, input_int(in, "version", 0), input_int(in, "expected_version", 0),
                       &s));
    return write_state(tx, out, &s);
}

static err state_delete_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct state s;

    TRY(state_seen(tx, input_str(in, "state_id"), &s));
    out->empty = true;
    return state_delete(tx, s.id, input_int(in, "expected_version", 0));
}

/* ---- the table ---- */

// clang-format off
#define STATE_SHAPE JSON({                                                                   \
    "type": "object", "required": ["state_id", "schema_id", "schema_name", "version"],       \
    "properties": { "state_id": { "type": "string" }, "schema_id": { "type": "string" },     \
        "schema_name": { "type": "string" }, "schema_version": { "type": "integer" },        \
        "root_session_id": { "type": ["string", "null"] },                                   \
        "version": { "type": "integer", "minimum": 1 }, "current_data": true,                \
        "pointer": { "type": "string" }, "value": true, "matches": { "type": "array" },      \
        "created_at": { "type": "string" }, "updated_at": { "type": "string" } } })

static const struct op ops[] = {
    {
        .name = "state.create", .http = "POST /workflow-states", .effect = OP_WRITES,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION,
        .summary = "Create a state bound to a schema.",
        .input = JSON({
            "type": "object", "required": ["schema_name", "initial_data"], "additionalProperties": false,
            "properties": { "schema_name": { "type": "string" },
                "schema_version": { "type": "integer", "minimum": 1 }, "initial_data": true,
                "root_session": { "type": "string" } } }),
        .output = STATE_SHAPE, .run = state_create_op,
    },
    {
        .name = "state.read", .http = "GET /workflow-states/{state_id}",
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_ALL, .implied = "state_id",
        .summary = "Read a state: all of it, the value at a pointer, or what a JSONPath query matches.",
        .input = JSON({
            "type": "object", "required": ["state_id"], "additionalProperties": false,
            "properties": { "state_id": { "type": "string" }, "version": { "type": "integer", "minimum": 1 },
                "pointer": { "type": "string" }, "query": { "type": "string" } } }),
        .output = STATE_SHAPE, .run = state_read_op,
    },
    {
        .name = "state.update", .http = "PUT /workflow-states/{state_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION, .implied = "state_id",
        .summary = "Replace a state's data; refused unless it fits the schema.",
        .input = JSON({
            "type": "object", "required": ["state_id", "data"], "additionalProperties": false,
            "properties": { "state_id": { "type": "string" }, "data": true,
                "expected_version": { "type": "integer", "minimum": 1 } } }),
        .output = STATE_SHAPE, .run = state_update_op,
    },
    {
        .name = "state.patch", .http = "PATCH /workflow-states/{state_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_MCP | ON_CLI, .by = BY_OPERATOR | BY_SESSION, .implied = "state_id",
        .bodies = { { "application/json-patch+json", "operations" },
                    { "application/merge-patch+json", "merge" } },
        .summary = "Apply a JSON Patch or a merge patch; refused unless the result fits the schema.",
        .input = JSON({
            "type": "object", "required": ["state_id"], "additionalProperties": false,
            "oneOf": [ { "required": ["operations"] }, { "required": ["merge"] } ],
            "properties": { "state_id": { "type": "string" }, "operations": { "type": "array" },
                "merge": true, "expected_version": { "type": "integer", "minimum": 1 } } }),
        .output = STATE_SHAPE, .run = state_patch_op,
    },
    {
        .name = "state.delete", .http = "DELETE /workflow-states/{state_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Delete a state; its history goes with it when its time is up.",
        .input = JSON({
            "type": "object", "required": ["state_id"], "additionalProperties": false,
            "properties": { "state_id": { "type": "string" },
                "expected_version": { "type": "integer", "minimum": 1 } } }),
        .output = JSON({ "type": "object", "properties": {} }), .run = state_delete_op,
    },
    {
        .name = "state.history", .http = "GET /workflow-states/{state_id}/history",
        .on = ON_HTTP | ON_CLI, .by = BY_ALL,
        .summary = "List the versions of a state with who wrote them, when, and the patch.",
        .input = JSON({
            "type": "object", "required": ["state_id"], "additionalProperties": false,
            "properties": { "state_id": { "type": "string" }, "before": { "type": "integer", "minimum": 1 },
                "limit": { "type": "integer", "minimum": 1, "maximum": 500 } } }),
        .output = JSON({
            "type": "object", "required": ["versions"],
            "properties": { "versions": { "type": "array", "items": { "type": "object" } } } }),
        .run = state_history_op,
    },
    {
        .name = "state.rollback", .http = "POST /workflow-states/{state_id}/rollback", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Make a new version with the content of an older one.",
        .input = JSON({
            "type": "object", "required": ["state_id", "version"], "additionalProperties": false,
            "properties": { "state_id": { "type": "string" }, "version": { "type": "integer", "minimum": 1 },
                "expected_version": { "type": "integer", "minimum": 1 } } }),
        .output = STATE_SHAPE, .run = state_rollback_op,
    },
};
// clang-format on

const struct op_list state_ops = { ops, sizeof ops / sizeof *ops };
