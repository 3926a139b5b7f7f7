/* call_list.c: the functions on lists. Positions count from 1; negative ones from the end. */
#include "flow/feel/private.h"

#include <assert.h>
#include <stdlib.h>

/* sum([1, 2]) and sum(1, 2) are the same. */
static struct feel_value all_of(const struct feel_value *args, uint32_t count)
{
    return count == 1 && args[0].kind == FEEL_LIST ? args[0] : feel_list(args, count);
}

/* A list that grows up to a size that is known. */
struct collected {
    struct feel_value *items;
    uint32_t count, room;
};

static struct collected collect(struct feel_run *run, uint64_t room)
{
    struct feel_value *items = feel_values(run, room);
    return (struct collected){ .items = items, .room = items ? (uint32_t)room : 0 };
}

static void add(struct collected *c, struct feel_value v)
{
    if (c->count < c->room)
        c->items[c->count++] = v;
}

/* From one index up to, not including, another. */
static void add_items(struct collected *c, struct feel_value list, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && c->count < c->room; i++)
        add(c, feel_item(list, i));
}

static struct feel_value list_of(const struct collected *c)
{
    return feel_list(c->items, c->count);
}

/* An index from 0 that a position means; false: there is none. */
static bool index_of(struct feel_value position, uint32_t len, uint32_t *out)
{
    int64_t n;

    if (!feel_number_to_int(position, &n) || n == 0 || n > len || n < -(int64_t)len)
        return false;
    *out = (uint32_t)(n > 0 ? n - 1 : n + len);
    return true;
}

static struct feel_value no_position(struct feel_run *run, struct feel_value found)
{
    return feel_null_of(run, "expected a position of the list, which counts from 1, found \1",
                        found, found);
}

/* ---- asking ---- */

static bool has(struct feel_run *run, struct feel_value list, struct feel_value v)
{
    for (uint32_t i = 0; i < list.len && feel_spend(run, 1); i++)
        if (feel_equal(run, feel_item(list, i), v))
            return true;
    return false;
}

static struct feel_value call_contains(struct feel_run *run, const struct feel_value *args,
                                       uint32_t count)
{
    (void)count;
    return feel_bool(has(run, args[0], args[1]));
}

static struct feel_value call_count(struct feel_run *run, const struct feel_value *args,
                                    uint32_t count)
{
    (void)run, (void)count;
    return feel_int(args[0].len);
}

static struct feel_value call_is_empty(struct feel_run *run, const struct feel_value *args,
                                       uint32_t count)
{
    (void)run, (void)count;
    return feel_bool(args[0].len == 0);
}

static struct feel_value call_index_of(struct feel_run *run, const struct feel_value *args,
                                       uint32_t count)
{
    struct collected found = collect(run, args[0].len);

    (void)count;
    for (uint32_t i = 0; i < args[0].len && feel_spend(run, 1); i++)
        if (feel_equal(run, feel_item(args[0], i), args[1]))
            add(&found, feel_int((int64_t)i + 1));
    return list_of(&found);
}

/* `decides` is what one value alone decides; without it, one null leaves it open. */
static struct feel_value quantified(struct feel_run *run, struct feel_value list, bool decides)
{
    struct feel_value open = feel_bool(!decides);

    for (uint32_t i = 0; i < list.len && feel_spend(run, 1); i++) {
        struct feel_value item = feel_item(list, i);
        if (item.kind == FEEL_BOOL && (bool)item.len == decides)
            return item;
        if (item.kind == FEEL_NULL)
            open = feel_null_from(run, item);
        else if (item.kind != FEEL_BOOL)
            open =
                feel_null_of(run, "expected a list of true and false, found \1 in it", item, item);
    }
    return open;
}

static struct feel_value call_all(struct feel_run *run, const struct feel_value *args,
                                  uint32_t count)
{
    return quantified(run, all_of(args, count), false);
}

static struct feel_value call_any(struct feel_run *run, const struct feel_value *args,
                                  uint32_t count)
{
    return quantified(run, all_of(args, count), true);
}

/* ---- numbers and order ---- */

static struct feel_value furthest(struct feel_run *run, struct feel_value list, int direction)
{
    if (list.len == 0)
        return feel_null(run, "expected a list with at least one item, found an empty one");

    struct feel_value best = feel_item(list, 0);
    for (uint32_t i = 0; i < list.len && feel_spend(run, 1); i++) {
        struct feel_value item = feel_item(list, i);
        int order;
        if (item.kind == FEEL_NULL)
            return feel_null_from(run, item);
        if (!feel_order(run, item, best, &order))
            return feel_null_of(run,
                                "expected numbers, strings, dates or durations of one kind, found "
                                "\1 and \2",
                                best, item);
        if (order * direction > 0)
            best = item;
    }
    return best;
}

