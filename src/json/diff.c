/* diff.c: two documents → the patch between them.
 *
 * Both trees are walked once to find the hash of every value, so that comparing two of
 * them is mostly comparing numbers, and the printed size of each new one. Then the trees are
 * descended together where they differ. Each container that differs is described by
 * the operations inside it, unless replacing it whole takes fewer bytes.
 *
 * Documents of so many values that this would take too long are compared coarsely:
 * each value is looked at about once, members are compared by name, elements by
 * their index, and what is equal at both ends of two arrays of different length is
 * set aside. Nothing is found to have moved. When that gives many operations, the
 * document is replaced whole. */
#include "json/diff.h"

#include <assert.h>

#include "base/hash.h"
#include "json/diff_array.h"
#include "json/patch.h"
#include "json/pointer.h"

enum {
    STEPS_DEFAULT = 1000000,
    VALUES_FINE_MAX = 200000, /* of both documents together, that are compared with care */
    /* Of a coarse comparison: */
    OPERATIONS_MAX = 1000,      /* beyond which the whole document is shorter, or nearly */
    COARSE_STEPS_MAX = 2000000, /* values that are compared; those of equal ends are once more */
};

struct diff {
    struct arena *arena, *scratch; /* scratch goes when the patch is done */
    struct json ops;
    size_t bytes;    /* of the operations, as printed, with a comma after each */
    struct buf path; /* of the values that are being compared */
    uint64_t steps;  /* that are left */
    uint64_t work;   /* of applying the patch: what its removals, moves and additions shift */
};

/* ---- the nodes ---- */

/* How many bytes a text has when it is printed. */
static size_t string_bytes(str s)
{
    struct json text = json_string(s);
    return json_print_size(&text);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    return hash_mix(a ^ 0x9e3779b97f4a7c15u, b ^ 0xd6e8feb86659fd93u);
}

/* `sized`: its printed size is asked for, as that of what a document becomes. */
static struct diff_node node_of(struct arena *a, const struct json *j, bool sized)
{
    struct diff_node node = { .value = j };

    if (j->kind != JSON_ARRAY && j->kind != JSON_OBJECT) {
        node.hash = json_hash(j);
        node.bytes = sized ? json_print_size(j) : 0;
        return node;
    }
    node.kids = ARENA_ARRAY(a, struct diff_node, j->len);
    node.hash = mix(j->kind, j->len);
    node.bytes = 2 + (j->len ? j->len - 1 : 0); /* brackets and commas */
    for (uint32_t i = 0; i < j->len; i++) {
        const struct json_member *m = j->kind == JSON_OBJECT ? &j->members[i] : NULL;
        struct diff_node kid = node_of(a, m ? &m->value : &j->items[i], sized);
        /* A sum for members, whose order does not matter. */
        node.hash = m ? node.hash + mix(m->hash, kid.hash) : mix(node.hash, kid.hash);
        node.bytes += kid.bytes + (m && sized ? string_bytes(json_name(m)) + 1 : 0);
        node.kids[i] = kid;
    }
    return node;
}

/* ---- the operations ---- */

static size_t path_enter(struct diff *d, str name)
{
    size_t len = d->path.len;
    json_pointer_add(&d->path, name);
    return len;
}

static size_t path_enter_index(struct diff *d, size_t index)
{
    size_t len = d->path.len;
    json_pointer_add_index(&d->path, index);
    return len;
}

static void path_leave(struct diff *d, size_t len)
{
    assert(len <= d->path.len);
    d->path.len = len;
}

/* One operation at the current path. `from` is of a move; `value` may be NULL. */
static void emit(struct diff *d, const char *name, const str *from, const struct diff_node *value)
{
    struct json op = json_object();

    json_put(d->arena, &op, STR("op"), json_string(str_from(name)));
    if (from)
        json_put(d->arena, &op, STR("from"), json_string(arena_copy(d->arena, *from)));
    json_put(d->arena, &op, STR("path"), json_string(arena_copy(d->arena, buf_str(&d->path))));
    d->bytes += json_print_size(&op) + 1;
    if (value) {
        json_put(d->arena, &op, STR("value"), *value->value);
        d->bytes += strlen(",\"value\":") + value->bytes;
    }
    json_push(d->arena, &d->ops, op);
}

