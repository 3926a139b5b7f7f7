/* member.c: members by name: an order, an index, which of two objects correspond, and three ways to
 * find a name that stands twice. */
#include "json/member.h"

#include <stdlib.h>

enum {
    PAIRWISE_MAX = 16, /* members that are compared each with each */
    FEW = 4,           /* names that are not worth an index, however wide the object is */
    PAIRS_MAX = 4096,  /* names times members, up to which they are searched one by one */
    PROBES_MOST = 8,   /* for each member of a table; with more, sorting bounds the cost */
};

/* For qsort over pointers to members: any order will do that is the same for the same names, and
 * hashes are quick to compare. */
static int member_order(const void *a, const void *b)
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
    for (size_t i = 0; i < n && !found && probes <= n * PROBES_MOST; i++) {
        size_t at = members[i].hash & (slots - 1);
        for (; table[at] && !found; at = (at + 1) & (slots - 1), probes++)
            if (member_same_name(table[at], &members[i]))
                found = &members[i];
        if (!found)
            table[at] = &members[i];
    }
    free(table);
    return probes > n * PROBES_MOST ? duplicate_by_sorting(members, n) : found;
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

/* ---- by name ---- */

uint32_t member_find(const struct json *object, uint32_t from, const struct json_member *sought)
{
    for (uint32_t i = from; i < object->len; i++)
        if (member_same_name(&object->members[i], sought))
            return i;
    return JSON_NONE;
}

bool member_index_make(struct member_index *x, struct arena *a, const struct json_member *members,
                       uint32_t count)
{
    uint64_t slots = 64, probes = 0;

    while (slots < (uint64_t)count * 2)
        slots *= 2;
    if (slots > x->slot_count)
        *x = (struct member_index){ arena_alloc(a, slots * sizeof *x->slots), (uint32_t)slots };
    memset(x->slots, 0, x->slot_count * sizeof *x->slots);
    for (uint32_t i = 0, mask = x->slot_count - 1; i < count; i++) {
        uint32_t at = members[i].hash & mask;
        for (; x->slots[at].place; at = (at + 1) & mask)
            if (++probes > (uint64_t)count * PROBES_MOST)
                return false;
        x->slots[at] = (struct member_slot){ members[i].hash, i + 1 };
    }
    return true;
}

/* ---- two objects ---- */

/* Two versions of an object mostly have their members in the same order, so each search begins
 * behind the place of the last one. */
static void match_by_scan(const struct json *of, const struct json *in, uint32_t *found)
{
    uint32_t start = 0;

    for (uint32_t i = 0; i < of->len; i++) {
        found[i] = JSON_NONE;
        for (uint32_t step = 0, k = start; step < in->len; step++) {
            if (k >= in->len)
                k = 0;
            if (member_same_name(&of->members[i], &in->members[k])) {
                found[i] = k;
                start = k + 1;
                break;
            }
            k++;
        }
    }
}

/* False when it takes too long. */
static bool match_by_index(struct arena *a, const struct json *of, const struct json *in,
                           uint32_t *found)
{
    struct member_index x = { .slot_count = 0 };
    uint64_t probes = 0, most = ((uint64_t)of->len + in->len) * PROBES_MOST;

    for (uint32_t i = 0, next = 0; i < of->len; i++) {
        const struct json_member *m = &of->members[i];
        found[i] = JSON_NONE;
        if (next < in->len && member_same_name(m, &in->members[next])) {
            found[i] = next++; /* in the same order: the usual case */
            continue;
        }
        if (!x.slot_count && !member_index_make(&x, a, in->members, in->len))
            return false;
        uint32_t mask = x.slot_count - 1;
        for (uint32_t at = m->hash & mask; x.slots[at].place; at = (at + 1) & mask) {
            uint32_t place = x.slots[at].place - 1;
            if (x.slots[at].hash == m->hash && member_same_name(m, &in->members[place])) {
                found[i] = place;
                next = place + 1;
                break;
            }
            if (++probes > most)
                return false;
        }
    }
    return true;
}

static const struct json_member **sorted(struct arena *a, const struct json *object)
{
    const struct json_member **list = ARENA_ARRAY(a, const struct json_member *, object->len);

    for (uint32_t i = 0; i < object->len; i++)
        list[i] = &object->members[i];
    qsort(list, object->len, sizeof *list, member_order);
    return list;
}

static void match_by_order(struct arena *a, const struct json *of, const struct json *in,
                           uint32_t *found)
{
    const struct json_member **left = sorted(a, of), **right = sorted(a, in);

    for (uint32_t i = 0, k = 0; i < of->len; i++) {
        while (k < in->len && member_order(&right[k], &left[i]) < 0)
            k++;
        bool same = k < in->len && member_same_name(left[i], right[k]);
        found[left[i] - of->members] = same ? (uint32_t)(right[k] - in->members) : JSON_NONE;
    }
}

const uint32_t *json_match(struct arena *a, const struct json *of, const struct json *in)
{
    uint32_t *found = ARENA_ARRAY(a, uint32_t, of->len);

    if (of->len <= FEW || (uint64_t)of->len * in->len <= PAIRS_MAX)
        match_by_scan(of, in, found);
    else if (!match_by_index(a, of, in, found))
        match_by_order(a, of, in, found);
    return found;
}
