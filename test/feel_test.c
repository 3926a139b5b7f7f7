/* feel_test.c: FEEL: the cases of test/cases/feel/ and of docs/feel.md, what its interface promises,
 * its arithmetic against a simpler one, and the laws of its three values. */
#include <pthread.h>

#include "base/date.h"
#include "flow/feel/private.h"
#include "json_help.h"

#define NOW INT64_C(1795032930250) /* 2026-11-18T20:15:30.250Z */

static struct feel_result eval(const char *text, const char *vars)
{
    struct feel_scope scope = { .vars = json_parsed(check_arena(),
                                                    quotes_double(check_arena(), vars)) };
    const struct feel *feel;
    struct feel_result result;

    CHECK_OK(feel_compile(check_arena(), str_from(text), &feel));
    CHECK_OK(feel_eval(check_arena(), feel, &scope, NOW, &result));
    return result;
}

/* ---- cases ---- */

#define ARROW " → "

/* What an expression comes to, in the words of the cases. */
static str outcome(str text, const struct json *vars, int64_t now_ms)
{
    struct arena *a = check_arena();
    struct feel_scope scope = { .vars = vars };
    const struct feel *feel;
    struct feel_result result;
    err e = feel_compile(a, text, &feel);

    if (!e) {
        CHECK_STR(feel_text(feel), arena_copy(a, text).at);
        e = feel_eval(a, feel, &scope, now_ms, &result);
    }
    if (e)
        return arena_printf(a, "%s: " STR_FMT, error_kind_info(e->kind)->name, STR_ARG(e->message));
    CHECK(feel_true(&result) == (json_is(result.value, JSON_BOOL) && result.value->len));
    CHECK((result.reason.len > 0) == json_is(result.value, JSON_NULL));
    str printed = json_printed(a, result.value);
    if (result.reason.len > 0)
        return arena_printf(a, "null: " STR_FMT, STR_ARG(result.reason));
    return printed;
}

/* Of an error and of null a part of the message is enough, behind the first colon. */
static bool fits(str found, str expected)
{
    str kind, part;

    if (str_eq(found, expected))
        return true;
    str_cut(expected, ':', &kind, &part);
    if (!str_starts(found, kind) || part.len == 0 || found.at[kind.len] != ':')
        return false;
    return (str_eq(kind, STR("null")) || str_eq(kind, STR("INVALID")) ||
            str_eq(kind, STR("LIMIT"))) &&
           str_contains(str_slice(found, kind.len + 1, found.len), str_trim(part));
}

struct cases {
    const char *file;
    const struct json *vars;
    int64_t now_ms;
    size_t count, failed;
};

static void check_case(struct cases *c, str text, str expected, size_t line)
{
    str found = outcome(text, c->vars, c->now_ms);

    c->count++;
    if (fits(found, expected))
        return;
    c->failed++;
    check_note("%s:%zu: " STR_FMT, c->file, line, STR_ARG(text));
    check_note("    expected " STR_FMT, STR_ARG(expected));
    check_note("    found    " STR_FMT, STR_ARG(found));
}

static bool cut_arrow(str line, str *before, str *after)
{
    for (size_t at = line.len; at-- > 0;)
        if (str_starts(str_slice(line, at, line.len), STR(ARROW))) {
            *before = str_slice(line, 0, at);
            *after = str_slice(line, at + strlen(ARROW), line.len);
            return true;
        }
    return false;
}

static void check_line(struct cases *c, str line, size_t number)
{
    str text, expected;

    if (str_starts(line, STR("vars ")))
        c->vars = json_parsed(check_arena(), str_slice(line, 5, line.len));
    else if (str_starts(line, STR("now ")))
        CHECK(date_parse(str_slice(line, 4, line.len), &c->now_ms));
    else if (cut_arrow(line, &text, &expected))
        check_case(c, text, expected, number);
    else if (line.len > 0 && line.at[0] != '#')
        check_fail(c->file, (int)number, "no case: " STR_FMT, STR_ARG(line));
}

static void check_cases(struct cases *c, void (*check)(struct cases *c, str line, size_t number))
{
    str rest = check_read(check_source(c->file)), line;

    for (size_t number = 1; rest.len > 0; number++) {
        str_cut(rest, '\n', &line, &rest);
        check(c, line, number);
    }
    check_note("%zu cases", c->count);
    if (c->failed > 0)
        check_fail(c->file, 1, "%zu of %zu cases fail", c->failed, c->count);
}

