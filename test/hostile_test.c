/* hostile_test.c: inputs made to hurt get a clear error, or the right answer, at once.
 *
 * Each is made here from a few pieces, since most of them are a piece said very
 * often. The time that counts is that of the processor, so a busy machine fails
 * nothing. */
#include <sys/resource.h>
#include <time.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "check.h"
#include "json/diff.h"
#include "json/patch.h"
#include "json/path.h"
#include "json/pointer.h"
#include "json/schema.h"

enum { CASE_MS = 100, MEMORY_MB = 256, TRIES = 8 };

#define FIXED_WORK_MS 1.3 /* of slowness(), on the machine that the limit was set on */

#ifdef __SANITIZE_ADDRESS__
enum { SLOWER = 20, LARGER = 8 };
#else
enum { SLOWER = 1, LARGER = 1 };
#endif

/* A text: head, then `unit` count times, core, then `close` count times, tail. In a unit \1 is its
 * number and \2 the next one. Single quotes become double ones. */
struct text {
    const char *head, *unit;
    uint32_t count;
    const char *core, *close, *tail;
};

#define PLAIN(text_)               \
    {                              \
        (text_), "", 0, "", "", "" \
    }
#define MANY(head_, unit_, count_, tail_)           \
    {                                               \
        (head_), (unit_), (count_), "", "", (tail_) \
    }
#define NESTED(unit_, count_, core_, close_)         \
    {                                                \
        "", (unit_), (count_), (core_), (close_), "" \
    }

static void add_piece(struct buf *out, const char *piece, uint32_t number, bool quotes)
{
    for (; *piece; piece++) {
        if (*piece == '\1' || *piece == '\2')
            buf_printf(out, "%u", (unsigned)(number + (*piece == '\2')));
        else
            buf_byte(out, quotes && *piece == '\'' ? '"' : *piece);
    }
}

static str text_make(struct arena *a, const struct text *t, bool quotes)
{
    struct buf out = buf_in(a);

    add_piece(&out, t->head, 0, quotes);
    for (uint32_t i = 0; i < t->count; i++)
        add_piece(&out, t->unit, i, quotes);
    add_piece(&out, t->core, 0, quotes);
    for (uint32_t i = 0; i < t->count; i++)
        add_piece(&out, t->close, i, quotes);
    add_piece(&out, t->tail, 0, quotes);
    return buf_str(&out);
}

/* ---- a case: two texts, what is done with them, and what must come of it ---- */

struct hostile {
    const char *name;
    struct text first, second;
    const char *expected; /* the kind of the error and a part of its message, or "ok" */
};

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A machine may be slower than the one that the limit was set on, or busy now: then a fixed piece
 * of work takes longer as well, and every limit is longer by as much. */
static double slowness(void)
{
    double best = 1e9;
    struct arena *a = arena_new();
    str text = text_make(a, &(struct text)MANY("[0", ",\1", 100000, "]"), false);

    for (int i = 0; i < 5; i++) {
        struct arena *scratch = arena_new();
        const struct json *j;
        double start = cpu_ms();
        CHECK_OK(json_parse(scratch, text, NULL, &j));
        double ms = cpu_ms() - start;
        best = ms < best ? ms : best;
        arena_free(scratch);
    }
    arena_free(a);
    return best > FIXED_WORK_MS ? best / FIXED_WORK_MS : 1;
}

static void check_time(const char *name, double ms)
{
    double most = CASE_MS * SLOWER * (ms > CASE_MS * SLOWER ? slowness() : 1);

    if (ms > most)
        check_fail(__FILE__, __LINE__, "%s took %.0f ms, at most %.0f", name, ms, most);
}

static void check_memory(const char *name)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    if (use.ru_maxrss / 1024 > MEMORY_MB * LARGER)
        check_fail(__FILE__, __LINE__, "%s: %ld MB", name, use.ru_maxrss / 1024);
}

static bool holds(str text, str part)
{
    for (size_t i = 0; i + part.len <= text.len; i++)
        if (memcmp(text.at + i, part.at, part.len) == 0)
            return true;
    return false;
}

