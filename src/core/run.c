/* run.c: turns of sessions: rows, how they come and how they end. */
#include "core/run.h"

#include <assert.h>
#include <math.h>

#include "core/agent.h"
#include "core/columns.h"
#include "core/run_private.h"
#include "core/stored.h"
#include "core/token.h"

enum { STOP_ALL_MAX = 1000 };

/* ---- rows ---- */

static void run_read(struct tx *tx, const struct row *row, struct run *out)
{
    *out = (struct run){ .queued = false };
    if (row->count == COLUMNS_COUNT(RUN_LISTED))
        COLUMNS_READ(RUN_LISTED, tx, row, "run", out);
    else
        COLUMNS_READ(RUN_COLUMNS, tx, row, "run", out);
}

/* What a command knows of runs: see session.c. */
struct run_known {
    struct run stored;
    struct run_known *next;
};

static struct run_known *known_find(const struct tx *tx, str id)
{
    struct run_known *k = tx->runs;

    while (k && !str_eq(k->stored.id, id))
        k = k->next;
    return k;
}

static void known_add(struct tx *tx, const struct run *r)
{
    struct run_known *k = ARENA_NEW(tx->arena, struct run_known);

    *k = (struct run_known){ *r, tx->runs };
    tx->runs = k;
}

err run_find(struct tx *tx, str id, struct run *out)
{
    const struct run_known *k = known_find(tx, id);
    const struct row *row;

    *out = k ? k->stored : (struct run){ .queued = false };
    if (k)
        return NULL;
    TRY(sql_one(tx->sql, &row, "SELECT " RUN_NAMES " FROM run WHERE run_id = $1", ARGS(TEXT(id))));
    if (row) {
        run_read(tx, row, out);
        known_add(tx, out);
    }
    return NULL;
}

err run_load(struct tx *tx, str id, struct run *out)
{
    TRY(run_find(tx, id, out));
    if (!out->id.len)
        return err_new(tx->arena, ERR_NOT_FOUND, "there is no run " STR_FMT, STR_ARG(id));
    return NULL;
}

err run_get(struct tx *tx, str id, struct run *out)
{
    struct session s;
    bool reached;

    TRY(run_load(tx, id, out));
    if (run_is_command(out)) {
        reached = tx->actor->kind != ACTOR_SESSION && !tx->actor->state_id.len;
    } else {
        TRY(session_load(tx, out->session_id, &s));
        TRY(session_in_reach(tx, &s, &reached));
    }
    if (!reached)
        return err_new(tx->arena, ERR_NOT_FOUND, "there is no run " STR_FMT, STR_ARG(id));
    return NULL;
}

bool run_is_command(const struct run *r)
{
    return r->purpose == PURPOSE_COMMAND;
}

err run_store(struct tx *tx, const struct run *r)
{
    struct run_known *k = known_find(tx, r->id);

    /* Whoever held it before stays out, whatever a rule has forgotten since it read the row. */
    assert(r->id.len > 0);
    assert(!k || (r->fence >= k->stored.fence && r->attempt >= k->stored.attempt));
    if (k)
        k->stored = *r;
    return sql_exec(tx->sql, "UPDATE run SET " SET_STORED(RUN_COLUMNS) " WHERE run_id = $1",
                    ARGS(TEXT(r->id), STORED_VALUES(RUN_COLUMNS, r)));
}

/* Runs of sessions that share the one state, $1, which an actor sees; without one, all. */
#define RUN_SEEN                                  \
    "($1 = '' OR EXISTS (SELECT 1 FROM session s" \
    " WHERE s.session_id = run.session_id AND s.state_id = $1))"

