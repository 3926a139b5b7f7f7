/* filter.c: what a filter answers for one value, RFC 9535 section 2.3.5
 * and the functions of 2.4.
 *
 * A value that is not there (the RFC's Nothing) is NULL here. Types were
 * checked by the parser, so every table entry that can be reached is filled. */
#include <assert.h>

#include "base/utf8.h"
#include "json/path/private.h"

/* Beside the bytes: what compiling a pattern costs, and what trying it on a text does, which may
 * backtrack a good deal before it comes to its own limit. */
#define COMPILE_STEPS 100
#define TRY_STEPS 32

static const struct json *expr_value(struct path_run *run, const struct path_expr *e,
                                     const struct json *current, struct path_scratch *scratch);

/* ---- comparisons ---- */

// clang-format off
static const struct path_comparison comparisons[] = {
    /* longer texts first */
    { "==", .equal = true },
    { "!=", .equal = true, .negate = true },
    { "<=", .equal = true, .less = true },
    { ">=", .equal = true, .less = true, .swap = true },
    { "<",  .less = true },
    { ">",  .less = true, .swap = true },
};
// clang-format on

const struct path_comparison *path_comparison_find(str rest)
{
    for (size_t i = 0; i < sizeof(comparisons) / sizeof(*comparisons); i++)
        if (str_starts(rest, str_from(comparisons[i].text)))
            return &comparisons[i];
    return NULL;
}

/* Pays for looking at all of a value. */
static bool spend_whole(struct path_run *run, const struct json *j)
{
    switch (j->kind) {
    case JSON_ARRAY:
        for (uint32_t i = 0; i < j->len; i++)
            if (!spend_whole(run, &j->items[i]))
                return false;
        break;
    case JSON_OBJECT:
        for (uint32_t i = 0; i < j->len; i++)
            if (!path_spend(run, path_text_steps(j->members[i].name_len)) ||
                !spend_whole(run, &j->members[i].value))
                return false;
        break;
    case JSON_NULL:
    case JSON_BOOL: break;
    default: return path_spend(run, path_text_steps(j->len));
    }
    return path_spend(run, 1);
}

static bool equal(struct path_run *run, const struct json *a, const struct json *b)
{
    if (!a || !b)
        return a == b;
    if (json_is_number(a) && json_is_number(b))
        return path_spend(run, path_text_steps(a->len + b->len)) && json_number_compare(a, b) == 0;
    if (a->kind != b->kind || a->len != b->len)
        return false;
    if (a->kind == JSON_STRING)
        return path_spend(run, path_text_steps(a->len)) && str_eq(json_text(a), json_text(b));
    return spend_whole(run, a) && json_equal(a, b);
}

static bool less(struct path_run *run, const struct json *a, const struct json *b)
{
    bool numbers = json_is_number(a) && json_is_number(b);
    bool strings = json_is(a, JSON_STRING) && json_is(b, JSON_STRING);

    if (!numbers && !strings)
        return false;
    if (!path_spend(run, path_text_steps(a->len + b->len)))
        return false;
    if (numbers)
        return json_number_compare(a, b) < 0;
    /* Bytes of UTF-8 are in the order of the code points. */
    return str_compare(json_text(a), json_text(b)) < 0;
}

static bool test_compare(struct path_run *run, const struct path_expr *e,
                         const struct json *current)
{
    const struct path_comparison *c = e->comparison;
    struct path_scratch scratch[2];
    const struct json *a = expr_value(run, e->operands, current, &scratch[0]);
    const struct json *b = expr_value(run, e->operands->next, current, &scratch[1]);

    if (c->swap) {
        const struct json *left = a;
        a = b;
        b = left;
    }
    return ((c->equal && equal(run, a, b)) || (c->less && less(run, a, b))) != c->negate;
}

/* ---- functions ---- */

static const struct json *scratch_number(struct path_scratch *scratch, uint64_t n)
{
    str digits = str_of_int(scratch->digits, (int64_t)n);

    scratch->number =
        (struct json){ .kind = JSON_INTEGER, .len = (uint32_t)digits.len, .text = digits.at };
    return &scratch->number;
}

static const struct json *call_length(struct path_run *run, const struct path_expr *call,
                                      const struct json *current, struct path_scratch *scratch)
{
    const struct json *j = expr_value(run, call->operands, current, scratch);

    if (json_is(j, JSON_ARRAY) || json_is(j, JSON_OBJECT))
        return scratch_number(scratch, j->len);
    if (json_is(j, JSON_STRING) && path_spend(run, path_text_steps(j->len)))
        return scratch_number(scratch, utf8_length(json_text(j)));
    return NULL;
}

static const struct json *call_count(struct path_run *run, const struct path_expr *call,
                                     const struct json *current, struct path_scratch *scratch)
{
    const struct json *last;
    return scratch_number(scratch,
                          path_count(run, &call->operands->query, current, UINT64_MAX, &last));
}

static const struct json *call_value(struct path_run *run, const struct path_expr *call,
                                     const struct json *current, struct path_scratch *scratch)
{
    const struct json *last;
    (void)scratch;
    return path_count(run, &call->operands->query, current, 2, &last) == 1 ? last : NULL;
}

static void release_regex(void *regex)
{
    regex_free(regex);
}

