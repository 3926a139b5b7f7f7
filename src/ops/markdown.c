/* markdown.c: the table of operations as a page for people. */
#include "ops/describe.h"

/* "integer", "string or null", "one of a, b", "any value". */
static void put_type(struct buf *out, const struct json *schema)
{
    const struct json *type = json_get(schema, "type"), *choices = json_get(schema, "enum");

    if (json_is(choices, JSON_ARRAY)) {
        buf_printf(out, "one of ");
        for (uint32_t i = 0; i < choices->len; i++) {
            buf_printf(out, "%s`", i ? ", " : "");
            json_print(out, &choices->items[i]);
            buf_byte(out, '`');
        }
    } else if (json_is(type, JSON_STRING)) {
        buf_add(out, json_text(type));
    } else if (json_is(type, JSON_ARRAY)) {
        for (uint32_t i = 0; i < type->len; i++)
            buf_printf(out, "%s" STR_FMT, i ? " or " : "", STR_ARG(json_text(&type->items[i])));
    } else {
        buf_printf(out, "any value");
    }
}

static const char *place_of(const struct described *d, str field)
{
    if (field_in_path(d, field))
        return "path";
    return d->in_query ? "query" : "body";
}

static void put_input(struct buf *out, const struct described *d)
{
    const struct json *fields = json_get(d->input, "properties");

    if (!fields || fields->len == 0)
        return;
    buf_printf(out, "\n| field | in | type | |\n| --- | --- | --- | --- |\n");
    for (uint32_t i = 0; i < fields->len; i++) {
        str name = json_name(&fields->members[i]);
        buf_printf(out, "| `" STR_FMT "`%s | %s | ", STR_ARG(name),
                   field_required(d, name) ? " (required)" : "", place_of(d, name));
        put_type(out, &fields->members[i].value);
        buf_printf(out, " | " STR_FMT " |\n",
                   STR_ARG(json_str(&fields->members[i].value, "description")));
    }
}

static void put_output(struct buf *out, const struct described *d)
{
    const struct json *fields = json_get(d->output, "properties");

    if (d->answers_nothing) {
        buf_printf(out, "\nAnswers nothing (204).\n");
        return;
    }
    buf_printf(out, "\nAnswers");
    for (uint32_t i = 0; fields && i < fields->len; i++) {
        str description = json_str(&fields->members[i].value, "description");
        buf_printf(out, "%s `" STR_FMT "`", i ? "," : "", STR_ARG(json_name(&fields->members[i])));
        if (description.len)
            buf_printf(out, " (" STR_FMT ")", STR_ARG(description));
    }
    buf_printf(out, ".\n");
}

static void put_callers(struct buf *out, unsigned by)
{
    static const struct {
        unsigned bit;
        const char *name;
    } callers[] = {
        { BY_OPERATOR, "operators" }, { BY_SESSION, "sessions" },
        { BY_RUNNER, "runners" },     { BY_VIEWER, "viewers" },
        { BY_WORKER, "workers" },     { BY_PERSON, "people in front of an agent's client" }
    };
    bool any = false;

    for (size_t i = 0; i < sizeof callers / sizeof *callers; i++) {
        if (!(by & callers[i].bit))
            continue;
        buf_printf(out, "%s%s", any ? ", " : "For ", callers[i].name);
        any = true;
    }
    buf_printf(out, any ? ".\n" : "For the server itself.\n");
}

static void put_operation(struct buf *out, const struct described *d)
{
    const struct op *op = d->op;

    buf_printf(out, "\n### %s\n\n%s", op->name, op->summary);
    if (op->hint)
        buf_printf(out, " %s", op->hint);
    buf_printf(out, "\n\n");
    if (op->http)
        buf_printf(out, "- `%s`\n", op->http);
    if (op->on & ON_CLI)
        buf_printf(out, "- `baton " STR_FMT " " STR_FMT "`\n", STR_ARG(d->noun), STR_ARG(d->verb));
    for (int i = 0; i < OP_BODIES_MAX && op->bodies[i].media_type; i++)
        buf_printf(out, "- a body of `%s` is the field `%s`%s\n", op->bodies[i].media_type,
                   op->bodies[i].field,
                   op->bodies[i].either ? ", unless it has a member of that name: then it is the "
                                          "input, and else the other fields are in the query"
                                        : "");
    buf_printf(out, "- ");
    put_callers(out, op->by);
    put_input(out, d);
    put_output(out, d);
}

str op_markdown(struct arena *a, const struct op_table *t)
{
    struct buf out = buf_in(a);
    str noun = STR("");

    buf_printf(
        &out, "# Operations\n\n"
              "Everything that baton can do, written by the program from its table of operations:\n"
              "`make docs` writes this page anew, and `make test` fails when it is stale.\n\n"
              "Every request needs a token (`Authorization: Bearer …`). Errors are\n"
              "`application/problem+json`: what was expected, what was found, what to do next.\n"
              "Writes take an `Idempotency-Key`: the same key and request are applied once.\n");
    for (size_t i = 0; i < op_count(t); i++) {
        struct described d = op_described(a, op_at(t, i));
        if (!d.op->on)
            continue;
        if (!str_eq(d.noun, noun))
            buf_printf(&out, "\n## " STR_FMT "\n", STR_ARG(d.noun));
        noun = d.noun;
        put_operation(&out, &d);
    }
    return buf_str(&out);
}