/* Of one session they are listed in the order of the queue, of all by id. */
static err run_rows(struct tx *tx, const struct run_filter *f, const struct row **rows,
                    size_t *count)
{
    if (f->session_id.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " RUN_LISTED_NAMES " FROM run WHERE session_id = $1"
                       " AND seq > coalesce((SELECT seq FROM run WHERE run_id = $2), 0)"
                       " AND ($3 = '' OR status = $3) ORDER BY seq LIMIT $4",
                       ARGS(TEXT(f->session_id), TEXT(f->after), TEXT(f->status), INT(f->limit)));
    if (f->status.len)
        return sql_all(tx->sql, rows, count,
                       "SELECT " RUN_LISTED_NAMES " FROM run WHERE " RUN_SEEN
                       " AND status = $2 AND run_id > $3 ORDER BY run_id LIMIT $4",
                       ARGS(TEXT(tx->actor->state_id), TEXT(f->status), TEXT(f->after),
                            INT(f->limit)));
    return sql_all(tx->sql, rows, count,
                   "SELECT " RUN_LISTED_NAMES " FROM run WHERE " RUN_SEEN
                   " AND run_id > $2 ORDER BY run_id LIMIT $3",
                   ARGS(TEXT(tx->actor->state_id), TEXT(f->after), INT(f->limit)));
}

err run_list(struct tx *tx, const struct run_filter *f, const struct run **out, size_t *count)
{
    struct run_filter filter = *f;
    const struct row *rows;

    if (tx->actor->kind == ACTOR_SESSION && !filter.session_id.len)
        filter.session_id = tx->actor->session_id;
    if (filter.session_id.len) {
        struct session s;
        TRY(session_get(tx, filter.session_id, &s));
        filter.session_id = s.id;
    }
    TRY(run_rows(tx, &filter, &rows, count));
    struct run *all = ARENA_ARRAY(tx->arena, struct run, *count);
    for (size_t i = 0; i < *count; i++)
        run_read(tx, &rows[i], &all[i]);
    *out = all;
    return NULL;
}

void run_become(struct run *r, enum run_status status)
{
    assert(run_may_become(r->status, status));
    r->status = status;
}

/* ---- what is told of them ---- */

err run_emit(struct tx *tx, enum event_type type, const struct run *r, struct event **out)
{
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);

    if (!run_is_command(r)) {
        write_text(w, STR("session_id"), r->session_id);
        write_text(w, STR("session_name"), r->session_name);
    }
    write_text(w, STR("purpose"), team_name(&purpose_words, (int)r->purpose));
    write_text(w, STR("status"), team_name(&run_words, (int)r->status));
    write_int(w, STR("cycle"), r->cycle);
    write_int(w, STR("attempt"), r->attempt);
    if (r->runner_id.len)
        write_text(w, STR("runner_id"), r->runner_id);
    if (type == EVENT_RUN_ENQUEUED) {
        write_text(w, STR("demand"), r->demand);
        write_bool(w, STR("queued"), r->queued);
    }
    if (type == EVENT_RUN_FINISHED) {
        write_bool(w, STR("started"), r->started_at_ms != 0);
        write_text(w, STR("error"), r->error);
        if (r->exit_code >= 0)
            write_int(w, STR("exit_code"), r->exit_code);
    }
    return event_end(tx, &data, (struct event){ .type = type, .subject = r->id }, out);
}

/* ---- what turns have used, added up ---- */

/* Numbers of a session are sums over its turns; a client that resumes a conversation may have made
 * the sum itself. What is known by model is a JSON object in the words of its client, so numbers of
 * one name are added, and what is no number is as it was said last. */

enum { MODELS_BYTES_MAX = 8192 }; /* of a text that a client writes and we keep */

static struct json number_sum(struct arena *a, const struct json *x, const struct json *y)
{
    int64_t first, second, sum;

    if (json_to_int(x, &first) && json_to_int(y, &second) &&
        !__builtin_add_overflow(first, second, &sum))
        return json_int(a, sum);
    double real = json_to_double(x) + json_to_double(y);
    if (!isfinite(real))
        return *y;
    str text = arena_printf(a, "%.10g", real);
    return (struct json){ .kind = JSON_REAL, .len = (uint32_t)text.len, .text = text.at };
}

