/* format_net.c: addresses of machines and of people. */
#include "base/utf8.h"
#include "json/schema/format_private.h"

#define LOCAL_PART_MAX 64
#define DOMAIN_MAX 255

bool format_ipv4(str s)
{
    for (int part = 0; part < 4; part++) {
        if (part > 0 && !format_take(&s, '.'))
            return false;
        size_t digits = format_digits(s);
        unsigned value = 0;
        if (digits < 1 || digits > 3 || (digits > 1 && s.at[0] == '0'))
            return false;
        for (size_t i = 0; i < digits; i++)
            value = value * 10 + (unsigned)(s.at[i] - '0');
        if (value > 255)
            return false;
        s = str_slice(s, digits, s.len);
    }
    return s.len == 0;
}

/* Groups with a colon between each two, the last perhaps an IPv4 address, which counts for two;
 * -1 when it is anything else. No text at all is no group. */
static int ipv6_groups(str s, bool ipv4_allowed)
{
    int groups = 0;
    str group;
    if (s.len == 0)
        return 0;
    for (bool more = true; more; groups++) {
        more = str_cut(s, ':', &group, &s);
        if (!more && ipv4_allowed && format_ipv4(group))
            return groups + 2;
        if (group.len < 1 || group.len > 4 || groups == 8)
            return -1;
        for (size_t i = 0; i < group.len; i++)
            if (!format_is_hex((unsigned char)group.at[i]))
                return -1;
    }
    return groups;
}

bool format_ipv6(str s)
{
    for (size_t i = 0; i + 1 < s.len; i++) {
        if (s.at[i] != ':' || s.at[i + 1] != ':')
            continue;
        int before = ipv6_groups(str_slice(s, 0, i), false);
        int after = ipv6_groups(str_slice(s, i + 2, s.len), true);
        return before >= 0 && after >= 0 && before + after <= 7;
    }
    return ipv6_groups(s, true) == 8;
}

/* ---- mail ---- */

static bool is_atext(uint32_t c)
{
    return format_is_letter(c) || format_is_digit(c) ||
           (c && c < 0x80 && strchr("!#$%&'*+-/=?^_`{|}~", (int)c));
}

static bool take_dot_string(str *s, bool utf8)
{
    for (bool empty = true;; empty = true) {
        while (s->len) {
            str next = *s;
            uint32_t c = utf8_next(&next);
            if (!is_atext(c) && !(utf8 && c >= 0x80))
                break;
            *s = next;
            empty = false;
        }
        if (empty)
            return false;
        if (!format_take(s, '.'))
            return true;
    }
}

/* After the first quote. */
static bool take_quoted_string(str *s, bool utf8)
{
    while (s->len) {
        uint32_t c = utf8_next(s);
        if (c == '"')
            return true;
        if (c == '\\') {
            if (!s->len)
                return false;
            c = utf8_next(s);
            if (c < 0x20 || c > 0x7e)
                return false;
        } else if (c < 0x20 || c == 0x7f || (c >= 0x80 && !utf8)) {
            return false;
        }
    }
    return false;
}

/* What stands between the brackets: an IPv4 address, IPv6: and one, or a tag and printable text. */
static bool address_literal(str s)
{
    str tag, content;
    if (!str_cut(s, ':', &tag, &content))
        return format_ipv4(s);
    if (tag.len == 4 && (tag.at[0] | 32) == 'i' && (tag.at[1] | 32) == 'p' &&
        (tag.at[2] | 32) == 'v' && tag.at[3] == '6')
        return format_ipv6(content);
    for (size_t i = 0; i < tag.len; i++)
        if (!format_is_letter((unsigned char)tag.at[i]) &&
            !format_is_digit((unsigned char)tag.at[i]) && tag.at[i] != '-')
            return false;
    for (size_t i = 0; i < content.len; i++)
        if (content.at[i] < 33 || content.at[i] > 126 || strchr("[\\]", content.at[i]))
            return false;
    return tag.len > 0 && tag.at[tag.len - 1] != '-' && content.len > 0;
}

static bool mailbox(str s, bool utf8)
{
    str all = s;
    bool local = format_take(&s, '"') ? take_quoted_string(&s, utf8) : take_dot_string(&s, utf8);
    if (!local || all.len - s.len > LOCAL_PART_MAX || !format_take(&s, '@') || s.len > DOMAIN_MAX)
        return false;
    if (s.len >= 2 && s.at[0] == '[' && s.at[s.len - 1] == ']')
        return address_literal(str_slice(s, 1, s.len - 1));
    return utf8 ? format_idn_hostname(s) : format_hostname(s);
}

bool format_email(str s)
{
    return mailbox(s, false);
}

bool format_idn_email(str s)
{
    return mailbox(s, true);
}
