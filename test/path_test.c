/* path_test.c: JSONPath, first against the public suite, then what it leaves out. */
#define _GNU_SOURCE
#include <string.h>

#include "json_help.h"
#include "json/json.h"
#include "json/path/path.h"

/* JSON with single quotes, to be legible in C. */
static const struct json *parsed(const char *text)
{
    return json_parsed(check_arena(), quotes_double(check_arena(), text));
}

static struct json_matches run(const char *query, const struct json *doc)
{
    const struct json_path *path;
    struct json_matches matches;

    CHECK_OK(json_path_compile(check_arena(), str_from(query), &path));
    CHECK_OK(json_path_run(check_arena(), path, doc, &matches));
    return matches;
}

static str printed_place(const struct json_match *m)
{
    struct buf out = buf_in(check_arena());
    json_path_print(&out, m->location);
    return buf_str(&out);
}

/* The values found, as one array with single quotes. */
static str found(const char *query, const struct json *doc)
{
    struct json_matches matches = run(query, doc);
    struct json list = json_array();

    for (size_t i = 0; i < matches.count; i++)
        json_push(check_arena(), &list, *matches.items[i].value);
    return json_shown(check_arena(), &list);
}

/* ---- the public suite ---- */

/* Two selectors of the suite hold a NUL, which is no JSON to our parser. The file is read with a
 * character in its place that occurs nowhere else in it, and the selectors get their NUL back. */
#define NUL_ESCAPE "\\u0000"
#define STAND_IN_ESCAPE "\\uF8FF"
#define STAND_IN "\xef\xa3\xbf"

static const struct json *suite_tests(void)
{
    str text = check_read(arena_printf(check_arena(), "%s/cts.json", check_suite("jsonpath")).at);

    CHECK(!strstr(text.at, STAND_IN) && !strcasestr(text.at, STAND_IN_ESCAPE));
    for (char *at = (char *)text.at; (at = strstr(at, NUL_ESCAPE));)
        memcpy(at, STAND_IN_ESCAPE, strlen(STAND_IN_ESCAPE));
    const struct json *suite = json_parsed(check_arena(), text);
    return json_get(suite, "tests");
}

static str suite_selector(const struct json *test)
{
    str rest = json_str(test, "selector");
    struct buf out = buf_in(check_arena());

    while (rest.len > 0) {
        bool nul = str_starts(rest, STR(STAND_IN));
        buf_byte(&out, nul ? 0 : rest.at[0]);
        rest = str_slice(rest, nul ? strlen(STAND_IN) : 1, rest.len);
    }
    return buf_str(&out);
}

static bool suite_fits(const struct json_matches *m, const struct json *values,
                       const struct json *paths)
{
    if (m->count != values->len || m->count != paths->len)
        return false;
    for (size_t i = 0; i < m->count; i++)
        if (!json_equal(m->items[i].value, json_at(values, i)) ||
            !str_eq(printed_place(&m->items[i]), json_text(json_at(paths, i))))
            return false;
    return true;
}

static bool suite_passes(const struct json *test)
{
    const struct json_path *path;
    struct json_matches matches;
    err e = json_path_compile(check_arena(), suite_selector(test), &path);

    if (json_bool_or(test, "invalid_selector", false))
        return e && e->kind == ERR_INVALID && str_starts(e->message, STR("column "));
    if (e || json_path_run(check_arena(), path, json_get(test, "document"), &matches))
        return false;
    if (json_get(test, "result"))
        return suite_fits(&matches, json_get(test, "result"), json_get(test, "result_paths"));

    const struct json *alternatives = json_get(test, "results");
    for (size_t i = 0; i < alternatives->len; i++)
        if (suite_fits(&matches, json_at(alternatives, i),
                       json_at(json_get(test, "results_paths"), i)))
            return true;
    return false;
}

