/* regex_test.c: ECMA-262 patterns and I-Regexps, matched and refused. */
#include "json/regex/regex.h"

#include <pthread.h>

#include "check.h"

/* Texts end in NUL, so a NUL in a subject is tested on its own. */
struct match_case {
    const char *pattern;
    const char *yes[6], *no[6];
};

static const char *const results[] = { "no", "yes", "limit" };

/* As somebody who has as many steps as any match may take. */
static enum regex_result match(const struct regex *r, str subject)
{
    uint32_t steps = UINT32_MAX;
    return regex_match(r, subject, &steps);
}

static void check_match(const struct regex *r, const char *pattern, str subject,
                        enum regex_result expected)
{
    enum regex_result found = match(r, subject);
    if (found != expected)
        check_fail(__FILE__, __LINE__, "/%s/ on \"" STR_FMT "\": expected %s, found %s", pattern,
                   STR_ARG(str_slice(subject, 0, 60)), results[expected], results[found]);
}

static void check_case(struct regex *r, const struct match_case *c)
{
    for (int i = 0; i < 6 && c->yes[i]; i++)
        check_match(r, c->pattern, str_from(c->yes[i]), REGEX_YES);
    for (int i = 0; i < 6 && c->no[i]; i++)
        check_match(r, c->pattern, str_from(c->no[i]), REGEX_NO);
    regex_free(r);
}

static struct regex *compiled(const char *pattern)
{
    struct regex *r;
    err e = regex_compile(check_arena(), str_from(pattern), &r);
    if (e)
        check_fail(__FILE__, __LINE__, "/%s/: " STR_FMT, pattern, STR_ARG(e->message));
    return r;
}