static struct feel_value call_min(struct feel_run *run, const struct feel_value *args,
                                  uint32_t count)
{
    return furthest(run, all_of(args, count), -1);
}

static struct feel_value call_max(struct feel_run *run, const struct feel_value *args,
                                  uint32_t count)
{
    return furthest(run, all_of(args, count), 1);
}

static struct feel_value no_number(struct feel_run *run, struct feel_value item)
{
    if (item.kind == FEEL_NULL && item.reason)
        return item;
    return feel_null_of(run, "expected a list of numbers, found \1 in it", item, item);
}

static struct feel_value combined(struct feel_run *run, struct feel_value list,
                                  bool (*combine)(struct feel_value a, struct feel_value b,
                                                  struct feel_value *out))
{
    if (list.len == 0)
        return feel_null(run, "expected a list with at least one number, found an empty one");

    struct feel_value total = feel_item(list, 0);
    if (!feel_is_number(total))
        return no_number(run, total);
    for (uint32_t i = 1; i < list.len && feel_spend(run, 1); i++) {
        struct feel_value item = feel_item(list, i);
        if (!feel_is_number(item))
            return no_number(run, item);
        if (!combine(total, item, &total))
            return feel_null(run, "the result is too large a number");
    }
    return total;
}

static struct feel_value call_sum(struct feel_run *run, const struct feel_value *args,
                                  uint32_t count)
{
    return combined(run, all_of(args, count), feel_number_add);
}

static struct feel_value call_product(struct feel_run *run, const struct feel_value *args,
                                      uint32_t count)
{
    return combined(run, all_of(args, count), feel_number_multiply);
}

static struct feel_value call_mean(struct feel_run *run, const struct feel_value *args,
                                   uint32_t count)
{
    struct feel_value list = all_of(args, count), total = combined(run, list, feel_number_add);

    if (total.kind != FEEL_NULL && !feel_number_divide(total, feel_int(list.len), &total))
        return feel_null(run, "the result is too large a number");
    return total;
}

static int by_number(const void *a, const void *b)
{
    return feel_number_compare(*(const struct feel_value *)a, *(const struct feel_value *)b);
}

static struct feel_value call_median(struct feel_run *run, const struct feel_value *args,
                                     uint32_t count)
{
    struct feel_value list = all_of(args, count), middle;
    struct collected sorted = collect(run, list.len);

    if (list.len == 0)
        return feel_null(run, "expected a list with at least one number, found an empty one");
    add_items(&sorted, list, 0, list.len);
    for (uint32_t i = 0; i < sorted.count; i++)
        if (!feel_is_number(sorted.items[i]))
            return no_number(run, sorted.items[i]);
    if (sorted.count == 0 || !feel_spend(run, 4 * (uint64_t)sorted.count))
        return list;
    qsort(sorted.items, sorted.count, sizeof *sorted.items, by_number);
    struct feel_value above = sorted.items[sorted.count / 2];
    if (sorted.count % 2)
        return above;
    if (!feel_number_add(sorted.items[sorted.count / 2 - 1], above, &middle) ||
        !feel_number_divide(middle, feel_int(2), &middle))
        return feel_null(run, "the result is too large a number");
    return middle;
}

/* ---- other lists ---- */

static struct feel_value call_sublist(struct feel_run *run, const struct feel_value *args,
                                      uint32_t count)
{
    uint32_t from;
    int64_t length = INT64_MAX;

    if (!index_of(args[1], args[0].len, &from))
        return no_position(run, args[1]);
    if (count == 3 && (!feel_number_to_int(args[2], &length) || length < 0))
        return feel_null_of(run, "expected a length from 0, found \1", args[2], args[2]);
    uint32_t left = args[0].len - from, most = length < left ? (uint32_t)length : left;
    struct collected part = collect(run, most);
    add_items(&part, args[0], from, from + most);
    return list_of(&part);
}

static struct feel_value call_append(struct feel_run *run, const struct feel_value *args,
                                     uint32_t count)
{
    struct collected all = collect(run, (uint64_t)args[0].len + count - 1);

    add_items(&all, args[0], 0, args[0].len);
    for (uint32_t i = 1; i < count; i++)
        add(&all, args[i]);
    return list_of(&all);
}

static uint64_t length_of_all(const struct feel_value *lists, uint32_t count)
{
    uint64_t length = 0;
    for (uint32_t i = 0; i < count; i++)
        length += lists[i].len;
    return length;
}

static struct feel_value call_concatenate(struct feel_run *run, const struct feel_value *args,
                                          uint32_t count)
{
    struct collected all = collect(run, length_of_all(args, count));

    for (uint32_t i = 0; i < count; i++)
        add_items(&all, args[i], 0, args[i].len);
    return list_of(&all);
}

