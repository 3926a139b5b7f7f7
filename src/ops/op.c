/* op.c: the table of operations, checked and made ready for looking things up. */
#include "ops/op.h"

#include <assert.h>

#include "base/map.h"
#include "json/schema/schema.h"

enum { SEGMENTS_MAX = 8 };

/* A route, split at its slashes. */
struct route {
    str method;
    str segments[SEGMENTS_MAX];
    size_t count;
};

struct entry {
    const struct op *op;
    struct route route;
    struct schema *input, *output;
    const struct json *input_text;
};

struct op_table {
    struct arena *arena;
    struct entry *entries;
    size_t count;
    struct map by_name; /* name → struct entry */
};

/* Old words for the first segment of a path. */
static const struct {
    str old, now;
} aliases[] = {
    { { "workflow-state", 14 }, { "workflow-states", 15 } },
    { { "workflow-schema", 15 }, { "workflow-schemas", 16 } },
};

static str alias_of(str segment)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (str_eq(segment, aliases[i].old))
            return aliases[i].now;
    return segment;
}

/* ---- making it ---- */

static err broken(struct arena *a, const struct op *op, const char *what, const char *detail)
{
    return err_new(a, ERR_INTERNAL, "operation %s: %s: %s", op->name, what, detail);
}

static bool is_capture(str segment)
{
    return segment.len > 2 && segment.at[0] == '{' && segment.at[segment.len - 1] == '}';
}

static str capture_field(str segment)
{
    return str_slice(segment, 1, segment.len - 1);
}

/* False when the path has more segments than any route. */
static bool path_split(str path, str segments[SEGMENTS_MAX], size_t *count)
{
    *count = 0;
    if (path.len == 0 || path.at[0] != '/')
        return false;
    path = str_slice(path, 1, path.len);
    for (bool more = true; more;) {
        if (*count == SEGMENTS_MAX)
            return false;
        more = str_cut(path, '/', &segments[*count], &path);
        ++*count;
    }
    return true;
}

static err route_make(struct arena *a, const struct op *op, struct route *out)
{
    str path;

    if (!op->http)
        return NULL;
    if (!str_cut(str_from(op->http), ' ', &out->method, &path) ||
        !path_split(path, out->segments, &out->count))
        return broken(a, op, "expected a method, a space and a path", op->http);
    return NULL;
}

/* A field of the input, wherever the schema declares it at its top. */
static const struct json *field_of(const struct entry *e, str name)
{
    return json_find(json_get(e->input_text, "properties"), name);
}

static bool is_required(const struct entry *e, str name)
{
    const struct json *required = json_get(e->input_text, "required");

    for (uint32_t i = 0; json_is(required, JSON_ARRAY) && i < required->len; i++)
        if (str_eq(json_text(&required->items[i]), name))
            return true;
    return false;
}

static err captures_check(struct arena *a, const struct entry *e)
{
    size_t captures = 0;

    for (size_t i = 0; i < e->route.count; i++) {
        if (!is_capture(e->route.segments[i]))
            continue;
        if (!is_required(e, capture_field(e->route.segments[i])))
            return broken(a, e->op, "what its route captures must be a required field",
                          e->op->http);
        captures++;
    }
    return captures <= OP_CAPTURES_MAX
               ? NULL
               : broken(a, e->op, "its route has too many captures", e->op->http);
}

/* What its tool has of its input and of its answer must be there. */
static err names_check(struct arena *a, struct op_table *t, const struct op *op, const char *names,
                       const struct json *schema)
{
    const struct json *all, *there = json_get(schema, "properties");

    if (!names)
        return NULL;
    TRY(json_parse(t->arena, str_from(names), NULL, &all));
    for (uint32_t i = 0; i < all->len; i++)
        if (!json_find(there, json_name(&all->members[i])))
            return broken(a, op, "its tool has a field that it does not have itself",
                          arena_copy(a, json_name(&all->members[i])).at);
    return NULL;
}

static err fields_check(struct arena *a, const struct entry *e)
{
    const struct op *op = e->op;

    for (int i = 0; i < OP_BODIES_MAX; i++)
        if (op->bodies[i].field && !field_of(e, str_from(op->bodies[i].field)))
            return broken(a, op, "the field of a body is not in its input", op->bodies[i].field);
    if (op->implied && !field_of(e, str_from(op->implied)))
        return broken(a, op, "the implied field is not in its input", op->implied);
    if (op->effect == OP_WRITES && op->wait && !op->secret)
        return broken(a, op, "a write that waits has no answer to keep for a repeat", op->name);
    if (op->peek && (op->effect != OP_READS || (op->by & BY_READERS) != BY_READERS))
        return broken(a, op, "what is answered from memory must be a read for all who read",
                      op->name);
    return captures_check(a, e);
}

static err schema_make(struct arena *a, struct op_table *t, const struct op *op, const char *text,
                       const char *what, const struct json **json, struct schema **out)
{
    static const struct schema_options options = { .integers_64 = true }; /* as input_int reads */

    if (!text)
        return broken(a, op, what, "it has none");
    TRY(json_parse(t->arena, str_from(text), NULL, json));
    err e = schema_compile(a, *json, &options, out);
    return e ? err_within(a, e, "operation %s: %s", op->name, what) : NULL;
}

