/* run_queue.c: who gets which run.
 *
 * A runner that takes all directories goes from key to key in the order without them, of
 * those that name no host and of those that name its own; there are few of them, however
 * many directories there are. A runner with a directory goes through those at and below it.
 * Either looks at the first run of each key, and never through those behind it. */
#include <assert.h>

#include "core/run_private.h"
#include "core/stored.h"
#include "core/token.h"

enum {
    KEYS_MAX = 16, /* that are looked at in one step */
    HELD_MAX = 1000,
};

/* ---- what a runner has ---- */

static bool known_has(const struct json *known, str id)
{
    for (uint32_t i = 0; known && i < known->len; i++)
        if (str_eq(json_text(&known->items[i]), id))
            return true;
    return false;
}

/* Those that are running may be many, and are only counted, in the index. There is one row in any
 * case. */
err run_held_by(struct tx *tx, const struct runner *r, const struct json *known,
                struct run_held *out)
{
    const struct row *rows;
    size_t count;

    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT count(*), '', '' FROM run WHERE runner_id = $1 AND runner_id <> ''"
                " AND live = 1 AND status <> 'pending'"
                " UNION ALL"
                " SELECT 0, run_id, status FROM run WHERE runner_id = $1 AND runner_id <> ''"
                " AND live = 1 AND status <> 'pending' AND status <> 'running' LIMIT $2",
                ARGS(TEXT(r->id), INT(HELD_MAX))));
    assert(count > 0);
    str *stop = ARENA_ARRAY(tx->arena, str, count);
    *out = (struct run_held){ .stop = stop };
    for (size_t i = 0; i < count; i++) {
        str id = row_str(&rows[i], 1), status = row_str(&rows[i], 2);
        out->count += row_int(&rows[i], 0);
        if (!id.len || known_has(known, id))
            continue;
        if (str_eq(status, STR("stopping")))
            stop[out->stop_count++] = id;
        else if (!out->again.len)
            out->again = id;
    }
    return NULL;
}

/* ---- the way through the keys ---- */

static str position_key(str position)
{
    return str_slice(position, 0, position.len - RANK_CHARS);
}

static bool position_before(str a, str b)
{
    return str_compare(str_slice(a, a.len - RANK_CHARS, a.len),
                       str_slice(b, b.len - RANK_CHARS, b.len)) < 0;
}

/* Positions from the first to before the second, and the outermost runs in between; empty: none. */
struct range {
    str from, to;
    str first, last;
};

enum { RANGES_MAX = 3 };

/* A runner on its way through the keys that may fit. */
struct scan {
    const struct runner *runner;
    struct range ranges[RANGES_MAX];
    int range_count;
    int64_t left;   /* keys that it may still look at */
    str last, best; /* the positions that it has come to, and that it takes; empty: none */
};

/* Keys that begin with a text and then one byte: a comma, say. */
static void range_add(struct tx *tx, struct scan *s, str text, char then)
{
    assert(s->range_count < RANGES_MAX);
    s->ranges[s->range_count++] = (struct range){
        .from = arena_printf(tx->arena, STR_FMT "%c", STR_ARG(text), then),
        .to = arena_printf(tx->arena, STR_FMT "%c", STR_ARG(text), then + 1),
    };
}

static str json_text_of(struct tx *tx, str text)
{
    struct buf out = buf_in(tx->arena);

    json_print_string(&out, text);
    return buf_str(&out);
}

/* Those that name no host, and those that name the runner's own. */
static void ranges_of_host(struct tx *tx, struct scan *s)
{
    str host = json_text_of(tx, s->runner->hostname);

    range_add(tx, s, STR("[\"\",\"\""), ',');
    if (s->runner->hostname.len)
        range_add(tx, s, arena_printf(tx->arena, "[\"\"," STR_FMT, STR_ARG(host)), ',');
}

static str dir_trimmed(str dir)
{
    while (dir.len && dir.at[dir.len - 1] == '/')
        dir.len--;
    return dir;
}