static struct feel_value call_insert(struct feel_run *run, const struct feel_value *args,
                                     uint32_t count)
{
    uint32_t at;

    (void)count;
    if (!index_of(args[1], args[0].len, &at))
        return no_position(run, args[1]);
    struct collected all = collect(run, (uint64_t)args[0].len + 1);
    add_items(&all, args[0], 0, at);
    add(&all, args[2]);
    add_items(&all, args[0], at, args[0].len);
    return list_of(&all);
}

static struct feel_value call_remove(struct feel_run *run, const struct feel_value *args,
                                     uint32_t count)
{
    uint32_t at;

    (void)count;
    if (!index_of(args[1], args[0].len, &at))
        return no_position(run, args[1]);
    struct collected rest = collect(run, args[0].len);
    add_items(&rest, args[0], 0, at);
    add_items(&rest, args[0], at + 1, args[0].len);
    return list_of(&rest);
}

static struct feel_value call_reverse(struct feel_run *run, const struct feel_value *args,
                                      uint32_t count)
{
    struct collected all = collect(run, args[0].len);

    (void)count;
    for (uint32_t i = args[0].len; i > 0 && all.room > 0; i--)
        add(&all, feel_item(args[0], i - 1));
    return list_of(&all);
}

static void add_distinct(struct feel_run *run, struct collected *all, struct feel_value list)
{
    for (uint32_t i = 0; i < list.len && !run->over; i++) {
        struct feel_value item = feel_item(list, i);
        if (!has(run, list_of(all), item))
            add(all, item);
    }
}

static struct feel_value call_union(struct feel_run *run, const struct feel_value *args,
                                    uint32_t count)
{
    struct collected all = collect(run, length_of_all(args, count));

    for (uint32_t i = 0; i < count; i++)
        add_distinct(run, &all, args[i]);
    return list_of(&all);
}

static uint64_t flat_length(struct feel_run *run, struct feel_value list)
{
    uint64_t length = 0;
    for (uint32_t i = 0; i < list.len && feel_spend(run, 1); i++) {
        struct feel_value item = feel_item(list, i);
        length += item.kind == FEEL_LIST ? flat_length(run, item) : 1;
    }
    return length;
}

static void add_flat(struct collected *all, struct feel_value list)
{
    for (uint32_t i = 0; i < list.len && all->count < all->room; i++) {
        struct feel_value item = feel_item(list, i);
        if (item.kind == FEEL_LIST)
            add_flat(all, item);
        else
            add(all, item);
    }
}

static struct feel_value call_flatten(struct feel_run *run, const struct feel_value *args,
                                      uint32_t count)
{
    struct collected all = collect(run, flat_length(run, args[0]));

    (void)count;
    add_flat(&all, args[0]);
    return list_of(&all);
}

// clang-format off
const struct feel_function feel_calls_list[] = {
    { "list contains",   2, 2,         "l?",  call_contains,    "list contains(list, item)", false },
    { "count",           1, 1,         "l",   call_count,       "count(list)", false },
    { "is empty",        1, 1,         "l",   call_is_empty,    "is empty(list)", false },
    { "index of",        2, 2,         "l?",  call_index_of,    "index of(list, item)", false },
    { "all",             1, FEEL_MANY, "?",   call_all,         "all(list)", false },
    { "any",             1, FEEL_MANY, "?",   call_any,         "any(list)", false },
    { "min",             1, FEEL_MANY, "?",   call_min,         "min(list)", false },
    { "max",             1, FEEL_MANY, "?",   call_max,         "max(list)", false },
    { "sum",             1, FEEL_MANY, "?",   call_sum,         "sum(list)", false },
    { "product",         1, FEEL_MANY, "?",   call_product,     "product(list)", false },
    { "mean",            1, FEEL_MANY, "?",   call_mean,        "mean(list)", false },
    { "median",          1, FEEL_MANY, "?",   call_median,      "median(list)", false },
    { "sublist",         2, 3,         "lnn", call_sublist,     "sublist(list, start, length)", false },
    { "append",          1, FEEL_MANY, "l?",  call_append,      "append(list, item, ...)", false },
    { "concatenate",     1, FEEL_MANY, "l",   call_concatenate, "concatenate(list, ...)", false },
    { "insert before",   3, 3,         "ln?", call_insert,      "insert before(list, position, item)", false },
    { "remove",          2, 2,         "ln",  call_remove,      "remove(list, position)", false },
    { "reverse",         1, 1,         "l",   call_reverse,     "reverse(list)", false },
    { "union",           1, FEEL_MANY, "l",   call_union,       "union(list, ...)", false },
    { "distinct values", 1, 1,         "l",   call_union,       "distinct values(list)", false },
    { "flatten",         1, 1,         "l",   call_flatten,     "flatten(list)", false },
    { 0 },
};
// clang-format on