TEST(feel_says_what_its_cases_say)
{
    static const char *const names[] = { "numbers", "logic", "paths",   "text",
                                         "lists",   "time",  "camunda", "errors" };
    size_t count = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct cases c = { .file =
                               arena_printf(check_arena(), "test/cases/feel/%s.txt", names[i]).at };
        check_cases(&c, check_line);
        count += c.count;
    }
    CHECK(count >= 600);
}

/* ---- the page ---- */

enum { OUTSIDE, VARIABLES, EXAMPLES, OTHER };
static int block;
static struct buf variables;

/* In a table an example is two spans of code with an arrow between them. */
static void check_row(struct cases *c, str line, size_t number)
{
    str before, after;

    while (cut_arrow(line, &before, &after)) {
        size_t from = before.len, end = str_find(str_slice(after, 1, after.len), '`');
        CHECK(before.len > 1 && before.at[before.len - 1] == '`' && after.at[0] == '`');
        for (from = before.len - 1; from > 0 && before.at[from - 1] != '`';)
            from--;
        check_case(c, str_slice(before, from, before.len - 1), str_slice(after, 1, end + 1),
                   number);
        line = str_slice(before, 0, from);
    }
}

static void check_page_line(struct cases *c, str line, size_t number)
{
    if (str_starts(line, STR("```"))) {
        if (block == VARIABLES)
            c->vars = json_parsed(check_arena(), buf_str(&variables));
        block = block != OUTSIDE               ? OUTSIDE
                : str_eq(line, STR("```json")) ? VARIABLES
                : str_eq(line, STR("```feel")) ? EXAMPLES
                                               : OTHER;
        variables = buf_in(check_arena());
    } else if (block == VARIABLES) {
        buf_add(&variables, line);
    } else if (block == EXAMPLES) {
        str text, expected;
        if (cut_arrow(line, &text, &expected))
            check_case(c, str_trim(text), expected, number);
        else
            CHECK(line.len == 0);
    } else if (block == OUTSIDE) {
        check_row(c, line, number);
    }
}

TEST(feel_does_what_its_page_shows)
{
    struct cases c = { .file = "docs/feel.md", .now_ms = NOW };

    check_cases(&c, check_page_line);
    CHECK(c.count >= 100);
}

TEST(feel_page_has_every_function)
{
    str page = check_read(check_source("docs/feel.md"));
    size_t count = 0;

    for (size_t t = 0; t < FEEL_CALLS; t++)
        for (const struct feel_function *f = feel_calls[t]; f->name; f++, count++) {
            CHECK_HAS(page, arena_printf(check_arena(), "\n| `%s(", f->name).at);
            CHECK(str_starts(str_from(f->usage), str_from(f->name)));
        }
    check_note("%zu functions", count);
}

/* ---- the interface ---- */

static str names_of(const char *text)
{
    const struct feel *feel;
    const str *names;
    struct buf out = buf_in(check_arena());

    CHECK_OK(feel_compile(check_arena(), str_from(text), &feel));
    size_t count = feel_names(feel, &names);
    for (size_t i = 0; i < count; i++) {
        buf_add(&out, i > 0 ? STR(" ") : STR(""));
        buf_add(&out, names[i]);
    }
    return buf_str(&out);
}

TEST(feel_names_are_the_variables_that_it_may_read)
{
    CHECK_STR(names_of("1 + 2"), "");
    CHECK_STR(names_of("a.b.c > b and a.x"), "a b");
    CHECK_STR(names_of("for x in l return x + y"), "l y");
    CHECK_STR(names_of("for x in l return (for y in x return y) != y"), "l y");
    CHECK_STR(names_of("some x in l, y in x satisfies y = z"), "l z");
    CHECK_STR(names_of("files[item.path = wanted]"), "files wanted");
    CHECK_STR(names_of("item = l[item > 1]"), "item l");
    CHECK_STR(names_of("{a: b, c: a}.c"), "b");
    CHECK_STR(names_of("x + {x: 1}.x"), "x");
    CHECK_STR(names_of("count(l) + sum(l) + count"), "l count");
    CHECK_STR(names_of("`a b` and `a b`"), "a b");
    CHECK_STR(names_of("if p then q else r in [s..t]"), "p q r s t");
}