static err entry_make(struct arena *a, struct op_table *t, const struct op *op, struct entry *e)
{
    const struct json *output;

    e->op = op;
    if (!op->run || !op->summary || !op->by)
        return broken(a, op, "expected a handler, a summary and who may call it", op->name);
    TRY(route_make(a, op, &e->route));
    TRY(schema_make(a, t, op, op->input, "its input", &e->input_text, &e->input));
    TRY(schema_make(a, t, op, op->output, "its output", &output, &e->output));
    if (!json_get(output, "properties") && !json_get(output, "$ref"))
        return broken(a, op, "its output declares no properties", op->name);
    TRY(names_check(a, t, op, op->tool_input, e->input_text));
    TRY(names_check(a, t, op, op->tool_output, output));
    return fields_check(a, e);
}

static bool same_route(const struct route *a, const struct route *b)
{
    if (!a->count || a->count != b->count || !str_eq(a->method, b->method))
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!str_eq(a->segments[i], b->segments[i]) &&
            !(is_capture(a->segments[i]) && is_capture(b->segments[i])))
            return false;
    return true;
}

static err entry_add(struct arena *a, struct op_table *t, const struct op *op)
{
    struct entry *e = &t->entries[t->count++];

    TRY(entry_make(a, t, op, e));
    if (map_put(&t->by_name, str_from(op->name), e))
        return broken(a, op, "the name is there twice", op->name);
    for (size_t i = 0; i + 1 < t->count; i++)
        if (same_route(&t->entries[i].route, &e->route))
            return broken(a, op, "another operation has its route", t->entries[i].op->name);
    return NULL;
}

err op_table_new(struct arena *a, const struct op_list *lists, size_t count, struct op_table **out)
{
    struct arena *arena = arena_new();
    struct op_table *t = ARENA_NEW(arena, struct op_table);
    size_t total = 0;
    err e = NULL;

    for (size_t i = 0; i < count; i++)
        total += lists[i].count;
    t->arena = arena;
    t->entries = arena_zero(arena, total * sizeof *t->entries);
    t->by_name = map_in(arena);
    for (size_t i = 0; i < count && !e; i++)
        for (size_t k = 0; k < lists[i].count && !e; k++)
            e = entry_add(a, t, &lists[i].ops[k]);
    if (e)
        op_table_free(t);
    else
        *out = t;
    return e;
}

void op_table_free(struct op_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        schema_free(t->entries[i].input);
        schema_free(t->entries[i].output);
    }
    arena_free(t->arena);
}

/* ---- looking up ---- */

size_t op_count(const struct op_table *t)
{
    return t->count;
}

const struct op *op_at(const struct op_table *t, size_t i)
{
    assert(i < t->count);
    return t->entries[i].op;
}

const struct op *op_find(const struct op_table *t, str name)
{
    const struct entry *e = map_get(&t->by_name, name);
    return e ? e->op : NULL;
}

static const struct entry *entry_of(const struct op_table *t, const struct op *op)
{
    const struct entry *e = map_get(&t->by_name, str_from(op->name));
    assert(e);
    return e;
}

struct schema *op_input_schema(const struct op_table *t, const struct op *op)
{
    return entry_of(t, op)->input;
}

struct schema *op_output_schema(const struct op_table *t, const struct op *op)
{
    return entry_of(t, op)->output;
}

const struct json *op_fields(const struct op_table *t, const struct op *op)
{
    return json_get(entry_of(t, op)->input_text, "properties");
}

const struct json *op_field(const struct op_table *t, const struct op *op, str name)
{
    return field_of(entry_of(t, op), name);
}

/* Whether a path is of a route; what it captures goes to `out`. */
static bool route_fits(const struct route *r, const str *segments, size_t count,
                       struct op_match *out)
{
    size_t captures = 0;

    if (r->count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (is_capture(r->segments[i]) && segments[i].len > 0)
            out->captures[captures++] =
                (struct op_capture){ capture_field(r->segments[i]), segments[i] };
        else if (!str_eq(r->segments[i], segments[i]))
            return false;
    }
    out->capture_count = captures;
    return true;
}

void op_route(const struct op_table *t, str method, str path, struct op_match *out)
{
    str segments[SEGMENTS_MAX];
    size_t count;

    *out = (struct op_match){ .op = NULL };
    if (!path_split(path, segments, &count))
        return;
    segments[0] = alias_of(segments[0]);
    for (size_t i = 0; i < t->count; i++) {
        const struct entry *e = &t->entries[i];
        if (!(e->op->on & ON_HTTP) || !route_fits(&e->route, segments, count, out))
            continue;
        if (str_eq(e->route.method, method)) {
            out->op = e->op;
            return;
        }
        if (out->allowed_count < sizeof out->allowed / sizeof *out->allowed)
            out->allowed[out->allowed_count++] = e->route.method;
    }
    out->capture_count = 0;
}

/* ---- fields ---- */

bool input_declares(const struct input *in, const char *field)
{
    return json_get(in->fields, field);
}

/* Checked in sanitized builds alone: all tests run there, and a server goes on without it. */
static const struct json *asked(const struct input *in, const char *field)
{
    assert(!ARENA_CHECKED || input_declares(in, field));
    return in->json;
}

const struct json *input_json(const struct input *in, const char *field)
{
    return json_get(asked(in, field), field);
}

str input_str(const struct input *in, const char *field)
{
    return json_str(asked(in, field), field);
}

int64_t input_int(const struct input *in, const char *field, int64_t otherwise)
{
    return json_int_or(asked(in, field), field, otherwise);
}

bool input_bool(const struct input *in, const char *field, bool otherwise)
{
    return json_bool_or(asked(in, field), field, otherwise);
}
