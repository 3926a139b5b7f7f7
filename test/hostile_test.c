/* hostile_test.c: texts, patches and queries made to hurt get a clear error, or the right answer, at
 * once. */
#include "base/hash.h"
#include "hostile.h"
#include "json/diff.h"
#include "json/patch.h"
#include "json/path/path.h"
#include "json/pointer.h"

/* ---- parsing ---- */

static err run_parse(struct arena *a, const struct hostile *h, struct work *spent)
{
    str text = text_make(a, &h->first, true);
    const struct json *out;
    struct work start = work_now();
    err e = json_parse(a, text, NULL, &out);

    *spent = work_since(start);
    return e;
}

TEST(hostile_texts_are_parsed_or_refused_at_once)
{
    static const struct hostile cases[] = {
        { "a million open brackets", MANY("", "[", 1000000, ""), PLAIN(""), "INVALID: 64" },
        { "a million open objects", MANY("", "{'a':", 800000, ""), PLAIN(""), "INVALID: 64" },
        { "brackets that close", NESTED("[", 100000, "", "]"), PLAIN(""), "INVALID: 64" },
        { "the deepest that is allowed", NESTED("[", 64, "", "]"), PLAIN(""), "ok" },
        { "one deeper", NESTED("[", 65, "", "]"), PLAIN(""), "INVALID: 64" },
        { "an open string of four megabytes", MANY("'", "x", 4000000, ""), PLAIN(""), "INVALID" },
        { "four megabytes of escapes", MANY("'", "\\u00e9", 690000, "'"), PLAIN(""), "ok" },
        { "four megabytes of surrogates", MANY("'", "\\ud83d\\ude00", 340000, "'"), PLAIN(""),
          "ok" },
        { "a lone surrogate at the end", MANY("'", "\\n", 1000000, "\\ud83d'"), PLAIN(""),
          "INVALID" },
        { "more than four megabytes", MANY("'", "x", 4300000, "'"), PLAIN(""), "TOO_LARGE" },
        { "a number of a million digits", MANY("", "9", 1000000, ""), PLAIN(""), "INVALID" },
        { "a fraction of a million digits", MANY("0.", "3", 1000000, ""), PLAIN(""), "ok" },
        { "an exponent beyond all", MANY("1e", "9", 1000000, ""), PLAIN(""), "INVALID" },
        { "an exponent below all", MANY("1e-", "9", 1000000, ""), PLAIN(""), "ok" },
        { "leading zeros", MANY("-", "0", 1000000, ""), PLAIN(""), "INVALID" },
        { "a million commas", MANY("[", ",", 1000000, "]"), PLAIN(""), "INVALID" },
        { "a million empty objects", MANY("[{}", ",{}", 1000000, "]"), PLAIN(""), "ok" },
        { "two million elements", MANY("[0", ",0", 2000000, "]"), PLAIN(""), "ok" },
        { "one name 300,000 times", MANY("{'a':0", ",'a':0", 300000, "}"), PLAIN(""),
          "INVALID: a" },
        { "300,000 names", MANY("{'':0", ",'\1':0", 300000, "}"), PLAIN(""), "ok" },
        { "300,000 names, the first again", MANY("{'0':0", ",'\2':0", 300000, ",'0':1}"), PLAIN(""),
          "INVALID: 0" },
        { "one name at both ends of a long one", MANY("{'b':0,'a", "a", 2000000, "':0,'b':1}"),
          PLAIN(""), "INVALID: b" },
        { "invalid UTF-8 after a long text", MANY("'", "x", 1000000, "\xff'"), PLAIN(""),
          "INVALID" },
        { "overlong UTF-8", MANY("'", "\xc0\xaf", 100000, "'"), PLAIN(""), "INVALID" },
        { "UTF-16", PLAIN("\xff\xfe[\xff"), PLAIN(""), "INVALID" },
        { "spaces only", MANY("", " \n\t", 1300000, ""), PLAIN(""), "INVALID" },
        { "a comment of four megabytes", MANY("/*", "x", 4000000, "*/1"), PLAIN(""), "INVALID" },
    };
    CHECK_HOSTILE(cases, run_parse);
}

