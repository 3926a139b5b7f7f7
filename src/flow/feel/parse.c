/* parse.c: the grammar of FEEL, from text to nodes.
 *
 * Recursive descent, one function for a rule, bounded by FEEL_DEPTH_MAX. What is not part of our FEEL
 * (functions of one's own, times of day, sort) is refused with a sentence, so that evaluating can fail
 * by its budget alone. */
#include "base/utf8.h"
#include "flow/feel/private.h"

static err parse_expr(struct feel_text *t, uint16_t *out);

/* ---- calls ---- */

static const struct {
    const char *name, *why;
} refused[] = {
    { "function", "functions cannot be defined here: write the expression where it is needed" },
    { "external", "functions cannot be defined here: write the expression where it is needed" },
    { "sort",
      "sort needs a function, and functions cannot be defined here: let the step that makes "
      "the list put it in order, or ask for its min or max" },
    { "time", "times of day are not known here: use date and time(…), and its .hour and .minute" },
};

static err function_unknown(struct feel_text *t, size_t at, str name)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (str_eq(name, str_from(refused[i].name)))
            return feel_fail(t, at, "%s", refused[i].why);
    const char *near = feel_function_near(name);
    return feel_fail(t, at,
                     "expected the name of a function in front of '(', found '" STR_FMT "'%s%s%s",
                     STR_ARG(utf8_cut(name, 40)), near ? ": did you mean '" : "", near ? near : "",
                     near ? "'?" : "");
}

static void drop_regex(void *regex)
{
    regex_free(regex);
}

/* A pattern that is written there is compiled once, for as long as the arena lives. */
static err prepare_pattern(struct feel_text *t, struct feel_call *call, uint16_t first)
{
    if (!str_eq(str_from(call->function->name), STR("matches")))
        return NULL;
    const struct feel_node *pattern = &t->nodes[t->nodes[first].next];
    if (pattern->kind != NODE_CONSTANT || pattern->constant->kind != FEEL_STRING)
        return NULL;
    err e = regex_compile(t->arena, feel_string_of(*pattern->constant), &call->regex);
    if (e)
        return feel_fail(t, pattern->at, "in this pattern: " STR_FMT, STR_ARG(e->message));
    arena_on_release(t->arena, drop_regex, call->regex);
    return NULL;
}

/* After the '('. */
static err parse_call(struct feel_text *t, size_t at, const struct feel_function *f, uint16_t *out)
{
    struct feel_call *call = ARENA_NEW(t->arena, struct feel_call);
    struct feel_operands o = { .of = feel_node_new(t, NODE_CALL, at) };
    uint16_t argument;

    if (!feel_take(t, ')')) {
        do {
            TRY(parse_expr(t, &argument));
            feel_operand_add(t, &o, argument);
            call->count++;
        } while (feel_take(t, ','));
        if (!feel_take(t, ')'))
            return feel_expected(t, "',' or ')' after an argument");
    }
    if (call->count < f->least || (call->count > f->most && f->most != FEEL_MANY))
        return feel_fail(t, at, "expected %s, found %u arguments", f->usage, (unsigned)call->count);
    call->function = f;
    t->nodes[o.of].call = call;
    if (call->count > 1)
        TRY(prepare_pattern(t, call, t->nodes[o.of].first));
    return feel_folded(t, o.of, out);
}

static err parse_variable(struct feel_text *t, uint16_t *out)
{
    size_t at = t->at;
    str text;

    TRY(feel_read_name(t, "a name", &text));
    *out = feel_node_new(t, NODE_NAME, at);
    struct feel_name *name = feel_name_of(t, text);
    t->nodes[*out].name = name;
    feel_name_used(t, name);
    return NULL;
}

