/* state_history.c: older versions of a state.
 *
 * The history is a chain of log rows, from the newest back. Some rows hold a
 * whole body; a segment is one of those and the rows after it up to the next. Of
 * what was compacted only single bodies are left, each a segment of its own. */
#include "core/retain.h"
#include "core/state.h"
#include "core/stored.h"
#include "json/diff.h"
#include "json/patch.h"

enum { HISTORY_BYTES_MAX = 4 << 20 }; /* of the rows of one page, beside the first */

/* How much of a row is read: event_get and its kin. */
typedef err row_get(struct tx *tx, int64_t seq, const struct event **out);

static err row_of(struct tx *tx, const struct state *s, int64_t seq, row_get *get,
                  const struct event **out)
{
    *out = NULL;
    if (seq)
        TRY(get(tx, seq, out));
    if (*out && (!str_eq((*out)->subject, s->id) || (*out)->version < 1))
        return stored_damage(tx, THING("state", s->id), "its history leads to what is not of it");
    return NULL;
}

static err row_needed(struct tx *tx, const struct state *s, int64_t seq, row_get *get,
                      const struct event **out)
{
    TRY(row_of(tx, s, seq, get, out));
    return *out ? NULL
                : stored_damage(tx, THING("state", s->id), "a version of its history is missing");
}

static err row_before(struct tx *tx, const struct state *s, const struct event *row, row_get *get,
                      const struct event **out)
{
    if (row->prev_seq >= row->seq)
        return stored_damage(tx, THING("state", s->id), "its history goes in a circle");
    int64_t version = row->version;
    TRY(row_of(tx, s, row->prev_seq, get, out));
    if (*out && (*out)->version >= version)
        return stored_damage(tx, THING("state", s->id), "the versions of its history do not grow");
    return NULL;
}

err state_row(struct tx *tx, const struct state *s, int64_t seq, const struct event **out)
{
    return row_needed(tx, s, seq, event_get, out);
}

err state_row_before(struct tx *tx, const struct state *s, const struct event *row,
                     const struct event **out)
{
    return row_before(tx, s, row, event_get, out);
}

err state_row_head_before(struct tx *tx, const struct state *s, const struct event *row,
                          const struct event **out)
{
    return row ? row_before(tx, s, row, event_get_head, out)
               : row_needed(tx, s, s->last_seq, event_get_head, out);
}

struct segment {
    const struct event *body; /* NULL: there is none that early */
    const struct event *last; /* its newest row; the body itself when it is alone */
    int64_t whole_from;       /* from this version on, all are there */
};

static err segment_load(struct tx *tx, const struct state *s, const struct event *body,
                        const struct event *last, struct segment *out)
{
    TRY(event_get(tx, body->seq, &out->body));
    if (!out->body || !out->body->body.len)
        return stored_damage(tx, THING("state", s->id),
                             "a whole document of its history is missing");
    out->last = out->body;
    return last == body ? NULL : row_needed(tx, s, last->seq, event_get_change, &out->last);
}

/* The segment whose body is the newest one up to a version. From the newest row one goes back from
 * body to body, so however long the history is, few rows are read; and of those on the way, which may
 * all be as large as the document, no more than where they lead. */
static err segment_find(struct tx *tx, const struct state *s, int64_t version, struct segment *out)
{
    const struct event *row;

    *out = (struct segment){ .body = NULL };
    TRY(row_needed(tx, s, s->last_seq, event_get_head, &row));
    while (row) {
        const struct event *body = row;
        if (row->snap_seq != row->seq)
            TRY(row_needed(tx, s, row->snap_seq, event_get_head, &body));
        if (body->seq > row->seq || body->version > row->version)
            return stored_damage(tx, THING("state", s->id),
                                 "a whole document of its history is missing");
        if (body->version <= version)
            return segment_load(tx, s, body, row, out);
        TRY(row_before(tx, s, body, event_get_head, &row));
        bool gap = !row || row->version != body->version - 1;
        if (gap && !out->whole_from)
            out->whole_from = body->version;
    }
    return NULL;
}

