/* op_args.c: the fields of an operation's input as arguments and options. */
#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "cli/op_verbs.h"

/* ---- what there is ---- */

static const struct {
    const char *type;
    enum op_arg_kind kind;
} kinds[] = {
    { "string", OP_ARG_TEXT },
    { "integer", OP_ARG_INTEGER },
    { "number", OP_ARG_NUMBER },
    { "boolean", OP_ARG_FLAG },
};

/* What is of more than one type, or of none that is said, is JSON; but a text that may be null is a
 * text, of which the empty one stands for null. An enum is of texts. */
static enum op_arg_kind kind_of(const struct json *schema)
{
    const struct json *type = json_get(schema, "type"),
                      *first = json_at(json_get(schema, "enum"), 0);

    if (json_is(type, JSON_ARRAY) && type->len == 2 &&
        str_eq(json_text(&type->items[0]), STR("string")) &&
        str_eq(json_text(&type->items[1]), STR("null")))
        return OP_ARG_TEXT;
    /* A number as text names the same thing. */
    if (json_is(type, JSON_ARRAY) && type->len == 2 &&
        str_eq(json_text(&type->items[0]), STR("integer")) &&
        str_eq(json_text(&type->items[1]), STR("string")))
        return OP_ARG_TEXT;

    for (size_t i = 0; json_is(type, JSON_STRING) && i < sizeof kinds / sizeof *kinds; i++)
        if (str_eq(json_text(type), str_from(kinds[i].type)))
            return kinds[i].kind;
    return !type && json_is(first, JSON_STRING) ? OP_ARG_TEXT : OP_ARG_JSON;
}

static const char *upper(struct arena *a, str name)
{
    str copy = arena_copy(a, name);

    for (char *at = (char *)copy.at; *at; at++)
        if (*at >= 'a' && *at <= 'z')
            *at = (char)(*at - 'a' + 'A');
    return copy.at;
}

static const char *dashed(struct arena *a, const char *start, str name)
{
    str copy = arena_printf(a, "%s" STR_FMT, start, STR_ARG(name));

    for (char *at = (char *)copy.at; *at; at++)
        if (*at == '_')
            *at = '-';
    return copy.at;
}

bool op_captures(const struct op *op, str name)
{
    str rest = str_from(op->http), before, capture;

    while (str_cut(rest, '{', &before, &rest))
        if (str_cut(rest, '}', &capture, &rest) && str_eq(capture, name))
            return true;
    return false;
}

/* What people write behind the others, though it may be left out. */
static const struct {
    const char *op, *field;
} lasts[] = {
    { "state.diff", "to" },
    { "job.complete", "outputs" },
    { "incident.resolve", "variables" },
    { "phase.show", "workflow_id" },
};

static const struct op_arg *last_of(const struct op *op, const struct op_args *args)
{
    for (size_t i = 0; i < sizeof lasts / sizeof *lasts; i++)
        for (size_t n = args->required_count; n < args->count; n++)
            if (strcmp(lasts[i].op, op->name) == 0 && strcmp(lasts[i].field, args->at[n].name) == 0)
                return &args->at[n];
    return NULL;
}

// clang-format off
static const struct op_alone alones[] = {
    { "state.create",   "--quiet", 'q', { "state_id" },   "print its id alone" },
    { "session.create", "--quiet", 'q', { "session_id" }, "print its id alone" },
    { "run.create",     "--quiet", 'q', { "run_id" },     "print its id alone" },
    { "token.create",   "--quiet", 'q', { "token" },      "print the secret alone" },
    { "state.read",     "--raw",   'r', { "value", "matches", "patch", "current_data" },
      "print the value alone, a text without quotes" },
};
// clang-format on

const struct op_alone *op_alone(const struct op *op)
{
    for (size_t i = 0; i < sizeof alones / sizeof *alones; i++)
        if (strcmp(alones[i].op, op->name) == 0)
            return &alones[i];
    return NULL;
}

/* Arguments that hold whole documents and those of the path have no option: they always stand in
 * their places. */