/* A variable, a call, true, false, null. */
static err parse_word(struct feel_text *t, uint16_t *out)
{
    size_t at = t->at, spaced;
    str word = feel_read_word(t), rest = str_slice(t->all, at, t->all.len);
    struct feel_value v = { 0 };

    if (t->camunda && (str_eq(word, STR("empty")) || str_eq(word, STR("not")))) {
        t->at = at;
        word.len = 0;
    }
    if (word.len == 0)
        return feel_expected(t, "a value");
    feel_skip_blanks(t);
    char c = t->camunda ? 0 : feel_peek(t); /* there are no calls there */
    if (c == '(' && !feel_is_keyword(word)) {
        const struct feel_function *f = feel_function_find(word);
        if (!f)
            return function_unknown(t, at, word);
        t->at++;
        return parse_call(t, at, f, out);
    }
    if (t->at > at + word.len && c >= 'a' && c <= 'z') {
        const struct feel_function *f = feel_function_spaced(rest, &spaced);
        if (f) {
            t->at = at + spaced;
            feel_take(t, '(');
            return parse_call(t, at, f, out);
        }
    }
    t->at = at;
    if (!feel_is_keyword(word))
        return parse_variable(t, out);
    if (str_eq(word, STR("true")) || str_eq(word, STR("false")))
        v = feel_bool(word.len == 4);
    else if (!str_eq(word, STR("null")))
        return feel_expected(t, t->camunda ? "a value"
                                           : "a value (if, for, some and every in the middle need "
                                             "parentheses)");
    t->at += word.len;
    *out = feel_node_constant(t, at, v);
    return NULL;
}

/* ---- values ---- */

static err parse_string(struct feel_text *t, uint16_t *out)
{
    size_t at = t->at;
    str text;

    TRY(feel_read_string(t, &text));
    *out = feel_node_constant(t, at, feel_string(text));
    return NULL;
}

/* A range stands for itself: nothing can be done with it but to ask whether something is in it. */
static err parse_range_end(struct feel_text *t, size_t at, bool open, uint16_t from, uint16_t *out)
{
    struct feel_operands o = { .of = feel_node_new(t, NODE_RANGE, at) };
    uint16_t to;

    TRY(parse_expr(t, &to));
    feel_operand_add(t, &o, from);
    feel_operand_add(t, &o, to);
    bool to_open = feel_take(t, ')');
    if (!to_open && !feel_take(t, ']'))
        return feel_expected(t, "']' or ')' at the end of the range");
    t->nodes[o.of].op = (open ? RANGE_FROM_OPEN : 0) | (to_open ? RANGE_TO_OPEN : 0);
    feel_skip_blanks(t);
    if (feel_peek(t) && strchr("+-*/.[(", feel_peek(t)))
        return feel_expected(t, "nothing more behind the range");
    *out = o.of;
    return NULL;
}

static err parse_parenthesis(struct feel_text *t, bool range_allowed, uint16_t *out)
{
    size_t at = t->at++;

    TRY(parse_expr(t, out));
    if (range_allowed && feel_take_text(t, STR("..")))
        return parse_range_end(t, at, true, *out, out);
    return feel_take(t, ')') ? NULL : feel_expected(t, "an operator or ')'");
}

static err parse_list(struct feel_text *t, bool range_allowed, uint16_t *out)
{
    size_t at = t->at++;
    struct feel_operands o = { .of = feel_node_new(t, NODE_LIST, at) };
    uint16_t item;

    if (feel_take(t, ']'))
        return feel_folded(t, o.of, out);
    do {
        TRY(parse_expr(t, &item));
        if (range_allowed && !o.last && feel_take_text(t, STR("..")))
            return parse_range_end(t, at, false, item, out);
        feel_operand_add(t, &o, item);
    } while (feel_take(t, ','));
    if (feel_take(t, ']'))
        return feel_folded(t, o.of, out);
    if (str_starts(str_slice(t->all, t->at, t->all.len), STR("..")))
        return feel_fail(t, t->at,
                         "expected ',' or ']', found '..': a range stands only behind 'in'");
    return feel_expected(t, "',' or ']' after an item");
}

static err parse_key(struct feel_text *t, str *out)
{
    feel_skip_blanks(t);
    if (feel_peek(t) == '"')
        return feel_read_string(t, out);
    return feel_read_name(t, "a key (a name or a string)", out);
}

