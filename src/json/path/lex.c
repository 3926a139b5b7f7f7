/* lex.c: the texts inside a JSONPath query.
 *
 * Strings, numbers, names and blanks as RFC 9535 writes them, and errors that
 * say where. Columns count code points, from 1. Knows no selectors. */
#include "base/utf8.h"
#include "json/path/private.h"

#define INDEX_MAX ((INT64_C(1) << 53) - 1)

err path_fail(const struct path_text *t, size_t at, const char *format, ...)
{
    struct buf message = buf_in(t->arena);
    va_list args;

    va_start(args, format);
    buf_vprintf(&message, format, args);
    va_end(args);
    return err_new(t->arena, ERR_INVALID, "column %zu: " STR_FMT,
                   utf8_length(str_slice(t->all, 0, at)) + 1, STR_ARG(buf_str(&message)));
}

err path_expected(const struct path_text *t, const char *what)
{
    if (path_ended(t))
        return path_fail(t, t->at, "expected %s, found the end", what);

    str rest = str_slice(t->all, t->at, t->all.len), after = rest;
    uint32_t c = utf8_next(&after);
    if (c < 0x20 || c == 0x7f)
        return path_fail(t, t->at, "expected %s, found U+%04X", what, c);
    rest.len -= after.len;
    return path_fail(t, t->at, "expected %s, found '" STR_FMT "'", what, STR_ARG(rest));
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void path_skip_blanks(struct path_text *t)
{
    while (is_blank(path_peek(t)))
        t->at++;
}

/* ---- names ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_name_first(char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

str path_read_name(struct path_text *t)
{
    size_t from = t->at;

    if (is_name_first(path_peek(t)))
        while (is_name_first(path_peek(t)) || is_digit(path_peek(t)))
            t->at++;
    return str_slice(t->all, from, t->at);
}

str path_read_word(struct path_text *t)
{
    size_t from = t->at;

    if (is_lower(path_peek(t)))
        while (is_lower(path_peek(t)) || is_digit(path_peek(t)) || path_peek(t) == '_')
            t->at++;
    return str_slice(t->all, from, t->at);
}

/* ---- numbers ---- */

bool path_at_number(const struct path_text *t)
{
    return path_peek(t) == '-' || is_digit(path_peek(t));
}

err path_read_index(struct path_text *t, int64_t *out)
{
    size_t from = t->at;
    bool negative = path_take(t, '-');
    int64_t n = 0;

    if (!negative && path_take(t, '0')) {
        *out = 0;
        return NULL;
    }
    if (!is_digit(path_peek(t)) || path_peek(t) == '0')
        return path_expected(t, negative ? "a digit from 1 to 9 after '-'" : "an integer");
    while (is_digit(path_peek(t))) {
        n = n * 10 + (t->all.at[t->at++] - '0');
        if (n > INDEX_MAX)
            return path_fail(t, from,
                             "expected an integer from -(2^53-1) to 2^53-1, found one "
                             "beyond it");
    }
    *out = negative ? -n : n;
    return NULL;
}

static err read_digits(struct path_text *t)
{
    if (!is_digit(path_peek(t)))
        return path_expected(t, "a digit");
    while (is_digit(path_peek(t)))
        t->at++;
    return NULL;
}

err path_read_number(struct path_text *t, struct json *out)
{
    size_t from = t->at;
    const struct json *number;

    path_take(t, '-');
    if (!path_take(t, '0'))
        TRY(read_digits(t));
    if (path_take(t, '.'))
        TRY(read_digits(t));
    if (path_take(t, 'e') || path_take(t, 'E')) {
        if (!path_take(t, '-'))
            path_take(t, '+');
        TRY(read_digits(t));
    }
    /* The form is right by now; what is left to refuse is the size. */
    if (json_parse(t->arena, str_slice(t->all, from, t->at), NULL, &number))
        return path_fail(t, from, "expected a number in the range of a double, found " STR_FMT,
                         STR_ARG(str_slice(t->all, from, t->at < from + 40 ? t->at : from + 40)));
    *out = *number;
    return NULL;
}

/* ---- strings ---- */

static err read_hex4(struct path_text *t, uint32_t *out)
{
    uint32_t n = 0;

    for (int i = 0; i < 4; i++) {
        char c = path_peek(t), lower = (char)(c | 0x20);
        if (is_digit(c))
            n = n << 4 | (uint32_t)(c - '0');
        else if (lower >= 'a' && lower <= 'f')
            n = n << 4 | (uint32_t)(lower - 'a' + 10);
        else
            return path_expected(t, "four hexadecimal digits after \\u");
        t->at++;
    }
    *out = n;
    return NULL;
}

static err read_unicode_escape(struct path_text *t, uint32_t *out)
{
    size_t from = t->at;
    uint32_t low;

    TRY(read_hex4(t, out));
    if (*out < 0xd800 || *out > 0xdfff)
        return NULL;
    if (*out > 0xdbff)
        return path_fail(t, from,
                         "expected a code point, found the second half of a surrogate "
                         "pair without its first");
    from = t->at;
    if (path_take(t, '\\') && path_take(t, 'u')) {
        TRY(read_hex4(t, &low));
        if (low >= 0xdc00 && low <= 0xdfff) {
            *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
            return NULL;
        }
    }
    t->at = from;
    return path_expected(t, "the second half of a surrogate pair, \\uDC00 to \\uDFFF");
}

/* After the backslash. */
static err read_escape(struct path_text *t, char quote, struct buf *out)
{
    static const char codes[] = "bfnrt/\\", bytes[] = "\b\f\n\r\t/\\";
    char c = path_peek(t);
    const char *code = c ? strchr(codes, c) : NULL;

    if (c == 'u') {
        uint32_t code_point;
        t->at++;
        TRY(read_unicode_escape(t, &code_point));
        out->len += utf8_put(buf_reserve(out, 4), code_point);
        return NULL;
    }
    if (c != quote && !code)
        return path_expected(t, quote == '"' ? "one of b f n r t / \\ u \" after a backslash"
                                             : "one of b f n r t / \\ u ' after a backslash");
    buf_byte(out, c == quote ? quote : bytes[code - codes]);
    t->at++;
    return NULL;
}

err path_read_string(struct path_text *t, str *out)
{
    char quote = t->all.at[t->at++];
    size_t from = t->at; /* of the bytes that stand for themselves, not yet copied */
    struct buf copy = buf_in(t->arena);

    for (;;) {
        char c = path_peek(t);
        if ((unsigned char)c < 0x20)
            return path_expected(t, quote == '"' ? "a closing \"" : "a closing '");
        if (c == quote)
            break;
        t->at++;
        if (c == '\\') {
            buf_add(&copy, str_slice(t->all, from, t->at - 1));
            TRY(read_escape(t, quote, &copy));
            from = t->at;
        }
    }
    str tail = str_slice(t->all, from, t->at++);
    if (copy.len == 0) {
        *out = tail;
        return NULL;
    }
    buf_add(&copy, tail);
    *out = buf_str(&copy);
    return NULL;
}
