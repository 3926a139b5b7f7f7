/* hostile_feel_test.c: expressions and templates made to hurt are refused, given up, or answered, at
 * once. */
#include "flow/template.h"
#include "hostile.h"

static err run_feel(struct arena *a, const struct hostile *h, struct work *spent)
{
    str text = text_make(a, &h->first, true);
    const struct json vars = value_of(a, &h->second);
    const struct feel_scope scope = { .vars = &vars };
    const struct feel *feel;
    struct feel_result result;
    struct work start = work_now();
    err e = feel_compile(a, text, &feel);

    if (!e)
        e = feel_eval(a, feel, &scope, 0, &result);
    *spent = work_since(start);
    return e;
}

#define WORDS "{'s':'" LONG_A LONG_A LONG_A LONG_A LONG_A LONG_A LONG_A LONG_A "',"
#define TEXTS                                                                                 \
    {                                                                                         \
        "{'l':[0", ",'" LONG_A "\1'", 20000, "", "", "],'s':'" LONG_A "','p':'(a+)+$','n':1}" \
    }

TEST(hostile_expressions_are_refused_given_up_or_answered_at_once)
{
    static const struct hostile cases[] = {
        /* the text */
        { "4 KiB of (", MANY("", "(", 4096, ""), PLAIN("{}"), "INVALID: at most 32" },
        { "4 KiB of [", MANY("", "[", 4096, ""), PLAIN("{}"), "INVALID: at most 32" },
        { "4 KiB of {", MANY("", "{a:", 1365, ""), PLAIN("{}"), "INVALID: at most 32" },
        { "4 KiB of -", MANY("", "-", 4096, ""), PLAIN("{}"), "INVALID: expected a value" },
        { "4 KiB of if", MANY("", "if ", 1365, ""), PLAIN("{}"), "INVALID: at most 32" },
        { "4 KiB of else", MANY("", "if a then b else ", 240, ""), PLAIN("{}"),
          "INVALID: at most 32" },
        { "4 KiB of not", MANY("", "not(", 1024, ""), PLAIN("{}"), "INVALID: at most 32" },
        { "4 KiB of in", MANY("", "1 in (", 682, ""), PLAIN("{}"), "INVALID: expected" },
        { "4 KiB of in [", MANY("", "x in [", 682, ""), PLAIN("{}"), "INVALID: at most 32" },
        { "4 KiB of filters inside", MANY("", "a[", 2048, ""), PLAIN("{}"), "INVALID: at most 32" },
        { "4 KiB of filters behind", MANY("l", "[1]", 1365, ""), PLAIN("{'l':[1]}"), "ok" },
        { "the deepest", NESTED("(", 32, "1", ")"), PLAIN("{}"), "ok" },
        { "one deeper", NESTED("(", 33, "1", ")"), PLAIN("{}"), "INVALID: at most 32" },
        { "4 KiB of a.a", MANY("a", ".a", 2047, ""), PLAIN("{'a':{'a':1}}"), "ok" },
        { "4 KiB of +", MANY("1", "+1", 2047, ""), PLAIN("{}"), "ok" },
        { "4 KiB of n +", MANY("n", "+n", 2047, ""), PLAIN("{'n':1e-20}"), "ok" },
        { "4 KiB of **", MANY("n", "**n", 1365, ""), PLAIN("{'n':9}"), "ok" },
        { "4 KiB of and", MANY("a", " and a", 682, ""), PLAIN("{'a':true}"), "ok" },
        { "4 KiB of names", MANY("[a", ",a\1", 700, "]"), PLAIN("{}"), "ok" },
        { "4 KiB of one name", MANY("", "a", 4096, ""), PLAIN("{}"), "ok" },
        { "4 KiB of digits", MANY("", "9", 300, ""), PLAIN("{}"), "ok" },
        { "4 KiB of digits that are too large", MANY("", "9", 4096, ""), PLAIN("{}"),
          "INVALID: range" },
        { "4 KiB of fraction", MANY("0.", "9", 4094, ""), PLAIN("{}"), "ok" },
        { "4 KiB of a string", MANY("'", "a", 4094, "'"), PLAIN("{}"), "ok" },
        { "4 KiB of an open string", MANY("'", "a", 4095, ""), PLAIN("{}"), "INVALID: closing" },
        { "4 KiB of escapes", MANY("'", "\\uD83D\\uDE00", 341, "'"), PLAIN("{}"), "ok" },
        { "4 KiB of keys", MANY("{z:0", ",a\1:0", 550, "}"), PLAIN("{}"), "ok" },
        { "4 KiB of blanks", MANY("", " ", 4096, ""), PLAIN("{}"), "INVALID: found the end" },
        { "4 KiB of zero bytes", MANY("a", "\x7f", 4095, ""), PLAIN("{}"), "INVALID: U+007F" },
        { "longer", MANY("", "(", 100000, ""), PLAIN("{}"), "INVALID: 4096" },
        { "4 KiB of arguments", MANY("sum(1", ",1", 2040, ")"), PLAIN("{}"), "ok" },
        { "4 KiB of patterns", MANY("[1", ",matches(s,'((a+)+)+$')", 170, "]"),
          PLAIN("{'s':'" LONG_A "!'}"), "LIMIT: pattern" },
        { "4 KiB of constants", MANY("concatenate([]", ",[1,2,3]", 500, ")"), PLAIN("{}"), "ok" },
        { "constants that double", NESTED("concatenate([1,2,3,4,5,6,7,8],", 30, "[]", ")"),
          PLAIN("{}"), "ok" },
        /* loops */
        { "for in for in for", MANY("for a in 1..1000", ", b\1 in 1..1000", 5, " return 1"),
          PLAIN("{}"), "LIMIT: steps" },
        { "for of all numbers", PLAIN("for a in 1..999999999999999999 return a"), PLAIN("{}"),
          "LIMIT: steps" },
        { "for that goes down", PLAIN("for a in 9e18..-9e18 return a"), PLAIN("{}"),
          "LIMIT: steps" },
        { "some that never is", PLAIN("some a in 1..1e18 satisfies false"), PLAIN("{}"),
          "LIMIT: steps" },
        { "every inside every", PLAIN("every a in l satisfies every b in l satisfies a != b + 1"),
          TEXTS, "LIMIT: steps" },
        { "filters inside filters", PLAIN("l[count(l[count(l[item = 1]) = 0]) = 0]"), TEXTS,
          "LIMIT: steps" },
        { "loops that keep lists", PLAIN("for a in 1..1000 return for b in 1..1000 return l"),
          TEXTS, "LIMIT: steps" },
        /* texts and results */
        { "a text that grows", NESTED("(for x in [", 10, "s", "] return x + x)[1]"),
          PLAIN(WORDS "'t':1}"), "LIMIT: too long" },
        { "string of string of string", NESTED("string([", 15, "s", ",s])"), PLAIN(WORDS "'t':1}"),
          "LIMIT: too long" },
        { "string of all", PLAIN("for i in 1..10000 return string(l)"), TEXTS, "LIMIT: too long" },
        { "join of all", PLAIN("string join(for i in l return string(i), s)"), TEXTS,
          "LIMIT: too long" },
        { "joins over and over",
          PLAIN("for i in 1..10000 return string length(string join(for k in "
                "1..500 return s))"),
          TEXTS, "LIMIT" },
        { "a result that is one value, often", PLAIN("for i in 1..10000 return l[2]"), TEXTS,
          "LIMIT: result is too long" },
        { "a result that is a long list", PLAIN("l"), TEXTS, "LIMIT: result is too long" },
        { "upper case over and over",
          PLAIN("for i in 1..100000 return string length(upper case(s))"), PLAIN(WORDS "'t':1}"),
          "LIMIT: steps" },
        { "comparing long texts", PLAIN("for a in l, b in l return a = b"), TEXTS, "LIMIT: steps" },
        { "equality of all", PLAIN("for a in 1..10000 return l = l"), TEXTS, "ok" },
        { "equality of copies", PLAIN("for a in 1..10000 return l = append(l)"), TEXTS,
          "LIMIT: steps" },
        { "distinct values", PLAIN("count(distinct values(l))"), TEXTS, "LIMIT: steps" },
        { "reverse of reverse", NESTED("reverse(", 30, "l", ")"), TEXTS, "LIMIT" },
        { "flatten of flatten", NESTED("flatten([", 15, "l,l", "])"), TEXTS, "LIMIT: steps" },
        { "median of all", PLAIN("for i in 1..100000 return median(for k in 1..1000 return -k)"),
          PLAIN("{}"), "LIMIT: steps" },
        { "contexts of contexts",
          PLAIN("for i in 1..100000 return context merge(for k in 1..1000 return "
                "{a: k, b: i})"),
          PLAIN("{}"), "LIMIT: steps" },
        { "a search in a wide object", PLAIN("for i in 1..100000 return o.nothing"),
          MANY("{'o':{'':0", ",'a\1':0", 20000, "}}"), "LIMIT: steps" },
        { "a variable among many", PLAIN("for i in 1..100000 return nothing"),
          MANY("{'':0", ",'a\1':0", 20000, "}"), "LIMIT: steps" },
        { "patterns that backtrack", PLAIN("for t in l return matches(t, '(a+)+$')"), TEXTS,
          "LIMIT" },
        { "a pattern for each", PLAIN("for t in 1..10000 return matches(s, string(t))"), TEXTS,
          "LIMIT: steps" },
        { "pattern and text of the variables", PLAIN("matches(s + '!', p)"), TEXTS,
          "LIMIT: pattern" },
        { "splits", PLAIN("for i in 1..100000 return split(s, 'a')"), PLAIN(WORDS "'t':1}"),
          "LIMIT: steps" },
        { "a search that nearly finds", PLAIN("for i in 1..100000 return contains(s, s + 'b')"),
          PLAIN(WORDS "'t':1}"), "LIMIT: steps" },
        { "powers of powers", PLAIN("for i in 1..100000 return 1.000000001 ** 999999999999"),
          PLAIN("{}"), "LIMIT" },
        { "years and months", PLAIN("for i in 1..100000 return day of year(@'9999-12-31')"),
          PLAIN("{}"), "LIMIT" },
    };
    CHECK_HOSTILE(cases, run_feel);
}