static err parse_context(struct feel_text *t, uint16_t *out)
{
    struct feel_operands o = { .of = feel_node_new(t, NODE_CONTEXT, t->at++) };
    const struct feel_bound *outside = t->bound;
    uint16_t value;
    str key;

    if (!feel_take(t, '}')) {
        do {
            feel_skip_blanks(t);
            size_t at = t->at;
            TRY(parse_key(t, &key));
            const struct feel_name *name = feel_name_of(t, key);
            for (uint16_t entry = t->nodes[o.of].first; entry; entry = t->nodes[entry].next)
                if (t->nodes[entry].name == name)
                    return feel_fail(t, at, "expected each key once, found '" STR_FMT "' again",
                                     STR_ARG(utf8_cut(key, 40)));
            if (!feel_take(t, ':'))
                return feel_expected(t, "':' after a key");
            TRY(parse_expr(t, &value));
            uint16_t entry = feel_node_of_one(t, NODE_ENTRY, at, value);
            t->nodes[entry].name = name;
            feel_operand_add(t, &o, entry);
            feel_bind(t, name);
        } while (feel_take(t, ','));
        if (!feel_take(t, '}'))
            return feel_expected(t, "',' or '}' after an entry");
    }
    t->bound = outside;
    return feel_folded(t, o.of, out);
}

/* @"2026-01-31" */
static err parse_time(struct feel_text *t, uint16_t *out)
{
    size_t at = t->at++;
    struct feel_value v;
    str text;

    if (feel_peek(t) != '"')
        return feel_expected(t, "a string behind '@'");
    TRY(feel_read_string(t, &text));
    if (!feel_time_read(text, &v))
        return feel_fail(t, at,
                         "expected a date, a date and time or a duration, as @\"2026-01-31\", "
                         "@\"2026-01-31T10:00:00Z\", @\"PT30M\" or @\"P1Y\", found \"" STR_FMT "\"",
                         STR_ARG(utf8_cut(text, 40)));
    *out = feel_node_constant(t, at, v);
    return NULL;
}

static err parse_primary(struct feel_text *t, uint16_t *out)
{
    bool range_allowed = t->range_allowed;
    struct feel_value v;

    t->range_allowed = false;
    feel_skip_blanks(t);
    size_t at = t->at;
    char c = feel_peek(t);
    if (t->camunda && c && strchr("[{@`", c))
        return feel_expected(t, "a variable, a number, a text, true, false or null");
    switch (c) {
    case '(': return parse_parenthesis(t, range_allowed, out);
    case '[': return parse_list(t, range_allowed, out);
    case '{': return parse_context(t, out);
    case '@': return parse_time(t, out);
    case '`': return parse_variable(t, out);
    case '"': return parse_string(t, out);
    case '\'':
        if (t->camunda)
            return parse_string(t, out);
        break;
    default: break;
    }
    if (!feel_at_number(t))
        return parse_word(t, out);
    TRY(feel_read_number(t, &v));
    *out = feel_node_constant(t, at, v);
    return NULL;
}

/* ---- members and filters ---- */

static err parse_filter(struct feel_text *t, size_t at, uint16_t *out)
{
    const struct feel_bound *outside = t->bound;
    const struct feel_name *item = feel_name_of(t, STR("item"));
    uint16_t condition;

    feel_bind(t, item);
    TRY(parse_expr(t, &condition));
    t->bound = outside;
    if (!feel_take(t, ']'))
        return feel_expected(t, "an operator or ']'");
    *out = feel_node_of_one(t, NODE_FILTER, at, condition);
    t->nodes[*out].name = item;
    return NULL;
}

/* Behind a point every word is a name, keywords too. */
static err parse_member(struct feel_text *t, size_t at, uint16_t *out)
{
    str name;

    feel_skip_blanks(t);
    name = feel_read_word(t);
    if (name.len == 0)
        TRY(feel_read_name(t, "a name behind '.'", &name));
    *out = feel_node_new(t, NODE_MEMBER, at);
    const struct feel_name *named = feel_name_of(t, name);
    t->nodes[*out].name = named;
    return NULL;
}

