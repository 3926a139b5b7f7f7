/* equal.c: whether two values are the same, and a hash that agrees with it. */
#include "json/member.h"

/* Takes off what looking at a value costs; false when it is too much. */
static bool spend(uint64_t *work, const struct json *j)
{
    bool is_text = j->kind == JSON_STRING || json_is_number(j);
    uint64_t cost = 1 + (is_text ? j->len / 64 : 0);

    *work = *work > cost ? *work - cost : 0;
    return *work > 0;
}

/* Up to so many members a search needs no memory. */
#define SEARCHED_MAX 64

static bool equal_searched(const struct json_member *a, const struct json_member *b, size_t n,
                           uint64_t *work)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < n && !member_same_name(&a[i], &b[at]))
            at++;
        if (at == n || !json_equal_within(&a[i].value, &b[at].value, work))
            return false;
    }
    return true;
}

/* Members in any order: which of them correspond is found without the square of them, so that
 * nobody who shuffles members makes us do it. */
static bool equal_matched(const struct json_member *a, const struct json_member *b, uint32_t n,
                          uint64_t *work)
{
    const struct json of = { .kind = JSON_OBJECT, .len = n, .members = (struct json_member *)a };
    const struct json in = { .kind = JSON_OBJECT, .len = n, .members = (struct json_member *)b };
    struct arena *scratch = arena_new();
    const uint32_t *place = json_match(scratch, &of, &in);
    bool equal = true;

    for (uint32_t i = 0; i < n && equal; i++)
        equal = place[i] != JSON_NONE && json_equal_within(&a[i].value, &b[place[i]].value, work);
    arena_free(scratch);
    return equal;
}

static bool objects_equal(const struct json *a, const struct json *b, uint64_t *work)
{
    /* Members mostly come in the same order; where that ends, what is left must match what is left
     * on the other side, since names are unique. */
    size_t i = 0;
    for (; i < a->len && member_same_name(&a->members[i], &b->members[i]); i++)
        if (!json_equal_within(&a->members[i].value, &b->members[i].value, work))
            return false;
    uint32_t left = a->len - (uint32_t)i;
    if (left == 0)
        return true;
    if (left <= SEARCHED_MAX)
        return equal_searched(a->members + i, b->members + i, left, work);
    return equal_matched(a->members + i, b->members + i, left, work);
}

static bool arrays_equal(const struct json *a, const struct json *b, uint64_t *work)
{
    for (size_t i = 0; i < a->len; i++)
        if (!json_equal_within(&a->items[i], &b->items[i], work))
            return false;
    return true;
}

bool json_equal_within(const struct json *a, const struct json *b, uint64_t *work)
{
    if (a == b)
        return true;
    if (!spend(work, a))
        return false;
    if (json_is_number(a) && json_is_number(b))
        return spend(work, b) && json_number_compare(a, b) == 0;
    if (a->kind != b->kind || a->len != b->len)
        return false;
    switch (a->kind) {
    case JSON_STRING: return str_eq(json_text(a), json_text(b));
    case JSON_ARRAY: return a->items == b->items || arrays_equal(a, b, work);
    case JSON_OBJECT: return a->members == b->members || objects_equal(a, b, work);
    default: return true; /* null, or the same truth, which is in len */
    }
}

bool json_equal(const struct json *a, const struct json *b)
{
    uint64_t work = UINT64_MAX;
    return json_equal_within(a, b, &work);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    return hash_mix(a ^ 0x9e3779b97f4a7c15u, b ^ 0xd6e8feb86659fd93u);
}

uint32_t json_hash_within(const struct json *j, uint64_t *work)
{
    if (!spend(work, j))
        return 0;
    if (json_is_number(j))
        return json_number_hash(j);
    uint64_t h = mix(j->kind, j->len);
    switch (j->kind) {
    case JSON_STRING: h = mix(h, hash_bytes(j->text, j->len)); break;
    case JSON_ARRAY:
        for (size_t i = 0; i < j->len; i++)
            h = mix(h, json_hash_within(&j->items[i], work));
        break;
    case JSON_OBJECT: /* a sum, so that the order of members does not matter */
        for (size_t i = 0; i < j->len; i++)
            h += mix(j->members[i].hash, json_hash_within(&j->members[i].value, work));
        h = mix(h, 0);
        break;
    default: break;
    }
    return (uint32_t)(h ^ h >> 32);
}

uint32_t json_hash(const struct json *j)
{
    uint64_t work = UINT64_MAX;
    return json_hash_within(j, &work);
}
