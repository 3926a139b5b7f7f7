/* text.c: bytes, targets, values of fields, and heads of responses. */
#include "wire/http/text.h"

#include <assert.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/utf8.h"
#include "wire/http/private.h"

/* ---- bytes ---- */

// clang-format off
#define T HTTP_TOKEN
#define A HTTP_TARGET
#define V HTTP_VALUE
#define H HTTP_HOST
const uint8_t http_classes[256] = {
    ['0' ... '9'] = T | A | V | H, ['A' ... 'Z'] = T | A | V | H, ['a' ... 'z'] = T | A | V | H,
    ['!']  = T | A | V | H, ['"']  =     A | V,     ['#']  = T     | V,     ['$']  = T | A | V | H,
    ['%']  = T | A | V | H, ['&']  = T | A | V | H, ['\''] = T | A | V | H, ['(']  =     A | V | H,
    [')']  =     A | V | H, ['*']  = T | A | V | H, ['+']  = T | A | V | H, [',']  =     A | V | H,
    ['-']  = T | A | V | H, ['.']  = T | A | V | H, ['/']  =     A | V,     [':']  =     A | V | H,
    [';']  =     A | V | H, ['<']  =     A | V,     ['=']  =     A | V | H, ['>']  =     A | V,
    ['?']  =     A | V,     ['@']  =     A | V,     ['[']  =     A | V | H, ['\\'] =     A | V,
    [']']  =     A | V | H, ['^']  = T | A | V,     ['_']  = T | A | V | H, ['`']  = T | A | V,
    ['{']  =     A | V,     ['|']  = T | A | V,     ['}']  =     A | V,     ['~']  = T | A | V | H,
    ['\t'] =         V,     [' ']  =         V,     [0x80 ... 0xff] = V,
};
#undef T
#undef A
#undef V
#undef H
// clang-format on

str http_trim(str s)
{
    for (; s.len > 0 && (s.at[0] == ' ' || s.at[0] == '\t'); s.len--)
        s.at++;
    while (s.len > 0 && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t'))
        s.len--;
    return s;
}

size_t http_value_span(str s)
{
    size_t i = 0;
#if defined(__SSE2__)
    for (; s.len - i >= 16; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(s.at + i));
        __m128i low = _mm_cmpeq_epi8(v, _mm_min_epu8(v, _mm_set1_epi8(0x1f)));
        __m128i tab = _mm_cmpeq_epi8(v, _mm_set1_epi8('\t'));
        __m128i del = _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f));
        int bad = _mm_movemask_epi8(_mm_or_si128(_mm_andnot_si128(tab, low), del));
        if (bad)
            return i + (size_t)__builtin_ctz((unsigned)bad);
    }
#endif
    return i + http_span(http_drop(s, i), HTTP_VALUE);
}

int http_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