/* An operation shifts the elements or members of a container from `index` on. */
static void charge_shift(struct diff *d, const struct json *container, uint32_t index)
{
    bool object = container->kind == JSON_OBJECT;
    size_t size = object ? sizeof(struct json_member) : sizeof(struct json);

    assert(index <= container->len);
    d->work += 1 + (container->len - index) * size / 64;
}

/* The whole document instead of what was found. */
static void replace_all(struct diff *d, const struct json *to)
{
    struct diff_node node = { .value = to, .bytes = json_print_size(to) };

    d->ops.len = 0;
    d->path.len = 0;
    d->work = 0;
    emit(d, "replace", NULL, &node);
}

static size_t replace_bytes(struct diff *d, const struct diff_node *to)
{
    return strlen("{'op':'replace','path':,'value':},") + string_bytes(buf_str(&d->path)) +
           to->bytes;
}

/* ---- values ---- */

static void diff_values(struct diff *d, const struct diff_node *from, const struct diff_node *to);

/* The functions that describe a container give up when the operations have more than `most` bytes:
 * then it will be replaced whole. */

static bool diff_members(struct diff *d, const struct diff_node *from, const struct diff_node *to,
                         size_t most)
{
    const struct json *old = from->value, *new = to->value;
    const uint32_t *came = json_match(d->scratch, new, old);
    bool *kept = arena_zero(d->scratch, old->len);

    for (uint32_t j = 0; j < new->len; j++)
        if (came[j] != JSON_NONE)
            kept[came[j]] = true;
    for (uint32_t i = 0; i < old->len && d->bytes <= most; i++) {
        if (kept[i])
            continue;
        size_t was = path_enter(d, json_name(&old->members[i]));
        charge_shift(d, old, i);
        emit(d, "remove", NULL, NULL);
        path_leave(d, was);
    }
    for (uint32_t j = 0; j < new->len && d->bytes <= most; j++) {
        if (came[j] != JSON_NONE && diff_same(&from->kids[came[j]], &to->kids[j]))
            continue;
        size_t was = path_enter(d, json_name(&new->members[j]));
        if (came[j] == JSON_NONE)
            emit(d, "add", NULL, &to->kids[j]);
        else
            diff_values(d, &from->kids[came[j]], &to->kids[j]);
        path_leave(d, was);
    }
    return d->bytes <= most;
}

/* From the last to the first, so that each index is still the one in the old array. */
static void remove_elements(struct diff *d, const struct json *old, const uint32_t *home,
                            size_t most)
{
    for (uint32_t i = old->len; i-- > 0 && d->bytes <= most;) {
        if (home[i] != DIFF_NONE)
            continue;
        size_t was = path_enter_index(d, i);
        charge_shift(d, old, i);
        emit(d, "remove", NULL, NULL);
        path_leave(d, was);
    }
}

static void move_element(struct diff *d, uint32_t from, uint32_t to)
{
    size_t was = path_enter_index(d, from);
    str source = arena_copy(d->scratch, buf_str(&d->path));
    path_leave(d, was);

    path_enter_index(d, to);
    emit(d, "move", &source, NULL);
    path_leave(d, was);
}

static uint32_t index_of(const uint32_t *list, uint32_t value)
{
    uint32_t i = 0;
    while (list[i] != value)
        i++;
    return i;
}

/* `order` is the array as it stands: for each element its index in the new array. Those that do not
 * stay are taken in the order of the new array; each is put behind its predecessor there, which is
 * in its place already. */
static void move_elements(struct diff *d, uint32_t *order, const bool *stays,
                          const uint32_t *partner, uint32_t count, size_t most)
{
    uint32_t previous = DIFF_NONE;

    for (uint32_t j = 0; j < count && d->bytes <= most; j++) {
        if (partner[j] == DIFF_NONE)
            continue;
        if (!stays[j]) {
            uint32_t at = index_of(order, j);
            uint32_t to = previous == DIFF_NONE ? 0 : index_of(order, previous) + 1;
            if (at < to) {
                to--;
                memmove(order + at, order + at + 1, (to - at) * sizeof *order);
            } else {
                memmove(order + to + 1, order + to, (at - to) * sizeof *order);
            }
            order[to] = j;
            if (at != to) {
                d->work += 2 + (2 * (uint64_t)count - at - to) / 4;
                move_element(d, at, to);
            }
        }
        previous = j;
    }
}

