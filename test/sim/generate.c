/* generate.c: random values that fit a JSON Schema. */
#include "sim/generate.h"

#include "json/pointer.h"

enum { WIDTH = 4, DEPTH = 2, LENGTH = 12 };

static bool chance(struct generator *g, uint32_t one_in)
{
    return random_below(g->random, one_in) == 0;
}

static bool names(const struct json *required, str name)
{
    for (uint32_t i = 0; json_is(required, JSON_ARRAY) && i < required->len; i++)
        if (str_eq(json_text(&required->items[i]), name))
            return true;
    return false;
}

/* ---- scalars ---- */

static struct json make_string(struct generator *g, const struct json *schema)
{
    static const struct {
        const char *format, *text;
    } formats[] = {
        { "date-time", "2025-01-15T10:35:00Z" },
        { "date", "2025-01-15" },
        { "time", "10:35:00Z" },
        { "email", "a@example.org" },
        { "uri", "https://example.org/a" },
        { "uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380" },
    };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz 0123456789/~\"";
    str format = json_str(schema, "format");

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (str_eq(format, str_from(formats[i].format)))
            return json_string(str_from(formats[i].text));
    int64_t least = json_int_or(schema, "minLength", 0);
    int64_t most = json_int_or(schema, "maxLength", least + LENGTH);
    if (most > least + LENGTH)
        most = least + LENGTH;
    int64_t len = least + random_below(g->random, (uint32_t)(most - least) + 1);
    struct buf text = buf_in(g->arena);
    for (int64_t i = 0; i < len; i++)
        buf_byte(&text, letters[random_below(g->random, sizeof letters - 1)]);
    return json_string(buf_str(&text));
}

/* Near the lower end mostly: a page of two shows more than one of 499. */
static struct json make_integer(struct generator *g, const struct json *schema)
{
    int64_t least = json_int_or(schema, "minimum", json_int_or(schema, "exclusiveMinimum", -1) + 1);
    int64_t most =
        json_int_or(schema, "maximum", json_int_or(schema, "exclusiveMaximum", least + 1001) - 1);
    uint64_t span = (uint64_t)(most - least) + 1;

    if (!chance(g, 4) && span > 8)
        span = 8;
    return json_int(g->arena, least + (int64_t)(random_next(g->random) % span));
}

/* ---- containers ---- */

static struct json make_array(struct generator *g, const struct json *schema)
{
    int64_t least = json_int_or(schema, "minItems", 0);
    int64_t most = json_int_or(schema, "maxItems", least + WIDTH);
    struct json array = json_array();

    if (most > least + WIDTH)
        most = least + WIDTH;
    int64_t len = least + random_below(g->random, (uint32_t)(most - least) + 1);
    for (int64_t i = 0; i < len; i++)
        json_push(g->arena, &array, generate(g, json_get(schema, "items")));
    return array;
}

/* Whether another branch than the chosen one asks for the member. */
static bool is_of_another(const struct json *branches, const struct json *chosen, str name)
{
    for (uint32_t i = 0; json_is(branches, JSON_ARRAY) && i < branches->len; i++)
        if (&branches->items[i] != chosen && names(json_get(&branches->items[i], "required"), name))
            return true;
    return false;
}

static struct json make_object(struct generator *g, const struct json *schema,
                               const struct json *branches, const struct json *chosen)
{
    const struct json *properties = json_get(schema, "properties");
    const struct json *others = json_get(schema, "additionalProperties");
    struct json object = json_object();

    for (uint32_t i = 0; json_is(properties, JSON_OBJECT) && i < properties->len; i++) {
        const struct json_member *m = &properties->members[i];
        str name = json_name(m);
        struct json value;
        bool required = names(json_get(schema, "required"), name) ||
                        names(json_get(chosen, "required"), name);
        if (!required && (is_of_another(branches, chosen, name) || chance(g, 2)))
            continue;
        if (!g->refer || !g->refer(g->self, name, &m->value, &value))
            value = generate(g, &m->value);
        json_put(g->arena, &object, name, value);
    }
    for (uint32_t n = json_is(others, JSON_OBJECT) ? random_below(g->random, WIDTH) : 0; n > 0; n--)
        json_put(g->arena, &object, arena_printf(g->arena, "other%u", n), generate(g, others));
    return object;
}

/* ---- any ---- */

static str type_of(struct generator *g, const struct json *schema)
{
    const struct json *type = json_get(schema, "type");

    if (json_is(type, JSON_ARRAY))
        type = &type->items[random_below(g->random, type->len)];
    if (type)
        return json_text(type);
    return json_get(schema, "properties") ? STR("object") : STR("");
}

static struct json make_typed(struct generator *g, const struct json *schema,
                              const struct json *branches, const struct json *chosen)
{
    str type = type_of(g, schema);

    if (str_eq(type, STR("object")))
        return make_object(g, schema, branches, chosen);
    if (str_eq(type, STR("array")))
        return make_array(g, schema);
    if (str_eq(type, STR("string")))
        return make_string(g, schema);
    if (str_eq(type, STR("integer")) || str_eq(type, STR("number")))
        return make_integer(g, schema);
    if (str_eq(type, STR("boolean")))
        return json_bool(chance(g, 2));
    if (str_eq(type, STR("null")))
        return json_null();
    return random_json(g->arena, g->random, DEPTH, WIDTH);
}

struct json generate(struct generator *g, const struct json *schema)
{
    const struct json *fixed = json_get(schema, "const"), *choices = json_get(schema, "enum");
    const struct json *branches = json_get(schema, "oneOf"), *chosen = NULL, *target;
    str reference = json_str(schema, "$ref");

    if (fixed)
        return json_copy(g->arena, fixed);
    if (choices)
        return json_copy(g->arena, &choices->items[random_below(g->random, choices->len)]);
    if (reference.len) {
        CHECK_OK(
            json_pointer_get(g->arena, g->root, str_slice(reference, 1, reference.len), &target));
        return generate(g, target);
    }
    if (!branches)
        branches = json_get(schema, "anyOf");
    if (branches)
        chosen = &branches->items[random_below(g->random, branches->len)];
    if (chosen && !json_get(schema, "type"))
        return generate(g, chosen);
    return make_typed(g, schema, branches, chosen);
}

void generate_break(struct generator *g, struct json *object)
{
    if (object->len == 0) {
        json_put(g->arena, object, STR("no such field"), json_null());
        return;
    }
    struct json_member *m = &object->members[random_below(g->random, object->len)];
    switch (random_below(g->random, 4)) {
    case 0: *m = object->members[--object->len]; break;
    case 1: json_put(g->arena, object, STR("no such field"), json_bool(true)); break;
    case 2: m->value = random_json(g->arena, g->random, DEPTH, WIDTH); break;
    default: m->value = json_int(g->arena, INT64_MAX - (int64_t)random_below(g->random, 3)); break;
    }
}
