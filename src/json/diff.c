/* diff.c: two documents → the patch between them.
 *
 * Both trees are walked once to find the hash and the printed size of every
 * value, so that comparing two of them is mostly comparing numbers. Then the
 * trees are descended together where they differ. Each container that differs
 * is described by the operations inside it, unless replacing it whole takes
 * fewer bytes. */
#include "json/diff.h"

#include "base/hash.h"
#include "json/diff_array.h"
#include "json/edit.h"
#include "json/pointer.h"

#define STEPS_DEFAULT 1000000

struct diff {
    struct arena *arena, *scratch; /* scratch goes when the patch is done */
    struct json ops;
    size_t bytes;    /* of the operations, as printed, with a comma after each */
    struct buf path; /* of the values that are being compared */
    uint64_t steps;  /* that are left */
};

/* ---- the nodes ---- */

static size_t string_bytes(str s)
{
    struct json text = json_string(s);
    return json_print_size(&text);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    return hash_mix(a ^ 0x9e3779b97f4a7c15u, b ^ 0xd6e8feb86659fd93u);
}

static struct diff_node node_of(struct arena *a, const struct json *j)
{
    struct diff_node node = { .value = j };

    if (j->kind != JSON_ARRAY && j->kind != JSON_OBJECT) {
        node.hash = json_hash(j);
        node.bytes = json_print_size(j);
        return node;
    }
    node.kids = ARENA_ARRAY(a, struct diff_node, j->len);
    node.hash = mix(j->kind, j->len);
    node.bytes = 2 + (j->len ? j->len - 1 : 0); /* brackets and commas */
    for (uint32_t i = 0; i < j->len; i++) {
        const struct json_member *m = j->kind == JSON_OBJECT ? &j->members[i] : NULL;
        struct diff_node kid = node_of(a, m ? &m->value : &j->items[i]);
        /* A sum for members, whose order does not matter. */
        node.hash = m ? node.hash + mix(m->hash, kid.hash) : mix(node.hash, kid.hash);
        node.bytes += kid.bytes + (m ? string_bytes(json_name(m)) + 1 : 0);
        node.kids[i] = kid;
    }
    return node;
}

/* ---- the operations ---- */

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

static size_t replace_bytes(struct diff *d, const struct diff_node *to)
{
    return strlen("{'op':'replace','path':,'value':},") + string_bytes(buf_str(&d->path)) +
           to->bytes;
}

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
    d->path.len = len;
}

/* ---- values ---- */

static void diff_values(struct diff *d, const struct diff_node *from, const struct diff_node *to);

/* The functions that describe a container give up when the operations have more than `most` bytes:
 * then it will be replaced whole. */

static bool diff_members(struct diff *d, const struct diff_node *from, const struct diff_node *to,
                         size_t most)
{
    const struct json *old = from->value, *new = to->value;
    const uint32_t *came = edit_match(d->scratch, new, old);
    bool *kept = arena_zero(d->scratch, old->len);

    for (uint32_t j = 0; j < new->len; j++)
        if (came[j] != EDIT_NONE)
            kept[came[j]] = true;
    for (uint32_t i = 0; i < old->len && d->bytes <= most; i++) {
        if (kept[i])
            continue;
        size_t was = path_enter(d, json_name(&old->members[i]));
        emit(d, "remove", NULL, NULL);
        path_leave(d, was);
    }
    for (uint32_t j = 0; j < new->len && d->bytes <= most; j++) {
        if (came[j] != EDIT_NONE && diff_same(&from->kids[came[j]], &to->kids[j]))
            continue;
        size_t was = path_enter(d, json_name(&new->members[j]));
        if (came[j] == EDIT_NONE)
            emit(d, "add", NULL, &to->kids[j]);
        else
            diff_values(d, &from->kids[came[j]], &to->kids[j]);
        path_leave(d, was);
    }
    return d->bytes <= most;
}

/* From the last to the first, so that each index is still the one in the old array. */
static void remove_elements(struct diff *d, const uint32_t *home, uint32_t count, size_t most)
{
    for (uint32_t i = count; i-- > 0 && d->bytes <= most;) {
        if (home[i] != DIFF_NONE)
            continue;
        size_t was = path_enter_index(d, i);
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
            if (at != to)
                move_element(d, at, to);
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

    remove_elements(d, home, old_count, most);
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
    size_t bytes = d->bytes, most = bytes + replace_bytes(d, to);

    if (from->value->kind == kind && d->steps > 0) {
        d->steps--;
        if (kind == JSON_ARRAY && diff_elements(d, from, to, most))
            return;
        if (kind == JSON_OBJECT && diff_members(d, from, to, most))
            return;
    }
    d->ops.len = ops;
    d->bytes = bytes;
    emit(d, "replace", NULL, to);
}

struct json json_diff(struct arena *a, const struct json *from, const struct json *to,
                      uint64_t steps)
{
    struct diff d = {
        .arena = a,
        .scratch = arena_new(),
        .ops = json_array(),
        .steps = steps ? steps : STEPS_DEFAULT,
    };
    d.path = buf_in(d.scratch);
    struct diff_node old = node_of(d.scratch, from), new = node_of(d.scratch, to);

    if (!diff_same(&old, &new))
        diff_values(&d, &old, &new);
    arena_free(d.scratch);
    return d.ops;
}
