/* describe.c: an operation, taken apart for those who write about it. */
#include "ops/describe.h"

#include <assert.h>

static const struct json *parsed(struct arena *a, const char *text)
{
    const struct json *json;
    err e = json_parse(a, str_from(text), NULL, &json);

    assert(!e); /* the table has checked it */
    return json;
}

struct described op_described(struct arena *a, const struct op *op)
{
    struct described d = { .op = op,
                           .input = parsed(a, op->input),
                           .output = parsed(a, op->output) };
    const struct json *shown = json_get(d.output, "properties");

    str_cut(str_from(op->name), '.', &d.noun, &d.verb);
    str_cut(str_from(op->http), ' ', &d.method, &d.path);
    d.in_query = str_eq(d.method, STR("GET")) || str_eq(d.method, STR("DELETE"));
    d.answers_nothing = json_is(shown, JSON_OBJECT) && shown->len == 0;
    return d;
}

bool field_in_path(const struct described *d, str name)
{
    str rest = d->path, segment;

    for (bool more = d->path.len > 0; more;) {
        more = str_cut(rest, '/', &segment, &rest);
        if (segment.len == name.len + 2 && segment.at[0] == '{' &&
            str_eq(str_slice(segment, 1, segment.len - 1), name))
            return true;
    }
    return false;
}

bool field_required(const struct described *d, str name)
{
    const struct json *required = json_get(d->input, "required");

    for (uint32_t i = 0; json_is(required, JSON_ARRAY) && i < required->len; i++)
        if (str_eq(json_text(&required->items[i]), name))
            return true;
    return false;
}