static void add_elements(struct diff *d, const struct diff_node *to, const uint32_t *partner,
                         uint32_t count, size_t most)
{
    for (uint32_t j = 0; j < to->value->len && d->bytes <= most; j++) {
        if (partner[j] != DIFF_NONE)
            continue;
        size_t was = j < count ? path_enter_index(d, j) : path_enter(d, STR("-"));
        charge_shift(d, to->value, j);
        emit(d, "add", NULL, &to->kids[j]);
        path_leave(d, was);
        count++;
    }
}

/* Moving searches and shifts a list of all elements for each that moves, at some sixteen elements
 * for the price of a comparison. False when there are not enough steps left for that. */
static bool can_afford_moves(struct diff *d, uint32_t moved, uint32_t kept)
{
    uint64_t price = (uint64_t)moved * (kept / 16 + 1);

    if (price > d->steps)
        return false;
    d->steps -= price;
    return true;
}

static void change_elements(struct diff *d, const struct diff_node *from,
                            const struct diff_node *to, const uint32_t *partner, size_t most)
{
    for (uint32_t j = 0; j < to->value->len && d->bytes <= most; j++) {
        if (partner[j] == DIFF_NONE || diff_same(&from->kids[partner[j]], &to->kids[j]))
            continue;
        size_t was = path_enter_index(d, j);
        diff_values(d, &from->kids[partner[j]], &to->kids[j]);
        path_leave(d, was);
    }
}

static bool diff_elements(struct diff *d, const struct diff_node *from, const struct diff_node *to,
                          size_t most)
{
    uint32_t old_count = from->value->len, count = to->value->len, kept = 0, moved = 0;
    const uint32_t *partner = diff_match(d->scratch, from, to, &d->steps);
    const bool *stays = diff_stays(d->scratch, partner, count);
    uint32_t *home = ARENA_ARRAY(d->scratch, uint32_t, old_count); /* by old index, the new one */
    uint32_t *order = ARENA_ARRAY(d->scratch, uint32_t, old_count);

    for (uint32_t i = 0; i < old_count; i++)
        home[i] = DIFF_NONE;
    for (uint32_t j = 0; j < count; j++) {
        if (partner[j] == DIFF_NONE)
            continue;
        home[partner[j]] = j;
        moved += !stays[j];
    }
    for (uint32_t i = 0; i < old_count; i++)
        if (home[i] != DIFF_NONE)
            order[kept++] = home[i];
    if (!can_afford_moves(d, moved, kept))
        return false;

    remove_elements(d, from->value, home, most);
    move_elements(d, order, stays, partner, count, most);
    add_elements(d, to, partner, kept, most);
    change_elements(d, from, to, partner, most);
    return d->bytes <= most;
}

/* The operations that turn one into the other, which is different. */
static void diff_values(struct diff *d, const struct diff_node *from, const struct diff_node *to)
{
    enum json_kind kind = to->value->kind;
    uint32_t ops = d->ops.len;
    uint64_t work = d->work;
    size_t bytes = d->bytes, most = bytes + replace_bytes(d, to);

    if (from->value->kind == kind && d->steps > 0) {
        d->steps--;
        if (kind == JSON_ARRAY && diff_elements(d, from, to, most))
            return;
        if (kind == JSON_OBJECT && diff_members(d, from, to, most))
            return;
    }
    d->ops.len = ops;
    d->work = work;
    d->bytes = bytes;
    emit(d, "replace", NULL, to);
}

/* ---- very many values ---- */

struct coarse {
    struct diff *d;
    uint64_t work; /* that is left */
};

static bool given_up(const struct coarse *c)
{
    return c->work == 0 || c->d->ops.len > OPERATIONS_MAX;
}

static void emit_value(struct coarse *c, const char *op, const struct json *value)
{
    struct diff_node node = { .value = value };

    if (value)
        node.bytes = json_print_size(value);
    emit(c->d, op, NULL, value ? &node : NULL);
}

