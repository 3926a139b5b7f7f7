/* ecma.c: ECMA-262 patterns, with the `u` flag or without it, as PCRE2 writes them.
 *
 * One recursive descent over the grammar of ECMA-262, which writes as it reads.
 * Stricter than Perl, since everything unknown is refused, and more lenient
 * than the `u` flag in two things that schemas in the wild do and that have one
 * possible meaning: punctuation may be escaped needlessly (\- \@ \"), and a
 * hyphen beside a class escape stands for itself ([\w-.]).
 *
 * Without the flag (Annex B of ECMA-262), what would be refused stands for
 * itself: a brace that begins no repetition, a letter that is no escape. What
 * both have means the same in both, properties and \u{…} too. */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>

#include "base/map.h"
#include "json/regex/private.h"

/* Never matches. Without the group PCRE2 would forget a quantifier behind it. */
#define NOTHING STR("(?:[])")

struct ecma {
    struct regex_reader *r;
    struct map names; /* of groups → their number */
    uint32_t groups;  /* in the whole pattern */
};

static err ecma_disjunction(struct ecma *e);

/* ---- groups, found before anything is written, because references may point ahead ---- */

static err ecma_group_name(struct regex_reader *r, str *name)
{
    size_t from = r->at;
    for (;;) {
        uint32_t c = regex_peek(r);
        if (c == '>' && r->at > from)
            break;
        bool first = r->at == from;
        bool fits = c != REGEX_END && (c >= 0x80 || c == '$' || c == '_' ||
                                       (first ? isalpha((int)c) : isalnum((int)c)));
        if (!fits)
            return regex_fault(r, r->at, "expected the name of a group and '>'");
        regex_take(r);
    }
    *name = str_slice(r->pattern, from, r->at);
    regex_take(r);
    return NULL;
}

static err ecma_scan_group(struct ecma *e, struct regex_reader *r)
{
    if (regex_accept(r, STR("?"))) {
        if (!regex_accept(r, STR("<")) || regex_peek(r) == '=' || regex_peek(r) == '!')
            return NULL;
        size_t where = r->at;
        str name;
        TRY(ecma_group_name(r, &name));
        if (map_put(&e->names, name, (void *)(uintptr_t)(e->groups + 1)))
            return regex_fault(r, where, "the group name " STR_FMT " is used twice", STR_ARG(name));
    }
    e->groups++;
    return NULL;
}

/* Counts the groups and notes their names. */
static err ecma_scan(struct ecma *e)
{
    struct regex_reader r = *e->r;
    bool in_class = false;
    for (uint32_t c; (c = regex_take(&r)) != REGEX_END;) {
        if (c == '\\') {
            c = regex_take(&r);
            if (!in_class && ((c >= '1' && c <= '9') || c == 'k'))
                e->r->refers = true;
        } else if (c == '[') {
            in_class = true;
        } else if (c == ']') {
            in_class = false;
        } else if (c == '(' && !in_class) {
            TRY(ecma_scan_group(e, &r));
        }
    }
    return NULL;
}

/* ---- escapes ---- */

static int hex_value(uint32_t c)
{
    if (c >= '0' && c <= '9')
        return (int)c - '0';
    if ((c | 32) >= 'a' && (c | 32) <= 'f' && c < 0x80)
        return (int)(c | 32) - 'a' + 10;
    return -1;
}

/* Exactly `digits` hexadecimal digits; nothing is taken when they are not there. */
static bool ecma_hex(struct regex_reader *r, int digits, uint32_t *value)
{
    size_t from = r->at;
    *value = 0;
    for (int i = 0; i < digits; i++) {
        int v = hex_value(regex_peek(r));
        if (v < 0) {
            r->at = from;
            return false;
        }
        *value = *value << 4 | (uint32_t)v;
        regex_take(r);
    }
    return true;
}

/* After `\u{`. */
static err ecma_code_point(struct regex_reader *r, size_t where, uint32_t *c)
{
    uint32_t value = 0;
    size_t from = r->at;
    for (int v; (v = hex_value(regex_peek(r))) >= 0; regex_take(r))
        if ((value = value << 4 | (uint32_t)v) > 0x10ffff)
            return regex_fault(r, where, "\\u{} is at most 10FFFF");
    if (r->at == from || !regex_accept(r, STR("}")))
        return regex_fault(r, where, "expected hexadecimal digits and '}' after \\u{");
    *c = value;
    return NULL;
}

/* After `\u`; a pair of escaped surrogates is one code point. */
static err ecma_unicode(struct regex_reader *r, size_t where, uint32_t *c)
{
    if (regex_accept(r, STR("{")))
        return ecma_code_point(r, where, c);
    if (!ecma_hex(r, 4, c))
        return regex_fault(r, where, "expected four hexadecimal digits, or {…}, after \\u");
    size_t back = r->at;
    uint32_t low;
    if (*c >= 0xd800 && *c < 0xdc00 && regex_accept(r, STR("\\u"))) {
        if (ecma_hex(r, 4, &low) && low >= 0xdc00 && low < 0xe000)
            *c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
        else
            r->at = back;
    }
    return NULL;
}

