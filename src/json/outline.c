/* outline.c: which parts of a value fit into so many characters. */
#include "json/outline.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "json/pointer.h"

/* ---- sizes ---- */

/* Bytes that are not the first of their character. */
static size_t following_bytes(str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.at[i] & 0xc0) == 0x80;
    return count;
}

static size_t following_in(const struct json *j)
{
    size_t count = 0;

    if (j->kind == JSON_STRING)
        return following_bytes(json_text(j));
    for (uint32_t i = 0; j->kind == JSON_ARRAY && i < j->len; i++)
        count += following_in(&j->items[i]);
    for (uint32_t i = 0; j->kind == JSON_OBJECT && i < j->len; i++)
        count += following_bytes(json_name(&j->members[i])) + following_in(&j->members[i].value);
    return count;
}

size_t outline_chars(const struct json *value)
{
    return json_print_size(value) - following_in(value);
}

size_t outline_length(const struct json *value)
{
    switch (value->kind) {
    case JSON_STRING: return utf8_length(json_text(value));
    case JSON_ARRAY:
    case JSON_OBJECT: return value->len;
    default: return 0;
    }
}

/* ---- parts ---- */

static struct outline_part part_at(str pointer, const struct json *value)
{
    return (struct outline_part){ pointer, value, outline_chars(value), false };
}

size_t outline_parts(struct arena *a, str pointer, const struct json *value,
                     struct outline_part **out)
{
    uint32_t count = value->kind == JSON_OBJECT ? value->len : 1;
    struct outline_part *parts = ARENA_ARRAY(a, struct outline_part, count);

    *out = parts;
    if (value->kind != JSON_OBJECT)
        *parts = part_at(pointer, value);
    for (uint32_t i = 0; value->kind == JSON_OBJECT && i < count; i++) {
        struct buf place = buf_in(a);
        buf_add(&place, pointer);
        json_pointer_add(&place, json_name(&value->members[i]));
        parts[i] = part_at(buf_str(&place), &value->members[i].value);
    }
    return count;
}

/* ---- choosing ---- */

static size_t cost_of(const struct outline_part *p)
{
    return p->chars + p->pointer.len;
}

/* The smaller first; of equal ones, the one that comes first. */
static int by_cost(const void *a, const void *b)
{
    const struct outline_part *x = *(struct outline_part *const *)a;
    const struct outline_part *y = *(struct outline_part *const *)b;
    size_t p = cost_of(x), q = cost_of(y);

    return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

size_t outline_choose(struct arena *a, struct outline_part *parts, size_t count, size_t around,
                      size_t chars_max)
{
    struct outline_part **order = ARENA_ARRAY(a, struct outline_part *, count);
    size_t used = 0, shown = 0;

    for (size_t i = 0; i < count; i++) {
        order[i] = &parts[i];
        used += cost_of(&parts[i]) + around;
        parts[i].shown = false;
    }
    if (used > chars_max)
        qsort(order, count, sizeof *order, by_cost);
    for (used = 0; shown < count; shown++) {
        used += cost_of(order[shown]) + around;
        if (used > chars_max)
            break;
        order[shown]->shown = true;
    }
    return count - shown;
}