// clang-format off
static const struct match_case ecma_cases[] = {
    /* search, anchors, the end of the text */
    { "",                   { "", "x" },                        { 0 } },
    { "es",                 { "expression", "es" },             { "", "e s" } },
    { "^abc$",              { "abc" },                          { "abc\n", "\nabc", "abcd" } },
    { "a$|^b",              { "a", "xa", "bx" },                { "ax", "a\nb", "xb" } },
    { "^$",                 { "" },                             { "\n", " " } },
    /* the dot */
    { "^.$",                { "a", "é", "𝒳", "\v", "\f", "\xc2\x85" }, { "", "\n", "\r", "\u2028", "\u2029", "ab" } },
    { "a.*b",               { "ab", "a--b", "xaéby" },          { "a\nb", "a\u2028b" } },
    /* escapes that stand for sets */
    { "^\\d+$",             { "0", "42" },                      { "", "-1", "৪২", "٣" } },
    { "^\\D$",              { "a", "߀" },                       { "0" } },
    { "^\\w+$",             { "a_Z9" },                         { "é", "-", "ß" } },
    { "^\\W$",              { "é", "-", " " },                  { "a", "_", "0" } },
    { "^\\s$",              { " ", "\t", "\u00a0", "\ufeff", "\u2029", "\u3000" }, { "", "a", "\u200b", "\xc2\x85", "\u180e" } },
    { "^\\s+$",             { "\v\f\n\r", "\u1680\u2000\u200a\u2028\u202f\u205f" }, { "\x01", "\x1f" } },
    { "^\\S$",              { "a", "\u200b", "\xc2\x85", "𝒳" },   { " ", "\u00a0", "\ufeff", "\u2003" } },
    { "^[\\s\\d]+$",        { "1 2\u3000" },                    { "a" } },
    { "^[^\\s]$",           { "a", "\xc2\x85" },                  { "\ufeff", "\u00a0" } },
    { "^[\\S]$",            { "a", "\xc2\x85" },                  { "\ufeff", "\u00a0" } },
    { "^[^\\S]$",           { " ", "\ufeff" },                  { "a" } },
    { "^[\\S\\s]$",         { " ", "a", "\n", "\u2028", "𝒳" },  { "" } },
    { "^[\\w\\W]$",         { " ", "é" },                       { "" } },
    { "\\bfoo\\b",          { "foo", "a foo b", "éfoo" },       { "foobar", "_foo" } },
    { "\\Bo",               { "foo" },                          { "o" } },
    /* escapes that stand for a character */
    { "^\\t\\n\\v\\f\\r$",  { "\t\n\v\f\r" },                   { "tnvfr" } },
    { "^\\cC\\cc$",         { "\x03\x03" },                     { "CC", "\\cC\\cc" } },
    { "^\\x41\\u0042\\u{43}\\u{00044}$", { "ABCD" },            { "abcd" } },
    { "^\\ud83d\\ude00$",   { "😀" },                           { "" } },
    { "^\\u{1f600}+$",      { "😀😀" },                         { "😁" } },
    { "^[\\ud83d\\ude00-\\ud83d\\ude02]$", { "😀", "😁" },      { "😃" } },
    { "\\ud83d",            { 0 },                              { "😀", "" } },
    { "^[\\ud800-\\udfff]$", { 0 },                             { "😀", "a", "" } },
    { "^[^\\ud800-\\udfff]$", { "😀", "a" },                    { "" } },
    { "^[\\u0000-\\uffff]$", { "a", "\uffff", "\ue000" },       { "😀" } },
    { "^\\^\\$\\\\\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\/$", { "^$\\.*+?()[]{}|/" }, { "" } },
    { "^\\-\\@\\\"\\'\\_\\ \\#\\,$", { "-@\"'_ #," },           { "\\-" } },
    { "^#a b$",             { "#a b" },                         { "ab", "" } },
    /* classes */
    { "^[a-c]$",            { "a", "b", "c" },                  { "d", "-", "" } },
    { "^[^a-c]$",           { "d", "\n", "é" },                 { "a" } },
    { "^[-a]$",             { "-", "a" },                       { "b" } },
    { "^[a-]$",             { "-", "a" },                       { "b" } },
    { "^[\\w-.]+$",         { "a-b.c" },                        { "a b", "," } },
    { "^[+-\\w]+$",         { "a-b+c" },                        { "a,b" } },
    { "^[a\\-c]+$",         { "a-c" },                          { "b" } },
    { "^[\\b]$",            { "\b" },                           { "b", "" } },
    { "^[\\]\\\\^]+$",      { "]\\^" },                         { "[" } },
    { "^[[:a]+$",           { "[:a" },                          { "]", "b" } },
    { "^[&&[~~||]+$",       { "&[~|" },                         { "a" } },
    { "[]",                 { 0 },                              { "", "a", "]" } },
    { "^a[]*b\\ud800?[^\\ud800]$", { "ab1" },                 { "ab", "b1" } },
    { "^[^]$",              { "a", "\n", "😀" },                { "" } },
    { "^[é-ü]$",            { "é", "ü", "ñ" },                  { "e" } },
    { "^[😀-😂]$",          { "😁" },                           { "a" } },
    /* quantifiers */
    { "^ab*c+d?$",          { "ac", "abbccd" },                 { "ab", "acdd" } },
    { "^a{2}$",             { "aa" },                           { "a", "aaa" } },
    { "^a{2,}$",            { "aa", "aaaaa" },                  { "a" } },
    { "^a{1,3}$",           { "a", "aaa" },                     { "", "aaaa" } },
    { "^a{0}$",             { "" },                             { "a" } },
    { "(?:a|^b){0}c",       { "xc", "c" },                      { "b" } },
    { "^a{0}?b{0,}?$",      { "", "b" },                        { "a" } },
    { "^a+?b*?c??d{1,2}?$", { "ad", "aabbcdd" },                { "d" } },
    { "^(?:a{2}){3}$",      { "aaaaaa" },                       { "aaaaa" } },
    /* groups, references, assertions */
    { "^(a|b)+$",           { "abba" },                         { "", "abc" } },
    { "^(?:a|b|)$",         { "a", "" },                        { "ab" } },
    { "^(a)(b)\\2\\1$",     { "abba" },                         { "abab" } },
    { "^\\1(a)$",           { "a" },                            { "aa" } },
    { "^(\\1{2}b)$",        { "b" },                            { "" } },
    { "^(?:(a)|b)\\1$",     { "aa", "b" },                      { "ab", "ba" } },
    { "^(?<q>['\"]).*\\k<q>$", { "'x'", "\"x\"" },              { "'x\"" } },
    { "^\\k<y>(?<y>.)$",    { "a" },                            { "aa" } },
    { "^(?<é$_1>.)\\k<é$_1>$", { "aa" },                        { "ab" } },
    { "^(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)\\10$", { "abcdefghijj" }, { "abcdefghija0" } },
    { "^(?=.*\\d)(?!.*x).+$", { "a1" },                         { "a", "a1x" } },
    { "(?:[ad]|)\\d*[abc]",  { "a", "1c", "d1b" },               { "d", "1" } },
    { "(?=a)b?a",           { "a", "xax" },                     { "b" } },
    { "(?<=\\$)\\d+",       { "$42" },                          { "42", "€42" } },
    { "(?<!\\$)\\b\\d+",    { "42" },                           { "$42" } },
    { "(?<=a|bc)d",         { "ad", "bcd" },                    { "cd" } },
    /* properties */
    { "^\\p{Letter}cole$",  { "École", "école", "Ecole" },  { "1cole" } },
    { "^\\p{digit}+$",      { "42", "৪২" },                     { "-%#", "x" } },
    { "^\\p{Lu}\\p{Ll}\\p{Nd}$", { "Aa1", "Éé৪" },              { "aA1" } },
    { "^\\P{L}$",           { "1" },                            { "a" } },
    { "^[^\\P{L}]$",        { "a" },                            { "1" } },
    { "^[\\p{L}\\p{N}_]+$", { "aé৪_" },                         { "-" } },
    { "^\\p{General_Category=Decimal_Number}\\p{gc=Lu}$", { "1A" }, { "A1" } },
    { "^\\p{LC}$",          { "a", "A", "ǅ" },                  { "中", "1" } },
    { "^\\p{Script=Greek}+$", { "αβ" },                         { "ab", "я" } },
    { "^\\p{sc=Cyrl}\\p{scx=Latin}$", { "яa" },                 { "ay" } },
    { "^\\P{Script_Extensions=Han}$", { "a" },                  { "中" } },
    { "^\\p{Alphabetic}\\p{Emoji}\\p{ASCII}\\p{Any}$", { "é😀a\n" }, { "é😀éa" } },
    { "^\\p{Assigned}$",    { "a" },                            { "\u0378" } },
    { "^\\P{Assigned}$",    { "\u0378" },                       { "a" } },
    { "^\\p{Uppercase}\\p{White_Space}\\p{ID_Start}\\p{Hex_Digit}$", { "A bF" }, { "a bF" } },
};