/* Up to three octal digits, at most 377; the first is taken. */
static uint32_t ecma_octal(struct regex_reader *r, uint32_t value)
{
    for (int digits = 1; digits < 3; digits++) {
        uint32_t c = regex_peek(r);
        if (c < '0' || c > '7' || value * 8 + (c - '0') > 255)
            break;
        value = value * 8 + (c - '0');
        regex_take(r);
    }
    return value;
}

/* Without the `u` flag: the character after the backslash, which begins no escape. */
static void ecma_loose_escape(struct regex_reader *r, size_t where, uint32_t *c)
{
    r->at = where + 1;
    *c = regex_peek(r);
    if (*c == 'c') {
        *c = '\\'; /* and the c comes next */
        return;
    }
    regex_take(r);
    if (*c >= '0' && *c <= '7')
        *c = ecma_octal(r, *c - '0');
}

/* An escape that stands for one character; the backslash, at `where`, is taken. */
static err ecma_escape_strict(struct regex_reader *r, size_t where, uint32_t *c)
{
    static const char controls[] = "f\fn\nr\rt\tv\v";
    *c = regex_take(r);
    if (*c == REGEX_END)
        return regex_fault(r, where, "expected a character after the backslash, found the end");
    for (const char *p = controls; *p; p += 2)
        if (*c == (unsigned char)*p) {
            *c = (unsigned char)p[1];
            return NULL;
        }
    switch (*c) {
    case 'c':
        *c = regex_take(r);
        if (*c > 0x7f || !isalpha((int)*c))
            return regex_fault(r, where, "expected a letter after \\c");
        *c &= 31;
        return NULL;
    case '0':
        if (hex_value(regex_peek(r)) >= 0 && hex_value(regex_peek(r)) <= 9)
            return regex_fault(r, where, "octal escapes are not ECMA-262; write \\x00");
        *c = 0;
        return NULL;
    case 'x':
        if (!ecma_hex(r, 2, c))
            return regex_fault(r, where, "expected two hexadecimal digits after \\x");
        return NULL;
    case 'u': return ecma_unicode(r, where, c);
    }
    if (*c > 0x7f || isalnum((int)*c))
        return regex_fault(r, where, "\\" STR_FMT " is no escape of ECMA-262",
                           STR_ARG(str_slice(r->pattern, where + 1, r->at)));
    return NULL;
}

static err ecma_character_escape(struct regex_reader *r, size_t where, uint32_t *c)
{
    err e = ecma_escape_strict(r, where, c);

    if (!e || !r->loose || where + 1 == r->pattern.len)
        return e;
    ecma_loose_escape(r, where, c);
    return NULL;
}

/* The white space of ECMA-262 with all that Unicode calls a space: what lies between two entries
 * is \S. */
static const uint32_t spaces[][2] = {
    { 0x9, 0xd },       { 0x20, 0x20 },     { 0xa0, 0xa0 },     { 0x1680, 0x1680 },
    { 0x2000, 0x200a }, { 0x2028, 0x2029 }, { 0x202f, 0x202f }, { 0x205f, 0x205f },
    { 0x3000, 0x3000 }, { 0xfeff, 0xfeff },
};

static void ecma_write_spaces(struct buf *out, bool negated)
{
    uint32_t next = 0;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (negated)
            regex_write_range(out, next, spaces[i][0] - 1);
        else
            regex_write_range(out, spaces[i][0], spaces[i][1]);
        next = spaces[i][1] + 1;
    }
    if (negated)
        regex_write_range(out, next, 0x10ffff);
}

/* After `\p` or `\P`. */
static err ecma_property(struct regex_reader *r, size_t where, bool negated)
{
    if (!regex_accept(r, STR("{")))
        return regex_fault(r, where, "expected {…} after \\p");
    size_t from = r->at, end = from;
    while (end < r->pattern.len && r->pattern.at[end] != '}')
        end++;
    str name = str_slice(r->pattern, from, end);
    if (end == r->pattern.len || !regex_property(&r->out, name, negated))
        return regex_fault(r, where, "\\p{" STR_FMT "} is no property of ECMA-262 that is known",
                           STR_ARG(utf8_cut(name, 60)));
    r->at = end + 1;
    return NULL;
}