static struct json models_sum(struct arena *a, const struct json *x, const struct json *y)
{
    struct json sum = json_object();

    if (json_is_number(x) && json_is_number(y))
        return number_sum(a, x, y);
    if (!json_is(x, JSON_OBJECT) || !json_is(y, JSON_OBJECT))
        return *y;
    for (uint32_t i = 0; i < x->len; i++) {
        const struct json_member *m = &x->members[i];
        const struct json *more = json_find(y, json_name(m));
        json_put(a, &sum, json_name(m), more ? models_sum(a, &m->value, more) : m->value);
    }
    for (uint32_t i = 0; i < y->len; i++)
        if (!json_find(x, json_name(&y->members[i])))
            json_put(a, &sum, json_name(&y->members[i]), y->members[i].value);
    return sum;
}

static err models_add(struct tx *tx, struct stored of, str *to, str more, bool whole)
{
    const struct json *x, *y;

    if (!more.len || more.len > MODELS_BYTES_MAX)
        return NULL;
    if (to->len && !whole) {
        TRY(stored_parse(tx, of, *to, &x));
        TRY(json_parse_own(tx->arena, more, &y));
        struct json sum = models_sum(tx->arena, x, y);
        more = json_printed(tx->arena, &sum);
    }
    if (more.len <= MODELS_BYTES_MAX)
        *to = more;
    return NULL;
}

/* A count of the whole conversation has what is here in it, unless it is less: then the client has
 * begun to count anew. What cannot be counted any more stays at the most. */
static void count_add(int64_t *to, int64_t more, bool whole)
{
    if (whole && more >= *to)
        *to = more;
    else if (__builtin_add_overflow(*to, more, to))
        *to = INT64_MAX;
}

/* Adds what a turn has used to what its session has used. */
static err usage_add(struct tx *tx, str session_id, struct usage *to, const struct usage *more,
                     struct usage_whole whole)
{
    count_add(&to->tokens_in, more->tokens_in, whole.tokens_in);
    count_add(&to->tokens_out, more->tokens_out, whole.tokens_out);
    count_add(&to->tokens_cached, more->tokens_cached, whole.tokens_cached);
    count_add(&to->cost, more->cost, whole.cost);
    return models_add(tx, THING("session", session_id), &to->models, more->models, whole.models);
}

/* ---- coming ---- */

/* A conversation is resumed where its client keeps it, whatever else is asked for: on that machine,
 * by a runner that works as that user and in that folder. */
static struct demand demand_of(const struct session *s, struct demand d)
{
    d.profile = s->profile;
    d.project_dir = s->project_dir.len ? s->project_dir : s->work_dir;
    d.user = s->user;
    if (s->hostname.len)
        d.hostname = s->hostname;
    return d;
}

/* In memory and among what is due: the row is its caller's. */
static err queue_or_wait(struct tx *tx, struct run *r)
{
    assert(r->status == RUN_PENDING);
    r->queued = r->not_before_ms <= tx->now_ms;
    if (!r->queued)
        return due_add(tx, r->not_before_ms, DUE_RUN_READY, r->id, 0);
    return due_add(tx, tx->now_ms + team_rules_of(tx)->match_ms, DUE_RUN_MATCH, r->id, 0);
}

err run_enter(struct tx *tx, struct run *r)
{
    TRY(queue_or_wait(tx, r));
    TRY(run_store(tx, r));
    return r->queued ? run_emit(tx, EVENT_RUN_ENQUEUED, r, NULL) : NULL;
}

