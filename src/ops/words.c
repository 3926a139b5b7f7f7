/* words.c: other words that callers use for a field of an operation's input.
 *
 * A session is named in one place by its id, in another by its name, and both are taken wherever a
 * session is; who has learned one word from one operation uses it with the next. A word that is a
 * field of the operation itself means that. */
#include "ops/op.h"

enum { MEANINGS_MAX = 3 };

// clang-format off
/* A word, and the fields that it may mean, the likeliest first. */
static const struct {
    const char *word, *fields[MEANINGS_MAX];
} words[] = {
    { "name",                { "session_name", "session_id", "session" } },
    { "session_name",        { "session_id", "session" } },
    { "session_id",          { "session_name", "session" } },
    { "session",             { "session_id", "session_name" } },
    { "parent_session_name", { "parent" } },
    { "parent_session_id",   { "parent_session_name", "parent" } },
    { "parent",              { "parent_session_name" } },
};
// clang-format on

str op_field_meant(const struct op_table *t, const struct op *op, str word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!str_eq(word, str_from(words[i].word)) || op_field(t, op, word))
            continue;
        for (size_t k = 0; k < MEANINGS_MAX && words[i].fields[k]; k++)
            if (op_field(t, op, str_from(words[i].fields[k])))
                return str_from(words[i].fields[k]);
    }
    return word;
}

static bool is_as_meant(const struct op_table *t, const struct op *op, const struct json *input)
{
    for (uint32_t i = 0; i < input->len; i++) {
        str word = json_name(&input->members[i]);
        if (!str_eq(op_field_meant(t, op, word), word))
            return false;
    }
    return true;
}

/* One more member, by the field that its word means. */
static err meant_add(struct arena *a, const struct op *op, struct json *meant, str field,
                     const struct json_member *given)
{
    const struct json *there = json_find(meant, field);

    if (there && !json_equal(there, &given->value))
        return err_new(a, ERR_INVALID,
                       "%s: \"" STR_FMT "\" and \"" STR_FMT
                       "\" are the same here: give one of them",
                       op->name, STR_ARG(field), STR_ARG(json_name(given)));
    if (!there)
        json_put(a, meant, field, given->value);
    return NULL;
}

err op_input_meant(struct arena *a, const struct op_table *t, const struct op *op,
                   const struct json **input)
{
    const struct json *given = *input;

    if (!json_is(given, JSON_OBJECT) || is_as_meant(t, op, given))
        return NULL;
    struct json *meant = ARENA_NEW(a, struct json);
    *meant = json_object();
    for (uint32_t i = 0; i < given->len; i++) {
        const struct json_member *m = &given->members[i];
        if (str_eq(op_field_meant(t, op, json_name(m)), json_name(m)))
            json_put(a, meant, json_name(m), m->value);
    }
    /* Only these are looked for among the others: there are few such words, and may be many others. */
    for (uint32_t i = 0; i < given->len; i++) {
        str word = json_name(&given->members[i]), field = op_field_meant(t, op, word);
        if (!str_eq(field, word))
            TRY(meant_add(a, op, meant, field, &given->members[i]));
    }
    *input = meant;
    return NULL;
}