static err run_template(struct arena *a, const struct hostile *h, struct work *spent)
{
    str text = text_make(a, &h->first, true), out;
    const struct json vars = value_of(a, &h->second);
    const struct feel_scope scope = { .vars = &vars };
    const struct template *t;
    struct work start = work_now();
    err e = template_compile(a, text, &t);

    if (!e)
        e = template_render(a, t, &scope, 0, &out);
    *spent = work_since(start);
    return e;
}

TEST(hostile_templates_are_refused_given_up_or_rendered_at_once)
{
    static const struct hostile cases[] = {
        { "64 KiB of {{", MANY("", "{{", 32768, ""), PLAIN("{}"), "INVALID: expected }}" },
        { "64 KiB of {{}}", MANY("", "{{}}", 16384, ""), PLAIN("{}"), "INVALID: found the end" },
        { "64 KiB of {", MANY("", "{ ", 32768, ""), PLAIN("{}"), "ok" },
        { "64 KiB of }", MANY("", "}", 65536, ""), PLAIN("{}"), "ok" },
        { "64 KiB of lines and an open one", MANY("", "\n", 60000, "{{'"), PLAIN("{}"),
          "INVALID: line 60001" },
        { "expressions", MANY("", "{{1}}", 13000, ""), PLAIN("{}"), "ok" },
        { "names", MANY("", "{{a\1}}", 6500, ""), PLAIN("{}"), "ok" },
        { "a long value, often", MANY("", "{{s}}", 13000, ""), PLAIN(WORDS "'t':1}"),
          "LIMIT: longer" },
        { "loops, each within its steps",
          MANY("", "{{count(for i in 1..10000 return i)}}", 1700, ""), PLAIN("{}"),
          "LIMIT: steps" },
        { "longer", MANY("", "a", 65537, ""), PLAIN("{}"), "INVALID: 65536" },
    };
    CHECK_HOSTILE(cases, run_template);
}
