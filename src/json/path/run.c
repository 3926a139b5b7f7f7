/* run.c: walks a document along a compiled query.
 *
 * Each value that a segment selects goes through the remaining segments before
 * the next one is selected: that is the order of the RFC, which concatenates,
 * without a list of values between the segments. Every call down is one level
 * deeper in the document, so recursion is bounded by its depth (and by the
 * depth of filters inside each other). */
#include <assert.h>

#include "json/path/private.h"
#include "json/pointer.h"

#define MATCH_STEPS 3 /* what keeping a match costs: it takes memory */

struct json_path_location {
    const struct json_path_location *parent; /* NULL: the root */
    bool named;
    uint32_t index;
    str name;
};

/* A value on the way down. Its location is made only when something below it matches, and then once:
 * matches share what their paths have in common. */
struct walk_frame {
    struct walk_frame *parent;
    const struct json_member *member; /* NULL: an element, or the root */
    uint32_t index;
    const struct json_path_location *location; /* NULL: not made */
};

struct walk {
    struct path_run *run;
    struct json_matches *keep; /* NULL: only counting */
    size_t room, keep_max;
    uint64_t count, most; /* found; and how many are enough */
    const struct json *last;
};

void path_stop(struct path_run *run)
{
    run->steps_left = 0;
    if (!run->error)
        run->error = err_new(run->arena, ERR_LIMIT,
                             "the query took too many steps: make it more specific, or its "
                             "patterns simpler");
}

/* ---- matches ---- */

static const struct json_path_location *location_of(struct arena *a, struct walk_frame *frame)
{
    if (frame->location)
        return frame->location;

    struct json_path_location *location = ARENA_NEW(a, struct json_path_location);
    if (frame->parent)
        location->parent = location_of(a, frame->parent);
    if (frame->member) {
        location->named = true;
        location->name = json_name(frame->member);
    }
    location->index = frame->index;
    frame->location = location;
    return location;
}

static bool keep(struct walk *w, const struct json *value, struct walk_frame *frame)
{
    struct json_matches *m = w->keep;
    struct arena *a = w->run->arena;

    if (!path_spend(w->run, MATCH_STEPS))
        return false;
    if (m->count == w->keep_max) {
        w->run->error = err_new(a, ERR_TOO_LARGE,
                                "the query finds more than %zu values: make it more specific",
                                w->keep_max);
        return false;
    }
    if (m->count == w->room) {
        size_t room = w->room ? w->room * 2 : 16;
        m->items = arena_grow(a, m->items, w->room * sizeof *m->items, room * sizeof *m->items);
        w->room = room;
    }
    m->items[m->count++] = (struct json_match){ value, location_of(a, frame) };
    return true;
}

/* ---- selecting ---- */

static bool visit(struct walk *w, const struct path_segment *segment, const struct json *at,
                  struct walk_frame *frame);

static bool visit_member(struct walk *w, const struct path_segment *segment,
                         const struct json_member *member, struct walk_frame *parent)
{
    struct walk_frame frame = { .parent = parent, .member = member };
    return path_spend(w->run, 1) && visit(w, segment, &member->value, &frame);
}

static bool visit_element(struct walk *w, const struct path_segment *segment,
                          const struct json *array, uint32_t index, struct walk_frame *parent)
{
    struct walk_frame frame = { .parent = parent, .index = index };

    assert(index < array->len);
    return path_spend(w->run, 1) && visit(w, segment, &array->items[index], &frame);
}

/* The member or NULL. Long objects take long to look through, and are paid for. */
static const struct json_member *member_find(struct path_run *run, const struct path_selector *s,
                                             const struct json *at)
{
    if (at->kind != JSON_OBJECT || !path_spend(run, 1 + at->len / 16))
        return NULL;
    for (uint32_t i = 0; i < at->len; i++)
        if (at->members[i].hash == s->hash && str_eq(json_name(&at->members[i]), s->name))
            return &at->members[i];
    return NULL;
}

