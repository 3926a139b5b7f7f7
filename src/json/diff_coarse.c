/* diff_coarse.c: two documents of very many values → the patch between them.
 *
 * Each value is looked at about once: members are compared by name, elements by
 * their place, and what is equal at both ends of two arrays of different length
 * is set aside. Nothing is found to have moved. When that gives many operations,
 * the document is replaced whole. */
#include "json/diff_private.h"

enum {
    OPERATIONS_MAX = 1000, /* beyond which the whole document is shorter, or nearly */
    STEPS_MAX = 2000000,   /* values that are compared; those of equal ends are once more */
};

struct coarse {
    struct diff *d;
    uint64_t work; /* that is left */
};

static bool given_up(const struct coarse *c)
{
    return c->work == 0 || c->d->ops.len > OPERATIONS_MAX;
}

static void put(struct coarse *c, const char *op, const struct json *value)
{
    struct diff_node node = { .value = value };

    if (value)
        node.bytes = json_print_size(value);
    diff_emit(c->d, op, NULL, value ? &node : NULL);
}

/* Most values are no containers and have not changed: their path need not be known. */
static bool same_leaf(struct coarse *c, const struct json *from, const struct json *to)
{
    return from->kind != JSON_ARRAY && from->kind != JSON_OBJECT &&
           json_equal_within(from, to, &c->work);
}

static void compare(struct coarse *c, const struct json *from, const struct json *to);

static void compare_members(struct coarse *c, const struct json *from, const struct json *to)
{
    const uint32_t *came = json_match(c->d->scratch, to, from);
    bool *kept = arena_zero(c->d->scratch, from->len);

    for (uint32_t j = 0; j < to->len; j++)
        if (came[j] != JSON_NONE)
            kept[came[j]] = true;
    for (uint32_t i = 0; i < from->len && !given_up(c); i++) {
        if (kept[i])
            continue;
        size_t was = path_enter(c->d, json_name(&from->members[i]));
        diff_shifts(c->d, from, i);
        put(c, "remove", NULL);
        path_leave(c->d, was);
    }
    for (uint32_t j = 0; j < to->len && !given_up(c); j++) {
        const struct json *old = came[j] == JSON_NONE ? NULL : &from->members[came[j]].value;
        const struct json *new = &to->members[j].value;
        if (old && same_leaf(c, old, new))
            continue;
        size_t was = path_enter(c->d, json_name(&to->members[j]));
        if (old)
            compare(c, old, new);
        else
            put(c, "add", new);
        path_leave(c->d, was);
    }
}

/* How many elements are the same from the front, or from the back, of `most`. */
static uint32_t equal_end(struct coarse *c, const struct json *from, const struct json *to,
                          bool back, uint32_t most)
{
    uint32_t i = 0;

    while (i < most && json_equal_within(&from->items[back ? from->len - 1 - i : i],
                                         &to->items[back ? to->len - 1 - i : i], &c->work))
        i++;
    return i;
}

static void compare_elements(struct coarse *c, const struct json *from, const struct json *to)
{
    uint32_t shorter = from->len < to->len ? from->len : to->len, head = 0, tail = 0;

    if (from->len != to->len) {
        head = equal_end(c, from, to, false, shorter);
        tail = equal_end(c, from, to, true, shorter - head);
    }
    uint32_t old_end = from->len - tail, new_end = to->len - tail;
    for (uint32_t i = old_end; i > head && i > new_end && !given_up(c); i--) {
        size_t was = path_enter_index(c->d, i - 1);
        diff_shifts(c->d, from, i - 1);
        put(c, "remove", NULL);
        path_leave(c->d, was);
    }
    for (uint32_t i = head; i < new_end && !given_up(c); i++) {
        const struct json *old = i < old_end ? &from->items[i] : NULL, *new = &to->items[i];
        if (old && same_leaf(c, old, new))
            continue;
        size_t was = path_enter_index(c->d, i);
        if (old) {
            compare(c, old, new);
        } else {
            diff_shifts(c->d, to, i);
            put(c, "add", new);
        }
        path_leave(c->d, was);
    }
}

static void compare(struct coarse *c, const struct json *from, const struct json *to)
{
    if (from->kind == to->kind && to->kind == JSON_OBJECT)
        compare_members(c, from, to);
    else if (from->kind == to->kind && to->kind == JSON_ARRAY)
        compare_elements(c, from, to);
    else if (!json_equal_within(from, to, &c->work))
        put(c, "replace", to);
}

void diff_coarse(struct diff *d, const struct json *from, const struct json *to)
{
    struct coarse c = { d, STEPS_MAX };

    compare(&c, from, to);
    if (!given_up(&c) && d->bytes <= json_print_size(to))
        return;
    diff_replace_all(d, to);
}
