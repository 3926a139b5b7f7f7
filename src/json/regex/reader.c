/* reader.c: what both translators of regular expressions read and write alike. */
#include <assert.h>
#include <stdarg.h>

#include "json/regex/private.h"

err regex_fault(const struct regex_reader *r, size_t where, const char *format, ...)
{
    struct buf message = buf_in(r->arena);
    va_list args;
    va_start(args, format);
    buf_vprintf(&message, format, args);
    va_end(args);
    return err_new(r->arena, ERR_INVALID, "regular expression, character %zu: " STR_FMT,
                   utf8_length(str_slice(r->pattern, 0, where)) + 1, STR_ARG(buf_str(&message)));
}

uint32_t regex_peek(const struct regex_reader *r)
{
    str rest = str_slice(r->pattern, r->at, r->pattern.len);
    return rest.len ? utf8_next(&rest) : REGEX_END;
}

uint32_t regex_take(struct regex_reader *r)
{
    str rest = str_slice(r->pattern, r->at, r->pattern.len);
    uint32_t c = rest.len ? utf8_next(&rest) : REGEX_END;
    r->at = r->pattern.len - rest.len;
    return c;
}

bool regex_accept(struct regex_reader *r, str text)
{
    if (!str_starts(str_slice(r->pattern, r->at, r->pattern.len), text))
        return false;
    r->at += text.len;
    return true;
}

static bool regex_count(struct regex_reader *r, uint32_t *count)
{
    size_t from = r->at;
    *count = 0;
    for (uint32_t c; (c = regex_peek(r)) >= '0' && c <= '9'; regex_take(r))
        if (*count <= REGEX_REPEAT_MAX)
            *count = *count * 10 + (c - '0');
    return r->at > from;
}

/* After `{`. */
static err regex_braces(struct regex_reader *r, size_t where, size_t atom)
{
    uint32_t least, most;
    bool open = false;
    if (!regex_count(r, &least))
        return regex_fault(r, where, "expected {n}, {n,} or {n,m}, or \\{ for the character");
    most = least;
    if (regex_accept(r, STR(",")))
        open = !regex_count(r, &most);
    if (!regex_accept(r, STR("}")))
        return regex_fault(r, where, "expected {n}, {n,} or {n,m}, or \\{ for the character");
    if (open)
        most = least;
    if (least > most)
        return regex_fault(r, where, "the repetition is in reverse order");
    if (most > REGEX_REPEAT_MAX)
        return regex_fault(r, where, "expected at most %d repetitions", REGEX_REPEAT_MAX);
    if (most == 0 && !open && !r->refers)
        r->out.len = atom; /* PCRE2 takes an anchor in there for one of the whole expression */
    else if (open)
        buf_printf(&r->out, "{%u,}", least);
    else
        buf_printf(&r->out, "{%u,%u}", least, most);
    return NULL;
}

bool regex_braces_follow(const struct regex_reader *r)
{
    struct regex_reader ahead = *r;
    uint32_t ignored;

    if (!regex_accept(&ahead, STR("{")) || !regex_count(&ahead, &ignored))
        return false;
    if (regex_accept(&ahead, STR(",")))
        regex_count(&ahead, &ignored);
    return regex_accept(&ahead, STR("}"));
}

err regex_quantifier(struct regex_reader *r, size_t atom, bool lazy, bool *found)
{
    size_t where = r->at;
    uint32_t c = regex_peek(r);

    assert(atom <= r->out.len && r->at <= r->pattern.len);
    *found = c == '*' || c == '+' || c == '?' ||
             (c == '{' && (!r->loose || regex_braces_follow(r)));
    if (!*found)
        return NULL;
    regex_take(r);
    if (c == '{')
        TRY(regex_braces(r, where, atom));
    else
        buf_byte(&r->out, (char)c);
    if (lazy && regex_accept(r, STR("?")) && r->out.len > atom)
        buf_byte(&r->out, '?');
    return NULL;
}

void regex_write_literal(struct buf *out, uint32_t c)
{
    bool plain = c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    if (plain) {
        char *at = buf_reserve(out, 4);
        out->len += utf8_put(at, c);
    } else {
        buf_printf(out, "\\x{%x}", (unsigned)c);
    }
}

void regex_write_range(struct buf *out, uint32_t low, uint32_t high)
{
    if (low >= 0xd800 && low < 0xe000)
        low = 0xe000;
    if (high >= 0xd800 && high < 0xe000)
        high = 0xd7ff;
    if (low > high)
        return;
    regex_write_literal(out, low);
    if (high > low) {
        buf_byte(out, '-');
        regex_write_literal(out, high);
    }
}
