/* call.c: the built-in functions as a whole: finding one by its name, and its arguments.
 *
 * Each file call_*.c has a table of its own. The kinds of arguments are checked here, so that a
 * function sees only what it takes; one that gets null where it takes a value is null for that reason. */
#include "flow/feel/private.h"

#include <assert.h>

const struct feel_function *const feel_calls[FEEL_CALLS] = {
    feel_calls_basic,  feel_calls_text,    feel_calls_list,
    feel_calls_number, feel_calls_context, feel_calls_time,
};

const struct feel_function *feel_function_find(str name)
{
    for (size_t t = 0; t < FEEL_CALLS; t++)
        for (const struct feel_function *f = feel_calls[t]; f->name; f++)
            if (f->name[0] == name.at[0] && str_eq(name, str_from(f->name)))
                return f;
    return NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* How much of the text is this name, with any blanks between its words; 0 when it is not, or no '('
 * follows. */
static size_t spaced_length(const char *name, str text)
{
    size_t at = 0;

    for (; *name; name++) {
        if (*name == ' ') {
            size_t from = at;
            while (at < text.len && is_blank(text.at[at]))
                at++;
            if (at == from)
                return 0;
        } else if (at == text.len || text.at[at++] != *name) {
            return 0;
        }
    }
    size_t end = at;
    while (end < text.len && is_blank(text.at[end]))
        end++;
    return end < text.len && text.at[end] == '(' ? at : 0;
}

const struct feel_function *feel_function_spaced(str text, size_t *len)
{
    for (size_t t = 0; t < FEEL_CALLS; t++)
        for (const struct feel_function *f = feel_calls[t]; f->name; f++)
            if (f->name[0] == text.at[0] && strchr(f->name, ' ') &&
                (*len = spaced_length(f->name, text)) > 0)
                return f;
    return NULL;
}

const char *feel_function_near(str name)
{
    const char *nearest = NULL;
    unsigned most = 2;

    for (size_t t = 0; t < FEEL_CALLS; t++)
        for (const struct feel_function *f = feel_calls[t]; f->name; f++) {
            unsigned distance = str_distance(name, str_from(f->name), most);
            if (distance <= most) {
                nearest = f->name;
                most = distance > 0 ? distance - 1 : 0;
            }
        }
    return nearest;
}

/* ---- kinds ---- */

#define KIND(k) (1u << FEEL_##k)
#define DAYS (KIND(DATE) | KIND(MOMENT))
#define VALUES (~KIND(NULL))

// clang-format off
static const struct {
    char letter;
    unsigned kinds;
    const char *message;
} letters[] = {
    { '?', ~0u,                       "" },
    { 'v', VALUES,                    "\3 expected a value, found \1" },
    { 's', KIND(STRING),              "\3 expected a string, found \1" },
    { 'n', KIND(NUMBER) | KIND(LONG), "\3 expected a number, found \1" },
    { 'b', KIND(BOOL),                "\3 expected true or false, found \1" },
    { 'l', KIND(LIST),                "\3 expected a list, found \1" },
    { 'c', KIND(CONTEXT),             "\3 expected a context, found \1" },
    { 't', DAYS,                      "\3 expected a date or a date and time, found \1" },
};
// clang-format on

static bool takes(char letter, struct feel_value v, const char **message)
{
    size_t i = 0;
    while (letters[i].letter != letter)
        i++;
    assert(i < sizeof letters / sizeof *letters);
    *message = letters[i].message;
    return letters[i].kinds & 1u << v.kind;
}

struct feel_value feel_function_run(struct feel_run *run, const struct feel_call *call,
                                    const struct feel_value *args)
{
    const struct feel_function *f = call->function;
    const char *letter = f->kinds, *message;

    for (uint32_t i = 0; i < call->count; i++) {
        if (!takes(*letter, args[i], &message))
            return args[i].kind == FEEL_NULL && args[i].reason
                       ? args[i]
                       : feel_null_name(run, message, str_from(f->name), args[i]);
        if (letter[1])
            letter++;
    }
    run->call = call;
    return f->run(run, args, call->count);
}

/* ---- what fits nowhere else ---- */

static struct feel_value call_string(struct feel_run *run, const struct feel_value *args,
                                     uint32_t count)
{
    str text;

    (void)count;
    return feel_to_text(run, args[0], &text) ? feel_string(text) : args[0];
}

static struct feel_value call_number(struct feel_run *run, const struct feel_value *args,
                                     uint32_t count)
{
    const struct json *number;

    (void)count;
    if (feel_is_number(args[0]))
        return args[0];
    if (args[0].kind == FEEL_STRING && args[0].len < FEEL_RESULT_MAX &&
        feel_spend(run, args[0].len) &&
        !json_parse(run->arena, str_trim(feel_string_of(args[0])), NULL, &number) &&
        json_is_number(number))
        return feel_number_of(number);
    return feel_null_of(run, "expected a number or the text of one, found \1", args[0], args[0]);
}

static struct feel_value call_not(struct feel_run *run, const struct feel_value *args,
                                  uint32_t count)
{
    (void)run, (void)count;
    return feel_bool(!args[0].len);
}

static struct feel_value call_is_defined(struct feel_run *run, const struct feel_value *args,
                                         uint32_t count)
{
    (void)run, (void)count;
    return feel_bool(args[0].kind != FEEL_NULL);
}

static struct feel_value call_get_or_else(struct feel_run *run, const struct feel_value *args,
                                          uint32_t count)
{
    (void)run, (void)count;
    return args[0].kind == FEEL_NULL ? args[1] : args[0];
}

// clang-format off
const struct feel_function feel_calls_basic[] = {
    { "string",      1, 1, "v",  call_string,      "string(value)", false },
    { "number",      1, 1, "v",  call_number,      "number(text)", false },
    { "not",         1, 1, "b",  call_not,         "not(condition)", false },
    { "is defined",  1, 1, "?",  call_is_defined,  "is defined(value)", false },
    { "get or else", 2, 2, "??", call_get_or_else, "get or else(value, default)", false },
    { 0 },
};
// clang-format on