/* One step of a path, if there is one: 0 when there is none. */
static err parse_step(struct feel_text *t, uint16_t *out)
{
    feel_skip_blanks(t);
    size_t at = t->at;
    char c = feel_peek(t), next = t->at + 1 < t->all.len ? t->all.at[t->at + 1] : 0;

    *out = 0;
    if (t->camunda && (c == '(' || c == '['))
        return feel_expected(t, "an operator or '}'");
    if (c == '(')
        return feel_fail(t, at, "expected the name of a function in front of '('");
    if ((c != '.' || next == '.') && c != '[')
        return NULL;
    t->at++;
    return c == '[' ? parse_filter(t, at, out) : parse_member(t, at, out);
}

static err parse_postfix(struct feel_text *t, uint16_t *out)
{
    struct feel_operands o = { 0 };
    uint16_t step;

    TRY(parse_primary(t, out));
    if (t->nodes[*out].kind == NODE_RANGE)
        return NULL;
    for (;;) {
        TRY(parse_step(t, &step));
        if (!step)
            break;
        if (!o.of) {
            o.of = feel_node_new(t, NODE_PATH, t->nodes[*out].at);
            feel_operand_add(t, &o, *out);
        }
        feel_operand_add(t, &o, step);
    }
    return o.of ? feel_folded(t, o.of, out) : NULL;
}

/* ---- operators ---- */

/* The '!' of ${…} is what not() is. */
static err parse_not(struct feel_text *t, uint16_t *out)
{
    struct feel_call *call = ARENA_NEW(t->arena, struct feel_call);
    size_t at = t->at++;

    *call = (struct feel_call){ .function = feel_function_find(STR("not")), .count = 1 };
    TRY(parse_postfix(t, out));
    *out = feel_node_of_one(t, NODE_CALL, at, *out);
    t->nodes[*out].call = call;
    return feel_folded(t, *out, out);
}

static err parse_negation(struct feel_text *t, uint16_t *out)
{
    struct feel_value v;

    feel_skip_blanks(t);
    size_t at = t->at;
    if (t->camunda && feel_peek(t) == '!')
        return parse_not(t, out);
    if (feel_peek(t) != '-')
        return parse_postfix(t, out);
    t->range_allowed = false;
    t->at++;
    if (feel_at_number(t)) { /* all digits of a long one are kept */
        t->at = at;
        TRY(feel_read_number(t, &v));
        *out = feel_node_constant(t, at, v);
        return NULL;
    }
    TRY(parse_postfix(t, out));
    return feel_folded(t, feel_node_of_one(t, NODE_NEGATE, at, *out), out);
}

/* An operator of a chain, if one is here; `link` says which of the two. */
static bool take_power(struct feel_text *t, uint8_t *link)
{
    *link = 0;
    return !t->camunda && feel_take_text(t, STR("**"));
}

static bool take_product(struct feel_text *t, uint8_t *link)
{
    *link = feel_take(t, '/');
    return *link || feel_take(t, '*');
}

static bool take_sum(struct feel_text *t, uint8_t *link)
{
    *link = feel_take(t, '-');
    return *link || feel_take(t, '+');
}

static bool take_and(struct feel_text *t, uint8_t *link)
{
    *link = 0;
    return feel_take_word(t, STR("and")) || (t->camunda && feel_take_text(t, STR("&&")));
}

static bool take_or(struct feel_text *t, uint8_t *link)
{
    *link = 0;
    return feel_take_word(t, STR("or")) || (t->camunda && feel_take_text(t, STR("||")));
}

/* One part alone stands for itself; several become operands of one node, however many they are, so
 * that a long chain is no deeper than a short one. */