/* Whether there is an element; negative indexes count from the end. */
static bool element_find(const struct path_selector *s, const struct json *at, uint32_t *out)
{
    if (at->kind != JSON_ARRAY)
        return false;
    int64_t index = s->index < 0 ? s->index + at->len : s->index;
    *out = (uint32_t)index;
    return index >= 0 && index < at->len;
}

/* All of these answer false when the walk is over. */

static bool select_name(struct walk *w, const struct path_selector *s,
                        const struct path_segment *next, const struct json *at,
                        struct walk_frame *frame)
{
    const struct json_member *member = member_find(w->run, s, at);
    return member ? visit_member(w, next, member, frame) : !w->run->error;
}

static bool select_index(struct walk *w, const struct path_selector *s,
                         const struct path_segment *next, const struct json *at,
                         struct walk_frame *frame)
{
    uint32_t index;
    return !element_find(s, at, &index) || visit_element(w, next, at, index, frame);
}

static bool select_wildcard(struct walk *w, const struct path_selector *s,
                            const struct path_segment *next, const struct json *at,
                            struct walk_frame *frame)
{
    (void)s;
    if (at->kind == JSON_OBJECT)
        for (uint32_t i = 0; i < at->len; i++)
            if (!visit_member(w, next, &at->members[i], frame))
                return false;
    if (at->kind == JSON_ARRAY)
        for (uint32_t i = 0; i < at->len; i++)
            if (!visit_element(w, next, at, i, frame))
                return false;
    return true;
}

static int64_t clamp(int64_t n, int64_t least, int64_t most)
{
    return n < least ? least : n > most ? most : n;
}

static bool select_slice(struct walk *w, const struct path_selector *s,
                         const struct path_segment *next, const struct json *at,
                         struct walk_frame *frame)
{
    if (at->kind != JSON_ARRAY || s->step == 0)
        return true;

    /* An end is never visited itself: upwards it may be just after the last element, downwards just
     * before the first. */
    int64_t down = s->step < 0, least = 0 - down, most = (int64_t)at->len - down;
    int64_t from = clamp(s->start < 0 ? s->start + at->len : s->start, least, most);
    int64_t to = clamp(s->end < 0 ? s->end + at->len : s->end, least, most);
    for (int64_t i = from; down ? i > to : i < to; i += s->step)
        if (!visit_element(w, next, at, (uint32_t)i, frame))
            return false;
    return true;
}

static bool select_filter(struct walk *w, const struct path_selector *s,
                          const struct path_segment *next, const struct json *at,
                          struct walk_frame *frame)
{
    if (at->kind == JSON_OBJECT)
        for (uint32_t i = 0; i < at->len; i++)
            if (path_filter_test(w->run, s->filter, &at->members[i].value) &&
                !visit_member(w, next, &at->members[i], frame))
                return false;
    if (at->kind == JSON_ARRAY)
        for (uint32_t i = 0; i < at->len; i++)
            if (path_filter_test(w->run, s->filter, &at->items[i]) &&
                !visit_element(w, next, at, i, frame))
                return false;
    return !w->run->error;
}

static bool select_all(struct walk *w, const struct path_segment *segment, const struct json *at,
                       struct walk_frame *frame)
{
    static bool (*const select[SELECTOR_KINDS])(struct walk *, const struct path_selector *,
                                                const struct path_segment *, const struct json *,
                                                struct walk_frame *) = {
        [SELECT_NAME] = select_name,     [SELECT_WILDCARD] = select_wildcard,
        [SELECT_INDEX] = select_index,   [SELECT_SLICE] = select_slice,
        [SELECT_FILTER] = select_filter,
    };
    for (const struct path_selector *s = segment->selectors; s; s = s->next)
        if (!path_spend(w->run, 1) || !select[s->kind](w, s, segment->next, at, frame))
            return false;
    return true;
}

/* The value itself, then everything below it, parents before their children: which is the
 * wildcard, with the same segment once more. */
