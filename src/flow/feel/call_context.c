/* call_context.c: the functions on contexts. */
#include "base/hash.h"
#include "flow/feel/private.h"

static struct feel_value call_get(struct feel_run *run, const struct feel_value *args,
                                  uint32_t count)
{
    str name = feel_string_of(args[1]);
    struct feel_value v;

    (void)count;
    if (!feel_field(run, args[0], name, hash_key(name.at, name.len), &v))
        return feel_null_name(run, "there is no entry '\3' in the context", name, args[0]);
    return v;
}

static struct feel_field *fields(struct feel_run *run, uint64_t count)
{
    return feel_spend(run, count) ? ARENA_ARRAY(run->arena, struct feel_field, count) : NULL;
}

static struct feel_value call_entries(struct feel_run *run, const struct feel_value *args,
                                      uint32_t count)
{
    struct feel_value *items = feel_values(run, args[0].len);
    struct feel_field *both = fields(run, 2 * (uint64_t)args[0].len);

    (void)count;
    if (!items || !both)
        return args[0];
    for (uint32_t i = 0; i < args[0].len; i++) {
        struct feel_field field = feel_field_at(args[0], i);
        both[2 * i] = (struct feel_field){ STR("key"), feel_string(field.name) };
        both[2 * i + 1] = (struct feel_field){ STR("value"), field.value };
        items[i] = feel_context(&both[2 * i], 2);
    }
    return feel_list(items, args[0].len);
}

/* What is there, with one more; it takes the place of one of its name. */
static uint32_t put(struct feel_run *run, struct feel_field *all, uint32_t count,
                    struct feel_field field)
{
    uint32_t i = 0;

    if (!feel_spend(run, 1 + count / 8))
        return count;
    while (i < count && !str_eq(all[i].name, field.name))
        i++;
    all[i] = field;
    return i == count ? count + 1 : count;
}

static struct feel_value merged(struct feel_run *run, struct feel_value list)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < list.len; i++) {
        struct feel_value part = feel_item(list, i);
        if (part.kind == FEEL_NULL && part.reason)
            return part;
        if (part.kind != FEEL_CONTEXT)
            return feel_null_of(run, "expected a list of contexts, found \1 in it", part, part);
        most += part.len;
    }
    struct feel_field *all = fields(run, most);
    uint32_t count = 0;
    for (uint32_t i = 0; all && i < list.len; i++) {
        struct feel_value part = feel_item(list, i);
        for (uint32_t f = 0; f < part.len && !run->over; f++)
            count = put(run, all, count, feel_field_at(part, f));
    }
    return feel_context(all, count);
}

static struct feel_value call_merge(struct feel_run *run, const struct feel_value *args,
                                    uint32_t count)
{
    return merged(run, count == 1 && args[0].kind == FEEL_LIST ? args[0] : feel_list(args, count));
}

static struct feel_value call_put(struct feel_run *run, const struct feel_value *args,
                                  uint32_t count)
{
    struct feel_field field = { feel_string_of(args[1]), args[2] };
    struct feel_value both[] = { args[0], feel_context(&field, 1) };

    (void)count;
    return merged(run, feel_list(both, 2));
}

// clang-format off
const struct feel_function feel_calls_context[] = {
    { "get value",     2, 2,         "cs",  call_get,     "get value(context, key)", false },
    { "get entries",   1, 1,         "c",   call_entries, "get entries(context)", false },
    { "context put",   3, 3,         "cs?", call_put,     "context put(context, key, value)", false },
    { "context merge", 1, FEEL_MANY, "?",   call_merge,   "context merge(list)", false },
    { 0 },
};
// clang-format on
