/* str.c: what is too long to stand in str.h. */
#include "base/str.h"

int str_compare(str a, str b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.at, b.at, common) : 0;

    if (order)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool str_starts(str s, str prefix)
{
    return s.len >= prefix.len && str_eq((str){ s.at, prefix.len }, prefix);
}

bool str_ends(str s, str suffix)
{
    return s.len >= suffix.len && str_eq((str){ s.at + s.len - suffix.len, suffix.len }, suffix);
}

size_t str_find(str s, char c)
{
    const char *found = s.len ? memchr(s.at, c, s.len) : NULL;
    return found ? (size_t)(found - s.at) : s.len;
}

bool str_contains(str s, str part)
{
    while (part.len && s.len >= part.len) {
        if (memcmp(s.at, part.at, part.len) == 0)
            return true;
        s = str_slice(s, 1, s.len);
        size_t at = str_find(s, part.at[0]);
        s = str_slice(s, at, s.len);
    }
    return part.len == 0;
}

bool str_cut(str s, char sep, str *before, str *after)
{
    size_t at = str_find(s, sep);

    *before = str_slice(s, 0, at);
    *after = str_slice(s, at + 1, s.len);
    return at < s.len;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

str str_trim(str s)
{
    while (s.len && is_space(s.at[0]))
        s = str_slice(s, 1, s.len);
    while (s.len && is_space(s.at[s.len - 1]))
        s.len--;
    return s;
}

bool str_to_int(str s, int64_t *out)
{
    bool minus = s.len > 0 && s.at[0] == '-';
    int64_t value = 0;

    if (s.len == minus)
        return false;
    for (size_t i = minus; i < s.len; i++) {
        unsigned digit = (unsigned char)s.at[i] - '0';
        /* Counted downwards, because the lowest integer has no positive twin. */
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, (int64_t)digit, &value))
            return false;
    }
    if (!minus && __builtin_sub_overflow((int64_t)0, value, &value))
        return false;
    *out = value;
    return true;
}

str str_of_int(char room[INT_ROOM], int64_t n)
{
    uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    char *end = room + INT_ROOM, *at = end;

    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (n < 0)
        *--at = '-';
    return (str){ at, (size_t)(end - at) };
}

enum { DISTANCE_TEXT_MAX = 64 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned str_distance(str a, str b, unsigned most)
{
    unsigned rows[3][DISTANCE_TEXT_MAX + 1];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];

    if (a.len > DISTANCE_TEXT_MAX || b.len > DISTANCE_TEXT_MAX)
        return str_eq(a, b) ? 0 : most + 1;

    for (unsigned j = 0; j <= b.len; j++)
        last[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b.len; j++) {
            unsigned change = last[j - 1] + (a.at[i - 1] != b.at[j - 1]);
            row[j] = least(change, least(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a.at[i - 1] == b.at[j - 2] && a.at[i - 2] == b.at[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        unsigned *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return least(last[b.len], most + 1);
}