/* An escape that stands for a set, like \d, written for the inside of a class. */
static err ecma_class_escape(struct regex_reader *r, size_t where, bool *found)
{
    uint32_t c = regex_peek(r);
    *found = c != REGEX_END && c < 0x80 && strchr("dDwWsSpP", (int)c) && c;
    if (!*found)
        return NULL;
    size_t back = r->at;
    regex_take(r);
    if ((c | 32) == 'p') {
        err e = ecma_property(r, where, c == 'P');
        if (!e || !r->loose)
            return e;
        *found = false; /* a letter */
        r->at = back;
        return NULL;
    }
    if ((c | 32) == 's') {
        ecma_write_spaces(&r->out, c == 'S');
    } else {
        buf_byte(&r->out, '\\');
        buf_byte(&r->out, (char)c);
    }
    return NULL;
}

/* ---- classes ---- */

/* One member of a class: a character, or a set that was written already (`set`). */
static err ecma_class_atom(struct regex_reader *r, uint32_t *c, bool *set)
{
    size_t where = r->at;
    *set = false;
    *c = regex_take(r);
    if (*c != '\\')
        return NULL;
    TRY(ecma_class_escape(r, where, set));
    if (*set)
        return NULL;
    if (regex_accept(r, STR("b"))) {
        *c = '\b';
        return NULL;
    }
    return ecma_character_escape(r, where, c);
}

/* One member or one range. */
static err ecma_class_part(struct regex_reader *r)
{
    size_t where = r->at;
    uint32_t low, high;
    bool set, high_set;
    TRY(ecma_class_atom(r, &low, &set));

    size_t hyphen = r->at;
    bool range = regex_accept(r, STR("-")) && regex_peek(r) != ']' && regex_peek(r) != REGEX_END;
    if (!range) {
        r->at = hyphen;
        if (!set)
            regex_write_range(&r->out, low, low);
        return NULL;
    }
    TRY(ecma_class_atom(r, &high, &high_set));
    if (set || high_set) {
        regex_write_range(&r->out, '-', '-');
        if (!set)
            regex_write_range(&r->out, low, low);
        if (!high_set)
            regex_write_range(&r->out, high, high);
        return NULL;
    }
    if (low > high)
        return regex_fault(r, where, "the range is in reverse order");
    regex_write_range(&r->out, low, high);
    return NULL;
}

/* After `[`. */
static err ecma_class(struct regex_reader *r)
{
    size_t where = r->at - 1, start = r->out.len;
    bool negated = regex_accept(r, STR("^"));
    buf_add(&r->out, negated ? STR("[^") : STR("["));
    size_t empty = r->out.len;
    while (!regex_accept(r, STR("]"))) {
        if (regex_peek(r) == REGEX_END)
            return regex_fault(r, where, "expected ']' for this '[', found the end");
        TRY(ecma_class_part(r));
    }
    if (r->out.len == empty && !negated) {
        r->out.len = start;
        buf_add(&r->out, NOTHING);
    } else {
        buf_byte(&r->out, ']');
    }
    return NULL;
}

/* ---- atoms ---- */

/* Without the `u` flag, a reference to a group that there cannot be is none. */
static bool ecma_is_letter(const struct ecma *e)
{
    struct regex_reader ahead = *e->r;
    uint64_t group = 0;

    if (regex_peek(&ahead) == 'k')
        return e->names.count == 0;
    for (uint32_t c; (c = regex_peek(&ahead)) >= '0' && c <= '9' && group <= e->groups;
         regex_take(&ahead))
        group = group * 10 + (c - '0');
    return group > e->groups;
}

/* `\k`, or a digit that is not 0, comes next. */
static err ecma_reference(struct ecma *e, size_t where)
{
    struct regex_reader *r = e->r;
    uint64_t group = 0;
    if (r->loose && ecma_is_letter(e)) {
        uint32_t c;
        TRY(ecma_character_escape(r, where, &c));
        regex_write_literal(&r->out, c);
        return NULL;
    }
    if (regex_accept(r, STR("k"))) {
        str name;
        if (!regex_accept(r, STR("<")))
            return regex_fault(r, where, "expected <name> after \\k");
        TRY(ecma_group_name(r, &name));
        group = (uintptr_t)map_get(&e->names, name);
        if (!group)
            return regex_fault(r, where, "there is no group named " STR_FMT, STR_ARG(name));
    } else {
        for (uint32_t c; (c = regex_peek(r)) >= '0' && c <= '9' && group <= e->groups;
             regex_take(r))
            group = group * 10 + (c - '0');
        if (group > e->groups)
            return regex_fault(r, where, "the reference is to a group beyond the last, which is %u",
                               (unsigned)e->groups);
    }
    /* The group is for a quantifier: PCRE2 does not repeat a bare reference to an unset group. */
    buf_printf(&r->out, "(?:\\g{%u})", (unsigned)group);
    return NULL;
}