/* Names whose hashes agree in the bits that tables use, so that all want one slot. */
TEST(hostile_names_that_collide_do_not_slow_parsing)
{
    struct arena *a = check_arena();
    struct buf text = buf_in(a);
    const struct json *out;
    uint32_t found = 0;

    buf_byte(&text, '{');
    for (uint32_t i = 0; found < 5000; i++) {
        char name[16];
        size_t len = 0;
        for (uint32_t n = i; len < 7; n /= 26)
            name[len++] = (char)('a' + n % 26);
        if (hash_bytes(name, len) & 0x3fff)
            continue;
        buf_printf(&text, "%s\"%.*s\":0", found++ ? "," : "", (int)len, name);
    }
    buf_byte(&text, '}');
    str doc = buf_str(&text);
    struct work start = work_now();
    CHECK_OK(json_parse(a, doc, NULL, &out));
    CHECK(json_equal(out, out));
    struct json copy = json_copy(a, out);
    CHECK_INT(json_diff(a, &copy, out, 0, NULL).len, 0);
    CHECK_OK(json_merge(a, &copy, out, NULL));
    check_work("colliding names", work_since(start));
}

/* ---- patches ---- */

static err run_patch(struct arena *a, const struct hostile *h, struct work *spent)
{
    struct json doc = value_of(a, &h->first), patch = value_of(a, &h->second);
    struct work start = work_now();
    err e = json_patch(a, &doc, &patch, NULL);

    *spent = work_since(start);
    return e;
}

TEST(hostile_patches_are_applied_or_refused_at_once)
{
    static const struct hostile cases[] = {
        { "copies that double", PLAIN("{'a':['0123456789']}"),
          MANY("[{'op':'copy','from':'/a','path':'/a/-'}",
               ",{'op':'copy','from':'/a','path':'/a/-'}", 40, "]"),
          "TOO_LARGE" },
        { "copies of a long text", MANY("{'a':'", "x", 500000, "'}"),
          MANY("[{'op':'copy','from':'/a','path':'/b'}", ",{'op':'copy','from':'/a','path':'/c\1'}",
               900, "]"),
          "TOO_LARGE" },
        { "a copy into itself, deeper each time", PLAIN("{'a':{}}"),
          MANY("[{'op':'copy','from':'/a','path':'/a/a'}",
               ",{'op':'copy','from':'/a','path':'/a/a'}", 900, "]"),
          "TOO_LARGE" },
        { "a move into itself", PLAIN("{'a':{'b':{}}}"),
          PLAIN("[{'op':'move','from':'/a','path':'/a/b/c'}]"), "INVALID" },
        { "100,000 operations", PLAIN("{}"),
          MANY("[{'op':'add','path':'/a','value':1}", ",{'op':'add','path':'/a','value':1}", 100000,
               "]"),
          "TOO_LARGE: 1000" },
        { "insertions in front of a long array", MANY("[0", ",0", 5000, "]"),
          MANY("[{'op':'add','path':'/0','value':1}", ",{'op':'add','path':'/0','value':1}", 999,
               "]"),
          "ok" },
        { "insertions in front of a very long array", MANY("[0", ",0", 100000, "]"),
          MANY("[{'op':'add','path':'/0','value':1}", ",{'op':'add','path':'/0','value':1}", 999,
               "]"),
          "TOO_LARGE: send it in several parts" },
        { "members of a wide object, one by one", MANY("{'a':0", ",'b\1':0", 100000, "}"),
          MANY("[{'op':'replace','path':'/a','value':1}",
               ",{'op':'replace','path':'/b\1','value':1}", 999, "]"),
          "ok" },
        { "a large value that moves deeper and back", MANY("{'b':{},'a':[0", ",0", 500000, "]}"),
          MANY("[{'op':'test','path':'/b','value':{}}",
               ",{'op':'move','from':'/a','path':'/b/a'},{'op':'move','from':'/b/a','path':'/a'}",
               499, "]"),
          "TOO_LARGE: send it in several parts" },
        { "1,000 tests of a large document",
          MANY("{'a':[0", ",\1", 20000, "]}"),
          { "[{'op':'test','path':'/a','value':[0", ",\1", 20000, "]}", "",
            ",{'op':'test','path':'/a','value':0}]" },
          "CONFLICT" },
        { "a path of 100,000 steps", PLAIN("{'a':1}"),
          MANY("[{'op':'add','path':'", "/a", 100000, "','value':1}]"), "UNFIT" },
        { "an index beyond 64 bits", PLAIN("[]"),
          PLAIN("[{'op':'add','path':'/99999999999999999999','value':1}]"), "UNFIT" },
        { "a failure after many operations", MANY("{'a':[0", ",0", 1000, "]}"),
          MANY("[{'op':'remove','path':'/a/0'}", ",{'op':'remove','path':'/a/0'}", 990,
               ",{'op':'remove','path':'/b'}]"),
          "UNFIT" },
    };
    CHECK_HOSTILE(cases, run_patch);
}