static void arg_add(struct arena *a, const struct op *op, const struct json *properties, str name,
                    bool required, struct op_args *out)
{
    for (size_t i = 0; i < out->count; i++)
        if (str_eq(str_from(out->at[i].name), name))
            return;

    struct op_arg *arg = &out->at[out->count++];
    *arg = (struct op_arg){ .name = arena_copy(a, name).at,
                            .placeholder = upper(a, name),
                            .required = required,
                            .schema = json_find(properties, name) };
    arg->kind = kind_of(arg->schema);
    if (!required || (arg->kind != OP_ARG_JSON && !op_captures(op, name)))
        arg->option = dashed(a, "--", name);
    if (!required && arg->kind == OP_ARG_FLAG)
        arg->option_not = dashed(a, "--no-", name);
}

void op_args_make(struct arena *a, const struct op *op, struct op_args *out)
{
    const struct json *input, *properties, *required;
    str rest = str_from(op->http), before, name;

    err e = json_parse(a, str_from(op->input), NULL, &input);
    assert(!e); /* the table was checked */
    properties = json_get(input, "properties");
    required = json_get(input, "required");
    size_t room = json_is(properties, JSON_OBJECT) ? properties->len : 0;
    *out = (struct op_args){ .at = ARENA_ARRAY(a, struct op_arg, room) };

    while (str_cut(rest, '{', &before, &rest) && str_cut(rest, '}', &name, &rest))
        arg_add(a, op, properties, name, true, out);
    for (uint32_t i = 0; json_is(required, JSON_ARRAY) && i < required->len; i++)
        arg_add(a, op, properties, json_text(&required->items[i]), true, out);
    out->required_count = out->count;
    for (uint32_t i = 0; i < room; i++)
        arg_add(a, op, properties, json_name(&properties->members[i]), false, out);
    out->body = op->bodies[0].field ? upper(a, str_slice(str_from(strchr(op->name, '.')), 1, 99))
                                    : NULL;
    out->last = last_of(op, out);
}

/* ---- what each takes ---- */

static void help_enum(struct buf *out, const struct json *values)
{
    buf_add(out, STR("one of "));
    for (uint32_t i = 0; i < values->len; i++) {
        buf_add(out, i ? STR(", ") : STR(""));
        if (json_is(&values->items[i], JSON_STRING))
            buf_add(out, json_text(&values->items[i]));
        else
            json_print(out, &values->items[i]);
    }
}

static void help_bound(struct buf *out, const struct json *schema, const char *keyword,
                       const char *before, const char *after)
{
    const struct json *bound = json_get(schema, keyword);

    if (bound && json_is_number(bound))
        buf_printf(out, "%s%s " STR_FMT "%s", out->len ? ", " : "", before,
                   STR_ARG(json_text(bound)), after);
}

/* What the schema says of its values; `known`: of what kind they are was said already. */
static str help_values(struct arena *a, const struct op_arg *arg, bool known)
{
    static const char *const words[] = {
        [OP_ARG_TEXT] = "text",
        [OP_ARG_INTEGER] = "an integer",
        [OP_ARG_NUMBER] = "a number",
        [OP_ARG_FLAG] = "yes or no",
        [OP_ARG_JSON] = "JSON, a file with it, or - for standard input",
    };
    const struct json *values = json_get(arg->schema, "enum");
    struct buf out = buf_in(a);

    if (json_is(values, JSON_ARRAY)) {
        help_enum(&out, values);
        return buf_str(&out);
    }
    if (!known || arg->kind == OP_ARG_JSON)
        buf_add(&out, str_from(words[arg->kind]));
    help_bound(&out, arg->schema, "minimum", "at least", "");
    help_bound(&out, arg->schema, "maximum", "at most", "");
    help_bound(&out, arg->schema, "maxLength", "at most", " characters");
    return buf_str(&out);
}