static err parse_chain(struct feel_text *t, enum feel_node_kind kind,
                       bool (*take)(struct feel_text *t, uint8_t *link),
                       err (*parse_part)(struct feel_text *t, uint16_t *out), uint16_t *out)
{
    struct feel_operands o = { 0 };
    uint16_t part;
    uint8_t link;

    TRY(parse_part(t, out));
    if (t->nodes[*out].kind == NODE_RANGE)
        return NULL;
    while (take(t, &link)) {
        if (!o.of) {
            o.of = feel_node_new(t, kind, t->nodes[*out].at);
            feel_operand_add(t, &o, *out);
        }
        TRY(parse_part(t, &part));
        t->nodes[part].link = link;
        feel_operand_add(t, &o, part);
    }
    return o.of ? feel_folded(t, o.of, out) : NULL;
}

static err parse_power(struct feel_text *t, uint16_t *out)
{
    return parse_chain(t, NODE_POWER, take_power, parse_negation, out);
}

static err parse_product(struct feel_text *t, uint16_t *out)
{
    return parse_chain(t, NODE_PRODUCT, take_product, parse_power, out);
}

static err parse_sum(struct feel_text *t, uint16_t *out)
{
    return parse_chain(t, NODE_SUM, take_sum, parse_product, out);
}

/* ---- comparisons ---- */

static const struct {
    str text;
    enum feel_op op;
} operators[] = {
    /* longer texts first */
    { { "<=", 2 }, OP_AT_MOST }, { { ">=", 2 }, OP_AT_LEAST }, { { "!=", 2 }, OP_UNEQUAL },
    { { "<", 1 }, OP_LESS },     { { ">", 1 }, OP_MORE },      { { "=", 1 }, OP_EQUAL },
};

static bool take_operator(struct feel_text *t, enum feel_op *op)
{
    feel_skip_blanks(t);
    char c = feel_peek(t);
    if (c != '<' && c != '>' && c != '=' && c != '!')
        return false;
    bool twice = str_starts(str_slice(t->all, t->at, t->all.len), STR("=="));
    if (c == '=' && twice != t->camunda)
        return false;
    t->at += twice; /* then one '=' is left of them */
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (feel_take_text(t, operators[i].text)) {
            *op = operators[i].op;
            return true;
        }
    return false;
}

/* Behind `in`: a range, half a comparison, or a value. */
static err parse_test(struct feel_text *t, uint16_t *out)
{
    enum feel_op op;

    feel_skip_blanks(t);
    size_t at = t->at;
    if (take_operator(t, &op)) {
        TRY(parse_sum(t, out));
        *out = feel_node_of_one(t, NODE_TEST, at, *out);
        t->nodes[*out].op = op;
        return NULL;
    }
    t->range_allowed = true;
    return parse_sum(t, out);
}

/* After "in (": tests, or what turns out to be a range. */
static err parse_tests(struct feel_text *t, size_t at, struct feel_operands *o)
{
    uint16_t test;

    do {
        TRY(parse_test(t, &test));
        if (o->last == t->nodes[o->of].first && t->nodes[test].kind != NODE_TEST &&
            t->nodes[test].kind != NODE_RANGE && feel_take_text(t, STR(".."))) {
            TRY(parse_range_end(t, at, true, test, &test));
            feel_operand_add(t, o, test);
            return NULL;
        }
        feel_operand_add(t, o, test);
    } while (feel_take(t, ','));
    return feel_take(t, ')') ? NULL : feel_expected(t, "',' or ')' after a test");
}

static err parse_in(struct feel_text *t, size_t at, uint16_t value, uint16_t *out)
{
    struct feel_operands o = { .of = feel_node_new(t, NODE_IN, at) };
    uint16_t test;

    feel_operand_add(t, &o, value);
    feel_skip_blanks(t);
    size_t open = t->at;
    if (feel_take(t, '(')) {
        TRY(parse_tests(t, open, &o));
    } else {
        TRY(parse_test(t, &test));
        feel_operand_add(t, &o, test);
    }
    return feel_folded(t, o.of, out);
}

