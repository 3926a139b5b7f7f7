/* diff_array.c: which elements of two arrays correspond to each other.
 *
 * What is equal at both ends is set aside. Of the rest, objects that have ids
 * are paired by these; other elements are paired by a longest common
 * subsequence, then equal ones wherever they are, which have moved, and last
 * those that stand in the same gap, which have been replaced or changed. */
#include "json/diff_array.h"

#include <assert.h>

#include "json/member.h"

#define IDS_TRIED_MAX 4 /* members ending in "_id"; each costs a look at all elements */
#define PROBES_MAX 16   /* for an element of the same class */
#define EDITS_MAX 1000  /* differences up to which a longest common subsequence is looked for */

bool diff_same(const struct diff_node *a, const struct diff_node *b)
{
    return a->hash == b->hash && json_equal(a->value, b->value);
}

/* One side of the comparison: what is left between the equal ends. */
struct side {
    const struct diff_node *nodes; /* the first that is left */
    uint32_t count;
    uint32_t *class;   /* of each; equal for equal elements, or for elements of equal ids */
    uint32_t *partner; /* of each, an index of the other side; DIFF_NONE: not yet */
};

struct matching {
    struct arena *arena;
    struct side from, to;
    uint32_t class_count;
    uint64_t *steps;
};

static void pair(struct matching *m, uint32_t i, uint32_t j)
{
    assert(m->from.partner[i] == DIFF_NONE && m->to.partner[j] == DIFF_NONE);
    m->from.partner[i] = j;
    m->to.partner[j] = i;
}

/* ---- classes ---- */

struct classed {
    const struct diff_node *node; /* NULL, in a table: free */
    uint32_t *class;
};

/* Numbers the nodes so that equal ones have the same number. Where hashes collide, it may number
 * equal ones apart: they are then not found, which costs a longer patch and nothing else. */
static uint32_t number_classes(struct arena *a, const struct classed *all, size_t count)
{
    size_t slots = 64;
    uint32_t classes = 0;

    while (slots < count * 2)
        slots *= 2;
    struct classed *table = arena_zero(a, slots * sizeof *table);
    for (size_t i = 0; i < count; i++) {
        size_t at = all[i].node->hash & (slots - 1), probes = 0;
        while (table[at].node && probes < PROBES_MAX && !diff_same(all[i].node, table[at].node)) {
            at = (at + 1) & (slots - 1);
            probes++;
        }
        if (table[at].node && probes < PROBES_MAX) {
            *all[i].class = *table[at].class;
            continue;
        }
        *all[i].class = classes++;
        if (!table[at].node)
            table[at] = all[i];
    }
    return classes;
}

/* Numbers the elements of both sides by themselves, or by the member of that name. False when one
 * of them has no such member, or one that does not identify. */
static bool classify(struct matching *m, const str *member)
{
    struct side *sides[2] = { &m->from, &m->to };
    struct json_member sought;
    struct classed *all = ARENA_ARRAY(m->arena, struct classed, m->from.count + m->to.count);
    size_t count = 0;

    if (member)
        member_name(&sought, *member);
    for (int s = 0; s < 2; s++) {
        for (uint32_t i = 0; i < sides[s]->count; i++) {
            const struct diff_node *node = &sides[s]->nodes[i];
            if (member) {
                uint32_t place = json_is(node->value, JSON_OBJECT)
                                     ? member_find(node->value, 0, &sought)
                                     : JSON_NONE;
                if (place == JSON_NONE)
                    return false;
                node = &node->kids[place];
                if (node->value->kind != JSON_STRING && node->value->kind != JSON_INTEGER)
                    return false;
            }
            all[count++] = (struct classed){ node, &sides[s]->class[i] };
        }
    }
    m->class_count = number_classes(m->arena, all, count);
    return true;
}

/* ---- pairs of the same class ---- */

/* The first of a class on one side with the first of it on the other, and so on. */
static void pair_by_class(struct matching *m)
{
    uint32_t *head = ARENA_ARRAY(m->arena, uint32_t, m->class_count);
    uint32_t *next = ARENA_ARRAY(m->arena, uint32_t, m->from.count);

    memset(head, 0xff, m->class_count * sizeof *head);
    for (uint32_t i = m->from.count; i-- > 0;) {
        if (m->from.partner[i] != DIFF_NONE)
            continue;
        next[i] = head[m->from.class[i]];
        head[m->from.class[i]] = i;
    }
    for (uint32_t j = 0; j < m->to.count; j++) {
        uint32_t *i = &head[m->to.class[j]];
        if (m->to.partner[j] != DIFF_NONE || *i == DIFF_NONE)
            continue;
        uint32_t follower = next[*i];
        pair(m, *i, j);
        *i = follower;
    }
}