/* Where the pattern is wrong, and a word of the reason. */
static const struct { const char *pattern; int character; const char *says; } ecma_refused[] = {
    { "\\",              1, "after the backslash" },
    { "a\\Z",            2, "\\Z is no escape" },
    { "^\\S(|(.|\\n)*\\S)\\Z", 16, "\\Z" },
    { "\\a",             1, "\\a" },
    { "\\A",             1, "\\A" },
    { "\\z",             1, "\\z" },
    { "\\G",             1, "\\G" },
    { "\\h",             1, "\\h" },
    { "\\H",             1, "\\H" },
    { "\\R",             1, "\\R" },
    { "\\K",             1, "\\K" },
    { "\\Q.\\E",         1, "\\Q" },
    { "\\X",             1, "\\X" },
    { "\\N",             1, "\\N" },
    { "\\C",             1, "\\C" },
    { "\\e",             1, "\\e" },
    { "[\\a]",           2, "\\a" },
    { "[\\B]",           2, "\\B" },
    { "\\é",             1, "\\é" },
    { "é\\y",            2, "\\y" },
    { "\\x{41}",         1, "two hexadecimal" },
    { "\\x4",            1, "two hexadecimal" },
    { "\\u12",           1, "four hexadecimal" },
    { "\\u{}",           1, "hexadecimal digits and '}'" },
    { "\\u{110000}",     1, "10FFFF" },
    { "\\u{41",          1, "'}'" },
    { "\\c1",            1, "letter after \\c" },
    { "\\c",             1, "letter after \\c" },
    { "\\01",            1, "octal" },
    { "[\\1]",           2, "\\1" },
    { "\\1",             1, "beyond the last, which is 0" },
    { "(a)\\2",          4, "beyond the last, which is 1" },
    { "\\99999999999999999999999", 1, "beyond the last" },
    { "\\k<a>",          1, "no group named a" },
    { "(?<a>)\\k",       7, "<name>" },
    { "\\ka",            1, "<name>" },
    { "(?<a>)(?<a>)",    10, "used twice" },
    { "(?<1a>x)",        4, "name" },
    { "(?<>x)",          4, "name" },
    { "(?P<a>x)",        1, "(?<name>" },
    { "(?i)a",           1, "groups of ECMA-262" },
    { "(?>a)",           1, "groups of ECMA-262" },
    { "(?R)",            1, "groups of ECMA-262" },
    { "(?1)",            1, "groups of ECMA-262" },
    { "(?#x)",           1, "groups of ECMA-262" },
    { "(?|a)",           1, "groups of ECMA-262" },
    { "(?(1)a|b)",       1, "groups of ECMA-262" },
    { "(*ACCEPT)",       2, "nothing to repeat" },
    { "^(abc]",          6, "']'" },
    { "(a",              1, "')'" },
    { "a)",              2, "closes nothing" },
    { "[a",              1, "']'" },
    { "[a\\]",           1, "']'" },
    { "[b-a]",           2, "reverse" },
    { "[[:alpha:]]",     11, "']'" },
    { "*a",              1, "nothing to repeat" },
    { "a**",             3, "nothing to repeat" },
    { "a++",             3, "nothing to repeat" },
    { "a?+",             3, "nothing to repeat" },
    { "a{2}{3}",         5, "must be written \\{" },
    { "a|*",             3, "nothing to repeat" },
    { "^*",              2, "assertion" },
    { "\\b+",            3, "assertion" },
    { "(?=a)*",          6, "assertion" },
    { "a{2,1}",          2, "reverse" },
    { "a{65536}",        2, "at most 65535" },
    { "a{99999999999999999999}", 2, "at most 65535" },
    { "a{",              2, "{n}" },
    { "a{x}",            2, "{n}" },
    { "a{,2}",           2, "{n}" },
    { "a}",              2, "\\}" },
    { "{",               1, "\\{" },
    { "\\p{Greek}",      1, "\\p{Greek}" },
    { "\\p{letter}",     1, "property" },
    { "\\p{gc=Greek}",   1, "property" },
    { "\\p{Script=x y}", 1, "property" },
    { "\\p{foo=Lu}",     1, "property" },
    { "\\p{}",           1, "property" },
    { "\\p{L",           1, "property" },
    { "\\pL",            1, "after \\p" },
    { "\\p{^L}",         1, "property" },
};
// clang-format on

