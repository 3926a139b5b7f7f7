/* findings.c: the list of what does not fit, and what a caller sees of it. */
#include <stdlib.h>

#include "base/utf8.h"
#include "json/pointer.h"
#include "json/schema/explain.h"

enum {
    FINDINGS_MAX = 1000, /* collected before they are sorted and cut to what was asked for */
    REQUIRE_MAX = 50,
    POINTER_SHOWN_MAX = 200, /* bytes of a pointer in the message of an error */
    REPORT_STEPS = 100,      /* what the words of a violation cost */
    STEP_BYTES = 4,          /* bytes of a pointer that cost a step: a name may be megabytes long */
    CELLS_MAX = 4000000,     /* of looking for near texts: a few milliseconds */
};

/* ---- the list ---- */

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
    struct finding *location = &f->items[f->count++];
    *location = *found;
    location->rank = (found->rank & ~(uint64_t)UINT32_MAX) | f->count;
    map_put(&f->known, location->key, f);
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

static int finding_order(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
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

/* ---- from a document to its violations ---- */

static const struct location root = { 0 };

static void report_text(struct explain *x, const char *text)
{
    struct buf m = buf_in(x->arena);

    buf_add(&m, str_from(text));
    explain_report(x, &root, "budget", &m);
}

/* The check was given up: that is all there is to say, and for a pattern the location where. */
static void explain_given_up(struct explain *x, const struct check *c, const struct json *doc)
{
    static const char steps[] = "checking was given up after 1,000,000 steps, so it is not known "
                                "whether the document fits";
    static const char deep[] = "checking was given up because too many schemas apply inside each "
                               "other: a $ref may lead back to itself";
    static const char pattern[] = "checking was given up because a pattern took too many steps of "
                                  "backtracking";
    struct findings all = findings_in(x->arena, FINDINGS_MAX), *into = x->into;

    _Static_assert(SCHEMA_STEPS_MAX == 1000000, "the message names it");
    if (c->regex_limit) {
        x->into = &all;
        explain_node(x, c->schema->root, doc, &root);
        x->into = into;
    }
    for (uint32_t i = 0; i < all.count && into->count == 0; i++)
        if (str_eq(all.items[i].violation.keyword, STR("budget")))
            findings_add(into, &all.items[i]);
    if (into->count > 0)
        return;
    x->check.steps_left = SCHEMA_STEPS_MAX;
    report_text(x, c->regex_limit ? pattern : c->too_deep ? deep : steps);
}

static void explain_document(struct explain *x, const struct json *doc)
{
    explain_node(x, x->check.schema->root, doc, &root);
    if (x->into->count > 0)
        return;
    x->check.steps_left = SCHEMA_STEPS_MAX;
    report_text(x, "the document does not fit its schema, and finding out where took too many "
                   "steps");
}

static size_t explain_unfit(struct arena *a, const struct check *first, const struct json *doc,
                            size_t most, const struct violation **out)
{
    struct findings all = findings_in(a, FINDINGS_MAX);
    struct explain x = { .arena = a, .into = &all, .cells_left = CELLS_MAX };

    check_init(&x.check, first->schema);
    x.check.steps_left = 2 * SCHEMA_STEPS_MAX; /* it asks of some parts again whether they fit */
    if (check_exhausted(first))
        explain_given_up(&x, first, doc);
    else
        explain_document(&x, doc);
    check_release(&x.check);

    qsort(all.items, all.count, sizeof *all.items, finding_order);
    size_t count = all.count < most ? all.count : most;
    struct violation *list = ARENA_ARRAY(a, struct violation, count);
    for (size_t i = 0; i < count; i++)
        list[i] = all.items[i].violation;
    *out = list;
    return count;
}

size_t schema_explain(struct arena *a, const struct schema *s, const struct json *doc, size_t most,
                      const struct violation **out)
{
    struct check first;

    *out = NULL;
    check_init(&first, s);
    bool fits = check_node(&first, s->root, doc, NULL);
    check_release(&first);
    return fits && !check_exhausted(&first) ? 0 : explain_unfit(a, &first, doc, most, out);
}

/* ---- as an error ---- */

static str errors_member(struct arena *a, const struct violation *list, size_t count)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    buf_add(&out, STR("\"errors\":"));
    json_write_begin(&w, '[');
    for (size_t i = 0; i < count; i++) {
        json_write_begin(&w, '{');
        json_write_name(&w, STR("pointer"));
        json_write_str(&w, list[i].pointer);
        json_write_name(&w, STR("keyword"));
        json_write_str(&w, list[i].keyword);
        json_write_name(&w, STR("message"));
        json_write_str(&w, list[i].message);
        json_write_end(&w, '}');
    }
    json_write_end(&w, ']');
    return buf_str(&out);
}

err schema_require(struct arena *a, const struct schema *s, const struct json *doc)
{
    const struct violation *list;
    struct buf m = buf_in(a);

    size_t count = schema_explain(a, s, doc, REQUIRE_MAX, &list);
    if (count == 0)
        return NULL;
    str pointer = utf8_cut(list[0].pointer, POINTER_SHOWN_MAX);
    if (pointer.len > 0)
        buf_printf(&m, STR_FMT "%s: ", STR_ARG(pointer),
                   pointer.len < list[0].pointer.len ? "…" : "");
    buf_add(&m, list[0].message);
    if (count > 1)
        buf_printf(&m, " (and %s%zu more)", count == REQUIRE_MAX ? "at least " : "", count - 1);
    str message = buf_str(&m);
    return err_with(a, err_new(a, ERR_UNFIT, STR_FMT, STR_ARG(message)),
                    errors_member(a, list, count));
}