/* A sentence as a part of another: no full stop, and no capital but in words like JSON. */
static void put_sentence(struct buf *out, str s)
{
    if (str_ends(s, STR(".")))
        s = str_slice(s, 0, s.len - 1);
    bool lower = s.len > 1 && s.at[0] >= 'A' && s.at[0] <= 'Z' &&
                 !(s.at[1] >= 'A' && s.at[1] <= 'Z');
    if (lower) {
        buf_byte(out, (char)(s.at[0] - 'A' + 'a'));
        s = str_slice(s, 1, s.len);
    }
    buf_add(out, s);
}

str op_arg_help(struct arena *a, const struct op_arg *arg)
{
    str description = json_str(arg->schema, "description");
    str values = help_values(a, arg, description.len > 0);
    struct buf out = buf_in(a);

    if (!description.len)
        return values;
    put_sentence(&out, description);
    if (values.len)
        buf_printf(&out, " (" STR_FMT ")", STR_ARG(values));
    return buf_str(&out);
}

/* ---- reading ---- */

static err expects(struct cli *c, const char *what, const char *expected, const char *found)
{
    return usage_error(c, arena_printf(c->arena, "%s expects %s, but found '%s'.", what, expected,
                                       found));
}

/* What looks like JSON must be; anything else names a file. "@" lets a file have any name. */
static err json_read(struct cli *c, const char *what, const char *expected, const char *word,
                     const struct json **out)
{
    static const struct json_limits limits = { .bytes_max = JSON_BYTES_CEILING };
    bool is_file = word[0] == '@' || strcmp(word, "-") == 0;
    err e = is_file ? NULL : json_parse(c->arena, str_from(word), &limits, out);

    if (!is_file && !e)
        return NULL;
    if (!is_file && (word[0] == '\0' || strchr("{[\"", word[0])))
        return err_within(c->arena, e, "%s", what);
    e = json_load(c, c->arena, word + (word[0] == '@'), out);
    if (!e || e->kind != ERR_NOT_FOUND)
        return e;
    if (word[0] == '@' || strpbrk(word, "./")) /* nobody writes JSON so */
        return err_within(c->arena, e, "%s", what);
    return expects(c, what, expected, word);
}

static err number_read(struct cli *c, const char *what, const char *word, bool whole,
                       const struct json **out)
{
    err e = json_parse(c->arena, str_from(word), NULL, out);

    if (e || (whole ? !json_is(*out, JSON_INTEGER) : !json_is_number(*out)))
        return expects(c, what, whole ? "an integer" : "a number", word);
    return NULL;
}

static err value_read(struct cli *c, const struct op_arg *arg, const char *what, const char *word,
                      const struct json **out)
{
    struct json *made = ARENA_NEW(c->arena, struct json);

    switch (arg->kind) {
    case OP_ARG_JSON:
        return json_read(c, what,
                         str_eq(json_str(arg->schema, "type"), STR("array"))
                             ? "an array like '[\"one\"]', the name of a file with it, or -"
                             : "JSON, the name of a file with it, or -",
                         word, out);
    case OP_ARG_INTEGER:
    case OP_ARG_NUMBER: return number_read(c, what, word, arg->kind == OP_ARG_INTEGER, out);
    case OP_ARG_TEXT:
        if (!utf8_valid(str_from(word)))
            return expects(c, what, "UTF-8", word);
        *made = json_string(str_from(word));
        break;
    case OP_ARG_FLAG:
        if (strcmp(word, "true") != 0 && strcmp(word, "false") != 0)
            return expects(c, what, "true or false", word);
        *made = json_bool(word[0] == 't');
        break;
    }
    *out = made;
    return NULL;
}

/* What options say; a value that none gives stays NULL. */
static err options_read(struct cli *c, const struct op_args *args, const struct json **values)
{
    for (size_t i = 0; i < args->count; i++) {
        const struct op_arg *arg = &args->at[i];
        if (!arg->option)
            continue;
        bool flag = arg->option_not != NULL;
        const char *word = flag ? NULL : cli_value(c, arg->option);
        if (flag && cli_flag(c, arg->option_not))
            word = "false";
        else if (flag && cli_flag(c, arg->option))
            word = "true";
        if (word)
            TRY(value_read(c, arg, arg->option, word, &values[i]));
    }
    return NULL;
}

