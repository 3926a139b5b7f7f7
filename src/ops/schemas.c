/* schemas.c: operations on schemas. */
#include "core/schema.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/write.h"

static void schema_members(struct tx *tx, struct json_writer *w, const struct schema_version *v,
                           bool with_text)
{
    write_text(w, STR("schema_id"), v->id);
    write_text(w, STR("name"), v->name);
    write_int(w, STR("version"), v->version);
    write_text(w, STR("description"), v->description);
    write_time(w, STR("created_at"), v->created_at_ms);
    write_time(w, STR("updated_at"), v->created_at_ms); /* a version never changes */
    if (with_text)
        write_stored(tx, w, STR("json_schema"), THING("schema", v->id), v->text);
}

void write_schema(struct tx *tx, struct json_writer *w, const struct schema_version *v,
                  bool with_text)
{
    json_write_begin(w, '{');
    schema_members(tx, w, v, with_text);
    json_write_end(w, '}');
}

static void write_findings(struct json_writer *w, str name, const struct violation *all,
                           size_t count)
{
    write_begin(w, name, '[');
    for (size_t i = 0; i < count; i++) {
        json_write_begin(w, '{');
        write_text(w, STR("pointer"), all[i].pointer);
        write_text(w, STR("keyword"), all[i].keyword);
        write_text(w, STR("message"), all[i].message);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
}

static err schema_create_ready(struct arena *a, const struct input *in, void **ready)
{
    return schema_prepare(a, input_json(in, "json_schema"), (struct schema_ready **)ready);
}

static err schema_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct schema_version v;
    void *ready = in->ready;

    if (!ready)
        TRY(schema_create_ready(tx->arena, in, &ready));
    TRY(schema_register(tx, input_str(in, "name"), ready, input_str(in, "description"), &v,
                        &out->created));
    const struct schema_warnings *warnings = schema_ready_warnings(ready);
    json_write_begin(&out->json, '{');
    schema_members(tx, &out->json, &v, true);
    if (warnings->count)
        write_findings(&out->json, STR("warnings"), warnings->items, warnings->count);
    json_write_end(&out->json, '}');
    return NULL;
}

static err schema_get_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct schema_version v;

    TRY(schema_find(tx, input_str(in, "name"), input_int(in, "version", 0), &v));
    write_schema(tx, &out->json, &v, true);
    return NULL;
}

static err schema_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct schema_version *all;
    size_t count;

    TRY(schema_list(tx, input_str(in, "after"), page_rows(in), &all, &count));
    size_t shown = page_begin(in, out, STR("schemas"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_schema(tx, &out->json, &all[i], false);
    page_end(out, shown < count ? all[shown - 1].name : STR(""));
    return NULL;
}

static err schema_versions_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct schema_version *all;
    size_t count;

    TRY(schema_versions(tx, input_str(in, "name"), input_int(in, "after", 0), page_rows(in), &all,
                        &count));
    size_t shown = page_begin(in, out, STR("schemas"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_schema(tx, &out->json, &all[i], false);
    page_end_number(tx, out, shown < count ? all[shown - 1].version : 0);
    return NULL;
}

/* What does not fit is the answer here, and not an error. */
static err schema_check_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct schema_version v;
    const struct schema_rules *rules;
    const struct violation *why;

    TRY(schema_find(tx, input_str(in, "name"), input_int(in, "version", 0), &v));
    TRY(schema_rules(tx, v.id, &rules));
    size_t count = schema_explain(tx->arena, rules->program, input_json(in, "data"), 50, &why);
    json_write_begin(&out->json, '{');
    write_bool(&out->json, STR("valid"), count == 0);
    write_findings(&out->json, STR("errors"), why, count);
    json_write_end(&out->json, '}');
    return NULL;
}

// clang-format off

static const struct op ops[] = {
    {
        .name = "schema.create", .http = "POST /workflow-schemas", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Register a schema; a known name gets its next version, the same text the one that it has.",
        .input = JSON({
            "type": "object", "required": ["name", "json_schema"], "additionalProperties": false,
            "properties": {
                "name": { "type": "string", "description": "Letters, digits and - _ . up to 100 of them." },
                "json_schema": { "type": ["object", "boolean"],
                    "description": "A JSON Schema, draft-07 or later; x-baton and x-owner in it say more about its states: how updates are asked for, and who alone may change a part." },
                "description": { "type": "string", "maxLength": 10000, "description": "What documents of this schema are for, in a line for people." } } }),
        .output = SHAPE(SCHEMA_REQUIRED, SCHEMA_WHOLE "," SHAPE_LIST("warnings",
            "What is not as it should be in it and is taken anyway, as others take it; at most 20.", FINDING_SHAPE)),
        .prepare = schema_create_ready, .run = schema_create_op,
    },
    {
        .name = "schema.list", .http = "GET /workflow-schemas", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "List the newest version of each schema, by name.",
        .input = FIELDS("", PAGE_AFTER_NAME "," PAGE_LIMIT),
        .output = SHAPE(JSON("schemas"), SHAPE_LIST("schemas", "A page of them, without their texts.",
            SHAPE(JSON("schema_id", "name", "version"), SCHEMA_MEMBERS)) "," PAGE_NEXT),
        .run = schema_list_op,
    },
    {
        .name = "schema.get", .http = "GET /workflow-schemas/{name}", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Show a schema, the newest version unless another is named.",
        .input = JSON({
            "type": "object", "required": ["name"], "additionalProperties": false,
            "properties": {
                "name": { "type": "string", "description": "The name of a registered schema: schema.list tells which there are." },
                "version": { "type": "integer", "minimum": 1,
                    "description": "Its version; the newest unless it is given." } } }),
        .output = SCHEMA_SHAPE, .run = schema_get_op,
    },
    {
        .name = "schema.versions", .http = "GET /workflow-schemas/{name}/versions",
        .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "List the versions of a schema, the newest first.",
        .input = FIELDS(JSON("name"), JSON(
            "name": { "type": "string", "description": "The name of a registered schema: schema.list tells which there are." },
            "after": { "type": "integer", "minimum": 1,
                "description": "Begin after this version, with the one before it: the last page's next." }) "," PAGE_LIMIT),
        .output = SHAPE(JSON("schemas"), SHAPE_LIST("schemas", "A page of them, without their texts.",
            SHAPE(JSON("schema_id", "name", "version"), SCHEMA_MEMBERS)) "," PAGE_NEXT_NUMBER),
        .run = schema_versions_op,
    },
    {
        .name = "schema.check", .http = "POST /workflow-schemas/{name}/check",
        .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Say whether data would fit a schema, and what does not; nothing is stored.",
        .input = JSON({
            "type": "object", "required": ["name", "data"], "additionalProperties": false,
            "properties": {
                "name": { "type": "string", "description": "The name of a registered schema: schema.list tells which there are." },
                "data": { "description": "The document that is to be checked; nothing is stored." },
                "version": { "type": "integer", "minimum": 1,
                    "description": "Its version; the newest unless it is given." } } }),
        .output = SHAPE(JSON("valid", "errors"), JSON(
            "valid": { "type": "boolean", "description": "Whether the document fits the schema; where not, errors says why." }) "," ERRORS_MEMBER),
        .run = schema_check_op,
    },
};
// clang-format on

const struct op_list schema_ops = { ops, sizeof ops / sizeof *ops };