/* Those without a directory, those with the runner's own, and those below that. */
static void ranges_of_dir(struct tx *tx, struct scan *s)
{
    str dir = dir_trimmed(s->runner->project_dir);
    str text = arena_printf(tx->arena, "[" STR_FMT, STR_ARG(json_text_of(tx, dir)));

    range_add(tx, s, STR("[\"\""), ',');
    if (dir.len)
        range_add(tx, s, text, ',');
    range_add(tx, s, str_slice(text, 0, text.len - 1), '/');
}

/* The outermost runs of all ranges: where there is none, or all ask for the same, that is all to know
 * of it, and a queue is nearly always like that. */
#define ENDS(position, from, to)                                                                 \
    "(SELECT " position " FROM run WHERE queued = 1 AND " position " >= " from " AND " position  \
    " < " to " ORDER BY " position " LIMIT 1),"                                                  \
    " (SELECT " position " FROM run WHERE queued = 1 AND " position " >= " from " AND " position \
    " < " to " ORDER BY " position " DESC LIMIT 1)"
#define ALL_ENDS(position)                                                                         \
    "SELECT " ENDS(position, "$1", "$2") ", " ENDS(position, "$3", "$4") ", " ENDS(position, "$5", \
                                                                                   "$6")

static err ranges_probe(struct tx *tx, struct scan *s)
{
    const struct range *r = s->ranges;
    struct sql_args args = ARGS(TEXT(r[0].from), TEXT(r[0].to), TEXT(r[1].from), TEXT(r[1].to),
                                TEXT(r[2].from), TEXT(r[2].to));
    const struct row *row;

    if (s->runner->project_dir.len)
        TRY(sql_one(tx->sql, &row, ALL_ENDS("queue_position_in_dir"), args));
    else
        TRY(sql_one(tx->sql, &row, ALL_ENDS("queue_position"), args));
    assert(row);
    for (int i = 0; i < s->range_count; i++) {
        s->ranges[i].first = row_str(row, 2 * i);
        s->ranges[i].last = row_str(row, 2 * i + 1);
    }
    return NULL;
}

/* From the first position of a key to the first of the next: all digits come before "~". All of it is
 * in the index: no run is read. */
#define HEADS(position)                                                                         \
    "WITH RECURSIVE head (position) AS ("                                                       \
    " SELECT (SELECT run." position " FROM run WHERE run.queued = 1 AND run." position " >= $1" \
    "          AND run." position " < $2 ORDER BY run." position " LIMIT 1)"                    \
    " UNION ALL"                                                                                \
    " SELECT (SELECT run." position " FROM run WHERE run.queued = 1 AND run." position " >"     \
    "           substr(head.position, 1, length(head.position) - 20) || '~'"                    \
    "          AND run." position " < $2 ORDER BY run." position " LIMIT 1)"                    \
    "   FROM head WHERE head.position IS NOT NULL)"                                             \
    " SELECT head.position FROM head WHERE head.position IS NOT NULL LIMIT $3"

_Static_assert(RANK_CHARS == 20, "the statement above cuts off the rank");

static void scan_head(struct tx *tx, struct scan *s, str head)
{
    struct demand demand;

    s->left--;
    s->last = head;
    if (s->best.len && !position_before(head, s->best))
        return;
    demand_read(tx->arena, position_key(head), &demand);
    if (demand_fits(tx->arena, &demand, s->runner))
        s->best = head;
}

/* The heads of a range's keys, from a position to before another. */
static err scan_range(struct tx *tx, struct scan *s, const struct range *r, str from, str to)
{
    const struct row *rows;
    size_t count;
    struct sql_args args = ARGS(TEXT(from), TEXT(to), INT(s->left));

    if (s->left == 0 || !r->first.len)
        return NULL;
    if (str_eq(position_key(r->first), position_key(r->last))) {
        if (str_compare(r->first, from) >= 0 && str_compare(r->first, to) < 0)
            scan_head(tx, s, r->first);
        return NULL;
    }
    if (s->runner->project_dir.len)
        TRY(sql_all(tx->sql, &rows, &count, HEADS("queue_position_in_dir"), args));
    else
        TRY(sql_all(tx->sql, &rows, &count, HEADS("queue_position"), args));
    for (size_t i = 0; i < count; i++)
        scan_head(tx, s, row_str(&rows[i], 0));
    return NULL;
}

