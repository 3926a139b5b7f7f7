/* parse.c: JSONPath's grammar and types, RFC 9535 sections 2.1 to 2.4.
 *
 * Recursive descent, one function for a rule of the grammar, bounded by
 * PATH_DEPTH_MAX. What the grammar allows and the types forbid (a comparison
 * of many values, a length() that nothing is compared with) is refused here
 * too, so that running a query cannot fail but by its budget. */
#include <assert.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "json/path/private.h"

static err parse_query(struct path_text *t, struct path_query *out);
static err parse_or(struct path_text *t, struct path_expr **out);

static err depth_enter(struct path_text *t)
{
    if (t->depth == PATH_DEPTH_MAX)
        return path_fail(t, t->at,
                         "expected at most %d filters, parentheses and calls inside each "
                         "other, found one more",
                         PATH_DEPTH_MAX);
    t->depth++;
    return NULL;
}

static void depth_leave(struct path_text *t)
{
    assert(t->depth > 0);
    t->depth--;
}

static struct path_expr *expr_new(struct path_text *t, enum path_expr_kind kind)
{
    struct path_expr *e = ARENA_NEW(t->arena, struct path_expr);
    e->kind = kind;
    return e;
}

/* ---- operands of filters: literals, queries, calls ---- */

/* What an operand yields; a query stands for its value wherever one is wanted. */
static enum path_type expr_type(const struct path_expr *e)
{
    if (e->kind == EXPR_CALL)
        return e->function->result;
    return e->kind == EXPR_QUERY ? PATH_NODES : PATH_VALUE;
}

static err require_value(struct path_text *t, size_t at, const struct path_expr *e)
{
    if (e->kind == EXPR_QUERY && !e->query.singular)
        return path_fail(t, at,
                         "expected a query for one value (names and indexes alone, without "
                         "blanks inside brackets), found one that may find several");
    if (expr_type(e) == PATH_LOGICAL)
        return path_fail(t, at, "expected a value, found %s(), which answers true or false",
                         e->function->name);
    return NULL;
}

static err require_argument(struct path_text *t, size_t at, const struct path_expr *e,
                            const struct path_function *f, unsigned index)
{
    if (f->arguments[index] == PATH_VALUE)
        return require_value(t, at, e);
    if (expr_type(e) != PATH_NODES)
        return path_fail(t, at, "expected a query as the argument of %s(), found a value", f->name);
    return NULL;
}

static err require_test(struct path_text *t, size_t at, const struct path_expr *e)
{
    if (e->kind == EXPR_LITERAL)
        return path_fail(t, at, "expected a comparison, found a literal alone");
    if (expr_type(e) == PATH_VALUE)
        return path_fail(t, at, "expected a comparison, found the value of %s() alone",
                         e->function->name);
    return NULL;
}

static err parse_operand(struct path_text *t, struct path_expr **out);

static err parse_arguments(struct path_text *t, struct path_expr *call)
{
    const struct path_function *f = call->function;
    struct path_expr **argument = &call->operands;

    path_skip_blanks(t);
    for (unsigned i = 0; i < f->argument_count; i++) {
        if (i > 0 && !path_take(t, ','))
            return path_expected(t, "',' and another argument");
        path_skip_blanks(t);
        size_t at = t->at;
        TRY(parse_operand(t, argument));
        TRY(require_argument(t, at, *argument, f, i));
        argument = &(*argument)->next;
        path_skip_blanks(t);
    }
    return path_take(t, ')') ? NULL : path_expected(t, "')' after the last argument");
}

static err parse_call(struct path_text *t, size_t at, str name, struct path_expr **out)
{
    struct path_expr *call = expr_new(t, EXPR_CALL);

    call->function = path_function_find(name);
    if (!call->function)
        return path_fail(t, at,
                         "expected one of the functions length, count, match, search and "
                         "value, found " STR_FMT "()",
                         STR_ARG(utf8_cut(name, 40)));
    TRY(depth_enter(t));
    TRY(parse_arguments(t, call));
    depth_leave(t);
    path_call_prepare(t->arena, call);
    *out = call;
    return NULL;
}

/* true, false, null, or the name of a function with its '(' right behind. */
static err parse_word(struct path_text *t, struct path_expr **out)
{
    size_t at = t->at;
    str word = path_read_word(t);
    struct json literal;

    if (path_take(t, '('))
        return parse_call(t, at, word, out);
    if (str_eq(word, STR("true")) || str_eq(word, STR("false"))) {
        literal = json_bool(word.len == 4);
    } else if (str_eq(word, STR("null"))) {
        literal = json_null();
    } else {
        t->at = at;
        return path_expected(t, "a query, a literal, a function, '!' or '('");
    }
    *out = expr_new(t, EXPR_LITERAL);
    (*out)->literal = literal;
    return NULL;
}

