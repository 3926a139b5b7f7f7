/* openapi.c: the table of operations as an OpenAPI 3.1 document. */
#include "base/map.h"
#include "ops/describe.h"
#include "ops/write.h"

/* ---- parameters ---- */

static void write_ref(struct json_writer *w, str to)
{
    json_write_begin(w, '{');
    write_text(w, STR("$ref"), to);
    json_write_end(w, '}');
}

static void write_parameter(struct json_writer *w, const struct described *d,
                            const struct json_member *field)
{
    bool in_path = field_in_path(d, json_name(field));
    str description = json_str(&field->value, "description");

    json_write_begin(w, '{');
    write_text(w, STR("name"), json_name(field));
    write_text(w, STR("in"), in_path ? STR("path") : STR("query"));
    write_bool(w, STR("required"), in_path || field_required(d, json_name(field)));
    if (description.len)
        write_text(w, STR("description"), description);
    write_value(w, STR("schema"), &field->value);
    json_write_end(w, '}');
}

static const struct json *fields_of(const struct described *d)
{
    return json_get(d->input, "properties");
}

/* What a JSON body is, where that is not the input; NULL: it is. */
static const struct op_body *json_body(const struct described *d)
{
    for (int i = 0; i < OP_BODIES_MAX && d->op->bodies[i].media_type; i++)
        if (strcmp(d->op->bodies[i].media_type, "application/json") == 0)
            return &d->op->bodies[i];
    return NULL;
}

/* Beside a body that is one field, there is the query for the others. */
static bool is_parameter(const struct described *d, str field)
{
    const struct op_body *body = json_body(d);

    return d->in_query || field_in_path(d, field) ||
           (body && !str_eq(field, str_from(body->field)));
}

static void write_parameters(struct json_writer *w, const struct described *d)
{
    const struct json *fields = fields_of(d);
    bool writes = d->op->effect == OP_WRITES;

    write_begin(w, STR("parameters"), '[');
    for (uint32_t i = 0; fields && i < fields->len; i++)
        if (is_parameter(d, json_name(&fields->members[i])))
            write_parameter(w, d, &fields->members[i]);
    if (writes && !d->op->secret)
        write_ref(w, STR("#/components/parameters/IdempotencyKey"));
    if (writes && json_get(fields, "expected_version"))
        write_ref(w, STR("#/components/parameters/IfMatch"));
    if (writes && json_get(fields, "representation"))
        write_ref(w, STR("#/components/parameters/Prefer"));
    if (!writes && d->op->peek)
        write_ref(w, STR("#/components/parameters/IfNoneMatch"));
    json_write_end(w, ']');
}

/* ---- bodies ---- */

/* The input without what is in the path. */
static void write_body_schema(struct json_writer *w, const struct described *d)
{
    const struct json *fields = fields_of(d), *required = json_get(d->input, "required");

    json_write_begin(w, '{');
    for (uint32_t i = 0; i < d->input->len; i++) {
        const struct json_member *m = &d->input->members[i];
        if (&m->value == fields || &m->value == required)
            continue;
        write_value(w, json_name(m), &m->value);
    }
    write_begin(w, STR("required"), '[');
    for (uint32_t i = 0; required && i < required->len; i++)
        if (!field_in_path(d, json_text(&required->items[i])))
            json_write_value(w, &required->items[i]);
    json_write_end(w, ']');
    write_begin(w, STR("properties"), '{');
    for (uint32_t i = 0; fields && i < fields->len; i++) {
        if (field_in_path(d, json_name(&fields->members[i])))
            continue;
        write_value(w, json_name(&fields->members[i]), &fields->members[i].value);
    }
    json_write_end(w, '}');
    json_write_end(w, '}');
}

static void write_media_begin(struct json_writer *w, str type)
{
    write_begin(w, type, '{');
    json_write_name(w, STR("schema"));
}

/* A field that a body is; or, where that is said, the input. */
static void write_field_schema(struct json_writer *w, const struct described *d,
                               const struct op_body *body)
{
    const struct json *schema = json_get(fields_of(d), body->field);

    if (!body->either) {
        json_write_value(w, schema);
        return;
    }
    json_write_begin(w, '{');
    write_begin(w, STR("anyOf"), '[');
    write_body_schema(w, d);
    json_write_value(w, schema);
    json_write_end(w, ']');
    json_write_end(w, '}');
}

static void write_request_body(struct json_writer *w, const struct described *d)
{
    write_begin(w, STR("requestBody"), '{');
    write_begin(w, STR("content"), '{');
    if (!json_body(d)) {
        write_media_begin(w, STR("application/json"));
        write_body_schema(w, d);
        json_write_end(w, '}');
    }
    for (int i = 0; i < OP_BODIES_MAX && d->op->bodies[i].media_type; i++) {
        write_media_begin(w, str_from(d->op->bodies[i].media_type));
        write_field_schema(w, d, &d->op->bodies[i]);
        json_write_end(w, '}');
    }
    json_write_end(w, '}');
    json_write_end(w, '}');
}

/* ---- answers ---- */