TEST(patterns_match_as_ecma_262_says)
{
    for (size_t i = 0; i < sizeof ecma_cases / sizeof *ecma_cases; i++)
        check_case(compiled(ecma_cases[i].pattern), &ecma_cases[i]);
}

TEST(what_is_not_ecma_262_is_refused_with_its_place)
{
    for (size_t i = 0; i < sizeof ecma_refused / sizeof *ecma_refused; i++) {
        const char *pattern = ecma_refused[i].pattern;
        struct regex *r;
        err e = regex_compile(check_arena(), str_from(pattern), &r);
        if (!e)
            check_fail(__FILE__, __LINE__, "/%s/ was taken", pattern);
        CHECK_INT(e->kind, ERR_INVALID);
        str place = arena_printf(check_arena(),
                                 "regular expression, character %d: ", ecma_refused[i].character);
        if (!str_starts(e->message, place) || !strstr(e->message.at, ecma_refused[i].says))
            check_fail(__FILE__, __LINE__,
                       "/%s/: expected character %d and \"%s\", found: " STR_FMT, pattern,
                       ecma_refused[i].character, ecma_refused[i].says, STR_ARG(e->message));
        CHECK(!regex_valid(str_from(pattern)));
    }
}

/* Annex B of ECMA-262: what a pattern means where nobody said `u`. */
TEST(what_only_the_flag_u_refuses_is_read_without_it)
{
    static const struct match_case cases[] = {
        { "a{", { "a{" }, { "a", "a\\{" } },
        { "^a{,3}$", { "a{,3}" }, { "", "aaa" } },
        { "^a{2}{b$", { "aa{b" }, { "aab" } },
        { "^{}$", { "{}" }, { "" } },
        { "^]$", { "]" }, { "" } },
        { "^\\y\\z$", { "yz" }, { "\\y\\z" } },
        { "^\\u12$", { "u12" }, { "\x12" } },
        { "^\\xg$", { "xg" }, { "g" } },
        { "^\\1$", { "\x01" }, { "1" } },
        { "^(a)\\2$", { "a\x02" }, { "aa" } },
        { "^\\8$", { "8" }, { "" } },
        { "^\\012$", { "\n" }, { "12" } },
        { "^\\0012$",
          { "\x01"
            "2" },
          { "\n" } },
        { "^\\377\\400$",
          { "\u00ff\x20"
            "0" },
          { "" } },
        { "^\\c$", { "\\c" }, { "c" } },
        { "^[\\c]+$", { "\\", "c" }, { "]" } },
        { "^(?=a)*a$", { "a" }, { "b" } },
        { "^\\k$", { "k" }, { "\\k" } },
        { "^\\p{Nope}$", { "p{Nope}" }, { "N" } },
        { "^\\p{L}{$", { "\u00e9{" }, { "p{L}{" } },
        { "^[\\y-z]$", { "y", "z" }, { "-" } },
    };
    static const char *const refused[] = { "(",  "a**",        "{1}", "[b-a]", "a{2,1}", "a)",
                                           "[a", "(?<n>a)\\k", "\\",  "(?#a)", "a{2}{3}" };
    struct regex *r;
    bool loose;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_ERR(regex_compile(check_arena(), str_from(cases[i].pattern), &r), ERR_INVALID);
        CHECK_OK(regex_compile_loose(check_arena(), str_from(cases[i].pattern), &loose, &r));
        CHECK(loose);
        check_case(r, &cases[i]);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK_ERR(regex_compile_loose(check_arena(), str_from(refused[i]), &loose, &r),
                  ERR_INVALID);
    CHECK_OK(regex_compile_loose(check_arena(), STR("^a{2}$"), &loose, &r));
    CHECK(!loose);
    regex_free(r);
}