static err parse_operand(struct path_text *t, struct path_expr **out)
{
    char c = path_peek(t);

    if (c == '@' || c == '$') {
        *out = expr_new(t, EXPR_QUERY);
        return parse_query(t, &(*out)->query);
    }
    if (c == '"' || c == '\'') {
        str text;
        TRY(path_read_string(t, &text));
        *out = expr_new(t, EXPR_LITERAL);
        (*out)->literal = json_string(text);
        return NULL;
    }
    if (path_at_number(t)) {
        *out = expr_new(t, EXPR_LITERAL);
        return path_read_number(t, &(*out)->literal);
    }
    return parse_word(t, out);
}

/* ---- logical expressions ---- */

static err parse_comparison(struct path_text *t, const struct path_comparison *comparison,
                            struct path_expr *left, struct path_expr **out)
{
    t->at += strlen(comparison->text);
    path_skip_blanks(t);
    size_t at = t->at;
    TRY(parse_operand(t, &left->next));
    TRY(require_value(t, at, left->next));
    *out = expr_new(t, EXPR_COMPARE);
    (*out)->operands = left;
    (*out)->comparison = comparison;
    return NULL;
}

/* A comparison, or one operand that is a test by itself; after '!' only the latter. */
static err parse_test(struct path_text *t, bool comparable, struct path_expr **out)
{
    struct path_expr *operand;
    size_t from = t->at;

    TRY(parse_operand(t, &operand));
    size_t end = t->at;
    path_skip_blanks(t);
    const struct path_comparison *comparison =
        path_comparison_find(str_slice(t->all, t->at, t->all.len));
    if (comparison && comparable) {
        TRY(require_value(t, from, operand));
        return parse_comparison(t, comparison, operand, out);
    }
    t->at = end;
    *out = operand;
    return require_test(t, from, operand);
}

static err parse_parenthesis(struct path_text *t, struct path_expr **out)
{
    TRY(depth_enter(t));
    path_skip_blanks(t);
    TRY(parse_or(t, out));
    path_skip_blanks(t);
    if (!path_take(t, ')'))
        return path_expected(t, "'&&', '||' or ')'");
    depth_leave(t);
    return NULL;
}

static err parse_basic(struct path_text *t, struct path_expr **out)
{
    bool negated = path_take(t, '!');

    if (negated) {
        *out = expr_new(t, EXPR_NOT);
        out = &(*out)->operands;
        path_skip_blanks(t);
    }
    return path_take(t, '(') ? parse_parenthesis(t, out) : parse_test(t, !negated, out);
}

static bool take_operator(struct path_text *t, str operator)
{
    size_t from = t->at;

    path_skip_blanks(t);
    if (str_starts(str_slice(t->all, t->at, t->all.len), operator)) {
        t->at += operator.len;
        return true;
    }
    t->at = from;
    return false;
}

/* One part alone stands for itself; several become operands of one node, however many they are, so
 * that a long chain is no deeper than a short one. */
static err parse_chain(struct path_text *t, enum path_expr_kind kind, str operator,
                       err (*parse_part)(struct path_text *t, struct path_expr **out),
                       struct path_expr **out)
{
    TRY(parse_part(t, out));
    struct path_expr *last = *out;

    while (take_operator(t, operator)) {
        if (last == *out) {
            *out = expr_new(t, kind);
            (*out)->operands = last;
        }
        path_skip_blanks(t);
        TRY(parse_part(t, &last->next));
        last = last->next;
    }
    return NULL;
}

static err parse_and(struct path_text *t, struct path_expr **out)
{
    return parse_chain(t, EXPR_AND, STR("&&"), parse_basic, out);
}

static err parse_or(struct path_text *t, struct path_expr **out)
{
    return parse_chain(t, EXPR_OR, STR("||"), parse_and, out);
}

/* ---- selectors ---- */

static err parse_name(struct path_text *t, struct path_selector *out)
{
    out->kind = SELECT_NAME;
    TRY(path_read_string(t, &out->name));
    out->hash = hash_bytes(out->name.at, out->name.len);
    return NULL;
}

/* After the start and its ':'. What is left out reaches beyond either end of any array; a start of
 * -1 is the last element. */
static err parse_slice(struct path_text *t, bool has_start, int64_t start,
                       struct path_selector *out)
{
    bool has_end;

    out->kind = SELECT_SLICE;
    out->step = 1;
    path_skip_blanks(t);
    if ((has_end = path_at_number(t))) {
        TRY(path_read_index(t, &out->end));
        path_skip_blanks(t);
    }
    if (path_take(t, ':')) {
        path_skip_blanks(t);
        if (path_at_number(t))
            TRY(path_read_index(t, &out->step));
    }
    out->start = has_start ? start : out->step < 0 ? -1 : 0;
    if (!has_end)
        out->end = out->step < 0 ? INT64_MIN / 2 : INT64_MAX;
    return NULL;
}