static void write_answer(struct json_writer *w, const struct described *d, str status,
                         str description)
{
    write_begin(w, status, '{');
    write_text(w, STR("description"), description);
    if (!d->answers_nothing) {
        write_begin(w, STR("content"), '{');
        write_media_begin(w, STR("application/json"));
        json_write_value(w, d->output);
        json_write_end(w, '}');
        json_write_end(w, '}');
    }
    json_write_end(w, '}');
}

static void write_answers(struct json_writer *w, const struct described *d)
{
    bool creates = d->op->effect == OP_WRITES && str_eq(d->verb, STR("create"));

    write_begin(w, STR("responses"), '{');
    if (creates)
        write_answer(w, d, STR("201"), STR("It is there now."));
    if (d->answers_nothing)
        write_answer(w, d, STR("204"), STR("Done."));
    else
        write_answer(w, d, STR("200"), creates ? STR("It was there already.") : STR("Done."));
    json_write_name(w, STR("default"));
    write_ref(w, STR("#/components/responses/Problem"));
    json_write_end(w, '}');
}

/* ---- operations ---- */

static str lower(struct arena *a, str s)
{
    str copy = arena_copy(a, s);

    for (size_t i = 0; i < copy.len; i++)
        ((char *)copy.at)[i] |= 0x20; /* methods are letters */
    return copy;
}

static void write_operation(struct arena *a, struct json_writer *w, const struct described *d)
{
    write_begin(w, lower(a, d->method), '{');
    write_text(w, STR("operationId"), str_from(d->op->name));
    write_text(w, STR("summary"), str_from(d->op->summary));
    if (d->op->hint)
        write_text(w, STR("description"), str_from(d->op->hint));
    write_begin(w, STR("tags"), '[');
    json_write_str(w, d->noun);
    json_write_end(w, ']');
    write_parameters(w, d);
    if (!d->in_query)
        write_request_body(w, d);
    write_answers(w, d);
    json_write_end(w, '}');
}

/* Operations by path, each path once, in the order of the table. */
static void write_paths(struct arena *a, struct json_writer *w, const struct op_table *t)
{
    size_t count = op_count(t);
    struct described *all = ARENA_ARRAY(a, struct described, count);
    struct map done = map_in(a);

    for (size_t i = 0; i < count; i++)
        all[i] = op_described(a, op_at(t, i));
    write_begin(w, STR("paths"), '{');
    for (size_t i = 0; i < count; i++) {
        if (!all[i].path.len || !(all[i].op->on & ON_HTTP) || map_put(&done, all[i].path, &all[i]))
            continue;
        write_begin(w, all[i].path, '{');
        for (size_t k = i; k < count; k++)
            if (str_eq(all[k].path, all[i].path))
                write_operation(a, w, &all[k]);
        json_write_end(w, '}');
    }
    json_write_end(w, '}');
}

// clang-format off
static const char components[] = JSON({
    "securitySchemes": { "token": { "type": "http", "scheme": "bearer",
        "description": "A token of baton: DIR/operator.token, or one made by token.create." } },
    "parameters": {
        "IdempotencyKey": { "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "The same key with the same request is applied once; with another request it is refused (422). Kept for 24 hours.",
            "schema": { "type": "string", "minLength": 1, "maxLength": 255 } },
        "IfMatch": { "name": "If-Match", "in": "header", "required": false,
            "description": "The ETag that must be current, else 412.", "schema": { "type": "string" } },
        "IfNoneMatch": { "name": "If-None-Match", "in": "header", "required": false,
            "description": "An ETag that is known already: 304 when it is current.", "schema": { "type": "string" } },
        "Prefer": { "name": "Prefer", "in": "header", "required": false,
            "description": "return=representation answers with the document after the write.",
            "schema": { "type": "string" } } },
    "responses": { "Problem": { "description": "What was wrong, and what to do about it.",
        "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } } } },
    "schemas": { "Problem": { "type": "object", "required": ["type", "title", "status", "detail"],
        "properties": { "type": { "type": "string" }, "title": { "type": "string" },
            "status": { "type": "integer" }, "detail": { "type": "string" },
            "current_version": { "type": "integer", "description": "Of the document, when another was expected." },
            "errors": { "type": "array", "description": "What does not fit a schema.",
                "items": { "type": "object", "properties": { "pointer": { "type": "string" },
                    "keyword": { "type": "string" }, "message": { "type": "string" } } } } } } }
});
// clang-format on

str op_openapi(struct arena *a, const struct op_table *t, const char *version)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    write_text(&w, STR("openapi"), STR("3.1.0"));
    write_begin(&w, STR("info"), '{');
    write_text(&w, STR("title"), STR("baton"));
    write_text(&w, STR("version"), str_from(version));
    write_text(&w, STR("summary"),
               STR("Durable, schema-bound, versioned state for teams of agents"));
    write_printed(&w, STR("license"),
                  STR("{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}"));
    json_write_end(&w, '}');
    write_printed(&w, STR("servers"), STR("[{\"url\":\"http://127.0.0.1:8765\"}]"));
    write_printed(&w, STR("security"), STR("[{\"token\":[]}]"));
    write_paths(a, &w, t);
    write_printed(&w, STR("components"), str_from(components));
    json_write_end(&w, '}');
    return buf_str(&out);
}