TEST(the_format_regex_takes_what_compiles)
{
    CHECK(regex_valid(STR("([abc])+\\s+$")));
    CHECK(regex_valid(STR("")));
    CHECK(!regex_valid(STR("^(abc]")));
}

TEST(patterns_beyond_pcre2_or_the_bounds_are_refused)
{
    struct arena *a = check_arena();
    struct regex *r;
    CHECK_ERR(regex_compile(a, STR("(?<=a*)b"), &r), ERR_INVALID);
    CHECK_ERR(regex_compile(a, STR("\\p{Script=Klingon}"), &r), ERR_INVALID);
    CHECK_ERR(regex_compile(a, STR("((a{60000}){60000}){60000}"), &r), ERR_INVALID);
    CHECK_ERR(regex_compile(a, STR("a\xff"), &r), ERR_INVALID);

    struct buf deep = buf_in(a), wide = buf_in(a);
    for (int i = 0; i < 201; i++)
        buf_byte(&deep, '(');
    for (int i = 0; i < 201; i++)
        buf_byte(&deep, ')');
    for (int i = 0; i < (64 << 10) + 1; i++)
        buf_byte(&wide, 'a');
    CHECK_ERR(regex_compile(a, buf_str(&deep), &r), ERR_INVALID);
    CHECK_ERR(regex_compile(a, buf_str(&wide), &r), ERR_INVALID);
}

static void check_one(const char *pattern, str subject, enum regex_result expected)
{
    struct regex *r = compiled(pattern);
    check_match(r, pattern, subject, expected);
    regex_free(r);
}

TEST(a_subject_may_hold_nul_and_be_empty_without_a_pointer)
{
    check_one("^a\\0b$", (str){ "a\0b", 3 }, REGEX_YES);
    check_one("^[^\\x00]*$", (str){ "a\0b", 3 }, REGEX_NO);

    struct regex *empty = compiled("^$");
    CHECK_INT(match(empty, (str){ NULL, 0 }), REGEX_YES);
    regex_free(empty);
}

/* Many a, and something that is none. */
static str repeated_a(int times)
{
    struct buf many = buf_in(check_arena());
    while (times--)
        buf_byte(&many, 'a');
    buf_byte(&many, '!');
    return buf_str(&many);
}

