/* iregexp.c: I-Regexp (RFC 9485).
 *
 * I-Regexp is the small common part of all dialects: no anchors (^ and $ are
 * plain characters), no references, no lazy quantifiers. Its dot is everything
 * but LF and CR. */
#include "json/regex/private.h"

static err iregexp_branches(struct regex_reader *r);

/* Characters that stand for themselves only behind a backslash. */
static bool iregexp_special(uint32_t c)
{
    return c && c < 0x80 && strchr("()*+.?[\\]{|}", (int)c);
}

/* A character behind a backslash at `where`, which is taken. */
static err iregexp_single_escape(struct regex_reader *r, size_t where, uint32_t *c)
{
    *c = regex_take(r);
    if (*c == 'n')
        *c = '\n';
    else if (*c == 'r')
        *c = '\r';
    else if (*c == 't')
        *c = '\t';
    else if (!iregexp_special(*c) && *c != '-' && *c != '^')
        return regex_fault(r, where,
                           "expected one of n r t ( ) * + - . ? [ \\ ] ^ { | } p P "
                           "after the backslash");
    return NULL;
}

/* `\p{…}` or `\P{…}` with a general category, if it comes next. */
static err iregexp_category(struct regex_reader *r, bool *found)
{
    static const str categories[] = {
        { "Lltmou", 6 }, { "Mcen", 4 },  { "Ndlo", 4 },  { "Pcdefios", 8 },
        { "Zlps", 4 },   { "Sckmo", 5 }, { "Ccfno", 5 },
    };
    size_t where = r->at;
    bool negated = regex_accept(r, STR("\\P{"));
    *found = negated || regex_accept(r, STR("\\p{"));
    if (!*found)
        return NULL;
    char name[2] = { 0 };
    uint32_t major = regex_take(r), minor = regex_peek(r);
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        if (major != (unsigned char)categories[i].at[0])
            continue;
        name[0] = (char)major;
        if (minor && minor < 0x80 && strchr(categories[i].at + 1, (int)minor))
            name[1] = (char)regex_take(r);
    }
    if (!name[0] || !regex_accept(r, STR("}")))
        return regex_fault(r, where, "expected a general category like \\p{L} or \\p{Lu}");
    buf_printf(&r->out, "\\%c{%.2s}", negated ? 'P' : 'p', name);
    return NULL;
}

/* A character of a class. */
static err iregexp_class_char(struct regex_reader *r, uint32_t *c)
{
    size_t where = r->at;
    *c = regex_take(r);
    if (*c == '\\')
        return iregexp_single_escape(r, where, c);
    if (*c == REGEX_END || *c == '[' || *c == ']' || *c == '-')
        return regex_fault(r, where,
                           "expected a character of the class; [ ] and - are written "
                           "with a backslash");
    return NULL;
}

/* After `[`. */
static err iregexp_class(struct regex_reader *r)
{
    buf_add(&r->out, regex_accept(r, STR("^")) ? STR("[^") : STR("["));
    bool first = true;
    for (; first || !regex_accept(r, STR("]")); first = false) {
        size_t where = r->at;
        bool found;
        uint32_t low, high;
        bool hyphen = regex_accept(r, STR("-"));
        if (hyphen && (first || regex_peek(r) == ']')) {
            regex_write_range(&r->out, '-', '-');
            continue;
        }
        r->at = where;
        TRY(iregexp_category(r, &found));
        if (found)
            continue;
        TRY(iregexp_class_char(r, &low));
        high = low;
        size_t back = r->at;
        if (regex_accept(r, STR("-"))) {
            if (regex_peek(r) == ']')
                r->at = back;
            else
                TRY(iregexp_class_char(r, &high));
        }
        if (low > high)
            return regex_fault(r, where, "the range is in reverse order");
        regex_write_range(&r->out, low, high);
    }
    buf_byte(&r->out, ']');
    return NULL;
}

/* After `(`. */
static err iregexp_group(struct regex_reader *r)
{
    size_t where = r->at - 1;
    if (++r->depth > REGEX_NESTING_MAX)
        return regex_fault(r, where, "groups are nested deeper than %d", REGEX_NESTING_MAX);
    buf_add(&r->out, STR("(?:"));
    TRY(iregexp_branches(r));
    r->depth--;
    if (!regex_accept(r, STR(")")))
        return regex_fault(r, where, "expected ')' for this '(', found the end");
    buf_byte(&r->out, ')');
    return NULL;
}

static err iregexp_atom(struct regex_reader *r)
{
    bool found;
    TRY(iregexp_category(r, &found));
    if (found)
        return NULL;
    size_t where = r->at;
    uint32_t c = regex_take(r);
    switch (c) {
    case '.':
    /* RFC 9485 has no anchors, and by its grammar these two stand for themselves. The public
     * compliance suite of JSONPath, and so every implementation, takes them as anchors. */
    case '^':
    case '$': buf_byte(&r->out, (char)c); return NULL;
    case '[': return iregexp_class(r);
    case '(': return iregexp_group(r);
    case '\\': TRY(iregexp_single_escape(r, where, &c)); break;
    default:
        if (iregexp_special(c))
            return regex_fault(r, where, "'%c' here must be written \\%c", (char)c, (char)c);
    }
    regex_write_literal(&r->out, c);
    return NULL;
}

/* Up to the end or a `)`, which is left for the caller. */
static err iregexp_branches(struct regex_reader *r)
{
    for (;;) {
        uint32_t c = regex_peek(r);
        if (c == REGEX_END || c == ')')
            return NULL;
        if (regex_accept(r, STR("|"))) {
            buf_byte(&r->out, '|');
            continue;
        }
        bool quantified;
        size_t start = r->out.len;
        TRY(iregexp_atom(r));
        TRY(regex_quantifier(r, start, false, &quantified));
    }
}

err regex_translate_iregexp(struct regex_reader *r)
{
    TRY(iregexp_branches(r));
    if (r->at < r->pattern.len)
        return regex_fault(r, r->at, "')' closes nothing");
    return NULL;
}