static bool select_descendants(struct walk *w, const struct path_segment *segment,
                               const struct json *at, struct walk_frame *frame)
{
    return select_all(w, segment, at, frame) && select_wildcard(w, NULL, segment, at, frame);
}

static bool visit(struct walk *w, const struct path_segment *segment, const struct json *at,
                  struct walk_frame *frame)
{
    if (segment)
        return segment->descendant ? select_descendants(w, segment, at, frame)
                                   : select_all(w, segment, at, frame);
    if (w->keep && !keep(w, at, frame))
        return false;
    w->last = at;
    return ++w->count < w->most;
}

/* ---- queries ---- */

static const struct json *query_start(const struct path_run *run, const struct path_query *query,
                                      const struct json *current)
{
    return query->relative ? current : run->root;
}

const struct json *path_single(struct path_run *run, const struct path_query *query,
                               const struct json *current)
{
    const struct json *at = query_start(run, query, current);

    assert(query->singular);
    for (const struct path_segment *segment = query->segments; segment; segment = segment->next) {
        const struct path_selector *s = segment->selectors;
        uint32_t index;
        if (s->kind == SELECT_NAME) {
            const struct json_member *member = member_find(run, s, at);
            at = member ? &member->value : NULL;
        } else {
            at = element_find(s, at, &index) ? &at->items[index] : NULL;
        }
        if (!at || !path_spend(run, 1))
            return NULL;
    }
    return at;
}

uint64_t path_count(struct path_run *run, const struct path_query *query,
                    const struct json *current, uint64_t most, const struct json **last)
{
    struct walk w = { .run = run, .most = most };
    struct walk_frame root = { 0 };

    visit(&w, query->segments, query_start(run, query, current), &root);
    *last = w.last;
    return w.count;
}

err json_path_run(struct arena *a, const struct json_path *path, const struct json *doc,
                  struct json_matches *out)
{
    return json_path_run_most(a, path, doc, SIZE_MAX, out);
}

err json_path_run_most(struct arena *a, const struct json_path *path, const struct json *doc,
                       size_t most, struct json_matches *out)
{
    struct path_run run = { .arena = a, .root = doc, .steps_left = JSON_PATH_STEPS_MAX };
    struct walk w = { .run = &run, .keep = out, .keep_max = most, .most = UINT64_MAX };
    struct walk_frame root = { 0 };

    *out = (struct json_matches){ 0 };
    visit(&w, path->query.segments, doc, &root);
    if (run.pattern.regex)
        regex_free(run.pattern.regex);
    return run.error;
}

/* ---- locations ---- */

static void print_name(struct buf *out, str name)
{
    static const char codes[] = "btnfr'\\", bytes[] = "\b\t\n\f\r'\\";

    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        const char *special = c ? strchr(bytes, c) : NULL;
        if (special)
            buf_add(out, (str){ (char[]){ '\\', codes[special - bytes] }, 2 });
        else if ((unsigned char)c < 0x20)
            buf_printf(out, "\\u%04x", (unsigned)c);
        else
            buf_byte(out, c);
    }
}

void json_path_print(struct buf *out, const struct json_path_location *location)
{
    if (!location->parent) {
        buf_byte(out, '$');
        return;
    }
    json_path_print(out, location->parent);
    if (location->named) {
        buf_add(out, STR("['"));
        print_name(out, location->name);
        buf_add(out, STR("']"));
    } else {
        buf_printf(out, "[%u]", (unsigned)location->index);
    }
}

size_t json_path_pointer_size(const struct json_path_location *location)
{
    size_t size = 0;

    for (; location->parent; location = location->parent)
        size += 1 + (location->named ? location->name.len : 1);
    return size;
}

void json_path_print_pointer(struct buf *out, const struct json_path_location *location)
{
    if (!location->parent)
        return;
    json_path_print_pointer(out, location->parent);
    if (location->named)
        json_pointer_add(out, location->name);
    else
        json_pointer_add_index(out, location->index);
}