TEST(path_passes_the_whole_compliance_suite)
{
    const struct json *tests = suite_tests();
    size_t passed = 0;

    for (size_t i = 0; i < tests->len; i++) {
        if (suite_passes(json_at(tests, i)))
            passed++;
        else
            check_note("failed: " STR_FMT, STR_ARG(json_str(json_at(tests, i), "name")));
    }
    check_note("%zu of %zu", passed, (size_t)tests->len);
    CHECK_INT(passed, tests->len);
    CHECK(tests->len >= 703);
}

/* ---- queries ---- */

static const char tasks[] =
    "{'tasks':["
    "{'name':'plan','status':'done','cost':1.50,'tags':['a','b']},"
    "{'name':'build','status':'open','cost':20,'tags':[],'after':['plan']},"
    "{'name':'ship','status':'done','cost':2e1,'tags':['b'],'after':['plan','build']}],"
    "'limit':20,'pattern':'.*i.*','bad':'[','wanted':['b']}";

TEST(path_finds_values_in_the_order_of_the_rfc)
{
    static const struct {
        const char *query, *values;
    } cases[] = {
        { "$.limit", "[20]" },
        { "$.nothing.there", "[]" },
        { "$.tasks[?@.status=='done'].name", "['plan','ship']" },
        { "$.tasks[?@.status!='done'].name", "['build']" },
        { "$.tasks[-1,0].name", "['ship','plan']" },
        { "$.tasks[::-1].name", "['ship','build','plan']" },
        { "$.tasks[0,0].name", "['plan','plan']" },
        { "$..tags[0]", "['a','b']" },
        { "$..['after','name']", "['plan',['plan'],'build',['plan','build'],'ship']" },
        /* numbers by value, however they are written */
        { "$.tasks[?@.cost==$.limit].name", "['build','ship']" },
        { "$.tasks[?@.cost<=1.5].name", "['plan']" },
        { "$.tasks[?@.cost>1.5e0 && @.status=='done'].name", "['ship']" },
        /* structured values, and Nothing, which equals itself alone */
        { "$.tasks[?@.tags==$.wanted].name", "['ship']" },
        { "$.tasks[?@.after==$.absent].name", "['plan']" },
        { "$.tasks[?@.after!=$.absent].name", "['build','ship']" },
        { "$.tasks[?@.tags<=@.tags].name", "['plan','build','ship']" },
        { "$.tasks[?@.tags<@.tags].name", "[]" },
        { "$.tasks[?!@.after || (@.cost==20 && !(@.name=='build'))].name", "['plan','ship']" },
        { "$.tasks[?count(@.after[*])>length(@.tags)].name", "['build','ship']" },
        { "$.tasks[?value(@..tags[?@=='a'])=='a'].name", "['plan']" },
        { "$.tasks[?value(@.tags[*])=='b'].name", "['ship']" },
        { "$.tasks[?@.after[?@=='build']].name", "['ship']" },
        { "$[?@==20]", "[20]" },
    };
    const struct json *doc = parsed(tasks);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK_STR(found(cases[i].query, doc), cases[i].values);
}

TEST(path_patterns_may_come_from_the_document)
{
    const struct json *doc = parsed(tasks);

    CHECK_STR(found("$.tasks[?match(@.name, '.*i.*')].name", doc), "['build','ship']");
    CHECK_STR(found("$.tasks[?match(@.name, $.pattern)].name", doc), "['build','ship']");
    CHECK_STR(found("$.tasks[?match(@.name, 'l')].name", doc), "[]");
    CHECK_STR(found("$.tasks[?search(@.name, 'l')].name", doc), "['plan','build']");
    /* one pattern for two functions, and another for each value */
    CHECK_STR(found("$.tasks[?search(@.name,@.tags[0]) || match(@.name,@.tags[0])].name", doc),
              "['plan']");
    /* what is no pattern, or no text, matches nothing */
    CHECK_STR(found("$.tasks[?match(@.name, '[')].name", doc), "[]");
    CHECK_STR(found("$.tasks[?search(@.name, $.bad)].name", doc), "[]");
    CHECK_STR(found("$.tasks[?!search(@.name, $.limit)].name", doc), "['plan','build','ship']");
    CHECK_STR(found("$.tasks[?search(@.cost, '2')].name", doc), "[]");
}