/* What is told of it comes first: its number is the run's place in the queue. */
static err run_add(struct tx *tx, struct run *r)
{
    struct event *event;

    TRY(run_emit(tx, EVENT_RUN_ENQUEUED, r, &event));
    r->seq = event->seq;
    run_find_position(tx->arena, r);
    assert(r->queue_position.len > 0 && r->queue_position_in_dir.len > 0);
    return sql_exec(tx->sql, INSERT_INTO(run, RUN_COLUMNS), ARGS(VALUES(RUN_COLUMNS, r)));
}

/* One that is only offered: a runner must have it, if not now then again. What was registered and is
 * not any more, nobody has. */
static err agent_demand(struct tx *tx, const struct session *s, struct demand *d)
{
    enum agent_source source;
    bool known = false;

    if (!s->agent.len)
        return NULL;
    TRY(agent_source_of(tx, s->agent, d->project_dir, &source));
    if (source == AGENT_UNKNOWN)
        TRY(agent_is_offered(tx, s->agent, d->project_dir, true, &known));
    if (known || source == AGENT_OFFERED)
        d->agent = s->agent;
    return NULL;
}

err run_create(struct tx *tx, struct session *s, const struct run_new *n, struct run *out)
{
    struct demand demand = demand_of(s, n->demand);

    TRY(agent_demand(tx, s, &demand));
    TRY(demand_check(tx->arena, &demand));
    *out = (struct run){
        .id = tx_id(tx, "run_"),
        .session_id = s->id,
        .session_name = s->name,
        .type = n->type,
        .purpose = n->purpose,
        .status = RUN_PENDING,
        .mode = n->mode,
        .profile = s->profile,
        .agent = s->agent,
        .project_dir = s->project_dir,
        .demand = demand_key(tx->arena, &demand),
        .priority = n->priority,
        .not_before_ms = n->not_before_ms,
        .max_ms = n->max_ms ? n->max_ms : team_rules_of(tx)->run_ms,
        .cycle = s->cycle,
        .attempt = 1,
        .created_at_ms = tx->now_ms,
        .metadata = n->metadata.len ? n->metadata : STR("{}"),
        .prompt = n->prompt,
        .exit_code = -1,
    };
    if (!s->run_id.len) {
        TRY(queue_or_wait(tx, out));
        s->run_id = out->id;
        TRY(session_store(tx, s));
    }
    assert(s->run_id.len > 0 && !(out->queued && !str_eq(s->run_id, out->id)));
    return run_add(tx, out);
}

/* A process is given less than this by any system, and a message with it fits into any limit here. */
enum { ARGV_MAX = 1000, ARGV_BYTES_MAX = 64 << 10, INPUT_BYTES_MAX = 1 << 20 };

static err command_check(struct arena *a, const struct run_command *c, str argv)
{
    str dir = c->demand.project_dir;

    if (!c->argv_count || !c->argv[0].len)
        return err_new(a, ERR_INVALID, "expected an argv that begins with a program");
    if (c->argv_count > ARGV_MAX || argv.len > ARGV_BYTES_MAX)
        return err_new(
            a, ERR_TOO_LARGE,
            "an argv may have %d arguments and %d bytes as JSON, found %zu and %zu: give "
            "the rest on the standard input",
            ARGV_MAX, ARGV_BYTES_MAX, c->argv_count, argv.len);
    if (c->stdin_text.len > INPUT_BYTES_MAX)
        return err_new(a, ERR_TOO_LARGE,
                       "the standard input of a command may have %d bytes, found %zu",
                       INPUT_BYTES_MAX, c->stdin_text.len);
    if (dir.len && dir.at[0] != '/')
        return err_new(a, ERR_INVALID,
                       "expected the directory of a command to begin with a slash, found " STR_FMT,
                       STR_ARG(dir));
    return demand_check(a, &c->demand);
}

