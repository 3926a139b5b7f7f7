/* junit.c: a reader of as much XML as reports of tests are written in. */
#include "runner/junit.h"

#include "base/utf8.h"

enum { ATTRIBUTES_MAX = 64, COUNT_MAX = 1000 * 1000 * 1000, NAME_SHOWN = 200 };

/* What elements mean here. */
enum element { OTHER, SUITES, SUITE, CASE, FAILURE, ERROR, SKIPPED };

static const struct {
    const char *name;
    enum element is;
} elements[] = {
    { "testsuites", SUITES }, { "testsuite", SUITE }, { "testcase", CASE },
    { "failure", FAILURE },   { "error", ERROR },     { "skipped", SKIPPED },
};

/* What the summary of a suite counts. */
enum count { TESTS, FAILURES, ERRORS, SKIPS, COUNTS };

static const char *const count_names[COUNTS] = { "tests", "failures", "errors", "skipped" };

struct open_element {
    str name;
    enum element is;
    str called; /* of a test, or of a suite */
    bool failed, erred, skipped;
    int64_t says[COUNTS];  /* its summary; −1: it says nothing */
    int64_t below[COUNTS]; /* of the summaries of those below it */
};

struct reader {
    struct arena *arena;
    str text;
    size_t at;
    struct open_element open[JUNIT_DEPTH_MAX];
    size_t depth;
    bool whole; /* its one element has ended */
    int64_t counted[COUNTS], says[COUNTS];
    struct junit *out;
};

struct attribute {
    str name, value;
};

static err broken(const struct reader *r, const char *expected)
{
    int line = 1;

    for (size_t i = 0; i < r->at && i < r->text.len; i++)
        line += r->text.at[i] == '\n';
    return err_new(r->arena, ERR_INVALID, "line %d: %s", line, expected);
}

/* ---- pieces ---- */

static bool at_end(const struct reader *r)
{
    return r->at >= r->text.len;
}

/* 0 at the end; a NUL in the text is refused before. */
static char peek(const struct reader *r)
{
    return at_end(r) ? 0 : r->text.at[r->at];
}