static err parse_between(struct feel_text *t, size_t at, uint16_t value, uint16_t *out)
{
    struct feel_operands o = { .of = feel_node_new(t, NODE_BETWEEN, at) };
    uint16_t end;

    feel_operand_add(t, &o, value);
    TRY(parse_sum(t, &end));
    feel_operand_add(t, &o, end);
    if (!feel_take_word(t, STR("and")))
        return feel_expected(t, "'and' and the upper end of between");
    TRY(parse_sum(t, &end));
    feel_operand_add(t, &o, end);
    return feel_folded(t, o.of, out);
}

/* Longer ones first. */
static const struct {
    const char *name;
    enum feel_kind kind;
} types[] = {
    { "years and months duration", FEEL_MONTHS },
    { "days and time duration", FEEL_SPAN },
    { "date and time", FEEL_MOMENT },
    { "boolean", FEEL_BOOL },
    { "context", FEEL_CONTEXT },
    { "number", FEEL_NUMBER },
    { "string", FEEL_STRING },
    { "date", FEEL_DATE },
    { "list", FEEL_LIST },
    { "Any", FEEL_NULL },
};

static bool take_words(struct feel_text *t, const char *words)
{
    size_t from = t->at;
    str word, rest = str_from(words);

    do {
        str_cut(rest, ' ', &word, &rest);
        if (!feel_take_word(t, word)) {
            t->at = from;
            return false;
        }
    } while (rest.len > 0);
    return true;
}

static err parse_instance(struct feel_text *t, size_t at, uint16_t value, uint16_t *out)
{
    if (!feel_take_word(t, STR("of")))
        return feel_expected(t, "'of' after 'instance'");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (take_words(t, types[i].name)) {
            uint16_t n = feel_node_of_one(t, NODE_INSTANCE, at, value);
            t->nodes[n].op = types[i].kind;
            return feel_folded(t, n, out);
        }
    feel_skip_blanks(t);
    return feel_expected(t, "a type: number, string, boolean, list, context, date, date and time, "
                            "days and time duration, years and months duration or Any");
}

static err parse_comparison(struct feel_text *t, uint16_t *out)
{
    enum feel_op op;
    uint16_t left, right;

    TRY(parse_sum(t, &left));
    feel_skip_blanks(t);
    size_t at = t->at;
    *out = left;
    if (take_operator(t, &op)) {
        struct feel_operands o = { .of = feel_node_new(t, NODE_COMPARE, at) };
        TRY(parse_sum(t, &right));
        feel_operand_add(t, &o, left);
        feel_operand_add(t, &o, right);
        t->nodes[o.of].op = op;
        return feel_folded(t, o.of, out);
    }
    if (t->camunda)
        return NULL;
    if (feel_take_word(t, STR("in")))
        return parse_in(t, at, left, out);
    if (feel_take_word(t, STR("between")))
        return parse_between(t, at, left, out);
    if (feel_take_word(t, STR("instance")))
        return parse_instance(t, at, left, out);
    return NULL;
}

static err parse_and(struct feel_text *t, uint16_t *out)
{
    return parse_chain(t, NODE_AND, take_and, parse_comparison, out);
}

static err parse_or(struct feel_text *t, uint16_t *out)
{
    return parse_chain(t, NODE_OR, take_or, parse_and, out);
}

/* ---- if, for, some, every ---- */

static err parse_if(struct feel_text *t, size_t at, uint16_t *out)
{
    struct feel_operands o = { .of = feel_node_new(t, NODE_IF, at) };
    uint16_t part;

    TRY(parse_expr(t, &part));
    feel_operand_add(t, &o, part);
    if (!feel_take_word(t, STR("then")))
        return feel_expected(t, "an operator or 'then'");
    TRY(parse_expr(t, &part));
    feel_operand_add(t, &o, part);
    if (!feel_take_word(t, STR("else")))
        return feel_expected(t, "an operator or 'else'");
    TRY(parse_expr(t, &part));
    feel_operand_add(t, &o, part);
    return feel_folded(t, o.of, out);
}