TEST(feel_looks_for_names_in_the_innermost_scope_first)
{
    struct arena *a = check_arena();
    struct feel_scope root = { .vars = json_parsed(a, STR("{\"a\":1,\"b\":2,\"n\":7}")) };
    struct feel_scope none = { .outer = &root };
    struct feel_scope inner = { .vars = json_parsed(a, STR("{\"a\":10,\"n\":null}")),
                                .outer = &none };
    const struct feel *feel;
    struct feel_result result;

    CHECK_OK(feel_compile(a, STR("[a, b, n]"), &feel));
    CHECK_OK(feel_eval(a, feel, &inner, 0, &result));
    CHECK_STR(json_printed(a, result.value), "[10,2,null]");
    CHECK_OK(feel_eval(a, feel, NULL, 0, &result));
    CHECK_STR(json_printed(a, result.value), "[null,null,null]");
}

TEST(feel_leaves_values_of_variables_in_place)
{
    struct arena *a = check_arena();
    const struct json *vars = json_parsed(a, STR("{\"a\":{\"b\":[1.50,{\"c\":1e2}]}}"));
    struct feel_scope scope = { .vars = vars };
    const struct feel *feel;
    struct feel_result result;

    CHECK_OK(feel_compile(a, STR("a.b"), &feel));
    CHECK_OK(feel_eval(a, feel, &scope, 0, &result));
    CHECK(result.value == json_get(json_get(vars, "a"), "b"));
    CHECK_STR(json_printed(a, result.value), "[1.50,{\"c\":1e2}]");
}

TEST(feel_needs_its_text_no_more)
{
    struct arena *a = check_arena();
    char text[] = "wanted = \"text\" and other";
    const struct feel *feel;
    struct feel_result result;
    struct feel_scope scope = { .vars =
                                    json_parsed(a, STR("{\"wanted\":\"text\",\"other\":true}")) };

    CHECK_OK(feel_compile(a, str_from(text), &feel));
    memset(text, '!', sizeof text - 1);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(feel_eval(a, feel, &scope, 0, &result));
        CHECK(feel_true(&result));
    }
    CHECK_STR(feel_text(feel), "wanted = \"text\" and other");
}

TEST(feel_names_of_any_length_are_found)
{
    struct arena *a = check_arena();

    for (int len = 1; len < 40; len++) {
        str name =
            arena_printf(a, "%.*s", len, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
        const char *vars = arena_printf(a,
                                        "{'" STR_FMT "':"
                                        "%d,'o':{'" STR_FMT "':1}}",
                                        STR_ARG(name), len, STR_ARG(name))
                               .at;
        if (len == 1)
            CHECK_STR(json_shown(a, eval("o.a + a", vars).value), "2");
        else
            CHECK_INT(eval(arena_printf(a, STR_FMT " - o." STR_FMT " = %d", STR_ARG(name),
                                        STR_ARG(name), len - 1)
                               .at,
                           vars)
                          .value->len,
                      1);
    }
}

TEST(feel_texts_beyond_the_limit_and_outside_utf8_are_refused)
{
    struct arena *a = check_arena();
    const struct feel *feel;
    struct buf text = buf_in(a);

    CHECK_ERR(feel_compile(a, STR("\"\xff\""), &feel), ERR_INVALID);
    CHECK_ERR(feel_compile(a, ((str){ "1\0", 2 }), &feel), ERR_INVALID);
    while (text.len < FEEL_TEXT_MAX)
        buf_byte(&text, ' ');
    text.at[0] = '1';
    CHECK_OK(feel_compile(a, buf_str(&text), &feel));
    buf_byte(&text, ' ');
    CHECK_ERR(feel_compile(a, buf_str(&text), &feel), ERR_INVALID);
}

static void *eval_often(void *of)
{
    const struct feel *feel = of;
    struct arena *a = check_arena_new();
    struct feel_scope scope = { .vars =
                                    json_parsed(a, STR("{\"l\":[\"src/a.c\",\"x\"],\"n\":1}")) };
    struct feel_result result;

    for (int i = 0; i < 2000; i++) {
        CHECK_OK(feel_eval(a, feel, &scope, i, &result));
        CHECK_STR(json_printed(a, result.value), "[true,false,1]");
    }
    return NULL;
}

TEST(feel_may_be_evaluated_by_several_threads)
{
    const struct feel *feel;
    pthread_t threads[4];

    CHECK_OK(feel_compile(check_arena(),
                          STR("append(for x in l return matches(x, \"[.][ch]$\"), n)"), &feel));
    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, eval_often, (void *)feel), 0);
    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
}