err run_command_create(struct tx *tx, const struct run_command *c, struct run *out)
{
    struct demand demand = c->demand;
    struct json argv = json_array();

    assert(!demand.profile.len);
    demand.command = true;
    for (size_t i = 0; i < c->argv_count; i++)
        json_push(tx->arena, &argv, json_string(c->argv[i]));
    *out = (struct run){
        .id = tx_id(tx, "run_"),
        .type = RUN_TYPE_NONE,
        .purpose = PURPOSE_COMMAND,
        .status = RUN_PENDING,
        .mode = MODE_POLL,
        .project_dir = demand.project_dir,
        .demand = demand_key(tx->arena, &demand),
        .priority = c->priority,
        .not_before_ms = c->not_before_ms,
        .max_ms = c->max_ms ? c->max_ms : team_rules_of(tx)->run_ms,
        .attempt = 1,
        .created_at_ms = tx->now_ms,
        .metadata = c->metadata.len ? c->metadata : STR("{}"),
        .exit_code = -1,
        .owner = c->owner,
        .argv = json_printed(tx->arena, &argv),
        .input = c->stdin_text,
    };
    TRY(command_check(tx->arena, c, out->argv));
    TRY(queue_or_wait(tx, out));
    return run_add(tx, out);
}

err run_begun(struct tx *tx, str session_id, bool *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT 1 FROM run WHERE session_id = $1 AND (live = 1 OR started_at > 0) LIMIT 1",
                ARGS(TEXT(session_id))));
    *out = row != NULL;
    return NULL;
}

/* ---- ending ---- */

static err seen_version(struct tx *tx, struct session *s)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT version FROM state WHERE state_id = $1",
                ARGS(TEXT(s->state_id))));
    s->seen_version = row ? row_int(row, 0) : 0;
    return NULL;
}

/* What a session keeps of its turn. */
static err session_take(struct tx *tx, struct session *s, const struct run *r,
                        const struct run_facts *facts)
{
    bool first = r->type == RUN_TYPE_START;

    TRY(usage_add(tx, s->id, &s->usage, &facts->usage,
                  first ? (struct usage_whole){ 0 } : facts->whole));
    if (facts->client_id.len)
        s->client_id = facts->client_id;
    if (facts->git.len)
        s->git = facts->git;
    if (r->started_at_ms)
        TRY(seen_version(tx, s));
    if (r->purpose != PURPOSE_STATE_UPDATE && (r->status == RUN_COMPLETED || r->result.len))
        s->result_run = r->id;
    return NULL;
}

/* The run that the session is busy with after this one; out->id is empty when there is none. What
 * was asked for before the conversation had a place goes to that place now. */
static err next_run(struct tx *tx, const struct session *s, struct run *out)
{
    const struct row *row;
    struct demand demand;

    *out = (struct run){ .queued = false };
    TRY(sql_one(tx->sql, &row,
                "SELECT run_id FROM run WHERE session_id = $1 AND live = 1 AND status = 'pending'"
                " ORDER BY seq LIMIT 1",
                ARGS(TEXT(s->id))));
    if (!row)
        return NULL;
    TRY(run_load(tx, row_str(row, 0), out));
    demand_read(tx->arena, out->demand, &demand);
    if (demand.unreadable)
        return stored_damage(tx, THING("run", out->id), DEMAND_UNREADABLE);
    demand = demand_of(s, demand);
    out->demand = demand_key(tx->arena, &demand);
    run_find_position(tx->arena, out);
    return NULL;
}

static void run_close(struct tx *tx, struct run *r, enum run_status end,
                      const struct run_facts *facts)
{
    bool told_why = r->status == RUN_STOPPING && r->error.len; /* by who had it stopped */

    if (end == RUN_STOPPED && r->status != RUN_STOPPING)
        run_become(r, RUN_STOPPING);
    assert(!run_is_live(end));
    run_become(r, end);
    r->queued = false;
    r->token_id = STR("");
    r->lease_until_ms = 0;
    r->ended_at_ms = tx->now_ms;
    r->result = facts->result;
    r->result_cut = facts->result_cut;
    r->exit_code = facts->exit_code < 0 ? -1 : facts->exit_code;
    if (facts->error.len && !told_why)
        r->error = facts->error;
}

