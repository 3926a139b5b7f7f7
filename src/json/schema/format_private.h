/* format_private.h: the predicates behind format.c's table, by topic. */
#ifndef JSON_SCHEMA_FORMAT_PRIVATE_H
#define JSON_SCHEMA_FORMAT_PRIVATE_H

#include "base/str.h"

/* ---- format_time.c: RFC 3339 ---- */

bool format_date(str s);
bool format_time(str s);
bool format_date_time(str s);
bool format_duration(str s);

/* ---- format_net.c: RFC 2673, RFC 4291, RFC 5321, RFC 6531 ---- */

bool format_ipv4(str s);
bool format_ipv6(str s);
bool format_email(str s);
bool format_idn_email(str s);

/* ---- format_idn.c: RFC 1123, RFC 5890 to 5893 ---- */

bool format_hostname(str s);
bool format_idn_hostname(str s);

/* ---- format_punycode.c: RFC 3492 ---- */

/* Decodes into at most `room` code points; false for what is no Punycode or does not fit. */
bool punycode_decode(str text, uint32_t *out, size_t room, size_t *count);

/* Encodes into at most `room` bytes; false when it does not fit. */
bool punycode_encode(const uint32_t *in, size_t count, char *out, size_t room, size_t *len);

/* ---- format_uri.c: RFC 3986, RFC 3987, RFC 6570 ---- */

bool format_uri(str s);
bool format_uri_reference(str s);
bool format_iri(str s);
bool format_iri_reference(str s);
bool format_uri_template(str s);

/* ---- shared ---- */

/* Takes the byte off the front when it is there. */
static inline bool format_take(str *s, char c)
{
    if (!s->len || s->at[0] != c)
        return false;
    *s = (str){ s->at + 1, s->len - 1 };
    return true;
}

/* ASCII, whatever the locale. */
static inline bool format_is_digit(uint32_t c)
{
    return c >= '0' && c <= '9';
}

static inline bool format_is_letter(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool format_is_hex(uint32_t c)
{
    return format_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* How many bytes at the front are ASCII digits. */
static inline size_t format_digits(str s)
{
    size_t n = 0;
    while (n < s.len && format_is_digit((unsigned char)s.at[n]))
        n++;
    return n;
}

#endif
