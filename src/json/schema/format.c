/* format.c: the table of formats, and those that need no file of their own. */
#include "json/schema/format.h"

#include "json/schema/format_private.h"
#include "json/regex/regex.h"

/* Four groups of hexadecimal digits behind the first, RFC 4122; any version and variant. */
static bool format_uuid(str s)
{
    static const char shape[] = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
    if (s.len != sizeof shape - 1)
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (shape[i] == '-' ? s.at[i] != '-' : !format_is_hex((unsigned char)s.at[i]))
            return false;
    return true;
}

static bool format_json_pointer(str s)
{
    if (s.len && s.at[0] != '/')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] == '~' && (i + 1 == s.len || (s.at[i + 1] != '0' && s.at[i + 1] != '1')))
            return false;
    return true;
}

/* Takes a whole number without leading zeros, at least `least`, which is 0 or 1. */
static bool take_whole(str *s, int least)
{
    size_t digits = format_digits(*s);
    if (digits == 0 || (s->at[0] == '0' && (digits > 1 || least > 0)))
        return false;
    *s = str_slice(*s, digits, s->len);
    return true;
}

/* How many levels up, perhaps how many elements aside, and then # or a pointer. */
static bool format_relative_pointer(str s)
{
    if (!take_whole(&s, 0))
        return false;
    if ((format_take(&s, '+') || format_take(&s, '-')) && !take_whole(&s, 1))
        return false;
    return str_eq(s, STR("#")) || format_json_pointer(s);
}

// clang-format off
/* In order of name, for the search. */
static const struct format formats[] = {
    { "date",                  format_date,             "a date like 2025-01-15" },
    { "date-time",             format_date_time,        "a date-time like 2025-01-15T10:35:00Z" },
    { "duration",              format_duration,         "a duration like P3DT12H30M" },
    { "email",                 format_email,            "an email address like ada@example.com" },
    { "hostname",              format_hostname,         "a host name like www.example.com" },
    { "idn-email",             format_idn_email,        "an address like ada@bücher.example" },
    { "idn-hostname",          format_idn_hostname,     "a host name like bücher.example" },
    { "ipv4",                  format_ipv4,             "an IPv4 address like 192.0.2.1" },
    { "ipv6",                  format_ipv6,             "an IPv6 address like 2001:db8::1" },
    { "iri",                   format_iri,              "an IRI like https://bücher.example/a" },
    { "iri-reference",         format_iri_reference,    "an IRI or a relative one like /über#a" },
    { "json-pointer",          format_json_pointer,     "a JSON Pointer like /items/0/name" },
    { "regex",                 regex_valid,             "an ECMA-262 pattern like ^[a-z]+$" },
    { "relative-json-pointer", format_relative_pointer, "a relative JSON Pointer like 1/name" },
    { "time",                  format_time,             "a time with its offset like 10:35:00Z" },
    { "uri",                   format_uri,              "a URI like https://example.com/a" },
    { "uri-reference",         format_uri_reference,    "a URI or a relative one like /a/b#c" },
    { "uri-template",          format_uri_template,     "a URI template like /users/{id}" },
    { "uuid",                  format_uuid,             "a UUID, hexadecimal 8-4-4-4-12" },
};
// clang-format on

const struct format *format_find(str name)
{
    size_t low = 0, high = sizeof formats / sizeof *formats;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = str_compare(name, str_from(formats[middle].name));
        if (order == 0)
            return &formats[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