/* Which field a body means that has no media type to say so: the first that can hold it. */
static err body_read(struct cli *c, const struct op_args *args, const char *word,
                     const struct json **values)
{
    const struct op_body *bodies = c->verb->op->bodies;
    const struct json *body;

    TRY(json_read(c, args->body, "JSON, the name of a file with it, or -", word, &body));
    for (int b = 0; b < OP_BODIES_MAX && bodies[b].field; b++) {
        for (size_t i = 0; i < args->count; i++) {
            str type = json_str(args->at[i].schema, "type");
            if (strcmp(args->at[i].name, bodies[b].field) != 0 ||
                (type.len && !str_eq(type, str_from(json_kind_name(body->kind)))))
                continue;
            values[i] = body;
            return NULL;
        }
    }
    return expects(c, args->body, "a body that the operation takes", word);
}

static err count_error(struct cli *c)
{
    if (!c->verb->args)
        return usage_error(c,
                           arena_printf(c->arena, "no arguments were expected, but '%s' was found.",
                                        c->args[0]));
    return usage_error(c, arena_printf(c->arena, "expected %s, but found %d argument%s.",
                                       c->verb->args, c->arg_count, c->arg_count == 1 ? "" : "s"));
}

/* Whether a field of the body is given by an option. */
static bool has_body(const struct op *op, const struct op_args *args, const struct json **values)
{
    for (int b = 0; b < OP_BODIES_MAX && op->bodies[b].field; b++)
        for (size_t i = 0; i < args->count; i++)
            if (values[i] && strcmp(args->at[i].name, op->bodies[b].field) == 0)
                return true;
    return false;
}

/* Inside a run, the state that is meant when there are not enough arguments to name one. */
static void implied_read(struct cli *c, const struct op_args *args, const struct json **values)
{
    const struct op *op = c->verb->op;
    const char *state = getenv("WORKFLOW_STATE_ID");
    size_t wanted = args->body && !has_body(op, args, values) ? 1 : 0;

    for (size_t i = 0; i < args->required_count; i++)
        wanted += !values[i];
    if (!op->implied || strcmp(op->implied, "state_id") != 0 || !state || !*state ||
        (size_t)c->arg_count >= wanted || !utf8_valid(str_from(state)))
        return;
    for (size_t i = 0; i < args->required_count; i++) {
        if (strcmp(args->at[i].name, op->implied) != 0)
            continue;
        struct json *made = ARENA_NEW(c->arena, struct json);
        *made = json_string(str_from(state));
        values[i] = made;
    }
}

err op_args_read(struct cli *c, const struct op_args *args, const struct json **out)
{
    const struct json **values = arena_zero(c->arena, (args->count + 1) * sizeof(*values));
    struct json *input = ARENA_NEW(c->arena, struct json);
    int next = 0;

    TRY(options_read(c, args, values));
    implied_read(c, args, values);
    for (size_t i = 0; i < args->required_count; i++) {
        if (values[i])
            continue;
        if (next == c->arg_count)
            return count_error(c);
        if (op_captures(c->verb->op, str_from(args->at[i].name)) && strchr("{[", c->args[next][0]))
            return expects(c, args->at[i].placeholder, "an id or a name", c->args[next]);
        TRY(value_read(c, &args->at[i], args->at[i].placeholder, c->args[next++], &values[i]));
    }
    if (next < c->arg_count && args->body)
        TRY(body_read(c, args, c->args[next++], values));
    if (next < c->arg_count && args->last && !values[args->last - args->at]) {
        TRY(value_read(c, args->last, args->last->placeholder, c->args[next],
                       &values[args->last - args->at]));
        next++;
    }
    if (next < c->arg_count)
        return count_error(c);

    *input = json_object();
    for (size_t i = 0; i < args->count; i++)
        if (values[i])
            json_put(c->arena, input, str_from(args->at[i].name), *values[i]);
    *out = input;
    return NULL;
}