/* Without a limit each of these takes longer than a life. */
TEST(a_pattern_that_backtracks_without_end_answers_limit)
{
    check_one("^(a+)+$", repeated_a(5000), REGEX_LIMIT);
    check_one("^(a|aa)+$", repeated_a(5000), REGEX_LIMIT);
    check_one("^(a|b|ab)*c", STR("abababababab"), REGEX_NO);
}

/* Recursion deeper than the stack of the compiled code is taken up by the interpreter. */
TEST(long_subjects_need_no_large_stack)
{
    struct buf many = buf_in(check_arena());
    for (int i = 0; i < 50000; i++)
        buf_add(&many, i % 2 ? STR("b") : STR("a"));
    check_one("^(?:a|b)*$", buf_str(&many), REGEX_YES);
    check_one("(?:a|b)+[cd]", buf_str(&many), REGEX_LIMIT);
}

/* One match that backtracks much is answered; a budget bounds how many of them are. */
TEST(matches_within_a_budget_cost_what_they_backtrack)
{
    struct regex *cheap = compiled("^[a-z]+$"), *dear = compiled("^(a+)+$");
    uint32_t steps = 100000;
    for (int i = 0; i < 1000; i++)
        CHECK_INT(regex_match(cheap, STR("abcdef"), &steps), REGEX_YES);
    CHECK(steps > 90000);

    CHECK_INT(regex_match(dear, STR("aaaaaaaa!"), &steps), REGEX_NO);
    CHECK(steps > 0);
    CHECK_INT(regex_match(dear, repeated_a(5000), &steps), REGEX_LIMIT);
    CHECK_INT(steps, 0);
    CHECK_INT(regex_match(cheap, STR("abcdef"), &steps), REGEX_LIMIT);
    regex_free(cheap);
    regex_free(dear);
}

static void *match_in_thread(void *r)
{
    size_t found = 0;
    for (int i = 0; i < 1000; i++)
        found += match(r, STR("xxabcabcxx")) == REGEX_YES;
    return (void *)found;
}

TEST(one_expression_is_matched_by_many_threads)
{
    struct regex *r = compiled("(abc)\\1");
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, match_in_thread, r), 0);
    for (int i = 0; i < 4; i++) {
        void *found;
        pthread_join(threads[i], &found);
        CHECK_INT((size_t)found, 1000);
    }
    regex_free(r);
}

/* ---- I-Regexp ---- */

// clang-format off
static const struct match_case whole_cases[] = {
    { "",                   { "" },                             { "a" } },
    { "a.b",                { "aéb", "a\u2028b", "a\xc2\x85" "b" },  { "a\nb", "a\rb", "xaeb", "aebx" } },
    { "a|ab|abc",           { "a", "ab", "abc" },               { "b", "abcd" } },
    { "^a$",                { "a" },                            { "^a$", "ab" } },
    { "[ab]+",              { "abba" },                         { "", "abc" } },
    { "(a|b|)c?",           { "", "a", "bc", "c" },             { "ab" } },
    { "[^a-c]{2}",          { "xy", "\n\r" },                   { "ax", "x" } },
    { "[-a]*",              { "-a-" },                          { "b" } },
    { "[a-]*",              { "-a-" },                          { "b" } },
    { "[^-]",               { "a" },                            { "-" } },
    { "[a-c-]",             { "-", "b" },                       { "d" } },
    { "[a^.$]+",            { "^a.$" },                         { "b" } },
    { "\\(\\)\\*\\+\\-\\.\\?\\[\\\\\\]\\^\\{\\|\\}", { "()*+-.?[\\]^{|}" }, { "" } },
    { "\\n\\r\\t",          { "\n\r\t" },                       { "nrt" } },
    { "\\p{L}\\p{Lu}\\P{N}", { "aBc" },                         { "abc", "aB1" } },
    { "[\\p{Nd}_-]+",       { "1_৪-" },                         { "a" } },
    { "[^\\p{Z}\\p{Cc}]",   { "a" },                            { " ", "\n" } },
    { "a{2}b{1,}c{0,1}",    { "aab", "aabbc" },                 { "ab", "aabcc" } },
    { "/,:;<=>@_`~#%&\"'!", { "/,:;<=>@_`~#%&\"'!" },           { "" } },
    { "💩.",                { "💩💩" },                         { "💩" } },
};