/* Most values are no containers and have not changed: their path need not be known. */
static bool same_leaf(struct coarse *c, const struct json *from, const struct json *to)
{
    return from->kind != JSON_ARRAY && from->kind != JSON_OBJECT &&
           json_equal_within(from, to, &c->work);
}

static void coarse_values(struct coarse *c, const struct json *from, const struct json *to);

static void coarse_members(struct coarse *c, const struct json *from, const struct json *to)
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
        charge_shift(c->d, from, i);
        emit_value(c, "remove", NULL);
        path_leave(c->d, was);
    }
    for (uint32_t j = 0; j < to->len && !given_up(c); j++) {
        const struct json *old = came[j] == JSON_NONE ? NULL : &from->members[came[j]].value;
        const struct json *new = &to->members[j].value;
        if (old && same_leaf(c, old, new))
            continue;
        size_t was = path_enter(c->d, json_name(&to->members[j]));
        if (old)
            coarse_values(c, old, new);
        else
            emit_value(c, "add", new);
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

static void coarse_elements(struct coarse *c, const struct json *from, const struct json *to)
{
    uint32_t shorter = from->len < to->len ? from->len : to->len, head = 0, tail = 0;

    if (from->len != to->len) {
        head = equal_end(c, from, to, false, shorter);
        tail = equal_end(c, from, to, true, shorter - head);
    }
    uint32_t old_end = from->len - tail, new_end = to->len - tail;
    for (uint32_t i = old_end; i > head && i > new_end && !given_up(c); i--) {
        size_t was = path_enter_index(c->d, i - 1);
        charge_shift(c->d, from, i - 1);
        emit_value(c, "remove", NULL);
        path_leave(c->d, was);
    }
    for (uint32_t i = head; i < new_end && !given_up(c); i++) {
        const struct json *old = i < old_end ? &from->items[i] : NULL, *new = &to->items[i];
        if (old && same_leaf(c, old, new))
            continue;
        size_t was = path_enter_index(c->d, i);
        if (old) {
            coarse_values(c, old, new);
        } else {
            charge_shift(c->d, to, i);
            emit_value(c, "add", new);
        }
        path_leave(c->d, was);
    }
}

static void coarse_values(struct coarse *c, const struct json *from, const struct json *to)
{
    if (from->kind == to->kind && to->kind == JSON_OBJECT)
        coarse_members(c, from, to);
    else if (from->kind == to->kind && to->kind == JSON_ARRAY)
        coarse_elements(c, from, to);
    else if (!json_equal_within(from, to, &c->work))
        emit_value(c, "replace", to);
}

static void diff_coarse(struct diff *d, const struct json *from, const struct json *to)
{
    struct coarse c = { d, COARSE_STEPS_MAX };

    coarse_values(&c, from, to);
    if (!given_up(&c) && d->bytes <= json_print_size(to))
        return;
    replace_all(d, to);
}

/* ---- the whole ---- */

/* Takes the values of a document off `left`; false when there are more. */
static bool has_at_most(const struct json *j, uint64_t *left)
{
    if (j->kind != JSON_ARRAY && j->kind != JSON_OBJECT)
        return true;
    if (j->len > *left)
        return false;
    *left -= j->len;
    for (uint32_t i = 0; i < j->len; i++)
        if (!has_at_most(j->kind == JSON_ARRAY ? &j->items[i] : &j->members[i].value, left))
            return false;
    return true;
}

struct json json_diff(struct arena *a, const struct json *from, const struct json *to,
                      uint64_t steps, uint64_t *work)
{
    uint64_t values = VALUES_FINE_MAX;
    struct diff d = {
        .arena = a,
        .scratch = arena_new(),
        .ops = json_array(),
        .steps = steps ? steps : STEPS_DEFAULT,
    };
    d.path = buf_in(d.scratch);

    if (has_at_most(from, &values) && has_at_most(to, &values)) {
        struct diff_node old = node_of(d.scratch, from, false), new = node_of(d.scratch, to, true);
        if (!diff_same(&old, &new))
            diff_values(&d, &old, &new);
    } else {
        diff_coarse(&d, from, to);
    }
    assert(d.path.len == 0); /* all that was entered was left */
    if (d.work > JSON_PATCH_WORK)
        replace_all(&d, to);
    if (work)
        *work = d.work;
    arena_free(d.scratch);
    return d.ops;
}