static bool each_once(const struct matching *m, const struct side *side)
{
    bool *seen = arena_zero(m->arena, m->class_count);

    for (uint32_t i = 0; i < side->count; i++) {
        if (seen[side->class[i]])
            return false;
        seen[side->class[i]] = true;
    }
    return true;
}

static bool pair_by_id(struct matching *m, str member)
{
    if (!classify(m, &member) || !each_once(m, &m->from) || !each_once(m, &m->to))
        return false;
    pair_by_class(m);
    return true;
}

/* Ids are looked for in the order in which a reader would take them for one. */
static bool pair_by_any_id(struct matching *m)
{
    static const str names[] = { { "id", 2 }, { "key", 3 }, { "name", 4 } };
    const struct json *sample = m->from.nodes[0].value;

    if (sample->kind != JSON_OBJECT)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (json_find(sample, names[i]) && pair_by_id(m, names[i]))
            return true;
    for (uint32_t i = 0, tried = 0; i < sample->len && tried < IDS_TRIED_MAX; i++) {
        if (!str_ends(json_name(&sample->members[i]), STR("_id")))
            continue;
        if (pair_by_id(m, json_name(&sample->members[i])))
            return true;
        tried++;
    }
    return false;
}

/* ---- the longest common subsequence ---- */

/* The elements of one side that the other has too; others cannot be common. */
static uint32_t *common_to_both(const struct matching *m, const struct side *side,
                                const struct side *other, uint32_t *count)
{
    bool *there = arena_zero(m->arena, m->class_count);
    uint32_t *common = ARENA_ARRAY(m->arena, uint32_t, side->count);

    for (uint32_t i = 0; i < other->count; i++)
        there[other->class[i]] = true;
    *count = 0;
    for (uint32_t i = 0; i < side->count; i++)
        if (there[side->class[i]])
            common[(*count)++] = i;
    return common;
}

/* The greedy algorithm of Myers: rows[d][k + d] is how far one can be in `a` after d differences on
 * the diagonal k = x - y. All rows are kept, to walk back along. */
struct lcs {
    struct matching *m;
    const uint32_t *a, *b; /* indexes of elements of the two sides */
    uint32_t a_count, b_count;
    int32_t *rows[EDITS_MAX + 1];
};

/* Where d differences come to diagonal k: down from the one above it, or right from the one below,
 * whichever got further. */
static bool comes_down(const struct lcs *l, int64_t d, int64_t k)
{
    const int32_t *row = l->rows[d - 1] + (d - 1);
    return k == -d || (k != d && row[k - 1] < row[k + 1]);
}

static int64_t arrival(const struct lcs *l, int64_t d, int64_t k)
{
    const int32_t *row = l->rows[d - 1] + (d - 1);
    return comes_down(l, d, k) ? row[k + 1] : row[k - 1] + 1;
}

static int64_t follow_equals(const struct lcs *l, int64_t x, int64_t y)
{
    while (x < l->a_count && y < l->b_count && l->m->from.class[l->a[x]] == l->m->to.class[l->b[y]])
        x++, y++;
    return x;
}

/* Gives the number of differences, or -1 when finding it takes too much. One array may use half of
 * the steps that are left, so that there are some for whatever else has changed. */
static int64_t lcs_search(struct lcs *l)
{
    uint64_t most = *l->m->steps / 2, used = 0;
    int64_t d = 0, end = (int64_t)l->a_count - l->b_count;
    bool found = false;

    for (; d <= EDITS_MAX && used <= most && !found; d++) {
        l->rows[d] = ARENA_ARRAY(l->m->arena, int32_t, (size_t)(2 * d + 1));
        for (int64_t k = -d; k <= d && !found; k += 2) {
            int64_t start = d ? arrival(l, d, k) : 0, x = follow_equals(l, start, start - k);
            l->rows[d][k + d] = (int32_t)x;
            used += (uint64_t)(x - start) + 1;
            found = k == end && x >= l->a_count;
        }
    }
    *l->m->steps -= used < *l->m->steps ? used : *l->m->steps;
    return found ? d - 1 : -1;
}

static void lcs_pair(const struct lcs *l, int64_t d)
{
    int64_t x = l->a_count, y = l->b_count;

    for (;; d--) {
        int64_t k = x - y, start = d ? arrival(l, d, k) : 0;
        assert(x >= start && y >= 0);
        while (x > start) {
            x--, y--;
            pair(l->m, l->a[x], l->b[y]);
        }
        if (d == 0)
            return;
        if (comes_down(l, d, k))
            y--;
        else
            x--;
    }
}

