/* event.c: the log of everything that happened. */
#include "core/event.h"

#include <assert.h>

#include "core/columns.h"
#include "core/stored.h"

static const char *const names[EVENT_TYPE_COUNT] = {
#define EVENT_NAME(id, name) name,
    EVENT_TYPES(EVENT_NAME)
#undef EVENT_NAME
};

const char *event_name(enum event_type type)
{
    assert(type < EVENT_TYPE_COUNT);
    return names[type];
}

bool event_type_find(str name, enum event_type *out)
{
    for (int i = 0; i < EVENT_TYPE_COUNT; i++) {
        if (str_eq(name, str_from(names[i]))) {
            *out = i;
            return true;
        }
    }
    return false;
}

err event_emit(struct tx *tx, struct event event, struct event **out)
{
    struct event *e = arena_alloc(tx->arena, sizeof *e);

    *e = event;
    e->seq = ++*tx->seq;
    e->time_ms = tx->now_ms;
    e->actor = tx->actor->name;
    e->session_id = tx->actor->session_id;
    e->cause = tx->cause;
    e->next = NULL;
    e->type_name = str_from(event_name(e->type));
    /* Numbers have no gaps, a cause comes before what it leads to, and all of it is of something. */
    assert(!tx->last || tx->last->seq == e->seq - 1);
    assert(e->cause < e->seq && e->subject.len > 0);
    if (e->body.len)
        e->snap_seq = e->seq;
    TRY(sql_exec(tx->sql, INSERT_INTO(log, LOG_COLUMNS), ARGS(VALUES(LOG_COLUMNS, e))));
    if (tx->last)
        tx->last->next = e;
    else
        tx->first = e;
    tx->last = e;
    if (out)
        *out = e;
    return NULL;
}

struct json_writer *event_begin(struct tx *tx, struct event_writer *data)
{
    data->text = buf_in(tx->arena);
    data->json = json_writer_to(&data->text);
    json_write_begin(&data->json, '{');
    return &data->json;
}

err event_end(struct tx *tx, struct event_writer *data, struct event event, struct event **out)
{
    assert(!event.data.len && data->json.depth == 1);
    json_write_end(&data->json, '}');
    event.data = buf_str(&data->text);
    return event_emit(tx, event, out);
}

/* "17 of wfstate_2" */
static struct stored event_named(struct tx *tx, int64_t seq, str subject)
{
    return THING("event",
                 arena_printf(tx->arena, "%lld of " STR_FMT, (long long)seq, STR_ARG(subject)));
}

err event_parsed(struct tx *tx, const struct event *e, const struct json **out)
{
    return stored_parse(tx, event_named(tx, e->seq, e->subject), e->data, out);
}

static err event_missing(struct tx *tx, int64_t seq)
{
    return stored_damage(tx, THING("event", arena_printf(tx->arena, "%lld", (long long)seq)),
                         "it is not in the log");
}

static err event_read(struct tx *tx, const struct row *r, struct event *out)
{
    *out = (struct event){ .seq = 0 };
    if (r->count == COLUMNS_COUNT(LOG_HEAD))
        COLUMNS_READ(LOG_HEAD, tx, r, "event", out);
    else
        COLUMNS_READ(LOG_COLUMNS, tx, r, "event", out);
    if (!event_type_find(out->type_name, &out->type))
        return stored_damage(tx, event_named(tx, out->seq, out->subject),
                             "it is of a kind that there is not");
    out->type_name = str_from(names[out->type]); /* it outlives the row */
    return NULL;
}

/* For those who pass it on as it is: what is there of it. */
static err event_whole(struct tx *tx, const struct event *e)
{
    struct stored of = event_named(tx, e->seq, e->subject);
    bool whole = (!e->data.len || stored_is_json(tx, of, e->data)) &&
                 (!e->body.len || stored_is_json(tx, of, e->body));

    return whole ? NULL : tx->damage;
}

/* NULL: there is no row. */
static err event_made(struct tx *tx, const struct row *row, const struct event **out)
{
    struct event *e = row ? arena_alloc(tx->arena, sizeof *e) : NULL;

    *out = e;
    return row ? event_read(tx, row, e) : NULL;
}