static err run_merge(struct arena *a, const struct hostile *h, struct work *spent)
{
    struct json doc = value_of(a, &h->first), patch = value_of(a, &h->second);
    struct work start = work_now();
    err e = json_merge(a, &doc, &patch, NULL);

    *spent = work_since(start);
    return e;
}

TEST(hostile_merge_patches_are_applied_at_once)
{
    static const struct hostile cases[] = {
        { "100,000 removals", MANY("{'x':0", ",'a\1':0", 100000, "}"),
          MANY("{'y':0", ",'a\1':null", 100000, "}"), "ok" },
        { "100,000 additions", MANY("{'x':0", ",'a\1':0", 100000, "}"),
          MANY("{'y':0", ",'b\1':1", 100000, "}"), "ok" },
        { "a deep patch on a scalar", PLAIN("1"), NESTED("{'a':", 64, "null", "}"), "ok" },
        { "a deep patch on a deep document", NESTED("{'a':", 64, "1", "}"),
          NESTED("{'a':", 64, "null", "}"), "ok" },
    };
    CHECK_HOSTILE(cases, run_merge);
}

static err run_diff(struct arena *a, const struct hostile *h, struct work *spent)
{
    struct json from = value_of(a, &h->first), to = value_of(a, &h->second);
    const struct json_patch_limits limits = { .operations_max = UINT32_MAX };
    struct work start = work_now();
    struct json patch = json_diff(a, &from, &to, 0, NULL);

    *spent = work_since(start);
    CHECK_OK(json_patch(a, &from, &patch, &limits));
    CHECK(json_equal(&from, &to));
    return NULL;
}

TEST(hostile_documents_are_compared_at_once)
{
    static const struct hostile cases[] = {
        { "arrays that have nothing in common", MANY("[0", ",'a\1'", 20000, "]"),
          MANY("[1", ",'b\1'", 20000, "]"), "ok" },
        { "objects that have nothing in common", MANY("{'x':0", ",'a\1':0", 20000, "}"),
          MANY("{'y':0", ",'b\1':0", 20000, "}"), "ok" },
        { "elements of one id", MANY("[{'id':1}", ",{'id':1}", 5000, "]"),
          MANY("[{'id':1,'a':1}", ",{'id':1,'b':\1}", 5000, "]"), "ok" },
        { "trees that differ at every leaf", NESTED("[", 60, "[1,2,3]", ",1]"),
          NESTED("[", 60, "[3,2,1]", ",2]"), "ok" },
    };
    CHECK_HOSTILE(cases, run_diff);
}

/* ---- queries ---- */

