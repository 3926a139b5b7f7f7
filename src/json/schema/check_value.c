/* check_value.c: comparing what a check meets: is a value one of these, does a text match,
 * are the elements of an array different?
 *
 * Knows no nodes. What is looked at is charged, so that no document takes longer
 * than its steps allow. */
#include <stdlib.h>

#include "json/schema/check_private.h"

enum {
    UNIQUE_PAIRWISE_MAX = 8,
    VALUES = 4, /* compared or hashed in the time of a step */
};

/* ---- values and patterns ---- */

/* json_equal and json_hash, charged for all that they look at. */
static bool equal_values(struct check *c, const struct json *a, const struct json *b)
{
    uint64_t work = (uint64_t)c->steps_left * VALUES;
    bool equal = json_equal_within(a, b, &work);
    c->steps_left = (uint32_t)(work / VALUES);
    return equal;
}

static uint32_t hash_value(struct check *c, const struct json *v)
{
    uint64_t work = (uint64_t)c->steps_left * VALUES;
    uint32_t hash = json_hash_within(v, &work);
    c->steps_left = (uint32_t)(work / VALUES);
    return hash;
}

bool text_among_many(const struct value_rules *values, const struct json *v)
{
    for (uint32_t low = 0, high = values->text_count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        const struct name *t = &values->texts[middle];
        int order = t->len == v->len ? memcmp(t->at, v->text, v->len) : t->len < v->len ? -1 : 1;
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

bool check_value_among(struct check *c, const struct value_rules *values, const struct json *v)
{
    if (v->kind == JSON_STRING)
        return text_among(values, v);
    if (!values->others)
        return false;
    for (uint32_t i = 0; i < values->all->len && !check_exhausted(c); i++)
        if (equal_values(c, &values->all->items[i], v))
            return true;
    return false;
}

bool check_text_matches(struct check *c, const struct regex *regex, str text)
{
    bool enough = c->steps_left > REGEX_STEPS_MAX(text.len);
    enum regex_result result = regex_match(regex, text, &c->steps_left);

    if (result == REGEX_LIMIT)
        c->regex_limit = enough;
    return result == REGEX_YES;
}

/* ---- uniqueItems ---- */

static int hash_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Long arrays are sorted by hash, so that only elements of one hash are compared. */
static bool items_unique_by_hash(struct check *c, const struct json *v)
{
    uint32_t mark = c->word_count;
    uint64_t *hashes = check_words(c, v->len);
    bool unique = true;

    for (uint32_t i = 0; i < v->len; i++)
        hashes[i] = (uint64_t)hash_value(c, &v->items[i]) << 32 | i;
    if (!check_exhausted(c))
        qsort(hashes, v->len, sizeof *hashes, hash_order);
    for (uint32_t i = 1; i < v->len && unique && !check_exhausted(c); i++)
        for (uint32_t j = i; j-- > 0 && hashes[j] >> 32 == hashes[i] >> 32 && unique;)
            unique =
                !equal_values(c, &v->items[(uint32_t)hashes[j]], &v->items[(uint32_t)hashes[i]]);
    c->word_count = mark;
    return unique;
}

bool check_unique(struct check *c, const struct json *v)
{
    if (v->len > UNIQUE_PAIRWISE_MAX)
        return items_unique_by_hash(c, v);
    for (uint32_t i = 1; i < v->len; i++)
        for (uint32_t j = 0; j < i; j++)
            if (equal_values(c, &v->items[i], &v->items[j]))
                return false;
    return true;
}
