/* schemas.c: operations on schemas. */
#include "core/schema.h"
#include "ops/ops.h"
#include "ops/write.h"

static void write_schema(struct json_writer *w, const struct schema_version *v, bool with_text)
{
    json_write_begin(w, '{');
    write_text(w, STR("schema_id"), v->id);
    write_text(w, STR("name"), v->name);
    write_int(w, STR("version"), v->version);
    write_text(w, STR("description"), v->description);
    write_time(w, STR("created_at"), v->created_at_ms);
    if (with_text) {
        json_write_name(w, STR("json_schema"));
        json_write_printed(w, v->text);
    }
    json_write_end(w, '}');
}

static err schema_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct schema_version v;

    TRY(schema_register(tx, input_str(in, "name"), input_json(in, "json_schema"),
                        input_str(in, "description"), &v, &out->created));
    write_schema(&out->json, &v, true);
    return NULL;
}

static err schema_get_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct schema_version v;

    TRY(schema_find(tx, input_str(in, "name"), input_int(in, "version", 0), &v));
    write_schema(&out->json, &v, true);
    return NULL;
}

/* A page of them; one more than asked for tells whether there is another page. */
static void write_schemas(struct answer *out, const struct schema_version *all, size_t count,
                          size_t limit)
{
    size_t shown = count > limit ? limit : count;

    json_write_begin(&out->json, '{');
    json_write_name(&out->json, STR("schemas"));
    json_write_begin(&out->json, '[');
    for (size_t i = 0; i < shown; i++)
        write_schema(&out->json, &all[i], false);
    json_write_end(&out->json, ']');
    if (count > limit) {
        out->next = all[limit - 1].name;
        write_text(&out->json, STR("next"), out->next);
    }
    json_write_end(&out->json, '}');
}

static err schema_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    int64_t limit = input_int(in, "limit", 50);
    const struct schema_version *all;
    size_t count;

    TRY(schema_list(tx, input_str(in, "after"), limit + 1, &all, &count));
    write_schemas(out, all, count, (size_t)limit);
    return NULL;
}

static err schema_versions_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct schema_version *all;
    size_t count;

    TRY(schema_versions(tx, input_str(in, "name"), input_int(in, "limit", 50), &all, &count));
    write_schemas(out, all, count, count);
    return NULL;
}

/* What does not fit is the answer here, and not an error. */
static err schema_check_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct schema_version v;
    struct schema *program;
    const struct violation *why;

    TRY(schema_find(tx, input_str(in, "name"), input_int(in, "version", 0), &v));
    TRY(schema_program(tx, &v, &program));
    size_t count = schema_explain(tx->arena, program, input_json(in, "data"), 50, &why);
    json_write_begin(&out->json, '{');
    json_write_name(&out->json, STR("valid"));
    json_write_bool(&out->json, count == 0);
    json_write_name(&out->json, STR("errors"));
    json_write_begin(&out->json, '[');
    for (size_t i = 0; i < count; i++) {
        json_write_begin(&out->json, '{');
        write_text(&out->json, STR("pointer"), why[i].pointer);
        write_text(&out->json, STR("keyword"), why[i].keyword);
        write_text(&out->json, STR("message"), why[i].message);
        json_write_end(&out->json, '}');
    }
    json_write_end(&out->json, ']');
    json_write_end(&out->json, '}');
    return NULL;
}

// clang-format off
#define SCHEMA_SHAPE JSON({                                                              \
    "type": "object", "required": ["schema_id", "name", "version", "created_at"],        \
    "properties": { "schema_id": { "type": "string" }, "name": { "type": "string" },     \
        "version": { "type": "integer", "minimum": 1 }, "description": { "type": "string" }, \
        "created_at": { "type": "string", "format": "date-time" }, "json_schema": true } })

#define SCHEMAS_SHAPE JSON({                                                             \
    "type": "object", "required": ["schemas"],                                           \
    "properties": { "schemas": { "type": "array", "items": { "type": "object" } },       \
        "next": { "type": "string" } } })

static const struct op ops[] = {
    {
        .name = "schema.create", .http = "POST /workflow-schemas", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Register a schema; a known name gets its next version.",
        .input = JSON({
            "type": "object", "required": ["name", "json_schema"], "additionalProperties": false,
            "properties": { "name": { "type": "string" }, "json_schema": { "type": ["object", "boolean"] },
                "description": { "type": "string", "maxLength": 10000 } } }),
        .output = SCHEMA_SHAPE, .run = schema_create_op,
    },
    {
        .name = "schema.list", .http = "GET /workflow-schemas", .on = ON_HTTP | ON_CLI, .by = BY_ALL,
        .summary = "List the newest version of each schema.",
        .input = JSON({
            "type": "object", "additionalProperties": false,
            "properties": { "after": { "type": "string" },
                "limit": { "type": "integer", "minimum": 1, "maximum": 500 } } }),
        .output = SCHEMAS_SHAPE, .run = schema_list_op,
    },
    {
        .name = "schema.get", .http = "GET /workflow-schemas/{name}", .on = ON_HTTP | ON_CLI, .by = BY_ALL,
        .summary = "Show a schema, the newest version unless another is named.",
        .input = JSON({
            "type": "object", "required": ["name"], "additionalProperties": false,
            "properties": { "name": { "type": "string" }, "version": { "type": "integer", "minimum": 1 } } }),
        .output = SCHEMA_SHAPE, .run = schema_get_op,
    },
    {
        .name = "schema.versions", .http = "GET /workflow-schemas/{name}/versions",
        .on = ON_HTTP | ON_CLI, .by = BY_ALL,
        .summary = "List the versions of a schema, the newest first.",
        .input = JSON({
            "type": "object", "required": ["name"], "additionalProperties": false,
            "properties": { "name": { "type": "string" },
                "limit": { "type": "integer", "minimum": 1, "maximum": 500 } } }),
        .output = SCHEMAS_SHAPE, .run = schema_versions_op,
    },
    {
        .name = "schema.check", .http = "POST /workflow-schemas/{name}/check",
        .on = ON_HTTP | ON_CLI, .by = BY_ALL,
        .summary = "Say whether data would fit a schema, and what does not; nothing is stored.",
        .input = JSON({
            "type": "object", "required": ["name", "data"], "additionalProperties": false,
            "properties": { "name": { "type": "string" }, "version": { "type": "integer", "minimum": 1 },
                "data": true } }),
        .output = JSON({
            "type": "object", "required": ["valid", "errors"],
            "properties": { "valid": { "type": "boolean" }, "errors": { "type": "array" } } }),
        .run = schema_check_op,
    },
};
// clang-format on

const struct op_list schema_ops = { ops, sizeof ops / sizeof *ops };
