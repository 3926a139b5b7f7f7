/* lex.c: the texts inside an expression: blanks, words, numbers, strings, and where an error is.
 *
 * Columns count code points, from 1. Knows no grammar. */
#include "base/utf8.h"
#include "flow/feel/private.h"

err feel_fail(const struct feel_text *t, size_t at, const char *format, ...)
{
    struct buf message = buf_in(t->arena);
    va_list args;

    va_start(args, format);
    buf_vprintf(&message, format, args);
    va_end(args);
    return err_new(t->arena, ERR_INVALID, "column %zu: " STR_FMT,
                   utf8_length(str_slice(t->all, 0, at)) + 1, STR_ARG(buf_str(&message)));
}

/* What people bring along from other languages, and what it is called here. */
static const struct hint {
    str found;
    const char *hint;
} hints[] = {
    { { "==", 2 }, "equality is one '=' in FEEL" },
    { { "&", 1 }, "write 'and'" },
    { { "|", 1 }, "write 'or'" },
    { { "!", 1 }, "write not(…), or '!=' for unequal" },
    { { "'", 1 }, "strings stand in double quotes" },
    { { "%", 1 }, "write modulo(a, b)" },
    { { "?", 1 }, "write if … then … else …" },
    { { "=", 1 }, "join comparisons with 'and'" },
    { { NULL, 0 }, NULL },
};

/* What stands in ${…} and is not read there. */
static const struct hint camunda_hints[] = {
    { { "==", 2 }, "join comparisons with &&" },
    { { "=", 1 }, "equality is == in ${…}" },
    { { "empty", 5 }, "write it in FEEL, as =is empty(list)" },
    { { "not", 3 }, "write !" },
    { { "eq", 2 }, "write ==" },
    { { "ne", 2 }, "write !=" },
    { { "lt", 2 }, "write <" },
    { { "gt", 2 }, "write >" },
    { { "le", 2 }, "write <=" },
    { { "ge", 2 }, "write >=" },
    { { "div", 3 }, "write /" },
    { { "mod", 3 }, "write it in FEEL, as =modulo(a, b) = 0" },
    { { "%", 1 }, "write it in FEEL, as =modulo(a, b) = 0" },
    { { "?", 1 }, "write it in FEEL, as =if a then b else c" },
    { { "[", 1 },
      "positions count from 0 there and from 1 here: write it in FEEL, as =list[1] = 2" },
    { { "(", 1 }, "methods and functions are not read in ${…}: write it in FEEL, with = in front" },
    { { "&", 1 }, "write &&" },
    { { "|", 1 }, "write ||" },
    { { NULL, 0 }, NULL },
};

err feel_expected(const struct feel_text *t, const char *what)
{
    str rest = str_slice(t->all, t->at, t->all.len), after = rest;
    const char *hint = NULL;

    if (feel_ended(t))
        return feel_fail(t, t->at, "expected %s, found the end", what);
    struct feel_text word = *t;
    str whole = feel_read_word(&word);
    for (const struct hint *h = t->camunda ? camunda_hints : hints; h->found.at && !hint; h++)
        if (whole.len ? str_eq(whole, h->found) : str_starts(rest, h->found))
            hint = h->hint;
    uint32_t c = utf8_next(&after);
    if (utf8_is_control(c))
        return feel_fail(t, t->at, "expected %s, found U+%04X", what, (unsigned)c);
    rest.len -= after.len;
    if (whole.len > 0)
        rest = utf8_cut(whole, 40);
    return feel_fail(t, t->at, "expected %s, found '" STR_FMT "'%s%s", what, STR_ARG(rest),
                     hint ? ": " : "", hint ? hint : "");
}

/* ---- blanks, signs and words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_first(char c)
{
    char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_name_part(char c)
{
    return is_name_first(c) || is_digit(c);
}

void feel_skip_blanks(struct feel_text *t)
{
    while (is_blank(feel_peek(t)))
        t->at++;
}

bool feel_take(struct feel_text *t, char c)
{
    feel_skip_blanks(t);
    if (feel_ended(t) || t->all.at[t->at] != c)
        return false;
    t->at++;
    return true;
}

bool feel_take_text(struct feel_text *t, str text)
{
    feel_skip_blanks(t);
    if (!str_starts(str_slice(t->all, t->at, t->all.len), text))
        return false;
    t->at += text.len;
    return true;
}

bool feel_take_word(struct feel_text *t, str word)
{
    size_t from = t->at;

    if (!feel_take_text(t, word))
        return false;
    if (!is_name_part(feel_peek(t)))
        return true;
    t->at = from;
    return false;
}

str feel_read_word(struct feel_text *t)
{
    size_t from = t->at;

    if (is_name_first(feel_peek(t)))
        while (is_name_part(feel_peek(t)))
            t->at++;
    return str_slice(t->all, from, t->at);
}

static const char *const keywords[] = {
    "if",  "then", "else", "for",  "return", "some",    "every",    "satisfies",
    "and", "or",   "in",   "true", "null",   "between", "instance", "false",
};

bool feel_is_keyword(str word)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (keywords[i][0] == word.at[0] && str_eq(word, str_from(keywords[i])))
            return true;
    return false;
}

err feel_read_name(struct feel_text *t, const char *what, str *out)
{
    feel_skip_blanks(t);
    if (feel_peek(t) == '`') {
        size_t from = t->at + 1, len = str_find(str_slice(t->all, from, t->all.len), '`');
        if (from + len == t->all.len)
            return feel_fail(t, t->at, "expected a closing ` to this one, found the end");
        if (len == 0)
            return feel_fail(t, t->at, "expected a name between the backquotes, found nothing");
        *out = str_slice(t->all, from, from + len);
        t->at = from + len + 1;
        return NULL;
    }
    size_t from = t->at;
    *out = feel_read_word(t);
    if (out->len > 0 && !feel_is_keyword(*out))
        return NULL;
    t->at = from;
    return feel_expected(t, what);
}

/* ---- numbers ---- */

