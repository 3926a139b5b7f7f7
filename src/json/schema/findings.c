/* findings.c: the list of what does not fit, each violation once, with its rank. */
#include "json/schema/explain.h"

#include <assert.h>

#include "json/pointer.h"

enum {
    REPORT_STEPS = 100, /* what the words of a violation cost */
    STEP_BYTES = 4,     /* bytes of a pointer that cost a step: a name may be megabytes long */
};

struct findings findings_in(struct arena *a, uint32_t most)
{
    return (struct findings){ .most = most, .known = map_in(a) };
}

void findings_add(struct findings *f, const struct finding *found)
{
    if (f->count == f->most || map_get(&f->known, found->key))
        return;
    if (f->count == f->room) {
        uint32_t room = f->room ? f->room * 2 : 4;
        f->items = arena_grow(f->known.arena, f->items, f->room * sizeof *f->items,
                              room * sizeof *f->items);
        f->room = room;
    }
    struct finding *own = &f->items[f->count++];
    *own = *found;
    own->rank = (found->rank & ~(uint64_t)UINT32_MAX) | f->count;
    map_put(&f->known, own->key, f);
    assert(f->count == f->known.count && f->count <= f->most);
}

/* What often only follows from something else comes last. Then the shallow before the deep, and
 * in one depth what makes the rest moot first. */
static uint64_t rank_of(const char *keyword, const struct location *at)
{
    static const char *const first[] = { "type", "required", NULL };
    static const char *const last[] = { "anyOf",
                                        "oneOf",
                                        "not",
                                        "minProperties",
                                        "maxProperties",
                                        "unevaluatedProperties",
                                        "unevaluatedItems",
                                        "budget",
                                        NULL };
    uint64_t rank = (uint64_t)at->depth << 40 | 1ull << 32;

    for (size_t i = 0; first[i]; i++)
        if (strcmp(keyword, first[i]) == 0)
            rank &= ~(1ull << 32);
    for (size_t i = 0; last[i]; i++)
        if (strcmp(keyword, last[i]) == 0)
            rank |= 1ull << 63;
    return rank;
}

static void location_print(struct buf *out, const struct location *at)
{
    if (!at->up)
        return;
    location_print(out, at->up);
    if (at->member)
        json_pointer_add(out, json_name(at->member));
    else
        json_pointer_add_index(out, at->index);
}

void explain_report(struct explain *x, const struct location *at, const char *keyword,
                    struct buf *m)
{
    struct finding found = { .rank = rank_of(keyword, at), .depth = at->depth };
    struct buf key = buf_in(x->arena);

    x->failures++;
    if (explain_stopped(x))
        return;
    buf_add(m, x->reason);
    location_print(&key, at);
    size_t pointer_len = key.len;
    buf_byte(&key, 0);
    buf_add(&key, str_from(keyword));
    size_t keyword_end = key.len;
    buf_byte(&key, 0);
    buf_add(&key, buf_str(m));
    found.key = buf_str(&key);
    found.violation.pointer = str_slice(found.key, 0, pointer_len);
    found.violation.keyword = str_slice(found.key, pointer_len + 1, keyword_end);
    found.violation.message = str_slice(found.key, keyword_end + 1, found.key.len);
    findings_add(x->into, &found);
    explain_charge(x, REPORT_STEPS + pointer_len / STEP_BYTES);
}