err event_get(struct tx *tx, int64_t seq, const struct event **out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT " LOG_NAMES " FROM log WHERE seq = $1", ARGS(INT(seq))));
    return event_made(tx, row, out);
}

err event_get_head(struct tx *tx, int64_t seq, const struct event **out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT " LOG_HEAD_NAMES " FROM log WHERE seq = $1",
                ARGS(INT(seq))));
    return event_made(tx, row, out);
}

/* Those of LOG_COLUMNS, with a body only where no data tells what happened. */
#define CHANGE_COLUMNS LOG_HEAD_NAMES ", data, CASE WHEN data = '' THEN body END AS body"

err event_get_change(struct tx *tx, int64_t seq, const struct event **out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT " CHANGE_COLUMNS " FROM log WHERE seq = $1",
                ARGS(INT(seq))));
    return event_made(tx, row, out);
}

/* ---- listing: numbers first, then their rows ---- */

enum {
    SCAN_MAX = 10000,         /* rows of the log that one call looks at */
    SCAN_PAGE = 1000,         /* and at once */
    CHAIN_MAX = 100000,       /* rows of a subject's chain */
    PAGE_BYTES_MAX = 4 << 20, /* of what they hold, in one answer; one event may be more */
};

_Static_assert(EVENT_TYPE_COUNT <= 64, "a query has a bit for each type");

static bool type_fits(const struct event_query *q, str name)
{
    enum event_type type;

    /* One that is not known is looked at, and then told of. */
    return !q->types || !event_type_find(name, &type) || q->types >> type & 1;
}

/* Where one call stops to look. */
static int64_t scan_end(const struct tx *tx, const struct event_query *q)
{
    return *tx->seq - q->after > SCAN_MAX ? q->after + SCAN_MAX : *tx->seq;
}

/* Reads on in the log for those that are asked for, whoever's events stand between. */
static err seqs_scan(struct tx *tx, const struct event_query *q, int64_t *seqs,
                     struct event_page *out)
{
    int64_t end = scan_end(tx, q);

    while (out->next < end && out->count < (size_t)q->limit) {
        const struct row *rows;
        size_t count;
        TRY(sql_all(tx->sql, &rows, &count,
                    "SELECT seq, type, subject FROM log WHERE seq > $1 AND seq <= $2"
                    " ORDER BY seq LIMIT $3",
                    ARGS(INT(out->next), INT(end), INT(SCAN_PAGE))));
        for (size_t i = 0; i < count && out->count < (size_t)q->limit; i++) {
            out->next = row_int(&rows[i], 0);
            if ((!q->subject.len || str_eq(row_str(&rows[i], 2), q->subject)) &&
                type_fits(q, row_str(&rows[i], 1)))
                seqs[out->count++] = out->next;
        }
        if (count == 0)
            out->next = end;
    }
    return NULL;
}

/* Follows a subject's events from its newest back to `after`. False when the chain is too long to
 * be walked at once. */
static err seqs_chain(struct tx *tx, const struct event_query *q, int64_t *seqs,
                      struct event_page *out, bool *whole)
{
    int64_t *found = NULL, seq = q->last_seq;
    size_t count = 0, room = 0, hops = 0;

    for (; seq > q->after && hops < CHAIN_MAX; hops++) {
        const struct row *row;
        TRY(sql_one(tx->sql, &row, "SELECT type, prev_seq FROM log WHERE seq = $1",
                    ARGS(INT(seq))));
        if (!row || row_int(row, 1) >= seq)
            return event_missing(tx, row ? row_int(row, 1) : seq);
        if (count == room) {
            found =
                arena_grow(tx->arena, found, room * sizeof *found, (room * 2 + 64) * sizeof *found);
            room = room * 2 + 64;
        }
        if (type_fits(q, row_str(row, 0)))
            found[count++] = seq;
        seq = row_int(row, 1);
    }
    *whole = seq <= q->after;
    if (!*whole)
        return NULL;
    out->count = count > (size_t)q->limit ? (size_t)q->limit : count;
    for (size_t i = 0; i < out->count; i++)
        seqs[i] = found[count - 1 - i];
    if (count > out->count)
        out->next = seqs[out->count - 1];
    else if (*tx->seq > q->after)
        out->next = *tx->seq;
    return NULL;
}

