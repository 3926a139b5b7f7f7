/* violations.c: what a caller sees of a document that does not fit: the most useful violations, or an
 * error that has them. */
#include <stdlib.h>

#include "base/utf8.h"
#include "json/schema/explain.h"
#include "json/schema/message.h"

enum {
    FINDINGS_MAX = 1000, /* collected before they are sorted and cut to what was asked for */
    REQUIRE_MAX = 50,
    POINTER_SHOWN_MAX = 200, /* bytes of a pointer in the message of an error */
    CELLS_MAX = 4000000,     /* of looking for near texts: a few milliseconds */
};

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

static int finding_order(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
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
        explain_node(&x, first->schema->root, doc, &root);
    if (all.count == 0) {
        x.check.steps_left = SCHEMA_STEPS_MAX;
        report_text(&x, "the document does not fit its schema, and finding out where took too many "
                        "steps");
    }
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
                    message_errors(a, list, count));
}