/* The session has its turn's facts, and goes on with what it was asked meanwhile: *next, if its id is
 * not empty. */
static err session_end_turn(struct tx *tx, const struct run *r, const struct run_facts *facts,
                            struct run *next)
{
    struct session s;

    TRY(session_load(tx, r->session_id, &s));
    TRY(session_take(tx, &s, r, facts));
    if (str_eq(s.run_id, r->id)) {
        TRY(next_run(tx, &s, next));
        s.run_id = next->id;
    }
    return session_store(tx, &s);
}

err run_end(struct tx *tx, struct run *r, enum run_status end, const struct run_facts *facts)
{
    struct run next = { .queued = false };
    str token = r->token_id;

    assert(r->id.len > 0 && run_is_live(r->status));
    run_close(tx, r, end, facts);
    TRY(run_store(tx, r));
    if (r->result_cut)
        TRY(run_change(tx, "UPDATE run SET result_cut = 1 WHERE run_id = $1", ARGS(TEXT(r->id))));
    if (token.len)
        TRY(token_revoke(tx, token));
    if (!run_is_command(r))
        TRY(session_end_turn(tx, r, facts, &next));
    TRY(run_emit(tx, EVENT_RUN_FINISHED, r, NULL));
    return next.id.len ? run_enter(tx, &next) : NULL;
}

/* ---- stopping ---- */

err run_stop(struct tx *tx, struct run *r, str why)
{
    if (!run_is_live(r->status) || r->status == RUN_STOPPING)
        return NULL;
    if (r->status == RUN_PENDING)
        return run_end(tx, r, RUN_STOPPED, &(struct run_facts){ .error = why, .exit_code = -1 });
    run_become(r, RUN_STOPPING);
    r->error = why;
    TRY(run_store(tx, r));
    TRY(due_add(tx, tx->now_ms + team_rules_of(tx)->stop_ms, DUE_RUN_STOP, r->id, 0));
    return run_emit(tx, EVENT_RUN_STOPPING, r, NULL);
}

/* The one that the session is busy with goes last, so that none of the others takes its place. */
err run_stop_all(struct tx *tx, struct session *s, str why)
{
    const struct row *rows;
    size_t count;

    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT run_id FROM run WHERE session_id = $1 AND live = 1"
                " ORDER BY CASE WHEN run_id = $2 THEN 1 ELSE 0 END, seq LIMIT $3",
                ARGS(TEXT(s->id), TEXT(s->run_id), INT(STOP_ALL_MAX))));
    for (size_t i = 0; i < count; i++) {
        struct run r;
        TRY(run_load(tx, row_str(&rows[i], 0), &r));
        TRY(run_stop(tx, &r, why));
    }
    return session_load(tx, s->id, s);
}

/* ---- commands that have ended ---- */

err run_forget_commands(struct tx *tx, int64_t before_ms, int64_t limit, int64_t *count)
{
    const struct row *rows;
    size_t n;

    TRY(sql_all(tx->sql, &rows, &n,
                "SELECT run_id FROM run WHERE session_id = '' AND live = 0 AND ended_at < $1"
                " ORDER BY ended_at LIMIT $2",
                ARGS(INT(before_ms), INT(limit))));
    for (size_t i = 0; i < n; i++) {
        struct sql_args self = ARGS(TEXT(row_str(&rows[i], 0)));
        TRY(sql_exec(tx->sql, "DELETE FROM run_output WHERE run_id = $1", self));
        TRY(sql_exec(tx->sql,
                     "DELETE FROM due WHERE subject = $1 AND kind IN"
                     " ('run_ready', 'run_match', 'run_lease', 'run_time', 'run_stop')",
                     self));
        TRY(run_change(tx, "DELETE FROM run WHERE run_id = $1", self));
    }
    *count = (int64_t)n;
    return NULL;
}