static err gone(struct tx *tx, const struct state *s, int64_t version, int64_t whole_from)
{
    const struct retention *r = tx->retention ? tx->retention : &retention_default;

    return err_new(tx->arena, ERR_GONE,
                   "version %lld of state " STR_FMT " is not kept any more: there are those from "
                   "%lld on, and of the older ones each %lldth",
                   (long long)version, STR_ARG(s->id), (long long)whole_from,
                   (long long)r->versions_step);
}

err state_step(struct tx *tx, const struct state *s, const struct event *row, struct json *doc)
{
    static const struct json_patch_limits unlimited = { .operations_max = UINT32_MAX,
                                                        .copy_bytes_max = SIZE_MAX,
                                                        .work_max = UINT64_MAX };
    const struct json *patch;

    TRY(stored_parse(tx, THING("state", s->id), row->data, &patch));
    if (json_patch(tx->arena, doc, patch, &unlimited))
        return stored_damage(tx, THING("state", s->id),
                             "a change of its history does not fit what it changes");
    return NULL;
}

/* Brings a segment's body up to a version by the patches of its rows. */
static err segment_replay(struct tx *tx, const struct state *s, const struct segment *g,
                          int64_t version, struct json *doc)
{
    size_t count = (size_t)(version - g->body->version);
    const struct event **rows = ARENA_ARRAY(tx->arena, const struct event *, count);
    const struct event *row = g->last;

    memset(rows, 0, count * sizeof *rows);
    while (row && row->version > g->body->version) {
        if (row->version <= version)
            rows[row->version - g->body->version - 1] = row;
        TRY(row_before(tx, s, row, event_get_change, &row));
    }
    for (size_t i = 0; i < count; i++) {
        if (!rows[i])
            return stored_damage(tx, THING("state", s->id), "a version of its history is missing");
        TRY(state_step(tx, s, rows[i], doc));
    }
    return NULL;
}

err state_at(struct tx *tx, const struct state *state, int64_t version, struct json *out)
{
    bool current = version == state->version;
    const struct json *parsed;
    struct segment g;

    if (version < 1 || version > state->version)
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "state " STR_FMT " has no version %lld: its newest is %lld",
                       STR_ARG(state->id), (long long)version, (long long)state->version);
    if (!current) {
        TRY(segment_find(tx, state, version, &g));
        if (!g.body || g.last->version < version)
            return gone(tx, state, version, g.whole_from);
    }
    TRY(stored_parse(tx, THING("state", state->id), current ? state->body : g.body->body, &parsed));
    *out = *parsed;
    return current ? NULL : segment_replay(tx, state, &g, version, out);
}

err state_diff(struct tx *tx, const struct state *state, int64_t from, int64_t to,
               struct json *patch)
{
    struct json old, new;

    TRY(state_at(tx, state, from, &old));
    TRY(state_at(tx, state, to, &new));
    *patch = json_diff(tx->arena, &old, &new, 0, NULL);
    return NULL;
}

err state_history(struct tx *tx, const struct state *state, int64_t before, int64_t limit,
                  const struct event **out, size_t *count, bool *cut)
{
    struct event *rows = ARENA_ARRAY(tx->arena, struct event, (size_t)limit);
    size_t bytes = 0;
    const struct event *row;
    struct segment g;

    *count = 0;
    *cut = false;
    TRY(segment_find(tx, state, before ? before - 1 : state->version, &g));
    row = g.body ? g.last : NULL;
    while (row && (int64_t)*count < limit && !*cut) {
        if (!before || row->version < before) {
            bytes += row->data.len ? row->data.len : row->body.len;
            *cut = *count > 0 && bytes > HISTORY_BYTES_MAX;
            rows[(*count)++] = *row;
        }
        TRY(row_before(tx, state, row, event_get_change, &row));
    }
    *out = rows;
    return NULL;
}