/* ---- what binds tighter ---- */

static const struct {
    const char *text;
    int level;
} joins[] = {
    { " or ", 1 }, { " and ", 2 }, { " = ", 3 }, { " < ", 3 }, { " != ", 3 }, { " >= ", 3 },
    { " + ", 4 },  { " - ", 4 },   { " * ", 5 }, { " / ", 5 }, { " ** ", 6 },
};
#define JOINS (sizeof joins / sizeof *joins)
#define VALUE_LEVEL 7

/* The same expression twice: in `all` with all parentheses, in `few` with those that are needed. Gives
 * the level of its operator. */
static int random_expression(struct random *r, unsigned depth, struct buf *all, struct buf *few)
{
    static const char *const values[] = { "1",    "2",     "-3",   "0.5",     "n",    "m",
                                          "true", "false", "null", "missing", "\"s\"" };
    if (depth == 0 || random_below(r, 5) == 0) {
        str value = str_from(values[random_below(r, 11)]);
        buf_add(all, value);
        buf_add(few, value);
        return VALUE_LEVEL;
    }
    size_t join = random_below(r, JOINS);
    int level = joins[join].level;
    for (int side = 0; side < 2; side++) {
        struct buf part = buf_in(check_arena());
        buf_add(all, side ? str_from(joins[join].text) : STR(""));
        buf_byte(all, '(');
        int inner = random_expression(r, depth - 1, all, &part);
        buf_byte(all, ')');
        buf_add(few, side ? str_from(joins[join].text) : STR(""));
        bool needed = inner < level || (inner == level && (side == 1 || level == 3));
        buf_printf(few, needed ? "(" STR_FMT ")" : STR_FMT, STR_ARG(buf_str(&part)));
    }
    return level;
}

TEST(random_parentheses_that_are_not_needed_change_nothing)
{
    struct random r = random_start();
    size_t values = 0;

    for (int i = 0; i < 10000; i++) {
        struct arena *a = check_arena();
        struct buf all = buf_in(a), few = buf_in(a);
        random_expression(&r, 4, &all, &few);
        str one = json_printed(a, eval(buf_str(&all).at, "{'n':2,'m':3}").value);
        str other = json_printed(a, eval(buf_str(&few).at, "{'n':2,'m':3}").value);
        if (!str_eq(one, other))
            check_fail(__FILE__, __LINE__, STR_FMT "\nis " STR_FMT "\n" STR_FMT "\nis " STR_FMT,
                       STR_ARG(buf_str(&all)), STR_ARG(one), STR_ARG(buf_str(&few)),
                       STR_ARG(other));
        values += !str_eq(one, STR("null"));
    }
    CHECK(values > 3000);
}

/* ---- arithmetic against a simpler one ---- */

/* n · 10^-scale, small enough that 128 bits hold all of it. */
struct small {
    __int128 n;
    int scale;
};

static struct small random_small(struct random *r)
{
    static const int64_t bounds[] = { 10, 1000, 1000000, INT64_C(1000000000) };
    int64_t bound = bounds[random_below(r, 4)];
    return (struct small){ (__int128)(random_next(r) % (uint64_t)(2 * bound)) - bound,
                           (int)random_below(r, 7) };
}

static str small_print(struct arena *a, struct small s)
{
    char digits[64];
    int at = 64, count = 0;
    bool negative = s.n < 0;
    unsigned __int128 n = negative ? -(unsigned __int128)s.n : (unsigned __int128)s.n;

    while (s.scale > 0 && n % 10 == 0) {
        n /= 10;
        s.scale--;
    }
    if (n == 0)
        negative = false;
    do {
        if (count++ == s.scale && s.scale > 0)
            digits[--at] = '.';
        digits[--at] = (char)('0' + (int)(n % 10));
        n /= 10;
    } while (n > 0 || count <= s.scale);
    return arena_printf(a, "%s%.*s", negative ? "-" : "", 64 - at, digits + at);
}

static __int128 power_of_ten(int n)
{
    __int128 p = 1;
    while (n-- > 0)
        p *= 10;
    return p;
}

static struct small small_apply(char op, struct small a, struct small b)
{
    int scale = a.scale > b.scale ? a.scale : b.scale;

    if (op == '*')
        return (struct small){ a.n * b.n, a.scale + b.scale };
    a.n *= power_of_ten(scale - a.scale);
    b.n *= power_of_ten(scale - b.scale);
    return (struct small){ op == '+' ? a.n + b.n : a.n - b.n, scale };
}

