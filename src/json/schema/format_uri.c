/* format_uri.c: URIs (RFC 3986), IRIs (RFC 3987) and templates of URIs (RFC 6570).
 *
 * An IRI is a URI in which more code points are unreserved, so one reader takes
 * both. What a scheme makes of the rest is not known here. */
#include "base/utf8.h"
#include "json/schema/format_private.h"

static bool is_one_of(uint32_t c, const char *set)
{
    return c && c < 0x80 && strchr(set, (int)c);
}

/* ucschar and iprivate of RFC 3987: what Unicode assigns or may assign to characters, and what it
 * leaves to private use. */
static bool is_ucschar(uint32_t c)
{
    if (c < 0x10000)
        return (c >= 0xa0 && c <= 0xd7ff) || (c >= 0xf900 && c <= 0xfdcf) ||
               (c >= 0xfdf0 && c <= 0xffef);
    return c < 0xf0000 && (c & 0xffff) <= 0xfffd && !(c >= 0xe0000 && c < 0xe1000);
}

static bool is_iprivate(uint32_t c)
{
    return (c >= 0xe000 && c <= 0xf8ff) || (c >= 0xf0000 && (c & 0xffff) <= 0xfffd);
}

static bool is_unreserved(uint32_t c, bool iri)
{
    return format_is_letter(c) || format_is_digit(c) || is_one_of(c, "-._~") ||
           (iri && is_ucschar(c));
}

/* % and two hexadecimal digits. */
static bool take_percent(str *s)
{
    if (s->len < 3 || s->at[0] != '%' || !format_is_hex((unsigned char)s->at[1]) ||
        !format_is_hex((unsigned char)s->at[2]))
        return false;
    *s = str_slice(*s, 3, s->len);
    return true;
}

/* Whether all is unreserved, a sub-delimiter, percent-encoded or one of `more`. */
static bool all_allowed(str s, const char *more, bool iri, bool private_use)
{
    while (s.len) {
        if (take_percent(&s))
            continue;
        uint32_t c = utf8_next(&s);
        if (!is_unreserved(c, iri) && !is_one_of(c, "!$&'()*+,;=") && !is_one_of(c, more) &&
            !(private_use && is_iprivate(c)))
            return false;
    }
    return true;
}

/* What stands between the brackets. */
static bool ip_literal(str s)
{
    if (s.len == 0 || (s.at[0] | 32) != 'v')
        return format_ipv6(s);
    str version, rest;
    if (!str_cut(str_slice(s, 1, s.len), '.', &version, &rest) || !version.len || !rest.len)
        return false;
    for (size_t i = 0; i < version.len; i++)
        if (!format_is_hex((unsigned char)version.at[i]))
            return false;
    return !memchr(rest.at, '%', rest.len) && all_allowed(rest, ":", false, false);
}

static bool authority_fits(str s, bool iri)
{
    str host, user;
    if (!str_cut(s, '@', &user, &host))
        host = s;
    else if (!all_allowed(user, ":", iri, false))
        return false;

    size_t end = str_find(host, ':');
    if (host.len && host.at[0] == '[') {
        end = str_find(host, ']');
        if (end == host.len || !ip_literal(str_slice(host, 1, end)))
            return false;
        end++;
    } else if (!all_allowed(str_slice(host, 0, end), "", iri, false)) {
        return false;
    }
    str port = str_slice(host, end, host.len);
    return port.len == 0 || (format_take(&port, ':') && format_digits(port) == port.len);
}

/* Takes a scheme and its colon off the front, when there is one. */
static bool take_scheme(str *s)
{
    size_t n = 0;
    while (n < s->len && (format_is_letter((unsigned char)s->at[n]) ||
                          (n > 0 && (format_is_digit((unsigned char)s->at[n]) ||
                                     is_one_of((unsigned char)s->at[n], "+-.")))))
        n++;
    if (n == 0 || n == s->len || s->at[n] != ':')
        return false;
    *s = str_slice(*s, n + 1, s->len);
    return true;
}

/* Cuts at the first of the byte: what is behind it, if it is there, must be allowed. */
static bool cut_tail(str *s, char mark, bool iri, bool private_use)
{
    str before, after;
    if (!str_cut(*s, mark, &before, &after))
        return true;
    *s = before;
    return all_allowed(after, ":@/?", iri, private_use);
}

static bool reference_fits(str s, bool iri, bool scheme_required)
{
    bool scheme = take_scheme(&s);
    if (scheme_required && !scheme)
        return false;
    if (!cut_tail(&s, '#', iri, false) || !cut_tail(&s, '?', iri, iri))
        return false;
    if (str_starts(s, STR("//"))) {
        str rest = str_slice(s, 2, s.len);
        size_t slash = str_find(rest, '/');
        if (!authority_fits(str_slice(rest, 0, slash), iri))
            return false;
        s = str_slice(rest, slash, rest.len);
    } else if (!scheme) {
        /* A colon in the first segment would make it a scheme. */
        str segment = str_slice(s, 0, str_find(s, '/'));
        if (str_find(segment, ':') < segment.len)
            return false;
    }
    return all_allowed(s, ":@/", iri, false);
}

bool format_uri(str s)
{
    return reference_fits(s, false, true);
}

bool format_uri_reference(str s)
{
    return reference_fits(s, false, false);
}

bool format_iri(str s)
{
    return reference_fits(s, true, true);
}

bool format_iri_reference(str s)
{
    return reference_fits(s, true, false);
}

/* ---- templates ---- */

static bool take_varname(str *s)
{
    for (;;) {
        size_t before = s->len;
        while (s->len) {
            unsigned char c = (unsigned char)s->at[0];
            if (format_is_letter(c) || format_is_digit(c) || c == '_')
                *s = str_slice(*s, 1, s->len);
            else if (!take_percent(s))
                break;
        }
        if (s->len == before)
            return false;
        if (!format_take(s, '.'))
            return true;
    }
}

/* A variable with its modifier: * or a length from 1 to 9999. */
static bool take_varspec(str *s)
{
    if (!take_varname(s))
        return false;
    if (!format_take(s, ':')) {
        format_take(s, '*');
        return true;
    }
    size_t digits = format_digits(*s);
    if (digits < 1 || digits > 4 || s->at[0] == '0')
        return false;
    *s = str_slice(*s, digits, s->len);
    return true;
}

/* After `{`. */
static bool take_expression(str *s)
{
    if (s->len && is_one_of((unsigned char)s->at[0], "+#./;?&=,!@|"))
        *s = str_slice(*s, 1, s->len);
    do {
        if (!take_varspec(s))
            return false;
    } while (format_take(s, ','));
    return format_take(s, '}');
}

bool format_uri_template(str s)
{
    while (s.len) {
        if (format_take(&s, '{')) {
            if (!take_expression(&s))
                return false;
            continue;
        }
        if (take_percent(&s))
            continue;
        uint32_t c = utf8_next(&s);
        bool ascii = c > 0x20 && c < 0x7f && !is_one_of(c, "\"%<>\\^`{|}");
        if (!ascii && !is_ucschar(c) && !is_iprivate(c))
            return false;
    }
    return true;
}