void path_call_prepare(struct arena *a, struct path_expr *call)
{
    if (call->function->pattern == PATTERN_NONE)
        return;
    const struct path_expr *pattern = call->operands->next;
    if (pattern->kind != EXPR_LITERAL || !json_is(&pattern->literal, JSON_STRING))
        return;
    /* What is no I-Regexp matches nothing and is no error. */
    if (!iregexp_compile(a, json_text(&pattern->literal), call->function->pattern == PATTERN_WHOLE,
                         &call->regex))
        arena_on_release(a, release_regex, call->regex);
    else
        call->regex = NULL;
}

/* A pattern from the document: most often every value is tested with the same one. */
static const struct regex *pattern_compiled(struct path_run *run, str text, int kind)
{
    if (run->pattern.kind == kind && str_eq(run->pattern.text, text))
        return run->pattern.regex;
    if (!path_spend(run, COMPILE_STEPS + text.len))
        return NULL;

    struct regex *regex = NULL;
    if (iregexp_compile(run->arena, text, kind == PATTERN_WHOLE, &regex))
        regex = NULL;
    if (run->pattern.regex)
        regex_free(run->pattern.regex);
    run->pattern.regex = regex;
    run->pattern.text = text;
    run->pattern.kind = kind;
    return regex;
}

static bool call_pattern(struct path_run *run, const struct path_expr *call,
                         const struct json *current)
{
    struct path_scratch scratch;
    const struct path_expr *pattern = call->operands->next;
    const struct regex *regex = call->regex;
    const struct json *subject = expr_value(run, call->operands, current, &scratch);

    if (!json_is(subject, JSON_STRING))
        return false;
    if (pattern->kind != EXPR_LITERAL) {
        const struct json *j = expr_value(run, pattern, current, &scratch);
        if (json_is(j, JSON_STRING))
            regex = pattern_compiled(run, json_text(j), call->function->pattern);
    }
    if (!regex || !path_spend(run, TRY_STEPS + subject->len / 8))
        return false;
    enum regex_result result = regex_match(regex, json_text(subject), &run->steps_left);
    if (result == REGEX_LIMIT)
        path_stop(run);
    return result == REGEX_YES;
}

// clang-format off
static const struct path_function functions[] = {
    /* name     result        arguments                      pattern           value | test       */
    { "length", PATH_VALUE,   1, { PATH_VALUE },             PATTERN_NONE,     call_length, NULL  },
    { "count",  PATH_VALUE,   1, { PATH_NODES },             PATTERN_NONE,     call_count,  NULL  },
    { "value",  PATH_VALUE,   1, { PATH_NODES },             PATTERN_NONE,     call_value,  NULL  },
    { "match",  PATH_LOGICAL, 2, { PATH_VALUE, PATH_VALUE }, PATTERN_WHOLE,    NULL, call_pattern },
    { "search", PATH_LOGICAL, 2, { PATH_VALUE, PATH_VALUE }, PATTERN_ANYWHERE, NULL, call_pattern },
};
// clang-format on

const struct path_function *path_function_find(str name)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        if (str_eq(name, str_from(functions[i].name)))
            return &functions[i];
    return NULL;
}

/* ---- expressions ---- */

static const struct json *expr_value(struct path_run *run, const struct path_expr *e,
                                     const struct json *current, struct path_scratch *scratch)
{
    switch (e->kind) {
    case EXPR_LITERAL: return &e->literal;
    case EXPR_QUERY: return path_single(run, &e->query, current);
    default: assert(e->kind == EXPR_CALL); return e->function->value(run, e, current, scratch);
    }
}

static bool test_any(struct path_run *run, const struct path_expr *e, const struct json *current)
{
    for (const struct path_expr *o = e->operands; o; o = o->next)
        if (path_filter_test(run, o, current))
            return true;
    return false;
}

static bool test_all(struct path_run *run, const struct path_expr *e, const struct json *current)
{
    for (const struct path_expr *o = e->operands; o; o = o->next)
        if (!path_filter_test(run, o, current))
            return false;
    return true;
}

static bool test_not(struct path_run *run, const struct path_expr *e, const struct json *current)
{
    return !path_filter_test(run, e->operands, current);
}

static bool test_exists(struct path_run *run, const struct path_expr *e, const struct json *current)
{
    const struct json *last;
    if (e->query.singular)
        return path_single(run, &e->query, current) != NULL;
    return path_count(run, &e->query, current, 1, &last) > 0;
}

static bool test_call(struct path_run *run, const struct path_expr *e, const struct json *current)
{
    return e->function->test(run, e, current);
}

bool path_filter_test(struct path_run *run, const struct path_expr *e, const struct json *current)
{
    static bool (*const tests[EXPR_KINDS])(struct path_run *, const struct path_expr *,
                                           const struct json *) = {
        [EXPR_OR] = test_any,          [EXPR_AND] = test_all,      [EXPR_NOT] = test_not,
        [EXPR_COMPARE] = test_compare, [EXPR_QUERY] = test_exists, [EXPR_CALL] = test_call,
    };
    assert(tests[e->kind]); /* the parser lets no literal stand alone */
    return path_spend(run, 1) && tests[e->kind](run, e, current);
}