static err run_path(struct arena *a, const struct hostile *h, struct work *spent)
{
    str query = text_make(a, &h->first, false);
    struct json doc = value_of(a, &h->second);
    const struct json_path *path;
    struct json_matches found;
    struct work start = work_now();
    err e = json_path_compile(a, query, &path);

    if (!e)
        e = json_path_run(a, path, &doc, &found);
    *spent = work_since(start);
    return e;
}

#define TREE NESTED("[[0,0,0,0],", 60, "[1]", "]")

TEST(hostile_queries_are_answered_or_given_up_at_once)
{
    static const struct hostile cases[] = {
        { "descendants of descendants", PLAIN("$..*..*..*..*..*..*"), TREE, "LIMIT" },
        { "100 descendants", MANY("$", "..*", 100, ""), TREE, "LIMIT" },
        { "selectors that double", MANY("$", "[*,*]", 60, ""), NESTED("[", 61, "1", "]"), "LIMIT" },
        { "filters in filters", PLAIN("$..[?count($..[?count($..*)>1])>1]"), TREE, "LIMIT" },
        { "the square of a long array", PLAIN("$[?count($[?@>0])>0]"),
          MANY("[0", ",\1", 20000, "]"), "LIMIT" },
        { "filters nested too deep", NESTED("$[?@", 1000, "", "]"), PLAIN("[]"), "INVALID" },
        { "100,000 parentheses", { "$[?", "(", 100000, "@", ")", "]" }, PLAIN("[]"), "INVALID" },
        { "a query of a megabyte", MANY("$", ".a", 500000, ""), PLAIN("{}"),
          "INVALID: 65536 bytes" },
        { "100,000 negations", MANY("$[?", "!", 100000, "@]"), PLAIN("[]"), "INVALID" },
        { "a pattern that backtracks", PLAIN("$[?match(@,'(a|a)*[bc]')]"), PLAIN("['" LONG_A "']"),
          "LIMIT" },
        { "many texts that backtrack below the limit", PLAIN("$[?match(@,'(a+)+b*|.*!')]"),
          MANY("['a'", ",'aaaaaaaaaaaaaaa!'", 20000, "]"), "LIMIT" },
        { "patterns out of the document", PLAIN("$[*][?search(@,$[0])]"),
          MANY("['(a+)+[bc]',['" LONG_A LONG_A "'", ",'" LONG_A "'", 1000, "]]"), "LIMIT" },
        { "a pattern of many repetitions", PLAIN("$[?match(@,'((a{1,1000}){1,1000}){1,1000}')]"),
          PLAIN("['a']"), "ok" },
        { "a slice with steps beyond all", PLAIN("$[-9007199254740991:9007199254740991:1]"),
          MANY("[0", ",0", 100000, "]"), "ok" },
        { "an index beyond what a double holds", PLAIN("$[9007199254740993]"), PLAIN("[]"),
          "INVALID" },
        { "comparing large values", PLAIN("$[?@==$[0]]"), NESTED("[", 50, "'x'", ",'" LONG_A "']"),
          "ok" },
        { "comparing one large array with itself", PLAIN("$.b[?$.a==$.a]"),
          MANY("{'b':[1,2,3,4,5,6,7,8,9,0],'a':[0", ",0", 200000, "]}"), "ok" },
    };
    CHECK_HOSTILE(cases, run_path);
}

TEST(hostile_pointers_are_refused_at_once)
{
    struct arena *a = check_arena();
    const struct json *found;
    struct json doc = json_array();
    str deep = text_make(a, &(struct text)MANY("", "/a", 1000000, ""), true);
    str escapes = text_make(a, &(struct text)MANY("/", "~1", 1000000, "~"), true);
    struct work start = work_now();

    CHECK_ERR(json_pointer_get(a, &doc, deep, &found), ERR_NOT_FOUND);
    CHECK_ERR(json_pointer_get(a, &doc, escapes, &found), ERR_INVALID);
    check_work("long pointers", work_since(start));
    check_memory("long pointers");
}
