/* blame.c: who wrote a part of a state last.
 *
 * Operations are undone in thought, the last one first. Only pointers are looked
 * at, never documents, with two exceptions: what "-" meant depends on how long
 * an array was, and whether a number in the `from` of a move was an index depends
 * on what it was an index of. Where that matters, the rows back to the nearest
 * whole body are replayed, which answers it for all of them at once. */
#include "core/blame.h"

#include <assert.h>

#include "core/stored.h"
#include "json/patch.h"
#include "json/pointer.h"

enum {
    MEMORY_MAX = 16 << 20,      /* that the versions may take which are walked through */
    POINTER_BYTES_MAX = 1 << 20 /* of the pointers of all parts together */
};

/* A pointer, and a bit for each token that is an index of an array. */
struct trail {
    str *tokens;
    size_t count;
    uint64_t indexes;
};

struct part {
    struct trail at;
    struct blame blame;
};

enum change_kind {
    CHANGE_TEST,
    CHANGE_ADD,
    CHANGE_REMOVE,
    CHANGE_REPLACE,
    CHANGE_MOVE,
    CHANGE_COPY
};

struct change {
    enum change_kind kind;
    struct json_pointer path, from;
    uint64_t from_indexes; /* once it is resolved */
};

/* A version: its row, and its patch when it was read. */
struct version {
    const struct event *row;
    const struct json *patch;
    struct change *changes;
    size_t count;
    bool resolved;
};

struct walk {
    struct tx *tx;
    struct part **open; /* parts whose writer is not known yet */
    size_t open_count;
    struct version *versions; /* read so far, the newest first */
    size_t read, room;
    const struct event *base; /* the row before those */
};

/* ---- reading versions ---- */

static enum change_kind kind_of(str name)
{
    static const char *const names[] = {
        [CHANGE_TEST] = "test",       [CHANGE_ADD] = "add",   [CHANGE_REMOVE] = "remove",
        [CHANGE_REPLACE] = "replace", [CHANGE_MOVE] = "move", [CHANGE_COPY] = "copy",
    };
    size_t kind = 0;

    while (kind + 1 < sizeof names / sizeof *names && !str_eq(name, str_from(names[kind])))
        kind++;
    return (enum change_kind)kind;
}

static err version_parse(struct walk *w, struct version *v)
{
    struct arena *a = w->tx->arena;

    if (v->patch)
        return NULL;
    struct stored of = THING("state", v->row->subject);
    TRY(stored_parse_as(w->tx, of, v->row->data, JSON_ARRAY, &v->patch));
    v->count = v->patch->len;
    v->changes = ARENA_ARRAY(a, struct change, v->count);
    for (size_t i = 0; i < v->count; i++) {
        const struct json *op = &v->patch->items[i];
        struct change *c = &v->changes[i];
        *c = (struct change){ .kind = kind_of(json_str(op, "op")) };
        if (c->kind == CHANGE_TEST)
            continue;
        bool from = c->kind == CHANGE_MOVE || c->kind == CHANGE_COPY;
        if (json_pointer_parse(a, json_str(op, "path"), &c->path) ||
            (from && json_pointer_parse(a, json_str(op, "from"), &c->from)))
            return stored_damage(w->tx, of, "a change of its history leads nowhere");
        if (c->kind == CHANGE_MOVE && str_eq(json_str(op, "from"), json_str(op, "path")))
            c->kind = CHANGE_TEST; /* to where it was: nothing changes */
    }
    return NULL;
}

/* Reads one row further back. `more` is false at the end of what is there; then `base` is the
 * oldest row, whose patch cannot be told apart from what came before it. */
static err version_read(struct walk *w, bool *more)
{
    const struct event *before = NULL;

    if (w->base->prev_seq)
        TRY(event_get_change(w->tx, w->base->prev_seq, &before));
    *more = before && before->version == w->base->version - 1;
    if (!*more)
        return NULL;
    if (w->read == w->room) {
        size_t room = w->room ? w->room * 2 : 64;
        w->versions = arena_grow(w->tx->arena, w->versions, w->room * sizeof *w->versions,
                                 room * sizeof *w->versions);
        w->room = room;
    }
    w->versions[w->read++] = (struct version){ .row = w->base };
    w->base = before;
    return NULL;
}

/* ---- resolving by replay ---- */

static uint64_t indexes_of(const struct json *doc, const struct json_pointer *p)
{
    uint64_t bits = 0;

    for (size_t i = 0; doc && i < p->count; i++) {
        bits |= (uint64_t)(doc->kind == JSON_ARRAY) << i;
        doc = json_pointer_step(doc, p->tokens[i]);
    }
    return bits;
}

static bool is_end(const struct json_pointer *p)
{
    return p->count > 0 && str_eq(p->tokens[p->count - 1], STR("-"));
}

/* What "-" was, in the document that has the element there. */
static void end_resolve(struct arena *a, const struct json *doc, struct json_pointer *p)
{
    for (size_t i = 0; doc && i + 1 < p->count; i++)
        doc = json_pointer_step(doc, p->tokens[i]);
    if (json_is(doc, JSON_ARRAY))
        p->tokens[p->count - 1] = arena_printf(a, "%u", (unsigned)doc->len - 1);
}