/* "INVALID: text": the kind, and a part of the message. */
static void check_outcome(const struct hostile *h, err e)
{
    str kind, part;

    str_cut(str_from(h->expected), ':', &kind, &part);
    if (!e ? str_eq(kind, STR("ok"))
           : str_eq(kind, str_from(error_look(e->kind)->name)) && holds(e->message, str_trim(part)))
        return;
    check_fail(__FILE__, __LINE__, "%s\nexpected: %s\nfound:    %s: " STR_FMT, h->name, h->expected,
               e ? error_look(e->kind)->name : "ok",
               STR_ARG(e ? utf8_cut(e->message, 500) : STR("")));
}

/* Does it, and says how long what is measured of it took. */
typedef err hostile_run(struct arena *a, const struct hostile *h, double *ms);

/* The time of the processor too is longer where others use its caches: the best try counts. */
static double check_case(const struct hostile *h, hostile_run *run)
{
    double best = 1e9;

    for (int i = 0; i < TRIES && best > CASE_MS * SLOWER; i++) {
        struct arena *a = arena_new();
        double ms;
        check_outcome(h, run(a, h, &ms));
        arena_free(a);
        best = ms < best ? ms : best;
    }
    check_time(h->name, best);
    check_memory(h->name);
    return best;
}

static void check_hostile(const struct hostile *h, size_t count, hostile_run *run)
{
    const char *slowest = "";
    double most = 0;

    for (; count > 0; h++, count--) {
        double ms = check_case(h, run);
        if (ms > most) {
            most = ms;
            slowest = h->name;
        }
    }
    check_note("slowest: %s, %.1f ms", slowest, most);
}

#define CHECK_HOSTILE(cases, run) check_hostile((cases), sizeof(cases) / sizeof(*(cases)), (run))

/* The documents that a case works on; making them is not what is measured. */
static struct json value_of(struct arena *a, const struct text *t)
{
    const struct json_limits limits = { .bytes_max = 64u << 20 };
    const struct json *out;

    CHECK_OK(json_parse(a, text_make(a, t, true), &limits, &out));
    return *out;
}

/* ---- parsing ---- */

static err run_parse(struct arena *a, const struct hostile *h, double *ms)
{
    str text = text_make(a, &h->first, true);
    const struct json *out;
    double start = cpu_ms();
    err e = json_parse(a, text, NULL, &out);

    *ms = cpu_ms() - start;
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
    double start = cpu_ms();
    CHECK_OK(json_parse(a, doc, NULL, &out));
    CHECK(json_equal(out, out));
    struct json copy = json_copy(a, out);
    CHECK_INT(json_diff(a, &copy, out, 0).len, 0);
    CHECK_OK(json_merge(a, &copy, out, NULL));
    check_time("colliding names", cpu_ms() - start);
}

/* ---- schemas ---- */

static void drop(void *schema)
{
    schema_unref(schema);
}

static err run_schema(struct arena *a, const struct hostile *h, double *ms)
{
    const struct schema_options options = { .assert_formats = true };
    struct json text = value_of(a, &h->first), doc = value_of(a, &h->second);
    const struct violation *list;
    struct schema *s = NULL;
    double start = cpu_ms();
    err e = schema_compile(a, &text, &options, &s);

    if (s) {
        arena_on_release(a, drop, s);
        e = schema_require(a, s, &doc);
    }
    *ms = cpu_ms() - start;
    if (s)
        CHECK((schema_explain(a, s, &doc, 1, &list) > 0) == (e != NULL));
    return e;
}

#define LONG_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

#define ZEROS "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"

