/* projection.c: choosing members of an answer, in its printed form.
 *
 * The text is our own, so it is valid: anything else is our mistake. */
#include "mcp/projection.h"

#include <assert.h>

/* ---- reading ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static void skip_spaces(str *s)
{
    while (s->len && is_space(*s->at))
        *s = str_slice(*s, 1, s->len);
}

/* Whether the next byte is that one; then it is taken. */
static bool take(str *s, char c)
{
    skip_spaces(s);
    if (!s->len || *s->at != c)
        return false;
    *s = str_slice(*s, 1, s->len);
    return true;
}

/* Where the string ends that begins at i, with its quote: one that an even number of backslashes
 * stands before. */
static size_t string_end(str s, size_t i)
{
    for (;;) {
        const char *quote = memchr(s.at + i + 1, '"', s.len - i - 1);
        size_t escapes = 0;

        assert(quote);
        i = (size_t)(quote - s.at);
        while (quote[-1 - (ptrdiff_t)escapes] == '\\')
            escapes++;
        if (escapes % 2 == 0)
            return i + 1;
    }
}

static size_t container_end(str s)
{
    size_t i = 0, depth = 0;

    do {
        char c = s.at[i];
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        i = c == '"' ? string_end(s, i) : i + 1;
    } while (depth && i < s.len);
    assert(depth == 0);
    return i;
}

static size_t word_end(str s)
{
    size_t i = 0;

    while (i < s.len && !is_space(s.at[i]) && !strchr(",]}", s.at[i]))
        i++;
    return i;
}

/* One value off the front. */
static str take_value(str *s)
{
    skip_spaces(s);
    assert(s->len);
    size_t end = *s->at == '"'                    ? string_end(*s, 0)
                 : *s->at == '{' || *s->at == '[' ? container_end(*s)
                                                  : word_end(*s);
    str value = str_slice(*s, 0, end);

    *s = str_slice(*s, end, s->len);
    return value;
}

/* The next member of an object whose brace was taken; false: it has no more. The names that are
 * chosen by need no escapes, so a name is compared as it stands. */
static bool take_member(str *s, str *name, str *value)
{
    take(s, ',');
    if (take(s, '}'))
        return false;
    str quoted = take_value(s);
    bool named = take(s, ':');

    assert(named);
    (void)named;
    *name = str_slice(quoted, 1, quoted.len - 1);
    *value = take_value(s);
    return true;
}

str projection_find(str printed, str name)
{
    str found, value;

    if (!take(&printed, '{'))
        return STR("");
    while (take_member(&printed, &found, &value))
        if (str_eq(found, name))
            return value;
    return STR("");
}

/* ---- writing ---- */

static const struct projection *told(const struct projection *tells, size_t count, str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(tells[i].name, name))
            return &tells[i];
    return NULL;
}

static void write_chosen(struct buf *out, str value, const struct projection *t)
{
    bool first = true;

    if (!t->members) {
        buf_add(out, value);
    } else if (take(&value, '[')) {
        buf_byte(out, '[');
        while (!take(&value, ']')) {
            if (!first)
                buf_byte(out, ',');
            first = false;
            projection_write(out, take_value(&value), t->members, t->count);
            take(&value, ',');
        }
        buf_byte(out, ']');
    } else {
        projection_write(out, value, t->members, t->count);
    }
}

void projection_write(struct buf *out, str printed, const struct projection *tells, size_t count)
{
    bool opened = take(&printed, '{'), first = true;
    str name, value;

    assert(opened);
    (void)opened;
    buf_byte(out, '{');
    while (take_member(&printed, &name, &value)) {
        const struct projection *t = told(tells, count, name);
        if (!t || (t->nullable && str_eq(value, STR("null"))))
            continue;
        if (!first)
            buf_byte(out, ',');
        first = false;
        json_print_string(out, name);
        buf_byte(out, ':');
        write_chosen(out, value, t);
    }
    buf_byte(out, '}');
}

/* ---- making ---- */

static bool has_null(const struct json *list, enum json_kind kind)
{
    for (uint32_t i = 0; json_is(list, JSON_ARRAY) && i < list->len; i++)
        if (list->items[i].kind == kind &&
            (kind == JSON_NULL || str_eq(json_text(&list->items[i]), STR("null"))))
            return true;
    return false;
}

static bool is_nullable(const struct json *schema)
{
    return has_null(json_get(schema, "type"), JSON_STRING) ||
           has_null(json_get(schema, "enum"), JSON_NULL);
}

size_t projection_make(struct arena *a, const struct json *names, const struct json *schema,
                       const struct projection **out)
{
    struct projection *tells = ARENA_ARRAY(a, struct projection, names->len);

    for (uint32_t i = 0; i < names->len; i++) {
        const struct json *below = &names->members[i].value;
        str name = json_name(&names->members[i]);
        const struct json *member = json_find(json_get(schema, "properties"), name);
        const struct json *items = json_get(member, "items");
        tells[i] = (struct projection){ .name = name, .nullable = is_nullable(member) };
        if (below->kind == JSON_OBJECT)
            tells[i].count = projection_make(a, below, items ? items : member, &tells[i].members);
    }
    *out = tells;
    return names->len;
}