/* After a backslash outside of a class. Not `atom`: nothing to repeat. */
static err ecma_escape(struct ecma *e, bool *atom)
{
    struct regex_reader *r = e->r;
    size_t where = r->at - 1;
    uint32_t c = regex_peek(r);
    if (c == 'b' || c == 'B') {
        regex_take(r);
        buf_add(&r->out, c == 'b' ? STR("\\b") : STR("\\B"));
        *atom = false;
        return NULL;
    }
    if (c == 'k' || (c >= '1' && c <= '9'))
        return ecma_reference(e, where);

    bool set;
    size_t start = r->out.len;
    buf_byte(&r->out, '[');
    TRY(ecma_class_escape(r, where, &set));
    if (set) {
        buf_byte(&r->out, ']');
        return NULL;
    }
    r->out.len = start;
    TRY(ecma_character_escape(r, where, &c));
    if (c >= 0xd800 && c < 0xe000)
        buf_add(&r->out, NOTHING);
    else
        regex_write_literal(&r->out, c);
    return NULL;
}

/* After `(`. */
static err ecma_group(struct ecma *e, bool *atom)
{
    // clang-format off
    static const struct { str ecma, pcre; bool atom; } kinds[] = {
        { { "?:",  2 }, { "(?:",  3 }, true  },
        { { "?=",  2 }, { "(?=",  3 }, false },
        { { "?!",  2 }, { "(?!",  3 }, false },
        { { "?<=", 3 }, { "(?<=", 4 }, false },
        { { "?<!", 3 }, { "(?<!", 4 }, false },
    };
    // clang-format on
    struct regex_reader *r = e->r;
    size_t where = r->at - 1, count = sizeof kinds / sizeof *kinds, kind = 0;
    while (kind < count && !regex_accept(r, kinds[kind].ecma))
        kind++;
    if (kind < count) {
        buf_add(&r->out, kinds[kind].pcre);
        *atom = kinds[kind].atom || (r->loose && kinds[kind].ecma.len == 2);
    } else {
        str name;
        if (regex_accept(r, STR("?<")))
            TRY(ecma_group_name(r, &name));
        else if (regex_peek(r) == '?')
            return regex_fault(r, where,
                               "expected one of (?: (?= (?! (?<= (?<! (?<name>, which "
                               "are the groups of ECMA-262");
        buf_add(&r->out, r->refers ? STR("(") : STR("(?:"));
    }
    if (++r->depth > REGEX_NESTING_MAX)
        return regex_fault(r, where, "groups are nested deeper than %d", REGEX_NESTING_MAX);
    TRY(ecma_disjunction(e));
    r->depth--;
    if (!regex_accept(r, STR(")")))
        return regex_fault(r, where, "expected ')' for this '(', found the end");
    buf_byte(&r->out, ')');
    return NULL;
}

/* One term without its quantifier. */
static err ecma_term(struct ecma *e, bool *atom)
{
    struct regex_reader *r = e->r;
    size_t where = r->at;
    uint32_t c = regex_take(r);
    *atom = true;
    switch (c) {
    case '^':
    case '$':
        buf_byte(&r->out, (char)c);
        *atom = false;
        return NULL;
    case '.': buf_add(&r->out, STR("[^\\n\\r\\x{2028}\\x{2029}]")); return NULL;
    case '\\': return ecma_escape(e, atom);
    case '(': return ecma_group(e, atom);
    case '[': return ecma_class(r);
    case '*':
    case '+':
    case '?': return regex_fault(r, where, "'%c' has nothing to repeat", (char)c);
    case ']':
    case '{':
    case '}':
        if (r->loose && !(c == '{' && (r->at = where, regex_braces_follow(r)))) {
            r->at = where + 1;
            break;
        }
        return regex_fault(r, where, "'%c' that stands for itself must be written \\%c", (char)c,
                           (char)c);
    }
    regex_write_literal(&r->out, c);
    return NULL;
}

/* Up to the end or a `)`, which is left for the caller. */
static err ecma_disjunction(struct ecma *e)
{
    struct regex_reader *r = e->r;
    for (;;) {
        uint32_t c = regex_peek(r);
        if (c == REGEX_END || c == ')')
            return NULL;
        if (regex_accept(r, STR("|"))) {
            buf_byte(&r->out, '|');
            continue;
        }
        bool atom, quantified;
        size_t start = r->out.len;
        TRY(ecma_term(e, &atom));
        size_t where = r->at;
        TRY(regex_quantifier(r, start, true, &quantified));
        if (quantified && !atom)
            return regex_fault(r, where, "an assertion cannot be repeated");
    }
}

err regex_translate_ecma(struct regex_reader *r)
{
    struct ecma e = { .r = r, .names = map_in(r->arena) };
    TRY(ecma_scan(&e));
    TRY(ecma_disjunction(&e));
    if (r->at < r->pattern.len)
        return regex_fault(r, r->at, "')' closes nothing");
    return NULL;
}