bool http_same_bytes(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

bool http_is_token(str s)
{
    return s.len > 0 && http_span(s, HTTP_TOKEN) == s.len;
}

bool http_is_value(str s)
{
    return http_value_span(s) == s.len;
}

/* ---- targets ---- */

static err decode(struct arena *a, str encoded, bool plus_is_space, str *out)
{
    char *to = arena_alloc(a, encoded.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < encoded.len; i++) {
        char c = encoded.at[i];
        if (c == '%') {
            int high = i + 2 < encoded.len ? http_hex_digit(encoded.at[i + 1]) : -1;
            int low = i + 2 < encoded.len ? http_hex_digit(encoded.at[i + 2]) : -1;
            if (high < 0 || low < 0)
                return err_new(a, ERR_INVALID,
                               "expected two hexadecimal digits behind each %% of the target, "
                               "found none at byte %zu of \"" STR_FMT "\"",
                               i, STR_ARG(str_slice(encoded, 0, 80)));
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        to[len++] = c;
    }
    to[len] = '\0';
    *out = (str){ to, len };
    if (memchr(to, '\0', len) || !utf8_valid(*out))
        return err_new(a, ERR_INVALID,
                       "expected UTF-8 without NUL in the target, found \"" STR_FMT "\"",
                       STR_ARG(str_slice(encoded, 0, 80)));
    return NULL;
}

err http_decode(struct arena *a, str encoded, str *out)
{
    return decode(a, encoded, false, out);
}

err http_query(struct arena *a, str query, struct http_pair **pairs, size_t *count)
{
    size_t most = 1;
    for (size_t i = 0; i < query.len; i++)
        most += query.at[i] == '&';
    *pairs = ARENA_ARRAY(a, struct http_pair, most);
    *count = 0;

    for (bool more = true; more;) {
        str part, name, value = STR("");
        struct http_pair *pair = &(*pairs)[*count];
        more = str_cut(query, '&', &part, &query);
        if (part.len == 0)
            continue;
        str_cut(part, '=', &name, &value);
        TRY(decode(a, name, true, &pair->name));
        TRY(decode(a, value, true, &pair->value));
        ++*count;
    }
    return NULL;
}

/* ---- lists ---- */

/* Where a quoted string that begins at `at` ends, behind its quote, or the text's end. */
static size_t skip_quoted(str s, size_t at)
{
    for (at++; at < s.len && s.at[at] != '"'; at++)
        at += s.at[at] == '\\';
    return at < s.len ? at + 1 : s.len;
}

bool http_list_next(str *rest, char separator, str *part)
{
    while (rest->len > 0) {
        size_t end = 0;
        while (end < rest->len && rest->at[end] != separator)
            end = rest->at[end] == '"' ? skip_quoted(*rest, end) : end + 1;
        *part = http_trim(str_slice(*rest, 0, end));
        *rest = http_drop(*rest, end + 1);
        if (part->len > 0)
            return true;
    }
    return false;
}

static bool etag_read(str part, struct http_etag *tag)
{
    tag->weak = str_starts(part, STR("W/"));
    if (tag->weak)
        part = http_drop(part, 2);
    if (part.len < 2 || part.at[0] != '"' || part.at[part.len - 1] != '"')
        return false;
    tag->tag = str_slice(part, 1, part.len - 1);
    for (size_t i = 0; i < tag->tag.len; i++)
        if ((unsigned char)tag->tag.at[i] <= ' ' || tag->tag.at[i] == '"' || tag->tag.at[i] == 0x7f)
            return false;
    return true;
}

/* A backslash is a letter of a tag, so the quotes of http_list_next are not its quotes. */
static str etag_cut(str *rest)
{
    *rest = http_trim(*rest);
    size_t open = str_find(*rest, '"'), comma = str_find(*rest, ',');
    size_t end = comma;

    if (open < comma) {
        size_t close = open + 1 + str_find(http_drop(*rest, open + 1), '"');
        end = close + str_find(http_drop(*rest, close), ',');
    }
    str part = http_trim(str_slice(*rest, 0, end));
    *rest = http_drop(*rest, end + 1);
    return part;
}

err http_etag_next(struct arena *a, str *rest, struct http_etag *tag)
{
    str part = STR("");

    *tag = (struct http_etag){ 0 };
    if (str_eq(http_trim(*rest), STR("*"))) {
        *tag = (struct http_etag){ .tag = http_trim(*rest), .any = true };
        *rest = STR("");
        return NULL;
    }
    while (part.len == 0 && rest->len > 0)
        part = etag_cut(rest);
    /* A * behind a tag would look like one alone when it comes to it. */
    if (part.len == 0 || (etag_read(part, tag) && !str_eq(http_trim(*rest), STR("*"))))
        return NULL;
    return err_new(a, ERR_INVALID,
                   "expected entity tags like \"v7\" in double quotes, or * alone, found %zu other "
                   "bytes",
                   part.len);
}

bool http_prefers(str prefer, str name, str *value)
{
    str preference, word;

    while (http_list_next(&prefer, ',', &preference)) {
        if (!http_list_next(&preference, ';', &word))
            continue;
        *value = STR("");
        str_cut(word, '=', &word, value);
        if (!http_same(http_trim(word), name))
            continue;
        *value = http_trim(*value);
        if (value->len >= 2 && value->at[0] == '"' && value->at[value->len - 1] == '"')
            *value = str_slice(*value, 1, value->len - 1);
        return true;
    }
    return false;
}

/* ---- media types ---- */

/* "0.5" as 500. What is no weight counts as 1, so that a slip does not hide a type. */
static unsigned weight_read(str text)
{
    unsigned weight = 0, digits = 0;

    if (text.len == 0 || text.len > 5 || text.at[0] < '0' || text.at[0] > '1' ||
        (text.len > 1 && text.at[1] != '.'))
        return 1000;
    for (size_t i = 0; i < text.len; i++) {
        if (i == 1)
            continue;
        if (text.at[i] < '0' || text.at[i] > '9')
            return 1000;
        weight = weight * 10 + (unsigned)(text.at[i] - '0');
        digits++;
    }
    for (; digits < 4; digits++)
        weight *= 10;
    return weight < 1000 ? weight : 1000;
}

/* How closely a range names a type: 0 not at all, 1 as any, 2 by its first half, 3 whole. */
static unsigned range_closeness(str range, str type)
{
    str first, second;

    if (http_same(range, type))
        return 3;
    if (str_eq(range, STR("*/*")))
        return 1;
    str_cut(range, '/', &first, &second);
    return str_ends(range, STR("/*")) && http_same(first, str_slice(type, 0, str_find(type, '/')))
               ? 2
               : 0;
}

unsigned http_accepts(str accept, str type, bool *named)
{
    unsigned closest = 0, weight = 0;
    str part, range, parameter;

    while (http_list_next(&accept, ',', &part)) {
        if (!http_list_next(&part, ';', &range))
            continue;
        unsigned closeness = range_closeness(range, type), q = 1000;
        while (http_list_next(&part, ';', &parameter))
            if (http_same(str_slice(parameter, 0, 2), STR("q=")))
                q = weight_read(http_drop(parameter, 2));
        if (closeness > closest || (closeness > 0 && closeness == closest && q > weight)) {
            closest = closeness;
            weight = q;
        }
    }
    if (named)
        *named = closest == 3;
    return weight;
}

bool http_media_is(str content_type, str type)
{
    return http_same(http_trim(str_slice(content_type, 0, str_find(content_type, ';'))), type);
}

/* ---- responses ---- */

// clang-format off
static const char *const reasons[600] = {
    [100] = "Continue",
    [101] = "Switching Protocols",
    [200] = "OK",
    [201] = "Created",
    [202] = "Accepted",
    [204] = "No Content",
    [206] = "Partial Content",
    [301] = "Moved Permanently",
    [302] = "Found",
    [303] = "See Other",
    [304] = "Not Modified",
    [307] = "Temporary Redirect",
    [308] = "Permanent Redirect",
    [400] = "Bad Request",
    [401] = "Unauthorized",
    [403] = "Forbidden",
    [404] = "Not Found",
    [405] = "Method Not Allowed",
    [406] = "Not Acceptable",
    [408] = "Request Timeout",
    [409] = "Conflict",
    [410] = "Gone",
    [411] = "Length Required",
    [412] = "Precondition Failed",
    [413] = "Content Too Large",
    [414] = "URI Too Long",
    [415] = "Unsupported Media Type",
    [416] = "Range Not Satisfiable",
    [417] = "Expectation Failed",
    [421] = "Misdirected Request",
    [422] = "Unprocessable Content",
    [426] = "Upgrade Required",
    [428] = "Precondition Required",
    [429] = "Too Many Requests",
    [431] = "Request Header Fields Too Large",
    [500] = "Internal Server Error",
    [501] = "Not Implemented",
    [502] = "Bad Gateway",
    [503] = "Service Unavailable",
    [504] = "Gateway Timeout",
    [505] = "HTTP Version Not Supported",
    [507] = "Insufficient Storage",
};
// clang-format on

const char *http_reason(int status)
{
    return status >= 0 && status < (int)(sizeof reasons / sizeof *reasons) ? reasons[status] : NULL;
}

void http_write_status(struct buf *out, int status)
{
    const char *reason = http_reason(status);

    assert(reason);
    buf_add(out, STR("HTTP/1.1 "));
    buf_int(out, status);
    buf_byte(out, ' ');
    buf_add(out, str_from(reason));
    buf_add(out, STR("\r\n"));
}

void http_write_field(struct buf *out, str name, str value)
{
    assert(http_is_token(name));
    assert(http_is_value(value));
    buf_add(out, name);
    buf_add(out, STR(": "));
    buf_add(out, value);
    buf_add(out, STR("\r\n"));
}

void http_write_number(struct buf *out, str name, int64_t value)
{
    char room[INT_ROOM];

    http_write_field(out, name, str_of_int(room, value));
}

void http_write_end(struct buf *out)
{
    buf_add(out, STR("\r\n"));
}
