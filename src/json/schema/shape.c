/* shape.c: does a keyword's value look as it must? What a meta-schema says, in our words. */
#include "json/pointer.h"
#include "json/schema/build.h"

static const enum shape shapes[KEYWORD_COUNT] = {
#define KEYWORD_SHAPE(id, name, drafts, vocabulary, shape) SHAPE_##shape,
    KEYWORDS(KEYWORD_SHAPE)
#undef KEYWORD_SHAPE
};

enum shape keyword_shape(enum keyword k)
{
    return shapes[k];
}

static const struct {
    const char *name;
    unsigned kinds;
} types[] = {
    { "null", 1 << JSON_NULL },       { "boolean", 1 << JSON_BOOL },
    { "integer", 1 << JSON_INTEGER }, { "number", JSON_NUMBERS },
    { "string", 1 << JSON_STRING },   { "array", 1 << JSON_ARRAY },
    { "object", 1 << JSON_OBJECT },
};

enum { TYPE_COUNT = sizeof types / sizeof *types };

unsigned type_kinds(str name)
{
    for (int i = 0; i < TYPE_COUNT; i++)
        if (str_eq(name, str_from(types[i].name)))
            return types[i].kinds;
    return 0;
}

static const char *type_nearest(str name)
{
    for (int i = 0; i < TYPE_COUNT; i++)
        if (str_distance(name, str_from(types[i].name), 2) <= 2)
            return types[i].name;
    return NULL;
}

static err unfit(struct build *b, str pointer, enum keyword k, const char *expected,
                 const struct json *value)
{
    str found = json_printed(b->errors, value);

    if (found.len > 60)
        found = arena_printf(b->errors, "%s of %zu bytes", json_kind_name(value->kind), found.len);
    return build_error(b, pointer, keyword_name(k), "expected %s, found " STR_FMT, expected,
                       STR_ARG(found));
}

static err check_type_name(struct build *b, str pointer, enum keyword k, const struct json *value)
{
    if (value->kind == JSON_STRING && type_kinds(json_text(value)))
        return NULL;
    const char *nearest = value->kind == JSON_STRING ? type_nearest(json_text(value)) : NULL;
    if (nearest)
        return build_error(b, pointer, keyword_name(k),
                           "\"" STR_FMT "\" is no type: did you mean \"%s\"?",
                           STR_ARG(json_text(value)), nearest);
    return unfit(b, pointer, k,
                 "one of \"null\", \"boolean\", \"integer\", \"number\", \"string\", \"array\", "
                 "\"object\"",
                 value);
}

static err check_type(struct build *b, str pointer, enum keyword k, const struct json *value)
{
    if (value->kind != JSON_ARRAY)
        return check_type_name(b, pointer, k, value);
    if (value->len == 0)
        return unfit(b, pointer, k, "at least one type", value);
    for (uint32_t i = 0; i < value->len; i++)
        TRY(check_type_name(b, pointer, k, &value->items[i]));
    return NULL;
}

static bool is_strings(const struct json *value)
{
    if (value->kind != JSON_ARRAY)
        return false;
    for (uint32_t i = 0; i < value->len; i++)
        if (value->items[i].kind != JSON_STRING)
            return false;
    return true;
}

static err check_required_map(struct build *b, str pointer, enum keyword k,
                              const struct json *value)
{
    bool schemas_too = shapes[k] == SHAPE_DEPENDENCIES;

    for (uint32_t i = 0; i < value->len; i++) {
        const struct json *names = &value->members[i].value;
        if (schemas_too && names->kind != JSON_ARRAY)
            continue; /* a schema, which is looked at as one */
        if (!is_strings(names))
            return unfit(b, pointer, k, "an array of names for each member", names);
    }
    return NULL;
}

static bool is_count(const struct json *value)
{
    return json_is_number(value) && json_is_integral(value) &&
           json_number_compare(value, &(struct json){ JSON_INTEGER, 0, 1, { "0" } }) >= 0;
}

static bool is_positive(const struct json *value)
{
    return json_is_number(value) &&
           json_number_compare(value, &(struct json){ JSON_INTEGER, 0, 1, { "0" } }) > 0;
}

static err check_kind(struct build *b, str pointer, enum keyword k, const struct json *value,
                      bool fits, const char *expected)
{
    return fits ? NULL : unfit(b, pointer, k, expected, value);
}

err shape_check(struct build *b, str pointer, enum keyword k, const struct json *value)
{
    bool is_object = value->kind == JSON_OBJECT, is_array = value->kind == JSON_ARRAY;

#define EXPECT(fits, what) return check_kind(b, pointer, k, value, (fits), (what))
    switch (shapes[k]) {
    case SHAPE_STRING: EXPECT(value->kind == JSON_STRING, "a string");
    case SHAPE_BOOL: EXPECT(value->kind == JSON_BOOL, "true or false");
    case SHAPE_ARRAY: EXPECT(is_array, "an array");
    case SHAPE_COUNT: EXPECT(is_count(value), "an integer of at least 0");
    case SHAPE_NUMBER: EXPECT(json_is_number(value), "a number");
    case SHAPE_POSITIVE: EXPECT(is_positive(value), "a number above 0");
    case SHAPE_STRINGS: EXPECT(is_strings(value), "an array of strings");
    case SHAPE_SCHEMAS: EXPECT(is_array && value->len, "an array of at least one schema");
    case SHAPE_SCHEMA_MAP: EXPECT(is_object, "an object whose members are schemas");
    case SHAPE_TYPE: return check_type(b, pointer, k, value);
    case SHAPE_DEPENDENCIES:
    case SHAPE_REQUIRED_MAP:
        if (is_object)
            return check_required_map(b, pointer, k, value);
        EXPECT(false, "an object");
    case SHAPE_ANY:
    case SHAPE_SCHEMA:
    case SHAPE_SCHEMA_OR_ARRAY: /* looked at as schemas */ return NULL;
    }
#undef EXPECT
    return NULL;
}
