/* template_test.c: texts with expressions in them. */
#include "flow/template.h"
#include "json_help.h"

#define VARS "{'issue':{'title':'it crashes','n':7,'labels':['a','b']},'none':null,'yes':true}"

static const struct template *compiled(const char *text)
{
    const struct template *t;

    CHECK_OK(template_compile(check_arena(), quotes_double(check_arena(), text), &t));
    return t;
}

static str rendered(const char *text)
{
    struct feel_scope scope = { .vars = json_parsed(check_arena(),
                                                    quotes_double(check_arena(), VARS)) };
    str out;

    CHECK_OK(template_render(check_arena(), compiled(text), &scope, 0, &out));
    return quotes_single(check_arena(), out);
}

TEST(template_puts_values_into_the_text)
{
    static const struct {
        const char *text, *rendered;
    } cases[] = {
        { "", "" },
        { "nothing { here } }}", "nothing { here } }}" },
        { "{{issue.title}}", "it crashes" },
        { "Fix '{{ issue.title }}' (#{{issue.n}}).", "Fix 'it crashes' (#7)." },
        { "{{issue.labels}} and {{issue}}",
          "['a','b'] and {'title':'it crashes','n':7,'labels':['a','b']}" },
        { "<{{none}}{{missing.at.all}}>", "<>" },
        { "{{yes}} {{1/4}}", "true 0.25" },
        { "{{ '}}' }}", "}}" },
        { "{{ '{{' }}a", "{{a" },
        { "{{ '\\'}}' }}", "'}}" },
        { "{{ {a: {b: 1}}.a.b }}", "1" },
        { "{{ {a: {b: 1}} }}", "{'a':{'b':1}}" },
        { "{{{a: 1}.a}}", "1" },
        { "{{ `}}` }}", "" },
        { "{{now()}}", "1970-01-01T00:00:00Z" },
        { "{{ if yes then 'a' else 'b' }}\n{{ for l in issue.labels return l }}", "a\n['a','b']" },
        { "é{{ 'ü' }}é", "éüé" },
        { "{ {{1}} }", "{ 1 }" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(rendered(cases[i].text), cases[i].rendered);
}

TEST(template_says_where_an_expression_is_wrong)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "a {{", "line 1, column 3: expected }} behind the expression that begins here" },
        { "a\né {{ x }", "line 2, column 3: expected }}" },
        { "{{ '}} }", "line 1, column 1: expected }}" },
        { "{{ a }} {{ b } }}", "line 1, column 9: expected }}" },
        { "{{}}", "line 1, column 1: column 1: expected a value, found the end" },
        { "x\n\n  {{ a == 1 }}", "line 3, column 3: column 4: expected an operator or the end" },
        { "\xff", "UTF-8" },
    };
    const struct template *t;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err e = template_compile(check_arena(), quotes_double(check_arena(), cases[i].text), &t);
        CHECK_ERR(e, ERR_INVALID);
        CHECK_HAS(e->message, cases[i].message);
    }
}

TEST(template_tells_its_variables)
{
    const struct template *t = compiled("{{b}} {{a.x + b}} {{for c in d return c}} {{1}}");
    const str *names;

    CHECK_INT(template_names(t, &names), 3);
    CHECK_STR(names[0], "b");
    CHECK_STR(names[1], "a");
    CHECK_STR(names[2], "d");
    CHECK_STR(template_text(t), "{{b}} {{a.x + b}} {{for c in d return c}} {{1}}");
    CHECK_INT(template_names(compiled("none"), &names), 0);
}

/* What has no braces is its own text; and any text is one as the value of a string. */
TEST(random_templates_keep_what_is_no_expression)
{
    struct random r = random_start();

    for (int i = 0; i < 3000; i++) {
        struct arena *a = check_arena();
        static const char *const pieces[] = { "a", "{", "}", " ", "é", "\n", "\"", "`" };
        struct buf text = buf_in(a), quoted = buf_in(a), expected = buf_in(a);
        for (uint32_t n = random_below(&r, 12); n > 0; n--)
            buf_add(&text, str_from(pieces[random_below(&r, 8)]));
        str plain = buf_str(&text), out;
        const struct template *t;

        json_print_string(&quoted, plain);
        str literal = buf_str(&quoted);
        str whole = arena_printf(a, "<{{ " STR_FMT " }}|{{" STR_FMT "}}>", STR_ARG(literal),
                                 STR_ARG(literal));
        CHECK_OK(template_compile(a, whole, &t));
        CHECK_OK(template_render(a, t, NULL, 0, &out));
        buf_printf(&expected, "<" STR_FMT "|" STR_FMT ">", STR_ARG(plain), STR_ARG(plain));
        CHECK_STR(out, buf_str(&expected).at);

        if (!str_contains(plain, STR("{{"))) {
            CHECK_OK(template_compile(a, plain, &t));
            CHECK_OK(template_render(a, t, NULL, 0, &out));
            CHECK_STR(out, plain.at);
        }
    }
}
