/* pointer.c: JSON Pointer, RFC 6901.
 *
 * Tokens are slices of the pointer's text unless they hold an escape. Does not
 * know the "-" that patches append with: to a pointer it is no index. */
#include "json/pointer.h"

#include "base/utf8.h"

#define SHOWN_MAX 200 /* bytes of a pointer or a token in a message */

static err token_unescape(struct arena *a, str raw, str *out)
{
    char *to = arena_alloc(a, raw.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.at[i];
        if (c == '~') {
            char code = i + 1 < raw.len ? raw.at[i + 1] : 0;
            if (code != '0' && code != '1')
                return err_new(a, ERR_INVALID,
                               "JSON Pointer: expected ~0 or ~1, found another '~' in the token "
                               "\"" STR_FMT "\"",
                               STR_ARG(utf8_cut(raw, SHOWN_MAX)));
            c = code == '0' ? '~' : '/';
            i++;
        }
        to[len++] = c;
    }
    to[len] = 0;
    *out = (str){ to, len };
    return NULL;
}

static size_t count_of(str text, char c)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.at[i] == c;
    return count;
}

err json_pointer_parse(struct arena *a, str text, struct json_pointer *out)
{
    *out = (struct json_pointer){ 0 };
    if (text.len == 0)
        return NULL;
    if (text.at[0] != '/')
        return err_new(a, ERR_INVALID,
                       "JSON Pointer: expected nothing or '/' first, found \"" STR_FMT "\"",
                       STR_ARG(utf8_cut(text, SHOWN_MAX)));

    out->tokens = ARENA_ARRAY(a, str, count_of(text, '/'));
    str rest = str_slice(text, 1, text.len), token;
    bool more;
    do {
        more = str_cut(rest, '/', &token, &rest);
        if (memchr(token.at, '~', token.len))
            TRY(token_unescape(a, token, &token));
        out->tokens[out->count++] = token;
    } while (more);
    return NULL;
}

bool json_pointer_index(str token, uint32_t *out)
{
    uint64_t index = 0;

    if (token.len == 0 || token.len > 10 || (token.at[0] == '0' && token.len > 1))
        return false;
    for (size_t i = 0; i < token.len; i++) {
        if (token.at[i] < '0' || token.at[i] > '9')
            return false;
        index = index * 10 + (uint64_t)(token.at[i] - '0');
    }
    if (index > UINT32_MAX)
        return false;
    *out = (uint32_t)index;
    return true;
}

const struct json *json_pointer_step(const struct json *at, str token)
{
    uint32_t index;

    if (json_is(at, JSON_OBJECT))
        return json_find(at, token);
    if (json_is(at, JSON_ARRAY) && json_pointer_index(token, &index))
        return json_at(at, index);
    return NULL;
}

/* The message's end: what stands where the pointer could not go on. */
static str obstacle(struct arena *a, const struct json *at, str token)
{
    token = utf8_cut(token, SHOWN_MAX);
    switch (at->kind) {
    case JSON_OBJECT:
        return arena_printf(a, "an object without a member \"" STR_FMT "\"", STR_ARG(token));
    case JSON_ARRAY:
        return arena_printf(a, "an array of %u without an element \"" STR_FMT "\"",
                            (unsigned)at->len, STR_ARG(token));
    default:
        return arena_printf(a, "a value of kind %s, with nothing inside", json_kind_name(at->kind));
    }
}

static err not_found(struct arena *a, str text, const struct json_pointer *pointer, size_t got,
                     const struct json *at)
{
    struct buf there = buf_in(a);
    for (size_t i = 0; i < got; i++)
        json_pointer_add(&there, pointer->tokens[i]);

    return err_new(a, ERR_NOT_FOUND, "no value at \"" STR_FMT "\": at \"" STR_FMT "\" is " STR_FMT,
                   STR_ARG(utf8_cut(text, SHOWN_MAX)),
                   STR_ARG(utf8_cut(buf_str(&there), SHOWN_MAX)),
                   STR_ARG(obstacle(a, at, pointer->tokens[got])));
}

err json_pointer_get(struct arena *a, const struct json *doc, str pointer, const struct json **out)
{
    struct json_pointer parsed;
    TRY(json_pointer_parse(a, pointer, &parsed));

    for (size_t i = 0; i < parsed.count; i++) {
        const struct json *next = json_pointer_step(doc, parsed.tokens[i]);
        if (!next)
            return not_found(a, pointer, &parsed, i, doc);
        doc = next;
    }
    *out = doc;
    return NULL;
}

void json_pointer_add(struct buf *out, str token)
{
    buf_byte(out, '/');
    for (size_t i = 0; i < token.len; i++) {
        if (token.at[i] == '~')
            buf_add(out, STR("~0"));
        else if (token.at[i] == '/')
            buf_add(out, STR("~1"));
        else
            buf_byte(out, token.at[i]);
    }
}

void json_pointer_add_index(struct buf *out, size_t index)
{
    char digits[24];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + index % 10);
    while (index /= 10);
    digits[--at] = '/';
    buf_add(out, (str){ digits + at, sizeof digits - at });
}