TEST(path_runs_on_any_number_of_documents)
{
    const struct json_path *path;
    struct json_matches matches;
    char query[] = "$[?search(@,\"a\\u0062\")]";

    CHECK_OK(json_path_compile(check_arena(), str_from(query), &path));
    memset(query, '!', sizeof query - 1); /* the text is not needed any more */
    for (int i = 0; i < 3; i++) {
        CHECK_OK(json_path_run(check_arena(), path, parsed("['cab','ba',['ab']]"), &matches));
        CHECK_INT(matches.count, 1);
        CHECK_STR(printed_place(&matches.items[0]), "$[0]");
    }
}

/* ---- places ---- */

TEST(path_places_print_as_normalized_path_and_as_pointer)
{
    static const struct {
        const char *name, *path, *pointer;
    } cases[] = {
        { "a", "$['a'][0]", "/a/0" },
        { "", "$[''][0]", "//0" },
        { "it's", "$['it\\'s'][0]", "/it's/0" },
        { "\"", "$['\"'][0]", "/\"/0" },
        { "a\\b", "$['a\\\\b'][0]", "/a\\b/0" },
        { "\b\t\n\f\r", "$['\\b\\t\\n\\f\\r'][0]", "/\b\t\n\f\r/0" },
        { "\x01\x0b\x1f\x7f", "$['\\u0001\\u000b\\u001f\x7f'][0]", "/\x01\x0b\x1f\x7f/0" },
        { "~/", "$['~/'][0]", "/~0~1/0" },
        { "é😀", "$['é😀'][0]", "/é😀/0" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena *a = check_arena();
        struct json doc = json_object(), list = json_array();
        struct buf pointer = buf_in(a);
        json_push(a, &list, json_null());
        json_put(a, &doc, str_from(cases[i].name), list);

        struct json_matches matches = run("$.*[0]", &doc);
        CHECK_INT(matches.count, 1);
        CHECK_STR(printed_place(&matches.items[0]), cases[i].path);
        json_path_print_pointer(&pointer, matches.items[0].location);
        CHECK_STR(buf_str(&pointer), cases[i].pointer);
        matches = run(cases[i].path, &doc);
        CHECK_INT(matches.count, 1);
    }
    struct json_matches root = run("$", parsed("1"));
    struct buf pointer = buf_in(check_arena());
    CHECK_STR(printed_place(&root.items[0]), "$");
    json_path_print_pointer(&pointer, root.items[0].location);
    CHECK_INT(pointer.len, 0);
}

/* ---- errors ---- */

TEST(path_errors_say_the_column_what_was_expected_and_what_was_found)
{
    static const struct {
        const char *query, *message;
    } cases[] = {
        { "", "column 1: expected '$', found the end" },
        { "tasks", "column 1: expected '$', found 't'" },
        { "$ ", "column 2: expected '.', '..', '[' or the end, found ' '" },
        { "$.", "column 3: expected a name or '*' after '.', found the end" },
        { "$.é.1", "column 5: expected a name or '*' after '.', found '1'" },
        { "$...a", "column 4: expected a name, '*' or '[' after '..', found '.'" },
        { "$['a'.b]", "column 6: expected ']' or ',' after a selector, found '.'" },
        { "$[a]", "column 3: expected a selector (a quoted name, '*', an index, a slice or '?'), "
                  "found 'a'" },
        { "$[01]", "column 4: expected ']' or ',' after a selector, found '1'" },
        { "$[-0]", "column 4: expected a digit from 1 to 9 after '-', found '0'" },
        { "$[1:9007199254740992]", "column 5: expected an integer from -(2^53-1) to 2^53-1, found "
                                   "one beyond it" },
        { "$['a", "column 5: expected a closing ', found the end" },
        { "$[\"a\nb\"]", "column 5: expected a closing \", found U+000A" },
        { "$[\"\\'\"]", "column 5: expected one of b f n r t / \\ u \" after a backslash, found "
                        "'''" },
        { "$['\\u12g4']", "column 8: expected four hexadecimal digits after \\u, found 'g'" },
        { "$['\\uDC00']", "column 6: expected a code point, found the second half of a surrogate "
                          "pair without its first" },
        { "$['\\uD800x']", "column 10: expected the second half of a surrogate pair, \\uDC00 to "
                           "\\uDFFF, found 'x'" },
        { "$[?]", "column 4: expected a query, a literal, a function, '!' or '(', found ']'" },
        { "$[?@.a=1]", "column 7: expected ']' or ',' after a selector, found '='" },
        { "$[?(@.a]", "column 8: expected '&&', '||' or ')', found ']'" },
        { "$[?true]", "column 4: expected a comparison, found a literal alone" },
        { "$[?length(@)]", "column 4: expected a comparison, found the value of length() alone" },
        { "$[?@.*==1]", "column 4: expected a query for one value (names and indexes alone, "
                        "without blanks inside brackets), found one that may find several" },
        { "$[?1==match(@,'a')]", "column 7: expected a value, found match(), which answers true or "
                                 "false" },
        { "$[?count(1)>2]", "column 10: expected a query as the argument of count(), found a "
                            "value" },
        { "$[?match(@)]", "column 11: expected ',' and another argument, found ')'" },
        { "$[?length(@,1)>1]", "column 12: expected ')' after the last argument, found ','" },
        { "$[?size(@)>1]", "column 4: expected one of the functions length, count, match, search "
                           "and value, found size()" },
        { "$[?@==1e999]", "column 7: expected a number in the range of a double, found 1e999" },
        { "$[?@==1.]", "column 9: expected a digit, found ']'" },
    };
    const struct json_path *path;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        err e = json_path_compile(check_arena(), str_from(cases[i].query), &path);
        CHECK_ERR(e, ERR_INVALID);
        CHECK_STR(e->message, cases[i].message);
    }
    CHECK_ERR(json_path_compile(check_arena(), STR("$.\xff"), &path), ERR_INVALID);
}