/* The range that a position is in; −1: none. */
static int range_of(const struct scan *s, str position)
{
    for (int i = 0; i < s->range_count; i++)
        if (str_compare(position, s->ranges[i].from) >= 0 &&
            str_compare(position, s->ranges[i].to) < 0)
            return i;
    return -1;
}

/* Begins where the last claim came to, and goes once around. */
static err scan_all(struct tx *tx, struct scan *s)
{
    int at = range_of(s, s->runner->claim_cursor), count = s->range_count;
    const struct range *r = s->ranges, *begun = at < 0 ? NULL : &r[at];

    TRY(ranges_probe(tx, s));
    if (begun)
        TRY(scan_range(tx, s, begun, s->runner->claim_cursor, begun->to));
    for (int i = at + 1; i < at + (begun ? count : count + 1); i++)
        TRY(scan_range(tx, s, &r[i % count], r[i % count].from, r[i % count].to));
    return begun ? scan_range(tx, s, begun, begun->from, s->runner->claim_cursor) : NULL;
}

static err run_at(struct tx *tx, bool in_dir, str position, str *run_id)
{
    const struct row *row;

    if (in_dir)
        TRY(sql_one(tx->sql, &row,
                    "SELECT run_id FROM run WHERE queued = 1 AND queue_position_in_dir = $1",
                    ARGS(TEXT(position))));
    else
        TRY(sql_one(tx->sql, &row,
                    "SELECT run_id FROM run WHERE queued = 1 AND queue_position = $1",
                    ARGS(TEXT(position))));
    assert(row);
    *run_id = row_str(row, 0);
    return NULL;
}

/* Whether one position comes before another on the way through the ranges. A position in none of them is
 * the beginning. */
static bool is_before(const struct scan *s, str a, str b)
{
    int x = range_of(s, a), y = range_of(s, b);

    return x != y ? x < y : x >= 0 && str_compare(a, b) < 0;
}

/* Whether the way from one position to another, around the end if need be, comes by a third. */
static bool comes_by(const struct scan *s, str from, str to, str by)
{
    bool behind = is_before(s, from, by), reached = !is_before(s, to, by);

    return is_before(s, from, to) ? behind && reached : behind || reached;
}

/* The run that is next for a runner; empty: none is. Whoever could not look at all keys goes on
 * behind the last one of them the next time, so that each gets its turn. */
static err next_find(struct tx *tx, struct runner *r, struct run_tour *tour, str *run_id)
{
    struct scan s = { .runner = r, .left = KEYS_MAX };
    str from = r->claim_cursor;

    if (r->project_dir.len)
        ranges_of_dir(tx, &s);
    else
        ranges_of_host(tx, &s);
    TRY(scan_all(tx, &s));
    assert(s.left >= 0 && s.left <= KEYS_MAX);
    r->claim_cursor = STR("");
    if (s.left == 0)
        r->claim_cursor = arena_printf(tx->arena, STR_FMT "~", STR_ARG(position_key(s.last)));
    tour->over = s.left > 0 || comes_by(&s, from, r->claim_cursor, tour->began);
    return s.best.len ? run_at(tx, r->project_dir.len, s.best, run_id) : NULL;
}

/* ---- claims ---- */