static err version_resolve(struct walk *w, struct version *v, struct json *doc)
{
    static const struct json_patch_limits unlimited = { .copy_bytes_max = SIZE_MAX,
                                                        .work_max = UINT64_MAX };

    TRY(version_parse(w, v));
    for (size_t i = 0; i < v->count; i++) {
        struct change *c = &v->changes[i];
        struct json one = { .kind = JSON_ARRAY, .len = 1, .items = &v->patch->items[i] };
        c->from_indexes = indexes_of(doc, &c->from);
        if (json_patch(w->tx->arena, doc, &one, &unlimited))
            return stored_damage(w->tx, THING("state", v->row->subject),
                                 "a change of its history does not fit what it changes");
        if (is_end(&c->path))
            end_resolve(w->tx->arena, doc, &c->path);
    }
    v->resolved = true;
    return NULL;
}

/* Resolves a version and all older ones back to the nearest body. */
static err resolve(struct walk *w, size_t at)
{
    const struct json *parsed;
    bool more = true;

    const struct event *whole;

    while (w->base->snap_seq != w->base->seq && more)
        TRY(version_read(w, &more));
    TRY(event_get(w->tx, w->base->seq, &whole));
    if (!whole || !whole->body.len) /* the oldest row of a history has one */
        return stored_damage(w->tx, THING("state", w->base->subject),
                             "a whole document of its history is missing");
    TRY(stored_parse(w->tx, THING("state", whole->subject), whole->body, &parsed));
    struct json doc = *parsed;
    for (size_t i = w->read; i-- > at;)
        TRY(version_resolve(w, &w->versions[i], &doc));
    return NULL;
}

/* Not memcpy: the pointer to the whole document has no tokens at all. */
static void tokens_copy(str *to, const str *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
}

/* ---- undoing one change, for one part; each says whether the change wrote the part ---- */

static size_t common(const struct trail *t, const struct json_pointer *p)
{
    size_t n = 0;

    while (n < t->count && n < p->count && str_eq(t->tokens[n], p->tokens[n]))
        n++;
    return n;
}

static bool is_index(const struct trail *t, size_t i)
{
    return i < t->count && t->indexes >> i & 1;
}

/* Elements from `first` on were moved by one: takes the trail back to where it was. */
static void unshift(struct arena *a, struct trail *t, size_t i, str first, int by)
{
    uint32_t index, from;

    if (json_pointer_index(t->tokens[i], &index) && json_pointer_index(first, &from) &&
        index >= from)
        t->tokens[i] = arena_printf(a, "%u", (unsigned)((int64_t)index + by));
}

static bool undo_replace(const struct trail *t, const struct json_pointer *path)
{
    size_t n = common(t, path);
    return n == path->count || n == t->count;
}

static bool undo_add(struct arena *a, struct trail *t, const struct json_pointer *path)
{
    size_t n = common(t, path);

    if (n == path->count || n == t->count)
        return true;
    if (n + 1 == path->count && is_index(t, n))
        unshift(a, t, n, path->tokens[n], -1);
    return false;
}

/* What has the path of the removed value now is another one. */
static bool undo_remove(struct arena *a, struct trail *t, const struct json_pointer *path)
{
    struct json_pointer around = { path->tokens, path->count ? path->count - 1 : 0 };
    size_t n = common(t, &around);

    if (path->count == 0 || n == t->count)
        return true;
    if (n == around.count && is_index(t, n))
        unshift(a, t, n, path->tokens[n], +1);
    return false;
}

static uint64_t bits_up(uint64_t bits, size_t by)
{
    return by < 64 ? bits << by : 0;
}

static uint64_t bits_down(uint64_t bits, size_t by)
{
    return by < 64 ? bits >> by : 0;
}

static bool undo_move(struct arena *a, struct trail *t, const struct change *c)
{
    size_t n = common(t, &c->path), rest = t->count - n;

    if (n < c->path.count)
        return undo_add(a, t, &c->path) || undo_remove(a, t, &c->from);
    str *tokens = ARENA_ARRAY(a, str, c->from.count + rest);
    tokens_copy(tokens, c->from.tokens, c->from.count);
    tokens_copy(tokens + c->from.count, t->tokens + n, rest);
    *t = (struct trail){ .tokens = tokens,
                         .count = c->from.count + rest,
                         .indexes = c->from_indexes |
                                    bits_up(bits_down(t->indexes, n), c->from.count) };
    return false;
}

static bool undo(struct arena *a, struct trail *t, const struct change *c)
{
    switch (c->kind) {
    case CHANGE_TEST: return false;
    case CHANGE_REPLACE: return undo_replace(t, &c->path);
    case CHANGE_REMOVE: return undo_remove(a, t, &c->path);
    case CHANGE_MOVE: return undo_move(a, t, c);
    case CHANGE_ADD:
    case CHANGE_COPY: return undo_add(a, t, &c->path);
    }
    return false;
}