/* A singular query has no blanks inside its brackets; elsewhere they are welcome. */
TEST(path_blanks_are_where_the_grammar_has_them)
{
    static const struct {
        const char *query;
        bool valid;
    } cases[] = {
        { "$ .a\t[ 'b' ,\n* , 1 : 2 : 3 ]\r..c", true },
        { "$[? ! ( @ .a [0] == 1 && match( @ , 'x' ) ) ]", true },
        { "$[?@[ 'a' ]]", true },
        { "$[?@[ 'a' ]==1]", false },
        { "$[?length(@[0 ])==1]", false },
        { "$[?@ ['a'] ==1]", true },
        { "$. a", false },
        { "$.. a", false },
        { "$[?match (@,'x')]", false },
        { "$[?@.a= =1]", false },
        { "$[- 1]", false },
    };
    const struct json_path *path;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        err e = json_path_compile(check_arena(), str_from(cases[i].query), &path);
        if (!e != cases[i].valid)
            check_fail(__FILE__, __LINE__, "%s: " STR_FMT, cases[i].query,
                       STR_ARG(e ? e->message : STR("valid")));
    }
}

/* ---- bounds ---- */

static str repeated(const char *first, const char *again, int times, const char *last)
{
    struct buf out = buf_in(check_arena());

    buf_add(&out, str_from(first));
    for (int i = 0; i < times; i++)
        buf_add(&out, str_from(again));
    buf_add(&out, str_from(last));
    return buf_str(&out);
}