static err below_floor(struct tx *tx, int64_t after, int64_t floor)
{
    err e = err_new(tx->arena, ERR_GONE,
                    "the log was cut: of the events after %lld the oldest that is left is %lld; "
                    "read what you need anew and go on from there",
                    (long long)after, (long long)floor);
    return err_with(tx->arena, e, arena_printf(tx->arena, "\"oldest\":%lld", (long long)floor));
}

err event_floor(struct tx *tx, int64_t *floor)
{
    const struct row *row;
    struct replay replay;

    TRY(sql_one(tx->sql, &row, "SELECT " REPLAY_NAMES " FROM replay WHERE replay_id = 1", NO_ARGS));
    if (!row)
        return err_damage(tx->arena, "the store does not say where its log begins: have the "
                                     "operator run 'baton store check'");
    COLUMNS_READ(REPLAY_COLUMNS, tx, row, "replay", (&replay));
    *floor = replay.floor;
    return NULL;
}

/* The rows of the numbers that were found, as far as they fit into one answer. */
static err page_load(struct tx *tx, const int64_t *seqs, struct event_page *out)
{
    struct event *events = ARENA_ARRAY(tx->arena, struct event, out->count);
    size_t bytes = 0;

    for (size_t i = 0; i < out->count; i++) {
        const struct event *row;
        TRY(event_get_change(tx, seqs[i], &row));
        if (!row)
            return event_missing(tx, seqs[i]);
        TRY(event_whole(tx, row));
        bytes += row->data.len + row->body.len;
        if (i > 0 && bytes > PAGE_BYTES_MAX) {
            out->count = i;
            out->next = seqs[i - 1];
        } else {
            events[i] = *row;
        }
    }
    out->events = events;
    return NULL;
}

/* All that follow a number, by one statement, since whoever follows the log asks for nothing else.
 * Bodies are left out where the data tells what happened. Numbers have no gaps, so the rows are
 * known before they are read; how many of them fit into one answer is not. */
static err page_of_all(struct tx *tx, const struct event_query *q, struct event_page *out)
{
    int64_t end = scan_end(tx, q);
    const struct row *rows;

    if (end <= q->after)
        return NULL;
    if (end - q->after > q->limit)
        end = q->after + q->limit;
    TRY(sql_all(tx->sql, &rows, &out->count,
                "SELECT " LOG_NAMES " FROM"
                " (SELECT " CHANGE_COLUMNS ","
                "   sum(length(data) + CASE WHEN data = '' AND body IS NOT NULL THEN length(body)"
                "     ELSE 0 END) OVER (ORDER BY seq) AS total"
                "   FROM log WHERE seq > $1 AND seq <= $2) AS page"
                " WHERE total <= $3 OR seq = $4 ORDER BY seq",
                ARGS(INT(q->after), INT(end), INT(PAGE_BYTES_MAX), INT(q->after + 1))));
    struct event *events = ARENA_ARRAY(tx->arena, struct event, out->count);
    for (size_t i = 0; i < out->count; i++) {
        TRY(event_read(tx, &rows[i], &events[i]));
        if (events[i].seq != q->after + 1 + (int64_t)i)
            return event_missing(tx, q->after + 1 + (int64_t)i);
        TRY(event_whole(tx, &events[i]));
    }
    if (!out->count)
        return event_missing(tx, q->after + 1);
    out->next = events[out->count - 1].seq;
    out->events = events;
    return NULL;
}

err event_list(struct tx *tx, const struct event_query *q, struct event_page *out)
{
    int64_t *seqs = ARENA_ARRAY(tx->arena, int64_t, (size_t)q->limit);
    bool found = false;

    assert(q->after >= 0 && q->limit > 0);
    *out = (struct event_page){ .next = q->after };
    TRY(event_floor(tx, &out->oldest));
    if (q->after < out->oldest - 1)
        return below_floor(tx, q->after, out->oldest);
    if (!q->subject.len && !q->types)
        return page_of_all(tx, q, out);
    if (q->last_seq)
        TRY(seqs_chain(tx, q, seqs, out, &found));
    if (!found)
        TRY(seqs_scan(tx, q, seqs, out));
    assert(out->count <= (size_t)q->limit && out->next >= q->after);
    return page_load(tx, seqs, out);
}
