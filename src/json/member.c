/* member.c: an order of members, and three ways to find a name that stands twice. */
#include "json/member.h"

#include <stdlib.h>

enum { PAIRWISE_MAX = 16 }; /* members that are compared each with each */

int member_order(const void *a, const void *b)
{
    const struct json_member *x = *(const struct json_member *const *)a;
    const struct json_member *y = *(const struct json_member *const *)b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return str_compare(json_name(x), json_name(y));
}

/* Safe for names that somebody chose to collide: n log n whatever they are. */
static const struct json_member *duplicate_by_sorting(const struct json_member *members, size_t n)
{
    const struct json_member **sorted = mem_alloc(n * sizeof *sorted), *found = NULL;

    for (size_t i = 0; i < n; i++)
        sorted[i] = &members[i];
    qsort(sorted, n, sizeof *sorted, member_order);
    for (size_t i = 1; i < n && !found; i++)
        if (member_same_name(sorted[i - 1], sorted[i]))
            found = sorted[i] > sorted[i - 1] ? sorted[i] : sorted[i - 1];
    free(sorted);
    return found;
}

static const struct json_member *duplicate_by_table(const struct json_member *members, size_t n)
{
    size_t slots = 64, probes = 0;
    while (slots < n * 2)
        slots *= 2;

    const struct json_member **table = mem_alloc(slots * sizeof *table), *found = NULL;
    memset(table, 0, slots * sizeof *table);
    for (size_t i = 0; i < n && !found && probes <= n * 8; i++) {
        size_t at = members[i].hash & (slots - 1);
        for (; table[at] && !found; at = (at + 1) & (slots - 1), probes++)
            if (member_same_name(table[at], &members[i]))
                found = &members[i];
        if (!found)
            table[at] = &members[i];
    }
    free(table);
    return probes > n * 8 ? duplicate_by_sorting(members, n) : found;
}

static const struct json_member *duplicate_by_pairs(const struct json_member *members, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (member_same_name(&members[i], &members[j]))
                return &members[i];
    return NULL;
}

const struct json_member *member_duplicate(const struct json_member *members, size_t n)
{
    if (n > PAIRWISE_MAX)
        return duplicate_by_table(members, n);

    /* Most small objects have names whose hashes differ in six bits: then one pass is enough. */
    uint64_t seen = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bit = 1ull << (members[i].hash & 63);
        if (seen & bit)
            return duplicate_by_pairs(members, n);
        seen |= bit;
    }
    return NULL;
}