TEST(hostile_schemas_are_checked_or_given_up_at_once)
{
    static const struct hostile cases[] = {
        { "allOf that doubles",
          MANY("{'$ref':'#/$defs/a0','$defs':{",
               "'a\1':{'allOf':[{'$ref':'#/$defs/a\2'},{'$ref':'#/$defs/a\2'}]},", 40,
               "'a40':{'minimum':0}}}"),
          PLAIN("1"), "UNFIT: given up" },
        { "allOf that doubles and fails",
          MANY("{'$ref':'#/$defs/a0','$defs':{",
               "'a\1':{'allOf':[{'$ref':'#/$defs/a\2'},{'$ref':'#/$defs/a\2'}]},", 40,
               "'a40':{'minimum':2}}}"),
          PLAIN("1"), "UNFIT: expected at least 2, found 1" },
        { "anyOf that doubles and fails",
          MANY("{'$ref':'#/$defs/a0','$defs':{",
               "'a\1':{'anyOf':[{'$ref':'#/$defs/a\2'},{'$ref':'#/$defs/a\2'}]},", 40,
               "'a40':{'minimum':2}}}"),
          PLAIN("1"), "UNFIT: given up" },
        { "oneOf that doubles",
          MANY("{'$ref':'#/$defs/a0','$defs':{",
               "'a\1':{'oneOf':[{'$ref':'#/$defs/a\2'},{'$ref':'#/$defs/a\2'}]},", 40,
               "'a40':true}}"),
          PLAIN("1"), "UNFIT: given up" },
        { "not that doubles",
          MANY("{'$ref':'#/$defs/a0','$defs':{",
               "'a\1':{'not':{'allOf':[{'$ref':'#/$defs/a\2'},{'$ref':'#/$defs/a\2'}]}},", 40,
               "'a40':{'minimum':0}}}"),
          PLAIN("1"), "UNFIT: given up" },
        { "if that doubles",
          MANY("{'$ref':'#/$defs/a0','$defs':{",
               "'a\1':{'if':{'$ref':'#/$defs/a\2'},'then':{'$ref':'#/$defs/a\2'}},", 40,
               "'a40':{'minimum':0}}}"),
          PLAIN("1"), "UNFIT: given up" },
        { "anyOf over a deep document",
          PLAIN("{'anyOf':[{'properties':{'a':{'$ref':'#'}},'required':['x']},"
                "{'properties':{'a':{'$ref':'#'}},'required':['y']},"
                "{'properties':{'a':{'$ref':'#'}},'required':['z']}]}"),
          NESTED("{'a':", 60, "{}", "}"), "UNFIT: given up" },
        { "a $ref to itself", PLAIN("{'$ref':'#'}"), PLAIN("1"), "UNFIT: $ref may lead back" },
        { "a $ref in circles",
          PLAIN("{'$ref':'#/$defs/a','$defs':{'a':{'$ref':'#/$defs/b'},'b':{'$ref':'#/$defs/a'}}}"),
          PLAIN("1"), "UNFIT: $ref may lead back" },
        { "a circle behind a failure", PLAIN("{'allOf':[{'type':'string'},{'$ref':'#'}]}"),
          PLAIN("1"), "UNFIT: expected a string, found 1" },
        { "a circle through not", PLAIN("{'not':{'$ref':'#'}}"), PLAIN("1"),
          "UNFIT: $ref may lead back" },
        { "a $dynamicRef to itself", PLAIN("{'$dynamicAnchor':'a','$dynamicRef':'#a'}"), PLAIN("1"),
          "UNFIT: $ref may lead back" },
        { "a chain of 20,000 $ref",
          MANY("{'$ref':'#/$defs/a0','$defs':{", "'a\1':{'$ref':'#/$defs/a\2'},", 20000,
               "'a20000':{'type':'null'}}}"),
          PLAIN("1"), "UNFIT" },
        { "a $ref to nothing", PLAIN("{'$ref':'#/$defs/x'}"), PLAIN("1"), "UNFIT: #/$defs/x" },
        { "a pattern that backtracks", PLAIN("{'pattern':'^(a+)+$'}"), PLAIN("'" LONG_A "!'"),
          "UNFIT: backtracking" },
        { "a pattern that backtracks over a long text", PLAIN("{'pattern':'(x+x+)+[yz]'}"),
          MANY("'", "x", 100000, "'"), "UNFIT: backtracking" },
        { "patterns of names that backtrack",
          PLAIN("{'patternProperties':{'^(a|a?)+$':true},'additionalProperties':false}"),
          PLAIN("{'" LONG_A "!':1}"), "UNFIT: backtracking" },
        { "many texts that backtrack below the limit", PLAIN("{'items':{'pattern':'^(a+)+$|!'}}"),
          MANY("['a'", ",'aaaaaaaaaaaaaaa!'", 100000, "]"), "UNFIT: given up" },
        { "a repetition that runs to the end from every place", PLAIN("{'pattern':'\\\\w*:|x'}"),
          MANY("'", "w", 300000, "'"), "UNFIT: backtracking" },
        { "a repetition that runs to the end from every iteration",
          PLAIN("{'pattern':'^(a*b|a)*$'}"), MANY("'", "a", 300000, "'"), "UNFIT: backtracking" },
        { "a lookahead that runs to the end from every place", PLAIN("{'pattern':'(?=[^:]*:)x'}"),
          MANY("'", "x", 300000, "'"), "UNFIT: backtracking" },
        { "a text that a pattern walks often", PLAIN("{'pattern':'a.*b.*c.*d'}"),
          MANY("'", "abc", 300000, "'"), "UNFIT" },
        { "a pattern of many repetitions", PLAIN("{'pattern':'((a{1,1000}){1,1000}){1,1000}'}"),
          PLAIN("'a'"), "UNFIT" },
        { "a pattern of 100,000 parentheses",
          { "{'pattern':'", "(", 100000, "a", ")", "'}" },
          PLAIN("'a'"),
          "UNFIT" },
        { "a pattern that is not closed", MANY("{'pattern':'", "(a", 100, "'}"), PLAIN("'a'"),
          "UNFIT: pattern" },
        { "the format regex", PLAIN("{'format':'regex'}"), MANY("'", "(", 100000, "'"),
          "UNFIT: expected" },
        { "formats of long texts",
          PLAIN("{'anyOf':[{'format':'email'},{'format':'hostname'},{'format':'idn-hostname'},"
                "{'format':'ipv6'},{'format':'uri'},{'format':'uri-template'},"
                "{'format':'json-pointer'},{'format':'duration'},{'format':'date-time'}]}"),
          MANY("'", "a.-", 300000, " '"), "UNFIT" },
        { "an enum of 100,000 texts", MANY("{'enum':['x'", ",'value-\1'", 100000, "]}"),
          PLAIN("'value-x'"), "UNFIT: and 99989 more" },
        { "an enum of 100,000 arrays", MANY("{'items':{'enum':[[]", ",[\1]", 100000, "]}}"),
          MANY("[0", ",[-1]", 1000, "]"), "UNFIT" },
        { "an enum of arrays of equal beginnings",
          MANY("{'items':{'enum':[0", ",[[" ZEROS ZEROS ZEROS ZEROS "\1]]", 1000, "]}}"),
          MANY("[0", ",[[" ZEROS ZEROS ZEROS ZEROS "999]]", 1000, ",[[-1]]]"), "UNFIT" },
        { "50,000 required members", MANY("{'required':['x'", ",'\1'", 50000, "]}"), PLAIN("{}"),
          "UNFIT: (and at least 49 more)" },
        { "50,000 required members among 50,000", MANY("{'required':['x'", ",'a\1'", 50000, "]}"),
          MANY("{'y':0", ",'b\1':0", 50000, "}"), "UNFIT" },
        { "50,000 members that are not allowed",
          MANY("{'additionalProperties':false,'properties':{'x':true", ",'property-\1':true", 1000,
               "}}"),
          MANY("{'y':0", ",'propertie-\1':0", 50000, "}"), "UNFIT: is not allowed" },
        { "equal elements at the ends", PLAIN("{'uniqueItems':true}"),
          MANY("[-1", ",\1", 100000, ",-1]"), "UNFIT: found 0 and 100001 equal: -1" },
        { "100,000 elements that differ late", PLAIN("{'uniqueItems':true}"),
          MANY("[0", ",{'a':{'b':[\1]}}", 100000, "]"), "ok" },
        { "100,000 numbers that are almost equal", PLAIN("{'uniqueItems':true}"),
          MANY("[0",
               ",1.00000000000000000\2"
               "1",
               100000, "]"),
          "ok" },
        { "unevaluatedProperties over anyOf that doubles",
          MANY("{'$ref':'#/$defs/a0','unevaluatedProperties':false,'$defs':{",
               "'a\1':{'anyOf':[{'$ref':'#/$defs/a\2'},{'$ref':'#/$defs/a\2'}]},", 40,
               "'a40':{'properties':{'a':true}}}}"),
          PLAIN("{'a':1,'b':2}"), "UNFIT: given up" },
        { "unevaluatedProperties at each level",
          PLAIN("{'properties':{'a':{'$ref':'#'}},'allOf':[{'properties':{'b':{'$ref':'#'}}}],"
                "'unevaluatedProperties':false}"),
          NESTED("{'a':", 60, "{'c':1}", "}"), "UNFIT: is not allowed here" },
        { "unevaluatedItems of a long array",
          PLAIN("{'anyOf':[{'prefixItems':[true]},{'contains':{'const':-1}}],"
                "'unevaluatedItems':false}"),
          MANY("[0", ",\1", 200000, "]"), "UNFIT" },
        { "contains in contains", PLAIN("{'contains':{'contains':{'contains':{'const':1}}}}"),
          MANY("[[]", ",[[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0]]", 20000, "]"),
          "UNFIT: expected at least 1 element that fits `contains`, found 0" },
        { "multipleOf of huge exponents", PLAIN("{'multipleOf':1e-300}"), PLAIN("1e308"), "ok" },
        { "multipleOf of many digits", MANY("{'multipleOf':0.", "3", 100000, "}"),
          MANY("", "7", 300, ""), "UNFIT" },
        { "many numbers of many digits", PLAIN("{'items':{'multipleOf':1e-300}}"),
          MANY("[0", ",1.7976931348623157e308", 100000, "]"), "ok" },
        { "bounds of a million digits", MANY("{'minimum':0.", "3", 1000000, "4}"),
          MANY("0.", "3", 1000000, ""), "UNFIT: expected at least 0.333" },
        { "a huge minLength", PLAIN("{'minLength':1e300}"), PLAIN("'a'"), "UNFIT" },
        { "a huge maxItems", PLAIN("{'maxItems':1e300,'minItems':0.0}"), PLAIN("[]"), "ok" },
        { "a megabyte of name before many violations",
          PLAIN("{'additionalProperties':{'items':{'type':'string'}}}"),
          { "{'", "x", 1000000, "':[0", ",0", "]}" },
          "UNFIT: expected a string, found 0" },
        { "100,000 violations", PLAIN("{'items':{'type':'string'}}"), MANY("[0", ",0", 100000, "]"),
          "UNFIT: /0: expected a string, found 0 (and at least 49 more)" },
        { "20,000 properties",
          MANY("{'properties':{'a':true", ",'\1':{'type':'null'}", 20000, "}}"),
          MANY("{'a':0", ",'\1':null", 20000, "}"), "ok" },
        { "5,000 lengths of a long text",
          MANY("{'anyOf':[false", ",{'items':{'maxLength':500000}}", 5000, "]}"),
          MANY("['", "0123456789abcdef", 60000, "']"), "UNFIT" },
        { "3,000 formats of a long text",
          MANY("{'anyOf':[false", ",{'items':{'format':'json-pointer'}}", 3000, "]}"),
          MANY("['/", "0123456789abcdef", 60000, "~']"), "UNFIT" },
        { "1,000 bounds of many digits",
          MANY("{'anyOf':[false", ",{'items':{'maximum':0.\1}}", 1000, "]}"),
          MANY("[0.", "9", 3000000, "]"), "UNFIT" },
        { "300 multiples of many digits",
          MANY("{'anyOf':[false",
               ",{'items':{'multipleOf':0.30\1"
               "1}}",
               300, "]}"),
          MANY("[0.", "7", 3000000, "]"), "UNFIT" },
        { "alternatives that are all looked through for equal elements",
          MANY("{'anyOf':[false", ",{'uniqueItems':true,'contains':{'const':\1}}", 1000, "]}"),
          MANY("[[0],[0", ",0", 300000, "]]"), "UNFIT" },
        { "3,000 dynamic anchors",
          MANY("{'allOf':[true",
               ",{'$id':'http://x/\1','$dynamicAnchor':'d\1','$dynamicRef':'#d\1'}", 3000, "]}"),
          PLAIN("1"), "UNFIT: $ref may lead back" },
        { "10,000 alternatives", MANY("{'anyOf':[false", ",{'minimum':\2}", 10000, "]}"),
          PLAIN("0"), "UNFIT: closest of 10001 alternatives" },
        { "a tree of alternatives that all fail late",
          PLAIN(
              "{'$ref':'#/$defs/t','$defs':{'t':{'anyOf':["
              "{'properties':{'l':{'$ref':'#/$defs/t'},'r':{'$ref':'#/$defs/t'}},'required':['x']},"
              "{'properties':{'l':{'$ref':'#/$defs/t'},'r':{'$ref':'#/$defs/t'}},"
              "'required':['y']}]}}}"),
          NESTED("{'l':", 15, "{}", ",'r':{}}"), "UNFIT" },
        { "500 patterns for 500 names",
          MANY("{'patternProperties':{'^x':true", ",'^a\1$':{'type':'null'}", 500, "}}"),
          MANY("{'a':0", ",'a\1':null", 500, "}"), "ok" },
        { "names that are all in dependencies",
          MANY("{'dependentRequired':{'x':['y']", ",'\1':['x']", 5000, "}}"),
          MANY("{'y':0", ",'\1':null", 5000, "}"), "UNFIT" },
    };
    CHECK_HOSTILE(cases, run_schema);
}