bool feel_at_number(const struct feel_text *t)
{
    return is_digit(feel_peek(t)) ||
           (feel_peek(t) == '.' && t->at + 1 < t->all.len && is_digit(t->all.at[t->at + 1]));
}

static size_t skip_digits(struct feel_text *t)
{
    size_t from = t->at;
    while (is_digit(feel_peek(t)))
        t->at++;
    return t->at - from;
}

/* 12, 1.5, .5, 1e3; with the '-' in front of it, if there is one. */
err feel_read_number(struct feel_text *t, struct feel_value *out)
{
    size_t from = t->at;
    bool negative = feel_take(t, '-');
    const struct json *number;

    while (feel_peek(t) == '0' && t->at + 1 < t->all.len && is_digit(t->all.at[t->at + 1]))
        t->at++; /* zeros in front mean nothing, and JSON has none */
    size_t digits = t->at;
    bool whole = skip_digits(t) > 0;
    if (feel_at_number(t)) {
        t->at++;
        skip_digits(t);
    }
    size_t end = t->at;
    if (feel_peek(t) == 'e' || feel_peek(t) == 'E') {
        t->at++;
        if (feel_peek(t) == '+' || feel_peek(t) == '-')
            t->at++;
        if (skip_digits(t) > 0)
            end = t->at;
        t->at = end;
    }
    str text = str_slice(t->all, digits, end);
    if (negative || !whole)
        text = arena_printf(t->arena, "%s%s" STR_FMT, negative ? "-" : "", whole ? "" : "0",
                            STR_ARG(text));
    if (json_parse(t->arena, text, NULL, &number))
        return feel_fail(t, from, "expected a number in the range of a double, found " STR_FMT,
                         STR_ARG(str_slice(text, 0, 40)));
    if (is_name_part(feel_peek(t)))
        return feel_expected(t, "the end of the number");
    *out = feel_number_of(number);
    return NULL;
}

/* ---- strings ---- */

static err read_hex(struct feel_text *t, unsigned count, uint32_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < count; i++) {
        char c = feel_peek(t), lower = (char)(c | 0x20);
        if (is_digit(c))
            *out = *out << 4 | (uint32_t)(c - '0');
        else if (lower >= 'a' && lower <= 'f')
            *out = *out << 4 | (uint32_t)(lower - 'a' + 10);
        else
            return feel_expected(t, count == 4 ? "four hexadecimal digits after \\u"
                                               : "six hexadecimal digits after \\U");
        t->at++;
    }
    return NULL;
}

/* \uD83D\uDE00 is one code point, as in JSON. */
static err read_code_point(struct feel_text *t, unsigned digits, uint32_t *out)
{
    size_t from = t->at;
    uint32_t low;

    TRY(read_hex(t, digits, out));
    if (*out >= 0xd800 && *out <= 0xdbff && digits == 4 &&
        str_starts(str_slice(t->all, t->at, t->all.len), STR("\\u"))) {
        t->at += 2;
        TRY(read_hex(t, 4, &low));
        if (low >= 0xdc00 && low <= 0xdfff) {
            *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
            return NULL;
        }
    }
    if (*out == 0 || *out > 0x10ffff || (*out >= 0xd800 && *out <= 0xdfff))
        return feel_fail(t, from, "expected the number of a character, found %X", (unsigned)*out);
    return NULL;
}

/* After the backslash. */
static err read_escape(struct feel_text *t, struct buf *out)
{
    static const char codes[] = "bfnrt/\\\"'", bytes[] = "\b\f\n\r\t/\\\"'";
    char c = feel_peek(t);
    const char *code = c ? strchr(codes, c) : NULL;

    if (c == 'u' || c == 'U') {
        uint32_t code_point;
        t->at++;
        TRY(read_code_point(t, c == 'u' ? 4 : 6, &code_point));
        out->len += utf8_put(buf_reserve(out, 4), code_point);
        return NULL;
    }
    if (!code)
        return feel_expected(t, "one of b f n r t u U / \\ ' \" after a backslash");
    buf_byte(out, bytes[code - codes]);
    t->at++;
    return NULL;
}

err feel_read_string(struct feel_text *t, str *out)
{
    char sign = feel_peek(t);
    size_t quote = t->at++,
           from = t->at; /* of the bytes that stand for themselves, not yet copied */
    struct buf copy = buf_in(t->arena);

    for (;;) {
        char c = feel_peek(t);
        if (feel_ended(t))
            return feel_fail(t, quote, "expected a closing %c to this one, found the end", sign);
        if ((unsigned char)c < 0x20 && !is_blank(c))
            return feel_expected(t, "no control character in a string");
        if (c == sign)
            break;
        t->at++;
        if (c == '\\') {
            buf_add(&copy, str_slice(t->all, from, t->at - 1));
            TRY(read_escape(t, &copy));
            from = t->at;
        }
    }
    str tail = str_slice(t->all, from, t->at++);
    if (copy.len == 0 && from == quote + 1) {
        *out = tail;
        return NULL;
    }
    buf_add(&copy, tail);
    *out = buf_str(&copy);
    return NULL;
}