static err parse_index_or_slice(struct path_text *t, struct path_selector *out)
{
    bool has_start = path_peek(t) != ':';
    int64_t start = 0;

    if (has_start)
        TRY(path_read_index(t, &start));
    size_t end = t->at;
    path_skip_blanks(t);
    if (path_take(t, ':'))
        return parse_slice(t, has_start, start, out);
    t->at = end;
    out->kind = SELECT_INDEX;
    out->index = start;
    return NULL;
}

static err parse_filter(struct path_text *t, struct path_selector *out)
{
    struct path_expr *filter;

    out->kind = SELECT_FILTER;
    TRY(depth_enter(t));
    path_skip_blanks(t);
    TRY(parse_or(t, &filter));
    depth_leave(t);
    out->filter = filter;
    return NULL;
}

static err parse_selector(struct path_text *t, struct path_selector *out)
{
    char c = path_peek(t);

    if (c == '"' || c == '\'')
        return parse_name(t, out);
    if (c == ':' || path_at_number(t))
        return parse_index_or_slice(t, out);
    if (path_take(t, '?'))
        return parse_filter(t, out);
    if (!path_take(t, '*'))
        return path_expected(t, "a selector (a quoted name, '*', an index, a slice or '?')");
    out->kind = SELECT_WILDCARD;
    return NULL;
}

/* ---- segments ---- */

/* After the '['. `tight` says that there were no blanks, as a singular query wants it. */
static err parse_bracket(struct path_text *t, struct path_segment *segment, bool *tight)
{
    const struct path_selector **link = &segment->selectors;
    size_t from = t->at, last;

    do {
        struct path_selector *selector = ARENA_NEW(t->arena, struct path_selector);
        path_skip_blanks(t);
        *tight = t->at == from;
        TRY(parse_selector(t, selector));
        *link = selector;
        link = &selector->next;
        last = t->at;
        path_skip_blanks(t);
        *tight &= t->at == last;
    } while (path_take(t, ','));
    return path_take(t, ']') ? NULL : path_expected(t, "']' or ',' after a selector");
}

/* After the '.' or '..': a name without quotes, or '*'. */
static err parse_shorthand(struct path_text *t, struct path_segment *segment)
{
    struct path_selector *selector = ARENA_NEW(t->arena, struct path_selector);

    segment->selectors = selector;
    if (path_take(t, '*')) {
        selector->kind = SELECT_WILDCARD;
        return NULL;
    }
    selector->kind = SELECT_NAME;
    selector->name = path_read_name(t);
    selector->hash = hash_bytes(selector->name.at, selector->name.len);
    if (selector->name.len > 0)
        return NULL;
    return path_expected(t, segment->descendant ? "a name, '*' or '[' after '..'"
                                                : "a name or '*' after '.'");
}

static err parse_segment(struct path_text *t, struct path_segment *segment, bool *singular)
{
    bool tight = true, dotted = path_take(t, '.');

    segment->descendant = dotted && path_take(t, '.');
    if (dotted && !(segment->descendant && path_peek(t) == '['))
        TRY(parse_shorthand(t, segment));
    else if (path_take(t, '['))
        TRY(parse_bracket(t, segment, &tight));

    const struct path_selector *s = segment->selectors;
    bool one = !s->next && (s->kind == SELECT_NAME || s->kind == SELECT_INDEX);
    *singular &= one && tight && !segment->descendant;
    return NULL;
}

/* Blanks are allowed before a segment; those after the last one belong to what follows. */
static bool at_segment(struct path_text *t)
{
    size_t from = t->at;

    path_skip_blanks(t);
    if (path_peek(t) == '.' || path_peek(t) == '[')
        return true;
    t->at = from;
    return false;
}

static err parse_query(struct path_text *t, struct path_query *out)
{
    const struct path_segment **link = &out->segments;

    out->relative = t->all.at[t->at++] == '@';
    out->singular = true;
    while (at_segment(t)) {
        struct path_segment *segment = ARENA_NEW(t->arena, struct path_segment);
        TRY(parse_segment(t, segment, &out->singular));
        *link = segment;
        link = &segment->next;
    }
    return NULL;
}

err json_path_compile(struct arena *a, str query, const struct json_path **out)
{
    if (query.len > PATH_BYTES_MAX)
        return err_new(a, ERR_INVALID, "expected a JSONPath query of at most %u bytes, found %zu",
                       PATH_BYTES_MAX, query.len);
    if (!utf8_valid(query))
        return err_new(a, ERR_INVALID,
                       "expected a JSONPath query in UTF-8, found byte %zu not to be",
                       utf8_valid_to(query));

    struct path_text t = { .arena = a, .all = arena_copy(a, query) };
    struct json_path *path = ARENA_NEW(a, struct json_path);
    if (path_peek(&t) != '$')
        return path_expected(&t, "'$'");
    TRY(parse_query(&t, &path->query));
    if (!path_ended(&t))
        return path_expected(&t, "'.', '..', '[' or the end");
    *out = path;
    return NULL;
}