static const struct match_case search_cases[] = {
    { "",                   { "", "a" },                        { 0 } },
    { "b",                  { "abc" },                          { "ac" } },
    { "a.c",                { "xxabcxx" },                      { "a\nc" } },
};

static const char *const iregexp_refused[] = {
    "a**", "a+?", "a{1}?", "*", "?a", "|*", "a{", "a{}", "a{,1}", "a{2,1}", "a{1", "a}", "}", "]",
    "[", "[]", "[^]", "[a", "[b-a]", "[a-b-c]", "[--a]", "[[]", "[\\d]", "[a-\\p{L}]", "[\\p{L}-z]",
    "(", ")", "(a", "a)", "(?:a)", "(?=a)", "\\", "\\d", "\\w", "\\s", "\\b", "\\$", "\\/", "\\x41",
    "\\u0041", "\\1", "\\p", "\\pL", "\\p{}", "\\p{L", "\\p{Lx}", "\\p{Letter}", "\\p{Cs}", "\\p{IsBasicLatin}",
    "\\p{l}", "[a&&[^b]]", "[a-[b]]",
};
// clang-format on

TEST(iregexps_match_whole_or_anywhere)
{
    struct regex *r;
    for (size_t i = 0; i < sizeof whole_cases / sizeof *whole_cases; i++) {
        CHECK_OK(iregexp_compile(check_arena(), str_from(whole_cases[i].pattern), true, &r));
        check_case(r, &whole_cases[i]);
    }
    for (size_t i = 0; i < sizeof search_cases / sizeof *search_cases; i++) {
        CHECK_OK(iregexp_compile(check_arena(), str_from(search_cases[i].pattern), false, &r));
        check_case(r, &search_cases[i]);
    }
}

TEST(what_is_no_iregexp_is_refused)
{
    for (size_t i = 0; i < sizeof iregexp_refused / sizeof *iregexp_refused; i++) {
        struct regex *r;
        err e = iregexp_compile(check_arena(), str_from(iregexp_refused[i]), true, &r);
        if (!e)
            check_fail(__FILE__, __LINE__, "/%s/ was taken", iregexp_refused[i]);
        CHECK_INT(e->kind, ERR_INVALID);
    }
}

/* Long subjects are metered; what is ordinary must not run into the limit. */
TEST(long_texts_are_searched_by_ordinary_patterns)
{
    static const struct {
        const char *pattern;
        enum regex_result expected;
    } cases[] = {
        { "foo|bar+", REGEX_NO },
        { "[a-z]+@[a-z]+\\.com", REGEX_NO },
        { "(\\w+)\\s(\\w+)@", REGEX_NO },
        { "^[a-z ,.]+$", REGEX_YES },
        { "elitr\\.\\s*$", REGEX_YES },
        { "^(?:[a-z]+[ ,.]*)+$", REGEX_YES },
        { "(?:dolor|amet)+ sit", REGEX_YES },
        { "\\w*:|x", REGEX_NO },
    };
    struct arena *a = check_arena();
    struct buf text = buf_in(a);

    for (int i = 0; i < 5000; i++)
        buf_add(&text, STR("lorem ipsum dolor sit amet, sadipscing elitr. "));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct regex *r;
        uint32_t steps = 1000000;
        CHECK_OK(regex_compile(a, str_from(cases[i].pattern), &r));
        CHECK_INT(regex_match(r, buf_str(&text), &steps), cases[i].expected);
        CHECK(steps > 500000);
        regex_free(r);
    }
}

TEST(a_repetition_that_runs_from_every_place_is_given_up)
{
    static const char *const patterns[] = { "\\w*:|x", "^(a*b|a)*$", "(?=[^:]*:)x", "a*b|a*c" };
    struct arena *a = check_arena();
    struct buf text = buf_in(a);

    for (int i = 0; i < 300000; i++)
        buf_byte(&text, 'a');
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct regex *r;
        CHECK_OK(regex_compile(a, str_from(patterns[i]), &r));
        check_match(r, patterns[i], buf_str(&text), REGEX_LIMIT);
        regex_free(r);
    }
}