/* Numbers below this are not rounded. */
static bool small_is_exact(struct small s)
{
    __int128 n = s.n < 0 ? -s.n : s.n;
    while (n > 0 && n % 10 == 0)
        n /= 10;
    return n < power_of_ten(18);
}

/* Those that are printed with an exponent are compared by value. */
static void check_number(const char *text, str expected)
{
    struct arena *a = check_arena();
    struct feel_result result = eval(text, "{}");

    CHECK(json_is_number(result.value));
    const struct json *wanted = json_parsed(a, expected);
    if (json_number_compare(result.value, wanted) != 0)
        check_fail(__FILE__, __LINE__, "%s\nexpected: " STR_FMT "\nfound:    " STR_FMT, text,
                   STR_ARG(expected), STR_ARG(json_printed(a, result.value)));
}

TEST(random_arithmetic_is_that_of_whole_numbers_of_128_bits)
{
    struct random r = random_start();
    static const char ops[] = "+-*";
    size_t exact = 0;

    for (int i = 0; i < 20000; i++) {
        struct arena *a = check_arena();
        struct small x = random_small(&r), y = random_small(&r);
        char op = ops[random_below(&r, 3)];
        struct small z = small_apply(op, x, y);
        if (!small_is_exact(z))
            continue;
        exact++;
        str left = small_print(a, x), right = small_print(a, y);
        check_number(
            arena_printf(a, "(" STR_FMT ") %c (" STR_FMT ")", STR_ARG(left), op, STR_ARG(right)).at,
            small_print(a, z));
    }
    CHECK(exact > 15000);
}

/* Half to even, at 18 digits, by the remainder. */
static struct small small_divide(int64_t a, int64_t b)
{
    bool negative = (a < 0) != (b < 0);
    unsigned __int128 x = (unsigned __int128)(a < 0 ? -a : a),
                      y = (unsigned __int128)(b < 0 ? -b : b);
    int scale = 0;

    while (x > 0 && x / y < (unsigned __int128)power_of_ten(17)) {
        x *= 10;
        scale++;
    }
    unsigned __int128 q = x / y, rest = x % y;
    if (2 * rest > y || (2 * rest == y && q % 2))
        q++;
    return (struct small){ negative ? -(__int128)q : (__int128)q, scale };
}

TEST(random_divisions_are_rounded_half_to_even)
{
    struct random r = random_start();

    for (int i = 0; i < 20000; i++) {
        struct arena *a = check_arena();
        int64_t x = (int64_t)(random_next(&r) % 2000000000) - 1000000000,
                y = (int64_t)(random_next(&r) % 2000000) - 1000000;
        if (y == 0)
            continue;
        check_number(arena_printf(a, "(%lld) / (%lld)", (long long)x, (long long)y).at,
                     small_print(a, small_divide(x, y)));
    }
}

/* Numbers of all lengths and exponents are ordered as their JSON texts are, and sums with zero, and
 * texts that come back, change nothing. */
TEST(random_numbers_of_any_length_keep_their_order)
{
    struct random r = random_start();

    for (int i = 0; i < 20000; i++) {
        struct arena *a = check_arena();
        struct buf texts[2];
        for (int k = 0; k < 2; k++) {
            texts[k] = buf_in(a);
            if (random_below(&r, 2))
                buf_byte(&texts[k], '-');
            buf_byte(&texts[k], (char)('1' + random_below(&r, 9)));
            for (uint32_t n = random_below(&r, 24); n > 0; n--)
                buf_byte(&texts[k], (char)('0' + (random_below(&r, 3) ? 0 : random_below(&r, 10))));
            if (random_below(&r, 2))
                buf_printf(&texts[k], "e%d", (int)random_below(&r, 60) - 30);
        }
        str x = buf_str(&texts[0]), y = buf_str(&texts[1]);
        int order = json_number_compare(json_parsed(a, x), json_parsed(a, y));
        const char *vars =
            arena_printf(a, "{'x':" STR_FMT ",'y':" STR_FMT "}", STR_ARG(x), STR_ARG(y)).at;
        CHECK_STR(json_shown(a, eval("[x < y, x = y, x > y, x <= y, x >= y, x != y]", vars).value),
                  order < 0   ? "[true,false,false,true,false,true]"
                  : order > 0 ? "[false,false,true,false,true,true]"
                              : "[false,true,false,true,true,false]");
        CHECK(
            feel_true(&(struct feel_result){ .value = eval("number(string(x)) = x", vars).value }));
    }
}