TEST(path_query_is_bounded_in_depth_and_length)
{
    const struct json_path *path;
    struct arena *a = check_arena();

    str closed = repeated("@", ")", 31, "]");
    CHECK_OK(json_path_compile(a, repeated("$[?", "(", 31, closed.at), &path));
    CHECK_ERR(json_path_compile(a, repeated("$[?", "(", 32, ""), &path), ERR_INVALID);
    CHECK_ERR(json_path_compile(a, repeated("$", "[?@", 33, ""), &path), ERR_INVALID);
    CHECK_ERR(json_path_compile(a, repeated("$[?", "length(", 60000 / 7, ""), &path), ERR_INVALID);
    CHECK_OK(json_path_compile(a, repeated("$", ".a", 32767, ""), &path));
    CHECK_OK(json_path_compile(a, repeated("$[?@", "||@", 20000, "]"), &path));
    CHECK_ERR(json_path_compile(a, repeated("$", ".a", 32768, ""), &path), ERR_INVALID);
}

/* Each of these would take hours. */
TEST(path_run_ends_when_its_steps_are_used_up)
{
    static const char *const queries[] = {
        "$..[?$..[?$..[?$..[?$..[?@=='no']]]]]",
        "$..[?count($..*)==count($..[?count($..*)==0])]",
        "$..[?$.list==$.copy]",
        "$..[?$.list[?@=='no']]",
        "$..[?$.absent]",
        "$..[?search($.long,'no$')]",
        "$..[?length($.long)==1]",
        "$..[?$.long<$.longer]",
    };
    struct arena *a = check_arena();
    struct json doc = json_object(), list = json_array();
    str text = repeated("", "text", 1 << 18, "");

    for (int i = 0; i < 50000; i++)
        json_push(a, &list, json_int(a, i));
    json_put(a, &doc, STR("list"), list);
    json_put(a, &doc, STR("copy"), list);
    json_put(a, &doc, STR("long"), json_string(text));
    json_put(a, &doc, STR("longer"), json_string(arena_printf(a, STR_FMT "er", STR_ARG(text))));
    for (int i = 0; i < 20000; i++)
        json_put(a, &doc, arena_printf(a, "member%d", i), json_bool(true));

    for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
        const struct json_path *path;
        struct json_matches matches;
        CHECK_OK(json_path_compile(a, str_from(queries[i]), &path));
        err e = json_path_run(a, path, &doc, &matches);
        CHECK_ERR(e, ERR_LIMIT);
        CHECK_STR(e->message,
                  "the query took too many steps: make it more specific, or its patterns simpler");
    }
}

TEST(path_pattern_that_backtracks_for_ever_is_a_limit)
{
    const struct json_path *path;
    struct json_matches matches;
    struct json doc = json_array();

    json_push(check_arena(), &doc, json_string(repeated("", "a", 4000, "!")));
    CHECK_OK(json_path_compile(check_arena(), STR("$[?match(@,'(a|aa)+[bc]')]"), &path));
    err e = json_path_run(check_arena(), path, &doc, &matches);
    CHECK_ERR(e, ERR_LIMIT);
    CHECK_STR(e->message,
              "the query took too many steps: make it more specific, or its patterns simpler");
}

/* The deepest recursion there is: filters inside each other, each going to the bottom of the
 * deepest document. */
TEST(path_recursion_fits_the_stack)
{
    struct arena *a = check_arena();
    str open = repeated("", "[", JSON_DEPTH_MAX, ""), text = repeated(open.at, "]", open.len, "");
    str down = repeated("$", ".*", JSON_DEPTH_MAX - 2, "[?");
    str query = repeated(repeated("", down.at, 32, "@").at, "]", 32, "");
    const struct json_path *path;
    struct json_matches matches;

    const struct json *doc = json_parsed(a, text);
    CHECK_OK(json_path_compile(a, query, &path));
    CHECK_OK(json_path_run(check_arena(), path, doc, &matches));
    CHECK_INT(matches.count, 1);
}