static void pair_by_lcs(struct matching *m)
{
    struct lcs *l = ARENA_NEW(m->arena, struct lcs);

    l->m = m;
    l->a = common_to_both(m, &m->from, &m->to, &l->a_count);
    l->b = common_to_both(m, &m->to, &m->from, &l->b_count);
    int64_t differences = lcs_search(l);
    if (differences >= 0)
        lcs_pair(l, differences);
}

/* ---- what is left ---- */

/* Pairs in their order those that stand between the same anchors, which are the partners that did
 * not move. */
static void pair_in_gaps(struct matching *m, const uint32_t *anchors)
{
    const uint32_t *from = m->from.partner, *to = m->to.partner;

    for (uint32_t i = 0, j = 0; j < m->to.count;) {
        uint32_t j_end = j;
        while (j_end < m->to.count && anchors[j_end] == DIFF_NONE)
            j_end++;
        uint32_t i_end = j_end < m->to.count ? anchors[j_end] : m->from.count;

        for (;;) {
            while (i < i_end && from[i] != DIFF_NONE)
                i++;
            while (j < j_end && to[j] != DIFF_NONE)
                j++;
            if (i == i_end || j == j_end)
                break;
            pair(m, i, j);
        }
        i = i_end + 1;
        j = j_end + 1;
    }
}

static void pair_by_content(struct matching *m)
{
    uint32_t *anchors = ARENA_ARRAY(m->arena, uint32_t, m->to.count);

    classify(m, NULL);
    pair_by_lcs(m);
    memcpy(anchors, m->to.partner, m->to.count * sizeof *anchors);
    pair_by_class(m);
    pair_in_gaps(m, anchors);
}

/* ---- the whole ---- */

static struct side side_of(struct arena *a, const struct diff_node *array, uint32_t head,
                           uint32_t tail)
{
    struct side side = { .nodes = array->kids + head, .count = array->value->len - head - tail };

    side.class = ARENA_ARRAY(a, uint32_t, side.count);
    side.partner = ARENA_ARRAY(a, uint32_t, side.count);
    memset(side.partner, 0xff, side.count * sizeof *side.partner);
    return side;
}

/* Pairs what is between the equal ends, where both arrays have something there. */
static void match_between(struct arena *a, const struct diff_node *from, const struct diff_node *to,
                          uint32_t head, uint32_t tail, uint64_t *steps, uint32_t *partner)
{
    struct matching m = {
        .arena = a,
        .from = side_of(a, from, head, tail),
        .to = side_of(a, to, head, tail),
        .steps = steps,
    };

    if (!pair_by_any_id(&m))
        pair_by_content(&m);
    for (uint32_t j = 0; j < m.to.count; j++)
        if (m.to.partner[j] != DIFF_NONE)
            partner[head + j] = head + m.to.partner[j];
}

const uint32_t *diff_match(struct arena *a, const struct diff_node *from,
                           const struct diff_node *to, uint64_t *steps)
{
    uint32_t n = from->value->len, count = to->value->len, shorter = n < count ? n : count;
    uint32_t *partner = ARENA_ARRAY(a, uint32_t, count), head = 0, tail = 0;

    for (uint32_t j = 0; j < count; j++)
        partner[j] = DIFF_NONE;
    for (; head < shorter && diff_same(&from->kids[head], &to->kids[head]); head++)
        partner[head] = head;
    for (; tail < shorter - head; tail++) {
        if (!diff_same(&from->kids[n - 1 - tail], &to->kids[count - 1 - tail]))
            break;
        partner[count - 1 - tail] = n - 1 - tail;
    }
    if (head + tail < shorter)
        match_between(a, from, to, head, tail, steps, partner);
    return partner;
}

/* The longest ascending subsequence of partners: ends[l] is the element that ends one of l + 1
 * elements and has the lowest partner of those. */
const bool *diff_stays(struct arena *a, const uint32_t *partner, uint32_t count)
{
    bool *stays = arena_zero(a, count);
    uint32_t *ends = ARENA_ARRAY(a, uint32_t, count), *before = ARENA_ARRAY(a, uint32_t, count);
    uint32_t longest = 0;

    for (uint32_t j = 0; j < count; j++) {
        uint32_t low = 0, high = longest;
        if (partner[j] == DIFF_NONE)
            continue;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (partner[ends[middle]] < partner[j])
                low = middle + 1;
            else
                high = middle;
        }
        before[j] = low ? ends[low - 1] : DIFF_NONE;
        ends[low] = j;
        if (low == longest)
            longest++;
    }
    for (uint32_t j = longest ? ends[longest - 1] : DIFF_NONE; j != DIFF_NONE; j = before[j])
        stays[j] = true;
    return stays;
}
