/* build.c: making values by hand, and writing JSON text without a tree. */
#include <assert.h>

#include "json/json.h"
#include "json/member.h"

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = { "null",   "boolean", "integer", "number",
                                         "string", "array",   "object" };
    return names[kind];
}

/* ---- reading members ---- */

const struct json *json_find(const struct json *j, str name)
{
    if (!json_is(j, JSON_OBJECT))
        return NULL;
    for (uint32_t i = 0; i < j->len; i++)
        if (str_eq(json_name(&j->members[i]), name))
            return &j->members[i].value;
    return NULL;
}

str json_str(const struct json *j, const char *name)
{
    const struct json *value = json_get(j, name);
    return json_is(value, JSON_STRING) ? json_text(value) : STR("");
}

int64_t json_int_or(const struct json *j, const char *name, int64_t otherwise)
{
    const struct json *value = json_get(j, name);
    int64_t n;
    return json_is_number(value) && json_to_int(value, &n) ? n : otherwise;
}

bool json_bool_or(const struct json *j, const char *name, bool otherwise)
{
    const struct json *value = json_get(j, name);
    return json_is(value, JSON_BOOL) ? value->len != 0 : otherwise;
}

/* ---- values ---- */

struct json json_null(void)
{
    return (struct json){ .kind = JSON_NULL };
}

struct json json_bool(bool b)
{
    return (struct json){ .kind = JSON_BOOL, .len = b };
}

struct json json_int(struct arena *a, int64_t n)
{
    str digits = str_of_int(arena_alloc(a, INT_ROOM), n);

    return (struct json){ .kind = JSON_INTEGER, .len = (uint32_t)digits.len, .text = digits.at };
}

struct json json_string(str s)
{
    assert(s.len <= JSON_BYTES_CEILING);
    /* A text that was never set has no bytes to point at. */
    return (struct json){ .kind = JSON_STRING, .len = (uint32_t)s.len, .text = s.at ? s.at : "" };
}

struct json json_array(void)
{
    return (struct json){ .kind = JSON_ARRAY };
}

struct json json_object(void)
{
    return (struct json){ .kind = JSON_OBJECT };
}

/* Space for one more of `size` bytes in a container's vector. */
static void *vector_widen(struct arena *a, struct json *container, void *vector, size_t size)
{
    uint32_t room = container->room ? 1u << container->room : container->len;

    if (container->len < room)
        return vector;
    assert(container->len < JSON_BYTES_CEILING);
    while ((1u << container->room) <= container->len || container->room < 2)
        container->room++;
    assert(container->len < 1u << container->room);
    return arena_grow(a, vector, container->len * size, size << container->room);
}

struct json *json_push(struct arena *a, struct json *array, struct json value)
{
    assert(array->kind == JSON_ARRAY);
    array->items = vector_widen(a, array, array->items, sizeof *array->items);
    array->items[array->len] = value;
    return &array->items[array->len++];
}

struct json *json_put(struct arena *a, struct json *object, str name, struct json value)
{
    assert(object->kind == JSON_OBJECT && name.len <= JSON_BYTES_CEILING);
    object->members = vector_widen(a, object, object->members, sizeof *object->members);
    struct json_member *m = &object->members[object->len++];
    member_name(m, name);
    m->value = value;
    return &m->value;
}

struct json json_copy(struct arena *a, const struct json *j)
{
    struct json copy = *j;

    copy.room = 0;
    switch (j->kind) {
    case JSON_INTEGER:
    case JSON_REAL:
    case JSON_STRING: copy.text = arena_copy(a, json_text(j)).at; break;
    case JSON_ARRAY:
        copy.items = ARENA_ARRAY(a, struct json, j->len);
        for (uint32_t i = 0; i < j->len; i++)
            copy.items[i] = json_copy(a, &j->items[i]);
        break;
    case JSON_OBJECT:
        copy.members = ARENA_ARRAY(a, struct json_member, j->len);
        for (uint32_t i = 0; i < j->len; i++) {
            struct json_member *m = &copy.members[i];
            *m = j->members[i];
            m->name = arena_copy(a, json_name(m)).at;
            m->value = json_copy(a, &j->members[i].value);
        }
        break;
    default: break;
    }
    return copy;
}

/* ---- the writer ---- */

/* What stands before a value: a comma, unless it is the first here or has just been named. */
static void separate(struct json_writer *w)
{
    uint64_t bit = 1ull << w->depth;

    if (w->named)
        w->named = false;
    else if (w->started & bit)
        buf_byte(w->out, ',');
    w->started |= bit;
}

void json_write_begin(struct json_writer *w, char bracket)
{
    assert(bracket == '{' || bracket == '[');
    assert(w->depth < 63);
    separate(w);
    buf_byte(w->out, bracket);
    w->depth++;
    w->started &= ~(1ull << w->depth);
}

void json_write_end(struct json_writer *w, char bracket)
{
    assert(bracket == '}' || bracket == ']');
    assert(w->depth > 0 && !w->named);
    w->depth--;
    buf_byte(w->out, bracket);
}

void json_write_name(struct json_writer *w, str name)
{
    assert(w->depth > 0 && !w->named);
    separate(w);
    json_print_string(w->out, name);
    buf_byte(w->out, ':');
    w->named = true;
}

void json_write_str(struct json_writer *w, str value)
{
    separate(w);
    json_print_string(w->out, value);
}

void json_write_int(struct json_writer *w, int64_t value)
{
    separate(w);
    buf_int(w->out, value);
}

void json_write_bool(struct json_writer *w, bool value)
{
    separate(w);
    buf_add(w->out, value ? STR("true") : STR("false"));
}

void json_write_null(struct json_writer *w)
{
    separate(w);
    buf_add(w->out, STR("null"));
}

void json_write_value(struct json_writer *w, const struct json *value)
{
    separate(w);
    json_print(w->out, value);
}

void json_write_printed(struct json_writer *w, str json)
{
    separate(w);
    buf_add(w->out, json);
}