/* The session's token for this run: it reaches what the session does, and ends with the run. */
static err token_mint(struct tx *tx, const struct session *s, struct run *r, str *text)
{
    struct json scope = json_object();
    const struct json *pointers;
    struct token token;

    json_put(tx->arena, &scope, STR("session_id"), json_string(s->id));
    json_put(tx->arena, &scope, STR("run_id"), json_string(r->id));
    if (s->state_id.len)
        json_put(tx->arena, &scope, STR("state_id"), json_string(s->state_id));
    if (s->pointers.len) {
        TRY(stored_parse(tx, THING("session", s->id), s->pointers, &pointers));
        json_put(tx->arena, &scope, STR("pointers"), *pointers);
    }
    TRY(token_create(tx, ACTOR_SESSION, s->name, &scope, 0, &token, text));
    r->token_id = token.id;
    return NULL;
}

/* What a session is asked for anew it has not recorded; but hearing of its children, or having lost
 * its runner, is no new task. From the claim on, since it may write before its start is heard of. */
static err record_forget(struct tx *tx, struct session *s, const struct run *r)
{
    if (r->purpose != PURPOSE_WORK || r->attempt != 1 || !s->wrote_version || s->task.len)
        return NULL;
    s->wrote_version = 0;
    return session_store(tx, s);
}

static err session_give(struct tx *tx, struct run *r, str *token)
{
    struct session s;

    TRY(session_load(tx, r->session_id, &s));
    TRY(token_mint(tx, &s, r, token));
    TRY(record_forget(tx, &s, r));
    assert(r->token_id.len > 0 && token->len > r->token_id.len);
    return NULL;
}

/* Whoever held it before is out: the fence is higher, and the token another. */
static err run_take(struct tx *tx, const struct runner *by, struct run *r, str *token)
{
    int64_t fence = r->fence;

    if (r->token_id.len)
        TRY(token_revoke(tx, r->token_id));
    if (!run_is_command(r))
        TRY(session_give(tx, r, token));
    if (r->status != RUN_CLAIMED)
        run_become(r, RUN_CLAIMED);
    r->queued = false;
    r->runner_id = by->id;
    r->fence++;
    r->claimed_at_ms = tx->now_ms;
    r->started_at_ms = 0;
    r->lease_until_ms = tx->now_ms + team_rules_of(tx)->lease_ms;
    assert(r->fence > fence && r->lease_until_ms > tx->now_ms);
    TRY(run_store(tx, r));
    TRY(due_add(tx, r->lease_until_ms, DUE_RUN_LEASE, r->id, 0));
    return run_emit(tx, EVENT_RUN_CLAIMED, r, NULL);
}

err run_claim(struct tx *tx, struct runner *r, const struct run_held *held, struct run_tour *tour,
              struct run *out, str *token)
{
    str id = held->again;

    *out = (struct run){ .queued = false };
    *token = STR("");
    tour->over = true;
    if (!id.len && held->count < r->capacity)
        TRY(next_find(tx, r, tour, &id));
    if (!id.len)
        return NULL;
    TRY(run_load(tx, id, out));
    return run_take(tx, r, out, token);
}

static bool enqueued_fits(struct arena *a, const struct runner *r, const struct json *data)
{
    struct demand demand;

    demand_read(a, json_str(data, "demand"), &demand);
    return r->capacity > 0 && json_bool_or(data, "queued", false) && demand_fits(a, &demand, r);
}

/* A run that fits; or one of its own that is to stop, or has made room; or that it was removed. */
bool run_wakes(const struct runner *r, const struct event *e)
{
    const struct json *data;
    bool wakes = false;

    if (e->type == EVENT_RUNNER_LOST)
        return str_eq(e->subject, r->id);
    if (e->type != EVENT_RUN_ENQUEUED && e->type != EVENT_RUN_STOPPING &&
        e->type != EVENT_RUN_FINISHED)
        return false;
    /* Every end of a run is shown to all who wait, and concerns one of them. */
    if (e->type != EVENT_RUN_ENQUEUED && !str_contains(e->data, r->id))
        return false;
    struct arena *a = arena_new();
    if (!json_parse_own(a, e->data, &data))
        wakes = e->type == EVENT_RUN_ENQUEUED ? enqueued_fits(a, r, data)
                                              : str_eq(json_str(data, "runner_id"), r->id);
    arena_free(a);
    return wakes;
}