/* Whether undoing it would need to know the document. */
static bool is_unclear(const struct trail *t, const struct change *c)
{
    bool puts = c->kind == CHANGE_ADD || c->kind == CHANGE_COPY || c->kind == CHANGE_MOVE;
    size_t n = puts ? common(t, &c->path) : 0;

    if (puts && is_end(&c->path) && n + 1 == c->path.count && is_index(t, n))
        return true;
    return c->kind == CHANGE_MOVE && n == c->path.count;
}

/* ---- the walk ---- */

static err change_undo(struct walk *w, size_t at, size_t i)
{
    for (size_t p = 0; p < w->open_count;) {
        struct part *part = w->open[p];
        if (!w->versions[at].resolved && is_unclear(&part->at, &w->versions[at].changes[i]))
            TRY(resolve(w, at));
        if (undo(w->tx->arena, &part->at, &w->versions[at].changes[i])) {
            part->blame.by = w->versions[at].row;
            w->open[p] = w->open[--w->open_count];
        } else {
            p++;
        }
    }
    return NULL;
}

/* What is further back than there is memory for is as if it were not kept. */
static err walk_back(struct walk *w)
{
    size_t most = w->tx->arena->bytes + MEMORY_MAX;
    bool more = true;

    for (size_t at = 0; w->open_count && w->tx->arena->bytes < most; at++) {
        if (at == w->read)
            TRY(version_read(w, &more));
        if (!more)
            break;
        TRY(version_parse(w, &w->versions[at]));
        for (size_t i = w->versions[at].count; i-- > 0;)
            TRY(change_undo(w, at, i));
    }
    for (size_t p = 0; p < w->open_count; p++) {
        if (w->base->version == 1)
            w->open[p]->blame.by = w->base;
        else
            w->open[p]->blame.before = w->base->version + 1;
    }
    return NULL;
}

static struct part part_of(struct arena *a, const struct json_pointer *base, uint64_t indexes,
                           str pointer)
{
    str *tokens = ARENA_ARRAY(a, str, base->count + 1); /* one more, for a child */

    tokens_copy(tokens, base->tokens, base->count);
    return (struct part){ .at = { tokens, base->count, indexes }, .blame = { .pointer = pointer } };
}

static struct part child_of(struct arena *a, const struct part *parent, const struct json *value,
                            uint32_t i)
{
    struct json_pointer base = { parent->at.tokens, parent->at.count };
    struct part child = part_of(a, &base, parent->at.indexes, STR(""));
    bool is_element = value->kind == JSON_ARRAY;
    struct buf pointer = buf_in(a);

    str token = is_element ? arena_printf(a, "%u", (unsigned)i) : json_name(&value->members[i]);
    child.at.indexes |= bits_up(is_element, base.count);
    child.at.tokens[child.at.count++] = token;
    buf_add(&pointer, parent->blame.pointer);
    json_pointer_add(&pointer, token);
    child.blame.pointer = buf_str(&pointer);
    return child;
}

/* The value and what is directly in it. */
static err parts_of(struct tx *tx, const struct json *doc, str pointer, struct part **out,
                    size_t *count, bool *cut)
{
    const struct json *value;
    struct json_pointer parsed;

    TRY(json_pointer_get(tx->arena, doc, pointer, &value));
    TRY(json_pointer_parse(tx->arena, pointer, &parsed));
    bool container = value->kind == JSON_ARRAY || value->kind == JSON_OBJECT;
    uint32_t children = container ? value->len : 0;
    size_t most = POINTER_BYTES_MAX / (pointer.len + 1); /* each repeats it */
    if (most > BLAME_PARTS_MAX)
        most = BLAME_PARTS_MAX;
    *cut = children > most;
    if (*cut)
        children = (uint32_t)most;
    *count = children + 1;
    *out = ARENA_ARRAY(tx->arena, struct part, *count);
    (*out)[0] = part_of(tx->arena, &parsed, indexes_of(doc, &parsed), pointer);
    for (uint32_t i = 0; i < children; i++)
        (*out)[i + 1] = child_of(tx->arena, &(*out)[0], value, i);
    return NULL;
}

err state_blame(struct tx *tx, const struct state *state, str pointer, const struct blame **out,
                size_t *count, bool *cut)
{
    struct walk w = { .tx = tx };
    const struct json *doc;
    struct part *parts;

    TRY(stored_parse(tx, THING("state", state->id), state->body, &doc));
    TRY(parts_of(tx, doc, pointer, &parts, count, cut));
    TRY(event_get_change(tx, state->last_seq, &w.base));
    if (!w.base)
        return stored_damage(tx, THING("state", state->id), "its newest version is not in the log");
    w.open_count = *count;
    w.open = ARENA_ARRAY(tx->arena, struct part *, *count);
    for (size_t i = 0; i < *count; i++)
        w.open[i] = &parts[i];
    TRY(walk_back(&w));

    struct blame *all = ARENA_ARRAY(tx->arena, struct blame, *count);
    for (size_t i = 0; i < *count; i++)
        all[i] = parts[i].blame;
    *out = all;
    return NULL;
}