/* ---- patches ---- */

static err run_patch(struct arena *a, const struct hostile *h, double *ms)
{
    struct json doc = value_of(a, &h->first), patch = value_of(a, &h->second);
    double start = cpu_ms();
    err e = json_patch(a, &doc, &patch, NULL);

    *ms = cpu_ms() - start;
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
        { "insertions in front of a long array", MANY("[0", ",0", 100000, "]"),
          MANY("[{'op':'add','path':'/0','value':1}", ",{'op':'add','path':'/0','value':1}", 999,
               "]"),
          "ok" },
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

static err run_merge(struct arena *a, const struct hostile *h, double *ms)
{
    struct json doc = value_of(a, &h->first), patch = value_of(a, &h->second);
    double start = cpu_ms();
    err e = json_merge(a, &doc, &patch, NULL);

    *ms = cpu_ms() - start;
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

static err run_diff(struct arena *a, const struct hostile *h, double *ms)
{
    struct json from = value_of(a, &h->first), to = value_of(a, &h->second);
    const struct json_patch_limits limits = { .operations_max = UINT32_MAX };
    double start = cpu_ms();
    struct json patch = json_diff(a, &from, &to, 0);

    *ms = cpu_ms() - start;
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

static err run_path(struct arena *a, const struct hostile *h, double *ms)
{
    str query = text_make(a, &h->first, false);
    struct json doc = value_of(a, &h->second);
    const struct json_path *path;
    struct json_matches found;
    double start = cpu_ms();
    err e = json_path_compile(a, query, &path);

    if (!e)
        e = json_path_run(a, path, &doc, &found);
    *ms = cpu_ms() - start;
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
    double start = cpu_ms();

    CHECK_ERR(json_pointer_get(a, &doc, deep, &found), ERR_NOT_FOUND);
    CHECK_ERR(json_pointer_get(a, &doc, escapes, &found), ERR_INVALID);
    check_time("long pointers", cpu_ms() - start);
    check_memory("long pointers");
}