static bool take(struct reader *r, str word)
{
    bool there = str_starts(str_slice(r->text, r->at, r->text.len), word);

    if (there)
        r->at += word.len;
    return there;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool skip_space(struct reader *r)
{
    size_t from = r->at;

    while (is_space(peek(r)))
        r->at++;
    return r->at > from;
}

static bool is_name_byte(char c, bool first)
{
    char low = (char)(c | 0x20);
    bool more = (c >= '0' && c <= '9') || c == '-' || c == '.';

    return (low >= 'a' && low <= 'z') || c == '_' || c == ':' || (unsigned char)c >= 0x80 ||
           (!first && more);
}

static err name_read(struct reader *r, str *out)
{
    size_t from = r->at;

    while (is_name_byte(peek(r), r->at == from))
        r->at++;
    *out = str_slice(r->text, from, r->at);
    return out->len ? NULL : broken(r, "expected the name of an element or of an attribute");
}

/* Everything up to a word, and the word. */
static err skip_past(struct reader *r, const char *word, const char *expected)
{
    str end = str_from(word);
    size_t from = r->at;

    for (; r->at + end.len <= r->text.len; r->at++)
        if (take(r, end))
            return NULL;
    r->at = from;
    return broken(r, expected);
}

/* ---- references ---- */

/* A character by its number; those that XML has no place for are refused. */
static bool is_character(int64_t code)
{
    return code == '\t' || code == '\n' || code == '\r' || (code >= 0x20 && code < 0xd800) ||
           (code >= 0xe000 && code <= 0x10ffff && code != 0xfffe && code != 0xffff);
}

static bool number_read(str digits, int64_t *out)
{
    bool hex = digits.len > 1 && digits.at[0] == 'x';
    size_t i = hex ? 1 : 0;

    *out = 0;
    for (; i < digits.len && *out <= 0x10ffff; i++) {
        char c = digits.at[i], low = (char)(c | 0x20);
        bool letter = hex && low >= 'a' && low <= 'f';
        if (!letter && (c < '0' || c > '9'))
            return false;
        *out = *out * (hex ? 16 : 10) + (letter ? low - 'a' + 10 : c - '0');
    }
    return digits.len > (hex ? 1u : 0u) && is_character(*out);
}

/* &lt; and the like; `out` may be NULL, where nobody wants to know. */
static err reference_read(struct reader *r, struct buf *out)
{
    static const struct {
        const char *text;
        char c;
    } known[] = {
        { "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' }, { "&apos;", '\'' }
    };
    int64_t code = 0;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (take(r, str_from(known[i].text))) {
            if (out)
                buf_byte(out, known[i].c);
            return NULL;
        }
    str rest = str_slice(r->text, r->at, r->at + 12);
    size_t end = str_find(rest, ';');
    if (!str_starts(rest, STR("&#")) || end == rest.len ||
        !number_read(str_slice(rest, 2, end), &code))
        return broken(r, "expected &lt; &gt; &amp; &quot; &apos; or the number of a character: "
                         "no other entity is known");
    r->at += end + 1;
    if (out)
        out->len += utf8_put(buf_reserve(out, 4), (uint32_t)code);
    return NULL;
}

/* ---- tags ---- */

static err value_read(struct reader *r, str *out)
{
    struct buf value = buf_in(r->arena);
    char quote = peek(r);

    if (quote != '"' && quote != '\'')
        return broken(r, "expected the value of an attribute in quotes");
    r->at++;
    while (peek(r) != quote) {
        if (at_end(r) || peek(r) == '<')
            return broken(r, "expected the closing quote of an attribute");
        if (peek(r) == '&')
            TRY(reference_read(r, &value));
        else
            buf_byte(&value, r->text.at[r->at++]);
    }
    r->at++;
    *out = buf_str(&value);
    return NULL;
}

static err attributes_read(struct reader *r, struct attribute *all, size_t *count)
{
    *count = 0;
    while (skip_space(r) && peek(r) != '>' && peek(r) != '/' && peek(r) != '?') {
        struct attribute next;
        TRY(name_read(r, &next.name));
        skip_space(r);
        if (!take(r, STR("=")))
            return broken(r, "expected = and a value behind the name of an attribute");
        skip_space(r);
        TRY(value_read(r, &next.value));
        for (size_t i = 0; i < *count; i++)
            if (str_eq(all[i].name, next.name))
                return broken(r, "expected an attribute once, found it twice");
        if (*count == ATTRIBUTES_MAX)
            return broken(r, "expected at most 64 attributes");
        all[(*count)++] = next;
    }
    return NULL;
}

static str attribute_of(const struct attribute *all, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(all[i].name, str_from(name)))
            return all[i].value;
    return STR("");
}

static err summary_read(struct reader *r, const struct attribute *all, size_t count,
                        struct open_element *e)
{
    for (int i = 0; i < COUNTS; i++) {
        str value = str_trim(attribute_of(all, count, count_names[i]));
        if (!value.len && i == SKIPS)
            value = str_trim(attribute_of(all, count, "disabled"));
        e->says[i] = -1;
        if (value.len &&
            (!str_to_int(value, &e->says[i]) || e->says[i] < 0 || e->says[i] > COUNT_MAX))
            return broken(r, arena_printf(r->arena, "expected %s=\"…\" to be a number from 0 on",
                                          count_names[i])
                                 .at);
    }
    return NULL;
}

/* ---- what it means ---- */

static void failed_name(struct reader *r, str name)
{
    if (r->out->named < JUNIT_NAMES_MAX)
        r->out->failed[r->out->named++] =
            utf8_cut(name.len ? name : STR("one without a name"), NAME_SHOWN);
}

static enum element element_of(const struct reader *r, str name)
{
    enum element is = OTHER, above = r->depth ? r->open[r->depth - 1].is : SUITES;

    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (str_eq(name, str_from(elements[i].name)))
            is = elements[i].is;
    bool in_suite = above == SUITES || above == SUITE;
    if (is == SUITES)
        return r->depth ? OTHER : SUITES;
    if (is == SUITE || is == CASE)
        return in_suite ? is : OTHER;
    return above == CASE || (is == ERROR && above == SUITE) ? is : OTHER;
}

static void case_end(struct reader *r, const struct open_element *e)
{
    r->counted[TESTS]++;
    r->counted[FAILURES] += e->failed && !e->erred;
    r->counted[ERRORS] += e->erred;
    r->counted[SKIPS] += e->skipped && !e->failed && !e->erred;
    if (e->failed || e->erred)
        failed_name(r, e->called);
}

/* What it says of itself counts for whoever is above it. */
static void suite_end(struct reader *r, const struct open_element *e)
{
    int64_t *above = r->depth ? r->open[r->depth - 1].below : r->says;

    for (int i = 0; i < COUNTS; i++)
        if (above[i] <= COUNT_MAX)
            above[i] += e->says[i] > e->below[i] ? e->says[i] : e->below[i];
    if (e->erred) {
        r->counted[ERRORS]++;
        failed_name(r, e->called);
    }
}

static void element_end(struct reader *r)
{
    struct open_element e = r->open[--r->depth];
    struct open_element *above = r->depth ? &r->open[r->depth - 1] : NULL;

    r->whole = !r->depth;
    switch (e.is) {
    case OTHER: return;
    case SUITES:
    case SUITE: suite_end(r, &e); return;
    case CASE: case_end(r, &e); return;
    case FAILURE: above->failed = true; return;
    case ERROR: above->erred = true; return;
    case SKIPPED: above->skipped = true; return;
    }
}

/* ---- the document ---- */

static err element_begin(struct reader *r)
{
    struct attribute all[ATTRIBUTES_MAX];
    struct open_element e = { 0 };
    size_t count;

    if (r->whole)
        return broken(r, "expected nothing behind the report");
    TRY(name_read(r, &e.name));
    e.is = element_of(r, e.name);
    TRY(attributes_read(r, all, &count));
    if (!r->depth && e.is != SUITES && e.is != SUITE)
        return broken(r, "expected a report of tests: <testsuites> or <testsuite>");
    if (r->depth == JUNIT_DEPTH_MAX)
        return broken(r, "expected at most 64 elements inside each other");
    e.called = attribute_of(all, count, "name");
    if (e.is == SUITES || e.is == SUITE)
        TRY(summary_read(r, all, count, &e));
    r->open[r->depth++] = e;
    if (take(r, STR("/>")))
        element_end(r);
    else if (!take(r, STR(">")))
        return broken(r, "expected > at the end of a tag");
    return NULL;
}

static err tag_end(struct reader *r)
{
    str name;

    TRY(name_read(r, &name));
    skip_space(r);
    if (!r->depth || !str_eq(name, r->open[r->depth - 1].name))
        return broken(r, "expected the end of the element that was begun last");
    if (!take(r, STR(">")))
        return broken(r, "expected > at the end of a tag");
    element_end(r);
    return NULL;
}

static err markup_read(struct reader *r)
{
    if (take(r, STR("<!--")))
        return skip_past(r, "-->", "expected --> at the end of a comment");
    if (r->depth && take(r, STR("<![CDATA[")))
        return skip_past(r, "]]>", "expected ]]> at the end of a CDATA section");
    if (take(r, STR("<?")))
        return skip_past(r, "?>", "expected ?> at the end of an instruction");
    if (take(r, STR("</")))
        return tag_end(r);
    if (take(r, STR("<!")))
        return broken(r, "expected an element; a DOCTYPE is refused: write the report without one");
    r->at++;
    return element_begin(r);
}

static err text_read(struct reader *r)
{
    while (!at_end(r) && peek(r) != '<') {
        if (!r->depth && !is_space(peek(r)))
            return broken(r, "expected nothing but one element, found text beside it");
        if (peek(r) == '&')
            TRY(reference_read(r, NULL));
        else
            r->at++;
    }
    return NULL;
}

/* <?xml version="1.0" encoding="UTF-8"?>, should it be there. */
static err head_read(struct reader *r)
{
    struct attribute all[ATTRIBUTES_MAX];
    size_t count;

    take(r, STR("\xef\xbb\xbf"));
    if (!take(r, STR("<?xml")))
        return NULL;
    TRY(attributes_read(r, all, &count));
    str encoding = attribute_of(all, count, "encoding");
    bool known = !encoding.len || str_eq(encoding, STR("UTF-8")) ||
                 str_eq(encoding, STR("utf-8")) || str_eq(encoding, STR("US-ASCII"));
    if (!known)
        return broken(r, "expected the encoding UTF-8");
    return take(r, STR("?>")) ? NULL : broken(r, "expected ?> at the end of <?xml");
}

static err text_check(struct reader *r)
{
    if (r->text.len > JUNIT_BYTES_MAX)
        return err_new(r->arena, ERR_TOO_LARGE, "expected at most %d bytes, found %zu",
                       JUNIT_BYTES_MAX, r->text.len);
    if (!utf8_valid(r->text))
        return err_new(r->arena, ERR_INVALID, "expected text in UTF-8, found other bytes");
    for (r->at = 0; r->at < r->text.len; r->at++)
        if ((unsigned char)r->text.at[r->at] < 0x20 && !is_space(r->text.at[r->at]))
            return broken(r, "expected text, found a control character, which XML cannot hold");
    r->at = 0;
    return NULL;
}

static int64_t larger(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

err junit_read(struct arena *a, str text, struct junit *out)
{
    struct reader *r = ARENA_NEW(a, struct reader);

    *out = (struct junit){ 0 };
    r->arena = a;
    r->text = text;
    r->out = out;
    TRY(text_check(r));
    TRY(head_read(r));
    TRY(text_read(r));
    while (!at_end(r)) {
        TRY(markup_read(r));
        TRY(text_read(r));
    }
    if (r->depth)
        return broken(r, arena_printf(a, "expected </" STR_FMT ">, found the end of the report",
                                      STR_ARG(r->open[r->depth - 1].name))
                             .at);
    if (!r->whole)
        return broken(r, "expected a report of tests: <testsuites> or <testsuite>");
    out->tests = larger(r->counted[TESTS], r->says[TESTS]);
    out->failures = larger(r->counted[FAILURES], r->says[FAILURES]);
    out->errors = larger(r->counted[ERRORS], r->says[ERRORS]);
    out->skipped = larger(r->counted[SKIPS], r->says[SKIPS]);
    return NULL;
}