/* ---- three values ---- */

static const char *const truths[] = { "true", "false", "null" };

TEST(random_logic_is_kleenes)
{
    struct random r = random_start();

    for (int i = 0; i < 5000; i++) {
        struct arena *a = check_arena();
        uint32_t count = 1 + random_below(&r, 6), t[6], most = 1, least = 0;
        bool is_and = random_below(&r, 2), as_list = random_below(&r, 3) == 0;
        struct buf text = buf_in(a), vars = buf_in(a);

        /* true 0, null in the middle, false last: and is the maximum, or the minimum */
        static const uint32_t rank[] = { 0, 2, 1 };
        most = 0;
        least = 2;
        buf_add(&text, as_list ? is_and ? STR("all([") : STR("any([") : STR(""));
        for (uint32_t k = 0; k < count; k++) {
            t[k] = random_below(&r, 3);
            bool as_name = random_below(&r, 2);
            buf_add(&text, k == 0    ? STR("")
                           : as_list ? STR(",")
                           : is_and  ? STR(" and ")
                                     : STR(" or "));
            if (as_name)
                buf_printf(&text, "v%u", (unsigned)k);
            else
                buf_add(&text, str_from(truths[t[k]]));
            buf_printf(&vars, "%s'v%u':%s", k == 0 ? "{" : ",", (unsigned)k, truths[t[k]]);
            most = rank[t[k]] > most ? rank[t[k]] : most;
            least = rank[t[k]] < least ? rank[t[k]] : least;
        }
        buf_add(&text, as_list ? STR("])") : STR(""));
        buf_byte(&vars, '}');
        static const char *const by_rank[] = { "true", "null", "false" };
        struct feel_result result = eval(buf_str(&text).at, buf_str(&vars).at);
        CHECK_STR(json_printed(a, result.value), by_rank[is_and ? most : least]);
    }
}

/* ---- values that come back ---- */

/* JSON as a FEEL expression: quoted keys, and everything else as it is. */
TEST(random_json_is_an_expression_for_itself)
{
    struct random r = random_start();

    for (int i = 0; i < 3000; i++) {
        struct arena *a = check_arena();
        struct json j = random_json(a, &r, 4, 5);
        str text = json_printed(a, &j);
        const struct feel *feel;
        struct feel_result result;
        if (text.len > FEEL_TEXT_MAX)
            continue;
        CHECK_OK(feel_compile(a, text, &feel));
        CHECK_OK(feel_eval(a, feel, NULL, NOW, &result));
        CHECK(json_equal(&j, result.value));

        /* and equal to itself, in place and not */
        struct json vars = json_object();
        json_put(a, &vars, STR("v"), j);
        CHECK_OK(feel_compile(
            a, arena_printf(a, "v = v and [v] = [" STR_FMT "] and {a: v} = {a: v}", STR_ARG(text)),
            &feel));
        CHECK_OK(feel_eval(a, feel, &(struct feel_scope){ .vars = &vars }, NOW, &result));
        CHECK(feel_true(&result));
    }
}

/* Adding durations to dates goes there and back; months clamp, so only days are asked. */
TEST(random_times_are_added_and_taken_away)
{
    struct random r = random_start();

    for (int i = 0; i < 5000; i++) {
        struct arena *a = check_arena();
        int64_t at = (int64_t)(random_next(&r) % UINT64_C(200000000000000)) -
                     INT64_C(50000000000000),
                span = (int64_t)(random_next(&r) % UINT64_C(100000000000)) - INT64_C(50000000000);
        char one[DATE_TEXT_MAX], other[DATE_TEXT_MAX];
        str from = date_print(one, at), to = date_print(other, at + span);
        struct feel_result result =
            eval(arena_printf(a,
                              "for f in [date and time(\"" STR_FMT
                              "\")], t in [date and time(\"" STR_FMT
                              "\")] return [f + (t - f) = t, t - (t - f) = f, (f < t) = (t - f > "
                              "duration(\"PT0S\")), duration(string(t - f)) = t - f, "
                              "date and time(string(t)) = t]",
                              STR_ARG(from), STR_ARG(to))
                     .at,
                 "{}");
        CHECK_STR(json_printed(a, result.value), "[[true,true,true,true,true]]");
    }
}