static err parse_iterator(struct feel_text *t, uint16_t *out)
{
    uint16_t end;
    str name;

    feel_skip_blanks(t);
    struct feel_operands o = { .of = feel_node_new(t, NODE_ITERATOR, t->at) };
    TRY(feel_read_name(t, "a name for each item", &name));
    if (!feel_take_word(t, STR("in")))
        return feel_expected(t, "'in' and a list");
    TRY(parse_expr(t, &end));
    feel_operand_add(t, &o, end);
    if (feel_take_text(t, STR(".."))) {
        TRY(parse_expr(t, &end));
        feel_operand_add(t, &o, end);
    }
    const struct feel_name *bound = feel_name_of(t, name);
    t->nodes[o.of].name = bound;
    feel_bind(t, bound);
    *out = o.of;
    return NULL;
}

static err parse_loop(struct feel_text *t, size_t at, enum feel_node_kind kind, str behind,
                      uint16_t *out)
{
    struct feel_operands o = { .of = feel_node_new(t, kind, at) };
    const struct feel_bound *outside = t->bound;
    uint16_t part;

    do {
        TRY(parse_iterator(t, &part));
        feel_operand_add(t, &o, part);
    } while (feel_take(t, ','));
    if (!feel_take_word(t, behind))
        return feel_expected(t, kind == NODE_FOR ? "an operator, ',' or 'return'"
                                                 : "an operator, ',' or 'satisfies'");
    TRY(parse_expr(t, &part));
    feel_operand_add(t, &o, part);
    t->bound = outside;
    *out = o.of;
    return NULL;
}

static err parse_any(struct feel_text *t, uint16_t *out)
{
    feel_skip_blanks(t);
    size_t at = t->at;
    if (t->camunda)
        return parse_or(t, out);
    if (feel_take_word(t, STR("if")))
        return parse_if(t, at, out);
    if (feel_take_word(t, STR("for")))
        return parse_loop(t, at, NODE_FOR, STR("return"), out);
    if (feel_take_word(t, STR("some")))
        return parse_loop(t, at, NODE_SOME, STR("satisfies"), out);
    if (feel_take_word(t, STR("every")))
        return parse_loop(t, at, NODE_EVERY, STR("satisfies"), out);
    return parse_or(t, out);
}

static err parse_expr(struct feel_text *t, uint16_t *out)
{
    if (t->depth > FEEL_DEPTH_MAX)
        return feel_fail(t, t->at,
                         "expected at most %d expressions inside each other, found one more",
                         FEEL_DEPTH_MAX);
    t->depth++;
    TRY(parse_any(t, out));
    t->depth--;
    return NULL;
}

/* ---- all of it ---- */

err feel_compile(struct arena *a, str text, const struct feel **out)
{
    if (text.len > FEEL_TEXT_MAX)
        return err_new(a, ERR_INVALID, "expected an expression of at most %d bytes, found %zu",
                       FEEL_TEXT_MAX, text.len);
    if (!utf8_valid(text))
        return err_new(a, ERR_INVALID, "expected an expression in UTF-8, found byte %zu not to be",
                       utf8_valid_to(text));

    struct feel_text t = { .arena = a, .all = arena_copy(a, text), .fold_steps = FEEL_FOLD_STEPS };
    uint16_t root;
    t.camunda = feel_take_text(&t, STR("${"));
    if (!t.camunda)
        feel_take(&t, '=');
    TRY(parse_expr(&t, &root));
    if (t.camunda && !feel_take(&t, '}'))
        return feel_expected(&t, "an operator or '}'");
    feel_skip_blanks(&t);
    if (!feel_ended(&t))
        return feel_expected(&t, t.camunda ? "the end, with all of it in one ${…}"
                                           : "an operator or the end");

    struct feel *f = ARENA_NEW(a, struct feel);
    *f = (struct feel){ .text = t.all,
                        .nodes = t.nodes,
                        .root = root,
                        .names = t.free_names,
                        .name_count = t.free_count };
    *out = f;
    return NULL;
}

size_t feel_names(const struct feel *f, const str **names)
{
    *names = f->names;
    return f->name_count;
}

str feel_text(const struct feel *f)
{
    return f->text;
}
